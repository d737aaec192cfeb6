# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long the block-load planner takes for one operand; part of `make bench`.

usage: layout_plan.py [--json]

Runs build/bin/xetile-layout-bench and fails if any operand takes as long as LIMIT_US.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LIMIT_US = 50.0
PROGRAM = Path(__file__).parents[2] / "build" / "bin" / "xetile-layout-bench"


def measure() -> list[dict[str, float | int | str]]:
    """A row per operand: its name, messages of the plan, microseconds per plan; the best of three runs."""
    best: dict[str, dict[str, float | int | str]] = {}
    for _ in range(3):
        run = subprocess.run([PROGRAM], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"bench: error: {PROGRAM.name} failed\n{run.stderr}")
        for line in run.stdout.splitlines():
            row = json.loads(line)
            row["us_per_plan"] = row.pop("ns_per_plan") / 1000
            if row["operand"] not in best or row["us_per_plan"] < best[row["operand"]]["us_per_plan"]:
                best[row["operand"]] = row
    return list(best.values())


def main() -> int:
    if not PROGRAM.exists():
        sys.exit(f"bench: error: {PROGRAM} does not exist; run `make build` first")
    rows = measure()
    if "--json" in sys.argv[1:]:
        print(json.dumps(rows))
    else:
        print(f"Planning one operand (limit {LIMIT_US:.0f} us):")
        for row in rows:
            print(f"  {row['operand']:<26} {row['messages']:>3} messages  {row['us_per_plan']:6.1f} us")
    slow = [str(row["operand"]) for row in rows if row["us_per_plan"] >= LIMIT_US]
    if slow:
        print(f"bench: error: {', '.join(slow)}: expected less than {LIMIT_US:.0f} us", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
