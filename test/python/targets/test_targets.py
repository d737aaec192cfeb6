# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of all targets through one list of calls and refusals: what holds of one holds of the others."""

import itertools
import threading

import numpy as np
import pytest
import xetile
from xetile import XeTileError
from xetile.mlir import ir
from xetile.targets import XeTarget

M, N, K = 128, 64, 32
TARGETS = {
    "pvc": {"target": "pvc", "params": {"workgroup_m": 64, "workgroup_n": 64, "subgroups_m": 2, "subgroups_n": 2}},
    "cpu": {"target": "cpu", "threads": 2},
}
# Options of the other room, and one that is none's.
STRANGE = {"pvc": "threads", "cpu": "native"}
A, B, C = f"tensor<{M}x{K}xf16>", f"tensor<{K}x{N}xf16>", f"tensor<{M}x{N}xf32>"
FUNCTION = f"""
func.func @both(%A: {A}, %B: {B}, %C: {C}) -> ({C}, {A}) {{
  %D = linalg.matmul ins(%A, %B : {A}, {B}) outs(%C : {C}) -> {C}
  return %D, %A : {C}, {A}
}}"""


def compiled(target: str, module=None) -> xetile.Kernel:
    options = dict(TARGETS[target])
    if target == "pvc":
        options["native"] = "off"
    return xetile.compile(xetile.matmul(M, N, K) if module is None else module, **options)


@pytest.fixture(scope="module", params=TARGETS)
def target(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def kernel(target) -> xetile.Kernel:
    return compiled(target)


@pytest.fixture
def arrays(rng):
    shapes = (((M, K), np.float16), ((K, N), np.float16), ((M, N), np.float32))
    return tuple(rng.integers(-4, 5, shape).astype(dtype) for shape, dtype in shapes)


def product(a, b, c) -> np.ndarray:
    return a.astype(np.float32) @ b.astype(np.float32) + c


def poisoned() -> np.ndarray:
    return np.full((M, N), np.nan, np.float32)


# What a kernel is


def test_it_tells_what_it_is(kernel, target):
    assert kernel.name == kernel.signature.name == "matmul"
    assert str(kernel.signature) == f"matmul({M}x{K}xf16, {K}x{N}xf16, {M}x{N}xf32) -> ({M}x{N}xf32)"
    assert [str(spec) for spec in (*kernel.arguments, *kernel.results)][2:] == [f"{M}x{N}xf32"] * 2
    assert kernel.conditions == ()
    assert kernel.target == xetile.Target(target) and str(kernel.target) == target
    assert repr(kernel) == f"<Kernel {kernel.signature} for {target}>"


def test_stages_are_the_targets_levels(kernel):
    assert tuple(kernel.stages) == tuple(kernel.timings) == kernel.target.levels
    assert kernel.stages[kernel.target.levels[0]].count("linalg.matmul") == 1
    for name, text in kernel.stages.items():
        with ir.Context():
            assert ir.Module.parse(text).operation.verify(), name
    with pytest.raises(KeyError, match="'9-none'; the stages: 0-linalg"):
        kernel.stages["9-none"]


def test_lower_walks_the_same_levels(target):
    options = TARGETS[target]
    names = [stage.name for stage in itertools.islice(xetile.lower(xetile.matmul(M, N, K), **options), 3)]
    assert tuple(names) == xetile.Target(target).levels[:3]


def test_binaries_are_what_the_target_makes(kernel, target):
    expected = {"pvc": ("spirv", b"\x03\x02\x23\x07"), "cpu": ("object", b"\x7fELF")}[target]
    assert list(kernel.binaries) == [expected[0]]
    assert kernel.binaries[expected[0]].startswith(expected[1])
    if target == "pvc":
        assert kernel.spirv == kernel.binaries["spirv"]
    else:
        with pytest.raises(XeTileError, match="a kernel for cpu has no SPIR-V; its binaries: object"):
            _ = kernel.spirv
    assert dict(kernel.native) == {}


def test_explain_tells_how_it_was_cut(kernel, target):
    text = kernel.explain()
    assert ("workgroup_m = 64" in text and "dpas 8x16xf16, 16x16xf16" in text) or '"innermostMBlock": ' in text
    assert ("dpas" in text) == (target == "pvc")


# Calls


def test_results_are_new_and_right(kernel, arrays):
    copies = [array.copy() for array in arrays]
    first, second = kernel(*arrays), kernel(*arrays)
    np.testing.assert_array_equal(first, product(*copies))
    np.testing.assert_array_equal(second, first)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
        assert not np.shares_memory(first, array)
    assert not np.shares_memory(first, second)


def test_out_takes_the_result_and_is_returned(kernel, arrays):
    out = poisoned()
    assert kernel(*arrays, out=out) is out
    np.testing.assert_array_equal(out, product(*arrays))
    out = poisoned()
    assert kernel(*arrays, out=(out,)) is out
    np.testing.assert_array_equal(out, product(*arrays))


def test_strided_reversed_and_read_only_arrays_will_do(kernel, arrays):
    a, b, c = arrays
    wide = np.zeros((M, 2 * K), np.float16)
    wide[:, ::2] = a
    c.flags.writeable = False
    turned = np.ascontiguousarray(b[::-1])[::-1]
    out = poisoned()
    kernel(wide[:, ::2], turned, np.asfortranarray(c), out=out)
    np.testing.assert_array_equal(out, product(a, b, c))


class Foreign:
    """An array of a library that knows DLPack, and nothing of NumPy."""

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (1, 0)) -> None:
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_arrays_with_dlpack_are_read_and_written_in_place(kernel, arrays):
    out = poisoned()
    foreign = Foreign(out)
    assert kernel(*map(Foreign, arrays), out=foreign) is foreign
    np.testing.assert_array_equal(out, product(*arrays))
    np.testing.assert_array_equal(kernel(arrays[0], Foreign(arrays[1]), arrays[2]), product(*arrays))


def test_a_function_with_several_results(target, arrays):
    with ir.Context():
        kernel = compiled(target, ir.Module.parse(FUNCTION))
    d, a = kernel(*arrays)
    np.testing.assert_array_equal(d, product(*arrays))
    np.testing.assert_array_equal(a, arrays[0])
    assert not np.shares_memory(a, arrays[0])
    out = poisoned(), np.zeros_like(arrays[0])
    assert kernel(*arrays, out=out) is out
    np.testing.assert_array_equal(out[0], d)
    np.testing.assert_array_equal(out[1], a)


def test_threads_may_share_a_kernel(kernel, arrays):
    expected, wrong = product(*arrays), []

    def call():
        for _ in range(3):
            if not np.array_equal(kernel(*arrays), expected):
                wrong.append(threading.get_ident())

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, b, c: (a, b), r"@matmul: expected 3 arrays, got 2"),
        (lambda a, b, c: (a, b, c, c), r"@matmul: expected 3 arrays, got 4"),
        (lambda a, b, c: (a[:1], b, c), r"@matmul: argument 0: expected 128x32xf16 \(float16\), got float16\[1, 32\]"),
        (lambda a, b, c: (a[None], b, c), r"argument 0: expected 128x32xf16 \(float16\), got float16\[1, 128, 32\]"),
        (lambda a, b, c: (a, b, c[0, 0]), r"argument 2: expected an array 128x64xf32 \(float32\), got float32"),
        (lambda a, b, c: (a, b, c.astype("f8")), r"argument 2: expected 128x64xf32 \(float32\), got float64"),
        (lambda a, b, c: (a.astype(">f2"), b, c), r"argument 0: .* got >f2\[128, 32\]; for this machine's byte order"),
        (lambda a, b, c: (a.tolist(), b, c), r"argument 0: expected an array 128x32xf16 \(float16\), got list"),
        (lambda a, b, c: (None, b, c), r"argument 0: expected an array 128x32xf16 \(float16\), got NoneType"),
        (lambda a, b, c: (np.ma.array(a), b, c), r"argument 0: .*got a masked one, whose mask would be lost"),
        (lambda a, b, c: (a, np.asmatrix(b), c), r"argument 1: .*got a numpy.matrix: pass numpy.asarray"),
        (lambda a, b, c: (Foreign(a, (2, 1)), b, c), r"argument 0: expected .* host's memory, got one on cuda:1"),
        (lambda a, b, c: (Foreign(c), b, c), r"argument 0: expected 128x32xf16 \(float16\), got float32\[128, 64\]"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(kernel, arrays, change, message):
    out = poisoned()
    with pytest.raises(XeTileError, match=message):
        kernel(*change(*arrays), out=out)
    assert np.isnan(out).all()
    np.testing.assert_array_equal(kernel(*arrays), product(*arrays))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, c: np.empty((M, N)), r"@matmul: out 0: expected 128x64xf32 \(float32\), got float64\[128, 64\]"),
        (lambda a, c: np.empty((M, N + 1), "f4"), r"out 0: expected 128x64xf32 \(float32\), got float32\[128, 65\]"),
        (lambda a, c: np.empty((M, 2 * N), "f4")[:, ::2], r"out 0: expected a writable array in C order"),
        (lambda a, c: read_only(), r"out 0: expected a writable array in C order"),
        (lambda a, c: c, r"out 0: it shares memory with another array; pass a copy"),
        (lambda a, c: (c.copy(), c.copy()), r"out: expected 1 arrays, got 2"),
        (lambda a, c: [[1.0]], r"out 0: expected an array 128x64xf32 \(float32\), got list"),
    ],
)
def test_memory_for_results_that_does_not_fit_is_refused(kernel, arrays, change, message):
    kept = [array.copy() for array in arrays]
    with pytest.raises(XeTileError, match=message):
        kernel(*arrays, out=change(arrays[0], arrays[2]))
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)


def read_only() -> np.ndarray:
    array = poisoned()
    array.flags.writeable = False
    return array


def test_an_option_that_a_target_does_not_have_is_refused(target):
    for option in (STRANGE[target], "nosuch"):
        with pytest.raises(XeTileError, match=f"target {target} has no option '{option}'; expected one of "):
            xetile.compile(xetile.matmul(M, N, K), **TARGETS[target], **{option: 1})


def test_a_schedule_of_another_target_is_refused():
    with pytest.raises(XeTileError, match="schedule 'matmul' is for GPUs, it has a parameter 'target'; .* cpu_matmul"):
        xetile.compile(xetile.matmul(M, N, K), "matmul", "cpu")


def test_errors_are_at_the_users_own_line(target, tmp_path):
    """In a file, past a comment, with an op that no target takes: what is said begins with its place."""
    path = tmp_path / "mine.mlir"
    path.write_text(
        f"// One line more.\nfunc.func @f(%A: {A}, %B: {B}, %C: {C}) -> {C} {{\n"
        f"  %D = linalg.matmul ins(%A, %B : {A}, {B}) outs(%C : {C}) -> {C}\n"
        f'  %E = "mine.op"(%D) : ({C}) -> {C}\n  return %E : {C}\n}}\n'
    )
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parseFile(str(path))
        with pytest.raises(XeTileError) as error:
            compiled(target, module)
    assert f"{path}:4:" in str(error.value)


def test_functions_that_cannot_be_called_say_why():
    kernel = compiled("pvc", matmul_with("%i: index"))
    with pytest.raises(XeTileError, match="@f cannot be called with arrays: expected tensors .*, got index"):
        kernel(1)
    assert isinstance(kernel.target, XeTarget)


def matmul_with(argument: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(
            f"func.func @f(%A: {A}, %B: {B}, %C: {C}, {argument}) -> {C} {{\n"
            f"  %D = linalg.matmul ins(%A, %B : {A}, {B}) outs(%C : {C}) -> {C}\n  return %D : {C}\n}}"
        )
