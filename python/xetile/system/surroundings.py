# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dependencies on this machine, this Python and this process, and remedies where they do not fit.

Looked at by `xetile doctor`, and where an import fails.
"""

from __future__ import annotations

import platform
import re
import sys
from importlib import metadata
from pathlib import Path

__all__ = ["PACKAGE", "explain", "foreign_libraries", "is_installed", "mapped", "parts_missing", "reinstall", "version"]

PACKAGE = Path(__file__).parents[1]
"""The folder of the package."""

_MLIR_MODULES = PACKAGE / "mlir" / "_mlir_libs"
_LIBRARIES = re.compile(r"/lib((MLIR|LLVM)(?!PythonSupport)[\w.+-]*|\w+(Python|Aggregate)CAPI)\.so[\w.]*$")
"""libMLIR, libLLVM; and what holds both in MLIR's bindings of other projects, as upstream's CMake names it."""


def is_installed() -> bool:
    """True if this is an installed package; a build tree links its libraries."""
    return not (PACKAGE / "_lib").is_symlink()


def version() -> str:
    """Of the installed package. A build tree has none, whatever else is installed."""
    if not is_installed():
        return "of a build tree"
    for name in ("xetile", "xetile-runtime"):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return "unknown"


def reinstall(name: str = "xetile") -> str:
    """The remedy for parts that are missing or damaged."""
    return f"pip install --force-reinstall {name}=={version()}" if is_installed() else "run `make build`"


def parts_missing() -> bool:
    """True if only `xetile-runtime` is installed, which loads kernels and has no compiler."""
    return not _MLIR_MODULES.exists()


def mapped() -> list[str]:
    """The files of this process's libraries, each once."""
    try:
        lines = Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    return list(dict.fromkeys(parts[5] for line in lines if len(parts := line.split(maxsplit=5)) == 6))


def foreign_libraries() -> list[str]:
    """Libraries of LLVM or MLIR in this process that are not the package's own; none in a build tree, which has none
    of its own."""
    if not is_installed() or not any((PACKAGE / "_lib").glob("libMLIR*")):
        return []
    own = PACKAGE.resolve()
    return [path for path in mapped() if _LIBRARIES.search(path) and not Path(path).resolve().is_relative_to(own)]


def explain(error: ImportError) -> str:
    """Why an import of a part of the package failed, and what to do about it."""
    name = error.name or ""
    text = str(error)
    if text.startswith("xetile.mlir: "):
        return text
    if parts_missing() and (name == "xetile" or name.startswith("xetile.") or "from 'xetile'" in text):
        what = name.partition(".")[2] or text
        return f"{what} is the compiler's, and only xetile-runtime is installed: pip install xetile=={version()}"
    if found := re.search(r"version `(GLIBC(?:XX)?)_([\d.]+)' not found", text):
        wanted = f"{'glibc' if found[1] == 'GLIBC' else 'libstdc++ with GLIBCXX'} {found[2]} or newer"
        here = " ".join(platform.libc_ver())
        return (
            f"expected {wanted}, this machine has {here}: {text}; xetile's wheels run on Debian 12, Ubuntu 24.04, "
            "Fedora 37 and newer"
        )
    if others := _other_pythons():
        return (
            f"this is CPython {platform.python_version()} ({sys.executable}), and the package beside it was installed "
            f"for {', '.join(others)}: pip install xetile with this Python"
        )
    if foreign := foreign_libraries():
        return (
            f"{text}; another LLVM is in this process: {', '.join(foreign)}; import xetile.mlir before what loads it, "
            "or keep them in two processes"
        )
    if isinstance(error, ModuleNotFoundError) and name and not name.startswith("xetile"):
        return f"the Python package {name.partition('.')[0]} is missing: {reinstall()}"
    return f"{text}; {reinstall()}"


def _other_pythons() -> list[str]:
    """The Pythons that the extension modules are for, if this one is not among them."""
    tags = {found[1] for path in _MLIR_MODULES.glob("_mlir.*.so") if (found := re.search(r"cpython-(\d+)", path.name))}
    own = "".join(map(str, sys.version_info[:2]))
    if not tags or own in tags:
        return []
    return [f"CPython {tag[0]}.{tag[1:]}" for tag in sorted(tags)]
