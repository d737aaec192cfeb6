# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deep-tiled matmuls against NumPy: rows of the conformance table, the document's examples, random draws.

`make test` draws a part of them anew each time, `make test-exhaustive` runs all.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from deep_tile_cases import ROWS, SHAPES, Problem, blocked, check, compare, poisoned, random_config, random_problem
from xetile import cpu
from xetile.mlir import ir

TABLE_FORMS = ("plain", "transposed A", "transposed B", "both transposed", "batch", "blocked", "blocked pairs")
TABLE_TYPES = {"f32": ("f32", "f32", "f32"), "bf16": ("bf16", "bf16", "f32")}
# More than the cores of most machines: the products of thread counts that configurations may have.
THREADS = 4
# The heuristic's own, three legal ones at random, each loop order.
CONFIGS = ("default", "random 1", "random 2", "random 3", *(f"loopOrder {order}" for order in range(6)))
DOCUMENT = Path(__file__).parents[3] / "Target" / "Cpu" / "Matmul" / "deep-tile-matmul.mlir"


def rows() -> list[Problem]:
    """One for each shape, form and type, and for a number of rows that is known at run time only."""
    forms = [(form, "") for form in TABLE_FORMS] + [(form, ROWS[form]) for form in ("plain", "batch", "blocked")]
    return [
        Problem(form, blocked(form, *shape, batch=2), types, fill=True, dynamic=dynamic)
        for shape, (form, dynamic), types in itertools.product(SHAPES, forms, TABLE_TYPES.values())
    ]


def name(problem: Problem) -> str:
    sizes = "x".join(str(size) for size in problem.sizes.values())
    return f"{problem.form}{' dynamic' if problem.dynamic else ''} {sizes} {problem.types[0]}"


def run(rng: np.random.Generator, problem: Problem, kind: str) -> None:
    config = {}
    if kind.startswith("random"):
        config = random_config(rng, problem, THREADS)
    elif kind.startswith("loopOrder"):
        # Several blocks in each dimension: otherwise the order would not matter.
        config = {**random_config(rng, problem, 1), "loopOrder": int(kind[-1])}
        config |= {f"{dim}Block": config[f"innermost{dim}Block"] * 2 for dim in "MNK"}
    check(rng, problem, config, THREADS)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("problem", rows(), ids=name)
def test_rows_by_default(rng, problem):
    run(rng, problem, "default")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("problem", rows(), ids=name)
def test_rows_with_one_configuration(rng, problem):
    run(rng, problem, CONFIGS[int(rng.integers(1, len(CONFIGS)))])


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", CONFIGS[1:])
@pytest.mark.parametrize("problem", rows(), ids=name)
def test_rows_with_all_configurations(rng, problem, kind):
    run(rng, problem, kind)


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "number", [*range(60), *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(60, 300))]
)
def test_random_draws(rng, number):
    problem = random_problem(rng)
    pack = ("auto", "never", "always")[int(rng.integers(3))]
    check(rng, problem, random_config(rng, problem, THREADS), THREADS, pack)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize(("number", "threads", "partials"), [(0, "(2, 2)", 0), (1, "(2, 2, 2)", 2)], ids=["mn", "mnk"])
def test_examples_of_the_document(rng, number, threads, partials, dtype):
    """The functions whose structure deep-tile-matmul.mlir checks; their DLTI machine has 8 cores."""
    text = re.sub(r"x(f32|bf16)>", f"x{dtype}>", DOCUMENT.read_text().split("// -----")[number])
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(text), pack="never")
    assert f"in {threads} shared_outs" in kernel.stages["1-tiled"]
    assert ("tensor.empty() : tensor<2x256x512xf32>" in kernel.stages["1-tiled"]) == bool(partials)
    problem = Problem("plain", {"m": 256, "n": 512, "k": 128}, (dtype,) * 3)
    arrays = problem.arrays(rng, kernel)
    compare(problem, arrays, kernel(*arrays, out=poisoned(arrays[2].shape, arrays[2].dtype)))
