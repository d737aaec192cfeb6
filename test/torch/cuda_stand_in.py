# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls models for CUDA on a machine without a GPU, in a process of its own: the CPU's tensors pass for CUDA's.

usage: cuda_stand_in.py CODE, which is run with `run`, `tell`, `told`, `compiled`, `torch` and `xetile`.
XETILE_CUDA_DRIVER is a driver that computes nothing, whose launches run PTX on this CPU if FAKE_DRIVER_OWNS_MEMORY is
not set. Lines that are printed are JSON.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "python" / "targets" / "nvidia"))

import ptx_programs  # noqa: E402
import torch  # noqa: E402
import xetile.torch  # noqa: E402
from xetile.torch import cuda_calls, devices  # noqa: E402

said: list[str] = []


class Heard(logging.Handler):
    """What the backend tells."""

    def emit(self, record: logging.LogRecord) -> None:
        said.append(record.getMessage())


def stand_in() -> None:
    """From now on tensors of the CPU are taken for those of cuda:0."""
    assert callable(xetile.torch.backend)
    devices.place_of = lambda tensor: torch.device("cuda:0") if tensor.device.type == "cpu" else tensor.device
    cuda_calls._KIND = 1
    cuda_calls._EMPTY = torch._C._dynamo.guards._empty_strided_cpu


def compiled(model, *, dynamic=False, strict=True, **options):
    torch._dynamo.reset()
    return torch.compile(model, backend="xetile", options={"strict": strict, **options}, dynamic=dynamic)


def run(name, model, *inputs, **options):
    """Tells how far a call of the compiled model is from PyTorch's, as part of the largest number."""
    with torch.no_grad():
        got, exact = compiled(model, **options)(*inputs), model(*inputs)
    tell(name, got, exact)


def tell(name, got, exact):
    if ptx_programs.failed:
        raise ptx_programs.failed[0]
    assert got.shape == exact.shape and got.stride() == exact.stride() and got.dtype == exact.dtype
    print(json.dumps([name, float((got - exact).abs().max() / exact.abs().max())]))


def told(call):
    """Tells the error of a call, and what the backend says meanwhile."""
    said.clear()
    try:
        call()
        print(json.dumps(["fine", list(said)]))
    except Exception as error:  # PyTorch's have no common base
        print(json.dumps([f"{type(error).__name__}: {error}", list(said)]))


if __name__ == "__main__":
    logging.getLogger("xetile.torch").addHandler(Heard())
    logging.getLogger("xetile.torch").setLevel(logging.INFO)
    if os.path.exists(os.environ.get("XETILE_CUDA_DRIVER", "")) and "FAKE_DRIVER_OWNS_MEMORY" not in os.environ:
        hook = ptx_programs.install(ctypes.CDLL(os.environ["XETILE_CUDA_DRIVER"]))
    torch.manual_seed(int(os.environ.get("SEED", "1")))
    exec(sys.argv[1])
