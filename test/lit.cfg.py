# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: F821  (config and lit_config come from lit)
"""How lit runs the .mlir tests. From a checkout: `.venv/bin/lit -sv build/test`, or `.venv/bin/lit -sv test/IR`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import lit.formats

TEST = Path(__file__).parent
ROOT = TEST.parent

if not hasattr(config, "xetile_build"):
    # lit was given the source directory: start over from what the build wrote.
    site = ROOT / "build" / "test" / "lit.site.cfg.py"
    if not site.exists():
        lit_config.fatal(f"{site} does not exist: run `make build` first")
    lit_config.load_config(config, str(site))
    raise SystemExit

BUILD = Path(config.xetile_build)

config.name = "xetile"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["python", "device", "runtime", "bench", "fuzz", "Inputs"]
config.test_source_root = str(TEST)
config.test_exec_root = str(BUILD / "test")

# Our tools, then the ones of the LLVM build that we link, then FileCheck's and spirv-tools' own places.
path = [str(BUILD / "bin"), config.llvm_tools, config.environment["PATH"]]
config.environment["PATH"] = os.pathsep.join(path)
kept = [
    "HOME",
    "XDG_CACHE_HOME",
    "XETILE_CACHE",
    "XETILE_CPU_WITHOUT",
    "XETILE_DEVICE",
    "XETILE_OCLOC",
    "XETILE_OPENCL_RT",
]
for name in [*kept, "ASAN_OPTIONS", "UBSAN_OPTIONS"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

# What was measured on the machine at hand changes no test.
config.environment["XETILE_CALIBRATION"] = "off"

if config.xetile_cpu:
    config.available_features.add("cpu")

if config.xetile_sanitized:
    # Stock mlir-opt cannot load what needs the sanitizer's runtime first; xetile-opt has the same passes.
    stock = "mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin"
    config.substitutions.append((stock, str(BUILD / "bin" / "xetile-opt")))

config.substitutions += [
    ("%plugin", str(BUILD / "lib" / "XeTilePlugin.so")),
    ("%runtime", str(BUILD / "lib" / "libXeTileRuntime.so")),
    ("%mlir_lib_dir", config.mlir_libraries),
    ("%schedules", str(ROOT / "schedules")),
    ("%python", sys.executable),
]


def has_ocloc() -> bool:
    """Whether xetile finds ocloc; the order is that of the product."""
    if "XETILE_OCLOC" in os.environ:
        return os.access(os.environ["XETILE_OCLOC"], os.X_OK)
    ask = '. scripts/common.sh && printf %s "$cache"'
    cache = subprocess.run(["bash", "-c", ask], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return shutil.which("ocloc") is not None or os.access(os.path.join(cache, "ocloc", "ocloc"), os.X_OK)


if has_ocloc():
    config.available_features.add("ocloc")
# The OpenCL runtime for CPUs that .venv brings, or another that the user names.
if (Path(os.environ.get("XETILE_OPENCL_RT") or Path(sys.prefix) / "lib") / "libintelocl.so").exists():
    config.available_features.add("opencl")
