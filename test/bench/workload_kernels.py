# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More kernels that program_code.py compares: programs of test/python/schedule_cases.py, whose numbers tests compare
with NumPy, in sizes that the tiles by hand divide.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from program_code_kernels import ROWS_BY_HAND, SIDE, Bench

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "python")]

PRODUCTS = "2048 products"
GROUPS, CHANNELS = 64, (8, 4)  # of group norms: groups of an image, channels of a group
HEADS, PLACES, HEAD = 4, 512, 64  # of turned heads that are multiplied
EMBEDDED = (8, 1024, 128)  # heads, places and elements of those that are not
BATCHES, BATCHED = 8, (256, 256, 512)  # of batched products: m, n, k
PARTS, SHARED = 8, (256, 256, 8192)  # parts of k of a product
LAYER = (4096, 64, 256, 64)  # rows of a perceptron, inputs, hidden values, results
# Of an attention whose keys are turned in each step: more of them do not fit the registers beside their angles.
TURNED = {"keys": 16, "workgroup_m": 128, "subgroups_m": 16}
TILE = {"workgroup_m": 256, "workgroup_n": 256, "subgroups_m": 8, "subgroups_n": 4, "k_step": 32, "prefetch": 3}


def payload(maker: str, **sizes: Any) -> str:
    """The text of a program; its numbers do not matter here."""
    import numpy as np
    from schedule_cases import MAKERS

    return MAKERS[maker](np.random.default_rng(0), **sizes).text


def _rows() -> list[Bench]:
    """A subgroup has a row, a group or some turned rows."""
    found = []
    for dtype in ("f32", "f16"):
        for name, sizes, defines in (
            ("rms norm", {"kind": "rms", "outer": (SIDE,), "inner": (SIDE,)}, "RMS_NORM"),
            *(
                (
                    f"group norm, {channels} channels",
                    {"kind": "group", "outer": (SIDE // GROUPS, GROUPS), "inner": (channels, SIDE // channels)},
                    f"GROUP_NORM -D GROUPS={GROUPS} -D CHANNELS={channels}",
                )
                for channels in CHANNELS
            ),
        ):
            text = payload("norm", dtype=dtype, **sizes)
            found.append(Bench(name, dtype, text, f"-D {defines} -D N={SIDE}", SIDE * SIDE, SIDE, source=ROWS_BY_HAND))
    heads, rows, size = EMBEDDED
    turned = payload("rotary", heads=heads, rows=rows, size=size)
    found += [
        Bench("scan of rows", "f32", payload("scan", m=SIDE, n=SIDE), f"-D SCAN -D N={SIDE}", SIDE * SIDE, SIDE,
              schedule="scan", source=ROWS_BY_HAND, turns=SIDE // 8),
        Bench("rotary embedding", "f16", turned, f"-D ROTARY -D M={rows} -D C={size} -D ROWS=8", heads * rows * size,
              heads * rows // 8, source=ROWS_BY_HAND),
    ]  # fmt: skip
    return found


def _products() -> list[Bench]:
    """Loops with products, counted for a dpas' work."""

    def loop(name: str, text: str, defines: str, count: int, **more: Any) -> Bench:
        return Bench(name, "f16", text, defines, count, more.pop("subgroups", 0), 2048, PRODUCTS, True, **more)

    def matmul(sizes: tuple[int, int, int], **more: Any) -> str:
        return payload("matmul", m=sizes[0], n=sizes[1], k=sizes[2], **more)

    def gemm(sizes: tuple[int, int, int], more: str) -> Mapping[str, str]:
        defines = " ".join(f"-D {name}={size}" for name, size in zip("MNK", sizes, strict=True))
        return {"defines": f"{defines} {more}", "source": "hand_written.cl"}

    heads = {"heads": HEADS, "rows": PLACES, "keys": PLACES, "size": HEAD}
    side = f"-D N={PLACES} -D C={HEAD}"
    m, n, k = BATCHED
    rows, inputs, hidden, results = LAYER
    gated = payload("mlp", m=rows, inner=inputs, hidden=hidden, n=results, gated=True)
    return [
        loop("batched and strided matmul", matmul(BATCHED, batch=BATCHES, strided=True), count=BATCHES * m * n * k,
             schedule="matmul", params=TILE, **gemm(BATCHED, f"-D BATCHES={BATCHES}")),
        loop("matmul with split k", matmul(SHARED), count=SHARED[0] * SHARED[1] * SHARED[2], schedule="matmul",
             params={**TILE, "split_k": PARTS}, **gemm(SHARED, f"-D SPLIT={PARTS}")),
        loop("gated perceptron in one kernel", gated,
             f"-D PERCEPTRON -D GATED -D M={rows} -D N={hidden} -D C={inputs} -D ROWS=16 -D KEYS=64",
             3 * rows * inputs * hidden, schedule="mlp", subgroups=rows // 16, turns=hidden // 64),
        loop("rotary embedding in a product", payload("rotary", **heads),
             f"-D ROTARY_PRODUCT {side} -D ROWS=16 -D KEYS=64",
             HEADS * PLACES * PLACES * HEAD, schedule="rows"),
        loop("rotary embedding in an attention", payload("rotary", values=HEAD, **heads),
             f"-D ATTENTION -D TURNED {side} -D ROWS=8 -D KEYS={TURNED['keys']}", 2 * HEADS * PLACES * PLACES * HEAD,
             schedule="attention", params=TURNED, subgroups=HEADS * PLACES // 8, turns=PLACES // TURNED["keys"]),
    ]  # fmt: skip


def benches() -> list[Bench]:
    """All rows."""
    return [*_rows(), *_products()]
