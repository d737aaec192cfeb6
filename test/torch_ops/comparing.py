# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether results are those of eager PyTorch: types and shapes exactly, numbers by torch.testing's tolerances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.testing import assert_close
from torch.testing._comparison import default_tolerances

__all__ = ["difference", "same"]

EAGERS = 2.0
"""How many times eager's error, measured against f64, ours may be where that is over the tolerance."""


def difference(got: list[Any], want: list[Any], exact: Callable[[], list[Any] | None]) -> str | None:
    """None if the results are right, otherwise what is wrong. `exact` computes what eager gives in f64, or None: where
    little is left of large numbers, eager's own result has no digits either."""
    if len(got) != len(want):
        return f"expected {len(want)} results, got {len(got)}"
    wide: list[Any] | None = None
    for number, (ours, theirs) in enumerate(zip(got, want, strict=True)):
        text = _different(ours, theirs)
        if text is None:
            continue
        place = f"result {number}: " if len(want) > 1 else ""
        if not text.startswith("values") or not isinstance(theirs, torch.Tensor) or not _is_inexact(theirs.dtype):
            return place + text
        wide = exact() if wide is None else wide
        if wide is None or len(wide) != len(want) or not _is_near(ours, theirs, wide[number]):
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


def _is_near(ours: torch.Tensor, theirs: torch.Tensor, exact: Any) -> bool:
    """Whether ours is as near to what f64 gives as torch.testing asks, or not much farther than eager."""
    if not isinstance(exact, torch.Tensor) or exact.shape != ours.shape or ours.layout is not torch.strided:
        return False
    wide = torch.complex128 if exact.dtype.is_complex else torch.float64
    rounded = exact.to(ours.dtype).to(wide)
    rtol, atol = default_tolerances(ours, theirs)
    errors = []
    for each in (ours.to(wide), theirs.to(wide)):
        finite = rounded.isfinite() & each.isfinite()
        scale = atol + rtol * rounded[finite].abs()
        error = ((each - rounded)[finite].abs() / scale).max().item() if finite.any() else 0.0
        errors.append(error)
        if each is not theirs and len(errors) == 1:
            # NaN and infinities where f64 has them; or where eager has them, too.
            odd = ~(torch.eq(each, rounded) | (each.isnan() & rounded.isnan())) & ~finite
            as_eager = torch.eq(each, theirs.to(wide)) | (each.isnan() & theirs.isnan())
            if (odd & ~as_eager).any():
                return False
    return errors[0] <= max(1.0, EAGERS * errors[1])
