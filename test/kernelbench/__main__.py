# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A user's checkout of KernelBench through torch.compile(backend="xetile"), each problem in a process of its own.

usage: python test/kernelbench DIR [--level 1 2 3] [--only 1 20 ..] [--elements 2000000] [--threads 1] [--inductor]
                               [--freeze] [--target cpu] [--timeout 300] [--jobs 1] [--json FILE] [--page FILE]

DIR is the checkout (its folder KernelBench/level1 and so on). Sizes are halved until no tensor has more than --elements
elements; 0 leaves them as they are. Printed: how many problems torch-mlir imported, that were compiled, right, wrong,
crashed or out of time, and how much faster than PyTorch they are (eager/ours: above 1 is faster), as geometric mean.
For a GPU also how many kernels a call launches, beside those that PyTorch's inductor makes of the model (generated and
calls of libraries, see inductor.py; "cpu" where its CPU backend was asked), and the medians of both; and which of them
spill registers, in bytes of a thread, where ocloc is found (scripts/install-ocloc).
"""

from __future__ import annotations

import argparse
import html
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from checkout import problems

CHILD = Path(__file__).with_name("child.py")
STATES = ("not imported", "not compiled", "wrong", "crashed", "out of time", "right")


def main() -> int:
    parser = argparse.ArgumentParser(prog="kernelbench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkout", type=Path, metavar="DIR")
    parser.add_argument("--level", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--only", type=int, nargs="+", help="numbers of problems")
    parser.add_argument("--elements", type=int, default=2_000_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5, help="for measuring each side")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--inductor", action="store_true", help="measure torch.compile's default backend, too")
    parser.add_argument("--freeze", action="store_true", help="pack weights in the first call, not in each")
    parser.add_argument("--target", default="cpu", help="cpu, or the chip of a GPU, as pvc: right or wrong counts then")
    parser.add_argument("--jobs", type=int, default=1, help="problems at once; times mean nothing then")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path, help="an HTML page with a plot")
    options = parser.parse_args()
    rows = []
    for level in options.level:
        files = problems(options.checkout, level, options.only)
        with ThreadPoolExecutor(options.jobs) as pool:
            found = list(pool.map(lambda file: run(file, options), files))
        rows += [{"level": level, **row} for row in found]
        print(summary(level, found), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
    if options.page:
        options.page.write_text(page(rows))
    return 0 if all(row["state"] == "right" for row in rows) else 1


def run(file: Path, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", CHILD, file, "--elements", str(options.elements)]
    command += ["--threads", str(options.threads), "--seconds", str(options.seconds)]
    command += ["--target", options.target]
    command += ["--inductor"] * options.inductor + ["--freeze"] * options.freeze
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout, env=environment)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode == 0 and lines:
            row = json.loads(lines[-1])
        else:
            row = {"state": "crashed", "reason": f"exit {done.returncode}: {done.stderr.strip()[-400:]}"}
    except subprocess.TimeoutExpired:
        row = {"state": "out of time", "reason": f"over {options.timeout:.0f} s"}
    row = {"name": file.stem, **row}
    ratio = f" eager/ours {ratio_of(row):.2f}, compiled in {row['compile_seconds']:.1f} s" if "seconds" in row else ""
    print(f"  {file.stem}: {row['state']}{ratio}{kernels(row)}{spills(row)}{reason(row)}", flush=True)
    return row


def reason(row: dict[str, Any]) -> str:
    return f": {row['reason']}" if "reason" in row else ""


def kernels(row: dict[str, Any]) -> str:
    if "kernels" not in row:
        return ""
    other = row["inductor_kernels"]
    parts = f"{other['generated']} + {other['library']} of libraries, {other['device']}"
    return f", {row['kernels']} kernels, inductor {inductor_kernels(row)} ({parts})"


def spills(row: dict[str, Any]) -> str:
    return "".join(f", {kernel} spills {count} bytes" for kernel, count in (row.get("spills") or {}).items())


def inductor_kernels(row: dict[str, Any]) -> int:
    return int(row["inductor_kernels"]["generated"] + row["inductor_kernels"]["library"])


def ratio_of(row: dict[str, Any], side: str = "eager") -> float:
    return row["seconds"][side] / row["seconds"]["ours"]


def mean(ratios: Iterable[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def summary(level: int, rows: list[dict[str, Any]]) -> str:
    count = {state: sum(row["state"] == state for row in rows) for state in STATES}
    timed = [row for row in rows if "seconds" in row]
    imported = len(rows) - count["not imported"] - count["crashed"] - count["out of time"]
    text = f"level {level}: {len(rows)} tried, {imported} imported, {imported - count['not compiled']} compiled"
    text += "".join(f", {count[state]} {state}" for state in STATES[2:])
    text += f"; eager/ours {mean(map(ratio_of, timed)):.2f}"
    if any("inductor" in row["seconds"] for row in timed):
        text += f", inductor/ours {mean(ratio_of(row, 'inductor') for row in timed):.2f}"
    counted = [row for row in rows if "kernels" in row]
    if counted:
        ours, others = ([row["kernels"] for row in counted], [inductor_kernels(row) for row in counted])
        more = sum(mine > other for mine, other in zip(ours, others, strict=True))
        text += f"; kernels {statistics.median(ours):g}, inductor {statistics.median(others):g} (medians), {more} more"
    if told := [row["spills"] for row in counted if row.get("spills") is not None]:
        spilled = sum(sum(each.values()) for each in told)
        text += f"; {sum(map(bool, told))} of {len(told)} spill, {spilled} bytes in all"
    seconds = sorted(row["compile_seconds"] for row in timed)
    return text + (f"; compiled in {seconds[len(seconds) // 2]:.1f} s (median)" if seconds else "")


def machine() -> str:
    try:
        names = re.findall(r"^model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        names = []
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


def page(rows: list[dict[str, Any]]) -> str:
    """A table, and bars on a logarithmic scale: to the right of the line is faster than PyTorch."""
    bars = []
    timed = sorted((row for row in rows if "seconds" in row), key=ratio_of)
    for place, row in enumerate(timed):
        length = 60 * math.log2(ratio_of(row))
        title = f"<title>{html.escape(row['name'])}: {ratio_of(row):.2f}</title>"
        bars.append(
            f'<rect x="{400 + min(length, 0):.1f}" y="{5 * place}" width="{abs(length):.1f}" height="4">{title}</rect>'
        )
    lines = "".join(
        f"<tr><td>{row['level']}<td>{html.escape(row['name'])}<td>{row['state']}"
        f"<td>{f'{ratio_of(row):.2f}' if 'seconds' in row else html.escape(reason(row)[2:])}"
        for row in rows
    )
    return (
        f"<!doctype html><meta charset=utf-8><title>KernelBench</title><h1>KernelBench</h1><p>{html.escape(machine())}"
        f'<p>eager/ours, one bar a problem, a doubling is 60 pixels<p><svg width="800" height="{5 * len(timed)}">'
        f'<line x1="400" x2="400" y1="0" y2="{5 * len(timed)}" stroke="black"/>{"".join(bars)}</svg>'
        f"<table><tr><th>level<th>problem<th>state<th>eager/ours, or why not{lines}</table>\n"
    )


if __name__ == "__main__":
    sys.exit(main())
