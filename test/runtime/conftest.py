# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of tests of the runtime."""

import pytest


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Launches are checked, those of what the test file's function `module` gives as well: a module that is linked
    stays as it is."""
    monkeypatch.setenv("XETILE_CHECK", "1")
    module = getattr(request.module, "module", None)
    if module is not None and hasattr(module, "cache_clear"):
        module.cache_clear()
