# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make fuzz`: checks random cases of one kind or of all. README.md says what the kinds are and how to rerun a case."""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

import harness
import kinds


def main() -> int:
    parser = argparse.ArgumentParser(prog="test/fuzz", description=__doc__)
    parser.add_argument("--kind", action="append", choices=list(kinds.MODULES), help="may be repeated (default: all)")
    parser.add_argument("-n", type=int, default=200, help="cases of each kind (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="default: a fresh one, which is printed")
    parser.add_argument("--index", type=int, action="append", help="only this case; may be repeated")
    parser.add_argument("--jobs", type=int, default=harness.default_jobs(), help="processes (default: %(default)s)")
    parser.add_argument("--seconds", type=float, help="of each kind, after which no further case is begun")
    parser.add_argument("--no-reduce", action="store_true", help="show cases as they are")
    parser.add_argument("--out", type=Path, help="a folder that gets a file for each finding, too")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    chosen = [kinds.load(name) for name in options.kind or kinds.MODULES]
    return harness.run(
        chosen,
        options.n,
        seed,
        options.jobs,
        indices=options.index,
        reduce=not options.no_reduce,
        seconds=options.seconds,
        out=options.out,
    )


if __name__ == "__main__":
    sys.exit(main())
