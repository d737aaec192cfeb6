# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one sample eagerly and through torch.compile(backend="xetile"), and says what came of it."""

from __future__ import annotations

import contextlib
import functools
import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import comparing
import database
import torch
import xetile.torch
from torch._prims_common import clone_preserve_strides
from torch.utils import _pytree as pytree
from xetile.compiling import compiler

__all__ = ["check"]

UNWRITTEN = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
"""Operators whose results are memory that nobody wrote."""

NEIGHBOURS = 16
"""How many times eager's error is measured anew, with other last bits of the arguments."""

_WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}


def check(name: str, sample: Any, seed: int, target: str | None = None) -> dict[str, Any]:
    """What became of one sample, compiled for this CPU or the GPU that `target` names: its `state` and `reason`; `by`
    whom it was computed, "kernels", "both" or "PyTorch".

    "skipped"  eager PyTorch raises
    "refused"  torch.compile raises; "refused by PyTorch" where it does with the backend "aot_eager", too
    "wrong"    other results than eager's; "wrong by PyTorch" where "aot_eager" has such, too
    "random"   two runs of eager with one seed differ, or nobody wrote the memory: types and shapes are right
    "right"
    """
    function = database.operators()[name].get_op()
    run = functools.partial(_run, sample=sample, seed=seed)
    try:
        want = run(function)
        again = run(function)
    except Exception as error:  # noqa: BLE001  whatever it is, there is nothing to compare with
        return {"state": "skipped", "reason": _text(error)}
    # The machine code of a GPU is nothing that this machine could run.
    options = {"target": target, "native": "off"} if target else None
    told: dict[str, Any] = {}
    with _watched() as watch:
        try:
            got = run(_compiled(function, xetile.torch.backend, options))
        except Exception as error:  # noqa: BLE001
            told = {"state": "refused", "reason": _text(error)}
    settled = name.partition(".")[0] not in UNWRITTEN and comparing.same(want, again)

    def compared(given: list[Any]) -> str | None:
        if settled:
            neighbours = functools.partial(_neighbours, function, sample, seed)
            return comparing.difference(given, want, lambda: _exact(function, sample, seed), neighbours)
        return comparing.forms(given, want)

    text = compared(got) if not told else None
    if not told and text is None:
        told = {"state": "right" if settled else "random"}
    else:
        told = told or {"state": "wrong", "reason": text}
        # torch.compile by itself, without us.
        try:
            alike = compared(run(_compiled(function, "aot_eager"))) is not None and told["state"] == "wrong"
        except Exception:  # noqa: BLE001
            alike = told["state"] == "refused"
        if alike:
            told["state"] += " by PyTorch"
    return told | watch.facts()


def _compiled(function: Callable[..., Any], backend: Any, options: dict[str, Any] | None = None) -> Callable[..., Any]:
    torch._dynamo.reset()

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return torch.compile(call, backend=backend, options=options, dynamic=False)


def _run(
    function: Callable[..., Any], sample: Any, seed: int, wide: bool = False, neighbour: int | None = None
) -> list[Any]:
    """Results, gradients of what requires them, and the inputs afterwards, in one list. With a number for `neighbour`
    the last bits of the arguments are others."""
    generator = None if neighbour is None else torch.Generator().manual_seed(neighbour)
    fresh = functools.partial(_fresh, wide=wide, generator=generator)
    arguments = pytree.tree_map(fresh, (sample.input, sample.args, sample.kwargs))
    leaves = [each for each in pytree.tree_leaves(arguments) if isinstance(each, torch.Tensor) and each.requires_grad]
    torch.manual_seed(seed)
    with warnings.catch_warnings(), torch.set_grad_enabled(bool(leaves)):
        warnings.simplefilter("ignore")
        made = function(arguments[0], *arguments[1], **arguments[2])
        results = pytree.tree_leaves(made)
        gradients: list[Any] = []
        if leaves:
            processed = pytree.tree_leaves(sample.output_process_fn_grad(made))
            outputs = [each for each in processed if isinstance(each, torch.Tensor) and each.requires_grad]
            if outputs:
                generator = torch.Generator().manual_seed(seed)
                weights = [_weights(each, generator) for each in outputs]
                gradients = list(torch.autograd.grad(outputs, leaves, weights, allow_unused=True))
        after = [each for each in pytree.tree_leaves(arguments) if isinstance(each, torch.Tensor)]
    return [each.detach() if isinstance(each, torch.Tensor) else each for each in (*results, *gradients, *after)]


def _weights(result: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """What the gradient of a result is, with few digits: the same in every type."""
    numbers = torch.randint(-8, 9, result.shape, generator=generator) / 8
    numbers = numbers.to(result.dtype)
    return numbers if result.layout is torch.strided else torch.ones_like(result)


def _fresh(value: Any, wide: bool, generator: torch.Generator | None = None) -> Any:
    """A copy with the same strides, a leaf. The generator moves each number by a last bit up or down, or not."""
    if isinstance(value, torch.dtype):
        return _WIDER.get(value, value) if wide else value
    if not isinstance(value, torch.Tensor):
        return value
    plain = value.detach()
    if generator is not None and plain.layout is torch.strided and plain.dtype in _WIDER:
        steps = torch.randint(-1, 2, plain.shape, generator=generator) * torch.finfo(plain.dtype).eps
        moved = clone_preserve_strides(plain.resolve_conj().resolve_neg())
        plain = moved.copy_(plain.to(_WIDER[plain.dtype]) * (1 + steps.double()))
    if wide and plain.dtype in _WIDER:
        copy = plain.to(_WIDER[plain.dtype])
    elif plain.layout is torch.strided and not plain.is_conj() and not plain.is_neg():
        copy = clone_preserve_strides(plain)
    else:
        copy = plain.clone()
    return copy.requires_grad_(value.requires_grad)


def _exact(function: Callable[..., Any], sample: Any, seed: int) -> list[Any] | None:
    try:
        return _run(function, sample, seed, wide=True)
    except Exception:  # noqa: BLE001  an operator without f64
        return None


def _neighbours(function: Callable[..., Any], sample: Any, seed: int) -> Iterator[tuple[list[Any], list[Any]]]:
    for number in range(NEIGHBOURS):
        try:
            yield tuple(_run(function, sample, seed, wide, neighbour=number) for wide in (False, True))
        except Exception:  # noqa: BLE001  another domain, or an operator without f64
            return


class _Watch(logging.Handler):
    """Counts kernels and hears why PyTorch computes something."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.kernels = 0
        self.reasons: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        lines = [line.strip() for line in record.getMessage().splitlines() if line.strip()]
        self.reasons[" ".join(lines[:2] if lines[0].endswith(":") else lines[:1])[:300]] = None

    def facts(self) -> dict[str, Any]:
        by = "PyTorch" if not self.kernels else "both" if self.reasons else "kernels"
        return {"by": by, "left": list(self.reasons)}


@contextlib.contextmanager
def _watched() -> Iterator[_Watch]:
    watch = _Watch()
    log = logging.getLogger("xetile.torch")
    compile_one = compiler.compile

    def counted(*args: Any, **kwargs: Any) -> Any:
        kernel = compile_one(*args, **kwargs)
        watch.kernels += 1
        return kernel

    log.addHandler(watch)
    level, propagate = log.level, log.propagate
    log.setLevel(logging.INFO)
    log.propagate = False
    compiler.compile = counted
    try:
        yield watch
    finally:
        compiler.compile = compile_one
        log.setLevel(level)
        log.propagate = propagate
        log.removeHandler(watch)


def _text(error: BaseException) -> str:
    cause = getattr(error, "inner_exception", None) or error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return f"{type(cause).__name__}: {' '.join(lines[:3])[:400]}"
