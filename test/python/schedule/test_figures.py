# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures that `xetile schedules NAME` prints are those that `make bench` holds kernels to."""

from pathlib import Path

import pytest
from xetile import schedule
from xetile.mlir import ir
from xetile.schedule import figures

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def benches(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import program_code_kernels
    import workload_kernels

    return [*program_code_kernels.benches(), *workload_kernels.benches()]


def test_each_kernel_of_the_bench_has_a_figure_and_each_figure_a_kernel(benches):
    programs = {(name, dtype) for name, most in figures.most_of_programs().items() for dtype in most}
    assert {(bench.name, bench.dtype) for bench in benches} == programs
    assert len(figures.FIGURES) == len(programs) + 2


def test_figures_are_those_of_the_schedule_that_the_bench_compiles_with(benches):
    schedules = {(figure.kernel, figure.dtype): figure.schedule for figure in figures.FIGURES}
    for bench in benches:
        with ir.Context():
            payload = ir.Module.parse(bench.payload)
        assert (bench.schedule or schedule.suggest(payload)) == schedules[bench.name, bench.dtype], bench.name


def test_the_bench_fails_beyond_them(benches, monkeypatch):
    import machine_code
    import program_code_kernels

    assert figures.most_of_programs() == program_code_kernels.MOST
    assert machine_code.MUST == figures.most_of_matmuls() == {"pvc": (0.25, 0.7), "bmg": (0.1, 0.48)}


def test_figures_are_of_schedules_that_there_are():
    assert {figure.schedule for figure in figures.FIGURES} <= set(schedule.available())
