# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XETILE_REPRODUCERS=DIR: what fails, or ends the process, is in a file that `xetile reduce` makes small."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import xetile
from xetile import XeTileError, passes
from xetile.cli import main
from xetile.mlir import ir
from xetile.system import tools

SCHEDULE = Path(__file__).resolve().parents[3] / "schedules" / "matmul.mlir"
# The schedule `matmul` refuses it.
FAILS = """func.func @f(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %p = linalg.softmax dimension(1) ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %p : tensor<32x64xf32>
}
"""
PASSES = f"builtin.module(xetile-compile{{target=pvc schedule={SCHEDULE} native=off}})"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XETILE_REPRODUCERS", str(tmp_path / "kept"))
    return tmp_path / "kept"


def reduced(file: Path, tmp_path: Path) -> str:
    assert main(["reduce", str(file), "-o", str(tmp_path / "small.mlir")]) == 0
    return (tmp_path / "small.mlir").read_text()


def test_what_does_not_compile_is_kept_and_reduced(folder, tmp_path):
    (tmp_path / "fails.mlir").write_text(FAILS)
    with pytest.raises(XeTileError, match=r"it is kept: xetile reduce (\S+) -o small\.mlir") as raised:
        xetile.compile(tmp_path / "fails.mlir", "matmul", target="pvc", native="off")
    schedule, file = sorted(folder.iterdir(), key=lambda path: len(path.name), reverse=True)
    assert str(file) in str(raised.value)
    assert "transform.named_sequence @__transform_main" in schedule.read_text()
    assert "linalg.softmax" in reduced(file, tmp_path)


def test_what_compiles_is_not_kept(folder):
    with ir.Context(), ir.Location.unknown():
        passes.run(ir.Module.parse("func.func @f() { return }"), "canonicalize")
    assert not list(folder.iterdir())


def test_what_ends_the_process_is_kept(folder):
    # Passes that end it are mended when they are found: the process is ended while one prints.
    code = (
        "import os\nfrom xetile.mlir import ir\nfrom xetile.passes.reproducers import reproducing\n"
        "with ir.Context(), ir.Location.unknown():\n"
        "  module = ir.Module.parse('func.func @f() { return }')\n"
        "  with reproducing(module, 'builtin.module(cse{a=\"b\"})'): os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 9
    (file,) = folder.iterdir()
    text = file.read_text()
    assert "func.func @f()" in text
    assert 'pipeline: "builtin.module(cse{a=\\"b\\"})"' in text


def test_xetile_opt_keeps_what_fails(folder, tmp_path):
    (tmp_path / "fails.mlir").write_text(FAILS)
    command = [tools.where("xetile-opt"), tmp_path / "fails.mlir", f"--pass-pipeline={PASSES}"]
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=dict(os.environ))
    assert run.returncode == 1
    found = re.search(r"xetile-opt: it is kept: xetile reduce (\S+) -o small\.mlir", run.stderr)
    assert found, run.stderr
    assert "linalg.softmax" in reduced(Path(found[1]), tmp_path)


def test_a_folder_that_cannot_be_made_is_told(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XETILE_REPRODUCERS", str(tmp_path / "file" / "kept"))
    with (
        ir.Context(),
        ir.Location.unknown(),
        pytest.raises(XeTileError, match=r"XETILE_REPRODUCERS=.*: Not a directory"),
    ):
        passes.run(ir.Module.parse("func.func @f() { return }"), "canonicalize")
