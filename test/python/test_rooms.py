# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which room of cpp/xetile includes which: only rooms below it, and no target another target."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "cpp" / "xetile"

# Room -> the rooms that it may include. Facts are plain data, without IR.
LAYERS = {"Facts", "IR", "Layout", "Linalg", "Transforms", "Conversion"}
TARGET = LAYERS | {"Target", "Target/Host"}
# What all rooms of a target ask for is none's: the declarations of their passes, the chip, what divides a number.
XE_GROUND = {f"Target/Xe/{name}.h" for name in ("Passes", "TargetAttr", "RegisterFile", "SpaceNumber", "KnownMultiple")}
CPU_GROUND = {"Target/Cpu/Passes.h"}
NVIDIA_GROUND = {"Target/Nvidia/Passes.h"}
XE = TARGET | XE_GROUND
CPU = TARGET | CPU_GROUND
XE_ROOMS = {f"Target/Xe/{name}" for name in ("ToXeGPU", "Workgroup", "Lanes", "Llvm", "Binary", "Workarounds")}
CPU_ROOMS = {f"Target/Cpu/{name}" for name in ("Machine", "Workarounds", "Matmul", "Lowering", "Microkernel", "Blocks")}
ALLOWED = {
    "Facts": set(),
    "IR": {"Facts"},
    "Layout": {"Facts"},
    "Linalg": {"Facts", "IR"},
    "Transforms": {"Facts", "IR", "Layout"},
    "Conversion": {"Facts", "IR", "Layout", "Linalg", "Transforms"},
    "Target": LAYERS,
    "Target/Host": LAYERS | {"Target"},
    "Target/Xe/ToXeGPU": XE,
    "Target/Xe/Workgroup": XE,
    "Target/Xe/Lanes": XE,
    "Target/Xe/Llvm": XE,
    "Target/Xe/Workarounds": XE,
    "Target/Xe/Binary": XE | {"Target/Xe/Lanes", "Target/Xe/Llvm"},
    "Target/Xe": XE | XE_ROOMS,
    "Target/Cpu/Machine": CPU,
    "Target/Cpu/Workarounds": CPU,
    "Target/Cpu/Matmul": CPU | {"Target/Cpu/Machine"},
    "Target/Cpu/Lowering": CPU | {"Target/Cpu/Machine", "Target/Cpu/Matmul"},
    "Target/Cpu/Microkernel": CPU | {"Target/Cpu/Machine", "Target/Cpu/Matmul"},
    "Target/Cpu/Blocks": CPU | {"Target/Cpu/Machine", "Target/Cpu/Matmul"},
    "Target/Cpu": CPU | CPU_ROOMS,
    "Target/Nvidia": TARGET | NVIDIA_GROUND,
    "Schedule": TARGET | {"Target/Xe", "Target/Cpu"} | XE_GROUND | XE_ROOMS | CPU_GROUND | CPU_ROOMS,
}
SOURCES = sorted(path for path in CORE.rglob("*") if path.suffix in (".cpp", ".h", ".td") and path.parent != CORE)


def room(path: str) -> str:
    """Of a path below cpp/xetile."""
    if path.removesuffix(".inc") in XE_GROUND | CPU_GROUND | NVIDIA_GROUND:
        return path.removesuffix(".inc")
    parts = Path(path).parent.parts
    depth = 1 if parts[0] != "Target" else 3 if parts[1:2] in (("Xe",), ("Cpu",)) else 2
    return "/".join(parts[:depth])


def included(path: Path) -> list[str]:
    return re.findall(r'^\s*#?include "xetile/([^"]+)"', path.read_text(), flags=re.M)


def test_every_room_is_known():
    rooms = {room(str(path.relative_to(CORE))) for path in SOURCES}
    assert rooms == {*ALLOWED, *XE_GROUND, *CPU_GROUND, *NVIDIA_GROUND}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_room_includes_only_rooms_below_it(name):
    wrong = []
    for path in SOURCES:
        place = str(path.relative_to(CORE))
        if room(place) != name:
            continue
        wrong += [f"{place} includes {other}" for other in included(path) if room(other) not in {name, *ALLOWED[name]}]
    assert not wrong
