# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine-code figures that are kept, and compared with those of today.

    baseline.write("baseline.json", report.statistics("kernel.spv", "pvc"))
    differences = baseline.compare(report.statistics("kernel.spv", "pvc"), baseline.read("baseline.json"))

Of every figure less is better.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from xetile.errors import XeTileError, expect
from xetile.reports.report import KernelStatistics, align
from xetile.system import files

__all__ = [
    "FIGURES",
    "Difference",
    "all_figures_of",
    "compare",
    "differences",
    "figures_of",
    "format_differences",
    "read",
    "to_json",
    "write",
]

FIGURES = ("spill_bytes", "registers", "mov/dpas", "load/dpas", "other/dpas", "bytes/dpas")
_VERSION = 1

Figures = Mapping[str, float]
Key = tuple[str, str]


@dataclass(frozen=True)
class Difference:
    """One figure of one kernel for one chip, before and now; None where that has none."""

    kernel: str
    chip: str
    figure: str
    before: float | None
    now: float | None

    def is_worse(self, tolerance: float) -> bool:
        """True if it grew by more than the share `tolerance`, or is no longer reported."""
        if self.before is None:
            return False
        # Sums of the same counts may differ in the last bit.
        return self.now is None or self.now > self.before * (1 + tolerance) + 1e-9


def figures_of(kernel: KernelStatistics) -> dict[str, float]:
    """The figures of a kernel by name; those per dpas only if a loop has any."""
    figures: dict[str, float] = {"spill_bytes": kernel.spill_bytes, "registers": kernel.registers}
    if kernel.loop:
        figures |= {f"{kind}/dpas": kernel.loop.per_dpas(kind) for kind in ("mov", "load", "other")}
        figures["bytes/dpas"] = kernel.bytes_per_dpas
    return figures


def all_figures_of(kernel: KernelStatistics) -> dict[str, float]:
    """The same, and how many instructions the kernel has, of which kinds of messages, and the purposes in its loop."""
    figures = figures_of(kernel) | {"instructions": float(kernel.code.total)}
    messages: dict[str, float] = {}
    for (kind, how, size), times in sorted(kernel.messages.items()):
        messages[f"{kind}s {how} {size} B"] = times
    purposes = {f"loop: {purpose}": float(times) for purpose, times in kernel.purposes.items()}
    return figures | messages | purposes


def to_json(kernels: Sequence[KernelStatistics]) -> str:
    """Everything that is known of kernels: what `read` takes, and more for other programs."""
    entries = []
    for kernel in kernels:
        entry: dict[str, Any] = {
            "kernel": kernel.kernel,
            "chip": kernel.chip,
            "binary_bytes": kernel.binary_bytes,
            "instructions": kernel.code.total,
            "figures": figures_of(kernel),
        }
        if kernel.loop:
            entry["loop"] = {
                "counts": dict(kernel.loop.counts),
                "purposes": dict(kernel.purposes),
                "caches": dict(kernel.caches),
                "loaded_bytes": kernel.loaded_bytes,
                "operations": kernel.operations,
            }
        if line := kernel.roofline():
            entry["roofline"] = dict(vars(line))
        entries.append(entry)
    return json.dumps({"version": _VERSION, "kernels": entries}, indent=2) + "\n"


def write(path: str | PathLike[str], kernels: Sequence[KernelStatistics]) -> None:
    """Keeps the figures in a file."""
    files.write(path, to_json(kernels).encode())


def read(path: str | PathLike[str]) -> dict[Key, Figures]:
    """Figures by kernel and chip. XeTileError if it is no file of `write`."""
    return parse(files.read(path, "the baseline"), str(path))


def parse(data: bytes, name: str) -> dict[Key, Figures]:
    """The same of a file's content; `name` stands in messages."""

    def refuse(why: str) -> XeTileError:
        return XeTileError(f"{name} is no baseline: {why}; expected what `xetile report --json` printed")

    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise refuse(f"no JSON ({error})") from None
    if not isinstance(content, dict) or content.get("version") != _VERSION:
        raise refuse(f"its version is not {_VERSION}")
    kernels = content.get("kernels")
    if not isinstance(kernels, list):
        raise refuse("it has no list of kernels")
    result: dict[Key, Figures] = {}
    for entry in kernels:
        if not isinstance(entry, dict):
            raise refuse("a kernel is no object")
        key, figures = (entry.get("kernel"), entry.get("chip")), entry.get("figures")
        if not all(isinstance(part, str) for part in key) or not isinstance(figures, dict):
            raise refuse("a kernel lacks its name, chip or figures")
        for figure, value in figures.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise refuse(f"{figure!r} of {key[0]} is no number")
        result[str(key[0]), str(key[1])] = figures
    return result


def compare(kernels: Sequence[KernelStatistics], before: Mapping[Key, Figures]) -> list[Difference]:
    """Every figure of the kernels of either side, in the order of the baseline. XeTileError if none is on both."""
    expect("kernels", kernels, Sequence, "a sequence of KernelStatistics")
    return differences(before, {(kernel.kernel, kernel.chip): figures_of(kernel) for kernel in kernels})


def differences(
    before: Mapping[Key, Figures], now: Mapping[Key, Figures], *, renamed: bool = False
) -> list[Difference]:
    """The same of the figures of both sides. If `renamed`, and each has one kernel for a chip, these are compared
    whatever their names are."""
    names = _renamed(before, now) if renamed else {}
    before = {names.get(key, key): figures for key, figures in before.items()}
    if not now.keys() & before.keys():
        raise XeTileError(
            f"nothing to compare: the kernels are {_names(now)}, those of the other side {_names(before)}"
        )
    found = []
    for key in dict.fromkeys((*before, *now)):
        left, right = before.get(key, {}), now.get(key, {})
        for figure in dict.fromkeys((*FIGURES, *left, *right)):
            if figure in left or figure in right:
                found.append(Difference(*key, figure, left.get(figure), right.get(figure)))
    return found


def _renamed(before: Mapping[Key, Figures], now: Mapping[Key, Figures]) -> dict[Key, Key]:
    """The keys of kernels that are alone for their chip on both sides, and what they are called now."""

    def alone(side: Mapping[Key, Figures]) -> dict[str, Key]:
        chips = [chip for _, chip in side]
        return {key[1]: key for key in side if chips.count(key[1]) == 1}

    left, right = alone(before), alone(now)
    return {left[chip]: right[chip] for chip in left.keys() & right.keys()}


def format_differences(differences: Sequence[Difference], tolerance: float = 0.0) -> str:
    """A table, one line per figure; what is worse by more than `tolerance` is marked."""
    rows = [["kernel", "chip", "figure", "before", "now", "change", ""]]
    for one in differences:
        change = ""
        if one.before and one.now is not None:
            change = f"{one.now / one.before - 1:+.1%}"
        marks = "worse" if one.is_worse(tolerance) else ""
        rows.append([one.kernel, one.chip, one.figure, _shown(one.before), _shown(one.now), change, marks])
    return align(rows)


def _shown(value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _names(keys: Mapping[Key, Any]) -> str:
    return ", ".join(f"{kernel} ({chip})" for kernel, chip in keys) or "none"
