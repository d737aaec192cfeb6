# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a command line names in a Python file of the user's, FILE.py or FILE.py:NAME: a model, a schedule."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from xetile.errors import XeTileError

__all__ = ["call", "read", "split"]

_NAME = re.compile(r"(?P<path>.+\.py)(:(?P<name>\w+))?", re.DOTALL)


def split(text: str) -> tuple[Path, str | None] | None:
    """The file and the name of FILE.py:NAME; None if the text is none of these."""
    match = _NAME.fullmatch(text)
    return None if match is None else (Path(match["path"]), match["name"])


def read(path: Path, what: str) -> ModuleType:
    """The file as a module, run once; it imports from its own folder, too. `what` says in errors what is looked for.

    XeTileError if there is no such file, or with the line of the file where it fails.
    """
    if not path.is_file():
        raise XeTileError(f"cannot read the {what} {path}: there is no such file")
    spec = importlib.util.spec_from_file_location(f"xetile_{what}", path)
    if spec is None or spec.loader is None:
        raise XeTileError(f"cannot read the {what} {path}: it is no Python file")
    module = importlib.util.module_from_spec(spec)
    loader, folder = spec.loader, str(path.resolve().parent)
    sys.modules[spec.name] = module  # dataclasses look for it there
    sys.path.insert(0, folder)
    try:
        call(path, "reading it", lambda: loader.exec_module(module))
    finally:
        sys.path.remove(folder)
    return module


def call(path: Path, what: str, action: Callable[[], Any]) -> Any:
    """The result of the user's code; its exceptions as errors with the line of the file."""
    try:
        return action()
    except XeTileError:
        raise
    except (Exception, SystemExit) as error:
        line, trace = 0, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(path):
                line = trace.tb_lineno
            trace = trace.tb_next
        line = getattr(error, "lineno", None) or line
        place = f"{path}:{line}" if line else str(path)
        raise XeTileError(f"{place}: {what} fails: {type(error).__name__}: {error}") from error
