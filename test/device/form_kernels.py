# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions with masks, shared heads and sizes of any number, for both machines: cases, errors beside f64."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

KIND = "attention_forms"


@dataclass(frozen=True)
class Form:
    """`case` has the fields of `attention_programs.Attention`."""

    case: dict[str, Any]
    kind: str = KIND
    params: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        given = [f"{key}{value}" for key, value in (self.params | self.options).items()]
        return "_".join(["form", *(f"{key}{value}" for key, value in self.case.items()), *given])

    @property
    def schedule(self) -> str:
        return "attention"

    def payload(self) -> str:
        """A function on tensors, named kernel."""
        sys.path[:0] = [str(Path(__file__).parents[1] / "python"), str(Path(__file__).parents[1])]
        from attention_programs import Attention

        return Attention(**self.case).text().replace("@attention", "@kernel")


def cases() -> Iterator[Form]:
    sizes = {"batch": 2, "heads": 6, "rows": 500, "keys": 1000}
    for options in ({}, {"overlap": False}):
        for d in (64, 128):
            for dtype in ("f16", "bf16"):
                wide = sizes | {"inner": d, "values": d, "dtype": dtype}
                yield Form(wide, options=options)
                yield Form(wide | {"mask": "added"}, options=options)
                yield Form(wide | {"mask": "selected", "rows": 333, "keys": 512}, options=options)
                yield Form(wide | {"mask": "causal", "offset": 500, "keys": 1000}, options=options)
                yield Form(wide | {"mask": "window", "first": -100, "keys": 500}, options=options)
                yield Form(wide | {"mask": "window", "first": -700, "offset": -3, "rows": 1024, "keys": 1024})
                yield Form(wide | {"key_heads": 2}, options=options)
    for keys in (8, 63, 64, 65, 77, 127, 128, 129, 200, 255, 257):
        yield Form(sizes | {"keys": keys})
        yield Form(sizes | {"keys": keys, "mask": "causal", "offset": 100, "dtype": "bf16"})
        yield Form(sizes | {"keys": keys, "mask": "added", "rows": 130}, options={"lazy": True})
    for d in (16, 32, 40, 80, 96, 160, 192, 256):
        fewer = {"params": {"keys": 64}} if d > 128 else {}
        yield Form(sizes | {"inner": d, "values": d}, **fewer)
        yield Form(sizes | {"inner": d, "values": d, "dtype": "bf16", "mask": "causal", "key_heads": 3}, **fewer)
    yield Form(sizes | {"inner": 192, "values": 128, "keys": 1024}, params={"keys": 64})
    yield Form(sizes | {"inner": 64, "values": 128})
    yield Form(sizes | {"mask": "causal", "low": -1e9})
    yield Form(sizes | {"mask": "causal", "offset": -5})


def entry(form: Form) -> dict[str, Any]:
    """As cases.json has it."""
    return asdict(form)


def run(case: dict[str, Any], kernel: Any, rounds: int, seed: int, guarded: Callable[..., Any]) -> dict[str, Any]:
    """Errors beside f64, as parts of what is allowed."""
    import torch

    c = {"mask": "none", "key_heads": 0, "inner": 64, "values": 64, "dtype": "f16", "scale": 0.125, "offset": 0,
         "first": 0, "low": -math.inf} | case["case"]  # fmt: skip
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[c["dtype"]]
    h = c["key_heads"] or c["heads"]
    b, g, m, n = c["batch"], c["heads"] // h, c["rows"], c["keys"]
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def random(shape: tuple[int, ...], factor: float = 1.0) -> Any:
        values = torch.randn(shape, device="cuda", generator=generator) * factor
        return guarded(shape, dtype, values.to(dtype))[0]

    found = {}
    for what, factor in (("random", 1.0), ("large", 8.0)):
        q, k, v = (
            random((b, h, g, m, c["inner"]), factor),
            random((b, h, n, c["inner"])),
            random((b, h, n, c["values"])),
        )
        arrays = [q, k, v]
        scores = torch.einsum("bhgmd,bhnd->bhgmn", q.double(), k.double()) * c["scale"]
        if c["mask"] == "added":
            values = torch.randn(m, n, device="cuda", generator=generator)
            arrays.append(guarded((m, n), torch.float32, values)[0])
            scores = scores + arrays[-1].double()
        if c["mask"] == "selected":
            seen = torch.rand(m, n, device="cuda", generator=generator) < 0.5
            seen[:, 0] = True
            arrays.append(seen.to(torch.int8))
            scores = scores.masked_fill(~seen, -math.inf)
        if c["mask"] in ("causal", "window"):
            seen = torch.ones(m, n, dtype=torch.bool, device="cuda").tril(c["offset"])
            seen = seen.triu(c["first"]) if c["mask"] == "window" else seen
            scores = scores.masked_fill(~seen, c["low"])
        expected = torch.einsum("bhgmn,bhnd->bhgmd", torch.softmax(scores, -1), v.double())
        out, whole = guarded((b, h, g, m, c["values"]), torch.float32)
        kernel.bind(*arrays, out)()
        torch.cuda.synchronize()
        kernel.raise_error()
        rows = torch.isfinite(expected).all(-1)
        same = bool((torch.isnan(out).any(-1) == torch.isnan(expected).any(-1)).all())
        norm = torch.linalg.norm(out.double()[rows] - expected[rows]) / torch.linalg.norm(expected[rows]).clamp(
            min=1e-9
        )
        found[what] = float(norm) / (8e-3 if c["dtype"] == "bf16" else 2e-3) if same else math.inf
        if not bool(torch.isnan(whole[:4096]).all() and torch.isnan(whole[4096 + out.numel() :]).all()):
            found[what] = math.inf
    return {"errors": found}
