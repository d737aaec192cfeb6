# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which room of cpp/xetile includes which: only rooms below it, and no target another target."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "cpp" / "xetile"

# Room -> the rooms that it may include. Device facts are plain data on the ground floor, in a file of Target.
FACTS = "Target/TargetInfo.h"
GROUND = {"IR", "Layout", FACTS}
MIDDLE = GROUND | {"Transforms"}
TARGET = MIDDLE | {"Conversion", "Target", "Target/Host"}
ALLOWED = {
    "IR": {FACTS},
    "Layout": {FACTS},
    "Transforms": GROUND,
    "Conversion": MIDDLE,
    "Target": MIDDLE | {"Conversion"},
    "Target/Host": MIDDLE | {"Conversion", "Target"},
    "Target/Xe": TARGET,
    "Target/Cpu": TARGET,
    "Schedule": TARGET | {"Target/Xe", "Target/Cpu"},
}
SOURCES = sorted(path for path in CORE.rglob("*") if path.suffix in (".cpp", ".h", ".td") and path.parent != CORE)


def room(path: str) -> str:
    """Of a path below cpp/xetile."""
    if path == FACTS:
        return FACTS
    first, *rest = Path(path).parent.parts
    return f"{first}/{rest[0]}" if first == "Target" and rest else first


def included(path: Path) -> list[str]:
    return re.findall(r'^\s*#?include "xetile/([^"]+)"', path.read_text(), flags=re.M)


def test_every_room_is_known():
    rooms = {room(str(path.relative_to(CORE))) for path in SOURCES}
    assert rooms - {FACTS} == set(ALLOWED)


@pytest.mark.parametrize("name", ALLOWED)
def test_a_room_includes_only_rooms_below_it(name):
    wrong = []
    for path in SOURCES:
        place = str(path.relative_to(CORE))
        if room(place) not in (name, FACTS if name == "Target" else name):
            continue
        wrong += [f"{place} includes {other}" for other in included(path) if room(other) not in {name, *ALLOWED[name]}]
    assert not wrong


def test_device_facts_include_nothing():
    assert [other for other in included(CORE / FACTS) if other != FACTS] == []
