# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Native binaries and OpenCL C in `xetile report`, and `xetile diff`."""

import dataclasses
import subprocess

import pytest
import xetile
from xetile import XeTileError, report
from xetile.cli import main
from xetile.reports import assembly, native
from xetile.system import tools

pytestmark = pytest.mark.skipif(tools.find_ocloc() is None, reason="there is no ocloc")

COPY = "kernel void copy(global float4 *a, global float4 *b) { a[get_global_id(0)] = b[get_global_id(0)]; }\n"
SPILL = """__attribute__((intel_reqd_sub_group_size(32))) kernel void big(global float *a) {
  float v[200];
  for (int i = 0; i < 200; ++i) v[i] = a[get_global_id(0) + i * 1000];
  for (int i = 0; i < 200; ++i) a[get_global_id(0) + i * 3000] = v[199 - i] * v[(i * 7) % 200];
}
"""


def compile_native(spirv: bytes, folder, options: str = "") -> bytes:
    (folder / "k.spv").write_bytes(spirv)
    command = [tools.require_ocloc(), "compile", "-file", folder / "k.spv", "-spirv_input", "-device", "pvc", "-q"]
    command += ["-output", "k", "-output_no_suffix", "-out_dir", folder, "-options", options]
    subprocess.run(list(map(str, command)), cwd=folder, check=True, capture_output=True)
    return (folder / "k.bin").read_bytes()


def test_a_native_binary_is_counted_as_its_spirv_is(tmp_path):
    spirv = xetile.compile(xetile.matmul(1024, 1024, 1024), native="off").spirv
    (ours,) = report.statistics(spirv, "pvc", True)
    code = compile_native(spirv, tmp_path, "-ze-opt-large-register-file")
    assert native.is_native(code)
    assert not native.is_native(spirv)
    (theirs,) = native.statistics(code, "pvc")
    # The loader's prologue reads arguments: it is in the binary and not in the dump.
    assert dict(theirs.loop.counts) == dict(ours.loop.counts)
    assert theirs.purposes == ours.purposes
    same = ("kernel", "chip", "registers", "spill_bytes", "loaded_bytes", "operations", "operations_16")
    assert [getattr(theirs, name) for name in same] == [getattr(ours, name) for name in same]
    assert all(theirs.messages[key] >= times for key, times in ours.messages.items())


def test_binaries_for_another_device_are_refused():
    with pytest.raises(XeTileError, match="ocloc takes no kernel out of the binary for pvc"):
        native.statistics(b"\x7fELF" + bytes(14) + b"\xcd\x00" + bytes(100), "pvc")


def test_messages_of_a_dump():
    dump = """//.kernel k
        load.ugm.d32x64t.a64 (1|M0)  r6:4 [r10:1]
        load.ugm.d32x4.a64 (32|M0)  r6:8 [r10:4]
        load.slm.d32.a32 (16|M0)  r6:1 [r10:1]
        store.ugm.d8u32.a64 (16|M0)  [r10:2] r6:1
"""
    kernel = report.count(assembly.read(dump), "pvc", 1)
    assert kernel.messages == {
        ("load", "1D", 256): 1,
        ("load", "scattered", 512): 1,
        ("load", "shared", 64): 1,
        ("store", "scattered", 16): 1,
    }
    told = report.describe_messages(kernel).splitlines()
    assert told[0] == "k on pvc, all of its messages"
    assert [line.split() for line in told[2:]][0] == ["load", "1D", "256", "1"]
    assert report.describe_messages(dataclasses.replace(kernel, messages={})) == ""


def test_opencl_c_is_reported(tmp_path, capsys):
    path = tmp_path / "k.cl"
    path.write_text(COPY)
    assert main(["report", str(path), "--device", "pvc", "--device", "bmg"]) == 0
    printed = capsys.readouterr().out
    assert "copy on pvc, all of its messages" in printed
    assert "copy on bmg, all of its messages" in printed
    path.write_text("kernel void copy( {")
    assert main(["report", str(path), "--device", "pvc"]) == 1
    assert "ocloc does not compile it" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "none.cl"), "--device", "pvc"]) == 1
    assert "there is no such file" in capsys.readouterr().err


def test_diff_tells_what_changed_and_fails_on_limits(tmp_path, capsys):
    few, many = tmp_path / "few.cl", tmp_path / "many.cl"
    few.write_text(COPY)
    many.write_text(SPILL)
    command = ["diff", str(few), str(many), "--device", "pvc", "--no-large-registers"]
    assert main(command) == 0
    lines = {line.split()[2]: line.split() for line in capsys.readouterr().out.splitlines()[2:]}
    assert lines["spill_bytes"][0] == "big"  # each side has one kernel: they are compared
    assert lines["spill_bytes"][3] == "0"
    assert float(lines["spill_bytes"][4]) > 0
    assert lines["spill_bytes"][-1] == "worse"
    assert main([*command, "--limit", "spill_bytes=0"]) == 1
    assert "big on pvc: spill_bytes is" in capsys.readouterr().out
    assert main([*command, "--limit", "spill_bytes=1000000"]) == 0
    assert main([*command, "--tolerance", "5%"]) == 1
    assert main(["diff", str(many), str(few), *command[3:], "--tolerance", "5%"]) == 0
    capsys.readouterr()
    assert main([*command, "--limit", "splil=0"]) == 1
    assert "--limit: expected a figure of these kernels" in capsys.readouterr().err


def test_diff_takes_what_report_printed(tmp_path, capsys):
    path, kept = tmp_path / "k.cl", tmp_path / "k.json"
    path.write_text(COPY)
    assert main(["report", str(path), "--device", "pvc", "--json"]) == 0
    kept.write_text(capsys.readouterr().out)
    assert main(["diff", str(kept), str(path), "--device", "pvc", "--tolerance", "0"]) == 0


def test_compiled_code_has_its_registers(tmp_path, capsys):
    path = tmp_path / "k.bin"
    path.write_bytes(b"\x7fELF" + bytes(14) + b"\xcd\x00" + bytes(100))
    assert main(["report", str(path), "--device", "pvc", "--large-registers"]) == 1
    assert "is compiled already: leave it out" in capsys.readouterr().err
