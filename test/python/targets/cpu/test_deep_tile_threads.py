# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads that the system has, beside those of a configuration: results are the same, bit by bit."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

# Threads of m and n, of k whose partial sums are added in the end, of batches; types with vectors of their own.
PROGRAM = """
import hashlib
import numpy as np
from xetile import cpu
from deep_tile_cases import Problem, blocked
digest = hashlib.sha256()
rng = np.random.default_rng(7)
CASES = [
    ("plain", {"MThreads": 3, "NThreads": 2, "KThreads": 1, "innermostNBlock": 32}, ("f32", "f32", "f32")),
    ("plain", {"MThreads": 1, "NThreads": 2, "KThreads": 3, "innermostNBlock": 32}, ("f32", "f32", "f32")),
    ("transposed B", {"MThreads": 2, "NThreads": 1, "KThreads": 2}, ("bf16", "bf16", "f32")),
    ("batch", {}, ("i8", "i8", "i32")),
]
for form, config, types in CASES:
    problem = Problem(form, blocked(form, 61, 83, 131, **{"batch": 5} if form == "batch" else {}), types)
    kernel = cpu.compile(problem.module(), config=config, threads=6)
    digest.update(kernel(*problem.arrays(rng, kernel)).tobytes())
print(digest.hexdigest())
"""
SETTINGS = [
    {"OMP_NUM_THREADS": "1"},
    {"OMP_NUM_THREADS": "2"},
    {"OMP_NUM_THREADS": "7"},
    {"OMP_DYNAMIC": "true"},
    {"OMP_THREAD_LIMIT": "1"},
    {"OMP_SCHEDULE": "dynamic", "OMP_NUM_THREADS": "3"},
]


def digest_of_results(settings: dict[str, str]) -> str:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    paths = [os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH"), *sys.path])]
    environment = {**plain, "PYTHONPATH": os.pathsep.join(paths), **settings}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()[-1]


@pytest.fixture(scope="module")
def expected() -> str:
    return digest_of_results({})


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: ",".join(f"{k}={v}" for k, v in settings.items()))
def test_results_do_not_depend_on_the_threads_of_openmp(expected, settings):
    assert len(expected) == 2 * hashlib.sha256().digest_size
    assert digest_of_results(settings) == expected
