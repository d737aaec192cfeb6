# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of f16 and bf16 that are f32, where no instruction multiplies these."""

from __future__ import annotations

import numpy as np
import pytest
from deep_tile_cases import FORMS, Problem, blocked, check, random_config, tensor
from xetile import cpu
from xetile.kernels.signature import ArraySpec
from xetile.mlir import ir

TYPES = [("bf16", "bf16", "f32"), ("bf16", "bf16", "bf16"), ("f16", "f16", "f32"), ("f16", "f16", "f16")]
MIXED = [("bf16", "f32", "f32"), ("f32", "bf16", "f32"), ("f16", "bf16", "f32"), ("bf16", "bf16", "f64")]
MACHINES = {
    "SSE": {"max_vector_width": 128, "bf16_dot": 0},
    "AVX2": {"max_vector_width": 256, "bf16_dot": 0},
    "AVX-512": {"max_vector_width": 512, "bf16_dot": 0},
}
DESCRIBED = (
    'attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = '
    '#dlti.target_device_spec<"max_vector_width" = 512 : i32, "bf16_dot" = 0 : i32>>}'
)


def widened(rng: np.random.Generator, form: str, types: tuple[str, str, str], machine: str = "AVX-512") -> Problem:
    """Sizes from 33 on: copies of thin matrices stay narrow."""
    m, n, k = (int(size) for size in rng.integers(33, 260, 3))
    return Problem(form, blocked(form, m, n, k), types, fill=bool(rng.integers(2)), machine=MACHINES[machine])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", FORMS)
def test_forms(rng, form):
    for pack in ("auto", "always"):
        types = TYPES[int(rng.integers(len(TYPES)))]
        check(rng, widened(rng, form, types), threads=int(rng.integers(1, 3)), pack=pack)


@pytest.mark.parametrize("types", TYPES, ids="-".join)
def test_types(rng, types):
    check(rng, widened(rng, "plain", types))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", FORMS)
def test_configurations(rng, form):
    for pack in ("auto", "always", "never"):
        problem = widened(rng, form, TYPES[int(rng.integers(len(TYPES)))])
        check(rng, problem, random_config(rng, problem, threads=2), pack=pack)


@pytest.mark.parametrize("types", MIXED, ids="-".join)
@pytest.mark.parametrize("form", ["plain", "transposed A", "transposed B"])
def test_one_narrow_operand(rng, form, types):
    problem = widened(rng, form, types)
    check(rng, problem)
    check(rng, problem, random_config(rng, problem, threads=2), pack="always")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("types", TYPES[:3], ids="-".join)
def test_vectors_of_other_widths(rng, machine, types):
    for form in ("plain", "transposed A", "both transposed"):
        check(rng, widened(rng, form, types, machine))


@pytest.mark.parametrize("dynamic", ["m", "n", "k", "mnk"])
def test_sizes_at_run_time(rng, dynamic):
    for types in TYPES:
        problem = widened(rng, "plain", types)
        check(rng, Problem("plain", problem.sizes, types, fill=True, dynamic=dynamic, machine=problem.machine))


def test_more_than_one_block(rng):
    for types in TYPES[:2]:
        sizes = blocked("plain", *(int(size) for size in rng.integers((280, 300, 1500), (320, 400, 1700))))
        kernel = check(rng, Problem("plain", sizes, types, fill=True, machine=MACHINES["AVX-512"]))
        assert "xf32>" in kernel.stages["2-memory"]


@pytest.mark.parametrize("kind", ["bf16", "f16"])
@pytest.mark.parametrize("constant", ["A", "B"])
@pytest.mark.parametrize("pack", ["auto", "always"])
def test_constants(rng, kind, constant, pack):
    m, n, k = (int(size) for size in rng.integers(33, 130, 3))
    dtype = ArraySpec((), kind).numpy_dtype
    a, b = rng.uniform(-1, 1, (m, k)).astype(dtype), rng.uniform(-1, 1, (k, n)).astype(dtype)
    # Denormals, zeros of either sign, infinity's neighbours: all of them have an f32.
    some = np.array([0, 0x8000, 1, 0x8003, 0x7BFF if kind == "f16" else 0x3F80], np.uint16).view(dtype)
    held, given = (a, b) if constant == "A" else (b, a)
    held[0, : len(some)] = some
    types = {name: tensor(array.shape, kind) for name, array in (("A", a), ("B", b))}
    t = tensor((m, n), "f32")
    argument = "B" if constant == "A" else "A"
    data = f'dense<"0x{held.tobytes().hex().upper()}"> : {types[constant]}'
    text = f"""module {DESCRIBED} {{
func.func @f(%{argument}: {types[argument]}, %C: {t}) -> {t} {{
  %{constant} = arith.constant {data}
  %d = linalg.matmul ins(%A, %B : {types["A"]}, {types["B"]}) outs(%C : {t}) -> {t}
  return %d : {t}
}}
}}"""
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(text), threads=1, pack=pack)
    c = rng.uniform(-1, 1, (m, n)).astype("f4")
    expected = a.astype("f8") @ b.astype("f8") + c
    assert np.abs(kernel(given, c) - expected).max() <= 1e-5 * max(np.abs(expected).max(), 1)
    if constant == "B" or pack == "always":
        assert f"memref<{'x'.join(map(str, held.shape))}x{kind}>" not in kernel.stages["2-memory"]


@pytest.mark.parametrize("types", TYPES[:2], ids="-".join)
@pytest.mark.parametrize("number", [0, 1])
def test_what_is_computed_before_is_widened_behind_its_rounding(rng, types, number):
    kind, _, result = types
    m, n, k = (int(size) for size in rng.integers(33, 130, 3))
    shapes = [(m, k), (k, n)]
    t = [tensor(shape, kind) for shape in shapes]
    r, u = tensor((m, n), result), t[number]
    given = "%a" if number == 0 else "%b"
    operands = "%p, %b" if number == 0 else "%a, %p"
    body = f"""
  %e = tensor.empty() : {u}
  %p = linalg.mul ins({given}, {given} : {u}, {u}) outs(%e : {u}) -> {u}
  %d = linalg.matmul ins({operands} : {t[0]}, {t[1]}) outs(%c : {r}) -> {r}
  %x = linalg.exp ins(%d : {r}) outs(%c : {r}) -> {r}
  return %x : {r}
}}
}}"""
    text = f"module {DESCRIBED} {{\nfunc.func @f(%a: {t[0]}, %b: {t[1]}, %c: {r}) -> {r} {{{body}"
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(text), threads=2)
    arrays = [rng.uniform(-0.3, 0.3, shape).astype(ArraySpec((), kind).numpy_dtype) for shape in shapes]
    c = rng.uniform(-0.3, 0.3, (m, n)).astype(ArraySpec((), result).numpy_dtype)
    got = kernel(*arrays, c).astype("f8")
    arrays[number] = arrays[number] * arrays[number]
    expected = np.exp(arrays[0].astype("f8") @ arrays[1].astype("f8") + c.astype("f8"))
    assert np.abs(got / expected - 1).max() < (1e-5 if result == "f32" else 2.0**-6)


def explained(problem: Problem) -> str:
    return cpu.explain(problem.module(), threads=1)


@pytest.mark.parametrize("types", TYPES, ids="-".join)
def test_both_are_copied_once_a_block(types):
    for size in (512, 1024):
        sizes = blocked("plain", size, size, size)
        terms = explained(Problem("plain", sizes, types, machine=MACHINES["AVX-512"]))
        assert "pack A: yes" in terms
        assert f"copies of B are f32: no instruction multiplies {types[0]}" in terms


def test_copies_stay_as_they_are_where_that_is_better():
    thin = Problem("transposed B", blocked("transposed B", 20, 500, 300), TYPES[0], machine=MACHINES["AVX-512"])
    assert "copies of B are f32" not in explained(thin)
    dot = {"max_vector_width": 512, "bf16_dot": 1}
    assert "f32:" not in explained(Problem("plain", blocked("plain", 512, 512, 512), TYPES[0], machine=dot))
    wide = Problem("plain", blocked("plain", 512, 512, 512), ("f32", "f32", "f32"), machine=MACHINES["AVX-512"])
    assert "copies of" not in explained(wide)
