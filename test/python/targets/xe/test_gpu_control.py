# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops and branches of programs, on the host around kernels: run on the OpenCL device, compared with NumPy in f64."""

import re

import numpy as np
import pytest
from control_programs import FULL, PROGRAMS, SHAPE, each, loop, on, program, total
from control_programs import TANH_SUM as TANH
from xetile.errors import XeTileError
from xetile.mlir import ir

CHIPS = ("pvc", "bmg")


def parse(text):
    with ir.Context(), ir.Location.unknown():
        return ir.Module.parse(text)


def draw(text, seed, steps=4):
    rng = np.random.default_rng(seed)
    drawn = {"%x": rng.standard_normal(SHAPE), "%w": rng.standard_normal(SHAPE), "%n": steps, "%eps": 3.0}
    names = re.findall(r"%\w+(?=: tensor)", text[: text.index("->")])
    return [np.array(drawn[name], np.int64 if name == "%n" else np.float32) for name in names]


def check(kernel, arrays, reference):
    """Results start as what would be seen; arguments stay what they are."""
    expected = reference(*(array.astype(np.float64) if array.dtype == np.float32 else array for array in arrays))
    out = tuple(np.frombuffer(b"\xa5" * (array.size * 4), np.float32).reshape(array.shape).copy() for array in expected)
    out = tuple(
        each if array.dtype != bool else np.ones(array.shape, bool) for each, array in zip(out, expected, strict=True)
    )
    before = [array.copy() for array in arrays]
    kernel(*arrays, out=out if len(out) > 1 else out[0])
    for got, right in zip(out, expected, strict=True):
        np.testing.assert_allclose(got.astype(np.float64), right, rtol=2e-5, atol=2e-5)
    for array, was in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, was)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_right(compile_kernel, name, target, seed):
    text, reference = PROGRAMS[name]
    kernel = compile_kernel(parse(text), target=target)
    assert kernel.schedule.name == "gpu_model"
    for number in range(3):
        check(kernel, draw(text, seed + number), reference)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("name", ["as often as data says", "the last two steps", "two that change places"])
def test_any_number_of_steps(compile_kernel, name, steps):
    text, reference = PROGRAMS[name]
    check(compile_kernel(parse(text), target="pvc"), draw(text, 7, steps), reference)


@pytest.mark.parametrize(
    "name", ["branches of other kernels", "a branch on what a kernel computed, and one that hands an argument on"]
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_both_branches(compile_kernel, name, sign):
    text, reference = PROGRAMS[name]
    x, w = draw(text, 11)
    x[3, 2] = sign
    check(compile_kernel(parse(text), target="pvc"), [x, w], reference)


def test_nan_ends_what_is_larger_than_nothing(compile_kernel):
    """A sum of NaN is above no limit: no step."""
    text, _ = PROGRAMS["until a sum is small"]
    x, eps = draw(text, 3)
    x[4, 4] = np.nan
    kernel = compile_kernel(parse(text), target="pvc")
    np.testing.assert_array_equal(kernel(x, eps), np.abs(x))


def steps_of(host):
    """The lines of the loop of a function, without loops in it."""
    lines = host.splitlines()
    first = next(number for number, line in enumerate(lines) if "scf.for" in line or "scf.while" in line)
    indent = len(lines[first]) - len(lines[first].lstrip())
    last = next(
        n for n in range(first + 1, len(lines)) if lines[n].startswith(" " * indent + "}") and "do" not in lines[n]
    )
    return "\n".join(lines[first : last + 1])


def host_of(kernel):
    return kernel.stages["5-xevm"].split("gpu.module", 1)[0]


def test_what_loops_carry_stays_on_the_device(compile_kernel):
    """Arguments are copied once before the loop, the result once behind it, and nothing in a step."""
    host = host_of(compile_kernel(parse(PROGRAMS["as often as data says"][0]), target="pvc"))
    inside = steps_of(host)
    assert re.findall(r"(gpu|memref)\.(memcpy|copy|alloc|dealloc)", inside) == []
    assert inside.count("gpu.launch_func") == 1
    assert host.count("gpu.memcpy") == 3
    # Two that take turns, and the weights.
    assert host.count("memref.view") == 3
    assert host.count("gpu.alloc ") == host.count("gpu.dealloc ") == 1


def test_a_condition_copies_its_number_alone(compile_kernel):
    inside = steps_of(host_of(compile_kernel(parse(PROGRAMS["until a sum is small"][0]), target="pvc")))
    assert re.findall(r"gpu\.memcpy .*: (.*)", inside) == ["memref<f32>, memref<f32>"]
    assert "gpu.alloc" not in inside
    assert "memref.copy" not in inside


def test_the_best_of_all_steps_is_copied_on_the_device(compile_kernel):
    """One copy of the array a step, and one of the number that is compared."""
    host = host_of(compile_kernel(parse(PROGRAMS["the best of all steps"][0]), target="pvc"))
    assert sorted(re.findall(r"gpu\.memcpy .*: (.*)", steps_of(host))) == [
        "memref<9x21xf32>, memref<9x21xf32>",
        "memref<f32>, memref<f32>",
    ]


def test_memory_of_a_step_is_allocated_once(compile_kernel):
    """Kernels of a step that hand on what none behind it reads."""
    wide = (
        f"%e = tensor.empty() : {FULL}\n%s = linalg.softmax dimension(0) ins(%t : {FULL}) outs(%e : {FULL}) -> {FULL}\n"
    )
    wide += wide.replace("%e", "%f").replace("%s", "%q").replace("%t", "%s").replace("(0)", "(1)")
    text = program(["%x"], [("%r", FULL)], loop("%r", [("%t", "%x", FULL)], wide, ["%q"]))
    kernel = compile_kernel(parse(text), target="pvc")
    host = host_of(kernel)
    assert steps_of(host).count("gpu.launch_func") > 1
    assert "gpu.alloc" not in steps_of(host)
    assert host.count("gpu.alloc ") == host.count("gpu.dealloc ")

    def softmax(x, axis):
        e = np.exp(x - x.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)

    def reference(x):
        for _ in range(5):
            x = softmax(softmax(x, 0), 1)
        return (x,)

    check(kernel, draw(text, 5), reference)


def test_programs_with_loops_are_saved_and_loaded(tmp_path):
    import xetile

    text, reference = PROGRAMS["the last two steps"]
    kernel = xetile.compile(parse(text), target="pvc", native="off")
    kernel.save(tmp_path / "loop.so")
    check(xetile.load(tmp_path / "loop.so"), draw(text, 9), reference)


def test_explain_lists_kernels_in_loops(compile_kernel):
    told = compile_kernel(parse(PROGRAMS["the best of all steps"][0]), target="pvc").explain()
    rows = [re.split(r" {2,}", line) for line in told.splitlines()]
    columns = ["op", "name", *next(row for row in rows if row[0] == "op")[1:]]
    of_kernels = [dict(zip(columns, row, strict=True)) for row in rows if row[0].isdigit() and len(row) == len(columns)]
    assert [row["in"] for row in of_kernels] == ["scf.for"] * len(of_kernels)
    assert {row["kernel"] for row in of_kernels} == {"0", "1"}
    assert any("the loop carries it" in row["why"] or "the host reads it" in row["why"] for row in of_kernels)


def of_run_time_sizes(body):
    kind = "tensor<?x21xf32>"
    text = (
        f"func.func @program(%x: {kind}) -> {kind} {{\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
    )
    text += f"%c5 = arith.constant 5 : index\n%r = scf.for %i = %c0 to %c5 step %c1 iter_args(%t = %x) -> ({kind}) {{\n"
    return text + f"{body}scf.yield %y : {kind}\n}}\nreturn %r : {kind}\n}}\n".replace("KIND", kind)


def test_sizes_that_change_from_step_to_step_are_refused(compile_kernel):
    kind = "tensor<?x21xf32>"
    text = of_run_time_sizes(f"%y = tensor.concat dim(0) %t, %t : ({kind}, {kind}) -> {kind}\n")
    with pytest.raises(XeTileError, match="a loop carries memory whose sizes its steps decide") as caught:
        compile_kernel(parse(text), target="pvc")
    assert ":6:" in str(caught.value)


@pytest.mark.parametrize("of", ["%t", "%x"])
def test_loops_carry_tensors_of_run_time_sizes(compile_kernel, of):
    """They stay on the device, too: two take turns."""
    kind, same = "tensor<?x21xf32>", "affine_map<(m, n) -> (m, n)>"
    text = of_run_time_sizes(
        f"%d = tensor.dim {of}, %c0 : {kind}\n%e = tensor.empty(%d) : {kind}\n"
        f'%y = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = ["parallel", "parallel"]}} '
        f"ins(%t : {kind}) outs(%e : {kind}) {{\n^bb0(%a: f32, %o: f32):\n%1 = math.tanh %a : f32\n"
        f"linalg.yield %1 : f32\n}} -> {kind}\n"
    )
    kernel = compile_kernel(parse(text), target="pvc")
    inside = steps_of(host_of(kernel))
    assert re.findall(r"(gpu|memref)\.(memcpy|copy|alloc|dealloc)", inside) == []
    for rows in (1, 9, 130):
        x = np.random.default_rng(rows).standard_normal((rows, 21)).astype(np.float32)
        expected = x.astype(np.float64)
        for _ in range(5):
            expected = np.tanh(expected)
        np.testing.assert_allclose(kernel(x), expected, rtol=2e-5, atol=2e-5)


def test_kernels_by_hand_are_in_one_block(compile_kernel):
    """A number that is given in a loop and outside of it."""
    text = program(
        ["%x", "%w"],
        [("%r", FULL)],
        each("%h", on("%w"), "%1 = math.exp %a0 : f32\nlinalg.yield %1 : f32\n")
        + loop("%r", [("%t", "%x", FULL)], each("%y", on("%t", "%h"), TANH), ["%y"]),
    )
    numbered = re.sub(r"(outs\(%\w+ : tensor<9x21xf32>\)) \{\n", r"\1 attrs = {xetile.kernel = 0} {\n", text)
    with pytest.raises(XeTileError, match="expected the ops of kernel 0 in one block"):
        compile_kernel(parse(numbered), schedule="gpu_model", target="pvc")


def test_two_schedules_by_hand_for_one_kernel_are_refused(compile_kernel):
    text = program(
        ["%x", "%w"],
        [("%y", FULL)],
        each("%h", on("%w"), TANH.replace("%a1", "%a0")) + each("%y", on("%x", "%h"), TANH),
    )
    kinds = iter(("rows", "elementwise"))
    numbered = re.sub(
        r"(outs\(%\w+ : tensor<9x21xf32>\)) \{\n",
        lambda found: f'{found[1]} attrs = {{xetile.kernel = 0, xetile.schedule = "{next(kinds)}"}} {{\n',
        text,
    )
    with pytest.raises(
        XeTileError, match="expected one schedule for kernel 0, got 'elementwise' here and 'rows' before"
    ):
        compile_kernel(parse(numbered), schedule="gpu_model", target="pvc")


@pytest.mark.parametrize(
    ("op", "told"),
    [
        ('vector.print str "step"\n', "vector.print is no kernel's"),
        (
            "func.call @log(%y) : (" + FULL + ") -> ()\n",
            "func.call: expected calls of functions that the module defines",
        ),
    ],
)
def test_what_only_a_host_can_do_is_named_with_its_line(compile_kernel, op, told):
    body = loop("%r", [("%t", "%x", FULL)], each("%y", on("%t", "%w"), TANH) + op, ["%y"])
    text = f"func.func private @log({FULL})\n" + program(["%x", "%w"], [("%r", FULL)], body)
    line = text[: text.index(op.split(" ")[0])].count("\n") + 1
    with pytest.raises(XeTileError, match=told) as caught:
        compile_kernel(parse(text), target="pvc")
    assert f":{line}:" in str(caught.value)


def test_functions_that_a_program_calls_are_part_of_it(compile_kernel):
    """In a loop and before it."""
    step = f"func.func private @step(%a: {FULL}, %b: {FULL}) -> {FULL} {{\n" + each("%y", on("%a", "%b"), TANH)
    step += f"return %y : {FULL}\n}}\n"
    call = f"func.call @step({{0}}, %w) : ({FULL}, {FULL}) -> {FULL}\n"
    body = (
        "%first = "
        + call.format("%x")
        + loop("%r", [("%t", "%first", FULL)], "%y = " + call.format("%t"), ["%y"], "%c3")
    )
    text = step + program(["%x", "%w"], [("%r", FULL)], body)
    arrays = draw(program(["%x", "%w"], [("%r", FULL)], body), 4)
    check(compile_kernel(parse(text), target="pvc"), arrays, lambda x, w: PROGRAMS["as often as data says"][1](x, w, 4))


def test_loops_that_only_hand_on_have_a_kernel_that_copies(compile_kernel):
    text = program(
        ["%x", "%w", "%n"],
        [("%r#0", FULL), ("%r#1", FULL)],
        loop("%r:2", [("%a", "%x", FULL), ("%b", "%w", FULL)], "", ["%b", "%a"], "%steps"),
    )
    kernel = compile_kernel(parse(text), target="pvc")
    for steps in (0, 1, 2):
        arrays = draw(text, 8, steps)
        check(kernel, arrays, lambda x, w, n: (w, x) if n % 2 else (x, w))


def test_a_switch_has_kernels_in_its_cases(compile_kernel):
    cases = f"%r = scf.index_switch %steps -> {FULL}\ncase 0 {{\n" + each("%y", on("%x", "%w"), TANH)
    cases += f"scf.yield %y : {FULL}\n}}\ncase 2 {{\n"
    cases += each("%y", on("%x"), "%1 = math.exp %a0 : f32\nlinalg.yield %1 : f32\n")
    cases += f"scf.yield %y : {FULL}\n}}\ndefault {{\nscf.yield %w : {FULL}\n}}\n"
    text = program(["%x", "%w", "%n"], [("%r", FULL)], cases)
    kernel = compile_kernel(parse(text), target="pvc")
    for case, reference in {
        0: lambda x, w, n: (np.tanh(x + w),),
        2: lambda x, w, n: (np.exp(x),),
        7: lambda x, w, n: (w,),
    }.items():
        check(kernel, draw(text, 3, case), reference)


def test_a_tensor_of_numbers_of_the_host(compile_kernel):
    """Elements that the host reads, and a number that it computes of one."""
    text = program(
        ["%x"],
        [("%r", "tensor<3xf32>")],
        f"%a = tensor.extract %x[%c1, %c2] : {FULL}\n%b = tensor.extract %x[%c5, %c3] : {FULL}\n"
        "%c = arith.mulf %a, %b : f32\n"
        "%t = tensor.from_elements %a, %b, %c : tensor<3xf32>\n%e = tensor.empty() : tensor<3xf32>\n"
        "%r = linalg.exp ins(%t : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>\n",
    )
    check(
        compile_kernel(parse(text), target="pvc"),
        draw(text, 6),
        lambda x: (np.exp([x[1, 2], x[5, 3], x[1, 2] * x[5, 3]]),),
    )


@pytest.mark.parametrize("target", CHIPS)
def test_matmuls_in_a_loop(compile_kernel, target):
    """Power iteration: a matmul, its norm and the division are kernels of each step."""
    kind, vector = "tensor<40x40xf16>", "tensor<40x24xf16>"
    text = f"""func.func @program(%a: {kind}, %x: {vector}) -> tensor<40x24xf32> {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<40x24xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<40x24xf32>) -> tensor<40x24xf32>
      %n = tensor.empty() : {vector}
      %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%t = %x, %h = %z) -> ({vector}, tensor<40x24xf32>) {{
        %p = linalg.matmul ins(%a, %t : {kind}, {vector}) outs(%z : tensor<40x24xf32>) -> tensor<40x24xf32>
        %q = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
            iterator_types = ["parallel", "parallel"]}} ins(%p : tensor<40x24xf32>) outs(%n : {vector}) {{
        ^bb0(%v: f32, %o: f16):
          %1 = math.tanh %v : f32
          %2 = arith.truncf %1 : f32 to f16
          linalg.yield %2 : f16
        }} -> {vector}
        scf.yield %q, %p : {vector}, tensor<40x24xf32>
      }}
      return %r#1 : tensor<40x24xf32>
    }}"""
    kernel = compile_kernel(parse(text), target=target)
    rng = np.random.default_rng(2)
    a, x = (rng.standard_normal((40, 40)) / 6).astype(np.float16), rng.standard_normal((40, 24)).astype(np.float16)
    wide, t = a.astype(np.float64), x
    for _ in range(5):
        p = wide @ t.astype(np.float64)
        t = np.tanh(p).astype(np.float16)
    np.testing.assert_allclose(kernel(a, x), p, rtol=5e-3, atol=5e-3)


def test_totals_are_exact_where_they_are_compared(compile_kernel):
    """The host reads what the kernel of this step wrote, not of the one before."""
    text = program(
        ["%x", "%n"],
        [("%r#0", FULL)],
        "%none = arith.constant 0.0 : f32\n"
        + loop(
            "%r:2",
            [("%t", "%x", FULL), ("%seen", "%none", "f32")],
            each(
                "%y", on("%t"), "%k = arith.constant 2.0 : f32\n%1 = arith.mulf %a0, %k : f32\nlinalg.yield %1 : f32\n"
            )
            + total("%s", "%y")
            + f"%c = arith.cmpf olt, %s, %seen : f32\n%q = scf.if %c -> ({FULL}) {{\nscf.yield %t : {FULL}\n"
            + f"}} else {{\nscf.yield %y : {FULL}\n}}\n",
            ["%q", "%s"],
            "%steps",
        ),
    )
    x = np.abs(draw(text, 1)[0])
    kernel = compile_kernel(parse(text), target="pvc")
    for steps in (0, 1, 4):
        np.testing.assert_array_equal(kernel(x, np.array(steps, np.int64)), x * 2.0**steps)
