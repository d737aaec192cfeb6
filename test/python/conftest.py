# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of the tests that compile kernels."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import machines
import pytest
import xetile
from xetile.mlir import ir
from xetile.targets import cpu_calibration as calibration


@pytest.fixture(autouse=True)
def calibrated(monkeypatch):
    """Tests do not depend on what was measured on the machine at hand."""

    def describe(module: ir.Module) -> None:
        if machines.chosen() and "dlti.target_system_spec" not in module.operation.attributes:
            module.operation.attributes["dlti.target_system_spec"] = ir.Attribute.parse(
                machines.spec({}), module.context
            )

    monkeypatch.setattr(calibration, "describe", describe)


@pytest.fixture(scope="session")
def validate_spirv(tmp_path_factory) -> Callable[[bytes], None]:
    """Fails the test unless spirv-val accepts the module. Every SPIR-V that a test emits goes through it."""
    directory = tmp_path_factory.mktemp("spirv")
    tool = shutil.which("spirv-val")

    def validate(spirv: bytes) -> None:
        assert tool, "spirv-val is missing: scripts/bootstrap installs it"
        path = directory / "kernel.spv"
        path.write_bytes(spirv)
        run = subprocess.run([tool, path], capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr

    return validate


@pytest.fixture
def compile_kernel(validate_spirv) -> Callable[..., xetile.Kernel]:
    """`xetile.compile` without machine code (unless asked for), its SPIR-V validated."""

    def compile_(*args, native: str = "off", **kwargs) -> xetile.Kernel:
        kernel = xetile.compile(*args, native=native, **kwargs)
        validate_spirv(kernel.spirv)
        return kernel

    return compile_


@pytest.fixture(scope="session")
def payloads() -> Path:
    """The folder of payloads that come with the package."""
    return Path(__file__).parents[2] / "schedules" / "payloads"
