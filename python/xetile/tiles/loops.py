# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of a kernel: `for` over `tiles.range`, whose body Python goes through once.

    sums = tiles.range(0, k, 32, carry=tiles.zeros((256, 256), "f32"))
    for step, acc in sums:
        sums.carry(acc + ...)                           # what the next turn begins with
    store(sums.results)                                 # what the last turn left
Python's own `range` unrolls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar, overload

from xetile.errors import told
from xetile.mlir import ir
from xetile.tiles.memory import Index, Tile, index_of
from xetile.tiles.trace import Value, current, emit, here, wrong
from xetile.tiles.values import Scalar, Vector

__all__ = ["Loop", "range"]

# The carried values of a loop: one, or a tuple of such.
T = TypeVar("T")


class _Steps:
    """An `scf.for`, whose body is what is done in the one turn that Python takes."""

    def __init__(self, bounds: tuple[Index, Index, Index], values: list[Any]) -> None:
        start, stop, step = bounds
        if isinstance(step, int) and step < 1:
            raise wrong(f"range: expected a step of at least 1, got {step}")
        self._place = here()
        self._carried = values
        names = ("range: start", "range: stop", "range: step")
        self._bounds = [index_of(name, value) for name, value in zip(names, bounds, strict=True)]
        self._yielded: list[Any] | None = None
        self._op: ir.Operation | None = None
        self._scope: Any = None

    def _turn(self) -> Iterator[tuple[Scalar, list[Any]]]:
        if self._op is not None:
            raise wrong("a loop was gone through before: expected a tiles.range for each `for`")
        trace = current()
        kinds = [value.value.type for value in self._carried]
        self._op = emit("scf.for", kinds, [*self._bounds, *(value.value for value in self._carried)], regions=1)
        block = self._op.regions[0].blocks.append(
            ir.IndexType.get(), *kinds, arg_locs=[self._place.location()] * (1 + len(kinds))
        )
        self._scope = trace.enter(self._place, ir.InsertionPoint(block))
        finished = False
        try:
            index, *inside = block.arguments
            yield Scalar(index, "index"), [_like(old, new) for old, new in zip(self._carried, inside, strict=True)]
            finished = True
            if self._carried and self._yielded is None:
                raise wrong("the loop carries values: expected a call of its `carry` in the body", self._place)
            emit("scf.yield", [], [value.value for value in self._yielded or []])
        finally:
            trace.leave(self._scope)
            if not finished:
                trace.left.append(self._place)

    def _take(self, values: list[Any]) -> None:
        if self._scope is None or current().scope is not self._scope:
            raise wrong("carry: expected it in the body of its own loop, outside of others")
        if self._yielded is not None:
            raise wrong("carry: expected one call in the body, got another one")
        for number, (old, new) in enumerate(zip(self._carried, values, strict=True)):
            if type(new) is not type(old) or new.value.type != old.value.type:
                raise wrong(f"carry: value {number}: expected {old.value.type} as at the start, got {_shown(new)}")
        self._yielded = values

    def _given(self) -> list[Any]:
        if self._op is None or self._scope.is_open:
            raise wrong("results: expected it behind the loop")
        return [_like(old, new) for old, new in zip(self._carried, self._op.results, strict=True)]


class Loop(_Steps, Generic[T]):
    """A loop that carries values: it gives (place, values) once, `results` are what the last turn carried."""

    def __init__(self, bounds: tuple[Index, Index, Index], carry: T) -> None:
        self._single = not isinstance(carry, tuple)
        values: list[Any] = [carry] if self._single else list(carry)  # type: ignore[call-overload]
        if not values or not all(isinstance(value, (Vector, Scalar, Tile)) for value in values):
            raise wrong(
                f"range: carry: expected vectors, numbers and tiles of the kernel, one or a tuple; got {told(carry)}; "
                "tiles.full makes a vector of a number"
            )
        super().__init__(bounds, values)

    def __iter__(self) -> Iterator[tuple[Scalar, T]]:
        for index, values in self._turn():
            yield index, self._packed(values)

    def carry(self, *values: Any) -> None:
        """Says with which values the next turn begins, in the order and of the types of the start."""
        if len(values) != len(self._carried):
            raise wrong(f"carry: expected {len(self._carried)} values, as at the start, got {len(values)}")
        self._take(list(values))

    @property
    def results(self) -> T:
        """The values that the last turn carried; the start where there was none."""
        return self._packed(self._given())

    def _packed(self, values: list[Any]) -> T:
        return values[0] if self._single else tuple(values)  # type: ignore[return-value]


class Count(_Steps):
    """A loop that carries nothing."""

    def __iter__(self) -> Iterator[Scalar]:
        for index, _ in self._turn():
            yield index


@overload
def range(start: Index, stop: Index, step: Index = 1) -> Count: ...
@overload
def range(start: Index, stop: Index, step: Index = 1, *, carry: T) -> Loop[T]: ...
def range(start: Index, stop: Index, step: Index = 1, *, carry: Any = None) -> Any:
    """A loop from `start` to below `stop`, for `for`. It gives the place, with `carry` also the values that go from
    turn to turn: a vector, number or tile, or a tuple of them."""
    if carry is None:
        return Count((start, stop, step), [])
    return Loop((start, stop, step), carry)


def _like(old: Value, new: ir.Value[Any]) -> Any:
    if isinstance(old, Scalar):
        return Scalar(new, old.dtype)
    assert isinstance(old, (Vector, Tile))
    return type(old)(new, old.shape, old.dtype)


def _shown(value: Any) -> str:
    return str(value.value.type) if isinstance(value, Value) else told(value)
