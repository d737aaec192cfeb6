# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules on which passes fail, kept as files that `xetile reduce` and xetile-opt run again: XETILE_REPRODUCERS=DIR."""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from xetile.errors import XeTileError
from xetile.mlir import ir
from xetile.system import files

__all__ = ["Reproducer", "reproducing"]

_numbers = itertools.count(1)


class Reproducer:
    """The file of one pipeline's module, if there is one. It is written before the passes run: a crash leaves it."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def advice(self) -> str:
        """For an error's message, to be put behind it."""
        if self._path is None:
            return ""
        return f" (it is kept: xetile reduce {shlex.quote(str(self._path))} -o small.mlir)"


@contextlib.contextmanager
def reproducing(
    module: ir.Module | ir.Operation, pipeline: str, schedule: ir.Module | None = None
) -> Iterator[Reproducer]:
    """Keeps the module and the pipeline if the `with` block fails, or the process ends in it.

    A schedule is kept beside them; the pipeline has @schedule@ in place of its file. XeTileError if XETILE_REPRODUCERS
    is no folder that can be written to.
    """
    folder = os.environ.get("XETILE_REPRODUCERS")
    if not folder:
        yield Reproducer(None)
        return
    path = Path(folder, f"reproducer-{os.getpid()}-{next(_numbers):03d}.mlir").absolute()
    beside = path.with_suffix(".schedule.mlir")
    text = pipeline.replace("@schedule@", str(beside)).replace("\\", "\\\\").replace('"', '\\"')
    resources = f'{{-# external_resources: {{ mlir_reproducer: {{ pipeline: "{text}", '
    resources += "disable_threading: false, verify_each: true } } #-}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise XeTileError(f"XETILE_REPRODUCERS={folder}: {error.strerror}") from None
    if schedule is not None:
        files.write(beside, f"{schedule}\n".encode())
    files.write(path, f"{module}\n{resources}\n".encode())
    yield Reproducer(path)
    path.unlink(missing_ok=True)
    beside.unlink(missing_ok=True)
