# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a matmul is cut for a CPU: the fields that a user may set; others are chosen by the cost model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, make_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from xetile.errors import XeTileError, expect, told
from xetile.mlir._mlir_libs import _xetile

__all__ = ["MatmulConfig"]

# The compiler names the fields and tells what they mean; so do its attribute, its passes and its schedules.
_FIELDS = dict(_xetile.matmul_fields())
_ORDERS = tuple(_xetile.matmul_loop_orders())
_ORDER = "loopOrder"

_Config = TypeVar("_Config", bound="_Base")


class _Base:
    """Methods of configurations; the fields are in MatmulConfig."""

    if TYPE_CHECKING:

        def __init__(self, **values: int | str | None) -> None: ...
        def __getattr__(self, name: str) -> int | None: ...

    def __post_init__(self) -> None:
        for name in _FIELDS:
            # The dataclass is frozen, and nobody has seen it yet.
            object.__setattr__(self, name, _checked(name, getattr(self, name)))

    @classmethod
    def from_json(cls: type[_Config], text: str) -> _Config:
        """Reads an object of some fields. XeTileError for other JSON."""
        expect("matmul config", text, str, "a JSON object as a string")
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise XeTileError(f"matmul config: expected a JSON object, got {told(text)}: {error}") from None
        if not isinstance(values, dict):
            raise XeTileError(f"matmul config: expected a JSON object, got {told(text)}")
        return cls.of(values)

    @classmethod
    def of(cls: type[_Config], values: _Config | Mapping[str, Any] | None) -> _Config:
        """From a mapping of fields; None has none. XeTileError for unknown fields and other values than theirs."""
        if values is None or isinstance(values, cls):
            return values or cls()
        if not isinstance(values, Mapping):
            raise XeTileError(f"matmul config: expected fields and their values, got {type(values).__name__}")
        for name in values:
            if name not in _FIELDS:
                raise XeTileError(f"matmul config: unknown field {name!r}; expected one of {', '.join(_FIELDS)}")
        return cls(**values)

    def to_json(self) -> str:
        """The fields that are set, as a JSON object."""
        values = {name: getattr(self, name) for name in _FIELDS}
        return json.dumps({name: value for name, value in values.items() if value is not None})


def _checked(name: str, value: Any) -> int | None:
    """The value of a field, the number of a loop order for its name. What it may be is the compiler's to judge."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63):
        return value
    if name != _ORDER:
        raise XeTileError(f"matmul config: {name}: expected an integer of 64 bits, got {told(value)}")
    if not isinstance(value, str) or value not in _ORDERS:
        legal = f"0 to {len(_ORDERS) - 1}, or one of {', '.join(_ORDERS)}"
        raise XeTileError(f"matmul config: {name}: expected {legal}, got {told(value)}")
    return _ORDERS.index(value)


if TYPE_CHECKING:

    class MatmulConfig(_Base):
        """The fields of a configuration, as the dataclass below documents them."""

else:
    MatmulConfig = make_dataclass(
        "MatmulConfig",
        [(name, "int | None", field(default=None)) for name in _FIELDS],
        bases=(_Base,),
        frozen=True,
        namespace={
            "__doc__": "How a matmul is cut; None leaves a field to the heuristic. Sizes are in elements.\n\n"
            "Threads share m, n and k; blocks fit the second-level cache, innermost blocks registers and the\n"
            f"first-level one. `{_ORDER}` is a number, or a name, which becomes the number.\n\n"
            + "\n".join(f"`{name}`{' ' * (17 - len(name))}{doc}" for name, doc in _FIELDS.items()),
            "__module__": __name__,
        },
    )
