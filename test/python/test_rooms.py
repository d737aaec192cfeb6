# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which room of cpp/xetile includes which: only rooms below it, and no target another target."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "cpp" / "xetile"

# Room -> the rooms that it may include. Facts are plain data, without IR.
LAYERS = {"Facts", "IR", "Layout", "Linalg", "Transforms", "Conversion"}
TARGET = LAYERS | {"Target", "Target/Host"}
# What declares the passes of all rooms of a target is none's.
PASSES = "Target/Cpu/Passes.h"
CPU = TARGET | {PASSES}
CPU_ROOMS = {f"Target/Cpu/{name}" for name in ("Machine", "Workarounds", "Matmul", "Lowering", "Microkernel", "Blocks")}
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
    "Target/Cpu/Machine": CPU,
    "Target/Cpu/Workarounds": CPU,
    "Target/Cpu/Matmul": CPU | {"Target/Cpu/Machine"},
    "Target/Cpu/Lowering": CPU | {"Target/Cpu/Machine", "Target/Cpu/Matmul"},
    "Target/Cpu/Microkernel": CPU | {"Target/Cpu/Machine", "Target/Cpu/Matmul"},
    "Target/Cpu/Blocks": CPU | {"Target/Cpu/Machine", "Target/Cpu/Matmul"},
    "Target/Cpu": CPU | CPU_ROOMS,
    "Schedule": TARGET | {"Target/Xe", "Target/Cpu", PASSES} | CPU_ROOMS,
}
SOURCES = sorted(path for path in CORE.rglob("*") if path.suffix in (".cpp", ".h", ".td") and path.parent != CORE)


def room(path: str) -> str:
    """Of a path below cpp/xetile."""
    if path.removesuffix(".inc") == PASSES:
        return PASSES
    parts = Path(path).parent.parts
    depth = {"Target": 2, "Target/Cpu": 3}
    return "/".join(parts[: depth.get("/".join(parts[:2]), depth.get(parts[0], 1))])


def included(path: Path) -> list[str]:
    return re.findall(r'^\s*#?include "xetile/([^"]+)"', path.read_text(), flags=re.M)


def test_every_room_is_known():
    rooms = {room(str(path.relative_to(CORE))) for path in SOURCES}
    assert rooms == {*ALLOWED, PASSES}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_room_includes_only_rooms_below_it(name):
    wrong = []
    for path in SOURCES:
        place = str(path.relative_to(CORE))
        if room(place) != name:
            continue
        wrong += [f"{place} includes {other}" for other in included(path) if room(other) not in {name, *ALLOWED[name]}]
    assert not wrong
