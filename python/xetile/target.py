"""The chips that kernels can be compiled for. The facts come from the compiler's own device table."""

from __future__ import annotations

from dataclasses import dataclass, field

from xetile.errors import XeTileError, told
from xetile.mlir._mlir_libs import _xetile

__all__ = ["Target", "available"]


@dataclass(frozen=True)
class Target:
    """An Intel GPU: `Target("pvc")`. XeTileError, which names the known chips, for any other.

    `registers` and `large_registers` count the registers of `register_bytes` bytes that a thread has in the default and
    in large-register mode (at half the threads). `subgroup_size` is in lanes, `max_work_items` per workgroup;
    `ocloc_device` is the chip's name for Intel's offline compiler.
    """

    chip: str
    description: str = field(init=False)
    ocloc_device: str = field(init=False)
    subgroup_size: int = field(init=False)
    max_work_items: int = field(init=False)
    register_bytes: int = field(init=False)
    registers: int = field(init=False)
    large_registers: int = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.chip, str):
            raise XeTileError(f"target: expected the name of a chip, got {told(self.chip)}")
        # Names from a command line may have bytes that no string for C++ has.
        if why := _xetile.check_chip(self.chip.encode(errors="backslashreplace").decode()):
            raise XeTileError(f"target: {why}")
        facts = next(facts for facts in _xetile.targets() if facts["chip"] == self.chip)
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        return self.chip


def available() -> tuple[Target, ...]:
    """All targets, ordered by name."""
    return tuple(Target(facts["chip"]) for facts in _xetile.targets())
