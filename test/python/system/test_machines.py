# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whose machine code is chosen for: the one that a module describes, or this one, less what the environment takes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import machines
import pytest
from xetile.targets import cpu_calibration as calibration

ROOT = Path(__file__).parents[3]
PLAIN = """func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>)
      -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}"""


def explain(folder: Path, text: str, **environment: str) -> str:
    """What `xetile explain` tells, in a process with the environment of tests and more; "" removes a variable."""
    path = folder / "payload.mlir"
    path.write_text(text)
    variables = {name: value for name, value in (dict(os.environ) | environment).items() if value}
    command = [sys.executable, "-m", "xetile.cli", "explain", path, "--target", "cpu"]
    run = subprocess.run(command, env=variables, capture_output=True, text=True)
    return run.stdout + run.stderr


def described(text: str, entries: str) -> str:
    spec = f'#dlti.target_system_spec<"CPU" = #dlti.target_device_spec<{entries}>>'
    return f"module attributes {{dlti.target_system_spec = {spec}}} {{\n{text}\n}}"


def plant(folder: Path) -> None:
    """A calibration in a cache, of a machine such as there is none."""
    code = """
import json
from xetile import calibration, files
content = calibration._holds() | {"rates": {"multiply_add_ns": 0.2, "copy_l2_ns": 25.0}, "spread": {}}
path = calibration._path()
path.parent.mkdir(parents=True)
files.write(path, json.dumps(content | {"digest": calibration._digest(content)}))
"""
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"XETILE_CACHE": str(folder)}, check=True)


# Less than twice, and more than half, of what any CPU of the table has: others are limited.
WILD = "ns: multiply-add of f32 0.20,"


def test_a_kept_calibration_changes_no_test(tmp_path):
    plant(tmp_path)
    cache = {"XETILE_CACHE": str(tmp_path)}
    told = explain(tmp_path, PLAIN, **cache)
    assert "ns: multiply-add" in told
    assert WILD not in told
    # It would be taken.
    assert WILD in explain(tmp_path, PLAIN, **cache, XETILE_CALIBRATION="")


def test_lit_takes_no_kept_calibration(tmp_path):
    """The same of a test that lit runs."""
    plant(tmp_path)
    suite = tmp_path / "suite"
    suite.mkdir()
    (tmp_path / "payload.mlir").write_text(PLAIN)
    (suite / "wild.test").write_text(
        "RUN: %python -m xetile.cli explain %S/../payload.mlir --target cpu > %S/told\n"
        "RUN: env XETILE_CALIBRATION= %python -m xetile.cli explain %S/../payload.mlir --target cpu > %S/told-without\n"
    )
    (suite / "lit.cfg.py").write_text(
        f"lit_config.load_config(config, {str(ROOT / 'build' / 'test' / 'lit.site.cfg.py')!r})\n"
        f"config.test_source_root = config.test_exec_root = {str(suite)!r}\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", "from lit.main import main; main()", "-v", suite],
        env=os.environ | {"XETILE_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert WILD not in (suite / "told").read_text()
    assert WILD in (suite / "told-without").read_text()


def test_a_calibration_is_of_no_machine_that_is_described(tmp_path):
    plant(tmp_path)
    own = described(PLAIN, '"num_threads" = 1 : i32')
    told = explain(tmp_path, own, XETILE_CACHE=str(tmp_path), XETILE_CALIBRATION="")
    assert "rates (typical" in told
    assert WILD not in told


def test_no_calibration_or_another_word(tmp_path):
    assert "XETILE_CALIBRATION=no: expected 'kept', 'off', or that it is not set" in explain(
        tmp_path, PLAIN, XETILE_CALIBRATION="no"
    )


@pytest.mark.parametrize(
    "entries",
    [
        '"num_threads" = 3 : i32',
        '"max_vector_width" = 512 : i32, "amx" = 1 : i32',
        '"L2_cache_size_in_bytes" = 65536 : i32',
    ],
)
def test_what_is_said_of_a_described_machine_is_not_of_this_one(tmp_path, entries):
    text = described(
        PLAIN.replace("f32>, %b: tensor<64x64xf32", "bf16>, %b: tensor<64x64xbf16").replace(
            "f32>, tensor<64x64xf32", "bf16>, tensor<64x64xbf16"
        ),
        entries,
    )
    told = explain(tmp_path, text)
    assert "ns: multiply-add" in told
    assert told == explain(tmp_path, text, XETILE_CPU_WITHOUT="avx")


def test_features_of_this_cpu_are_masked(tmp_path):
    for without in ("avx", " avx512f , avx "):
        told = explain(tmp_path, PLAIN, XETILE_CPU_WITHOUT=without)
        # Of f32, 128 bits.
        assert re.search(r"registers hold \d+ rows of \d+ vectors of 4;", told), told
    flags = "from xetile.system import machine; print(*sorted(machine.flags()))"
    code = [sys.executable, "-c", flags]
    found = {
        without: set(
            subprocess.run(
                code, env=os.environ | {"XETILE_CPU_WITHOUT": without}, capture_output=True, text=True, check=True
            ).stdout.split()
        )
        for without in ("", "avx512f", "avx")
    }
    assert not [flag for flag in found["avx512f"] if flag.startswith("avx512")]
    assert not [flag for flag in found["avx"] if flag.startswith(("avx", "fma"))]
    assert "sse2" in found["avx"]
    # Nothing is added, and all else stays.
    assert found["avx"] <= found["avx512f"] <= found[""]


def test_a_feature_that_there_is_not(tmp_path):
    message = "XETILE_CPU_WITHOUT=avx512: 'avx512' is no feature of a CPU; expected LLVM's names with commas between"
    assert message in explain(tmp_path, PLAIN, XETILE_CPU_WITHOUT="avx512")
    code = "import xetile\ntry:\n    xetile.calibrate()\nexcept xetile.XeTileError as error:\n    print(error)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"XETILE_CPU_WITHOUT": "avx512", "XETILE_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert message in run.stdout, run.stderr


@pytest.mark.parametrize("name", ["", *machines.CALIBRATIONS])
def test_machines_of_tests_are_named_whole(monkeypatch, name):
    """But for caches, whose sizes are the compiler's own."""
    monkeypatch.setenv("XETILE_TEST_MACHINE", name)
    text = machines.spec({"num_threads": 7})
    named = set(re.findall(r'"(\w+)" =', text))
    assert {"num_threads", "max_vector_width", "bf16_dot", "int8_dot", "amx"} <= named
    assert '"num_threads" = 7 : i32' in text
    assert named & set(calibration.RATES)
    assert json.dumps("amx") + " = 0" in text
