# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the bytes of a loop's messages come from: a core's own cache, its prefetches, L2 or memory."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from program import Lines, Program

TURNS = 6  # that are followed
LINE = 64
Turn = Mapping[int, Lines | None]
Chip = Mapping[str, Any]
Group = tuple[int, int, int]


@dataclass
class Launch:
    """How a kernel is called.

    `grid` are workgroups along x, y, z, of which x runs fastest, `turns` those of the hot loop as it is written,
    `flops` of the whole kernel as they are published, `bytes_out` what it stores.
    """

    grid: Group
    subgroups: int
    turns: float
    flops: float
    bytes_out: float = 0


@dataclass
class Source:
    """Where the bytes of a message come from.

    `own` bytes a subgroup are new to the core in a turn and fetched by it, the rest by `others`, messages of the turn;
    `by` are prefetches that brought lines (turns ago, message). It `touched` so many lines a subgroup, `fresh` ones of
    the workgroup, and `memory` is the share of misses that L2 does not have.
    """

    own: float
    others: set[int]
    by: set[tuple[int, int]]
    moves: tuple[bool, ...]
    base: object
    touched: float
    fresh: int
    memory: float = 0.0


def sources(program: Program, launch: Launch, chip: Chip, resident: int) -> dict[int, Source]:
    """Message -> where what it loads comes from, for `resident` workgroups on a core."""
    # A workgroup from the middle, and its neighbours.
    middle = tuple(each // 2 for each in launch.grid)
    near = [
        tuple(at + (a == b) * (1 if at + 1 < launch.grid[a] else -1) for b, at in enumerate(middle)) for a in range(3)
    ]
    turns = {
        group: [program.places(group, n, TURNS) for n in range(launch.subgroups if group == middle else 1)]
        for group in (middle, *near)
    }
    if chip.get("drops_prefetch_without_hint"):
        for turn in (turn for subgroups in turns.values() for each in subgroups for turn in each):
            for n in [n for n in turn if _is_dropped(program, n)]:
                del turn[n]
    found = _fetched(program, turns[middle], launch.subgroups)
    for n, source in found.items():
        # A neighbour from another place reads other lines if this coordinate matters.
        source.moves = tuple(group != middle and turns[group][0][-1][n] != turns[middle][0][-1][n] for group in near)
    _share_of_memory(program, found, launch, chip, resident)
    return found


def _is_dropped(program: Program, n: int) -> bool:
    message = program.loop[n]
    return message.message == "prefetch" and not re.search(r"\.(ca|st|ri)\b", message.op)


def _fetched(program: Program, subgroups: list[list[Turn]], count: int) -> dict[int, Source]:
    """Messages of the last turn: which lines are new, and who fetches them."""
    before: set = set()  # lines that earlier turns loaded
    ahead: dict = {}  # of prefetched ones: turns ago, and by which message
    for turn in range(TURNS - 1):
        for n, lines in (item for each in subgroups for item in each[turn].items() if item[1] is not None):
            if program.loop[n].message == "prefetch":
                ahead |= dict.fromkeys(lines, (TURNS - 1 - turn, n))
            else:
                before |= lines
    found: dict[int, Source] = {}
    first: dict = {}
    fetched: dict = {}
    for n in sorted(subgroups[0][-1]):
        sets = [each[-1][n] for each in subgroups]
        if any(lines is None for lines in sets) or not sets[0]:
            continue
        is_prefetch = program.loop[n].message == "prefetch"
        union = set().union(*sets)
        fresh = union if is_prefetch else union - before
        table = fetched if is_prefetch else first
        own = {line for line in fresh if line not in table and (is_prefetch or line not in ahead)}
        others = {first[line] for line in fresh if line in first}
        table |= dict.fromkeys(own, n)
        by = set() if is_prefetch else {ahead[line] for line in fresh if line in ahead}
        if is_prefetch:
            ahead |= dict.fromkeys(union, (0, n))
        touched = sum(len(lines) for lines in sets)
        base = next(iter(sets[0]))[0][0]
        found[n] = Source(len(own) * LINE / count, others - {n}, by, (), base, touched / count, len(fresh))
    return found


def _distinct(moves: tuple[bool, ...], groups: Iterable[Group]) -> int:
    """How many of the workgroups read lines of their own."""
    return len({tuple(at for at, moved in zip(group, moves, strict=True) if moved) for group in groups})


def _share_of_memory(program: Program, found: dict[int, Source], launch: Launch, chip: Chip, resident: int) -> None:
    """Workgroups that run at once share lines in L2; a later wave finds what L2 still has of them."""
    x, y, z = launch.grid
    every = [(n % x, n // x % y, n // (x * y)) for n in range(x * y * z)]
    at_once = every[: chip["cores"] * resident]
    loads = [source for n, source in found.items() if program.loop[n].message == "load"]
    wave = sum(source.fresh * LINE * launch.turns * _distinct(source.moves, at_once) for source in loads)
    # Random replacement, cyclic reads: a guess.
    kept, ratio = 0.0, wave / (chip["l2_mb"] * 1e6)
    for _ in range(200):
        kept = math.exp(-(1 - kept) * ratio)
    for source in found.values():
        once = _distinct(source.moves, every) / len(every)
        again = _distinct(source.moves, at_once) / len(at_once)
        source.memory = min(1.0, once + max(0.0, again - once) * (1 - kept))
    # A prefetch brings what loads of the same matrix bring: then or elsewhere, L2 has it as often.
    least: dict[object, float] = {}
    for source in loads:
        least[source.base] = min(source.memory, least.get(source.base, 1.0))
    for source in found.values():
        source.memory = min(source.memory, least.get(source.base, 1.0))
