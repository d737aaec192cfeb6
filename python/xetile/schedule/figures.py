# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code of schedules' kernels: counts of instructions that `make bench` holds them to.

`test/bench/program_code.py` and `machine_code.py` count what ocloc makes of each kernel and fail where one has more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["FIGURES", "Figure", "of_schedule"]

CHIPS = ("pvc", "bmg")
_PRODUCTS = "instructions for 2048 products, those of a dpas"
_ELEMENTS = "instructions for 16 elements"
_MOV, _OTHERS = "mov for a dpas", "other instructions for a dpas"


@dataclass(frozen=True)
class Figure:
    """A kernel that is measured: `most` are counts of `unit` on each of `CHIPS`, of which there is none more."""

    schedule: str
    kernel: str
    dtype: str
    most: tuple[float, float]
    unit: str = _ELEMENTS


def _both(schedule: str, kernel: str, f32: tuple[float, float], f16: tuple[float, float]) -> tuple[Figure, Figure]:
    return Figure(schedule, kernel, "f32", f32), Figure(schedule, kernel, "f16", f16)


def _products(schedule: str, kernel: str, dtype: str, most: tuple[float, float]) -> Figure:
    return Figure(schedule, kernel, dtype, most, _PRODUCTS)


FIGURES: tuple[Figure, ...] = (
    *_both("elementwise", "chain of 6", (7.8, 6.95), (9.3, 8.55)),
    *_both("elementwise", "chain of 6, odd pitch", (8.5, 7.95), (12.5, 11.25)),
    *_both("rows", "row softmax", (22.85, 22.5), (25.4, 24.65)),
    *_both("rows", "row softmax, exp2", (6.25, 5.9), (8.55, 7.9)),
    *_both("rows", "layer norm", (8.8, 8.15), (12.55, 12.15)),
    *_both("rows", "layer norm of many rows", (10.45, 9.5), (10.7, 9.95)),
    *_both("rows", "sum of rows", (1.7, 1.5), (2.65, 2.55)),
    *_both("gpu_model", "softmax of long rows, exp2", (11.7, 10.85), (14.5, 13.95)),
    *_both("gpu_model", "layer norm of long rows", (12.4, 11.3), (15.05, 14.55)),
    *_both("elementwise", "transpose", (1.8, 1.5), (2.1, 1.8)),
    _products("convolution", "convolution, stride 1", "f32", (130, 130)),
    _products("convolution", "convolution, stride 1", "f16", (1.4, 1.35)),
    _products("convolution", "convolution, stride 2", "f32", (138, 138)),
    _products("convolution", "convolution, stride 2", "f16", (1.4, 1.35)),
    _products("gpu_model", "convolution, channels first, bias, relu", "f16", (1.45, 1.4)),
    *_both("windows", "max pool 2x2", (14.2, 10.95), (17.75, 16)),
    _products("attention", "attention, heads of 64", "f16", (10.15, 9.1)),
    _products("attention", "attention, heads of 128", "f16", (8.6, 5.8)),
    _products("attention", "attention with lazy maxima, heads of 64, by hand exact", "f16", (8.95, 7.8)),
    _products("attention", "attention of one query", "f16", (10.25, 9.45)),
    _products("attention", "attention of bf16, heads of 128, by hand of f16", "f16", (10.95, 8.15)),
    _products("mlp", "perceptron in one kernel", "f16", (5.25, 4.85)),
    _products("matmul", "matmul through shared memory", "f16", (4.55, 3.1)),
    *_both("rows", "rms norm", (6.8, 6.05), (7.75, 7.1)),
    *_both("rows", "group norm, 8 channels", (9.25, 8.15), (10.15, 9.15)),
    *_both("rows", "group norm, 4 channels", (9.2, 8.2), (10.1, 9.1)),
    Figure("scan", "scan of rows", "f32", (4.2, 3)),
    Figure("elementwise", "rotary embedding", "f16", (8.2, 6.7)),
    _products("matmul", "batched and strided matmul", "f16", (1.75, 1.4)),
    _products("matmul", "matmul with split k", "f16", (1.75, 1.4)),
    _products("mlp", "gated perceptron in one kernel", "f16", (6.9, 6.55)),
    _products("rows", "rotary embedding in a product", "f16", (31.7, 32.05)),
    _products("attention", "rotary embedding in an attention", "f16", (68.6, 67.6)),
    Figure("matmul", "matmul of 4096 cubed", "f16", (0.25, 0.1), _MOV),
    Figure("matmul", "matmul of 4096 cubed", "f16", (0.7, 0.48), _OTHERS),
)


def of_schedule(name: str) -> tuple[Figure, ...]:
    """Those of a schedule that comes with the package, in the order in which they are printed."""
    return tuple(figure for figure in FIGURES if figure.schedule == name)


def most_of_programs() -> Mapping[str, Mapping[str, tuple[float, float]]]:
    """Kernel -> type of its elements -> counts, of those that are programs."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for figure in FIGURES:
        if figure.unit not in (_MOV, _OTHERS):
            found.setdefault(figure.kernel, {})[figure.dtype] = figure.most
    return MappingProxyType(found)


def most_of_matmuls() -> Mapping[str, tuple[float, float]]:
    """Chip -> mov and other instructions for a dpas, of matmuls of narrow floats."""
    mov, others = ([figure.most for figure in FIGURES if figure.unit == unit] for unit in (_MOV, _OTHERS))
    return MappingProxyType({chip: (mov[0][i], others[0][i]) for i, chip in enumerate(CHIPS)})
