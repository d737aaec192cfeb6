# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No module of the package needs, to be imported or for its types, one that needs it."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "xetile"
# Upstream's bindings, and what calls all others by name when it is asked.
LEFT_OUT = ("xetile.mlir", "xetile")


def module_of(path: Path) -> str:
    parts = ("xetile", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_of(path): path
    for path in PACKAGE.rglob("*.py")
    if "mlir" not in path.relative_to(PACKAGE).parts and "schedules" not in path.relative_to(PACKAGE).parts
}


def imports(path: Path) -> set[str]:
    """What is imported when the module is: not what functions import when they run, nor what only types need."""
    found: set[str] = set()

    def visit(body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("xetile"):
                found.update(
                    full if (full := f"{node.module}.{name.name}") in MODULES else node.module for name in node.names
                )
            elif isinstance(node, ast.Import):
                found.update(name.name for name in node.names if name.name.startswith("xetile"))
            elif isinstance(node, ast.If) and ast.unparse(node.test) != "TYPE_CHECKING":
                visit(node.body + node.orelse)
            elif isinstance(node, ast.Try):
                visit(node.body)

    visit(ast.parse(path.read_text()).body)
    return {name for name in found if name in MODULES and name not in LEFT_OUT and not name.startswith("xetile.mlir")}


def test_there_is_no_circle():
    graph = {name: imports(path) - {name} for name, path in MODULES.items()}
    assert len(graph) > 30 and sum(map(len, graph.values())) > 80
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join((*way[way.index(name) :], name))
        if name in done:
            return
        for other in sorted(graph[name]):
            visit(other, (*way, name))
        done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_what_calls_saved_kernels_needs_no_compiler():
    reached, todo = set(), ["xetile.runtime", "xetile.saved"]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += imports(MODULES[name])
    assert "xetile.kernel" in reached
    for name in reached:
        assert "from xetile.mlir" not in "\n".join(
            line for line in MODULES[name].read_text().splitlines() if not line.startswith(" ")
        )
