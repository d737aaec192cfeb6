# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile run model.py:Model`: a PyTorch model of a file on this CPU or a GPU, beside PyTorch itself.

The file has the model, a class or a function that makes one, and `get_inputs()`, which gives what it is called with;
`get_init_inputs()` may give what it is made with. Problems of KernelBench are such files.
"""

from __future__ import annotations

import argparse
import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xetile.cli.python_files import call, read, split
from xetile.errors import XeTileError

__all__ = ["is_model", "run"]


def is_model(text: str) -> bool:
    """True if a command line's input is FILE.py or FILE.py:NAME."""
    return split(text) is not None


def run(options: argparse.Namespace, params: Mapping[str, Any], tolerance: float) -> int:
    """Runs it `options.repeat` times in turns with PyTorch, tells the fastest of each, and how far results differ."""
    if options.schedule is not None:
        raise XeTileError("--schedule: expected none for a PyTorch model; `xetile.torch.export` gives a module for one")
    from xetile import torch as models

    compile_model = models.compile  # names what is missing without PyTorch
    import torch

    from xetile import reference
    from xetile.kernels.runtime import selected_device
    from xetile.targets import Target
    from xetile.torch.arrays import array_of

    named = split(options.input)
    assert named
    seed = secrets.randbits(32) if options.seed is None else options.seed % 2**64
    torch.manual_seed(seed)
    model, inputs = _read(named[0], named[1] or "Model")
    target = Target(options.target or "cpu")
    more: dict[str, Any] = {"native": "off"} if target.has_device else {}
    kernel = compile_model(model, inputs, target=target, **more, **params)
    place = selected_device() if target.has_device else "this CPU"
    if options.dump_stages:
        kernel.stages.write(options.dump_stages)
    tensors = [value for value in torch.utils._pytree.tree_leaves(list(inputs)) if isinstance(value, torch.Tensor)]
    with torch.no_grad():
        results, expected = kernel(*tensors), model(*inputs)
        ours, eager = _fastest([lambda: kernel(*tensors), lambda: model(*inputs)], options.repeat)
    print(f"{kernel.signature} for {kernel.target}, on {place}")
    print(f"call {ours * 1e3:.3f} ms; PyTorch {eager * 1e3:.3f} ms, {eager / ours:.2f} times as long")
    results = results if isinstance(results, tuple) else (results,)
    differences = []
    for got, tensor in zip(results, torch.utils._pytree.tree_leaves(expected), strict=True):
        differences.append(reference.compare(got, array_of(tensor)))
    for number, difference in enumerate(differences):
        print(f"result {number}: {difference}; PyTorch's, seed {seed}")
    worst = max((difference.max_relative for difference in differences), default=0.0)
    if options.check and not worst <= tolerance:
        raise XeTileError(f"the results are not PyTorch's: relative error {worst:.3g}, expected at most {tolerance}")
    return 0


def _fastest(calls: Sequence[Callable[[], Any]], repeat: int) -> list[float]:
    """Seconds of the fastest call of each, in turns."""
    best = [math.inf] * len(calls)
    for _ in range(repeat):
        for number, measured in enumerate(calls):
            start = time.perf_counter()
            measured()
            best[number] = min(best[number], time.perf_counter() - start)
    return best


def _read(path: Path, name: str) -> tuple[Any, Sequence[Any]]:
    """The model in its evaluation mode, and what it is called with."""
    import torch

    module = read(path, "model")
    for needed, what in ((name, "the model: a class, or a function that makes one"), ("get_inputs", "example inputs")):
        if not hasattr(module, needed):
            raise XeTileError(
                f"{path}: expected {needed}, {what}; it defines {', '.join(_defined(module)) or 'nothing'}"
            )
    make = getattr(module, name)
    given = getattr(module, "get_init_inputs", list)
    arguments = call(path, "get_init_inputs()", lambda: given())
    model = make if isinstance(make, torch.nn.Module) else None
    if model is None:
        if not callable(make):
            raise XeTileError(
                f"{path}: {name}: expected a class or a function that makes a model, got {type(make).__name__}"
            )
        model = call(path, f"{name}()", lambda: _make(make, arguments))
    if not isinstance(model, torch.nn.Module):
        raise XeTileError(f"{path}: {name}: expected a torch.nn.Module, got {type(model).__name__}")
    inputs = call(path, "get_inputs()", module.get_inputs)
    if not isinstance(inputs, (list, tuple)):
        raise XeTileError(f"{path}: get_inputs(): expected a list or tuple, got {type(inputs).__name__}")
    return model.eval(), tuple(inputs)


def _make(make: Callable[..., Any], arguments: Any) -> Any:
    """Arguments are a list; KernelBench's may be a list and a dictionary of names."""
    if len(arguments) == 2 and isinstance(arguments[0], list) and isinstance(arguments[1], dict):
        return make(*arguments[0], **arguments[1])
    return make(*arguments)


def _defined(module: Any) -> list[str]:
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
