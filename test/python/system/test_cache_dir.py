# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache is in one place for scripts, Python, the compiler and the runtime."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PLACES = {
    "chosen": lambda base: {"XETILE_CACHE": f"{base}/mine", "XDG_CACHE_HOME": f"{base}/xdg", "HOME": f"{base}/home"},
    "xdg": lambda base: {"XDG_CACHE_HOME": f"{base}/xdg", "HOME": f"{base}/home"},
    "home": lambda base: {"HOME": f"{base}/home"},
}


def environment(place, base):
    kept = {name: value for name, value in os.environ.items() if name not in ("XETILE_CACHE", "XDG_CACHE_HOME", "HOME")}
    return kept | PLACES[place](base)


def run(command, env):
    return subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True).stdout.strip()


def by_script(env):
    return run(["bash", "-c", '. scripts/common.sh && printf %s "$cache"'], env)


def by_python(env):
    return run([sys.executable, "-c", "from xetile import tools; print(tools.cache_dir())"], env)


@pytest.mark.parametrize("place", PLACES)
def test_scripts_and_python_agree(place, tmp_path):
    env = environment(place, tmp_path)
    assert by_script(env) == by_python(env) == str(Path(by_python(env)))


@pytest.mark.parametrize("place", PLACES)
def test_the_compiler_looks_for_ocloc_there(place, tmp_path):
    env = environment(place, tmp_path)
    env.pop("XETILE_OCLOC", None)
    ocloc = Path(by_script(env), "ocloc", "ocloc")
    ocloc.parent.mkdir(parents=True)
    ocloc.write_text("#!/bin/sh\n")
    ocloc.chmod(0o755)
    env["PATH"] = str(tmp_path)  # What is on PATH comes first.
    assert run([sys.executable, "-c", "from xetile import tools; print(tools.find_ocloc())"], env) == str(ocloc)
