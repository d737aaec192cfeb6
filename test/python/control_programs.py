# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose loops and branches stay on the host around kernels: texts, and what NumPy makes of them in f64.

Arguments are %x and %w (9 x 21, f32) and, where a program asks, %n, a number of steps, and %eps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from gpu_programs import BOTH, COLUMN, generic, tensor

SHAPE = (9, 21)
FULL, LINE, ONE_ROW, BITS = tensor(SHAPE, "f32"), tensor((9,), "f32"), tensor((1, 21), "f32"), tensor(SHAPE, "i1")
COUNTS = "".join(f"%c{i} = arith.constant {i} : index\n" for i in (0, 1, 2, 3, 5))
STEPS = "%n64 = tensor.extract %n[] : tensor<i64>\n%steps = arith.index_cast %n64 : i64 to index\n"

Program = tuple[str, Callable[..., tuple[np.ndarray, ...]]]


TANH_SUM = "%1 = arith.addf %a0, %a1 : f32\n%2 = math.tanh %1 : f32\nlinalg.yield %2 : f32\n"
SUM = "%1 = arith.addf %a0, %a1 : f32\nlinalg.yield %1 : f32\n"
HALVES = "%k = arith.constant 0.5 : f32\n%1 = arith.mulf %a0, %k : f32\nlinalg.yield %1 : f32\n"


def each(result, inputs, body, shape=SHAPE, dtype="f32"):
    """An elementwise op on tensors of one shape."""
    kinds = [(name, kind if isinstance(kind, str) else tensor(shape, "f32")) for name, kind in inputs]
    return generic(result, kinds, shape, dtype, [BOTH] * (len(inputs) + 1), "pp", body)


def on(*names):
    return [(name, None) for name in names]


def total(result, value):
    """The sum of all elements, as a number of the host."""
    body = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    maps = [BOTH, "(m, n) -> ()"]
    return (
        generic(f"{result}_t", [(value, FULL)], (), "f32", maps, "rr", body, "0.0")
        + f"{result} = tensor.extract {result}_t[] : tensor<f32>\n"
    )


def sum_of_rows(result, value):
    body = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    return generic(result, [(value, FULL)], (9,), "f32", [BOTH, COLUMN], "pr", body, "0.0")


def loop(results, carried, body, yields, upper="%c5", kind="%i"):
    """An scf.for; `carried` is a list of (name, initial value, type)."""
    inits = ", ".join(f"{name} = {init}" for name, init, _ in carried)
    kinds = ", ".join(kind for _, _, kind in carried)
    return (
        f"{results} = scf.for {kind} = %c0 to {upper} step %c1 iter_args({inits}) -> ({kinds}) {{\n{body}"
        f"scf.yield {', '.join(yields)} : {kinds}\n}}\n"
    )


def program(arguments, results, body):
    kinds = {"%x": FULL, "%w": FULL, "%n": "tensor<i64>", "%eps": "tensor<f32>"}
    names, types = ", ".join(name for name, _ in results), ", ".join(kind for _, kind in results)
    return (
        f"func.func @program({', '.join(f'{name}: {kinds[name]}' for name in arguments)}) -> ({types}) {{\n"
        f"{COUNTS}{STEPS if '%n' in arguments else ''}{body}return {names} : {types}\n}}\n"
    )


def _repeated(x, w, n):
    for _ in range(int(n)):
        x = np.tanh(x + w)
    return (x,)


def _nested(x, w):
    for _ in range(3):
        inner = x + w
        for _ in range(5):
            inner = np.tanh(inner + x)
        x = inner - x
    return (x,)


def _carried_through(x, w):
    for _ in range(15):
        x = np.tanh(x + w)
    return (x,)


def _until_small(x, eps):
    x = np.abs(x)
    while x.sum() > float(eps):
        x = x * 0.5
    return (x,)


def _do_while(x, eps):
    while True:
        x = x * 0.5
        if np.square(x).sum() <= float(eps):
            return (x,)


def _branches(x, w):
    return (np.exp(x).sum(1) if x[3, 2] > 0 else (x + w).sum(1) * 2,)


def _computed_condition(x, w):
    h = np.tanh(x)
    return (h + w if h[3, 2] > 0 else w,)


def _best(x, w):
    best, most = w, -1e30
    for _ in range(5):
        x = np.tanh(x + w)
        if x.sum() > most:
            best, most = x, x.sum()
    return (best,)


def _last_two(x, w, n):
    for _ in range(int(n)):
        x, w = w, np.tanh(x + w)
    return x, w


def _swapped(x, w, n):
    for _ in range(int(n)):
        x, w = w, x
    return x + w * 0.5, w


def _bits(x):
    seen = x > 0
    for _ in range(3):
        seen = seen ^ (np.tanh(x) > 0.25)
    return np.where(seen, x, 0), seen


def _until_no_bit(x):
    while abs(x[0, 0]) > 0.125:
        x = x * 0.5
    return (x,)


def _constants(x):
    a, b = np.ones(SHAPE), np.full(SHAPE, 3.0)
    b[0, 0] = 4
    for _ in range(3):
        a, b = np.tanh(a + b) + x, a
    return a, b


def _read_inside(x, w):
    h = np.tanh(w + w)
    for _ in range(3):
        x = np.tanh(x + h)
    return h, x, x.sum(1)


def _numbers(x, w):
    scale = 0.5
    for _ in range(5):
        x, w, scale = np.tanh(x + w * scale), x, scale * 0.75
    return x, w


def _while_a_number_is_large(x):
    number = 1.0
    while number > 0.1:
        x, number = x * number + 1, number * 0.5
    return (x,)


def _rows_one_by_one(x):
    state = np.zeros((1, 21))
    for i in range(5):
        state = np.tanh(state + x[i : i + 1])
    return (state,)


def _rows_of_rows(x):
    x = x.copy()
    for i in range(5):
        x[i] = np.tanh(x[i + 1] * (i + 0.5))
    return (x,)


FOUR = "[" + ", ".join("[" + ", ".join(["4.0"] * (not r) + ["3.0"] * (21 - (not r))) + "]" for r in range(9)) + "]"
WHILE = (
    "{results} = scf.while (%t = {init}) : ({kind}) -> {kind} {{\n{before}scf.condition(%c) {handed} : {kind}\n"
    "}} do {{\n^bb0(%u: {kind}):\n{after}}}\n"
)


def _while(results, init, before, handed, after):
    return WHILE.format(results=results, init=init, kind=FULL, before=before, handed=handed, after=after)


EPS = "%e = tensor.extract %eps[] : tensor<f32>\n%c = arith.cmpf ogt, %s, %e : f32\n"
SQUARES = "%1 = arith.mulf %a0, %a0 : f32\nlinalg.yield %1 : f32\n"
ABSOLUTE = "%1 = math.absf %a0 : f32\nlinalg.yield %1 : f32\n"
IS_LARGE = (
    "%k = arith.constant 0.125 : f32\n%1 = math.absf %a0 : f32\n%2 = arith.cmpf ogt, %1, %k : f32\n"
    "linalg.yield %2 : i1\n"
)
FLIPS = (
    "%k = arith.constant 0.25 : f32\n%1 = math.tanh %a1 : f32\n%2 = arith.cmpf ogt, %1, %k : f32\n"
    "%3 = arith.xori %a0, %2 : i1\nlinalg.yield %3 : i1\n"
)
IS_ABOVE = "%k = arith.constant 0.0 : f32\n%1 = arith.cmpf ogt, %a0, %k : f32\nlinalg.yield %1 : i1\n"
WHERE = "%k = arith.constant 0.0 : f32\n%1 = arith.select %a0, %a1, %k : f32\nlinalg.yield %1 : f32\n"
POSITIVE = "%zero = arith.constant 0.0 : f32\n%c = arith.cmpf ogt, %v, %zero : f32\n"

SCALED = (
    "%1 = arith.mulf %a1, %s : f32\n%2 = arith.addf %a0, %1 : f32\n%3 = math.tanh %2 : f32\nlinalg.yield %3 : f32\n"
)
ADDS_ONE = "%k = arith.constant 1.0 : f32\n%2 = arith.addf %1, %k : f32\nlinalg.yield %2 : f32\n"
SCALED_AND_ONE = "%1 = arith.mulf %a0, %s : f32\n" + ADDS_ONE
OF_STEP = "%1 = arith.mulf %a0, %number : f32\n%2 = math.tanh %1 : f32\nlinalg.yield %2 : f32\n"

PROGRAMS: dict[str, Program] = {
    "a number that the host computes": (
        program(
            ["%x", "%w"],
            [("%r#0", FULL), ("%r#1", FULL)],
            "%half = arith.constant 0.5 : f32\n%less = arith.constant 0.75 : f32\n"
            + loop(
                "%r:3",
                [("%a", "%x", FULL), ("%b", "%w", FULL), ("%s", "%half", "f32")],
                each("%y", on("%a", "%b"), SCALED) + "%s2 = arith.mulf %s, %less : f32\n",
                ["%y", "%a", "%s2"],
            ),
        ),
        _numbers,
    ),
    "while a number is large": (
        program(
            ["%x"],
            [("%r#0", FULL)],
            "%one = arith.constant 1.0 : f32\n%half = arith.constant 0.5 : f32\n%low = arith.constant 0.1 : f32\n"
            f"%r:2 = scf.while (%t = %x, %s = %one) : ({FULL}, f32) -> ({FULL}, f32) {{\n"
            f"%c = arith.cmpf ogt, %s, %low : f32\nscf.condition(%c) %t, %s : {FULL}, f32\n}} do {{\n"
            f"^bb0(%t: {FULL}, %s: f32):\n"
            + each("%y", on("%t"), SCALED_AND_ONE)
            + f"%s2 = arith.mulf %s, %half : f32\nscf.yield %y, %s2 : {FULL}, f32\n}}\n",
        ),
        _while_a_number_is_large,
    ),
    "a row of each step": (
        program(
            ["%x"],
            [("%r", ONE_ROW)],
            f"%z = arith.constant dense<0.0> : {ONE_ROW}\n"
            + loop(
                "%r",
                [("%t", "%z", ONE_ROW)],
                f"%s = tensor.extract_slice %x[%i, 0] [1, 21] [1, 1] : {FULL} to {ONE_ROW}\n"
                + each("%y", [("%t", ONE_ROW), ("%s", ONE_ROW)], TANH_SUM, (1, 21)),
                ["%y"],
            ),
        ),
        _rows_one_by_one,
    ),
    "a row is written in each step": (
        program(
            ["%x"],
            [("%r", FULL)],
            "%half = arith.constant 0.5 : f32\n"
            + loop(
                "%r",
                [("%t", "%x", FULL)],
                "%next = arith.addi %i, %c1 : index\n"
                f"%s = tensor.extract_slice %t[%next, 0] [1, 21] [1, 1] : {FULL} to {ONE_ROW}\n"
                "%i32 = arith.index_cast %i : index to i32\n%f = arith.sitofp %i32 : i32 to f32\n"
                "%number = arith.addf %f, %half : f32\n"
                + each("%y", [("%s", ONE_ROW)], OF_STEP, (1, 21))
                + f"%u = tensor.insert_slice %y into %t[%i, 0] [1, 21] [1, 1] : {ONE_ROW} into {FULL}\n",
                ["%u"],
            ),
        ),
        _rows_of_rows,
    ),
    "as often as data says": (
        program(
            ["%x", "%w", "%n"],
            [("%r", FULL)],
            loop("%r", [("%t", "%x", FULL)], each("%y", on("%t", "%w"), TANH_SUM), ["%y"], "%steps"),
        ),
        _repeated,
    ),
    "nested": (
        program(
            ["%x", "%w"],
            [("%r", FULL)],
            loop(
                "%r",
                [("%t", "%x", FULL)],
                each("%u", on("%t", "%w"), SUM)
                + loop("%v", [("%k", "%u", FULL)], each("%y", on("%k", "%t"), TANH_SUM), ["%y"], kind="%j")
                + each("%z", on("%v", "%t"), SUM.replace("addf", "subf")),
                ["%z"],
                "%c3",
            ),
        ),
        _nested,
    ),
    "an inner loop goes on with the outer one's": (
        program(
            ["%x", "%w"],
            [("%r", FULL)],
            loop(
                "%r",
                [("%t", "%x", FULL)],
                loop("%v", [("%k", "%t", FULL)], each("%y", on("%k", "%w"), TANH_SUM), ["%y"], kind="%j"),
                ["%v"],
                "%c3",
            ),
        ),
        _carried_through,
    ),
    "until a sum is small": (
        program(
            ["%x", "%eps"],
            [("%r", FULL)],
            each("%p", on("%x"), ABSOLUTE)
            + _while(
                "%r", "%p", total("%s", "%t") + EPS, "%t", each("%y", on("%u"), HALVES) + f"scf.yield %y : {FULL}\n"
            ),
        ),
        _until_small,
    ),
    "first a step, then the condition": (
        program(
            ["%x", "%eps"],
            [("%r", FULL)],
            _while(
                "%r",
                "%x",
                each("%y", on("%t"), HALVES) + each("%q", on("%y"), SQUARES) + total("%s", "%q") + EPS,
                "%y",
                f"scf.yield %u : {FULL}\n",
            ),
        ),
        _do_while,
    ),
    "branches of other kernels": (
        program(
            ["%x", "%w"],
            [("%r", LINE)],
            f"%v = tensor.extract %x[%c3, %c2] : {FULL}\n{POSITIVE}%r = scf.if %c -> ({LINE}) {{\n"
            + each("%y", on("%x"), "%1 = math.exp %a0 : f32\nlinalg.yield %1 : f32\n")
            + sum_of_rows("%s", "%y")
            + f"scf.yield %s : {LINE}\n}} else {{\n"
            + each("%y", on("%x", "%w"), SUM)
            + sum_of_rows("%s", "%y")
            + f"%e2 = tensor.empty() : {LINE}\n%s2 = linalg.add ins(%s, %s : {LINE}, {LINE}) outs(%e2 : {LINE})"
            + f" -> {LINE}\n"
            + f"scf.yield %s2 : {LINE}\n}}\n",
        ),
        _branches,
    ),
    "a branch on what a kernel computed, and one that hands an argument on": (
        program(
            ["%x", "%w"],
            [("%r", FULL)],
            each("%h", on("%x"), "%1 = math.tanh %a0 : f32\nlinalg.yield %1 : f32\n")
            + f"%v = tensor.extract %h[%c3, %c2] : {FULL}\n{POSITIVE}%r = scf.if %c -> ({FULL}) {{\n"
            + each("%y", on("%h", "%w"), SUM)
            + f"scf.yield %y : {FULL}\n}} else {{\nscf.yield %w : {FULL}\n}}\n",
        ),
        _computed_condition,
    ),
    "the best of all steps": (
        program(
            ["%x", "%w"],
            [("%r#1", FULL)],
            "%low = arith.constant -1.0e30 : f32\n"
            + loop(
                "%r:3",
                [("%t", "%x", FULL), ("%b", "%w", FULL), ("%most", "%low", "f32")],
                each("%y", on("%t", "%w"), TANH_SUM)
                + total("%s", "%y")
                + f"%c = arith.cmpf ogt, %s, %most : f32\n%q:2 = scf.if %c -> ({FULL}, f32) {{\n"
                + f"scf.yield %y, %s : {FULL}, f32\n}} else {{\nscf.yield %b, %most : {FULL}, f32\n}}\n",
                ["%y", "%q#0", "%q#1"],
            ),
        ),
        _best,
    ),
    "the last two steps": (
        program(
            ["%x", "%w", "%n"],
            [("%r#0", FULL), ("%r#1", FULL)],
            loop(
                "%r:2",
                [("%a", "%x", FULL), ("%b", "%w", FULL)],
                each("%y", on("%a", "%b"), TANH_SUM),
                ["%b", "%y"],
                "%steps",
            ),
        ),
        _last_two,
    ),
    "two that change places": (
        program(
            ["%x", "%w", "%n"],
            [("%y", FULL), ("%r#1", FULL)],
            loop("%r:2", [("%a", "%x", FULL), ("%b", "%w", FULL)], "", ["%b", "%a"], "%steps")
            + each(
                "%y",
                on("%r#0", "%r#1"),
                "%k = arith.constant 0.5 : f32\n%1 = arith.mulf %a1, %k : f32\n%2 = arith.addf %a0, %1 : f32\n"
                "linalg.yield %2 : f32\n",
            ),
        ),
        _swapped,
    ),
    "carried bits": (
        program(
            ["%x"],
            [("%y", FULL), ("%r", BITS)],
            each("%m", on("%x"), IS_ABOVE, dtype="i1")
            + loop(
                "%r", [("%t", "%m", BITS)], each("%y", [("%t", BITS), ("%x", None)], FLIPS, dtype="i1"), ["%y"], "%c3"
            )
            + each("%y", [("%r", BITS), ("%x", None)], WHERE),
        ),
        _bits,
    ),
    "until a bit is off": (
        program(
            ["%x"],
            [("%r", FULL)],
            _while(
                "%r",
                "%x",
                each("%m", on("%t"), IS_LARGE, dtype="i1") + f"%c = tensor.extract %m[%c0, %c0] : {BITS}\n",
                "%t",
                each("%y", on("%u"), HALVES) + f"scf.yield %y : {FULL}\n",
            ),
        ),
        _until_no_bit,
    ),
    "from constants": (
        program(
            ["%x"],
            [("%r#0", FULL), ("%r#1", FULL)],
            f"%one = arith.constant dense<1.0> : {FULL}\n%four = arith.constant dense<{FOUR}> : {FULL}\n"
            + loop(
                "%r:2",
                [("%a", "%one", FULL), ("%b", "%four", FULL)],
                each("%t", on("%a", "%b"), TANH_SUM) + each("%y", on("%t", "%x"), SUM),
                ["%y", "%a"],
                "%c3",
            ),
        ),
        _constants,
    ),
    "a result that the loop reads": (
        program(
            ["%x", "%w"],
            [("%h", FULL), ("%r", FULL), ("%s", LINE)],
            each("%h", on("%w", "%w"), TANH_SUM)
            + loop("%r", [("%t", "%x", FULL)], each("%y", on("%t", "%h"), TANH_SUM), ["%y"], "%c3")
            + sum_of_rows("%s", "%r"),
        ),
        _read_inside,
    ),
}
