# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether results are those of eager PyTorch: types and shapes exactly, numbers by torch.testing's tolerances."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.testing import assert_close
from torch.testing._comparison import default_tolerances

__all__ = ["difference", "same"]

EAGERS = 2.0
"""How many times eager's error, measured against f64, ours may be where that is over the tolerance."""

Results = list[Any]


def difference(
    got: Results,
    want: Results,
    exact: Callable[[], Results | None],
    neighbours: Callable[[], Iterable[tuple[Results, Results]]] = tuple,
) -> str | None:
    """None if the results are right, otherwise what is wrong. `exact` computes what eager gives in f64, or None: where
    little is left of large numbers, eager's own result has no digits either. `neighbours` has what eager gives, and
    what it gives in f64, for arguments whose last bits are others: once it may be near by chance.
    """
    if len(got) != len(want):
        return f"expected {len(want)} results, got {len(got)}"
    wide: Results | None = None
    for number, (ours, theirs) in enumerate(zip(got, want, strict=True)):
        text = _different(ours, theirs)
        if text is None:
            continue
        place = f"result {number}: " if len(want) > 1 else ""
        if not text.startswith("values") or not isinstance(theirs, torch.Tensor) or not _is_inexact(theirs.dtype):
            return place + text
        wide = exact() if wide is None else wide
        if wide is None or len(wide) != len(want):
            return place + text
        others = ((near[number], far[number]) for near, far in neighbours() if len(near) == len(far) == len(want))
        if not _is_near(ours, theirs, wide[number], others):
            return place + text
    return None


def same(left: list[Any], right: list[Any]) -> bool:
    """Whether two runs gave the same bits."""
    return len(left) == len(right) and all(
        _different(*pair, exactly=True) is None for pair in zip(left, right, strict=True)
    )


def forms(got: list[Any], want: list[Any]) -> str | None:
    """As `difference`, of types and shapes only: for random numbers and memory that nobody wrote."""
    if len(got) != len(want):
        return f"expected {len(want)} results, got {len(got)}"
    return next((text for pair in zip(got, want, strict=True) if (text := _other_form(*pair))), None)


def _different(ours: Any, theirs: Any, exactly: bool = False) -> str | None:
    text = _other_form(ours, theirs)
    if text is not None or not isinstance(theirs, torch.Tensor):
        return text if text is not None else _other_value(ours, theirs)
    tolerances = {"rtol": 0, "atol": 0} if exactly else {}
    try:
        assert_close(ours, theirs, equal_nan=True, check_stride=False, **tolerances)
    except AssertionError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return f"values: {'; '.join(lines)[:200]}"
    except (RuntimeError, NotImplementedError) as error:  # types that torch.testing does not compare
        try:
            return None if torch.equal(ours, theirs) else "values: other bits"
        except (RuntimeError, NotImplementedError):
            return f"values: cannot be compared: {error}"
    return None


def _other_form(ours: Any, theirs: Any) -> str | None:
    if not isinstance(theirs, torch.Tensor):
        return f"expected {type(theirs).__name__}, got a tensor" if isinstance(ours, torch.Tensor) else None
    if not isinstance(ours, torch.Tensor):
        return f"expected a tensor, got {type(ours).__name__}"
    if ours.dtype != theirs.dtype:
        return f"expected {theirs.dtype}, got {ours.dtype}"
    if ours.shape != theirs.shape:
        return f"expected shape {list(theirs.shape)}, got {list(ours.shape)}"
    return None


def _other_value(ours: Any, theirs: Any) -> str | None:
    if isinstance(theirs, float) and isinstance(ours, float):
        return None if ours == theirs or ours != ours and theirs != theirs else f"expected {theirs}, got {ours}"
    if isinstance(theirs, (bool, int, str, type(None), torch.dtype, torch.device)) and ours != theirs:
        return f"expected {theirs!r}, got {ours!r}"
    return None


def _is_inexact(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def _is_near(ours: torch.Tensor, theirs: torch.Tensor, exact: Any, others: Iterable[tuple[Any, Any]]) -> bool:
    """Whether ours is as near to what f64 gives as torch.testing asks, or not much farther than eager, or than eager is
    for one of `others`, pairs of what it gives and f64."""
    if not _is_comparable(ours, exact):
        return False
    # NaN and infinities where f64 has them; or where eager has them, too.
    wide = ours.to(exact.dtype)
    odd = ~(torch.eq(wide, _rounded(exact, ours)) | (ours.isnan() & exact.isnan())) & ~_finite(ours, exact)
    as_eager = torch.eq(ours, theirs) | (ours.isnan() & theirs.isnan())
    if (odd & ~as_eager).any():
        return False
    error = _error(ours, exact)
    if error <= max(1.0, EAGERS * _error(theirs, exact)):
        return True
    return any(error <= EAGERS * _error(*other) for other in others if _is_comparable(*other))


def _is_comparable(result: Any, exact: Any) -> bool:
    tensors = isinstance(result, torch.Tensor) and isinstance(exact, torch.Tensor)
    return tensors and exact.shape == result.shape and result.layout is torch.strided


def _rounded(exact: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    return exact.to(result.dtype).to(exact.dtype)


def _finite(result: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    return _rounded(exact, result).isfinite() & result.isfinite()


def _error(result: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest distance of finite numbers, 1 for what torch.testing's tolerances allow."""
    finite, rounded = _finite(result, exact), _rounded(exact, result)
    rtol, atol = default_tolerances(result, result)
    scale = atol + rtol * rounded[finite].abs()
    return ((result.to(exact.dtype) - rounded)[finite].abs() / scale).max().item() if finite.any() else 0.0
