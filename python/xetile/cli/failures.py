# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What it means that a module fails in the same way as another, for `xetile reduce`.

A program, too: the tester of mlir-reduce's passes, which call it for each module that they try. It imports nothing of
the package, so that it starts at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

__all__ = ["execute", "failure_of", "judge", "same_failure"]


def execute(command: list[str], module: Path) -> tuple[int, str]:
    """The status of a command on a module, and its stderr."""
    done = subprocess.run([*command, str(module)], capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, done.stderr


def failure_of(status: int, said: str) -> str | None:
    """The failure without what differs from module to module: places, names, numbers; None for success."""
    if status == 0:
        return None
    if status < 0 or status >= 128:
        number = -status if status < 0 else status - 128
        return f"signal {signal.Signals(number).name}" if number in set(signal.Signals) else f"status {status}"
    errors = re.findall(r"^(.*?)error: (.*)$", said, flags=re.MULTILINE)
    # The command's own line, "xetile: error: ..", sums up those at places of the module.
    placed = [message for place, message in errors if place.strip() != "xetile:"]
    message = (placed or [message for _, message in errors] or [f"status {status}"])[0]
    return re.sub(r"%[\w#]+", "%", re.sub(r"\d+", "#", message))


def same_failure(status: int, said: str, wanted: str, error: str | None) -> bool:
    """Says if a command failed as it should: with `wanted`, or with a text somewhere in its errors."""
    found = failure_of(status, said)
    return found is not None and (error in said if error is not None else found == wanted)


def judge(module: str, folder: str) -> int:
    """The status that mlir-reduce's passes expect of their tester: 1 if a module is interesting, else 0.

    `folder` has the command and its failure in wanted.json. Passes ask for the same module several times: answers are
    kept there.
    """
    data = Path(module).read_bytes()
    known = Path(folder) / f"known-{hashlib.sha256(data).hexdigest()}"
    if known.exists():
        return int(known.read_text())
    wanted = json.loads((Path(folder) / "wanted.json").read_text())
    path = Path(module).resolve()
    os.chdir(wanted["cwd"])
    status, said = execute(wanted["command"], path)
    result = int(same_failure(status, said, wanted["failure"], wanted["error"]))
    known.write_text(str(result))
    return result


if __name__ == "__main__":
    sys.exit(judge(sys.argv[1], sys.argv[2]))
