# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make torch-ops`: PyTorch's own operator database through torch.compile(backend="xetile"), against eager PyTorch.

Every operator with every type that it lists for CPUs, forwards and, where it says so, backwards. README.md says what
the states are and how to run one sample again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "fuzz"))

import pool  # noqa: E402
import reports  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="test/torch_ops", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--op", nargs="+", help="names of operators, of all their variants or as NAME.VARIANT")
    parser.add_argument(
        "--target", nargs="+", default=[None], help="GPUs to compile for, as pvc bmg (default: this CPU)"
    )
    parser.add_argument(
        "--shapes",
        action="store_true",
        help="elementwise operators and reductions in all ranks, with odd, one and zero sizes",
    )
    parser.add_argument("--type", nargs="+", help="types, as float16 uint8 (default: all that an operator lists)")
    parser.add_argument("--samples", type=int, default=1, help="of each operator and type (default: %(default)s)")
    parser.add_argument("--sample", type=int, help="only the sample of this number")
    parser.add_argument("--draw", type=int, metavar="N", help="N operators that the seed draws")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="each N-th operator with a type, from the I-th")
    parser.add_argument("--seed", type=int, help="default: a fresh one, which is printed")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes (default: all)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds of one sample (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="a file that gets a line for each sample as it comes")
    parser.add_argument("--resume", action="store_true", help="leave out what the file of --json has")
    options = parser.parse_args()
    before = _lines(options.json) if options.resume and options.json else []
    seed = options.seed if options.seed is not None else before[0]["seed"] if before else secrets.randbits(31)
    print(f"seed {seed}", flush=True)
    kind = pool.Samples(seed, options.samples, options.timeout, options.target, options.shapes)
    try:
        pairs = kind.pairs(options.op, options.type, options.draw)
        first, count = map(int, options.shard.split("/"))
    except ValueError as error:
        parser.error(str(error))
    # The first ones tell of all.
    random.Random(f"{seed}/order").shuffle(pairs)
    known = {(row["op"], row["type"], row.get("target")) for row in before}
    pairs = [pair for pair in pairs[first - 1 :: count] if pair not in known]
    print(f"{len(pairs)} operators with a type", flush=True)
    rows, start = list(before), time.monotonic()
    with open(options.json if options.json else os.devnull, "a" if before else "w") as file:
        for row in pool.checked(kind, pairs, options.jobs, options.sample):
            rows.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
            if row["state"] in reports.FAILED or options.sample is not None:
                print(reports.line(row), flush=True)
    for target in options.target:
        mine = [row for row in rows if row.get("target") == target]
        print(f"\n{target or 'this CPU'}:{reports.table(mine)}")
    if len(options.target) > 1:
        print(reports.targets(rows))
    print(reports.summary(rows, seed, time.monotonic() - start))
    return int(any(row["state"] in reports.FAILED for row in rows))


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


if __name__ == "__main__":
    sys.exit(main())
