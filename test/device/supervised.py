# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases that run in processes which may hang or end: each tells BEGIN, HALF and END with what it has found as JSON."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any


def told_gpu() -> str:
    """The GPU, and what makes its figures."""
    import torch

    smi = ["nvidia-smi", "--query-gpu=driver_version,clocks.max.sm,power.limit", "--format=csv,noheader"]
    facts = subprocess.run(smi, capture_output=True, text=True).stdout.strip()
    name = f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    return f"{name}\ndriver, highest clock, power limit: {facts}"


def supervise(
    numbers: list[int], command: list[str], limit: float, end: float, tell: Callable[[int, dict[str, Any]], None]
) -> dict[int, dict[str, Any]]:
    """Rows of cases, by workers: `command` and the numbers of cases. A worker that says nothing for `limit` seconds is
    killed, and the next one goes on; none begins a case after `end`, a time of time.monotonic()."""
    results: dict[int, dict[str, Any]] = {}
    while numbers and time.monotonic() < end:
        started = [*command, ",".join(map(str, numbers))]
        process = subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines: queue.Queue[str | None] = queue.Queue()

        def pump(source: Any = process.stdout, lines: queue.Queue[str | None] = lines) -> None:
            for line in source:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=pump, daemon=True).start()
        current, said = numbers[0], []
        while True:
            try:
                line = lines.get(timeout=max(1.0, min(limit, end - time.monotonic())))
            except queue.Empty:
                results[current] = results.get(current, {}) | {"failed": "no answer in time: killed"}
                break
            if line is None:
                if current not in results or "errors again" in results[current]:
                    results[current] = results.get(current, {}) | {"failed": " | ".join(said[-4:])[-800:]}
                break
            if line.startswith("BEGIN "):
                current = int(line[6:])
                if time.monotonic() > end:
                    break
            elif line.startswith(("HALF ", "END ")):
                results[current] = results.get(current, {}) | json.loads(line.partition(" ")[2])
                if line.startswith("END "):
                    numbers = [number for number in numbers if number != current]
                    tell(current, results[current])
                    # An error of the device stays with the process.
                    if not numbers or "failed" in results[current]:
                        break
            else:
                said.append(line.strip())
        process.kill()
        process.wait()
        if current in numbers and current in results:
            tell(current, results[current])
        numbers = [number for number in numbers if number not in results]
    return results
