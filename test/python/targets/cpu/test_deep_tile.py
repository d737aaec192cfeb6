# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deep-tiled matmuls on the CPU: forms, types, edges, arrays, explanations, shared objects, the command."""

from __future__ import annotations

import ctypes
import json

import machines
import numpy as np
import pytest
from deep_tile_cases import FORMS, ROWS, SMALL, TYPES, Problem, blocked, check, compare, draw, plain
from xetile import XeTileError, cli, cpu

F32 = ("f32", "f32", "f32")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("types", [F32, ("bf16", "bf16", "f32"), ("i8", "i8", "i32")], ids=["f32", "bf16", "i8"])
@pytest.mark.parametrize("pack", ["auto", "always"])
def test_forms(rng, form, types, pack):
    kernel = check(rng, Problem(form, blocked(form, 100, 200, 300), types), pack=pack)
    assert "xetile.microkernel" in kernel.stages["1-tiled"]


@pytest.mark.parametrize("order", range(6))
def test_loop_orders(rng, order):
    config = {**SMALL, "loopOrder": order}
    kernel = check(rng, Problem("plain", blocked("plain", 100, 90, 70), F32, fill=True), config)
    assert "scf.for" in kernel.stages["1-tiled"]


@pytest.mark.parametrize("types", TYPES, ids="-".join)
@pytest.mark.parametrize("k_threads", [1, 2])
def test_types(rng, types, k_threads):
    config = {"KThreads": k_threads, "MThreads": 1, "NThreads": 1, "KBlock": 32, "innermostKBlock": 16}
    check(rng, Problem("plain", blocked("plain", 50, 70, 130), types), config)


@pytest.mark.parametrize("types", [("bf16", "bf16", "bf16"), ("f16", "f16", "f16")], ids=["bf16", "f16"])
def test_narrow_results_are_rounded_once_without_vectors(rng, types):
    # Neither n is contiguous in B nor k in A, and nothing is packed: scalar loops.
    form = "both transposed"
    problem = Problem(form, blocked(form, 20, 30, 1000), types, fill=True)
    kernel = check(rng, problem, {"KThreads": 1}, pack="never")
    assert "vector." not in kernel.stages["1-tiled"]


@pytest.mark.parametrize(("form", "dim"), ROWS.items())
def test_dynamic_rows(rng, form, dim):
    sizes = blocked(form, 77, 65, 40)
    kernel = cpu.compile(Problem(form, sizes, F32, dynamic=dim).module(), threads=2)
    for rows in (0, 1, 7, 40, 5000 if dim == "m" else 300):
        print(f"{rows=}")
        problem = Problem(form, {**sizes, dim: rows}, F32)
        arrays = problem.arrays(rng, kernel)
        compare(problem, arrays, kernel(*arrays))


@pytest.mark.parametrize("steps", [0, 1, 7, 100])
@pytest.mark.parametrize("k_threads", [1, 4])
@pytest.mark.parametrize("fill", [True, False])
def test_dynamic_k_may_leave_threads_without_work(rng, steps, k_threads, fill):
    problem = Problem("plain", blocked("plain", 20, 30, 40), F32, fill, dynamic="k")
    kernel = cpu.compile(problem.module(), config={"KThreads": k_threads, "innermostKBlock": 8}, threads=4)
    called = Problem("plain", blocked("plain", 20, 30, steps), F32, fill)
    arrays = called.arrays(rng, kernel)
    compare(called, arrays, kernel(*arrays))


def test_split_k_uses_threads_of_k_by_itself():
    # With its vectors: narrower ones would make two blocks of m worth their threads.
    machine = {**machines.CALIBRATIONS["EPYC"], "max_vector_width": 512}
    given = Problem("plain", blocked("plain", 16, 16, 65536), F32, fill=True, machine=machine)
    kernel = cpu.compile(given.module(), threads=8)
    assert "tensor<8x16x16xf32>" in kernel.stages["1-tiled"]


def test_single_batch_on_one_thread(rng):
    check(rng, Problem("batch", blocked("batch", 20, 30, 40, batch=1), F32, fill=True), threads=1)


@pytest.mark.parametrize("empty", ["m", "n", "k"])
def test_empty_dimensions(rng, empty):
    check(rng, Problem("plain", {**blocked("plain", 20, 30, 40), empty: 0}, F32))


def test_out_is_filled_and_aliases_are_refused(rng):
    kernel = cpu.compile(plain(32, 32, 32), threads=1)
    a, b, c = (draw(rng, (32, 32), np.dtype("f4")) for _ in range(3))
    out = np.empty((32, 32), "f4")
    assert kernel(a, b, c, out=out) is out
    assert np.allclose(out, a @ b, atol=1e-4)
    for alias in (a, c, a[:], b.T.T):
        with pytest.raises(XeTileError, match="out 0: it shares memory with another array; pass a copy"):
            kernel(a, b, c, out=alias)
    # Halves of one array that do not overlap are two arrays.
    both = np.empty((2, 32, 32), "f4")
    both[0] = a
    assert np.allclose(kernel(both[0], b, c, out=both[1]), a @ b, atol=1e-4)
    with pytest.raises(XeTileError, match="argument 1: expected 32x32xf32"):
        kernel(a, b[:16], c)


def test_explain_names_the_terms():
    text = cpu.explain(plain(512, 512, 512), threads=2)
    first, *terms = text.splitlines()
    values = json.loads(first[first.index("{") :])
    assert values["MThreads"] * values["NThreads"] * values["KThreads"] <= 2
    for word in ("innermost", "threads", "pack A", "blocks", "loop order"):
        assert any(word in term for term in terms)


def test_config_round_trips_through_json():
    config = cpu.MatmulConfig.from_json('{"MThreads": 2, "loopOrder": 3}')
    assert cpu.MatmulConfig.from_json(config.to_json()) == config


def test_shared_object_is_called(rng, tmp_path):
    kernel = cpu.compile(plain(40, 50, 60, fill=False), threads=2)
    kernel.write_shared_object(tmp_path / "kernel.so")
    function = ctypes.CDLL(str(tmp_path / "kernel.so"))._mlir_ciface_f
    a, b, c = (draw(rng, spec.shape, np.dtype("f4")) for spec in kernel.arguments)
    d = np.empty_like(c)

    def descriptor(x):
        return (ctypes.c_int64 * 7)(x.ctypes.data, x.ctypes.data, 0, *x.shape, x.shape[1], 1)

    function(*map(ctypes.byref, map(descriptor, (a, b, c, d))))
    assert np.allclose(d, a @ b + c, atol=1e-4)


def test_command(tmp_path, capsys):
    source = tmp_path / "matmul.mlir"
    source.write_text(str(plain(64, 64, 64, fill=False)))
    assert cli.main(["run", str(source), "--target", "cpu", "--check", "--set", "threads=2", "--seed", "1"]) == 0
    assert "max|d - ref|" in capsys.readouterr().out
    assert cli.main(["explain", str(source), "--set", "MThreads=1"]) == 0
    assert '"MThreads": 1' in capsys.readouterr().out
    assert cli.main(["compile", str(source), "--target", "cpu", "-o", str(tmp_path / "out.so")]) == 0
    assert (tmp_path / "out.so").read_bytes().startswith(b"\x7fELF")
    assert cli.main(["compile", str(source), "--target", "cpu", "--emit", "xegpu", "-o", "-"]) == 1
    assert "expected for the target cpu one of tiled" in capsys.readouterr().err


def test_later_calls_check_their_arrays_too(rng):
    problem = Problem("plain", {"m": 5, "n": 33, "k": 18}, ("bf16", "bf16", "f32"), fill=True)
    kernel = cpu.compile(problem.module(), threads=1)
    a, b, start = (draw(rng, spec.shape, spec.numpy_dtype) for spec in kernel.arguments)
    expected = a.astype("f4") @ b.astype("f4")

    def close(result):
        return np.allclose(result, expected, rtol=0, atol=1e-4)

    assert close(kernel(a, b, start))
    out = np.full((5, 33), np.nan, "f4")
    assert kernel(a, b, start, out=out) is out and close(out)
    out[:] = np.nan
    assert kernel(a, b, start, out=(out,)) is out and close(out)
    # Other than in C order, at odd addresses, subclasses: converted as in the first call.
    turned = np.asfortranarray(b)
    shifted = np.empty(a.nbytes + 2, np.uint8)[2:].view(a.dtype).reshape(a.shape)
    shifted[:] = a
    for other in (turned, b[:, ::-1][:, ::-1], b.copy()):
        assert close(kernel(shifted, other, start))
    frozen = out.copy()
    frozen.flags.writeable = False
    wrong = [
        ((a, b), {}, "expected 3 arrays, got 2"),
        ((a.astype("f4"), b, start), {}, "argument 0: expected 5x18xbf16"),
        ((a, b[:, :32], start), {}, "argument 1: expected 18x33xbf16"),
        ((a, b.tolist(), start), {}, "argument 1: .* got list"),
        ((a, b, start), {"out": frozen}, "expected a writable array in C order"),
        ((a, b, start), {"out": np.asfortranarray(out)}, "expected a writable array in C order"),
        ((a, b, start), {"out": start}, "it shares memory with another array"),
        ((a, b, start), {"out": (out, out)}, "expected 1 arrays, got 2"),
        ((a, b, start), {"out": out[:, :32].copy()}, "out 0: expected 5x33xf32"),
    ]
    for arrays, options, message in wrong:
        with pytest.raises(XeTileError, match=message):
            kernel(*arrays, **options)
