# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make linalg-ops`: every op that linalg registers, in all types and ranks, compiled for GPUs, against NumPy."""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "test" / "fuzz"), str(ROOT / "test")]

import catalog  # noqa: E402
import native  # noqa: E402
from harness import signature  # noqa: E402
from worker import DRIVER_MEMORY, Answer, Worker  # noqa: E402

STATES = ("right", "wrong", "crashed", "refused", "invalid")
FAILED = ("wrong", "crashed", "refused", "invalid")


class Trials:
    """What a worker does; the fuzzer's processes ask it."""

    name = "linalg-ops"
    memory = DRIVER_MEMORY

    def __init__(self, seed: int, time_limit: float) -> None:
        self.seed, self.time_limit = seed, time_limit

    def prepare(self) -> None:
        import trying
        import xetile  # noqa: F401

        os.environ["XETILE_CALIBRATION"] = "off"
        self._attempt = trying.attempt
        native.print_stack_traces()

    def value(self, trial: catalog.Trial) -> dict[str, Any]:
        return self._attempt(trial, self.seed)


def main() -> int:
    parser = argparse.ArgumentParser(prog="test/linalg_ops", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--op", nargs="+", help="names of ops, as matmul or linalg.matmul")
    parser.add_argument("--form", help="only forms with this text in them, as 'bf16'")
    parser.add_argument(
        "--shapes", nargs="+", choices=("odd", "one", "empty"), help="how sizes are drawn (default: all)"
    )
    parser.add_argument("--target", nargs="+", default=list(catalog.TARGETS), help="GPUs (default: pvc bmg)")
    parser.add_argument("--draw", type=int, metavar="N", help="N cases that the seed draws")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="each N-th case, from the I-th")
    parser.add_argument("--seed", type=int, help="default: a fresh one, which is printed")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes (default: all)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds of one case (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="a file that gets a line for each case as it comes")
    parser.add_argument("--text", action="store_true", help="print the payload of each case, and run none")
    options = parser.parse_args()
    if missing := catalog.undecided():
        print(
            "expected a payload, or a reason in catalog.PARTS, for each op that is registered; differ: "
            + ", ".join(missing)
        )
        return 1
    seed = options.seed if options.seed is not None else secrets.randbits(31)
    found = [each for each in catalog.trials(options.target) if _is_wanted(each, options)]
    if not found:
        parser.error("no such case")
    random.Random(f"{seed}/order").shuffle(found)
    first, count = map(int, options.shard.split("/"))
    found = found[: options.draw][first - 1 :: count]
    print(f"seed {seed}; {len(found)} cases of {len({each.op for each in found})} ops", flush=True)
    if options.text:
        for trial in found:
            print(f"// {trial}\n{catalog.case(trial, seed).text}")
        return 0
    rows, start = [], time.monotonic()
    with open(options.json if options.json else os.devnull, "w") as file:
        for trial, row in tried(Trials(seed, options.timeout), found, options.jobs):
            rows.append(asdict(trial) | row)
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
            if row["state"] in FAILED:
                print(f"{row['state']}: {trial}: {row['reason']}\n  again: {_again(trial, seed)}", flush=True)
    print(table(rows, options.target))
    states = Counter(row["state"] for row in rows)
    text = ", ".join(f"{states[state]} {state}" for state in STATES)
    print(f"linalg-ops: {len({row['op'] for row in rows})} ops, {len(rows)} cases: {text} (seed {seed}, "
          f"{time.monotonic() - start:.0f} s)")  # fmt: skip
    return int(any(states[state] for state in FAILED))


def _is_wanted(trial: catalog.Trial, options: argparse.Namespace) -> bool:
    names = options.op and {name if name.startswith("linalg.") else f"linalg.{name}" for name in options.op}
    return (
        (not names or trial.op in names)
        and (not options.form or options.form in trial.form)
        and (not options.shapes or trial.shapes in options.shapes)
    )


def _again(trial: catalog.Trial, seed: int) -> str:
    name = trial.op.removeprefix("linalg.")
    return (f"python test/linalg_ops --op {name} --form '{trial.form}' --shapes {trial.shapes} --target {trial.target} "
            f"--seed {seed}")  # fmt: skip


def tried(kind: Any, trials: list[catalog.Trial], jobs: int) -> Iterator[tuple[catalog.Trial, dict[str, Any]]]:
    """What became of each, as they come: a crash or a hang is that of one case."""
    left = iter(trials)
    workers = [Worker(kind) for _ in range(min(jobs, len(trials)))]
    busy: dict[Worker, catalog.Trial] = {}

    def go_on(worker: Worker) -> None:
        if (trial := next(left, None)) is not None:
            busy[worker] = trial
            worker.start("value", trial)

    try:
        for worker in workers:
            go_on(worker)
        while busy:
            for worker, answer in Worker.wait(list(busy)):
                yield busy.pop(worker), _outcome(answer)
                go_on(worker)
    finally:
        for worker in workers:
            worker.close()


def _outcome(answer: Answer) -> dict[str, Any]:
    if answer.finding is None:
        return dict(answer.value)
    if not answer.finding.startswith("the process "):
        # An exception that is no XeTileError is none that a user may see.
        return {
            "state": "crashed",
            "reason": answer.finding.strip().splitlines()[0][:400],
            "log": answer.finding[-3000:],
        }
    said = native.without_python(answer.log)
    return {"state": "crashed", "reason": signature(answer.finding, said), "log": said.strip()[-3000:]}


def table(rows: list[dict[str, Any]], targets: list[str]) -> str:
    """Targets down, states across; then reasons of what was refused."""
    lines = ["", "".join([f"{'':8}{'cases':>9}", *(f"{state:>9}" for state in STATES)])]
    for target in targets:
        mine = Counter(row["state"] for row in rows if row["target"] == target)
        lines.append("".join([f"{target:8}{mine.total():>9}", *(f"{mine[state]:>9}" for state in STATES)]))
    reasons = Counter(row["reason"][:150] for row in rows if row["state"] == "refused")
    lines += ["refused:"] if reasons else []
    lines += [f"{number:6} {text}" for text, number in reasons.most_common(20)]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
