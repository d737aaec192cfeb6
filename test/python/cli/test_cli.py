# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `xetile`, in processes of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from xetile.cli import main
from xetile.kernels.kernel import Kernel

LEVELS = ["0-linalg", "1-xetile-workgroup", "2-xetile-subgroup", "3-xetile-blocked", "4-xegpu", "5-xevm", "6-llvm"]
SMALL = ["--set", "workgroup_m=128", "--set", "subgroups_m=4"]


@pytest.fixture
def payload(tmp_path) -> Path:
    a, b, c = "tensor<256x128xf16>", "tensor<128x256xf16>", "tensor<256x256xf32>"
    path = tmp_path / "small.mlir"
    path.write_text(
        f"func.func @small(%A: {a}, %B: {b}, %C: {c}) -> {c} {{\n"
        f"  %D = linalg.matmul ins(%A, %B : {a}, {b}) outs(%C : {c}) -> {c}\n"
        f"  return %D : {c}\n}}\n"
    )
    return path


def xetile(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "xetile.cli", *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def succeed(*arguments: str | Path, **environment: str) -> str:
    run = xetile(*arguments, **environment)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout


def fail(*arguments: str | Path, status: int = 1, **environment: str) -> str:
    """The message; there is nothing else, a traceback least of all."""
    run = xetile(*arguments, **environment)
    assert run.returncode == status, run.stderr
    assert "Traceback" not in run.stderr
    if status == 1:
        assert run.stderr.startswith("xetile: error: ")
    return run.stderr


@pytest.mark.parametrize(
    ("emit", "decisive"),
    [
        ("xetile", b"#xetile.wg_map"),
        ("xegpu", b"xegpu.dpas"),
        ("xevm", b"xevm.mma"),
        ("llvm", b"gpu.binary"),
        ("native", b"\x7fELF"),
    ],
)
def test_compile_emits_each_level(payload, tmp_path, emit, decisive):
    out = tmp_path / "out"
    assert succeed("compile", payload, "-o", out, "--emit", emit, *SMALL) == ""
    assert decisive in out.read_bytes()


def test_compile_writes_spirv_that_is_valid(payload, tmp_path, validate_spirv):
    out = tmp_path / "kernel.spv"
    succeed("compile", payload, "-o", out, "--target", "bmg")
    validate_spirv(out.read_bytes())


def test_compile_writes_text_to_stdout(payload):
    assert "xetile.tile_mma" in succeed("compile", payload, "-o", "-", "--emit", "xetile")


def test_compile_stops_at_the_level_that_is_emitted(payload, tmp_path):
    """A missing ocloc matters to machine code only."""
    succeed("compile", payload, "-o", tmp_path / "k", "--emit", "spirv", XETILE_OCLOC="/nowhere/ocloc")
    message = fail("compile", payload, "-o", tmp_path / "k", "--emit", "native", XETILE_OCLOC="/nowhere/ocloc")
    assert "ocloc was not found" in message
    assert "scripts/install-ocloc" in message


def test_dump_stages_writes_all_levels(payload, tmp_path):
    succeed("compile", payload, "-o", tmp_path / "k", "--emit", "xegpu", "--dump-stages", tmp_path / "stages")
    assert sorted(path.stem for path in (tmp_path / "stages").iterdir()) == LEVELS
    assert (tmp_path / "stages" / "4-xegpu.mlir").read_text() == (tmp_path / "k").read_text()


def test_dump_stages_writes_the_levels_before_a_failure(payload, tmp_path):
    fail("compile", payload, "-o", tmp_path / "k", "--dump-stages", tmp_path / "stages", "--set", "k_step=24")
    assert [path.stem for path in (tmp_path / "stages").iterdir()] == LEVELS[:1]
    assert not (tmp_path / "k").exists()


def test_set_changes_the_tiling(payload):
    text = succeed("compile", payload, "-o", "-", "--emit", "xetile", *SMALL, "--set", "prefetch=0")
    assert "sg_layout = [4, 4], sg_data = [32, 64]" in text
    assert "prefetch = 0 : i64, subgroups = array<i64: 4, 4>, workgroup = array<i64: 128, 256>" in text
    assert "prefetch_tile" not in text


def test_run_tells_the_time_of_the_call_where_it_has_several_kernels():
    tutorial = Path(__file__).resolve().parents[3] / "examples" / "tutorial"
    output = succeed("run", tutorial / "5_epilogue" / "mlp.mlir", "--check")
    assert re.search(r"^2 kernels; call [0-9.]+ ms, [0-9.]+ GFLOP/s; link of the last one", output, re.MULTILINE)


def test_run_checks_against_numpy(payload):
    output = succeed("run", payload, "--check", "--repeat", "2", *SMALL)
    assert "small(256x128xf16, 128x256xf16, 256x256xf32) -> (256x256xf32) for pvc, on " in output
    assert re.search(r"kernel [0-9.]+ ms, [0-9.]+ GFLOP/s; call [0-9.]+ ms; link [0-9.]+ s", output)
    error, seed = re.search(r"max\|d - ref\| / max\|ref\| = (\S+), .* seed (\d+)", output).groups()
    assert 0 < float(error) < 1e-5, output
    again = succeed("run", payload, "--check", "--seed", seed, *SMALL)
    assert f"= {error}" in again


def test_run_without_check_says_so(payload):
    assert "random arrays of seed 7; not checked" in succeed("run", payload, "--seed", "7")


@pytest.mark.parametrize("spoil", [lambda d: d + 0.01 * abs(d).max(), lambda d: d * np.nan], ids=["off", "nan"])
def test_a_wrong_result_fails_the_check(payload, monkeypatch, capsys, spoil):
    call = Kernel.__call__
    monkeypatch.setattr(Kernel, "__call__", lambda self, *arrays: spoil(call(self, *arrays)))
    assert main(["run", str(payload), "--check"]) == 1
    assert "the results are wrong: relative error" in capsys.readouterr().err


def test_a_mistake_of_ours_is_one_message_too(payload, monkeypatch, capsys):
    monkeypatch.setattr(Kernel, "__call__", lambda self, *arrays: 1 // 0)
    monkeypatch.delenv("XETILE_TRACEBACK", raising=False)
    assert main(["run", str(payload)]) == 1
    assert capsys.readouterr().err.startswith("xetile: internal error: ZeroDivisionError: ")


def test_run_without_a_device_is_an_error(payload):
    assert "XETILE_DEVICE='nosuch' matches no OpenCL device" in fail("run", payload, XETILE_DEVICE="nosuch")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "tile=1"], "has no parameter 'tile'; it has workgroup_m, workgroup_n, subgroups_m, "),
        (["--set", "k_step"], "--set k_step: expected KEY=VALUE"),
        (["--set", "k_step=big"], "--set k_step=big: expected an integer, got 'big'"),
        (["--set", "k_step=-1"], "k_step: expected 0 or more, got -1"),
        (["--set", "target=bmg"], "expected --target bmg"),
        (["--set", "workgroup_n=100"], "workgroup_n = 100 over subgroups_n = 1 gives each subgroup 100 of n"),
        (["--target", "tpu"], "unknown chip 'tpu'; known: bmg, cpu, lnl, pvc"),
        (["--schedule", "nosuch"], "no schedule 'nosuch'"),
    ],
)
def test_options_that_do_not_suit_are_one_message(payload, arguments, message):
    assert message in fail("compile", payload, "-o", "-", *arguments)


def test_files_that_cannot_be_read_or_written_are_errors(payload, tmp_path):
    assert "gone.mlir: there is no such file" in fail("compile", tmp_path / "gone.mlir", "-o", "-")
    assert "cannot write" in fail("compile", payload, "-o", tmp_path / "no" / "k", "--emit", "xetile")
    assert "cannot write a stage" in fail("compile", payload, "-o", "-", "--dump-stages", payload)
    assert "cannot read SPIR-V" in fail("report", tmp_path / "gone.spv", "--device", "pvc")
    assert "magic number" in fail("report", payload, "--device", "pvc")
    payload.write_text("func.func @f() { return 1 }")
    assert f"{payload}:1:" in fail("run", payload)


@pytest.mark.parametrize("arguments", [[], ["frob"], ["compile"], ["run", "x", "--repeat", "0"], ["report", "x"]])
def test_usage_errors_have_status_2(arguments):
    assert "usage: xetile" in fail(*arguments, status=2)


def test_a_closed_pipe_is_no_error_message(payload):
    code = f"{sys.executable} -m xetile.cli schedules | true"
    run = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
    assert run.stderr == ""


def test_schedules_lists_parameters_with_defaults_and_docs():
    output = succeed("schedules")
    files = {path.stem for path in (Path(main.__code__.co_filename).parents[1] / "schedules").glob("*.mlir")}
    assert [line for line in output.splitlines() if line and line[0] != " "] == sorted(files - {"cpu_fuse", "match"})
    assert {"attention", "cpu_model", "gpu_model", "matmul"} < files
    assert re.search(r"^  loopOrder +-1 +>= -1 <= 5 ", output, re.MULTILINE)
    assert re.search(r"^  k_step +0 +>= 0 +columns of A and rows of B per step of the k loop$", output, re.MULTILINE)
    assert re.search(r"^  prefetch +-1 +>= -1 <= 64 ", output, re.MULTILINE)
    told = succeed("schedules", "scan").partition("  Machine code")[0].rstrip().rpartition("\n\n")[2]
    assert told and told in output
    assert "no schedule 'nosuch'" in fail("schedules", "nosuch")


def test_schedules_of_a_name_tells_its_algorithm(tmp_path):
    text = (Path(main.__code__.co_filename).parents[1] / "schedules" / "attention.mlir").read_text()
    head = [line[2:].strip() for line in text.partition("\nmodule")[0].splitlines()[1:]]
    name, about, knobs, figures = re.fullmatch(
        r"(\w+)\n(.*)\n\n(  workgroup_m.*)\n(  Machine code.*)", succeed("schedules", "attention"), re.S
    ).groups()
    assert name == "attention" and "top = t" in about
    assert [line.strip() for line in about.splitlines()] == head
    assert knobs in succeed("schedules")
    first = r"  Machine code, at most \(make bench\):\n  attention, heads of 64, f16 +[\d.]+ on pvc, [\d.]+ on bmg: "
    assert re.match(first, figures)
    bare = tmp_path / "bare.mlir"
    bare.write_text(text[text.index("module") :])
    assert succeed("schedules", str(bare)) == f"{bare}\n{knobs}"


CHAINS = '''
from dataclasses import dataclass
from helping import TARGET
from xetile.schedule import Module, define, knob, ops, parts
from xetile.schedule.handles import Function

@dataclass
class Defaults:
    rows: "int" = 0

@define
def chains(module: Module, *, rows: int = knob(Defaults().rows, min=0, doc="rows of a tile"),
           target: str = knob(TARGET, doc="chip to compile for")) -> Module:
    """for each workgroup: a tile of the results"""
    function = ops.match(module, Function, ops=["func.func"])
    tiles = ops.to_tiles(function, rows, 0, 0, 0, elementwise=True)
    parts.clean_tiles(module)
    buffers = parts.bufferize(module)
    outlined, kernel = parts.outline_kernel(buffers, tiles.subgroups_m, tiles.subgroups_n, target)
    ops.apply_registered_pass(kernel, "xetile-infer-wg-map")
    return outlined
'''
CHAIN = """func.func @chain(%a: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %e = tensor.empty() : tensor<64x96xf32>
  %c = linalg.exp ins(%a : tensor<64x96xf32>) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %c : tensor<64x96xf32>
}"""


@pytest.fixture
def chains(tmp_path):
    """A schedule that is a Python function, which imports from beside it; and a payload."""
    (tmp_path / "helping.py").write_text('TARGET = "bmg"\n')
    (tmp_path / "mine.py").write_text(CHAINS)
    (tmp_path / "chain.mlir").write_text(CHAIN)
    return tmp_path


def test_a_schedule_of_a_python_file_is_one_of_a_command(chains):
    plain = succeed("compile", chains / "chain.mlir", "--schedule", f"{chains}/mine.py", "-o", "-", "--emit", "xetile")
    named = ["--schedule", f"{chains}/mine.py:chains"]
    tiles = [
        re.search(r"xetile.store_tile .*vector<(\d+)x\d+xf32>", text)[1]
        for text in (
            plain,
            succeed("compile", chains / "chain.mlir", *named, "--set", "rows=16", "-o", "-", "--emit", "xetile"),
        )
    ]
    assert tiles[0] != "16" and tiles[1] == "16"
    # The schedule's own target.
    assert "// for bmg" in succeed("compile", chains / "chain.mlir", *named, "-o", "-", "--emit", "header")
    listed = succeed("schedules", f"{chains}/mine.py:chains").splitlines()
    assert listed[1:3] == ["  for each workgroup: a tile of the results", ""]
    assert re.fullmatch(r"  rows +0 +>= 0 +rows of a tile", listed[3])


@pytest.mark.parametrize(
    "text, name, message",
    [
        (
            CHAINS,
            ":chain",
            "mine.py: expected chain, a schedule, a function under @xetile.schedule.define; it defines chains",
        ),
        ("x = 3", "", "mine.py: expected one schedule, or FILE.py:NAME, a function under @xetile.schedule.define; it"),
        (CHAINS + "other = chains.with_params(rows=8)", "", "expected one schedule, or FILE.py:NAME, "),
        ("\n1 / 0", "", "mine.py:2: reading it fails: ZeroDivisionError"),
        (CHAINS.replace("return outlined", "return module"), "", "mine.py:"),
        (None, "", "mine.py: there is no such file"),
    ],
)
def test_python_files_without_the_schedule_are_one_message(chains, text, name, message):
    (chains / "mine.py").unlink() if text is None else (chains / "mine.py").write_text(text)
    arguments = ["compile", chains / "chain.mlir", "--schedule", f"{chains}/mine.py{name}", "-o", "-"]
    assert message in fail(*arguments)


def test_report_counts_for_each_device(payload, tmp_path):
    succeed("compile", payload, "-o", tmp_path / "k.spv")
    lines = succeed("report", tmp_path / "k.spv", "--device", "pvc", "--device", "bmg").splitlines()
    assert lines[0].split()[:6] == ["kernel", "chip", "bytes", "registers", "spill", "instructions"]
    assert [line.split()[:2] for line in lines[1:3]] == [["small_kernel", "pvc"], ["small_kernel", "bmg"]]
    assert any(line.startswith("small_kernel on bmg, a turn of its loop") for line in lines)
    assert "unknown chip 'xyz'" in fail("report", tmp_path / "k.spv", "--device", "xyz")


def test_report_checks_and_compares_with_what_was_kept(payload, tmp_path):
    spirv, kept = tmp_path / "k.spv", tmp_path / "kept.json"
    succeed("compile", payload, "-o", spirv)
    report = ["report", spirv, "--device", "pvc"]
    kept.write_text(succeed(*report, "--json"))
    assert "worse" not in succeed(*report, "--check", kept)
    assert "from " + str(kept) in succeed(*report, "--compare", kept)
    assert "other/dpas" in succeed(*report, "--compare", spirv)
    content = json.loads(kept.read_text())
    figures = content["kernels"][0]["figures"]
    now = figures["other/dpas"]
    figures["other/dpas"] = now / 1.04
    kept.write_text(json.dumps(content))
    succeed(*report, "--check", kept, "--tolerance", "5%")
    run = xetile(*report, "--check", kept, "--tolerance", "0.03")
    assert run.returncode == 1
    (line,) = run.stdout.splitlines()[1:]
    assert line.split()[:3] == ["small_kernel", "pvc", "other/dpas"]
    assert line.split()[-2:] == ["+4.0%", "worse"]
    assert "expected a share such as 5% or 0.05, got '-1'" in fail(*report, "--check", kept, "--tolerance=-1", status=2)
    assert "is no baseline" in fail(*report, "--check", spirv)


def test_doctor_finds_everything_here():
    output = succeed("doctor")
    found = {line[9:24].strip(): line[:8].strip() for line in output.splitlines() if line[:8].strip()}
    assert found["bindings"] == found["runtime"] == found["devices"] == found["LLVM and MLIR"] == "ok"
    assert "22." in output
    assert "(selected)" in output


def test_doctor_says_what_to_do_and_fails_for_what_is_essential():
    run = xetile("doctor", XETILE_DEVICE="nosuch", XETILE_OCLOC="/nowhere/ocloc")
    assert run.returncode == 1
    assert re.search(r"^MISSING +XETILE_DEVICE .*nosuch", run.stdout, re.MULTILINE)
    assert re.search(r"^missing +ocloc .*\n +-> for native binaries: scripts/install-ocloc", run.stdout, re.MULTILINE)
    assert xetile("doctor", XETILE_OCLOC="/nowhere/ocloc").returncode == 0


def test_help_needs_no_mlir():
    code = "import sys, xetile.cli\ntry: xetile.cli.main(['--help'])\nexcept SystemExit: pass\n"
    code += "print([name for name in sys.modules if name.startswith('xetile.mlir')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.rstrip().endswith("[]")


def test_layout_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Its own tests are in test_layout.py."""
    arguments = ["layout", "--dpas", "A", "--shape", "256x32", "--type", "f16", "--subgroups", "8x4"]
    assert main([*arguments, "--rep-cluster", "4x2", "--json"]) == 0
    (message,) = json.loads(capsys.readouterr().out)["messages"]
    assert (message["width"], message["height"], message["blocks"]) == (16, 32, 2)
    assert main([*arguments, "--rep-cluster", "3x2"]) == 1
    assert "rep" in capsys.readouterr().err
