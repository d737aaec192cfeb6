# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What xetile.torch says where its packages are missing, or others than it works with. It needs none of them."""

from __future__ import annotations

from importlib import metadata

import pytest
import xetile
from xetile import XeTileError


@pytest.mark.parametrize(
    ("installed", "told"),
    [
        ({}, "xetile.torch needs the package torch, which is not installed; pip install 'xetile"),
        ({"torch": "2.13.0+cpu"}, "xetile.torch needs the package torch-mlir, which is not installed"),
        ({"torch": "2.9.1", "torch-mlir": "20261001"}, "expected torch 2.10 to 2.15, got 2.9.1"),
        ({"torch": "2.16.0", "torch-mlir": "20261001"}, "expected torch 2.10 to 2.15, got 2.16.0"),
        ({"torch": "2.13.0", "torch-mlir": "20240101.12"}, "expected torch-mlir 20260601 or newer, got 20240101.12"),
    ],
)
def test_packages_that_are_missing_or_others(monkeypatch, installed, told):
    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.delitem(vars(xetile.torch), "compile", raising=False)
    with pytest.raises(XeTileError, match=told):
        _ = xetile.torch.compile


def test_other_names_are_refused_without_packages():
    with pytest.raises(AttributeError, match="module 'xetile.torch' has no attribute 'nothing'; it has backend, "):
        _ = xetile.torch.nothing
