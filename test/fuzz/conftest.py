# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of the kinds share."""

import pytest


@pytest.fixture(autouse=True)
def environment(monkeypatch) -> None:
    """Kinds set variables of the process that they were given; here it is pytest's, which gets its own back."""
    for name in ("XETILE_CACHE", "XETILE_BUILTINS"):
        monkeypatch.setenv(name, "")  # "" is as good as unset, and what was there comes back
