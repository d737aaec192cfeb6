# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/path.md: its files are there, and all targets have the same stations. docs/upstream.md: so are its guards."""

import re
from pathlib import Path

import pytest
import xetile
from xetile.mlir import ir

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "path.md").read_text()


def test_all_targets_have_the_same_headings():
    _, *targets, _ = re.split(r"^## .*$", TEXT, flags=re.MULTILINE)
    headings = [re.findall(r"^### (.*)$", part, flags=re.MULTILINE) for part in targets]
    assert len(targets) == 3
    assert headings[0] == headings[1] == headings[2] != []


def test_the_kernels_of_the_program_are_those_that_explain_tells():
    with ir.Context():
        module = ir.Module.parse((ROOT / "schedules" / "payloads" / "program_f16.mlir").read_text())
    told = xetile.compile(module, target="pvc", native="off").explain()
    rows = [re.split(r" {2,}", line) for line in told.splitlines()]
    assert re.findall(r"^\| (\d) \| (\w+) \| ([\d,]+) \| ([\d,]+) \|$", TEXT, flags=re.MULTILINE) == [
        tuple(row) for row in rows if len(row) == 4 and row[0].isdecimal()
    ]


def test_every_file_that_is_named_exists():
    names = set(re.findall(r"`([\w./]+(?:\.cpp|\.h|\.py|\.mlir|/))`", TEXT))
    known = [path for folder in ("cpp", "python", "schedules") for path in (ROOT / folder).rglob("*")]
    missing = {name for name in names if not any(f"{path}".endswith(f"/{name.rstrip('/')}") for path in known)}
    assert missing == set()
    assert len(names) > 30


def test_every_guard_that_is_named_exists_and_every_workaround_is_named():
    text = (ROOT / "docs" / "upstream.md").read_text()
    named = {ROOT / "cpp" / place for place in re.findall(r"`(bindings/[\w./]+)`", text)}
    named |= {ROOT / "cpp" / "xetile" / place for place in re.findall(r"`((?:Linalg|Target)/[\w./]+)`", text)}
    assert {str(path) for path in named if not path.is_file()} == set()
    assert len(named) > 10
    workarounds = set((ROOT / "cpp" / "xetile" / "Target" / "Xe" / "Workarounds").glob("*.cpp"))
    assert {path.name for path in workarounds - named} == set()


def test_every_variable_that_is_read_is_in_the_table():
    """Not those of the build, nor the one by which it makes stubs."""
    calls = r"getenv\(|fromEnvironment\(|environ(?:\.get\(|\[)"
    reads = re.compile(rf'(?:{calls}|_VARIABLE = |kTimeout\[\] = |kWithoutVariable = )"(XETILE_\w+)')
    read = set()
    for folder, suffixes in (("cpp", (".cpp", ".h")), ("python", (".py",))):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in suffixes:
                read |= set(reads.findall(path.read_text()))
    text = (ROOT / "docs" / "variables.md").read_text()
    assert read - {"XETILE_MLIR_BARE"} == set(re.findall(r"^\| `(XETILE_\w+)` \|", text, flags=re.MULTILINE))
    assert len(read) > 15


def attributes_of_the_table() -> set[str]:
    told = set()
    for line in (ROOT / "docs" / "attributes.md").read_text().splitlines():
        if line.startswith("| `xetile."):
            told |= set(re.findall(r"`xetile\.(\w+)`", line.split("|")[1]))
    return told


def test_every_discardable_attribute_is_in_the_table():
    core = ROOT / "cpp" / "xetile"
    named, operations = set(), set()
    for path in core.rglob("*"):
        # Names that the verifier refuses with a word about what took their place are in its file.
        if path.suffix in (".cpp", ".h", ".td") and path.name != "DialectAttrs.cpp":
            named |= set(re.findall(r'"xetile\.(\w+)"', path.read_text()))
        if path.suffix == ".td":
            operations |= set(re.findall(r'(?:XeTile_\w+<"|Op<Transform_Dialect, "xetile\.)(\w+)"', path.read_text()))
    told = attributes_of_the_table()
    assert named - operations == told
    assert len(told) > 20


# It is a key of the flags of #xevm.target, which is no attribute of an operation.
@pytest.mark.parametrize("name", sorted(attributes_of_the_table() - {"chip"}))
def test_every_attribute_of_the_table_is_verified(name):
    for text in (f"func.func private @f() attributes {{xetile.{name} = 1.5 : f16}}",
                 f"func.func @f(%a: i32 {{xetile.{name} = 1.5 : f16}}) {{ return }}"):  # fmt: skip
        with ir.Context() as context:
            context.attach_diagnostic_handler(lambda _: True)
            with pytest.raises(ir.MLIRError, match=rf"xetile\.{name}(, which belongs to| to be )"):
                ir.Module.parse(text)
