# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with arrays that say that they are on an Nvidia GPU, by a driver that computes nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import xetile
from hopper_kernels import K, M, N, compiled

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)

# Arrays of NumPy that say of themselves that they are on a GPU.
SCRIPT = f"""
import ctypes, sys
import numpy as np
import xetile
from xetile.kernels import dlpack
M, N, K = {M}, {N}, {K}
asked = []


class OnGpu:
    def __init__(self, array, device=0):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return 2, self.device

    def __dlpack__(self, stream=None):
        asked.append(stream)
        capsule = self.array.__dlpack__()
        tensor, _, _ = dlpack.tensor_of(capsule, self)
        tensor.device_type, tensor.device_id = 2, self.device
        return capsule


def new(*shape, dtype="float16", device=0):
    # Aligned as memory of a GPU is.
    whole = np.ones(int(np.prod(shape)) * 4 + 256, np.uint8)
    start = -whole.ctypes.data % 256
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return OnGpu(whole[start : start + size].view(dtype).reshape(shape), device)


kernel = xetile.load(sys.argv[1])
a, b, c, out = new(M, K), new(K, N), new(M, N, dtype="float32"), new(M, N, dtype="float32")


def tell(*arrays, **options):
    try:
        print("result", kernel(*arrays, **options) is options.get("out"))
    except xetile.XeTileError as error:
        print("error", error)
"""


@pytest.fixture(scope="module")
def place(driver: Path, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("cuda")
    shutil.copy(driver, place / "libcuda.so")
    compiled().save(place / "k.so")
    return place


def run(place: Path, text: str) -> tuple[list[str], list[str]]:
    """What the text prints, and what it asks the driver for."""
    log = place / "log"
    log.write_text("")
    environment = os.environ | {"XETILE_CUDA_DRIVER": str(place / "libcuda.so"), "FAKE_DRIVER_LOG": str(log)}
    environment |= {"FAKE_DRIVER_OWNS_MEMORY": "1"}
    command = [sys.executable, "-c", SCRIPT + text, place / "k.so"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), log.read_text().splitlines()


def test_arrays_on_the_gpu_are_read_and_written_there(place):
    printed, log = run(place, "tell(a, b, c, out=out)\nprint(asked)")
    # Ready on the default stream, which DLPack calls 1.
    assert printed == ["result True", "[1, 1, 1, 1]"]
    assert sum(line.startswith("launch") for line in log) == 1
    assert not any(line.startswith(("allocate", "copy", "synchronize")) for line in log if "on the device" not in line)


def test_kernels_run_on_the_stream_that_is_set(place):
    # The call sets its own: that of PyTorch, or the default one.
    text = "from xetile.kernels import cuda\nwith cuda.on_stream(0x1234):\n    tell(a, b, c, out=out)\n"
    _, log = run(place, text + "tell(a, b, c, out=out)")
    assert [line.partition("stream ")[2] for line in log if line.startswith("launch")] == ["", ""]
    text = """
from xetile.kernels import cuda, cuda_arrays
cuda_arrays._place_of = lambda values: (0, 0x1234)
tell(a, b, c, out=out)
print(asked)
"""
    printed, log = run(place, text)
    assert printed[-1] == str([0x1234] * 4)
    assert [line.partition("stream ")[2] for line in log if line.startswith("launch")] == ["0x1234"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("tell(a, b, c.array, out=out)", "argument 2: expected an array on the GPU as the others are, got ndarray"),
        (
            "tell(a, b, new(M, N, dtype='float32', device=1), out=out)",
            "expected an array on cuda:0 as the first one, got",
        ),
        ("tell(a, b, c)", "results on a GPU are tensors of PyTorch, which is not imported: pass `out`"),
        ("tell(a, b, c, out=c)", "an array that is written shares memory with another one"),
        ("tell(a, c, c, out=out)", "argument 1: expected 1000x136xf16 (float16), got float32[200, 136]"),
        ("tell(a, b, out=out)", "expected 3 arrays, got 2"),
        ("tell(a, OnGpu(new(N, K).array.T), c, out=out)", "argument 1: expected an array in C order"),
        ("tell(a, b, c, out=(out, out))", "out: expected 1 arrays, got 2"),
    ],
)
def test_what_does_not_fit_is_told(place, call, message):
    printed, log = run(place, call)
    assert printed[0].startswith("error") and message in printed[0]
    assert not any(line.startswith("launch") for line in log)


def test_maps_of_arrays_that_come_again_are_kept(place):
    """Of A, B and two results, each once for many calls; of other arrays between them, too many to be kept, others."""
    text = """
other = new(M, N, dtype="float32")
for _ in range(5):
    tell(a, b, c, out=out)
    tell(a, b, c, out=other)
print("many")
some = [new(M, N, dtype="float32") for _ in range(150)]
for one in (*some, out):
    tell(a, b, c, out=one)
"""
    printed, log = run(place, text)
    assert [line for line in printed if line != "result True"] == ["many"]
    launches = [index for index, line in enumerate(log) if line.startswith("launch")]
    maps = [index for index, line in enumerate(log) if line.startswith("map")]
    assert len(launches) == 10 + 151
    assert sum(index < launches[9] for index in maps) == 4
    assert sum(index > launches[9] for index in maps) >= 150


def test_a_refused_call_leaves_nothing_to_the_next_one(place):
    """Arguments and copies of one launch are not another's: of the refused one A is known, and B is misplaced."""
    text = """
misplaced = OnGpu(np.zeros(K * N * 2 + 256, np.uint8)[2:][: K * N * 2].view(np.float16).reshape(K, N))
tell(a, misplaced, c, out=out)
tell(a, b, c, out=out)
"""
    printed, log = run(place, text)
    assert "expected such a multiple: copy the array" in printed[0] and printed[1] == "result True"
    fresh = run(place, "tell(a, b, c, out=out)")[1]
    assert [line for line in log if line.startswith("launch")] == [line for line in fresh if line.startswith("launch")]
    assert len([line for line in log if line.startswith("map")]) == len(
        [line for line in fresh if line.startswith("map")]
    )
