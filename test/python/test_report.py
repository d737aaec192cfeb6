# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine-code statistics."""

import math

import pytest
import xetile
from xetile import report

# What the compiler's dumps look like, cut to one loop of two dpas.
ASSEMBLY = """//.kernel some_kernel
//.thread_config numGRF=256, numAcc=8, numSWSB=32
//.spill size 128
        mov (1|M0)               r5.0<1>:uq    r1.1<0;1,0>:q
_0_004:
        load_block2d.ugm.d16.a64 (1|M0)  r6:31   [r5:1]   {$2} // ex_desc:0x0
        load_block2d.ugm.d16.a64.ca.ca (1|M0)  null:0 [r4:1]  {A@1,$6} // ex_desc:0x0
(W)     sync.nop                             null                   {Compacted,I@1}
        dpas.8x8 (16|M0)         r10:f         r10:f             r6:hf             r8.0:hf  {Atomic}
        dpas.8x8 (16|M0)         r18:f         r18:f             r6:hf             r9.0:hf  {$1}
(W)     mov (1|M0)               r5.5<1>:d     r4.1<0;1,0>:d
(W&f0.0) jmpi                                _0_004                                 // $741
_0_005:
        store_block2d.ugm.d32.a64 (1|M0)  [r3:1] r162:8            {$7}
(W)     send.gtwy (1|M0)         null     r255    null:0  0x0            0x02000010     {EOT}
"""


@pytest.fixture(scope="module")
def spirv() -> bytes:
    return xetile.compile(xetile.matmul(1024, 1024, 1024), native="off").spirv


def test_assembly_is_counted_by_kind_and_loop():
    kernel = report._parse(ASSEMBLY, "pvc", 1000)
    assert (kernel.kernel, kernel.registers, kernel.spill_bytes, kernel.binary_bytes) == ("some_kernel", 256, 128, 1000)
    assert kernel.code.total == 10
    assert kernel.code["store"] == 1
    expected = {"load": 1, "prefetch": 1, "sync": 1, "dpas": 2, "mov": 1, "jmpi": 1}
    assert kernel.loop.counts == expected
    assert kernel.loop.per_dpas("mov") == 0.5
    assert kernel.loop.per_dpas("other") == 2.5


def test_code_without_dpas_has_no_loop_to_report():
    kernel = report._parse(ASSEMBLY.replace("dpas.8x8", "add"), "pvc", 1000)
    assert kernel.loop is None
    assert math.isnan(kernel.code.per_dpas("mov"))
    assert "none" in report.format_table([kernel])
    assert report._parse("no assembly", "pvc", 0) is None


def test_statistics_of_a_real_kernel(spirv, tmp_path):
    (kernel,) = report.statistics(spirv, "pvc")
    assert kernel.kernel == "matmul_kernel"
    assert (kernel.spill_bytes, kernel.registers) == (0, 256)
    assert 0 < kernel.loop["dpas"] <= kernel.code["dpas"]
    # 32 dpas, 2 loads of A and 4 of B (at most) in each step of 32 along k, whatever the unrolling.
    assert kernel.loop["dpas"] % 32 == 0
    assert kernel.loop.per_dpas("load") <= 6 / 32
    path = tmp_path / "kernel.spv"
    path.write_bytes(spirv)
    assert report.statistics(path, xetile.Target("pvc")) == (kernel,)


def test_register_mode_can_be_chosen(spirv):
    (small,), (large,) = (report.statistics(spirv, "bmg", mode) for mode in (False, True))
    assert (small.registers, large.registers) == (128, 256)
    assert small.spill_bytes > large.spill_bytes == 0


def test_native_binaries_agree_with_the_report(spirv):
    kernel = xetile.compile(xetile.matmul(1024, 1024, 1024), native="require", native_chips=["pvc", "bmg"])
    for chip, code in kernel.native.items():
        (counted,) = report.statistics(kernel.spirv, chip)
        assert (counted.registers, counted.spill_bytes) == (code.registers, code.spill_bytes)


def test_input_that_does_not_suit_is_refused(spirv, tmp_path, monkeypatch):
    with pytest.raises(xetile.XeTileError, match="cannot read SPIR-V"):
        report.statistics(tmp_path / "gone.spv", "pvc")
    with pytest.raises(xetile.XeTileError, match="magic number 0x07230203"):
        report.statistics(b"not SPIR-V", "pvc")
    with pytest.raises(xetile.XeTileError, match="unknown chip 'xyz'; known: pvc, bmg, lnl"):
        report.statistics(spirv, "xyz")
    with pytest.raises(xetile.XeTileError, match=r"ocloc failed for device pvc \(status \d+\)"):
        report.statistics(spirv[:4] + b"nonsense", "pvc")
    with pytest.raises(xetile.XeTileError, match="the module has no kernel to count in"):
        report.statistics(spirv[:200], "pvc")
    monkeypatch.setenv("XETILE_OCLOC", "/nowhere/ocloc")
    with pytest.raises(xetile.XeTileError, match=r"ocloc was not found at '/nowhere/ocloc' \(XETILE_OCLOC\)"):
        report.statistics(spirv, "pvc")
