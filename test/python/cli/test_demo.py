# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make demo`."""

import re
import subprocess
import sys

from xetile import demo

LEVELS = ["0-linalg", "1-xetile-workgroup", "2-xetile-subgroup", "3-xetile-blocked", "4-xegpu", "5-xevm", "6-llvm"]


def test_demo_writes_its_files_and_checks_the_result(tmp_path, validate_spirv):
    run = subprocess.run([sys.executable, "-m", "xetile.demo", tmp_path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    names = {f"{level}.mlir" for level in LEVELS} | {"matmul.spv", "matmul.pvc.bin", "matmul.bmg.bin"}
    assert {path.name for path in tmp_path.iterdir()} == names
    validate_spirv((tmp_path / "matmul.spv").read_bytes())
    for name in names:
        assert str(tmp_path / name) in run.stdout
    assert 0 < float(re.search(r"max relative error +(\S+)", run.stdout)[1]) <= 1e-3
    assert re.search(r"kernel +[0-9.]+ ms, [0-9.]+ GFLOP/s", run.stdout)
    # Spilled bytes of the native binaries.
    assert re.findall(r"^(pvc|bmg) +\d+ +(\d+) ", run.stdout, re.MULTILINE) == [("pvc", "0"), ("bmg", "0")]


def test_demo_works_without_ocloc(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XETILE_OCLOC", "/nowhere/ocloc")
    assert demo.main(str(tmp_path)) == 0
    assert "no native binaries: ocloc was not found" in capsys.readouterr().out


def test_demo_fails_if_the_result_is_wrong(tmp_path, monkeypatch, capsys):
    evaluate = demo.reference.evaluate
    monkeypatch.setattr(demo.reference, "evaluate", lambda *arguments: [d * 1.1 for d in evaluate(*arguments)])
    assert demo.main(str(tmp_path)) == 1
    assert "the result is wrong" in capsys.readouterr().err
