# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels without products, for both machines: payloads of softmax, norms, sums and chains; what PyTorch computes for
them, and how long that and a copy of the same bytes take."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

OPS = ("softmax", "layer_norm", "rms_norm", "chain", "sum")


@dataclass(frozen=True)
class Rows:
    """An op of `OPS` on rows x columns elements of f32, bf16 or f16; sums are in f32."""

    kind: str
    op: str
    m: int
    n: int
    input: str = "f32"
    params: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        parts = [self.op, f"{self.m}x{self.n}", self.input]
        return "_".join(parts + [f"{key}{value}" for key, value in (self.params | self.options).items()])

    @property
    def schedule(self) -> str:
        return "elementwise" if self.op == "chain" else "rows"

    def payload(self) -> str:
        """A function on tensors."""
        return _payload(self)


def cases() -> Iterator[Rows]:
    """Small ones with odd sizes, then those that are timed."""
    for element in ("f32", "bf16", "f16"):
        for op in OPS:
            for m, n in ((64, 256), (33, 1000), (5, 4096), (257, 77), (1, 8192)):
                yield Rows("rows_numbers", op, m, n, element)
    for element in ("f32", "bf16"):
        for op in OPS:
            for m, n in ((4096, 4096), (16384, 1024)):
                yield Rows("rows", op, m, n, element)


def _generic(results: str, maps: list[str], kinds: str, inputs: str, outputs: str, body: list[str]) -> list[str]:
    indexing = ", ".join(f"affine_map<(m, n) -> ({text})>" for text in maps)
    kinds = ", ".join(f'"{kind}"' for kind in kinds.split())
    head = f"{results} = linalg.generic {{indexing_maps = [{indexing}], iterator_types = [{kinds}]}} "
    return [f"{head}ins({inputs}) outs({outputs}) {{", *body, "}"]


def _payload(case: Rows) -> str:
    m, n, element = case.m, case.n, case.input
    matrix, wide, row = f"tensor<{m}x{n}x{element}>", f"tensor<{m}x{n}xf32>", f"tensor<{m}xf32>"
    both, all_ = "parallel parallel", "m, n"

    def widen(name: str, to: str) -> list[str]:
        return [] if element == "f32" else [f"{to} = arith.extf {name} : {element} to f32"]

    def narrow(name: str) -> list[str]:
        if element == "f32":
            return [f"linalg.yield {name} : f32"]
        return [f"%narrow = arith.truncf {name} : f32 to {element}", f"linalg.yield %narrow : {element}"]

    x = "%x" if element == "f32" else "%wide"
    lines = ["%zero = arith.constant 0.0 : f32", f"%empty = tensor.empty() : {matrix}", f"%er = tensor.empty() : {row}"]
    lines.append(f"%zeros = linalg.fill ins(%zero : f32) outs(%er : {row}) -> {row}")
    arguments = f"%A: {matrix}"
    result, type_ = "%D", matrix
    if case.op == "chain":
        arguments += f", %B: {matrix}"
        body = [f"^bb0(%x: {element}, %y: {element}, %o: {element}):", *widen("%x", "%wide"), *widen("%y", "%other")]
        y = "%y" if element == "f32" else "%other"
        body += [f"%p = arith.mulf {x}, {y} : f32", f"%s = arith.addf %p, {y} : f32", "%e = math.tanh %s : f32"]
        body += [f"%r = arith.addf %e, {x} : f32", *narrow("%r")]
        lines += _generic("%D", [all_] * 3, both, f"%A, %B : {matrix}, {matrix}", f"%empty : {matrix}", body)
        lines[-1] += f" -> {matrix}"
    elif case.op == "softmax":
        lines += [f"%ew = tensor.empty() : {wide}"]
        source = "%A"
        if element != "f32":
            body = [f"^bb0(%x: {element}, %o: f32):", *widen("%x", "%wide"), "linalg.yield %wide : f32"]
            lines += _generic("%W", [all_] * 2, both, f"%A : {matrix}", f"%ew : {wide}", body)
            lines[-1] += f" -> {wide}"
            source = "%W"
        lines.append(f"%S = linalg.softmax dimension(1) ins({source} : {wide}) outs(%ew : {wide}) -> {wide}")
        result = "%S"
        if element != "f32":
            body = [f"^bb0(%x: f32, %o: {element}):", *narrow("%x")]
            lines += _generic("%D", [all_] * 2, both, f"%S : {wide}", f"%empty : {matrix}", body)
            lines[-1] += f" -> {matrix}"
            result = "%D"
    else:
        sums, body = "parallel reduction", [f"^bb0(%x: {element}, %o: f32):", *widen("%x", "%wide")]

        def total(name: str, term: list[str], value: str) -> list[str]:
            inside = [*body, *term, f"%t = arith.addf %o, {value} : f32", "linalg.yield %t : f32"]
            made = _generic(name, [all_, "m"], sums, f"%A : {matrix}", f"%zeros : {row}", inside)
            return [*made[:-1], f"}} -> {row}"]

        if case.op == "sum":
            lines += total("%D", [], x)
            type_ = row
        else:
            lines.append(f"%count = arith.constant {float(n)!r} : f32")
            lines.append("%little = arith.constant 1.0e-5 : f32")
            centred = case.op == "layer_norm"
            arguments += f", %G: tensor<{n}xf32>"
            if centred:
                lines += total("%T", [], x)
                inside = [f"^bb0(%x: {element}, %s: f32, %o: f32):", *widen("%x", "%wide")]
                inside += ["%mean = arith.divf %s, %count : f32", f"%c = arith.subf {x}, %mean : f32"]
                inside += ["%q = arith.mulf %c, %c : f32", "%t = arith.addf %o, %q : f32", "linalg.yield %t : f32"]
                lines += _generic("%Q", [all_, "m", "m"], sums, f"%A, %T : {matrix}, {row}", f"%zeros : {row}", inside)
                lines[-1] += f" -> {row}"
            else:
                lines += total("%Q", [f"%q = arith.mulf {x}, {x} : f32"], "%q")
                lines.append("%T = arith.constant dense<0.0> : " + row)
            inside = [f"^bb0(%x: {element}, %s: f32, %q: f32, %g: f32, %o: {element}):", *widen("%x", "%wide")]
            inside += ["%mean = arith.divf %s, %count : f32", f"%c = arith.subf {x}, %mean : f32"]
            inside += ["%v = arith.divf %q, %count : f32", "%e = arith.addf %v, %little : f32"]
            inside += ["%i = math.rsqrt %e : f32", "%p = arith.mulf %c, %i : f32", "%r = arith.mulf %p, %g : f32"]
            inputs = f"%A, %T, %Q, %G : {matrix}, {row}, {row}, tensor<{n}xf32>"
            maps = [all_, "m", "m", "n", all_]
            lines += _generic("%D", maps, both, inputs, f"%empty : {matrix}", [*inside, *narrow("%r")])
            lines[-1] += f" -> {matrix}"
    lines.append(f"return {result} : {type_}")
    inside_ = "\n  ".join(lines)
    return f"func.func @kernel({arguments}) -> {type_} {{\n  {inside_}\n}}\n"


def run(case: dict[str, Any], kernel: Any, rounds: int, seed: int, guarded: Callable[..., Any]) -> dict[str, Any]:
    """Errors beside f64 as parts of what is allowed; of those that are timed, microseconds of the kernel, of
    PyTorch's compiled function and of a copy of as many bytes."""
    import torch

    dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[case["input"]]
    m, n, op = case["m"], case["n"], case["op"]
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def random(*shape: int, like: Any = dtype) -> Any:
        return guarded(shape, like, torch.randn(*shape, device="cuda", generator=generator).to(like))[0]

    arrays = [random(m, n)]
    if op == "chain":
        arrays.append(random(m, n))
    if op.endswith("norm"):
        arrays.append(random(n, like=torch.float32))

    def compute(x: Any, *more: Any) -> Any:
        if op == "softmax":
            return torch.softmax(x, 1)
        if op == "chain":
            return torch.tanh(x * more[0] + more[0]) + x
        if op == "sum":
            return x.sum(1)
        centre = x.mean(1, keepdim=True) if op == "layer_norm" else 0
        square = ((x - centre) ** 2).mean(1, keepdim=True)
        return (x - centre) * torch.rsqrt(square + 1e-5) * more[0]

    result = torch.float32 if op == "sum" else dtype
    epsilon = {torch.float32: 0.0, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-10}[result]
    out, whole = guarded((m,) if op == "sum" else (m, n), result)
    call = kernel.bind(*arrays, out)

    def check() -> float:
        out.fill_(math.nan)
        call()
        torch.cuda.synchronize()
        kernel.raise_error()
        expected = compute(*(array.double() for array in arrays))
        allowed = 2e-5 * expected.abs().max() + epsilon * expected.abs()
        error = float(((out.double() - expected).abs() / allowed).max())
        around = torch.cat((whole[:4096], whole[4096 + out.numel() :]))
        return error if bool(torch.isnan(around).all()) and math.isfinite(error) else math.inf

    found = {"random": check()}
    if case["kind"] == "rows_numbers":
        if op == "softmax":
            # Powers that are next to nothing, and those of masks.
            arrays[0].mul_(30)
            arrays[0][:, ::7] = -math.inf
            found["far"] = check()
        return {"errors": found}
    from triton.testing import do_bench

    def in_f32(*given: Any) -> Any:
        return compute(*(array.float() for array in given)).to(result)

    compiled = torch.compile(in_f32)
    compiled(*arrays)
    moved = sum(array.numel() * array.element_size() for array in (*arrays, out))
    source = torch.empty(moved // 2, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    ways = {"ours": call, "peer": lambda: compiled(*arrays), "copy": lambda: target.copy_(source)}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(do_bench(way, warmup=10, rep=40, return_mode="median") * 1e3)
    return {"errors": found} | {name: statistics.median(values) for name, values in times.items()}


def tell(cases: list[dict[str, Any]], results: dict[int, dict[str, Any]]) -> None:
    """The timed ones, beside a copy of the same bytes and PyTorch's compiled function."""
    print("| kernel | us | of copy rate | of torch.compile |\n|---|---|---|---|")
    for number, result in sorted(results.items()):
        if "ours" in result:
            of_copy, of_peer = (result[name] / result["ours"] for name in ("copy", "peer"))
            print(f"| {cases[number]['name']} | {result['ours']:.1f} | {of_copy:.2f} | {of_peer:.2f} |")
