# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions, for both machines: their payloads; errors beside PyTorch's in f32, and times beside cuDNN's."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Attention:
    """softmax(Q K^T / sqrt(d)) V of `heads` matrices; elements of `input`, results of `output`."""

    heads: int
    queries: int
    keys: int
    d: int
    input: str = "bf16"
    output: str = "bf16"
    params: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    kind: str = "attention"
    causal: bool = False  # a query sees the keys up to its own number

    @property
    def name(self) -> str:
        parts = [f"attention_{self.heads}x{self.queries}x{self.keys}x{self.d}", self.input, self.output]
        parts += ["causal"] if self.causal else []
        return "_".join(parts + [f"{key}{value}" for key, value in (self.params | self.options).items()])

    @property
    def schedule(self) -> str:
        return "attention"

    def payload(self) -> str:
        """A function on tensors, as PyTorch's layers are: linalg.softmax between two products."""
        return _payload(self)


def _payload(case: Attention) -> str:
    h, m, n, d = case.heads, case.queries, case.keys, case.d
    q, k = f"tensor<{h}x{m}x{d}x{case.input}>", f"tensor<{h}x{n}x{d}x{case.input}>"
    s, p = f"tensor<{h}x{m}x{n}xf32>", f"tensor<{h}x{m}x{n}x{case.input}>"
    o, result = f"tensor<{h}x{m}x{d}xf32>", f"tensor<{h}x{m}x{d}x{case.output}>"
    maps = "[affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>]"
    kinds = 'iterator_types = ["parallel", "parallel", "parallel"]'
    products = "affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, n, k)>"
    lines = [
        "%zero = arith.constant 0.0 : f32",
        f"%scale = arith.constant {d**-0.5!r} : f32",
        f"%es = tensor.empty() : {s}",
        f"%ep = tensor.empty() : {p}",
        f"%eo = tensor.empty() : {o}",
        f"%er = tensor.empty() : {result}",
        f"%zs = linalg.fill ins(%zero : f32) outs(%es : {s}) -> {s}",
        f"%zo = linalg.fill ins(%zero : f32) outs(%eo : {o}) -> {o}",
        f"%S = linalg.batch_matmul indexing_maps = [{products}, affine_map<(h, m, n, k) -> (h, m, n)>] "
        f"ins(%Q, %K : {q}, {k}) outs(%zs : {s}) -> {s}",
        f"%F = linalg.generic {{indexing_maps = {maps}, {kinds}}} ins(%S : {s}) outs(%es : {s}) {{",
        "^bb0(%x: f32, %y: f32):",
        *_scores(case),
        f"}} -> {s}",
        f"%W = linalg.softmax dimension(2) ins(%F : {s}) outs(%es : {s}) -> {s}",
        f"%P = linalg.generic {{indexing_maps = {maps}, {kinds}}} ins(%W : {s}) outs(%ep : {p}) {{",
        f"^bb0(%x: f32, %y: {case.input}):",
        f"%f = arith.truncf %x : f32 to {case.input}",
        f"linalg.yield %f : {case.input}",
        f"}} -> {p}",
        f"%O = linalg.batch_matmul ins(%P, %V : {p}, {k}) outs(%zo : {o}) -> {o}",
    ]
    last = "%O"
    if case.output != "f32":
        lines += [
            f"%R = linalg.generic {{indexing_maps = {maps}, {kinds}}} ins(%O : {o}) outs(%er : {result}) {{",
            f"^bb0(%x: f32, %y: {case.output}):",
            f"%f = arith.truncf %x : f32 to {case.output}",
            f"linalg.yield %f : {case.output}",
            f"}} -> {result}",
        ]
        last = "%R"
    lines.append(f"return {last} : {result}")
    inside = "\n  ".join(lines)
    return f"func.func @kernel(%Q: {q}, %K: {k}, %V: {k}) -> {result} {{\n  {inside}\n}}\n"


def _scores(case: Attention) -> Iterator[str]:
    yield "%f = arith.mulf %x, %scale : f32"
    if not case.causal:
        yield "linalg.yield %f : f32"
        return
    yield "%i = linalg.index 1 : index"
    yield "%j = linalg.index 2 : index"
    yield "%seen = arith.cmpi ule, %j, %i : index"
    yield "%low = arith.constant 0xFF800000 : f32"
    yield "%masked = arith.select %seen, %f, %low : f32"
    yield "linalg.yield %masked : f32"


def attentions() -> Iterator[Attention]:
    """Small ones of every type, then those that are timed."""
    ways: tuple[dict[str, Any], ...] = ({}, {"overlap": False}, {"lazy": False}, {"lazy": True, "counter": False})
    for number, options in enumerate(ways):
        for d in (64, 128):
            for queries, keys in ((128, 256), (333, 512), (1024, 1152)):
                for input_, output in (("bf16", "bf16"), ("f16", "f32")):
                    causal = (queries + number) % 2 == 1
                    yield Attention(3, queries, keys, d, input_, output, {}, options, "attention_numbers", causal)
            params = {"keys": 64, "workgroup_m": 64, "subgroups_m": 1}
            yield Attention(2, 300, 512, d, "bf16", "bf16", params, options, "attention_numbers")
            yield Attention(2, 1000, 1024, d, "bf16", "bf16", {}, options, "attention_numbers", causal=True)
    for batch, heads, size, d in ((4, 16, 4096, 128), (2, 16, 8192, 128), (8, 16, 2048, 64), (4, 32, 4096, 64)):
        for causal in (False, True):
            for options in ({}, {"lazy": not causal}, {"counter": False}):
                yield Attention(batch * heads, size, size, d, options=options, causal=causal)


def run(case: dict[str, Any], kernel: Any, rounds: int, seed: int, guarded: Callable[..., Any]) -> dict[str, Any]:
    """Errors of an attention beside PyTorch's in f32, and microseconds of the larger ones beside cuDNN's."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    dtypes = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
    heads, queries, keys, d = case["heads"], case["queries"], case["keys"], case["d"]
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def random(rows: int, factor: float) -> Any:
        values = torch.randn(heads, rows, d, device="cuda", generator=generator) * factor
        return guarded((heads, rows, d), dtypes[case["input"]], values.to(dtypes[case["input"]]))[0]

    attention = torch.nn.functional.scaled_dot_product_attention
    found = {}
    # Scores that are 12 times larger leave few keys that count.
    for what, factor in (("random", 1.0), ("large", 12.0)):
        arrays = [random(queries, factor), random(keys, 1.0), random(keys, 1.0)]
        out, whole = guarded((heads, queries, d), dtypes[case["output"]])
        kernel.bind(*arrays, out)()
        torch.cuda.synchronize()
        kernel.raise_error()
        worst = 0.0
        for head in range(0, heads, max(1, heads // 4)):
            with sdpa_kernel(SDPBackend.MATH):
                sides = (array[head : head + 1].float() for array in arrays)
                expected = attention(*sides, is_causal=case["causal"])[0]
            norm = torch.linalg.norm(out[head].float() - expected) / torch.linalg.norm(expected)
            worst = max(worst, float(norm) if math.isfinite(float(norm)) else math.inf)
        found[what] = worst / 4e-3
        if not bool(torch.isnan(whole[:4096]).all() and torch.isnan(whole[4096 + out.numel() :]).all()):
            found[what] = math.inf
    if case["kind"] == "attention_numbers":
        return {"errors": found}
    from triton.testing import do_bench

    arrays = [random(queries, 1.0), random(keys, 1.0), random(keys, 1.0)]
    call = kernel.bind(*arrays, out)
    peers = [array.view(1, *array.shape) for array in arrays]

    def peer() -> Any:
        return attention(*peers, is_causal=case["causal"])

    times: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(rounds):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            times["peer"].append(do_bench(peer, warmup=15, rep=60, return_mode="median") * 1e3)
        times["ours"].append(do_bench(call, warmup=15, rep=60, return_mode="median") * 1e3)
    return {"errors": found} | {name: statistics.median(values) for name, values in times.items()}


def tell(cases: list[dict[str, Any]], results: dict[int, dict[str, Any]]) -> None:
    """The timed ones, beside cuDNN."""
    print("| attention | TFLOP/s | cuDNN | ratio |\n|---|---|---|---|")
    for number, result in sorted(results.items()):
        if "ours" in result:
            case = cases[number]
            flops = 4 * case["heads"] * case["queries"] * case["keys"] * case["d"] / (2 if case["causal"] else 1)
            ours, peer = (flops / result[name] * 1e-6 for name in ("ours", "peer"))
            print(f"| {case['name']} | {ours:.1f} | {peer:.1f} | {ours / peer:.3f} |")
