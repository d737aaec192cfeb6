# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is the same in the messages of two cases that end in the same way: findings are told apart by it."""

from __future__ import annotations

import re
from typing import Any


def error_line(error: Any) -> str:
    """The line of an error that says what is wrong, without its place and the sizes of types."""
    lines = [line for line in str(error).split("\n") if line.strip()]
    line = re.sub(r"^\S*\d+:\d+: ", "", lines[min(1, len(lines) - 1)].strip())
    return re.sub(r"(tensor|tile|memref|vector)<[^<>]*(<[^<>]*(<[^<>]*>[^<>]*)*>[^<>]*)*>", r"\1<>", line)
