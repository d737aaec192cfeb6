# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values between the steps of a schedule: handles of operations, and parameters that have a value when it runs.

Both are values of MLIR (`xetile.mlir.ir.Value`), so that its own builders take them, too. The kinds are for people and
type checkers: in the IR all handles are `!transform.any_op`.
"""

from __future__ import annotations

from typing import Any, TypeVar

from xetile.errors import XeTileError, told
from xetile.mlir import ir

__all__ = [
    "AnyParam", "Fill", "Function", "Handle", "Int", "IntParam", "Kernel", "Launch", "Load", "Loop", "Matmul", "Module",
    "Prefetch", "Str", "StrParam",
]  # fmt: skip

_K = TypeVar("_K", bound="Handle")


class Handle(ir.Value[Any]):
    """Operations of the payload: any number of them, of any kind."""

    builder: Any
    """The schedule that it is a value of, while that is written."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def as_(self, kind: type[_K]) -> _K:
        """The same operations as another kind, where whoever writes the schedule knows better; no step of its own."""
        if not (isinstance(kind, type) and issubclass(kind, Handle)):
            raise XeTileError(f"as_: expected a kind of handle, such as Loop, got {told(kind)}")
        other = kind(self)
        if hasattr(self, "builder"):
            other.builder = self.builder
        return other


class Module(Handle):
    """A module, as schedules take and yield it; or several, nested in one."""


class Function(Handle):
    """A `func.func` or a `gpu.func`."""


class Matmul(Handle):
    """A contraction: on tensors in linalg, on vectors, an `xetile.tile_mma`."""


class Fill(Handle):
    """The `linalg.fill` of a matmul's accumulator, or no operation at all."""


class Loop(Handle):
    """An `scf.for`, or an `scf.forall` over workgroups."""


class Launch(Handle):
    """A `gpu.launch`."""


class Kernel(Handle):
    """A kernel for a GPU: the `gpu.module` that it is alone in, or its `gpu.func`."""


class Load(Handle):
    """An `xetile.load_tile`."""


class Prefetch(Handle):
    """An `xetile.prefetch_tile`."""


class AnyParam(ir.Value[Any]):
    """A parameter: what a knob is set to, or what a step chose. Only steps can look at it."""

    builder: Any
    __hash__ = ir.Value.__hash__

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __eq__(self, other: object) -> bool:
        # `if k_step == 0:` would silently never be true.
        return super().__eq__(other) if isinstance(other, ir.Value) else self._unknown()

    def _unknown(self, *_: object) -> Any:
        raise XeTileError(
            f"{self._told()} has no value yet: a schedule is built once for all of its values; expected it as an "
            "argument of a step, which sees the value; in Python only numbers and strings that are no knobs are known"
        )

    def _told(self) -> str:
        owner = self.owner
        name = getattr(owner, "attributes", {})
        return f"the knob {ir.StringAttr(name['name']).value!r}" if "name" in name else "a parameter of the schedule"

    __bool__ = __int__ = __index__ = __float__ = __len__ = __iter__ = __neg__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _unknown
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __getitem__ = _unknown


class IntParam(AnyParam):
    """A parameter that is an integer, or one for each of several."""


class StrParam(AnyParam):
    """A parameter that is a string."""


Int = int | IntParam
"""Integers for a step: a number, a knob (`int` in the signature of a schedule), the result of another step."""

Str = str | StrParam
"""Strings for a step."""
