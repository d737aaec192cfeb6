# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `explain` says of programs on GPUs: each rule by which ops are given to kernels, by its reason; bytes moved."""

import re

import pytest
import xetile
from gpu_programs import BOTH, COLUMN, EXP, ROW, function, generic, tensor
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile

M, N = 24, 40
X = ("%x", tensor((M, N), "f32"))
SUM = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"
DIVIDE = "%1 = arith.divf %a0, %a1 : f32\nlinalg.yield %1 : f32\n"
TWICE = "%1 = arith.addf %a0, %a0 : f32\nlinalg.yield %1 : f32\n"
FULL, LINE = tensor((M, N), "f32"), tensor((M,), "f32")


def ones(result, value, body=EXP, shape=(M, N)):
    return generic(result, [(value, tensor(shape, "f32"))], shape, "f32", [BOTH, BOTH], "pp", body)


def rows(result, value, shape=(M, N)):
    return generic(result, [(value, tensor(shape, "f32"))], shape[:1], "f32", [BOTH, COLUMN], "pr", SUM, "0.0")


def columns(result, value):
    return generic(result, [(value, FULL)], (N,), "f32", [BOTH, ROW], "rp", SUM, "0.0")


def by_rows(result, value, line):
    return generic(result, [(value, FULL), (line, LINE)], (M, N), "f32", [BOTH, COLUMN, BOTH], "pp", DIVIDE)


def matmul(result, a, b, k=N, n=N):
    c = tensor((M, n), "f32")
    return (
        f"{result}_z = arith.constant 0.0 : f32\n{result}_e = tensor.empty() : {c}\n"
        f"{result}_i = linalg.fill ins({result}_z : f32) outs({result}_e : {c}) -> {c}\n"
        f"{result} = linalg.matmul ins({a}, {b} : {tensor((M, k), 'f16')}, {tensor((k, n), 'f16')}) "
        f"outs({result}_i : {c}) -> {c}\n"
    )


def window_of(body):
    """Sums of three neighbours of what `body` makes of a vector."""
    kind = tensor((40,), "f32")
    maps = ["(i, w) -> (i + w)", "(i, w) -> (w)", "(i, w) -> (i)"]
    return function(
        [("%x", kind)],
        [("%y", tensor((38,), "f32"))],
        generic("%a", [("%x", kind)], (40,), "f32", ["(i) -> (i)"] * 2, "p", body)
        + "%w = tensor.empty() : tensor<3xf32>\n"
        + generic("%y", [("%a", kind), ("%w", "tensor<3xf32>")], (38,), "f32", maps, "pr", SUM, "0.0"),
    )


def explained(text):
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        ops, kernels = _xetile.explain_kernels(module)
        # Results by their names in the text: %y is "y".
        return [(op.name, kernel, schedule, reason) for op, kernel, schedule, reason in ops], kernels


# Each rule: a program, and kernel and reason of its ops.
HALF = ("%h", tensor((M, N), "f16"))
WEIGHT = ("%w", tensor((N, N), "f16"))
ALONE = "each element by itself; the caller reads it"
JOINED = "each element is computed about once for its readers in the kernel"
AGAIN = "each element by itself; its readers need an element several times"
NARROW = "%1 = math.exp %a0 : f32\n%2 = arith.truncf %1 : f32 to f16\nlinalg.yield %2 : f16\n"
EXTEND = "%1 = arith.sitofp %a0 : i8 to f16\nlinalg.yield %1 : f16\n"
RULES = {
    "chains are one kernel": (
        function([X], [("%y", FULL)], ones("%a", "%x") + ones("%y", "%a")),
        [(0, JOINED), (0, ALONE)],
    ),
    "two readers in one kernel": (
        function([X], [("%y", FULL)], ones("%a", "%x") + rows("%s", "%a") + by_rows("%y", "%a", "%s")),
        [(0, JOINED), (0, JOINED), (0, ALONE)],
    ),
    "readers in two kernels": (
        function(
            [X], [("%s", LINE), ("%t", tensor((N,), "f32"))], ones("%a", "%x") + rows("%s", "%a") + columns("%t", "%a")
        ),
        [(0, "each element by itself; its readers are in several kernels")]
        + [(1, "reduces along dimensions; the caller reads it"), (2, "reduces along dimensions; the caller reads it")],
    ),
    "the caller reads a chain's value in the same shape": (
        function([X], [("%a", FULL), ("%y", FULL)], ones("%a", "%x") + ones("%y", "%a")),
        [(0, JOINED), (0, ALONE)],
    ),
    "the caller reads a value in another shape": (
        function([X], [("%a", FULL), ("%s", LINE)], ones("%a", "%x") + rows("%s", "%a")),
        [
            (0, "each element by itself; the caller reads it, too, in another shape than its readers' results"),
            (1, "reduces along dimensions; the caller reads it"),
        ],
    ),
    "the caller reads a sum, too": (
        function([X], [("%s", LINE), ("%y", FULL)], rows("%s", "%x") + by_rows("%y", "%x", "%s")),
        [(0, "reduces along dimensions; the caller reads it, too"), (1, ALONE)],
    ),
    "a sum of columns of rows' quotients": (
        function(
            [X],
            [("%t", tensor((N,), "f32"))],
            rows("%s", "%x") + by_rows("%q", "%x", "%s") + columns("%t", "%q"),
        ),
        [(0, "reduces along dimensions; its readers' workgroups do not walk over all that it reduces"), (1, JOINED)]
        + [(1, "reduces along dimensions; the caller reads it")],
    ),
    "a matmul takes what follows": (
        function([HALF, WEIGHT], [("%y", FULL)], matmul("%m", "%h", "%w") + ones("%y", "%m")),
        [(0, JOINED), (0, ALONE)],
    ),
    "a matmul takes a sum of its rows": (
        function([HALF, WEIGHT], [("%s", LINE)], matmul("%m", "%h", "%w") + rows("%s", "%m")),
        [(0, "its readers' workgroups have whole rows of the product in registers")]
        + [(0, "reduces along dimensions; the caller reads it")],
    ),
    "a matmul takes no sum of its columns": (
        function([HALF, WEIGHT], [("%s", tensor((N,), "f32"))], matmul("%m", "%h", "%w") + columns("%s", "%m")),
        [(0, "multiplies on the matrix unit; no elementwise ops of its shape follow")]
        + [(1, "reduces along dimensions; the caller reads it")],
    ),
    "a matmul takes a cast of memory before it": (
        function(
            [("%q", tensor((M, N), "i8")), WEIGHT],
            [("%m", FULL)],
            generic("%c", [("%q", tensor((M, N), "i8"))], (M, N), "f16", [BOTH, BOTH], "pp", EXTEND)
            + matmul("%m", "%c", "%w"),
        ),
        [(0, JOINED), (0, "multiplies on the matrix unit; the caller reads it")],
    ),
    "a matmul takes what it computes about once": (
        function(
            [X, WEIGHT],
            [("%m", FULL)],
            generic("%c", [X], (M, N), "f16", [BOTH, BOTH], "pp", NARROW) + matmul("%m", "%c", "%w"),
        ),
        [
            (0, "the product that reads it computes it about once"),
            (0, "multiplies on the matrix unit; the caller reads it"),
        ],
    ),
    "a matmul's kernel takes no sum that it reads": (
        function(
            [X, HALF, WEIGHT],
            [("%y", FULL)],
            rows("%s", "%x") + matmul("%m", "%h", "%w") + by_rows("%y", "%m", "%s"),
        ),
        # From the last op on: the quotients are a kernel; the matmul joins them, then the sum cannot.
        [(0, "reduces along dimensions; a matmul reads it"), (1, JOINED), (1, ALONE)],
    ),
    "readers see dimensions as one": (
        function(
            [("%x", tensor((4, 6, N), "f32"))],
            [("%s", LINE)],
            generic(
                "%a", [("%x", tensor((4, 6, N), "f32"))], (4, 6, N), "f32", ["(a, b, c) -> (a, b, c)"] * 2, "ppp", EXP
            )
            + f"%f = tensor.collapse_shape %a [[0, 1], [2]] : tensor<4x6x{N}xf32> into {FULL}\n"
            + rows("%s", "%f"),
        ),
        [
            (0, "each element by itself; readers see several dimensions as one"),
            (1, "reduces along dimensions; the caller reads it"),
        ],
    ),
    "windows read exponentials from memory": (
        window_of(EXP),
        [(0, AGAIN), (1, "reduces along dimensions; the caller reads it")],
    ),
    "windows compute anew what costs nothing": (
        window_of(TWICE),
        [(0, JOINED), (0, "reduces along dimensions; the caller reads it")],
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_rules(name):
    text, expected = RULES[name]
    ops, _ = explained(text)
    assert [(kernel, reason) for _, kernel, _, reason in ops] == expected


def test_a_kernel_has_at_most_forty_ops():
    chain = "".join(ones(f"%v{i + 1}", f"%v{i}") for i in range(45)).replace("%v0,", "%x,").replace("(%v0 ", "(%x ")
    ops, kernels = explained(function([X], [("%v45", FULL)], chain))
    assert [kernel for _, kernel, _, _ in ops] == [0] * 5 + [1] * 40
    assert ops[4][3] == "each element by itself; the kernel of its readers has 40 ops"
    assert len(kernels) == 2


def test_given_numbers_are_told_and_nothing_joins():
    text = function([X], [("%y", FULL)], ones("%a", "%x") + ones("%y", "%a"))
    last = text.rindex("linalg.generic {") + len("linalg.generic {")
    marked = text[:last] + 'xetile.kernel = 7, xetile.schedule = "elementwise", ' + text[last:]
    ops, _ = explained(marked)
    assert [reason for *_, reason in ops] == [
        "each element by itself; the kernel of its readers was given by number",
        "given by number",
    ]


# Kernels beside each other

SQUARES = "%1 = arith.mulf %a0, %a0 : f32\n%2 = arith.addf %1, %o : f32\nlinalg.yield %2 : f32\n"
LARGE = (1024, 512)


def two_chains(shape, of="%z"):
    """Two results of one shape, of %x and of `of`, another argument by default."""
    kind = tensor(shape, "f32")
    return function(
        [("%x", kind), ("%z", kind)],
        [("%a", kind), ("%b", kind)],
        ones("%a", "%x", EXP, shape) + ones("%b", of, TWICE, shape),
    )


def numbers(text):
    return [kernel for _, kernel, _, _ in explained(text)[0]]


def test_small_kernels_of_one_shape_are_one():
    ops, kernels = explained(two_chains((M, N)))
    assert [kernel for _, kernel, _, _ in ops] == [0, 0]
    assert sorted(reason for *_, reason in ops) == [ALONE, f"{ALONE}; another kernel of these loops is small, too"]
    assert kernels == [(0, "elementwise", 8 * M * N, 8 * M * N)]


def test_large_kernels_are_one_where_they_read_the_same():
    assert numbers(two_chains(LARGE)) == [0, 1]
    ops, kernels = explained(two_chains(LARGE, "%x"))
    assert [kernel for _, kernel, _, _ in ops] == [0, 0]
    assert any(reason.endswith("; another kernel of these loops reads the same memory") for *_, reason in ops)
    assert kernels == [(0, "elementwise", 4 * 1024 * 512, 8 * 1024 * 512)]


def test_sums_along_the_same_dimension_are_one_kernel():
    squares = generic("%t", [X], (M,), "f32", [BOTH, COLUMN], "pr", SQUARES, "0.0")
    assert numbers(function([X], [("%s", LINE), ("%t", LINE)], rows("%s", "%x") + squares)) == [0, 0]
    # What both read joins them, as all its readers are in one kernel.
    before = ones("%a", "%x") + rows("%s", "%a") + squares.replace("%x", "%a")
    assert numbers(function([X], [("%s", LINE), ("%t", LINE)], before)) == [0, 0, 0]
    both = function([X], [("%s", LINE), ("%t", tensor((N,), "f32"))], rows("%s", "%x") + columns("%t", "%x"))
    assert numbers(both) == [0, 1]


def test_kernels_that_wait_for_one_another_are_not_merged():
    """b reads what a kernel alone makes of a: two of one shape, with one between them."""
    text = function([X], [("%a", FULL), ("%b", FULL)], ones("%a", "%x") + ones("%g", "%a", TWICE) + ones("%b", "%g"))
    assert numbers(text) == [0, 0, 0]
    second = text.index("linalg.generic {", text.index("%g =")) + len("linalg.generic {")
    given = text[:second] + 'xetile.kernel = 3, xetile.schedule = "elementwise", ' + text[second:]
    assert numbers(given) == [0, 1, 2]


def test_kernels_of_other_shapes_and_given_ones_are_not_merged():
    other = ("%z", tensor((N, M), "f32"))
    text = function([X, other], [("%a", FULL), ("%b", other[1])], ones("%a", "%x") + ones("%b", "%z", TWICE, (N, M)))
    assert numbers(text) == [0, 1]
    text = two_chains((M, N))
    first = text.index("linalg.generic {") + len("linalg.generic {")
    given = text[:first] + 'xetile.kernel = 3, xetile.schedule = "elementwise", ' + text[first:]
    assert numbers(given) == [0, 1]


def test_merged_kernels_have_at_most_forty_ops():
    def chain(name, value, length):
        steps = [value, *(f"{name}{i}" for i in range(1, length)), name]
        return "".join(ones(result, before) for before, result in zip(steps, steps[1:], strict=False))

    def both(length):
        return function([X], [("%a", FULL), ("%b", FULL)], chain("%a", "%x", length) + chain("%b", "%x", 20))

    assert set(numbers(both(20))) == {0}
    assert set(numbers(both(21))) == {0, 1}


# Bytes moved


def traffic(text):
    return [(read, written) for _, _, read, written in explained(text)[1]]


def test_each_array_is_moved_once():
    text = function([X], [("%y", FULL)], ones("%a", "%x") + rows("%s", "%x") + by_rows("%y", "%a", "%s"))
    assert traffic(text) == [(4 * M * N, 4 * M * N)]


def test_slices_move_their_elements_only_and_never_more_than_there_are():
    parts = "".join(
        f"%p{i} = tensor.extract_slice %x[{row}, 0] [10, {N}] [1, 1] : {FULL} to tensor<10x{N}xf32>\n"
        for i, row in enumerate((0, 5, 14))
    )
    shape, kind = (10, N), f"tensor<10x{N}xf32>"
    body = "%1 = arith.addf %a0, %a1 : f32\nlinalg.yield %1 : f32\n"

    def both(result, a, b):
        return generic(result, [(a, kind), (b, kind)], shape, "f32", [BOTH] * 3, "pp", body)

    two = function([X], [("%y", kind)], parts + both("%y", "%p0", "%p1"))
    three = function([X], [("%y", kind)], parts + both("%a", "%p0", "%p1") + both("%y", "%a", "%p2"))
    assert traffic(two) == [(4 * 20 * N, 4 * 10 * N)]
    assert traffic(three) == [(4 * M * N, 4 * 10 * N)]


def test_booleans_are_bytes_and_constants_and_destinations_nothing():
    body = "%1 = arith.cmpf olt, %a0, %a1 : f32\nlinalg.yield %1 : i1\n"
    text = function(
        [X],
        [("%y", tensor((M, N), "i1"))],
        f"%c = arith.constant dense<2.0> : {FULL}\n"
        + generic("%y", [X, ("%c", FULL)], (M, N), "i1", [BOTH] * 3, "pp", body),
    )
    assert traffic(text) == [(4 * M * N, M * N)]


def test_what_kernels_pass_on_is_written_and_read():
    text = function([HALF, WEIGHT], [("%s", tensor((N,), "f32"))], matmul("%m", "%h", "%w") + columns("%s", "%m"))
    assert traffic(text) == [(2 * M * N + 2 * N * N, 4 * M * N), (4 * M * N, 4 * N)]
    # As one kernel it is not.
    text = function([HALF, WEIGHT], [("%s", LINE)], matmul("%m", "%h", "%w") + rows("%s", "%m"))
    assert traffic(text) == [(2 * M * N + 2 * N * N, 4 * M)]


def test_sizes_of_a_run_are_not_guessed():
    text = (
        "#id = affine_map<(i) -> (i)>\nfunc.func @program(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {\n"
        '%y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) '
        "outs(%e : tensor<?xf32>) {\n^bb0(%a0: f32, %o: f32):\n" + EXP + "} -> tensor<?xf32>\n"
        "return %y : tensor<?xf32>\n}\n"
    )
    assert traffic(text) == [(None, None)]


# What people read


def test_explain_tells_kernels_tiles_and_operations_of_each():
    sums = [("%m", FULL), ("%s", tensor((N,), "f32"))]
    text = function(
        [HALF, WEIGHT],
        [("%y", FULL)],
        matmul("%m", "%h", "%w")
        + columns("%s", "%m")
        + generic("%y", sums, (M, N), "f32", [BOTH, ROW, BOTH], "pp", DIVIDE),
    )
    with ir.Context(), ir.Location.unknown():
        told = xetile.compile(ir.Module.parse(text), target="pvc", native="off").explain()
    table = [re.split(r" {2,}", line) for line in told.splitlines()]
    assert [row[3] for row in table if row[0] in ("0", "1", "2") and len(row) == 6] == ["0", "1", "1"]
    moved = {row[0]: row[1:] for row in table if len(row) == 4 or row[0] == "all"}
    assert moved["0"] == ["matmul", f"{2 * M * N + 2 * N * N:,}", f"{4 * M * N:,}"]
    assert moved["1"] == ["rows", f"{4 * M * N:,}", f"{4 * M * N:,}"]
    assert moved["all"] == [f"{6 * M * N + 2 * N * N:,}", f"{8 * M * N:,}"]
    assert re.search(r"^program_0_matmul_kernel: \d+ x \d+ per workgroup, ", told, re.MULTILINE)
    parts = re.split(r"^a subgroup's operations in (\w+)$", told, flags=re.MULTILINE)
    operations = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert list(operations) == ["program_0_matmul_kernel", "program_1_rows_kernel"]
    assert "dpas 8x16xf16" in operations["program_0_matmul_kernel"]
    assert "dpas" not in operations["program_1_rows_kernel"]


def test_a_program_of_one_kernel_has_no_kernels_to_tell():
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(function([X], [("%y", FULL)], ones("%y", "%x")))
        told = xetile.compile(module, target="pvc", native="off").explain()
    assert "a subgroup's operations\n" in told + "\n"
    assert "reads bytes" not in told
