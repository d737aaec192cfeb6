# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise work before and after deep-tiled matmuls on the CPU, against NumPy."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import pytest
from deep_tile_cases import FORMS, SMALL, Problem, T, blocked, compile_text, floats, random_config, tensor
from deep_tile_cases import ROWS as ROW_DIMS
from xetile import XeTileError, cli, cpu, schedule
from xetile import compile as compile_for
from xetile.kernels.signature import ArraySpec
from xetile.mlir import ir

MN = "affine_map<(m, n) -> (m, n)>"
ROWS = "affine_map<(m, n) -> (m)>"
COLUMNS = "affine_map<(m, n) -> (n)>"
TRANSPOSED = "affine_map<(m, n) -> (n, m)>"
SIZES = [(64, 64, 64), (100, 90, 70), (13, 17, 19), (1, 33, 129)]
# Blocks of which there are several, that do not divide the sizes above.


@dataclass(frozen=True)
class Step:
    """An elementwise op: `maps` of its inputs besides the first, its lines of MLIR (`%x` and `%in0`... to `%y`)."""

    inputs: tuple[str, ...]
    lines: str
    kind: str = "f32"


BIAS = Step((COLUMNS,), "%y = arith.addf %x, %in0 : f32")
RELU = Step((), "%zero_ = arith.constant 0.0 : f32\n%y = arith.maximumf %x, %zero_ : f32")
RESIDUAL = Step((MN,), "%y = arith.addf %in0, %x : f32")
SCALE_ROWS = Step((ROWS,), "%y = arith.mulf %x, %in0 : f32")
TO_BF16 = Step((), "%y = arith.truncf %x : f32 to bf16", "bf16")
FROM_BF16 = Step((), "%y = arith.extf %x : bf16 to f32")
EXP = Step((), "%y = math.exp %x : f32")
GELU = Step(
    (),
    "%c0_ = arith.constant 0.70710678 : f32\n%c1_ = arith.constant 1.0 : f32\n%c2_ = arith.constant 0.5 : f32\n"
    "%a_ = arith.mulf %x, %c0_ : f32\n%b_ = math.erf %a_ : f32\n%d_ = arith.addf %b_, %c1_ : f32\n"
    "%e_ = arith.mulf %x, %c2_ : f32\n%y = arith.mulf %e_, %d_ : f32",
)
GELU_TANH = Step(
    (),
    "%c0_ = arith.constant 0.044715 : f32\n%c1_ = arith.constant 1.0 : f32\n%c2_ = arith.constant 0.5 : f32\n"
    "%c3_ = arith.constant 0.7978845608 : f32\n%x2_ = arith.mulf %x, %x : f32\n%x3_ = arith.mulf %x2_, %x : f32\n"
    "%a_ = arith.mulf %x3_, %c0_ : f32\n%b_ = arith.addf %x, %a_ : f32\n%d_ = arith.mulf %b_, %c3_ : f32\n"
    "%e_ = math.tanh %d_ : f32\n%f_ = arith.addf %e_, %c1_ : f32\n%g_ = arith.mulf %x, %c2_ : f32\n"
    "%y = arith.mulf %g_, %f_ : f32",
)
ERF = np.vectorize(math.erf)
NUMPY = {
    id(BIAS): lambda x, bias: x + bias,
    id(RELU): lambda x: np.maximum(x, 0),
    id(RESIDUAL): lambda x, residual: x + residual,
    id(SCALE_ROWS): lambda x, factor: x * factor[:, None],
    id(TO_BF16): lambda x: x,
    id(FROM_BF16): lambda x: x,
    id(EXP): np.exp,
    id(GELU): lambda x: 0.5 * x * (1 + ERF(x * 0.70710678)),
    id(GELU_TANH): lambda x: 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3))),
}


class Writer:
    """Writes a function, tensor by tensor, and computes the same with NumPy."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.types: list[str] = []
        self.arrays: list[np.ndarray] = []
        self.lines: list[str] = []

    def argument(self, shape: tuple[int, ...], kind: str) -> tuple[str, np.ndarray]:
        """The name of a new argument and its values."""
        self.types.append(tensor(shape, kind))
        dtype = ArraySpec(shape, kind).numpy_dtype
        self.arrays.append(self.rng.uniform(-1, 1, shape).astype(dtype))
        return f"%arg{len(self.types) - 1}", self.arrays[-1].astype(np.float64)

    def apply(self, step: Step, name: str, values: np.ndarray, kind: str) -> tuple[str, np.ndarray, str]:
        """An op that takes `name` and new arguments; its name, values and element type."""
        shape, new = values.shape, f"%t{len(self.lines)}"
        names, types, others = [name], [tensor(shape, kind)], []
        for access in step.inputs:
            part = {MN: shape, ROWS: shape[:1], COLUMNS: shape[1:]}[access]
            argument, value = self.argument(part, "f32")
            names.append(argument)
            types.append(tensor(part, "f32"))
            others.append(value)
        maps = ", ".join([MN, *step.inputs, MN])
        result = tensor(shape, step.kind)
        inputs = "".join(f", %in{number}: f32" for number in range(len(step.inputs)))
        self.lines.append(
            f"{new}e = tensor.empty() : {result}\n{new} = linalg.generic {{indexing_maps = [{maps}], "
            f'iterator_types = ["parallel", "parallel"]}} ins({", ".join(names)} : {", ".join(types)}) '
            f"outs({new}e : {result}) {{\n^bb0(%x: {kind}{inputs}, %o: {step.kind}):\n{step.lines}\n"
            f"linalg.yield %y : {step.kind}\n}} -> {result}"
        )
        return new, NUMPY[id(step)](values, *others), step.kind

    def module(self, results: list[tuple[str, str]]) -> ir.Module:
        """The function with `results`, names and types."""
        arguments = ", ".join(f"%arg{number}: {kind}" for number, kind in enumerate(self.types))
        names, types = (", ".join(column) for column in zip(*results, strict=True))
        body = "\n".join(self.lines)
        with ir.Context():
            return ir.Module.parse(f"func.func @f({arguments}) -> ({types}) {{\n{body}\nreturn {names} : {types}\n}}")


def run(
    rng,
    sizes,
    *,
    before_a=(),
    before_b=(),
    after=(),
    fill=True,
    kind="f32",
    start_kind="f32",
    tolerance=1e-5,
    **options,
):
    """Compiles, calls and compares; returns the kernel."""
    m, n, k = sizes
    writer = Writer(rng)
    operands = []
    for shape, steps in (((m, k), before_a), ((k, n), before_b)):
        name, values = writer.argument(shape, start_kind)
        element = start_kind
        for step in steps:
            name, values, element = writer.apply(step, name, values, element)
        operands.append((name, values, element))
    (a, x, a_kind), (b, y, b_kind) = operands
    c = tensor((m, n), kind)
    if fill:
        writer.lines.append(
            f"%zero = arith.constant 0.0 : {kind}\n%e = tensor.empty() : {c}\n"
            f"%c = linalg.fill ins(%zero : {kind}) outs(%e : {c}) -> {c}"
        )
        start, sums = "%c", x @ y
    else:
        start, z = writer.argument((m, n), kind)
        sums = x @ y + z
    writer.lines.append(
        f"%d = linalg.matmul ins({a}, {b} : {tensor((m, k), a_kind)}, {tensor((k, n), b_kind)}) "
        f"outs({start} : {c}) -> {c}"
    )
    # What is rounded to bf16 is off by that much at the most; no step here makes it larger by more than a fifth.
    rounding = 1.2 * 2.0**-8 * np.abs(sums) if kind == "bf16" else 0.0
    name, element = "%d", kind
    for step in after:
        name, sums, element = writer.apply(step, name, sums, element)
    kernel = cpu.compile(writer.module([(name, tensor((m, n), element))]), **options)
    kept = [array.copy() for array in writer.arrays]
    result = kernel(*writer.arrays)
    for array, copy in zip(writer.arrays, kept, strict=True):
        assert array.tobytes() == copy.tobytes(), "an argument was changed"
    rounding = rounding + (2.0**-8 * np.abs(sums) if element == "bf16" else 0.0)
    allowed = tolerance * max(np.abs(sums).max(), 1e-3) + rounding
    excess = (np.abs(result.astype(np.float64) - sums) / allowed).max()
    assert excess <= 1, f"{sizes} {options}: {excess:.3g} times the error that is allowed"
    return kernel


@pytest.mark.parametrize("after", [[BIAS, RELU], [GELU], [GELU_TANH], [RESIDUAL], [BIAS, GELU, RESIDUAL, SCALE_ROWS]])
@pytest.mark.parametrize("sizes", SIZES, ids=lambda s: "x".join(map(str, s)))
@pytest.mark.parametrize("fill", [True, False], ids=["fill", "accumulate"])
def test_consumers(rng, sizes, after, fill):
    run(rng, sizes, after=after, fill=fill, threads=2)


@pytest.mark.parametrize("sizes", SIZES, ids=lambda s: "x".join(map(str, s)))
@pytest.mark.parametrize("fill", [True, False], ids=["fill", "accumulate"])
@pytest.mark.parametrize("threads", [1, 2])
def test_consumers_of_narrow_tiles_take_whole_blocks(rng, sizes, fill, threads):
    config = {"MBlock": 24, "NBlock": 20, "innermostMBlock": 8, "innermostNBlock": 4}
    kernel = run(rng, sizes, after=[BIAS, GELU, SCALE_ROWS], fill=fill, config=config, threads=threads)
    # All tiles of a block come before: the loops over them end where it begins.
    tiled = kernel.stages["1-tiled"]
    between = tiled[tiled.rindex("xetile.microkernel") : tiled.rindex("math.erf")]
    assert between.count("scf.yield") == 1 + (sizes[0] > 1)


@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize("after", [[BIAS, RELU], [BIAS, TO_BF16]], ids=["in place", "sums elsewhere"])
@pytest.mark.parametrize("fill", [True, False], ids=["fill", "accumulate"])
def test_consumers_after_several_steps_of_k(rng, order, after, fill):
    run(rng, (100, 90, 70), after=after, fill=fill, config={**SMALL, "loopOrder": order})


@pytest.mark.parametrize("order", range(6))
def test_narrow_results_are_cast_in_the_last_step(rng, order):
    config = {**SMALL, "loopOrder": order}
    kernel = run(rng, (100, 90, 70), kind="bf16", start_kind="bf16", fill=False, config=config)
    assert "arith.truncf" in kernel.stages["1-tiled"]
    run(rng, (100, 90, 70), kind="bf16", start_kind="bf16", after=[FROM_BF16, RELU], config=config)


@pytest.mark.parametrize("after", [[BIAS, GELU], [BIAS, TO_BF16]], ids=["f32", "bf16"])
@pytest.mark.parametrize("fill", [True, False], ids=["fill", "accumulate"])
def test_consumers_with_threads_of_k(rng, after, fill):
    config = {"KThreads": 2, "MThreads": 1, "NThreads": 1}
    kernel = run(rng, (50, 70, 130), after=after, fill=fill, config=config, threads=2)
    tiled = kernel.stages["1-tiled"]
    # One op adds the partial results and does all that follows.
    assert tiled.count("linalg.generic") == 1


@pytest.mark.parametrize("pack", ["auto", "always", "never"])
@pytest.mark.parametrize("sizes", SIZES, ids=lambda s: "x".join(map(str, s)))
@pytest.mark.parametrize(
    ("before_a", "before_b", "start_kind"),
    [
        ([RELU], [], "f32"),
        ([], [EXP], "f32"),
        ([SCALE_ROWS], [BIAS, RELU], "f32"),
        ([FROM_BF16], [FROM_BF16, EXP], "bf16"),
    ],
    ids=["A", "B", "both", "casts"],
)
def test_producers(rng, sizes, before_a, before_b, start_kind, pack):
    kernel = run(rng, sizes, before_a=before_a, before_b=before_b, start_kind=start_kind, pack=pack, threads=1)
    # Nothing is computed outside of the packing.
    assert "linalg.generic" not in kernel.stages["1-tiled"]


def test_producers_with_threads_and_small_blocks(rng):
    for order in range(6):
        config = {**SMALL, "MThreads": 2, "KThreads": 2, "loopOrder": order}
        run(rng, (100, 90, 70), before_a=[EXP], before_b=[SCALE_ROWS], after=[BIAS], config=config, threads=4)


def test_bf16_pairs_of_computed_operands_have_zeros_past_k(rng):
    # exp(0) is not 0: what is past k must not count.
    to = Step(
        (), "%w_ = arith.extf %x : bf16 to f32\n%v_ = math.exp %w_ : f32\n%y = arith.truncf %v_ : f32 to bf16", "bf16"
    )
    NUMPY[id(to)] = np.exp
    # A pair too many would add 1 to sums of about 40.
    run(rng, (33, 48, 31), before_a=[to], before_b=[to], start_kind="bf16", pack="always", threads=1, tolerance=5e-3)


def test_peak_memory_has_no_whole_intermediate(rng):
    kernel = run(rng, (256, 256, 256), before_a=[RELU], after=[BIAS, GELU, TO_BF16], threads=2)
    assert " = memref.alloc() {alignment = 64 : i64} : memref<256x256x" not in kernel.stages["2-memory"]
    apart = run(rng, (256, 256, 256), after=[BIAS, TO_BF16], threads=2, fuse=False)
    assert " = memref.alloc() {alignment = 64 : i64} : memref<256x256xf32>" in apart.stages["2-memory"]


MATMUL = f"""
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {T}
  %c = linalg.fill ins(%zero : f32) outs(%e : {T}) -> {T}
  %d = linalg.matmul ins(%a, %b : {T}, {T}) outs(%c : {T}) -> {T}
  %z = arith.constant dense<0.0> : {T}
"""


def test_ops_on_tensors_and_broadcasts_become_one(rng):
    kernel = compile_text(
        f"""{MATMUL}
  %w = linalg.broadcast ins(%v : tensor<40xf32>) outs(%e : {T}) dimensions = [0]
  %s = arith.addf %d, %w : {T}
  %r = arith.maximumf %s, %z : {T}
  return %r : {T}""",
        f"(%a: {T}, %b: {T}, %v: tensor<40xf32>) -> {T}",
        threads=1,
    )
    a, b, v = floats(rng, (40, 40), (40, 40), (40,))
    assert np.allclose(kernel(a, b, v), np.maximum(a @ b + v, 0), atol=1e-4)
    assert kernel.stages["1-tiled"].count("linalg.generic") == 1
    assert "memref.global" not in kernel.stages["2-memory"]


def test_results_that_are_used_twice_stay(rng):
    kernel = compile_text(
        f"{MATMUL}\n  %r = arith.maximumf %d, %z : {T}\n  return %d, %r : {T}, {T}",
        f"(%a: {T}, %b: {T}) -> ({T}, {T})",
        threads=2,
    )
    a, b = floats(rng, (40, 40), (40, 40))
    product, positive = kernel(a, b)
    assert np.allclose(product, a @ b, atol=1e-4)
    assert np.allclose(positive, np.maximum(a @ b, 0), atol=1e-4)


SIGMOID = f"""
  %n = arith.negf %d : {T}
  %x = math.exp %n : {T}
  %o = arith.constant dense<1.0> : {T}
  %p = arith.addf %x, %o : {T}
  %s = arith.divf %o, %p : {T}
"""


def test_ops_that_share_an_input_and_meet_again_become_one(rng):
    kernel = compile_text(
        f"{MATMUL}{SIGMOID}\n  %r = arith.mulf %d, %s : {T}\n  return %r : {T}",
        f"(%a: {T}, %b: {T}) -> {T}",
        threads=2,
    )
    a, b = floats(rng, (40, 40), (40, 40))
    y = a.astype("f8") @ b
    assert np.allclose(kernel(a, b), y / (1 + np.exp(-y)), atol=1e-5)
    assert kernel.stages["1-tiled"].count("linalg.generic") == 1


def test_ops_that_share_an_input_and_are_results_stay(rng):
    kernel = compile_text(
        f"{MATMUL}{SIGMOID}\n  %r = arith.mulf %d, %s : {T}\n  return %r, %s : {T}, {T}",
        f"(%a: {T}, %b: {T}) -> ({T}, {T})",
        threads=2,
    )
    a, b = floats(rng, (40, 40), (40, 40))
    y = a.astype("f8") @ b
    product, sigmoid = kernel(a, b)
    assert np.allclose(product, y / (1 + np.exp(-y)), atol=1e-5)
    assert np.allclose(sigmoid, 1 / (1 + np.exp(-y)), atol=1e-5)


def test_operands_that_are_used_twice_stay(rng):
    relu = f"%r = arith.maximumf %a, %z : {T}"
    lines = MATMUL.replace("(%a, %b", "(%r, %b").splitlines()
    zeros = lines.pop()
    kernel = compile_text(
        "\n".join([zeros, relu, *lines, f"  return %d, %r : {T}, {T}"]), f"(%a: {T}, %b: {T}) -> ({T}, {T})", threads=2
    )
    a, b = floats(rng, (40, 40), (40, 40))
    product, positive = kernel(a, b)
    assert np.allclose(product, np.maximum(a, 0) @ b, atol=1e-4)
    assert (positive == np.maximum(a, 0)).all()


def test_two_matmuls_in_a_row_and_side_by_side(rng):
    kernel = compile_text(
        f"""{MATMUL}
  %p = arith.maximumf %d, %z : {T}
  %q = linalg.matmul ins(%p, %b : {T}, {T}) outs(%c : {T}) -> {T}
  %o = linalg.matmul ins(%b, %a : {T}, {T}) outs(%c : {T}) -> {T}
  %s = arith.subf %q, %o : {T}
  %r = arith.addf %s, %a : {T}
  return %r : {T}""",
        f"(%a: {T}, %b: {T}) -> {T}",
        threads=2,
    )
    a, b = floats(rng, (40, 40), (40, 40))
    assert np.allclose(kernel(a, b), np.maximum(a @ b, 0) @ b - b @ a + a, atol=1e-3)


def test_updates_in_place_and_transposed_results(rng):
    kernel = compile_text(
        f"""{MATMUL}
  %u = linalg.generic {{indexing_maps = [{MN}, {MN}], iterator_types = ["parallel", "parallel"]}}
    ins(%a : {T}) outs(%d : {T}) {{
  ^bb0(%x: f32, %y: f32):
    %t = arith.subf %y, %x : f32
    linalg.yield %t : f32
  }} -> {T}
  %r = linalg.generic {{indexing_maps = [{TRANSPOSED}, {MN}], iterator_types = ["parallel", "parallel"]}}
    ins(%u : {T}) outs(%e : {T}) {{
  ^bb0(%x: f32, %y: f32):
    %t = math.absf %x : f32
    linalg.yield %t : f32
  }} -> {T}
  return %r : {T}""",
        f"(%a: {T}, %b: {T}) -> {T}",
        threads=2,
    )
    a, b = floats(rng, (40, 40), (40, 40))
    assert np.allclose(kernel(a, b), np.abs(a @ b - a).T, atol=1e-4)
    assert kernel.stages["1-tiled"].count("linalg.generic") == 1


def test_the_accumulator_is_read_by_the_consumer(rng):
    kernel = compile_text(
        f"""
  %d = linalg.matmul ins(%a, %b : {T}, {T}) outs(%c : {T}) -> {T}
  %r = linalg.generic {{indexing_maps = [{MN}, {MN}], iterator_types = ["parallel", "parallel"]}}
    ins(%d : {T}) outs(%c : {T}) {{
  ^bb0(%x: f32, %y: f32):
    %t = arith.mulf %y, %x : f32
    linalg.yield %t : f32
  }} -> {T}
  return %r : {T}""",
        f"(%a: {T}, %b: {T}, %c: {T}) -> {T}",
        threads=2,
    )
    a, b, c = floats(rng, (40, 40), (40, 40), (40, 40))
    assert np.allclose(kernel(a, b, c), c * (a @ b + c), atol=1e-4)


def test_batches(rng):
    t, m = "tensor<3x20x20xf32>", "affine_map<(b, m, n) -> (b, m, n)>"
    kinds = '["parallel", "parallel", "parallel"]'
    kernel = compile_text(
        f"""
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {t}
  %x = linalg.generic {{indexing_maps = [{m}, affine_map<(b, m, n) -> (b)>, {m}], iterator_types = {kinds}}}
    ins(%a, %s : {t}, tensor<3xf32>) outs(%e : {t}) {{
  ^bb0(%u: f32, %y: f32, %w: f32):
    %p = arith.mulf %u, %y : f32
    linalg.yield %p : f32
  }} -> {t}
  %c = linalg.fill ins(%zero : f32) outs(%e : {t}) -> {t}
  %d = linalg.batch_matmul ins(%x, %b : {t}, {t}) outs(%c : {t}) -> {t}
  %r = linalg.generic {{indexing_maps = [{m}, affine_map<(b, m, n) -> (b, n)>, {m}], iterator_types = {kinds}}}
    ins(%d, %v : {t}, tensor<3x20xf32>) outs(%e : {t}) {{
  ^bb0(%u: f32, %y: f32, %w: f32):
    %p = arith.addf %u, %y : f32
    linalg.yield %p : f32
  }} -> {t}
  return %r : {t}""",
        f"(%a: {t}, %b: {t}, %s: tensor<3xf32>, %v: tensor<3x20xf32>) -> {t}",
        threads=2,
    )
    a, b, s, v = floats(rng, (3, 20, 20), (3, 20, 20), (3,), (3, 20))
    assert np.allclose(kernel(a, b, s, v), (a * s[:, None, None]) @ b + v[:, None, :], atol=1e-4)
    assert kernel.stages["1-tiled"].count("linalg.generic") == 1


def test_schedule_tiles_instead_of_the_pass(rng, tmp_path, capsys):
    source = tmp_path / "relu.mlir"
    body = f"{MATMUL}\n  %r = arith.maximumf %d, %z : {T}\n  return %r : {T}"
    source.write_text(f"func.func @f(%a: {T}, %b: {T}) -> {T} {{\n{body}\n}}")
    params = {"innermostMBlock": 5, "MBlock": 10, "threads": 1, "pack": "never"}
    kernel = compile_for(source, "cpu_matmul", target="cpu", params=params)
    a, b = floats(rng, (40, 40), (40, 40))
    assert np.allclose(kernel(a, b), np.maximum(a @ b, 0), atol=1e-4)
    assert "array<i64: 5," in kernel.stages["1-tiled"]
    # The maximum is on tiles, of which there is one op.
    assert kernel.stages["1-tiled"].count("linalg.generic") == 1
    command = ["run", str(source), "--target", "cpu", "--schedule", "cpu_matmul", "--set", "threads=1", "--seed", "1"]
    assert cli.main(command) == 0
    assert "on this CPU" in capsys.readouterr().out
    with pytest.raises(XeTileError, match="MBlock = 12: expected a multiple of innermostMBlock = 5"):
        compile_for(source, "cpu_matmul", target="cpu", params={**params, "MBlock": 12})
    with pytest.raises(XeTileError, match="has no parameter 'MBlocks'"):
        compile_for(source, "cpu_matmul", target="cpu", params={"MBlocks": 12})
    with pytest.raises(XeTileError, match="expected no config, threads, pack, fuse, attention or tune beside it"):
        cpu.compile(source, schedule=schedule.load("cpu_matmul"), threads=2)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("narrow", [False, True], ids=["f32", "bf16"])
def test_consumers_of_all_forms(rng, form, dynamic, narrow):
    sizes = blocked(form, 50, 40, 70)
    rows = ROW_DIMS.get(form, "") if dynamic else ""
    problem = Problem(form, sizes, ("f32",) * 3, fill=not narrow, dynamic=rows)
    text = str(problem.module())
    name, kind = re.search(r"return (%\w+) : (\S+)", text).groups()
    rank = kind.count("x")
    dims = ", ".join(f"d{i}" for i in range(rank))
    access, kinds = f"affine_map<({dims}) -> ({dims})>", ", ".join(['"parallel"'] * rank)
    result, element = (kind.replace("f32", "bf16"), "bf16") if narrow else (kind, "f32")
    # The size of the result is that of the accumulator: it is no use of the result.
    place = max(FORMS[form][2].find(rows), 0)
    work = f"""
    %place = arith.constant {place} : index
    %size = tensor.dim {name}, %place : {kind}
    %out = tensor.empty({"%size" if rows else ""}) : {result}
    %done = linalg.generic {{indexing_maps = [{access}, {access}], iterator_types = [{kinds}]}}
      ins({name} : {kind}) outs(%out : {result}) {{
    ^bb0(%x: f32, %y: {element}):
      %z = arith.negf %x : f32
      {"%t = arith.truncf %z : f32 to bf16" if narrow else ""}
      linalg.yield {"%t" if narrow else "%z"} : {element}
    }} -> {result}
    return %done : {result}"""
    text = text.replace(f"return {name} : {kind}", work).replace(f"-> {kind} {{", f"-> {result} {{", 1)
    config = random_config(rng, problem, 4)
    print(form, config)
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(text), config=config, threads=4)
    maps = FORMS[form]
    arrays = floats(rng, *(tuple(sizes[d] for d in dims) for dims in maps))
    a, b, c = (array.astype("f8") for array in arrays)
    expected = -(np.einsum(f"{maps[0]},{maps[1]}->{maps[2]}", a, b) + (c if narrow else 0))
    difference = np.abs(kernel(*arrays).astype("f8") - expected).max() / np.abs(expected).max()
    assert difference < (2e-2 if narrow else 1e-5)
