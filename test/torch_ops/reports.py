# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is printed: findings as they come, a table, the summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

__all__ = ["FAILED", "STATES", "line", "summary", "table", "targets"]

Row = dict[str, Any]

FAILED = ("wrong", "crashed")
STATES = ("right", "random", *FAILED, "refused", "refused by PyTorch", "wrong by PyTorch", "skipped")
MOST_REASONS = 12


def line(row: Row) -> str:
    """A sample, what became of it, and how to run it again."""
    reason = f": {row['reason']}" if row.get("reason") else ""
    by = f" ({row['by']})" if row.get("by") else ""
    again = f"--op {row['op']} --type {row['type']} --sample {row['sample']} --seed {row['seed']}"
    again += f" --target {row['target']}" if row.get("target") else ""
    again += " --shapes" if row.get("shapes") else ""
    left = "".join(f"\n    {text}" for text in row.get("left", ()))
    return f"{row['state']}{by}: {row['op']}, {row['type']}{reason}{left}\n  again: python test/torch_ops {again}"


def table(rows: Sequence[Row]) -> str:
    """Types down, states across; then reasons why torch.compile refused and why PyTorch computed, by frequency."""
    count = Counter((row["type"], row["state"]) for row in rows)
    types = [*sorted({row["type"] for row in rows}), "all"]
    for row in rows:
        count["all", row["state"]] += 1
    lines = ["", "".join([f"{'':16}", *(f"{state:>{max(8, len(state) + 2)}}" for state in STATES)])]
    for each in types:
        cells = (f"{count[each, state]:>{max(8, len(state) + 2)}}" for state in STATES)
        lines.append(f"{each:16}" + "".join(cells))
    refusals = Counter(_short(row["reason"]) for row in rows if row["state"] == "refused")
    left = Counter(_short(text) for row in rows for text in row.get("left", ()))
    for title, reasons in (("refused", refusals), ("PyTorch computed", left)):
        if reasons:
            lines += ["", f"{title}:"]
            lines += [f"{number:6} {text}" for text, number in reasons.most_common(MOST_REASONS)]
    return "\n".join(lines)


def targets(rows: Sequence[Row]) -> str:
    """Targets down: samples, who computed those that are right, what became of the others."""
    heads = ("samples", "right", "kernels", "both", "PyTorch", "random", *FAILED, "refused")
    lines = ["", "".join([f"{'':16}", *(f"{head:>9}" for head in heads)])]
    for target in dict.fromkeys(row.get("target") for row in rows):
        mine = [row for row in rows if row.get("target") == target]
        states = Counter(row["state"] for row in mine)
        by = Counter(row["by"] for row in mine if row["state"] == "right")
        numbers = [len(mine), states["right"], by["kernels"], by["both"], by["PyTorch"], states["random"]]
        numbers += [states[state] for state in (*FAILED, "refused")]
        lines.append("".join([f"{target or 'this CPU':16}", *(f"{number:>9}" for number in numbers)]))
    return "\n".join(lines)


def summary(rows: Sequence[Row], seed: int, seconds: float) -> str:
    """One line: what `make torch-ops` ends with."""
    count = Counter(row["state"] for row in rows)
    operators = len({row["op"] for row in rows})
    by = Counter(row["by"] for row in rows if row["state"] == "right")
    text = ", ".join(f"{count[state]} {state}" for state in STATES)
    who = f"{by['kernels']} by kernels, {by['both']} with PyTorch's help, {by['PyTorch']} by PyTorch alone"
    return f"torch-ops: {operators} operators, {len(rows)} samples: {text}; right: {who} (seed {seed}, {seconds:.0f} s)"


def _short(text: str) -> str:
    return text[:150]
