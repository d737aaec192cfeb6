# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pass has one name: the definition `WgToSg`, the file `WgToSg.cpp`, the flag `xetile-wg-to-sg`, a test, a page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEFINITIONS = {
    name: (flag, path.parent.relative_to(ROOT / "cpp" / "xetile"))
    for path in sorted((ROOT / "cpp" / "xetile").rglob("*Passes.td"))
    for name, flag in re.findall(r'^def (\w+)\s*:\s*(?:Interface)?Pass<\s*"([\w-]+)"', path.read_text(), re.MULTILINE)
}
# Names of which a part is one word.
WORDS = ("XeGPU", "XeTile", "XeVM", "OpenCL", "AddCInterface")


def kebab(name: str) -> str:
    for word in WORDS:
        name = name.replace(word, "AddC-interface" if word == "AddCInterface" else word.capitalize())
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def test_passes_are_found():
    assert len(DEFINITIONS) > 70


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_pass_has_five_names(name):
    flag, room = DEFINITIONS[name]
    stem = flag.removeprefix("xetile-")
    assert stem == kebab(name)
    # A conversion is where it leads: convert-vector-to-xetile is VectorToXeTile.
    files = list((ROOT / "cpp" / "xetile" / room).rglob(f"{name.removeprefix('Convert')}.cpp"))
    assert [path.stem for path in files] == [name.removeprefix("Convert")]
    tests = [
        path for path in (ROOT / "test").rglob(f"{stem.removeprefix('convert-')}*.mlir") if flag in path.read_text()
    ]
    assert tests, f"expected test/{room}/**/{stem.removeprefix('convert-')}.mlir, which runs --{flag}"
    assert f"### `-{flag}`\n" in (ROOT / "docs" / "passes.md").read_text()
