# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A driver of Nvidia's GPUs that computes nothing."""

from pathlib import Path

import fake_driver
import pytest


@pytest.fixture(scope="session")
def driver(tmp_path_factory) -> Path:
    """A driver that computes nothing."""
    return fake_driver.built(tmp_path_factory.mktemp("driver"))
