# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One problem of a checkout of KernelBench: a file with `Model`, `get_inputs()` and `get_init_inputs()`.

Sizes are constants of its module. `shrunk` halves the largest of them, one at a time, until no tensor has more than a
given number of elements; what the model then still accepts is asked of tensors without memory where it can be.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_SMALLEST = 8


@dataclass(frozen=True)
class Problem:
    """`constants` replace those of the file."""

    path: Path
    constants: dict[str, Any] = field(default_factory=dict)

    def load(self) -> ModuleType:
        """The module, with its constants replaced. It runs the file."""
        tree = ast.parse(self.path.read_text(), str(self.path))
        for statement in tree.body:
            name = _constant(statement)
            if name in self.constants:
                statement.value = ast.copy_location(ast.parse(repr(self.constants[name]), mode="eval").body, statement)
        module = ModuleType("problem")
        module.__file__ = str(self.path)
        exec(compile(ast.fix_missing_locations(tree), str(self.path), "exec"), module.__dict__)
        return module

    def make(self, seed: int) -> tuple[torch.nn.Module, list[Any]]:
        """The model in eval mode, and its inputs; the same for one seed."""
        torch.manual_seed(seed)
        module = self.load()
        return module.Model(*module.get_init_inputs()).eval(), list(module.get_inputs())

    def largest(self) -> int:
        """Elements of the largest tensor that the model holds or computes. Raises what PyTorch raises."""
        seen = _Largest()
        try:
            with torch.no_grad(), FakeTensorMode(), seen:
                model, inputs = self.make(0)
                model(*inputs)
        except Exception:
            # Models may read numbers of tensors when they are made, or keep tensors; their parameters stay real then.
            model, inputs = self.make(0)
            with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True), seen:
                model(*inputs)
        return seen.elements

    def shrunk(self, elements: int) -> Problem:
        """The problem with no tensor of more than `elements` elements, as far as its constants allow it."""
        module = self.load()
        tree = ast.parse(self.path.read_text())
        names = [name for name in map(_constant, tree.body) if name is not None]
        values = {name: getattr(module, name) for name in names if _sizes(getattr(module, name))}
        current, fixed = replace(self, constants={}), set()
        largest = current.largest()
        while largest > elements:
            choices = [name for name in values if name not in fixed and max(_sizes(values[name])) > _SMALLEST]
            if not choices:
                break
            # The batch first: it changes no layer.
            name = next((each for each in choices if each.startswith("batch")), None)
            name = name or max(choices, key=lambda each: max(_sizes(values[each])))
            half = _halve(values[name])
            candidate = replace(current, constants={**current.constants, name: half})
            try:
                smaller = candidate.largest()
            except Exception:  # whatever a model says of sizes that do not fit
                fixed.add(name)
                continue
            current, largest, values[name] = candidate, smaller, half
        return current


class _Largest(TorchDispatchMode):
    elements = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self.elements = max(self.elements, leaf.numel())
        return result


def _constant(statement: ast.stmt) -> str | None:
    """The name that a statement gives a value."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return None


def _sizes(value: Any) -> list[int]:
    """The numbers in a constant that may be sizes."""
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    if isinstance(value, (tuple, list)) and value and all(type(each) is int for each in value):
        return list(value)
    return []


def _halve(value: Any) -> Any:
    """The largest number of it halved."""
    if isinstance(value, int):
        return max(value // 2, 1)
    largest = max(value)
    return type(value)(max(each // 2, 1) if each == largest else each for each in value)
