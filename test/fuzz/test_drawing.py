# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases that are drawn are plain data and valid MLIR, smaller ones too, and depend on seed and index alone."""

import itertools
import json

import cpu_programs
import gpu_schedules
import harness
import pytest
import subgroup_functions
import subgroup_text
import tensor_program
import workgroup_kernels
import workgroup_text
import xetile_kernel
from xetile.mlir import ir


def of_nodes(module):
    """The text of programs of nodes in a kernel."""

    def text(case) -> str:
        parameters = ", ".join(f"%{name}: {kind}" for name, kind in module.memrefs(case).items())
        body = module.body(case)
        return f"gpu.module @device {{\ngpu.func @kernel({parameters}) kernel {{\n{body}\ngpu.return\n}}\n}}"

    return text


TEXTS = {
    cpu_programs.KIND: lambda case: tensor_program.write(case["program"]),
    gpu_schedules.KIND: xetile_kernel.write,
    workgroup_kernels.KIND: of_nodes(workgroup_text),
    subgroup_functions.KIND: of_nodes(subgroup_text),
}
each_kind = pytest.mark.parametrize("kind", TEXTS, ids=lambda kind: kind.name)


def cases(kind, count: int, seed: int) -> list:
    return [kind.generate(harness.case_rng(seed, kind.name, index)) for index in range(count)]


def parses(kind, case) -> bool:
    if case.get("form") == "schedule":
        return gpu_schedules._payload(case).operation.verify()
    with ir.Context():
        return ir.Module.parse(TEXTS[kind](case)).operation.verify()


@each_kind
def test_cases_are_plain_data_and_valid(kind, seed):
    for case in cases(kind, 120, seed):
        assert json.loads(json.dumps(case)) == case
        assert parses(kind, case), case


@each_kind
def test_a_case_depends_on_its_seed_and_index_alone(kind, seed):
    assert cases(kind, 20, seed) == cases(kind, 20, seed)
    assert cases(kind, 20, seed) != cases(kind, 20, seed + 1)


@each_kind
def test_smaller_cases_are_valid(kind, seed):
    for case in cases(kind, 10, seed):
        for candidate in itertools.islice(kind.reduced(case), 50):
            assert candidate != case
            assert parses(kind, candidate), candidate
