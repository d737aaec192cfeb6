# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/bootstrap on a machine that is no Debian: everything to install is named at once, and nothing is changed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A checkout, and a PATH without Debian's tools and without a compiler."""
    shutil.copytree(ROOT / "scripts", tmp_path / "checkout" / "scripts")
    programs = tmp_path / "bin"
    programs.mkdir()
    absent = ("dpkg", "apt", "clang", "cmake", "ninja", "spirv", "llvm", "strace")
    for folder in ("/usr/bin", "/bin"):
        for path in Path(folder).iterdir():
            if not path.name.startswith(absent) and not (programs / path.name).exists():
                (programs / path.name).symlink_to(path)
    return tmp_path


@pytest.mark.parametrize(
    ("manager", "command"), [("dnf", "dnf install clang "), ("pacman", "pacman -S clang "), (None, "")]
)
def test_names_all_that_is_missing(elsewhere, manager, command):
    if manager:
        (elsewhere / "bin" / manager).symlink_to("/bin/true")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XETILE_", "MLIR_"))}
    env = {**kept, "PATH": str(elsewhere / "bin"), "XETILE_CACHE": str(elsewhere / "cache")}
    run = subprocess.run([elsewhere / "checkout" / "scripts" / "bootstrap"], env=env, capture_output=True, text=True)
    assert run.returncode == 1, run.stderr
    for name in ("clang++", "cmake", "ninja", "spirv-val", "set MLIR_DIR to", "set XETILE_MLIR_PYTHON_SOURCE to"):
        assert name in run.stderr
    assert (command in run.stderr) and ("dnf" in run.stderr) == (manager == "dnf")
    assert "a wheel brings it" in run.stderr
    assert not (elsewhere / "checkout" / ".venv").exists()


# Of Ubuntu 24.04: dpkg knows no package of the list, apt those that are not LLVM's.
UBUNTU = {
    "dpkg-query": "exit 1",
    "apt-get": "exit 0",
    "apt-cache": 'case $2 in *-22*) echo "  Candidate: (none)";; *) echo "  Candidate: 1.0";; esac',
    "id": "echo 0",
}


def test_ubuntu_is_told_where_llvm_is(elsewhere):
    for name, script in UBUNTU.items():
        (elsewhere / "bin" / name).unlink(missing_ok=True)
        (elsewhere / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (elsewhere / "bin" / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XETILE_", "MLIR_"))}
    env = {**kept, "PATH": str(elsewhere / "bin"), "XETILE_CACHE": str(elsewhere / "cache")}
    run = subprocess.run([elsewhere / "checkout" / "scripts" / "bootstrap"], env=env, capture_output=True, text=True)
    assert run.returncode == 1, run.stderr
    (line,) = [line for line in run.stderr.splitlines() if "apt knows no" in line]
    assert {"clang-22", "libmlir-22-dev", "mlir-22-tools", "llvm-22-dev"} <= set(line.split())
    assert "cmake" not in line.split()
    assert 'on Ubuntu run eval "$(sudo scripts/prepare-ubuntu)"' in run.stderr and "a wheel brings it" in run.stderr
    assert not (elsewhere / "checkout" / ".venv").exists()
