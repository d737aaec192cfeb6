# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `make bench` compares can be compared: its figures are nobody's test."""

import sys
from pathlib import Path

import pytest
import xetile

BENCH = Path(__file__).parents[1] / "bench"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    for name in ("run", "plain_emulation"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import plain_emulation
    import run

    yield run, plain_emulation
    for name in ("run", "plain_emulation"):
        sys.modules.pop(name, None)


def test_plain_emulation_knows_all_that_the_kernel_calls(bench):
    run, plain_emulation = bench
    names = plain_emulation.imports(run.compiled(256).spirv)
    assert any("block_read" in name for name in names) and any("matrix_mad" in name for name in names)
    for name in names:
        assert name in plain_emulation.builtin(name)


def test_plain_emulation_refuses_functions_of_intels_library(bench):
    _, plain_emulation = bench
    spirv = xetile.compile(xetile.matmul(256, 256, 256), native="off").spirv
    with pytest.raises(SystemExit, match="no plain version of __builtin_IB_subgroup"):
        plain_emulation.imports(spirv)
