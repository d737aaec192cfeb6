# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program or a kernel that computes wrongly is a finding; what may be refused, and what must be, is known."""

import bounded
import cpu_programs
import device_programs
import gpu_schedules
import looped
import ml_dtypes
import numpy as np
import pytest
import scalar_ops
import tensor_program
from bounded import Bounded, contract
from expressions import Invalid
from xetile import XeTileError, cpu

F32 = "f32"
# A * B with k known at run time only.
DYNAMIC = {
    "args": [{"t": F32, "s": [[5], [0, "x"]]}, {"t": F32, "s": [[0, "x"], [9]]}],
    "nodes": [{"op": "contract", "in": [0, 1], "maps": ["mk", "kn", "mn"], "t": F32, "style": "named", "fill": 0}],
    "results": [2],
}
# relu(A * B), and A again.
STATIC = {
    "args": [{"t": F32, "s": [[5], [7]]}, {"t": F32, "s": [[7], [9]]}],
    "nodes": [
        {"op": "contract", "in": [0, 1], "maps": ["mk", "kn", "mn"], "t": F32, "style": "named", "fill": 0},
        {
            "op": "map",
            "in": [2],
            "maps": ["ab"],
            "rank": 2,
            "t": F32,
            "style": "generic",
            "body": ["arith.maximumf", ["in", 0], ["const", 0.0, F32]],
        },
    ],
    "results": [3, 0],
}
CALL = {"sizes": {}, "layout": "C", "data": "normal", "out": False}


def check(program, call=CALL, **options) -> str | None:
    kind = cpu_programs.CpuPrograms()
    kind.prepare()
    return kind.check({"program": program, "options": {"threads": 1, **options}, "calls": [call], "seed": 1})


def test_a_right_kernel_is_no_finding():
    assert check(STATIC) is None
    assert check(STATIC, CALL | {"out": True, "layout": "strided"}) is None


# Twice A, three times: 8 A.
LOOPED = {
    "args": [{"t": F32, "s": [[5], [7]]}],
    "nodes": [
        {
            "op": "map",
            "in": [0],
            "maps": ["ab"],
            "rank": 2,
            "t": F32,
            "style": "generic",
            "body": ["arith.addf", ["in", 0], ["in", 0]],
        },
    ],
    "results": [1],
    "around": {"steps": 3, "fed": [[0, 0]], "branch": None},
}


def check_on_device(program) -> str | None:
    return device_programs.KIND.check({"program": program, "options": {"target": "pvc"}, "calls": [CALL], "seed": 1})


def test_loops_and_branches_around_a_program_are_computed_too():
    assert check_on_device(LOOPED) is None
    array = np.full((5, 7), 3, np.float32)
    assert (tensor_program.compute(LOOPED, [array])[0].values == 24).all()
    branch = LOOPED | {"around": LOOPED["around"] | {"branch": 0}}
    assert check_on_device(branch) is None
    assert (tensor_program.compute(branch, [-array])[0].values == -3).all()


def test_a_step_too_few_is_a_finding(monkeypatch):
    right = looped.compute

    def fewer(around, *rest):
        return right({**around, "steps": 2}, *rest)

    monkeypatch.setattr(looped, "compute", fewer)
    assert "wrong result of f32" in check_on_device(LOOPED)


def test_values_of_other_types_are_not_handed_on():
    other = LOOPED | {"around": {"steps": 1, "fed": [[0, 1]], "branch": None}}
    with pytest.raises(Invalid):
        tensor_program.infer(other)


def spoil(monkeypatch, change) -> None:
    """Lets `change(results, arrays)` spoil what a kernel gives."""
    right = cpu.Kernel.__call__

    def wrong(self, *arrays, **options):
        return change([np.array(result) for result in right(self, *arrays, **options)], arrays)

    monkeypatch.setattr(cpu.Kernel, "__call__", wrong)


def one_off(results, _):
    results[0][2, 3] += 1e-5
    return tuple(results)


def not_a_number(results, _):
    results[0][4, 8] = np.nan
    return tuple(results)


def aliased(results, arrays):
    return results[0], arrays[0]


def lost(results, _):
    return results[0][:, :-1], results[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (one_off, "wrong result of f32: 1 of 45 elements"),
        (not_a_number, "wrong result of f32: 1 of 45 elements"),
        (aliased, "a result shares memory with another array"),
        (lost, "wrong result of f32: shape"),
    ],
)
def test_a_wrong_result_is_a_finding(monkeypatch, change, said):
    spoil(monkeypatch, change)
    assert check(STATIC).startswith(said)


def test_a_changed_argument_is_a_finding(monkeypatch):
    def change(results, arrays):
        arrays[1][0, 0] += 1
        return tuple(results)

    spoil(monkeypatch, change)
    assert check(STATIC) == f"an argument was changed\nin call 0: {CALL}"


def test_sizes_that_do_not_fit_must_be_refused(monkeypatch):
    call = CALL | {"sizes": {"x": 4}}
    assert check(DYNAMIC, call) is None
    assert check(DYNAMIC, call | {"wrong": [1, 0, 6]}) is None

    monkeypatch.setattr(cpu.Kernel, "__call__", lambda self, *arrays: np.zeros((5, 9), "f4"))
    assert check(DYNAMIC, call | {"wrong": [1, 0, 6]}).startswith("sizes that do not fit each other were accepted")


X = {"t": "f32", "s": [[0, "x"], [2]]}
SQUARE = {"t": "f32", "s": [[0, "x"], [0, "x"]]}
OVER = {"op": "map", "in": [1, 1], "rank": 2, "t": "f32", "style": "generic", "over": True, "maps": ["ab", "ab"]}
SUM = {"op": "reduce", "in": [1, 2], "kind": "arith.addf", "dims": [1], "style": "reduce", "t": "f32"}


@pytest.mark.parametrize(
    ("arguments", "node"),
    [
        ([X, X], OVER | {"body": ["arith.addf", ["in", 0], ["in", 1]]}),
        ([X, X, {"t": "f32", "s": [[0, "x"]]}], SUM),
        ([X, X], {"op": "collapse", "in": [1], "groups": [[0, 1]]}),
        ([SQUARE], {"op": "slice", "in": [0], "offsets": [0, 0], "trim": [1, 1], "strides": [1, 1], "drop": []}),
    ],
    ids=["a map over an operand", "a sum into an operand", "a collapse", "a slice"],
)
def test_sizes_of_one_name_that_no_op_compares_may_differ(arguments, node):
    program = {"args": arguments, "nodes": [node], "results": [0, len(arguments)]}
    assert check(program, CALL | {"sizes": {"x": 4}, "wrong": [0, 0, 1]}) is None


def test_an_unknown_refusal_is_a_finding(monkeypatch):
    def refuse(*_, **__):
        raise XeTileError("MBlock = 3: expected a multiple of 2")

    monkeypatch.setattr(cpu, "compile", refuse)
    assert check(STATIC).startswith("refused: MBlock = 3")
    assert check(STATIC, config={"MBlock": 3}) is None


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_bounds_of_sums_see_a_lost_product(dtype):
    rng = np.random.default_rng(3)
    a, b = (Bounded.exact(dtype, rng.uniform(0.5, 1, shape).astype("f2")) for shape in ((4, 60), (60, 5)))
    zero = Bounded.exact(dtype, np.zeros((4, 5)))
    value = contract(("mk", "kn", "mn"), a, b, zero)
    right = value.values.astype("f8")
    kind = {"f16": "f2", "f32": "f4", "f64": "f8"}.get(dtype) or cpu_programs.NUMPY["bf16"]
    assert value.difference(right.astype(kind)) is None
    less = right - (a.values[:, -1:] * b.values[-1:]).astype("f8")
    assert value.difference(less.astype(kind)) is not None


def test_bounds_of_sums_allow_for_equal_products():
    """The roundings of 1,024 times the same product go one way, by more than those of different ones would."""
    x, total = np.float32(0.6582751274108887), np.float32(0)
    for _ in range(1024):
        total += x * x
    a = Bounded.exact("f32", np.full((1, 1024), x))
    value = contract(("mk", "kn", "mn"), a, a.view(np.transpose), Bounded.exact("f32", np.zeros((1, 1))))
    assert value.difference(np.full((1, 1), total)) is None


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize(
    ("kind", "sizes", "expected"),
    [
        ("mul", [1, 2, 0.5], False),
        ("mul", ["large", 2, 0.25], True),
        ("mul", ["small", 0.25, 4], True),
        ("mul", ["small", 0.25, 0], False),
        ("mul", ["large", 4, np.inf], False),
        ("mul", ["large", 4, 0], True),
        ("mul", ["small", 0.25, np.inf], True),
        ("add", [1, 2, -3], False),
        ("add", ["large", "large", -1], True),
    ],
)
def test_parts_that_overflow_or_vanish_depend_on_the_order(kind, sizes, expected, dtype):
    ends = {"large": bounded.LARGEST[dtype] / 2, "small": float(ml_dtypes.finfo(bounded.NUMPY[dtype]).tiny) * 2}
    numbers = np.array([ends.get(x, x) for x in sizes], np.longdouble)
    assert bounded.depends_on_order(kind, dtype, numbers[:, None]).tolist() == [expected]


def test_infinities_of_a_repeated_factor_cancel():
    a = Bounded.exact("f32", np.array([[-np.inf]])).view(lambda values: np.broadcast_to(values, (1, 2)))
    b = Bounded.exact("f32", np.array([[1.0, -0.5]]))
    total = contract(("mk", "nk", "mn"), a, b, Bounded.exact("f32", np.zeros((1, 1))))
    assert np.isnan(total.values).all()


def test_sums_whose_parts_may_overflow_may_be_anything():
    a = Bounded.exact("f32", np.full((1, 2), 2e38))
    b = Bounded.exact("f32", np.array([[1.0], [-1.0]]))
    value = contract(("mk", "kn", "mn"), a, b, Bounded.exact("f32", np.full((1, 1), 2e38)))
    assert value.difference(np.full((1, 1), np.inf, "f4")) is None


def test_a_wrong_kernel_of_tiles_is_a_finding(monkeypatch, seed):
    load = {"t": F32, "size": [8, 16], "at": [0, 0]}
    case = {
        "form": "kernel",
        "grid": [1, 1],
        "tile": [8, 16],
        "map": {"layout": [1, 1], "data": [8, 16]},
        "element": "f16",
        "maps": True,
        "loads": [load],
        "mma": None,
        "walk": None,
        "stores": [load | {"size": [8, 24], "body": ["arith.addf", ["in", 0], ["in", 0]]}],
        "target": "pvc",
        "builtins": "portable",
        "data": "normal",
        "seed": seed,
    }
    kind = gpu_schedules.GpuSchedules()
    kind.prepare()
    assert kind.check(case) is None
    launch = gpu_schedules.GpuSchedules._launch

    def wrong(at):
        def call(self, module, arrays):
            launch(self, module, arrays)
            arrays["S0"][at] = 1e3

        return call

    monkeypatch.setattr(gpu_schedules.GpuSchedules, "_launch", wrong((7, 15)))
    assert kind.check(case).startswith("wrong result of a kernel: f32\nmatrix S0: 1 of 192 elements")
    # Columns past the tile must stay as they were.
    monkeypatch.setattr(gpu_schedules.GpuSchedules, "_launch", wrong((0, 16)))
    assert kind.check(case).startswith("wrong result of a kernel: f32\nmatrix S0: 1 of 192 elements")
    monkeypatch.setattr(
        gpu_schedules.GpuSchedules, "_launch", lambda self, module, arrays: arrays["L0"].__setitem__((0, 0), 1e3)
    )
    assert kind.check(case) == "a matrix was changed that the kernel only reads: L0"


LEGAL = {
    "m": 32,
    "n": 64,
    "k": 32,
    "dtype": "f16",
    "extend": [],
    "params": {"workgroup_m": 16, "workgroup_n": 32, "subgroups_m": 2, "subgroups_n": 2, "k_step": 16, "prefetch": 1},
}


@pytest.mark.parametrize(
    ("change", "label"),
    [
        ({}, ""),
        ({"m": 40}, ""),
        ({"k": 16}, ""),
        ({"dtype": "f32"}, "choose_tiling_c4"),
        ({"params": LEGAL["params"] | {"subgroups_m": 3}}, "check_tiling_c3"),
        ({"params": LEGAL["params"] | {"subgroups_m": 4}}, "check_tiling_c4"),
        ({"dtype": "i8"}, "check_tiling_c4"),
        ({"dtype": "i8", "params": LEGAL["params"] | {"k_step": 32}}, ""),
        ({"params": LEGAL["params"] | {"prefetch": 65}}, "check_tiling_c1"),
    ],
)
def test_what_a_schedule_must_refuse_is_known(change, label):
    assert gpu_schedules.must_refuse(LEGAL | change) == label


def test_prefetches_that_cannot_be_shared_are_known():
    """48 columns of f16 are a cache line and a half."""
    uneven = LEGAL["params"] | {"workgroup_n": 96, "subgroups_n": 3}
    wide = LEGAL | {"n": 96}
    assert gpu_schedules.must_refuse(wide | {"params": uneven}) == "insert_prefetch_c5"
    assert gpu_schedules.must_refuse(wide | {"params": uneven | {"prefetch": 0}}) == ""
    # Without a loop nothing is prefetched, which the label of a narrow look does not rely on.
    whole = wide | {"params": uneven | {"k_step": 32}}
    assert gpu_schedules.must_refuse(whole) == ""
    assert gpu_schedules.must_refuse(whole, narrow=True) == "insert_prefetch_c5"


def test_a_function_of_what_may_be_anything_may_be_anything():
    """A sum that may overflow both ways may be no number: then so may its tanh."""
    unknown = Bounded("f16", np.array([-3e9], np.longdouble), np.array([np.inf]))
    for op in ("math.exp2", "math.tanh", "math.atan", "math.cosh"):
        assert np.isinf(scalar_ops.apply(op, [], [unknown]).error).all()
