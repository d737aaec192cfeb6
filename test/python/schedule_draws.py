# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes, and knobs, at random for what schedules are for: `WORKLOADS` by name, each with its schedule.

A draw is plain data, `{"workload": .., "sizes": .., "params": .., "target": .., "seed": ..}`, of which `case_of` makes
the program. Importing this is cheap, as the fuzzer's workers need it. Sizes are odd where they may be, and small:
linking large kernels for a CPU takes long.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedule_cases import Case

TARGETS = ("pvc", "bmg", "lnl")
Sizes = dict[str, Any]
ODD = (1, 3, 7, 15, 17, 23, 31, 33, 37, 40, 45)
NARROW = ("f16", "f16", "bf16")


@dataclass(frozen=True)
class Workload:
    """What is computed (a function of schedule_cases.py), the schedule that takes it, what may be drawn."""

    maker: str
    schedule: str
    sizes: Callable[[random.Random], Sizes]
    params: Callable[[random.Random], Sizes]
    suggested: str = ""

    @property
    def by_match(self) -> str:
        """The schedule that the payload decides on where none is named."""
        return self.suggested or self.schedule


def _matmul(rng: random.Random, **fixed: Any) -> Sizes:
    return {
        "m": rng.choice(ODD), "n": rng.choice(ODD), "k": rng.choice([*ODD, 70, 99]), "dtype": rng.choice(NARROW),
        "form": rng.choice(["nn", "nt", "tn", "tt"]), "then": rng.choice(["none", "relu", "bias", "residual"]),
    } | fixed  # fmt: skip


def _batched(rng: random.Random) -> Sizes:
    return _matmul(rng, batch=rng.choice([1, 2, 3]), strided=rng.random() < 0.5, form=rng.choice(["nn", "nt"]))


def _split(rng: random.Random) -> Sizes:
    parts, slices = rng.choice([2, 3, 4]), rng.choice([1, 2])
    k = 32 * slices * (parts - 1) + rng.randrange(1, 32 * slices + 1)
    return _matmul(rng, k=k, parts=parts, m=rng.choice(ODD[:6]), n=rng.choice(ODD[:6]))


def _matmul_params(rng: random.Random) -> Sizes:
    """Tiles of a workgroup and its subgroups; most are left open."""
    if rng.random() < 0.4:
        return {}
    rows, columns = rng.choice([8, 16, 24, 32]), rng.choice([16, 32])
    m, n = rng.choice([1, 2, 3]), rng.choice([1, 2])
    return {
        "workgroup_m": rows * m, "workgroup_n": columns * n, "subgroups_m": m, "subgroups_n": n,
        "k_step": rng.choice([16, 32]), "prefetch": rng.choice([0, 0, -1]),
    }  # fmt: skip


def _split_params(rng: random.Random) -> Sizes:
    return {"prefetch": rng.choice([-1, 0, 1])}


def _mlp(rng: random.Random, gated: bool) -> Sizes:
    # Of one row or one column products are sums: schedules/mlp.mlir says so.
    return {
        "m": rng.choice(ODD[1:]), "inner": rng.choice([16, 23, 32, 40, 64]), "hidden": rng.choice([16, 20, 33, 48, 65]),
        "n": rng.choice([3, 8, 16, 24, 33, 40]), "dtype": rng.choice(NARROW), "gated": gated,
    }  # fmt: skip


def _mlp_params(rng: random.Random) -> Sizes:
    return {"hidden": rng.choice([16, 16, 32]), "prefetch": rng.choice([0, 1, 2])} | (
        {"subgroups_m": rng.choice([1, 2, 4])} if rng.random() < 0.3 else {}
    )


def _softmax(rng: random.Random) -> Sizes:
    return {
        "m": rng.choice(ODD), "n": rng.choice([*ODD, 100, 257, 1000]), "axis": rng.choice([0, 1, 1]),
        "dtype": rng.choice(["f32", "f32", "f16", "bf16"]), "size": rng.choice([1.0, 1.0, 20.0]),
    }  # fmt: skip


def _norm(rng: random.Random, kind: str) -> Sizes:
    inner = rng.choice([*ODD[1:], 129, 500])
    shapes: Sizes = {"outer": [rng.choice(ODD)], "inner": [inner]}
    if kind == "group":
        groups, channels = rng.choice([1, 2, 3]), rng.choice([1, 2, 4])
        shapes = {"outer": [rng.choice([1, 2, 3]), groups], "inner": [channels, rng.choice(ODD)]}
    dtype = rng.choice(["f32", "f32", "f16", "bf16"])
    return {"kind": kind, "dtype": dtype, "residual": rng.random() < 0.5} | shapes


def _row_params(rng: random.Random) -> Sizes:
    return {}


def _rotary(rng: random.Random) -> Sizes:
    return {
        "heads": rng.choice([1, 2, 3]), "rows": rng.choice(ODD), "size": 2 * rng.choice([1, 4, 8, 15, 16, 20]),
        "dtype": rng.choice(["f16", "bf16", "f16"]),
    }  # fmt: skip


def _rotary_product(rng: random.Random) -> Sizes:
    return _rotary(rng) | {"keys": rng.choice(ODD[1:]), "size": 2 * rng.choice([8, 12, 16, 20])}


def _rotary_attention(rng: random.Random) -> Sizes:
    # Code that turns keys in each step is long: of more of them linking takes minutes.
    return _rotary_product(rng) | {
        "values": rng.choice([16, 24, 32]), "size": 32, "heads": rng.choice([1, 2]), "rows": rng.choice(ODD[:5]),
        "keys": rng.choice([3, 7, 13, 16, 21]),
    }  # fmt: skip


def _short_steps(rng: random.Random) -> Sizes:
    return {"keys": 16, "prefetch": rng.choice([0, 1])}


def _convolution(rng: random.Random) -> Sizes:
    return {
        "images": rng.choice([1, 2]), "height": rng.choice([1, 3, 5]), "width": rng.choice([1, 3, 7, 17]),
        "channels": rng.choice([1, 3, 8, 16, 20]), "filters": rng.choice([1, 5, 8, 16, 24]),
        "dtype": rng.choice(["f16", "f16", "bf16", "f32"]), "stride": rng.choice([1, 1, 2]),
        "dilation": rng.choice([1, 1, 2]),
    }  # fmt: skip


def _pool(rng: random.Random) -> Sizes:
    return {
        "planes": rng.choice([1, 2, 5]), "height": rng.choice([2, 3, 9]), "width": rng.choice([2, 7, 16, 33]),
        "dtype": rng.choice(["f32", "f16"]), "window": rng.choice([2, 2, 3]), "stride": rng.choice([1, 2, 2, 3]),
    }  # fmt: skip


def _embedding(rng: random.Random) -> Sizes:
    return {
        "rows": rng.choice(ODD), "places": rng.choice(ODD), "size": rng.choice(ODD),
        "dtype": rng.choice(["f32", "f16", "bf16"]),
    }  # fmt: skip


def _transpose(rng: random.Random) -> Sizes:
    rank = rng.choice([2, 2, 3, 4])
    order = list(range(rank))
    rng.shuffle(order)
    shape = [rng.choice(ODD if rank == 2 else ODD[:7]) for _ in order]
    return {"shape": shape, "order": order, "dtype": rng.choice(["f32", "f16", "bf16"])}


def _pair(rng: random.Random) -> Sizes:
    return {"m": rng.choice(ODD), "n": rng.choice(ODD)}


def _chain(rng: random.Random) -> Sizes:
    return _pair(rng) | {"dtype": rng.choice(["f32", "f16", "bf16"])}


def _tile_params(rng: random.Random) -> Sizes:
    if rng.random() < 0.6:
        return {}
    rows, columns = rng.choice([1, 2, 4]), rng.choice([1, 2])
    return {
        "workgroup_m": rows * rng.choice([8, 16]), "workgroup_n": columns * rng.choice([16, 32]),
        "subgroups_m": rows, "subgroups_n": columns,
    }  # fmt: skip


def _attention(rng: random.Random) -> Sizes:
    shared = rng.choice([1, 2])
    size = rng.choice([32, 32, 40, 48, 64, 64, 80, 96, 128, 256])
    rows, keys = rng.choice([*ODD, 70]), rng.choice([*ODD[2:], 70])
    offset = rng.randrange(-2, keys)
    return {
        "batch": rng.choice([1, 1, 2]), "heads": shared * rng.choice([1, 2]), "key_heads": shared, "rows": rows,
        "keys": keys, "inner": size, "values": size if size > 64 else rng.choice([size, 32, 24]),
        "dtype": rng.choice(["f16", "f16", "bf16"]),
        "mask": rng.choice(["none", "causal", "window", "added", "selected"]),
        "offset": offset, "first": offset - rng.randrange(keys), "size": rng.choice([1.0, 1.0, 4.0]),
    }  # fmt: skip


def _attention_params(rng: random.Random) -> Sizes:
    return {"keys": 16 if rng.random() < 0.8 else 32, "prefetch": rng.choice([0, 1, 2])}


def _decode(rng: random.Random) -> Sizes:
    parts = rng.choice([2, 3])
    keys = 16 * rng.choice([1, 2]) * parts - rng.randrange(3)
    return _attention(rng) | {
        "batch": 1, "rows": 1, "keys": keys, "parts": parts, "inner": rng.choice([32, 40, 64]), "values": 32,
        "mask": rng.choice(["none", "added", "selected"]),
    }  # fmt: skip


def _none(rng: random.Random) -> Sizes:
    return {}


WORKLOADS: dict[str, Workload] = {
    "matmul": Workload("matmul", "matmul", _matmul, _matmul_params),
    "batched and strided matmul": Workload("matmul", "matmul", _batched, _none),
    "split k": Workload("matmul", "matmul", _split, _split_params),
    "perceptron": Workload("mlp", "mlp", lambda rng: _mlp(rng, False), _mlp_params, "gpu_model"),
    "gated perceptron": Workload("mlp", "mlp", lambda rng: _mlp(rng, True), _mlp_params, "gpu_model"),
    "softmax": Workload("softmax", "rows", _softmax, _row_params),
    "layer norm": Workload("norm", "rows", lambda rng: _norm(rng, "layer"), _row_params),
    "rms norm": Workload("norm", "rows", lambda rng: _norm(rng, "rms"), _row_params),
    "group norm": Workload("norm", "rows", lambda rng: _norm(rng, "group"), _row_params),
    "rotary embedding": Workload("rotary", "elementwise", _rotary, _none),
    "rotary embedding in a product": Workload("rotary", "rows", _rotary_product, _none, "gpu_model"),
    "rotary embedding in an attention": Workload("rotary", "attention", _rotary_attention, _short_steps, "gpu_model"),
    "convolution": Workload("convolution", "convolution", _convolution, _none),
    "pooling": Workload("pool", "windows", _pool, _none),
    "embedding": Workload("embedding", "gather", _embedding, _tile_params),
    "transpose": Workload("transpose", "elementwise", _transpose, _tile_params),
    "chain": Workload("chain", "elementwise", _chain, _tile_params),
    "scan": Workload("scan", "scan", lambda rng: _pair(rng) | {"axis": rng.choice([0, 1])}, _none),
    "attention": Workload("attention", "attention", _attention, _attention_params),
    "decode": Workload("attention", "attention", _decode, _attention_params),
}


def draw(rng: random.Random, name: str) -> Sizes:
    """One case of a workload."""
    workload = WORKLOADS[name]
    sizes = workload.sizes(rng)
    return {
        "workload": name, "sizes": sizes, "params": workload.params(rng), "target": rng.choice(TARGETS),
        "seed": rng.randrange(10**6),
    }  # fmt: skip


def case_of(drawn: Sizes) -> Case:
    """The program of a draw."""
    import numpy as np
    from schedule_cases import MAKERS

    sizes = {key: tuple(value) if isinstance(value, list) else value for key, value in drawn["sizes"].items()}
    return MAKERS[WORKLOADS[drawn["workload"]].maker](np.random.default_rng(drawn["seed"]), **sizes)
