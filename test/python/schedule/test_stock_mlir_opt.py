# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules by a released mlir-opt with the plugin, without Python: files, and what `print` gives of a function."""

import subprocess
from pathlib import Path

import pytest
from test_schedule_functions import MATMUL, PAYLOAD, PAYLOADS, ROOT, WRITTEN, parse
from xetile import schedule
from xetile.system.tools import where


def stock_mlir_opt(payload: Path, libraries: str) -> str:
    """What a released mlir-opt makes of a payload by schedules in files, without Python."""
    plugin = where("plugin")
    command = ["mlir-opt-22", f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}", str(payload)]
    command += [f"--transform-preload-library=transform-library-paths={libraries}", "--transform-interpreter"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("name", WRITTEN)
def test_stock_mlir_opt_makes_the_same_of_a_file(tmp_path, name):
    payload = tmp_path / "payload.mlir"
    payload.write_text(PAYLOAD[name])
    schedules = ROOT / "schedules"
    made = stock_mlir_opt(payload, f"{schedules / 'parts'},{schedules / name}.mlir")
    assert str(parse(made)) == str(schedule.load(name).apply(parse(PAYLOAD[name])))


def test_stock_mlir_opt_runs_what_is_printed(tmp_path):
    path = tmp_path / "mine.mlir"
    path.write_text(str(MATMUL.with_params(workgroup_m=64, workgroup_n=64, subgroups_m=2, subgroups_n=2, k_step=32)))
    made = stock_mlir_opt(PAYLOADS / "matmul_f16.mlir", str(path))
    assert "xetile.tile_mma" in made
    assert "sg_layout = [2, 2], sg_data = [32, 32]" in made
