# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What cpu_bench.py prints of its rows."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

REGRET, OURS = "drawn", "xetile"  # how names of sides begin


def models_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Microseconds, and ours as part of the others': more is better."""
    for threads in dict.fromkeys(row["threads"] for row in rows):
        print(f"\nlayers and models, {threads} threads: us of the best call, median of rounds; ratios to the others")
        for row in (row for row in rows if row["threads"] == threads):
            told = {side: statistics.median(times) for side, times in row.get("us", {}).items()}
            text = "".join(f"  {side} {us:10.1f}" for side, us in told.items())
            if OURS in told:
                text += "".join(f"  {told[side] / told[OURS]:5.2f} of {side}" for side in told if side != OURS)
            failed = "".join(f"  {side}: {why}" for side, why in row.get("failed", {}).items())
            print(f"{row.get('layer', row.get('left_out')):44}{text or ' left out'}{failed}")


def median_ratio(row: Mapping[str, Any], name: str) -> float | None:
    """Of the fastest peer's time to that of `name`, round by round."""
    if name not in row["us"] or not row["peers"]:
        return None
    peer = [min(times) for times in zip(*(row["us"][peer] for peer in row["peers"]), strict=True)]
    return statistics.median(theirs / own for theirs, own in zip(peer, row["us"][name], strict=True))


def best_ratio(row: Mapping[str, Any], name: str) -> float:
    """Of the best rounds: where threads of several libraries meet on a core, one takes a slice of the scheduler."""
    return float(min(min(row["us"][peer]) for peer in row["peers"]) / min(row["us"][name]))


def mean_of(ratios: Sequence[float]) -> str:
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return f"{mean:.3f}, worst {min(ratios):.2f}"


def table(rows: Sequence[Mapping[str, Any]], trees: Sequence[str], aside: Sequence[tuple[int, int, int]]) -> None:
    """Matmuls by type and threads, each size beside its peers; `aside`: sizes whose mean is told besides."""
    for dtype, threads in dict.fromkeys((row["dtype"], row["threads"]) for row in rows if "us" in row):
        chosen = [row for row in rows if row.get("dtype") == dtype and row["threads"] == threads and "us" in row]
        print(f"\n{dtype}, {threads} threads: us of the best call, median of rounds; ratio to the faster peer")
        for row in chosen:
            text = "x".join(map(str, row["shape"])).rjust(16)
            for name in [*row["peers"], *trees]:
                told = f"{statistics.median(row['us'][name]):9.1f}" if name in row["us"] else "     none"
                ratio = median_ratio(row, name) if name in trees else None
                text += f"  {name} {told}" + (f" {ratio:5.2f}" if ratio else "")
            drawn = {name: min(times) for name, times in row["us"].items() if name.startswith(REGRET)}
            if drawn and trees[-1] in row["us"]:
                own, best = min(row["us"][trees[-1]]), min(drawn, key=drawn.__getitem__)
                text += f"  regret {own / min(own, drawn[best]):.2f}" + (f" ({best})" if drawn[best] < own else "")
            print(text + "".join(f"  {name}: {why}" for name, why in row["failed"].items() if name in trees))
        for name in trees:
            ratios = [ratio for row in chosen if (ratio := median_ratio(row, name))]
            kept = [ratio for row in chosen if tuple(row["shape"]) in aside and (ratio := median_ratio(row, name))]
            if ratios:
                best = mean_of([best_ratio(row, name) for row in chosen if median_ratio(row, name)])
                print(
                    f"{name}: mean of {len(ratios)} {mean_of(ratios)}; kept aside: {mean_of(kept or ratios)}; "
                    f"by the best rounds of both sides {best}"
                )


def ratios_of(row: Mapping[str, Any]) -> dict[str, float]:
    """Of a layer: ours as part of the other sides."""
    told = {side: statistics.median(times) for side, times in row.get("us", {}).items()}
    return {side: told[side] / told[OURS] for side in told if side != OURS} if OURS in told else {}


def summary(rows: Sequence[Mapping[str, Any]], tree: str) -> None:
    """One table of all, in Markdown: of matmuls mean, worst; of layers the parts of eager's speed / inductor's."""
    counts = list(dict.fromkeys(row["threads"] for row in rows))
    cells: dict[str, dict[int, str]] = {}
    for dtype, threads in dict.fromkeys((row.get("dtype", ""), row["threads"]) for row in rows):
        found = {
            "x".join(map(str, row["shape"])): ratio
            for row in rows
            if row.get("dtype") == dtype and row["threads"] == threads and "us" in row
            if (ratio := median_ratio(row, tree))
        }
        if found:
            worst = min(found, key=found.__getitem__)
            cells.setdefault(f"{dtype}: mean, worst", {})[threads] = f"{mean_of(list(found.values()))} ({worst})"
    for row in rows:
        if "layer" in row:
            told = ratios_of(row)
            text = " / ".join(f"{told[side]:.2f}" if side in told else "none" for side in ("eager", "inductor"))
            cells.setdefault(row["layer"], {})[row["threads"]] = text
    if not cells:
        return
    print(f"\n| ratios | {' | '.join(f'{threads} threads' for threads in counts)} |\n|{'---|' * (len(counts) + 1)}")
    for name, found_by in cells.items():
        print(f"| {name} | {' | '.join(found_by.get(threads, '') for threads in counts)} |")
