# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine-code statistics."""

import dataclasses
import math

import pytest
import xetile
from xetile import report, targets
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.reports import assembly, baseline
from xetile.reports.launches import Launches, launches_in

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
    assert kernel.bytes_per_dpas == 2048 / 2
    assert kernel.purposes == {"load": 1, "prefetch": 1, "sync": 1, "dpas": 2, "payload": 1, "loop": 1}


def test_kernels_of_a_program_are_summed():
    one = report._parse(ASSEMBLY, "pvc", 1000)
    two = dataclasses.replace(one, kernel="other", registers=128, spill_bytes=64, loop=None)
    launches = {"some_kernel": Launches(3, 1), "other": Launches(1)}
    lines = [line.split() for line in report.format_table([one, two], launches).splitlines()]
    assert lines[0][5:8] == ["instructions", "launches", "|"]
    assert lines[1][6:] == ["3,", "1", "in", "loops", "|", "2", "0.50", "0.50", "2.50", "1024"]
    assert lines[2][6:] == ["1", "|", "none"]
    assert " ".join(lines[3]) == "all 2 kernels pvc 1000 256 192 20 4, 1 in loops | 2"
    # One kernel is its own sum.
    assert len(report.format_table([one], launches).splitlines()) == 2
    assert "launches" not in report.format_table([one, two])


def test_launches_are_counted_by_kernel_and_in_loops():
    module = """
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @a(%x: memref<4xf32>) kernel { gpu.return }
    gpu.func @b(%x: memref<4xf32>) kernel { gpu.return }
  }
  func.func @f(%x: memref<4xf32>, %n: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @device::@b blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    scf.for %i = %c1 to %n step %c1 {
      gpu.launch_func @device::@a blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
      gpu.launch_func @device::@b blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    }
    return
  }
  func.func @g(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @device::@a blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    return
  }
}"""
    with ir.Context():
        parsed = ir.Module.parse(module)
    assert launches_in(parsed.operation) == {"b": Launches(2, 1), "a": Launches(2, 1)}
    assert list(launches_in(parsed.operation, "f").items()) == [("b", Launches(2, 1)), ("a", Launches(1, 1))]
    assert launches_in(parsed.operation, "g") == {"a": Launches(1, 0)}


def test_each_instruction_of_the_loop_has_a_purpose():
    # What ocloc makes of a k loop on pvc, a dpas for each of many.
    text = """//.kernel k
_0_004:
(W)     mov (1|M0)               r125.6<1>:d   r100.8<0;1,0>:d                  //  ALU pipe: int; $330
(W)     add (1|M0)               r100.8<1>:d   r100.8<0;1,0>:d   32:w           //  ALU pipe: int; $367
        load_block2d.ugm.d16.a64.ca.ca (1|M0)  null:0 [r100:1]     {I@1,$12} // ex_desc:0x0; desc:0x2080203 // $324
(W)     mov (8|M0)               r34.0<1>:f    r125.0<1;1,0>:f                  {Compacted} //  ALU pipe: float; $332
        load_block2d.ugm.d16v.a64 (1|M0)  r36:31 [r125:1]          {A@5,$14} // ex_desc:0x0; desc:0x3F00283 // $331
        load_block2d.ugm.d16v.a64 (1|M0)  r68:16 [r34:1+(0x20,0x0)] {$15} // ex_desc:0x20000; desc:0x3F00283
(W)     cmp (16|M0)   (eq)f0.0   null<1>:d     r100.8<0;1,0>:d   4096:w         //  ALU pipe: int; $368
(W)     mov (1|M0)               null<1>:ud    r100.0<0;1,0>:ud                 {Compacted} // $325
(W)     add (1|M0)               r126.6<1>:d   r126.6<0;1,0>:d   32:w           //  ALU pipe: int; $327
        mov (16|M0)              r40.0<1>:f    r72.0<1;1,0>:f
        mul (16|M0)              r41.0<1>:f    r72.0<1;1,0>:f    r40.0<1;1,0>:f
        dpas.8x8 (16|M0)         r10:f         r10:f             r6:hf             r8.0:hf  {Atomic}
        dpas.8x4 (16|M0)         r18:d         r18:d             r6:b              r9.0:ub  {$1}
        sync.allwr                           ($11,$15,$16)                            // $335
(W&~f0.0) jmpi                               _0_004                                 //  ALU pipe: int; $369
"""
    loop = assembly.read(text).hottest()
    assert [purpose for purpose, _ in loop.explained()] == [
        *("payload", "loop", "prefetch", "payload", "load", "load", "loop", "sync", "address"),
        *("copy", "compute", "dpas", "dpas", "sync", "loop"),
    ]
    assert set(loop.purposes()) <= set(assembly.PURPOSES)
    # A field of 5 bits says 31 for 32 registers of 64 bytes.
    assert loop.loaded_bytes() == (32 + 16) * 64
    # 16 lanes, depth 8, 8 or 4 rows, 2 or 4 products in 32 bits, each a multiplication and an addition.
    assert loop.operations() == 2 * 16 * 8 * (8 * 2 + 4 * 4)
    assert loop.operations_of_16_bits() == 2 * 16 * 8 * (8 + 4) * 2
    assert loop.caches() == {"prefetch ca.ca": 1, "load default": 2}


def test_messages_are_told_by_kind_and_bytes():
    text = """//.kernel k
(W)     load.ugm.d32x8t.a32.ca.ca (1|M0)  r1:1  bti[255][r127:1]   {A@1,$0} // ex_desc:0xFF000000; desc:0x6218C500
        load_block2d.ugm.d16.a64 (1|M0)  r6:31   [r5:1]   {$2} // ex_desc:0x0
        load_block2d.ugm.d16.a64.ca.ca (1|M0)  null:0 [r4:1]  {A@1,$6} // ex_desc:0x0
        store_block2d.ugm.d32.a64 (1|M0)  [r3:1] r162:8            {$7}
(W)     load.ugm.d32x64t.a64 (1|M0)  r30:4      [r14:1]            {$1} // ex_desc:0x0; desc:0x240F580
(W)     store.ugm.d64x64t.a64 (1|M0)  [r117:1]  r109:8             {$1} // ex_desc:0x0; desc:0x200F784
(W)     load.ugm.d32x1t.a64 (1|M0)  r9:1        [r8:1]             {I@1,$3}
        load.ugm.d16u32.a64 (16|M0)  r9:1        [r8:2]            {I@1,$3}
        store.ugm.d32x4.a64 (16|M0)  [r34:2]    r22:4              {A@1,$4}
        store.slm.d32.a32 (16|M0)  [r34:1]    r22:1              {A@1,$4}
        mov (16|M0)              r40.0<1>:f    r72.0<1;1,0>:f
"""
    assert [instruction.message for instruction in assembly.read(text).code] == [
        *(None, ("2D", 2048), None, ("2D", 512), ("1D", 256), ("1D", 512), ("one", 4)),
        *(("scattered", 32), ("scattered", 256), ("shared", 64), None),
    ]


def test_the_hottest_loop_has_most_dpas_not_most_instructions():
    def loop(label: str, *code: str) -> str:
        return "\n".join([f"{label}:", *code, f"(W&f0.0) jmpi    {label}"])

    move = "        mov (16|M0)              r40.0<1>:f    r72.0<1;1,0>:f"
    dpas = "        dpas.8x8 (16|M0)         r10:f         r10:f             r6:hf             r8.0:hf"
    text = "//.kernel k\n"
    text += "\n".join([loop("_0_001", *[move] * 9, dpas), loop("_0_002", dpas, dpas), loop("_0_003", *[move] * 12)])
    program = assembly.read(text)
    assert [len(each.code) for each in program.loops] == [11, 3, 13]
    assert program.hottest() is program.loops[1]
    # Loops in loops: the inner one is turned oftener, and has as many as the outer.
    nested = "//.kernel k\n" + loop("_0_001", move, loop("_0_002", dpas), move)
    program = assembly.read(nested)
    assert [len(each.code) for each in program.loops] == [2, 5]
    assert program.hottest() is program.loops[0]


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


def test_the_roofline_follows_from_bytes_and_rates():
    kernel = report._parse(ASSEMBLY, "pvc", 1000)
    line = kernel.roofline()
    # Two dpas of 4096 operations with 2048 bytes; a core of pvc does one dpas in a cycle.
    assert line.operations_per_byte == 4
    assert line.peak_per_second == pytest.approx(128 * 4096 * 1.6e9)
    assert line.loads_per_second == pytest.approx(128 * 1.6e9 * 1024)
    assert line.memory_share == pytest.approx(128 * 1.6e9 * 1024 / 3276.8e9)
    text = report.describe(kernel)
    assert "4.0 operations a byte; at the peak of Data Center GPU Max 1550, 839 TOP/s" in text
    assert "caches: 1 x load default, 1 x prefetch ca.ca" in text
    without = report._parse(ASSEMBLY.replace("dpas.8x8", "add"), "pvc", 1000)
    assert without.roofline() is None
    assert report.describe(without) == ""


def test_a_worse_figure_is_told_and_a_better_one_is_not(tmp_path):
    before = report._parse(ASSEMBLY, "pvc", 1000)
    path = tmp_path / "baseline.json"
    baseline.write(path, [before])
    same = baseline.compare([before], baseline.read(path))
    assert [one.figure for one in same] == list(baseline.FIGURES)
    assert not any(one.is_worse(0) for one in same)
    worse = report._parse(ASSEMBLY.replace("spill size 128", "spill size 130"), "pvc", 1000)
    differences = baseline.compare([worse], baseline.read(path))
    assert [one.figure for one in differences if one.is_worse(0)] == ["spill_bytes"]
    assert [one.figure for one in differences if one.is_worse(0.02)] == []
    better = report._parse(ASSEMBLY.replace("spill size 128", "spill size 0"), "pvc", 1000)
    assert not any(one.is_worse(0) for one in baseline.compare([better], baseline.read(path)))
    # From none to some is worse by any tolerance.
    baseline.write(path, [better])
    assert [one.figure for one in baseline.compare([worse], baseline.read(path)) if one.is_worse(9)] == ["spill_bytes"]
    assert "spill_bytes  0       130" in baseline.format_differences(baseline.compare([worse], baseline.read(path)))
    gone = baseline.compare([report._parse(ASSEMBLY.replace("dpas.8x8", "add"), "pvc", 1)], baseline.read(path))
    assert any(one.is_worse(9) and one.now is None for one in gone)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON"),
        ("[]", "version is not 1"),
        ('{"version": 1}', "no list of kernels"),
        ('{"version": 1, "kernels": [1]}', "a kernel is no object"),
        ('{"version": 1, "kernels": [{"kernel": "k"}]}', "lacks its name, chip or figures"),
        ('{"version": 1, "kernels": [{"kernel": "k", "chip": "pvc", "figures": {"mov/dpas": "x"}}]}', "is no number"),
        ('{"version": 1, "kernels": [{"kernel": "k", "chip": "pvc", "figures": {"mov/dpas": NaN}}]}', "is no number"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path, content, message):
    path = tmp_path / "baseline.json"
    path.write_text(content)
    with pytest.raises(xetile.XeTileError, match=message):
        baseline.read(path)


def test_kernels_that_have_nothing_in_common_are_refused():
    kernel = report._parse(ASSEMBLY, "pvc", 1000)
    with pytest.raises(
        xetile.XeTileError, match=r"the kernels are some_kernel \(pvc\), those of the other side k \(bmg\)"
    ):
        baseline.compare([kernel], {("k", "bmg"): {}})


def test_each_chip_has_rates():
    """A chip is a row of two tables, TargetInfo.cpp's and MachineFacts.cpp's."""
    chips = {target.name for target in targets.available() if target.has_device}
    assert {entry["chip"] for entry in _xetile.rates()} == chips


def test_instructions_have_the_lines_that_stand_before_them():
    program = assembly.read(
        '//.kernel "k"\nL0:\n        mov (1|M0) r1.0<1>:ud 0x0:ud // $1\n\n// Line 7:  a source\n'
        "        add (1|M0) r1.0<1>:ud r1.0<0;1,0>:ud 0x1:ud // $2\n// Line 12\nL1:\n        nop\n"
    )
    assert program is not None
    assert [(one.opcode, one.line) for one in program.code] == [("mov", 0), ("add", 7), ("nop", 12)]
