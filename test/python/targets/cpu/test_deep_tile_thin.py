# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thin matrices: vectors along k, or along m for a single column, of operands that are read where they are."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from deep_tile_cases import TYPES, Problem, blocked, check, random_config
from xetile import cpu

FORMS = ["plain", "transposed A", "transposed B", "both transposed", "transposed C", "batch", "batch, transposed B"]
F32 = ("f32", "f32", "f32")
# Vectors along k end in lanes of one sum: these are what there is in one, and what is left of tiles of them.
THIN = [(1, 1), (1, 37), (2, 66), (5, 9), (13, 1), (66, 3), (31, 33), (64, 17), (40, 5), (35, 7), (100, 14)]
MACHINES = {
    "SSE": {"max_vector_width": 128, "int8_dot": 0, "bf16_dot": 0},
    "AVX2": {"max_vector_width": 256, "int8_dot": 0, "bf16_dot": 0},
    "AVX-512": {"max_vector_width": 512, "int8_dot": 0, "bf16_dot": 0},
}
DOTS = {"max_vector_width": 512, "int8_dot": 1, "bf16_dot": 1}


def some_shapes(rng: np.random.Generator) -> list[tuple[int, int]]:
    return [THIN[number] for number in rng.choice(len(THIN), 3, replace=False)]


def thin(rng: np.random.Generator, form: str, shape: tuple[int, int], types: tuple[str, str, str]) -> Problem:
    k = int(rng.choice([1, 7, 16, 64, 129, int(rng.integers(1, 700))]))
    return Problem(form, blocked(form, *shape, k), types, fill=bool(rng.integers(2)))


def configuration(problem: Problem, **options) -> tuple[dict[str, int], str]:
    first, *terms = cpu.explain(problem.module(), threads=1, **options).splitlines()
    return json.loads(first[first.index("{") :]), "\n".join(terms)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("types", TYPES, ids="-".join)
def test_types(rng, form, types):
    for shape in some_shapes(rng):
        check(rng, thin(rng, form, shape, types), threads=int(rng.integers(1, 3)))


@pytest.mark.parametrize("form", FORMS)
def test_configurations(rng, form):
    for shape in some_shapes(rng):
        problem = thin(rng, form, shape, TYPES[int(rng.integers(len(TYPES)))])
        check(rng, problem, random_config(rng, problem, threads=2))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", ["plain", "transposed A", "transposed B"])
@pytest.mark.parametrize("dynamic", ["m", "n", "k", "mnk"])
def test_sizes_at_run_time(rng, form, dynamic):
    for m, n in some_shapes(rng):
        problem = Problem(form, blocked(form, m, n, int(rng.integers(1, 300))), F32, fill=True, dynamic=dynamic)
        check(rng, problem)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("form", ["plain", "transposed A", "transposed B"])
@pytest.mark.parametrize(
    "types", [F32, ("bf16", "bf16", "f32"), ("u8", "u8", "i32"), ("f16", "f16", "f16")], ids="-".join
)
def test_vectors_of_other_widths(rng, machine, form, types):
    for shape in some_shapes(rng):
        kernel = check(rng, replace(thin(rng, form, shape, types), machine=MACHINES[machine]))
        assert "llvm.x86." not in kernel.stages["3-llvm"]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("k", [3, 5, 8, 13, 16, 17])
def test_a_single_sum_of_bytes(rng, machine, k):
    """Where a CPU has VNNI, LLVM multiplies four bytes at a time, and has forgotten some of the products."""
    problem = Problem("transposed B", blocked("transposed B", 1, 1, k), ("u8", "i8", "i32"), fill=True)
    check(rng, replace(problem, machine=MACHINES[machine]), threads=1)


@pytest.mark.parametrize("columns", [2, 3, 4, 33, 64])
def test_more_sums_than_a_vector_has_lanes(rng, columns):
    """Two f64 are a vector of SSE, and a tile has four columns."""
    problem = Problem("transposed B", blocked("transposed B", 54, 142, 34), ("f64",) * 3, machine=MACHINES["SSE"])
    for fill in (False, True):
        config = {"MBlock": 31, "NBlock": 2 * columns, "KBlock": 14, "innermostMBlock": 1, "innermostNBlock": columns}
        check(rng, replace(problem, fill=fill), config, threads=2)


@pytest.mark.parametrize("machine", [MACHINES["AVX2"], DOTS, DOTS | {"amx": 1}], ids=["AVX2", "AVX-512", "AMX"])
@pytest.mark.parametrize("types", [F32, ("bf16", "bf16", "f32"), ("i8", "i8", "i32")], ids="-".join)
def test_nothing_is_packed_for_a_column(types, machine):
    for form in ("plain", "transposed A", "transposed B"):
        _, terms = configuration(Problem(form, blocked(form, 1000, 1, 512), types, fill=True, machine=machine))
        assert "pack A: no" in terms
        assert "pack B: no" in terms
        assert ("vectors run along m" if form == "transposed A" else "run along k") in terms


def test_threads_have_lines_of_c_of_their_own(rng):
    """Vectors run along k, for four columns at a time, and a line has sixteen."""
    problem = Problem("plain", blocked("plain", 2016, 8, 240), F32, machine=MACHINES["AVX-512"])
    text = cpu.explain(problem.module(), threads=4).splitlines()[0]
    config = json.loads(text[text.index("{") :])
    assert config["innermostNBlock"] < 16 and (config["MThreads"], config["NThreads"]) == (4, 1)
    problem = replace(problem, sizes=blocked("plain", 40, 56, 70))
    # Threads that are asked for have whole lines where there are enough, else whole innermost blocks.
    for count in (2, 3, 4, 14):
        own = {"MThreads": 1, "NThreads": count, "KThreads": 1, "innermostNBlock": 4}
        check(rng, problem, own, threads=count)


def test_rows_that_share_a_set_of_the_first_level_are_few():
    # 4 KiB apart: a first level of 8 ways keeps a line of 8 rows. An odd distance does no harm.
    machine = {"L1_cache_size_in_bytes": 32768, "max_vector_width": 512}
    rows = {}
    for k in (1024, 1040):
        problem = Problem("plain", blocked("plain", 1000, 144, k), F32, machine=machine)
        rows[k] = configuration(problem)[0]["innermostMBlock"]
    assert rows[1024] <= 6 < rows[1040]
