# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process that checks cases one after the other, and the watch over it.

The process is forked from one that has imported nothing heavy. Its output goes to a file, which tells why it died; it
leads a session of its own, so that what it started dies with it; its working directory is a temporary one.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import itertools
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

# How a finding starts whose process did not survive.
DIED = "the process "
DEFAULT_MEMORY = 2 << 30
# For kinds that run kernels: the OpenCL driver keeps what it compiled, and each of its threads, about two a core, has a
# stack and an arena of malloc.
DRIVER_MEMORY = (6 << 30) + (os.cpu_count() or 1) * (256 << 20)
PREPARE_SECONDS = 120.0
_LOG_BYTES = 20000
_PR_SET_PDEATHSIG = 1

_counts: Counter[str] = Counter()


def count(name: str) -> None:
    """Adds one to a tally of the summary; for use in a kind's `check`."""
    _counts[name] += 1


@dataclass
class Answer:
    """What became of one request; `finding` is None if all is well."""

    finding: str | None = None
    case: Any = None
    value: Any = None
    counts: dict[str, int] = field(default_factory=dict)
    log: str = ""
    grown: bool = False


class Worker:
    """One process at a time, replaced when it dies. `start` and `wait` serve many at once, `ask` one."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.recycled = 0
        self.folder = Path(tempfile.mkdtemp(prefix="xetile-fuzz-"))
        self.log = self.folder / "log"
        self.process: multiprocessing.process.BaseProcess | None = None
        self.started = self.cpu_before = 0.0
        # Processor time when it was last looked at, and since when it is that.
        self.cpu = self.moved = 0.0

    def start(self, what: str, argument: Any) -> None:
        """Sends a request; `wait` has the answer."""
        if self.process is None:
            self._spawn()
        self.log.write_bytes(b"")
        self.case = argument if what == "case" else None
        with contextlib.suppress(OSError):  # dead already: `finish` tells how
            self.connection.send((what, argument))
        self.started = self.moved = time.monotonic()
        self.cpu_before = self.cpu = sum(seconds for _, seconds in _session(self.process.pid))

    def ask(self, what: str, argument: Any) -> Answer:
        """Sends a request and waits."""
        self.start(what, argument)
        while True:
            for _, answer in Worker.wait([self]):
                return answer

    @staticmethod
    def wait(workers: list[Worker]) -> list[tuple[Worker, Answer]]:
        """Waits until some worker has an answer, has died or is too slow."""
        ready = wait([worker.connection for worker in workers], min(1.0, workers[0].kind.time_limit))
        done = []
        for worker in workers:
            if worker.connection in ready:
                done.append((worker, worker._finish()))
            elif worker._is_too_slow():
                worker._interrupt()
                how = f"takes longer than {worker.kind.time_limit:g} s"
                answer = Answer(DIED + how, worker.case, log=worker._said())
                worker._kill()
                done.append((worker, answer))
        return done

    def close(self) -> None:
        """Ends the process and removes its folder."""
        self._kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _spawn(self) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(self.kind, theirs, self.folder), daemon=False)
        self.process.start()
        theirs.close()
        with contextlib.suppress(EOFError, ConnectionResetError):
            if self.connection.poll(_patience(PREPARE_SECONDS)) and self.connection.recv() == "ready":
                return
        said = self._said()
        self._kill()
        raise RuntimeError(f"a process of {self.kind.name!r} cannot start:\n{said}")

    def _finish(self) -> Answer:
        try:
            answer = self.connection.recv()
        except (EOFError, ConnectionResetError):
            assert self.process is not None
            self.process.join()
            code = self.process.exitcode or 0
            how = f"died by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"
            answer = Answer(DIED + how, self.case, log=self._said())
            self._kill()
            return answer
        if answer.finding is not None:
            answer.log = self._said()
        if answer.grown:
            self.recycled += 1
            self._kill()
        return answer

    def _is_too_slow(self) -> bool:
        """Whether it computed for longer than the limit, or waits for something that does not come.

        On a machine that others use, too, a process that could run may wait for its turn: that does not count.
        """
        limit, now = self.kind.time_limit, time.monotonic()
        waited = now - self.started
        if waited < limit:
            return False
        session = _session(self.process.pid)
        cpu = sum(seconds for _, seconds in session)
        # A process that gets a little time now and then may be asleep whenever it is looked at.
        if cpu != self.cpu or any(state in "RD" for state, _ in session):
            self.cpu, self.moved = cpu, now
        return cpu - self.cpu_before > limit or now - self.moved > _patience(limit) or waited > 30 * limit

    def _interrupt(self) -> None:
        """Lets a process that hangs print its stack."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGABRT)
        self.process.join(5.0)

    def _said(self) -> str:
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - _LOG_BYTES))
            return file.read().decode(errors="replace")

    def _kill(self) -> None:
        if self.process is None:
            return
        for end in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                end(self.process.pid, signal.SIGKILL)
        self.process.join()
        self.connection.close()
        self.process = None


def _patience(limit: float) -> float:
    """Seconds to wait for a case that may take `limit`: more on a machine that others use, too."""
    return limit * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _serve(kind: Any, connection: Connection, folder: Path) -> None:
    """The child's side: answers requests until the pipe closes."""
    os.setsid()
    faulthandler.disable()  # LLVM tells more
    # Another process of this session may hold the pipe's other end open: no end of file tells that the parent is gone.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    # Whoever forked this process may have put something else in their place.
    sys.stdout, sys.stderr = (open(number, "w", buffering=1, closefd=False) for number in (1, 2))  # noqa: SIM115
    scratch = folder / "work"
    scratch.mkdir(exist_ok=True)
    os.chdir(scratch)
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kind.prepare()
    most = _mapped() + getattr(kind, "memory", DEFAULT_MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    connection.send("ready")
    while True:
        try:
            what, argument = connection.recv()
        except EOFError:
            return
        _counts.clear()
        answer = Answer()
        try:
            _answer(kind, what, argument, answer)
        except Exception as error:  # noqa: BLE001  whatever it is, it is the finding
            answer.finding = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        answer.counts = dict(_counts)
        answer.grown = _mapped() > most - getattr(kind, "memory", DEFAULT_MEMORY) // 2
        connection.send(answer)


def _answer(kind: Any, what: str, argument: Any, answer: Answer) -> None:
    if what == "reduced":
        case, width = argument
        answer.value = list(itertools.islice(kind.reduced(case), width))
    elif what == "describe":
        answer.value = kind.describe(argument)
    elif what == "value":
        answer.value = kind.value(argument)
    else:
        if what == "case":
            answer.case = argument
        else:
            from harness import case_rng

            seed, index = argument
            answer.case = kind.generate(case_rng(seed, kind.name, index))
        if what != "generate":
            answer.finding = kind.check(answer.case) or None


def _session(leader: int) -> list[tuple[str, float]]:
    """State and seconds of processor time of each process that `leader` started, itself included."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            facts = place.read_text().rpartition(")")[2].split()
            if int(facts[3]) == leader:
                found.append((facts[0], sum(map(int, facts[11:15])) / os.sysconf("SC_CLK_TCK")))
    return found


def _mapped() -> int:
    """Bytes of address space in use; what RLIMIT_AS counts."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
