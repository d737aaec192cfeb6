# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which module of python/xetile imports which: only rooms below its own, and never in a circle.

Imports inside of functions and those that only types need count as all others do.
"""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "xetile"

# From below to above: a room imports itself and rooms before it.
ORDER = (
    "errors",
    "system",
    "layout",
    "passes",
    "schedule",
    "kernels",
    "codegen",
    "reference",
    "facts",
    "reports",
    "pages",
    "targets",
    "tiles",
    "compiling",
    "cpu",
    "torch",
    "triton",
    "doctor",
    "cli",
    "programs",
)
# Modules beside the rooms, but for those that are a room.
ROOM = {"demo": "programs", "selftest": "programs", "selftest_kernel": "programs"}


def module_of(path: Path) -> str:
    parts = ("xetile", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# Without upstream's bindings, and the package itself: it calls all others by name when it is asked.
MODULES = {
    module_of(path): path
    for path in PACKAGE.rglob("*.py")
    if not {"mlir", "schedules"} & set(path.relative_to(PACKAGE).parts) and path.name != "_moved.py"
}
del MODULES["xetile"]


def room_of(module: str) -> str:
    first = module.split(".")[1]
    return ROOM.get(first, first)


def imports(path: Path, *, at_once: bool = False) -> set[str]:
    """The modules that a file imports, `at_once` only those that are imported when it is."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if at_once and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        if at_once and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: expected absolute imports"
            found.update(
                full if (full := f"{node.module}.{name.name}") in MODULES else node.module for name in node.names
            )
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        for inner in ast.iter_child_nodes(node):
            visit(inner)

    visit(ast.parse(path.read_text()))
    return found & set(MODULES)


def test_every_room_is_known():
    assert {room_of(name) for name in MODULES} == set(ORDER)
    assert [name for name in ROOM if f"xetile.{name}" not in MODULES] == []


def test_a_room_imports_only_rooms_below_it():
    height = {room: number for number, room in enumerate(ORDER)}
    wrong = {
        (name, other)
        for name, path in MODULES.items()
        for other in imports(path)
        if height[room_of(other)] > height[room_of(name)]
    }
    assert not wrong


def test_only_programs_use_the_public_surface():
    """The package calls all others by name: who uses it could go upwards unseen. A kernel asks for what only the
    compiler has, `Kernel.target`, and says in its documentation that this loads it."""
    users = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import) and any(alias.name == "xetile" for alias in node.names)
    }
    assert users == {"xetile.kernels.kernel", "xetile.demo", "xetile.selftest"}


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
    reached, todo = set(), ["xetile.kernels.runtime", "xetile.kernels.saved"]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += imports(MODULES[name], at_once=True)
    assert "xetile.kernels.kernel" in reached
    for name in reached:
        assert "from xetile.mlir" not in "\n".join(
            line for line in MODULES[name].read_text().splitlines() if not line.startswith(" ")
        )
