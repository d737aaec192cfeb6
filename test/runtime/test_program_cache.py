# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache of linked programs: hits, damage, races, places that cannot be written."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from gpu_runtime import compile_opencl, library_path

RUN = """
import sys, numpy as np
sys.path.insert(0, {here!r})
from gpu_runtime import *
gpu = runtime()
spirv = open({spirv!r}, "rb").read()
x = np.arange(16, dtype=np.float32)
module = gpu.load(spirv)
gpu.launch(module, "k", (1, 1, 1), (16, 1, 1), [x])
assert (x == np.arange(16) + 1).all(), x
stats = gpu.stats()
print(stats.programs_built, stats.disk_cache_hits)
"""


@pytest.fixture
def kernel(tmp_path) -> Path:
    path = tmp_path / "kernel.spv"
    path.write_bytes(compile_opencl("__kernel void k(__global float *x) { x[get_global_id(0)] += 1; }\n"))
    return path


def start(kernel: Path, cache: Path, **environment: str) -> subprocess.Popen:
    source = RUN.format(here=str(Path(__file__).parent), spirv=str(kernel))
    env = {**os.environ, "XETILE_RUNTIME_LIBRARY": library_path(), "XETILE_CACHE": str(cache), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )


def finish(process: subprocess.Popen) -> tuple[int, int]:
    """Programs built and disk cache hits."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    built, hits = map(int, out.split())
    return built, hits


def entries(cache: Path) -> list[Path]:
    return sorted((cache / "programs").iterdir())


def test_second_process_loads(kernel, tmp_path):
    cache = tmp_path / "cache"
    assert finish(start(kernel, cache)) == (1, 0)
    assert len(entries(cache)) == 1
    assert finish(start(kernel, cache)) == (0, 1)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "foreign", "stale"])
def test_damaged_entries_are_rebuilt(kernel, tmp_path, damage):
    import hashlib

    cache = tmp_path / "cache"
    finish(start(kernel, cache))
    (entry,) = entries(cache)
    good = entry.read_bytes()
    header, digest, binary = good.split(b"\n", 2)
    assert hashlib.sha256(binary).hexdigest().encode() == digest
    other = b"not a program of any driver"
    entry.write_bytes(
        {
            "empty": b"",
            "cut": good[: len(good) // 2],
            "flipped": good[:-10] + bytes([good[-10] ^ 1]) + good[-9:],
            "foreign": b"something else\n" + good,
            # Whole and well formed, but the driver does not take it.
            "stale": header + b"\n" + hashlib.sha256(other).hexdigest().encode() + b"\n" + other,
        }[damage]
    )
    assert finish(start(kernel, cache)) == (1, 0)
    assert finish(start(kernel, cache)) == (0, 1)
    assert len(entries(cache)) == 1


def put_instead(kind: str, entry: Path) -> None:
    """Something else under the entry's name."""
    good = entry.read_bytes()
    entry.unlink()
    if kind == "directory":
        entry.mkdir()
    elif kind == "full directory":
        entry.mkdir()
        (entry / "file").touch()
    elif kind == "FIFO":
        os.mkfifo(entry)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as unix:
            # Such a name is short.
            here = os.getcwd()
            os.chdir(entry.parent)
            unix.bind("s")
            os.chdir(here)
            os.rename(entry.parent / "s", entry)
    elif kind == "link to itself":
        entry.symlink_to(entry.name)
    elif kind == "link to a program":
        (entry.parent.parent / "elsewhere").write_bytes(good)
        entry.symlink_to(entry.parent.parent / "elsewhere")
    elif kind == "huge":
        with open(entry, "wb") as file:
            file.write(good)
            file.truncate(2**40)
    elif kind == "another user's":
        entry.write_bytes(good)
        os.chown(entry, 65534, -1)


NOTES = {
    "directory": "is a directory",
    "full directory": "is a directory",
    "FIFO": "is not a regular file",
    "socket": "No such device or address",
    "link to itself": "is a symbolic link",
    "link to a program": "is a symbolic link",
    "huge": "is damaged",
    "another user's": "belongs to another user",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """A kernel and a cache that has it."""
    folder = tmp_path_factory.mktemp("built")
    spirv = folder / "kernel.spv"
    spirv.write_bytes(compile_opencl("__kernel void k(__global float *x) { x[get_global_id(0)] += 1; }\n"))
    assert finish(start(spirv, folder / "cache")) == (1, 0)
    return spirv, folder / "cache"


@pytest.mark.parametrize("kind", NOTES)
def test_entries_that_are_no_files_of_ours_are_misses_with_a_note(built, tmp_path, kind):
    if kind == "another user's" and os.geteuid() != 0:
        pytest.xfail("only root gives files to others")
    spirv, good = built
    cache = shutil.copytree(good, tmp_path / "cache")
    (entry,) = entries(cache)
    put_instead(kind, entry)
    out, err = start(spirv, cache).communicate(timeout=120)
    assert err == f"xetile runtime: note: the cache entry {entry} {NOTES[kind]}; the kernel is built anew\n"
    assert out.split() == ["1", "0"]
    assert entries(cache) == [entry]
    # One that has files in it is not ours to remove; all others were replaced.
    assert entry.is_dir() == (kind == "full directory")
    assert not entry.is_symlink()
    if kind != "full directory":
        assert finish(start(spirv, cache)) == (0, 1)


def test_processes_race_for_one_entry(kernel, tmp_path):
    cache = tmp_path / "cache"
    for _ in range(2):
        results = [finish(process) for process in [start(kernel, cache) for _ in range(4)]]
        assert all(built + hits == 1 for built, hits in results)
    assert len(entries(cache)) == 1, "temporary files are left"
    assert finish(start(kernel, cache)) == (0, 1)


def test_settings_of_the_driver_are_part_of_the_key(kernel, tmp_path):
    cache = tmp_path / "cache"
    finish(start(kernel, cache))
    assert finish(start(kernel, cache, CL_CONFIG_CPU_TBB_NUM_WORKERS="1")) == (1, 0)
    assert len(entries(cache)) == 2


def test_a_place_that_cannot_be_written_means_no_cache(kernel, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    assert finish(start(kernel, blocked)) == (1, 0)
    assert blocked.read_text() == "not a directory"
