# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The blocks of docs/kernels.md, run by test/python and, those of Triton, by test/triton_kernels."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Block:
    """`language` is "bash", "python", "c" or "" (for reading only), `mark` what a comment above it says."""

    language: str
    mark: str
    text: str


def blocks() -> list[Block]:
    text = (ROOT / "docs" / "kernels.md").read_text()
    found = re.findall(r"^(?:<!-- ([^\n]*) -->\n)?```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [Block(language, mark, body) for mark, language, body in found]
