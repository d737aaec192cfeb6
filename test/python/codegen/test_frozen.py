# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions with frozen arguments, against NumPy: packed by a function of their own, which each plain call runs."""

from __future__ import annotations

import numpy as np
import pytest
import xetile
from deep_tile_cases import SMALL, tensor
from xetile import XeTileError
from xetile.codegen.frozen import FrozenFunction, FrozenParts
from xetile.kernels.device import DeviceArray
from xetile.kernels.signature import ArraySpec, Signature
from xetile.mlir import ir

SIZES = [(48, 64, 32), (100, 90, 71), (1, 50, 33), (5, 1, 7), (33, 40, 1)]


def matmul(sizes, kind, result, *, frozen=(1,), transposed=False):
    """d = a b + c, of which the arguments `frozen` are."""
    m, n, k = sizes
    shapes = [(m, k), (n, k) if transposed else (k, n), (m, n)]
    types = [tensor(shape, element) for shape, element in zip(shapes, (kind, kind, result), strict=True)]
    marks = [" {xetile.frozen}" if number in frozen else "" for number in range(3)]
    arguments = ", ".join(f"%{name}: {t}{mark}" for name, t, mark in zip("abc", types, marks, strict=True))
    second = "(m, n, k) -> (n, k)" if transposed else "(m, n, k) -> (k, n)"
    a, b, c = types
    with ir.Context():
        return ir.Module.parse(f"""
func.func @f({arguments}) -> {c} {{
  %d = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<{second}>,
      affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %d : {c}
}}"""), shapes


def draw(rng, shape, kind):
    dtype = ArraySpec((), kind).numpy_dtype
    if kind.startswith("i"):
        return rng.integers(-128, 128, shape).astype(dtype)
    return rng.uniform(-1, 1, shape).astype(dtype)


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("kind", "result"), [("f32", "f32"), ("f64", "f64"), ("f16", "f32"), ("bf16", "f32"), ("i8", "i32")]
)
@pytest.mark.parametrize("transposed", [False, True], ids=["kn", "nk"])
@pytest.mark.parametrize("sizes", SIZES, ids=lambda s: "x".join(map(str, s)))
def test_a_frozen_b_is_packed_by_a_function_of_its_own(rng, sizes, kind, result, transposed):
    module, shapes = matmul(sizes, kind, result, transposed=transposed)
    arrays = [draw(rng, shape, each) for shape, each in zip(shapes, (kind, kind, result), strict=True)]
    a, b, c = (array.astype("int64" if kind == "i8" else "f8") for array in arrays)
    expected = a @ (b.T if transposed else b) + c
    blocks = {**SMALL, "innermostKBlock": 8, "NThreads": 1 if sizes[1] == 1 else 2}
    for options in ({"threads": 2}, {"threads": 2, "config": blocks}, {"threads": 1, "pack": "always"}):
        kernel = xetile.compile(module, target="cpu", **options)
        out = np.full(expected.shape, 77, arrays[2].dtype)
        kernel(*arrays, out=out)
        assert np.abs(out.astype(expected.dtype) - expected).max() <= (0 if kind == "i8" else 1e-4 * sizes[2])
        function = kernel.function()
        if not isinstance(function, FrozenFunction):
            continue
        # Once packed, what B has since does not matter.
        packed = function.pack(tuple(arrays))
        parts = function.parts
        assert parts.frozen == (1,) and 1 not in parts.taken
        again = function.call((*(arrays[number] for number in parts.taken), *packed))
        assert np.array_equal(again, out)


def test_what_is_packed_in_blocks_is_packed_ahead(rng):
    module, _ = matmul((100, 90, 71), "f32", "f32")
    kernel = xetile.compile(module, target="cpu", threads=1, pack="always")
    assert isinstance(kernel.function(), FrozenFunction)
    tiled = kernel.stages["1-tiled"]
    whole, freeze = tiled[tiled.index("func.func @f(") :].split("func.func @f_freeze(")
    assert "linalg.batch_reduce_matmul" in whole and "tensor<71x90xf32>" not in whole
    assert "linalg" not in freeze and "vector.transfer_write" in freeze


@pytest.mark.parametrize("order", range(6))
def test_a_frozen_a(rng, order):
    module, shapes = matmul((50, 40, 70), "f32", "f32", frozen=(0,))
    arrays = [draw(rng, shape, "f32") for shape in shapes]
    kernel = xetile.compile(module, target="cpu", threads=1, pack="always", config={**SMALL, "loopOrder": order})
    assert np.allclose(kernel(*arrays), arrays[0] @ arrays[1] + arrays[2], atol=1e-4)
    assert kernel.function().parts.frozen == (0,)


def test_all_arguments_are_frozen(rng):
    module, shapes = matmul((50, 40, 70), "f32", "f32", frozen=(0, 1, 2))
    arrays = [draw(rng, shape, "f32") for shape in shapes]
    kernel = xetile.compile(module, target="cpu", threads=2)
    assert np.allclose(kernel(*arrays), arrays[0] @ arrays[1] + arrays[2], atol=1e-4)
    # Arguments stay as they are, and results are the caller's.
    packed = kernel.function().pack(tuple(arrays))
    taken = tuple(arrays[number] for number in kernel.function().parts.taken)
    first = kernel.function().call((*taken, *packed))
    first += 1
    assert np.allclose(kernel.function().call((*taken, *packed)) + 1, first)


def test_sizes_that_the_run_knows_stay_whole(rng):
    with ir.Context():
        module = ir.Module.parse("""
func.func @f(%a: tensor<?x70xf32>, %b: tensor<70x40xf32> {xetile.frozen}, %c: tensor<?x40xf32>) -> tensor<?x40xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<?x70xf32>, tensor<70x40xf32>) outs(%c : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %d : tensor<?x40xf32>
}""")
    kernel = xetile.compile(module, target="cpu", threads=2)
    assert not isinstance(kernel.function(), FrozenFunction)
    for rows in (1, 50):
        a, b, c = (draw(rng, shape, "f32") for shape in ((rows, 70), (70, 40), (rows, 40)))
        assert np.allclose(kernel(a, b, c), a @ b + c, atol=1e-4)


def test_what_does_not_fit_is_refused(rng, tmp_path):
    module, shapes = matmul((50, 40, 70), "f32", "f32")
    kernel = xetile.compile(module, target="cpu", threads=1)
    a, b, c = (draw(rng, shape, "f32") for shape in shapes)
    with pytest.raises(XeTileError, match="expected 3 arrays, got 2"):
        kernel(a, b)
    with pytest.raises(XeTileError, match=r"expected 70x40xf32 \(float32\), got float32\[40, 70\]"):
        kernel(a, b.T.copy(), c)
    with pytest.raises(XeTileError, match=r"expected 50x70xf32 \(float32\), got float64"):
        kernel(a.astype("f8"), b, c)
    with pytest.raises(XeTileError, match="takes arrays that are packed in this process; compile it without"):
        kernel.save(tmp_path / "kernel.so")
    assert not list(tmp_path.iterdir())
    with pytest.raises(XeTileError, match="tune: expected no arguments that are xetile.frozen"):
        xetile.compile(module, target="cpu", threads=1, tune=True)
    # A name that is taken.
    text = str(module).rstrip()[:-1] + "func.func private @f_freeze()\n}"
    with ir.Context():
        taken = ir.Module.parse(text)
    with pytest.raises(XeTileError, match="has the name of what is computed from frozen arguments of @f"):
        xetile.compile(taken, target="cpu", threads=1)


def test_a_gpu_keeps_frozen_arrays_in_its_memory(rng, tmp_path):
    module, shapes = matmul((50, 40, 70), "f32", "f32", frozen=(1, 2), transposed=True)
    a, b, c = (draw(rng, shape, "f32") for shape in shapes)
    kernel = xetile.compile(module, target="pvc", native="off")
    function = kernel.function()
    assert function.parts.taken == (0,) and set(function.parts.frozen) == {1, 2}
    # A plain call knows nothing of changes.
    for _ in range(2):
        assert np.allclose(kernel(a, b, c), a @ b.T + c, atol=1e-4)
        b += 1
    packed = function.pack((a, b, c))
    assert all(isinstance(array, DeviceArray) for array in packed)
    out = np.full((50, 40), 77, "f4")
    for _ in range(3):
        a += 1
        function.call((a, *packed), out)
        assert np.allclose(out, a @ b.T + c, atol=1e-3)
    with pytest.raises(XeTileError, match="takes arrays that are on the device in this process; compile it without"):
        kernel.save(tmp_path / "kernel.so")
    assert not list(tmp_path.iterdir())


def test_a_schedule_for_one_kernel_takes_no_frozen_arrays():
    module, _ = matmul((50, 40, 70), "f32", "f32")
    with pytest.raises(XeTileError, match="schedule: expected gpu_model for arguments that are xetile.frozen, got 'm"):
        xetile.compile(module, schedule="matmul", target="pvc")
    xetile.compile(module, schedule="gpu_model", target="pvc", native="off")


def test_each_array_goes_where_its_number_says():
    """Of four arguments two are frozen, in another order, and what is packed of them is taken in another order."""
    spec = ArraySpec((1,), "f32")
    parts = FrozenParts(Signature("f_freeze"), Signature("f"), frozen=(2, 0), taken=(3, 1), packed=(1, 2, 0))
    calls = []

    def freeze(values, out=None):
        calls.append(values)
        return "first", "second", "third"

    function = FrozenFunction(parts, freeze, lambda values, out=None: (values, out), Signature("f", (spec,) * 4))
    assert function(("a", "b", "c", "d"), "out") == (("d", "b", "second", "third", "first"), "out")
    assert calls == [("c", "a")]
