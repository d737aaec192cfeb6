# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make docs`: the site, in build/site, from the Markdown that is in the tree and what the package says of itself.

Sphinx, not MkDocs: its configuration takes a lexer for MLIR where MkDocs wants an installed plugin, -W fails on any
link or page that leads nowhere, and the theme needs no network, fonts included. Nothing is fetched:
`scripts/install-docs` installs what is needed. The site is made of
- README.md and what it links, CONTRIBUTING.md, CHANGELOG.md, docs/, READMEs of examples/ and schedules/, as they are;
- pages of commands, of Python's public names, of schedules and of targets, written here;
- pages of levels of some programs (`xetile stages`), unless --without-levels.

usage: scripts/docs.py [--out DIR] [--without-levels]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "test/device/README.md")
FOLDERS = ("docs", "examples", "schedules")
LEVELS = {
    "matmul-pvc": ("examples/tutorial/1_run/matmul.mlir", "pvc"),
    "attention-pvc": ("schedules/payloads/attention_f16.mlir", "pvc"),
    "small-attention-pvc": ("examples/tutorial/6_attention/attention.mlir", "pvc"),
    "layer-pvc": ("examples/tutorial/5_epilogue/layer.mlir", "pvc"),
    "transformer-pvc": ("examples/tutorial/10_pytorch/exported.mlir", "pvc"),
    "matmul-cpu": ("examples/tutorial/1_run/matmul.mlir", "cpu"),
}
# Pages that a box of a chapter writes itself: chapter and file.
OF_BOXES = {"edited-matmul-pvc": ("3_schedule", "mine.html"), "softmax-pvc": ("4_by_hand", "softmax.html")}
# The page of levels that a chapter of the tutorial links.
OF_CHAPTERS = {
    "1_run": "matmul-pvc",
    "2_levels": "matmul-pvc",
    "3_schedule": "edited-matmul-pvc",
    "4_by_hand": "softmax-pvc",
    "5_epilogue": "layer-pvc",
    "6_attention": "small-attention-pvc",
    "7_transform_op": "matmul-pvc",
    "8_cpu": "matmul-cpu",
    "9_layouts": "matmul-pvc",
    "10_pytorch": "transformer-pvc",
    "11_production": "matmul-cpu",
    "12_tuning": "matmul-cpu",
}
# Public modules, besides what `import xetile` has by name.
MODULES = (
    "schedule",
    "schedule.ops",
    "schedule.parts",
    "tiles",
    "layout",
    "layout.draw",
    "passes",
    "reference",
    "pages",
)


def main(arguments: list[str] | None = None) -> int:
    """Builds the site; the status of Sphinx."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--without-levels", action="store_true", help="no pages of levels, which take a minute")
    options = parser.parse_args(arguments)
    if absent := [name for name in ("sphinx", "furo", "myst_parser") if importlib.util.find_spec(name) is None]:
        print(f"docs: error: no {', '.join(absent)} in this environment: run scripts/install-docs", file=sys.stderr)
        return 1
    source = options.out.with_name(options.out.name + "-source")
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(options.out, ignore_errors=True)
    stage(source)
    write_reference(source / "reference")
    write_levels(source, options.without_levels)
    # All warnings are told, and are errors: a link to what is not there is one.
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(options.out)]
    status = subprocess.run(command, check=False).returncode
    missing = broken_links(options.out) if status == 0 else []
    for page, link in missing:
        print(f"docs: error: {page}: the link {link} leads nowhere", file=sys.stderr)
    return status or bool(missing)


def stage(source: Path) -> None:
    """Copies what is written in the tree, in the same places; other files only as far as Markdown links to them."""
    for name in COPIED:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            place = path.relative_to(ROOT)
            if (
                path.is_file()
                and place.parts[:2] != ("docs", "site")
                and path.suffix in (".md", ".png", ".svg", ".mlir", ".py", ".c")
            ):
                (source / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, source / place)
    for chapter, name in OF_CHAPTERS.items():
        with (source / "examples" / "tutorial" / chapter / "README.md").open("a") as page:
            page.write(f'\n<a href="../../../levels/{name}.html">All levels of this chapter\'s kernel</a>\n')
    for name in ("conf.py", "index.md"):
        shutil.copy(ROOT / "docs" / "site" / name, source / name)
    add_unlisted(source)


def add_unlisted(source: Path) -> None:
    """Lists pages of folders below the page of the folder above, and those that index.md does not name at its end: a
    page that is new in the tree is in the site."""
    listed = set((source / "index.md").read_text().split("\n"))
    names = sorted(str(path.relative_to(source).with_suffix("")) for path in source.rglob("*.md"))
    for name in names:
        above = source / Path(name).parent.parent / "README.md"
        if name.endswith("/README") and name not in listed and above.is_file() and above.parent != source:
            append(above, f"{Path(name).parent.name}/README")
            listed.add(name)
    for name in names:
        if name not in listed and name != "index":
            append(source / "index.md", name)


def append(page: Path, name: str) -> None:
    """Adds a page to those below another."""
    page.write_text(f"{page.read_text()}\n```{{toctree}}\n:hidden:\n\n{name}\n```\n")


def write_reference(folder: Path) -> None:
    """Pages of what the package says of itself: commands, public names, schedules."""
    folder.mkdir(parents=True)
    commands = ["# Commands\n", "```text", help_of(), "```\n"]
    for name in re.findall(r"^    (\w+) ", help_of(), flags=re.MULTILINE):
        commands += [f"## xetile {name}\n", "```text", help_of(name), "```\n"]
    (folder / "commands.md").write_text("\n".join(commands))

    import xetile
    from xetile import schedule

    lines = ["# Python\n", "`import xetile` has these names; `help(xetile.compile)` prints the same.\n"]
    for name in xetile.__all__:
        value = getattr(xetile, name)
        if not inspect.ismodule(value):
            lines += documented(f"xetile.{name}", value, "##")
    modules = {name: importlib.import_module(f"xetile.{name}") for name in MODULES}
    lines += ["```{toctree}", ":hidden:", "", *(f"xetile.{name}" for name in modules), "```"]
    (folder / "python.md").write_text("\n".join(lines))
    for name, module in modules.items():
        lines = [f"# xetile.{name}\n", "```text", text_of(module), "```\n"]
        for member in module.__all__:
            if not inspect.ismodule(value := getattr(module, member)):
                lines += documented(f"xetile.{name}.{member}", value, "##")
        (folder / f"xetile.{name}.md").write_text("\n".join(lines))

    (folder / "targets.md").write_text("\n".join(pages_of_targets()))
    lines = [
        "# Schedules\n",
        "`xetile schedules` lists them with their parameters; this is what their files begin with.\n",
    ]
    for name in schedule.available():
        lines += [f"## {name}\n", "```text", schedule.algorithm(name) or "(no words)", "```\n"]
        parameters = schedule.load(name).params
        if parameters:
            lines += ["| parameter | default | |", "|---|---|---|"]
            lines += [
                f"| `{key}` | `{entry.value}` | {str(entry.doc).replace('|', '/')} |"
                for key, entry in parameters.items()
            ]
        lines.append("")
    (folder / "schedules.md").write_text("\n".join(lines))


def pages_of_targets() -> list[str]:
    """What each target is, its levels, options and what `xetile compile --emit` takes; chips of one kind together."""
    from xetile.mlir._mlir_libs import _xetile
    from xetile.targets import Target

    entries = {entry["name"]: entry for entry in _xetile.describe_targets()}
    kinds: dict[type[Target], list[str]] = {}
    for name in entries:
        kinds.setdefault(type(Target(name)), []).append(name)
    lines = ["# Targets\n", "`xetile.compile(..., target=NAME)` and `--target NAME`.\n"]
    for names in kinds.values():
        target, entry = Target(names[0]), entries[names[0]]
        lines += [f"## {', '.join(names)}\n", *(f"- `{name}`: {entries[name]['description']}" for name in names)]
        lines += [f"\nBinary: {entry['binary']}. Levels: {', '.join(f'`{level}`' for level in entry['levels'])}.\n"]
        emits = ", ".join(f"`{name}` ({level})" for name, level in target.emits.items())
        lines += [f"`xetile compile --emit` takes the levels' names and {emits}, `so`, `header`.\n"]
        lines += table("`xetile.compile(..., OPTION=...)`", {one.name: one.doc for one in target.options})
        lines += table("the pass `xetile-compile{OPTION=...}`", entry["options"])
    return lines


def table(title: str, rows: Mapping[str, str]) -> list[str]:
    """Two columns: a name, and what it means."""
    return [
        f"| {title} | |",
        "|---|---|",
        *(f"| `{name}` | {text.replace('|', '/')} |" for name, text in rows.items()),
        "",
    ]


def documented(name: str, value: Any, heading: str) -> list[str]:
    """A heading, the signature and the docstring, of a class its public methods and properties below. Docstrings have
    columns and code that Markdown would fold: they are shown as they are."""
    lines = [f"{heading} {name}\n"]
    if callable(value):
        # A NamedTuple of C, and functions of extension modules, tell none.
        with suppress(TypeError, ValueError):
            lines += ["```python", f"{name.rpartition('.')[2]}{inspect.signature(value)}", "```\n"]
    if callable(value) or isinstance(value, property):
        lines += ["```text", text_of(value), "```\n"]
    if inspect.isclass(value):
        for member, inner in vars(value).items():
            inner = inner.__func__ if isinstance(inner, (classmethod, staticmethod)) else inner
            if not member.startswith("_") and (callable(inner) or isinstance(inner, property)):
                lines += documented(f"{name}.{member}", inner, "###")
    return lines


def text_of(value: Any) -> str:
    """The docstring, which cannot end the box that it is in."""
    return (inspect.getdoc(value) or "").replace("```", "\u00b4\u00b4\u00b4")


def help_of(command: str = "") -> str:
    """What a command's --help prints, in lines of 100 characters."""
    from xetile import cli

    text = StringIO()
    with redirect_stdout(text), suppress(SystemExit):
        cli.main([command, "--help"] if command else ["--help"])
    return text.getvalue().rstrip()


def write_levels(source: Path, without: bool) -> None:
    """Pages of levels, beside the site's own; empty ones keep links whole where they are left out."""
    folder = source / "_levels" / "levels"
    folder.mkdir(parents=True)
    for name in dict.fromkeys((*LEVELS, *OF_CHAPTERS.values())):
        page = folder / f"{name}.html"
        if without:
            page.write_text("<title>left out</title>built with --without-levels\n")
            continue
        from xetile.compiling import compiler

        if name in LEVELS:
            payload, target = LEVELS[name]
            compiler.show(ROOT / payload, target=target, path=page, check=True)
        else:
            write_by_box(page, *OF_BOXES[name])
        page.write_text(page.read_text().replace('"docs":""', '"docs":"../docs/passes.html#"', 1))


def write_by_box(page: Path, chapter: str, name: str) -> None:
    """The page `name` that a box of a chapter writes, which is run in a copy of its folder."""
    folder = ROOT / "examples" / "tutorial" / chapter
    boxes = re.findall(r"^```(python|sh)\n(.*?)^```$", (folder / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (box,) = [box for box in boxes if name in box[1]]
    shell = {"python": [sys.executable, "-c"], "sh": ["bash", "-e", "-c"]}[box[0]]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as place:
        copy = shutil.copytree(folder, Path(place) / chapter)
        subprocess.run(
            [*shell, box[1]], cwd=copy, env={**os.environ, "PATH": path}, check=True, stdout=subprocess.DEVNULL
        )
        shutil.copy(copy / name, page)


def broken_links(out: Path) -> list[tuple[str, str]]:
    """(page, link) of each link within the site that no file, or no place in it, is there for."""
    anchors: dict[Path, set[str]] = {}
    found = []
    for page in sorted(out.rglob("*.html")):
        if page.parent.name == "levels":
            continue
        text = page.read_text()
        for link in sorted(set(re.findall(r'(?:href|src)="([^"]+)"', text))):
            if re.match(r"[a-z]+:|//", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path.partition("?")[0]).resolve() if path else page
            if not target.exists():
                found.append((str(page.relative_to(out)), link))
            elif anchor and target.suffix == ".html":
                if target not in anchors:
                    anchors[target] = set(re.findall(r'\bid="([^"]+)"', target.read_text()))
                if anchor not in anchors[target]:
                    found.append((str(page.relative_to(out)), link))
    return found


if __name__ == "__main__":
    sys.exit(main())
