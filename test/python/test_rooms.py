# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which room of cpp/xetile includes which: only rooms below it, and no target another target."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "cpp" / "xetile"

# Room -> the rooms that it may include. Facts are plain data, without IR.
LAYERS = {"Facts", "IR", "Layout", "Linalg", "Transforms", "Conversion"}
TARGET = LAYERS | {"Target", "Target/Host"}
ALLOWED = {
    "Facts": set(),
    "IR": {"Facts"},
    "Layout": {"Facts"},
    "Linalg": {"Facts", "IR"},
    "Transforms": {"Facts", "IR", "Layout"},
    "Conversion": {"Facts", "IR", "Layout", "Transforms"},
    "Target": LAYERS,
    "Target/Host": LAYERS | {"Target"},
    "Target/Xe": TARGET,
    "Target/Cpu": TARGET,
    "Schedule": TARGET | {"Target/Xe", "Target/Cpu"},
}
SOURCES = sorted(path for path in CORE.rglob("*") if path.suffix in (".cpp", ".h", ".td") and path.parent != CORE)


def room(path: str) -> str:
    """Of a path below cpp/xetile."""
    first, *rest = Path(path).parent.parts
    return f"{first}/{rest[0]}" if first == "Target" and rest else first


def included(path: Path) -> list[str]:
    return re.findall(r'^\s*#?include "xetile/([^"]+)"', path.read_text(), flags=re.M)


def test_every_room_is_known():
    rooms = {room(str(path.relative_to(CORE))) for path in SOURCES}
    assert rooms == set(ALLOWED)


@pytest.mark.parametrize("name", ALLOWED)
def test_a_room_includes_only_rooms_below_it(name):
    wrong = []
    for path in SOURCES:
        place = str(path.relative_to(CORE))
        if room(place) != name:
            continue
        wrong += [f"{place} includes {other}" for other in included(path) if room(other) not in {name, *ALLOWED[name]}]
    assert not wrong
