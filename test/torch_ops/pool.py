# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators and types over worker processes that are watched: a sample may end one, hang, or take all memory."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import native
from harness import signature
from worker import DRIVER_MEMORY, Answer, Worker

__all__ = ["Samples", "checked"]

LOG_CHARACTERS = 3000
Asked = tuple[str, str, str | None]
"""An operator, a type and the target, None for this CPU."""


class Samples:
    """What a worker does; the fuzzer's processes ask it."""

    name = "torch-ops"

    def __init__(
        self, seed: int, count: int, time_limit: float, targets: Sequence[str | None] = (None,), shapes: bool = False
    ) -> None:
        # PyTorch's samples, and what the OpenCL driver maps for a GPU's target: it dies without, in any later sample.
        on_device = any(target not in (None, "cpu") for target in targets)
        self.memory = (8 << 30) + (DRIVER_MEMORY if on_device else 0)
        self.seed, self.count, self.time_limit = seed, count, time_limit
        self.targets, self.shapes = tuple(targets), shapes
        self._made: tuple[Any, list[Any]] | None = None

    def pairs(self, wanted: list[str] | None, types: list[str] | None, draw: int | None) -> list[Asked]:
        """Operators with their types, for each target. ValueError for an unknown name.

        What is imported for this the workers inherit, which takes them no time: nothing may be computed before.
        """
        os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
        import torch

        torch.set_num_threads(1)
        import checking
        import database

        self._checking, self._database = checking, database
        found = database.pairs(database.names(wanted, draw, self.seed), types, self.shapes)
        return [(*pair, target) for target in self.targets for pair in found]

    def prepare(self) -> None:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path(tempfile.gettempdir(), "torchinductor"))
        native.print_stack_traces()

    def value(self, asked: tuple[str, str, str | None, int | None]) -> Any:
        """The numbers of the samples to try, or what became of one."""
        name, type_name, target, number = asked
        if number is None:
            return self._database.chosen(name, type_name, self.seed, self.count, self.shapes)
        if self._made is None or self._made[0] != (name, type_name):
            self._made = (name, type_name), list(self._database.samples(name, type_name, self.seed, self.shapes))
        return self._checking.check(name, self._made[1][number], self.seed, target)


@dataclass
class _Pair:
    """An operator with a type, and the samples still to be tried; None until they were chosen."""

    name: str
    type_name: str
    target: str | None = None
    left: deque[int] | None = None
    asked: int | None = field(default=None)


def checked(kind: Samples, pairs: Sequence[Asked], jobs: int, number: int | None = None) -> Iterator[dict[str, Any]]:
    """One row for each sample, as they come; only sample `number` of each pair, if it is given."""
    todo = deque(_Pair(*pair, left=None if number is None else deque([number])) for pair in pairs)
    workers = [Worker(kind) for _ in range(min(jobs, len(todo)))]
    busy: dict[Worker, _Pair] = {}
    try:
        for worker in workers:
            _next(worker, busy, todo, None)
        while busy:
            for worker, answer in Worker.wait(list(busy)):
                pair = busy.pop(worker)
                row = {"op": pair.name, "type": pair.type_name, "sample": pair.asked, "seed": kind.seed}
                row |= {"target": pair.target, "shapes": kind.shapes}
                if pair.asked is None and answer.finding is None:
                    pair.left = deque(answer.value)
                else:
                    pair.left = pair.left or deque()
                    yield row | _outcome(answer, row)
                _next(worker, busy, todo, pair)
    finally:
        for worker in workers:
            worker.close()


def _next(worker: Worker, busy: dict[Worker, _Pair], todo: deque[_Pair], pair: _Pair | None) -> None:
    while pair is None or (pair.left is not None and not pair.left):
        if not todo:
            return
        pair = todo.popleft()
    pair.asked = pair.left.popleft() if pair.left is not None else None
    busy[worker] = pair
    worker.start("value", (pair.name, pair.type_name, pair.target, pair.asked))


def _outcome(answer: Answer, row: dict[str, Any]) -> dict[str, Any]:
    if answer.finding is None:
        return dict(answer.value)
    if not answer.finding.startswith("the process "):
        # Samples that PyTorch itself cannot make; anything else in here is a fault of this program.
        state = "skipped" if row["sample"] is None else "crashed"
        return {"state": state, "reason": answer.finding.strip().splitlines()[0][:400]}
    if row["sample"] is None:
        return {"state": "skipped", "reason": f"its samples: {answer.finding}"}
    # Frames of Python name no cause; the first lines are the innermost.
    said = native.without_python(answer.log)
    return {"state": "crashed", "reason": signature(answer.finding, said), "log": said.strip()[:LOG_CHARACTERS]}
