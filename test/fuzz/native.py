# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What happens below Python in a worker: LLVM prints where it crashed, and whose code that was is told from it."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import shutil
import subprocess


def print_stack_traces() -> None:
    """From now on a fatal signal prints a stack trace with names. MLIR must have been loaded."""
    if "LLVM_SYMBOLIZER_PATH" not in os.environ:
        folder = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True, text=True).stdout.strip()
        tool = shutil.which("llvm-symbolizer", path=folder) or shutil.which("llvm-symbolizer-22")
        if tool:
            os.environ["LLVM_SYMBOLIZER_PATH"] = tool
    library = ctypes.CDLL(_loaded("libLLVM.so"))
    enable = library._ZN4llvm3sys28PrintStackTraceOnErrorSignalENS_9StringRefEb
    enable(ctypes.c_char_p(b"fuzz"), ctypes.c_size_t(4), ctypes.c_bool(False))


def _loaded(name: str) -> str:
    with open("/proc/self/maps") as maps:
        return next(line.split()[-1] for line in maps if name in line)


def own_frames(log: str) -> list[str]:
    """The functions of ours in a stack trace, innermost first; not the C API that leads to everything."""
    return [name for name, is_ours in _named(log) if is_ours]


def slow_in_the_driver(text: str, log: str) -> str | None:
    """For `excuse`: that a process was over its time in the OpenCL driver's compiler; None where it was not."""
    if "takes longer" in text and "software.intel.com" in log and "Running pass" in log:
        return "took longer in the OpenCL driver's compiler"
    return None


def in_upstreams_parser(log: str) -> bool:
    """Whether upstream's parser of attributes and types crashed, called by the innermost function of ours, if any."""
    inner = itertools.takewhile(lambda frame: not frame[1], _named(log))
    return any(name.startswith("mlir::detail::Parser::parse") for name, _ in inner)


def _named(log: str) -> list[tuple[str, bool]]:
    """The functions of a stack trace, innermost first, and whether each is ours."""
    found = []
    for name, place in re.findall(r"^ *#\d+ 0x[0-9a-f]+ (.*?)(?: \(([^()]*)\+0x[0-9a-f]+\)| \S+:\d+:\d+)$", log, re.M):
        if re.search(r"nanobind::|mlir::python::", name):
            continue
        is_ours = "xetile::" in name or "(anonymous namespace)" in name or ("XeTile" in place and "::" in name)
        found.append((name, is_ours))
    return found


def frames(log: str) -> list[str]:
    """All functions of a stack trace that have a name in C++, innermost first, without the signal's own."""
    names = re.findall(r"^ *#\d+ 0x[0-9a-f]+ ([\w(][^\n]*?)(?: \([^()]*\+0x| \S+:\d+:\d+$)", log, re.M)
    skipped = r"llvm::sys::|report_fatal_error|nanobind::|mlir::python::|^Py|^_Py|^nb_|^run_|^pymain"
    names = [name.replace("(anonymous namespace)::", "") for name in names if not re.search(skipped, name)]
    return [re.sub(r"\(.*", "", name) for name in names]


def without_python(log: str) -> str:
    """The log without the frames of Python and its bindings."""
    return re.sub(
        r"^ *#\d+ .*(?:nanobind|[Pp]ython|libc\.so|libc_start|_start \(|nptl|posix).*\n?", "", log, flags=re.M
    )
