"""How a matmul is cut for a CPU: the fields that a user may set, others are chosen by the cost model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from xetile.errors import XeTileError, expect, told

__all__ = ["MatmulConfig"]


@dataclass(frozen=True)
class MatmulConfig:
    """How a matmul is cut; None leaves a field to the heuristic. Sizes are in elements.

    Threads share m, n and k; blocks fit the second-level cache, innermost blocks registers and the first-level one.
    `loopOrder` is the order of the loops over blocks: 0 mnk, 1 mkn, 2 nmk, 3 nkm, 4 kmn, 5 knm.
    """

    MThreads: int | None = None
    NThreads: int | None = None
    KThreads: int | None = None
    MBlock: int | None = None
    NBlock: int | None = None
    KBlock: int | None = None
    innermostMBlock: int | None = None
    innermostNBlock: int | None = None
    innermostKBlock: int | None = None
    loopOrder: int | None = None

    @classmethod
    def from_json(cls, text: str) -> MatmulConfig:
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
    def of(cls, values: MatmulConfig | Mapping[str, Any] | None) -> MatmulConfig:
        """From a mapping of fields; None has none. XeTileError for unknown fields and other than integers."""
        if values is None or isinstance(values, cls):
            return values or cls()
        if not isinstance(values, Mapping):
            raise XeTileError(f"matmul config: expected fields and their values, got {type(values).__name__}")
        names = [field.name for field in fields(cls)]
        for name, value in values.items():
            if name not in names:
                raise XeTileError(f"matmul config: unknown field {name!r}; expected one of {', '.join(names)}")
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**63):
                raise XeTileError(f"matmul config: {name}: expected an integer of 64 bits, got {told(value)}")
        return cls(**values)

    def to_json(self) -> str:
        """The fields that are set, as a JSON object."""
        return json.dumps({name: value for name, value in asdict(self).items() if value is not None})
