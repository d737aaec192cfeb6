# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random cases in worker processes and reports what broke: the common part of every fuzzer here.

A `Kind` makes a case from a random number generator, checks it, and offers smaller ones. Workers check many cases in a
row; this process only watches them. A worker that dies by a signal, takes longer than the kind's limit, or runs out of
memory is a finding for the case that it had in hand, and is replaced. The generator of a case depends on the seed, the
kind and the case's index alone, so that one case can be run again: README.md says how.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import native
from worker import DIED, Worker, count

__all__ = ["Finding", "Kind", "case_rng", "count", "run", "signature"]

REDUCTION_SECONDS = 60.0
# Candidates that `reduced` may offer for one case; the rest is not asked for.
REDUCTION_WIDTH = 400


class Kind(Protocol):
    """What one fuzzer tells the harness. Importing its module must be cheap: `prepare` does the rest."""

    name: str
    time_limit: float  # seconds that one case may take
    # Optional: `memory`, bytes that a worker may add to what it has after `prepare` (default: 2 GiB);
    # `excuse(text, log) -> str | None`, under which name a dead process is tallied that is no finding.
    # Gets: `shared`, a folder that all its processes of one run have in common.

    def prepare(self) -> None:
        """Once per worker process: imports, devices."""

    def generate(self, rng: random.Random) -> Any:
        """A case: plain data that JSON can hold, and nothing but `rng` decides about it."""

    def check(self, case: Any) -> str | None:
        """None if all is well, otherwise the finding; its first line says what broke without this case's details.

        An exception is a finding, too. `harness.count("...")` adds to a tally that the summary shows.
        """

    def reduced(self, case: Any) -> Iterator[Any]:
        """Smaller cases that may show the same, the most promising first."""

    def describe(self, case: Any) -> str:
        """What a person runs to see it: a command, a program, a file's text."""


@dataclass
class Finding:
    """One way in which something broke, with the smallest case that shows it."""

    kind: str
    index: int
    case: Any
    text: str
    log: str = ""
    note: str = ""
    description: str = ""
    more: list[int] = field(default_factory=list)  # cases that end like this one
    signature: str = field(default="", compare=False)


def case_rng(seed: int, kind: str, index: int) -> random.Random:
    """The random numbers of one case."""
    return random.Random(f"{seed}/{kind}/{index}")


def signature(text: str, log: str = "") -> str:
    """What findings of one cause have in common: the first line, or why a process died, without numbers and names."""
    line = text.strip().split("\n", 1)[0]
    if line.startswith(DIED):
        why = "Assertion|LLVM ERROR|terminate called|AddressSanitizer|runtime error"
        causes = re.findall(rf"^.*(?:{why}).*$", log, re.M)[:1]
        # A process that was interrupted is somewhere else each time.
        frames = [] if "takes longer" in line else native.frames(log)[:3]
        line = " ".join([line, *causes, *frames])
    line = re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", "_", line)
    return re.sub(r"0x[0-9a-f]+|\d+", "#", line)[:300]


def run(
    kinds: Sequence[Kind],
    n: int,
    seed: int,
    jobs: int = 1,
    *,
    indices: Sequence[int] | None = None,
    reduce: bool = True,
    seconds: float | None = None,
    out: Path | None = None,
    say: Callable[[str], None] = lambda text: print(text, flush=True),
) -> int:
    """Checks `n` cases of each kind (or those of `indices`) in `jobs` processes; returns the exit code: 1 if any broke.

    After `seconds` no further case of a kind is begun; the summary says how many were checked.
    Prints each finding with its reduced case, and a summary of each kind last. `out` gets each finding as a file, too.
    """
    summaries = []
    for kind in kinds:
        session = _Session(kind, seed, jobs, say)
        try:
            session.check_all(list(indices if indices is not None else range(n)), seconds)
            for number, finding in enumerate(session.findings.values()):
                if reduce:
                    session.reduce(finding)
                finding.description = session.describe(finding.case)
                text = _report(finding, seed)
                say(text)
                if out:
                    out.mkdir(parents=True, exist_ok=True)
                    (out / f"{kind.name}-{seed}-{number:02d}.txt").write_text(text + "\n")
        finally:
            session.close()
        summaries.append((len(session.findings), session.summary()))
    for _, text in summaries:
        say(text)
    return int(any(found for found, _ in summaries))


class _Session:
    """All cases of one kind: its workers, its findings by signature."""

    def __init__(self, kind: Kind, seed: int, jobs: int, say: Callable[[str], None]) -> None:
        self.kind, self.seed, self.jobs, self.say = kind, seed, jobs, say
        self.findings: dict[str, Finding] = {}
        self.tally: Counter[str] = Counter()
        self.cases = 0
        self.seconds = 0.0
        self.workers: list[Worker] = []
        self.shared = tempfile.TemporaryDirectory(prefix="xetile-fuzz-")
        kind.shared = Path(self.shared.name)

    def check_all(self, indices: list[int], seconds: float | None = None) -> None:
        """Keeps all workers busy until every case was checked, or no more are begun as `seconds` passed."""
        start = time.monotonic()
        end = math.inf if seconds is None else start + seconds
        todo = iter(indices)
        self.workers = [Worker(self.kind) for _ in range(min(self.jobs, len(indices)))]
        busy = dict(zip(self.workers, todo, strict=False))
        for worker, index in busy.items():
            worker.start("index", (self.seed, index))
        while busy:
            for worker, answer in Worker.wait(list(busy)):
                index = busy.pop(worker)
                self.cases += 1
                self.tally.update(answer.counts)
                if answer.finding is not None:
                    self.add(index, answer)
                following = next(todo, None) if time.monotonic() < end else None
                if following is not None:
                    busy[worker] = following
                    worker.start("index", (self.seed, following))
        self.seconds = time.monotonic() - start

    def add(self, index: int, answer: Any) -> None:
        """Files a finding; one that no other has is tried again alone, in a process of its own."""
        excuses = [native.slow_in_the_driver, getattr(self.kind, "excuse", None)]
        for excuse in filter(None, excuses):
            if answer.finding.startswith(DIED) and (reason := excuse(answer.finding, answer.log)):
                self.tally[reason] += 1
                return
        known = signature(answer.finding, answer.log)
        if known in self.findings:
            self.findings[known].more.append(index)
            return
        self.say(f"{self.kind.name} {index}: {answer.finding.splitlines()[0][:200]}")
        again = self._alone("index", (self.seed, index))
        if "takes longer" in answer.finding.splitlines()[0] and again.finding is None:
            # Memory, and the time of the system, are short beside others; who hangs does so alone.
            self.tally["took longer beside other cases only"] += 1
            return
        note = ""
        if again.finding is None:
            note = "flaky: the case passes alone in a fresh process"
        elif signature(again.finding, again.log) != known:
            note = "flaky: alone in a fresh process it ends in another way: " + again.finding.splitlines()[0]
        # A process that died could not send its case.
        case = answer.case or again.case or self._alone("generate", (self.seed, index)).case
        self.findings[known] = Finding(self.kind.name, index, case, answer.finding, answer.log, note, signature=known)

    def reduce(self, finding: Finding) -> None:
        """Replaces the case by smaller ones as long as they show the same."""
        if finding.note or finding.case is None:
            return
        deadline = time.monotonic() + max(REDUCTION_SECONDS, 5 * self.kind.time_limit)
        worker = Worker(self.kind)
        try:
            smaller = True
            while smaller:
                smaller = False
                candidates = worker.ask("reduced", (finding.case, REDUCTION_WIDTH)).value or []
                for candidate in candidates:
                    if time.monotonic() > deadline:
                        return
                    answer = worker.ask("case", candidate)
                    if answer.finding and signature(answer.finding, answer.log) == finding.signature:
                        finding.case, finding.text, finding.log = candidate, answer.finding, answer.log
                        smaller = True
                        break
        finally:
            worker.close()

    def describe(self, case: Any) -> str:
        if case is None:
            return "(the case could not be generated)"
        answer = self._alone("describe", case)
        return answer.value if answer.value is not None else f"(describe failed: {answer.finding}) {case!r}"

    def summary(self) -> str:
        """One line: what `make fuzz` ends with."""
        extra = "".join(f", {number} {name}" for name, number in sorted(self.tally.items()))
        repeats = sum(len(finding.more) for finding in self.findings.values())
        extra += f", {repeats} more like these" if repeats else ""
        restarts = sum(worker.recycled for worker in self.workers)
        extra += f", {restarts} workers replaced as they grew" if restarts else ""
        speed = self.cases / self.seconds if self.seconds else 0.0
        return (
            f"{self.kind.name}: {self.cases} cases, {len(self.findings)} findings"
            f" (seed {self.seed}{extra}; {speed:.1f} cases/s)"
        )

    def close(self) -> None:
        for worker in self.workers:
            worker.close()
        self.shared.cleanup()

    def _alone(self, what: str, argument: Any) -> Any:
        worker = Worker(self.kind)
        try:
            return worker.ask(what, argument)
        finally:
            worker.close()


def _report(finding: Finding, seed: int) -> str:
    again = f".venv/bin/python test/fuzz --kind {finding.kind} --seed {seed} --index {finding.index}"
    lines = [
        "=" * 100,
        f"{finding.kind}, seed {seed}, case {finding.index}: {finding.text.strip()}",
        *([finding.note] if finding.note else []),
        *([f"{len(finding.more)} more cases end like this: {_options_of(finding.more)}"] if finding.more else []),
        f"again: {again}",
        "-- reduced case",
        finding.description.rstrip(),
    ]
    if finding.log.strip():
        lines += ["-- the process said", *native.without_python(finding.log).strip().splitlines()[-60:][:40]]
    return "\n".join(itertools.chain(lines, ["=" * 100]))


def _options_of(indices: Sequence[int]) -> str:
    """Numbers of cases as options of the command, the first hundred."""
    shown = " ".join(f"--index {index}" for index in indices[:100])
    return shown + (" .." if len(indices) > 100 else "")


def default_jobs() -> int:
    """As many processes as this one may use processors."""
    return len(os.sched_getaffinity(0))
