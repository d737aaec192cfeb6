# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The speed of a kernel from its machine code: threads of one vector engine over turns of the hot loop.

The vector engines of a core are taken to do alike, so caches and memory are servers with a share of their rates.
Threads issue in order, and wait for what the scoreboards of their instructions say. Figures of `chips.json` that
documents do not tell are fitted to published measurements; predictions of those that were not are 10 % off in the mean.
"""

from __future__ import annotations

import heapq
import itertools
import json
import math
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

from caches import Chip, Launch, Source, sources
from instructions import Instruction
from program import Program

CHIPS: dict[str, Chip] = json.loads((Path(__file__).parent / "chips.json").read_text())
_PIPES = {"F": "float", "I": "int", "M": "math", "L": "long"}


class _Thread:
    """`at` is when it may issue next, `done` when turns ended, `pipes` and `all` when arithmetic has its results."""

    def __init__(self, number: int) -> None:
        self.number, self.pc, self.turn, self.at = number, 0, 0, 0.0
        self.done: list[float] = []
        self.pipes: dict[str, list[float]] = defaultdict(list)
        self.all: list[float] = []
        self.tokens: dict[int, tuple[float, float]] = {}

    def ready(self, instruction: Instruction) -> float:
        """When what it waits for is there."""
        ready = self.at
        for kind, value in instruction.waits:
            if kind in ("dst", "src"):
                if token := self.tokens.get(value):
                    ready = max(ready, token[kind == "dst"])
                continue
            pipe = _PIPES.get(kind)
            if kind == "same" and instruction.pipe in _PIPES.values():
                pipe = instruction.pipe
            history = self.pipes[pipe] if pipe else self.all
            if len(history) >= value:
                ready = max(ready, history[-value])
        if instruction.waits_for_all:
            ready = max(ready, *(token[1] for token in self.tokens.values()), 0)
        return ready


class _Engine:
    """A vector engine with its share of a core's caches and of memory."""

    def __init__(
        self, program: Program, chip: Chip, places: dict[int, Source], threads: int, shared: int, mhz: float
    ) -> None:
        self.loop, self.chip, self.places, self.shared = program.loop, chip, places, shared
        self.threads = [_Thread(n) for n in range(threads)]
        self.free: dict[str, float] = defaultdict(float)
        self.busy: Counter[str] = Counter()
        self.owner: _Thread | None = None
        self.arrived: dict[tuple[int, int, int], float] = {}
        self.leaders: dict[tuple[int, int, int], float] = {}
        self.memory_rate = chip["gbs"] * 1e3 / mhz / chip["cores"] / chip["xve"]  # bytes a cycle
        self.memory_latency = chip["memory_ns"] * mhz / 1e3

    def run(self, turns: int) -> float:
        """Cycles that all threads need for a turn each."""
        order = itertools.count()
        heap = [(0.0, next(order), thread) for thread in self.threads]
        while heap:
            at, _, thread = heapq.heappop(heap)
            instruction = self.loop[thread.pc]
            ready = self._when(thread, instruction)
            if ready > at:
                thread.at = ready
            elif not self._issue(thread, instruction, at, turns):
                continue
            heapq.heappush(heap, (thread.at, next(order), thread))
        first = max(1, turns // 3)
        if turns <= first:
            return self.threads[0].done[-1]
        ends, starts = (max(thread.done[n] for thread in self.threads) for n in (-1, first - 1))
        whole = max(busy / turns for pipe, busy in self.busy.items())
        return max((ends - starts) / (turns - first), whole)

    def _when(self, thread: _Thread, instruction: Instruction) -> float:
        ready = thread.ready(instruction)
        if instruction.pipe not in ("none", "jump"):
            ready = max(ready, self.free[instruction.pipe])
        ready = max(ready, self.free["front"])
        if instruction.pipe == "matrix" and self.owner not in (None, thread):
            ready = max(ready, self.free["matrix"], thread.at) + 0.5
        return ready

    def _issue(self, thread: _Thread, instruction: Instruction, at: float, turns: int) -> bool:
        """False if that was the thread's last one."""
        self.free["front"] = max(self.free["front"], at) + 1 / self.chip["issue_width"]
        thread.at = at + 1
        # A sequence of atomic products ends with what is no product, whatever the last one says.
        if self.owner is thread:
            self.owner = None
        if instruction.kind == "dpas":
            self._multiply(thread, instruction, at)
        elif instruction.kind == "message":
            self._send(thread, instruction, at)
        elif instruction.kind == "jump":
            if thread.pc == len(self.loop) - 1:
                thread.at = at + self.chip["branch_latency"]
        elif instruction.kind == "alu":
            self._compute(thread, instruction, at)
        thread.pc += 1
        if thread.pc < len(self.loop):
            return True
        thread.pc, thread.turn = 0, thread.turn + 1
        thread.done.append(at)
        thread.pipes = defaultdict(list, {pipe: ends[-8:] for pipe, ends in thread.pipes.items()})
        thread.all = thread.all[-8:]
        return thread.turn < turns

    def _multiply(self, thread: _Thread, instruction: Instruction, at: float) -> None:
        cycles = instruction.repeat * self.chip["dpas_cycles_per_repeat"]
        self._take("matrix", at, cycles)
        if instruction.token is not None:
            end = at + self.chip["dpas_latency"] - (8 - instruction.repeat)
            thread.tokens[instruction.token] = (at + cycles, end)
        self.owner = thread if instruction.atomic else None

    def _take(self, pipe: str, at: float, cycles: float) -> None:
        self.free[pipe] = at + cycles
        self.busy[pipe] += cycles

    def _compute(self, thread: _Thread, instruction: Instruction, at: float) -> None:
        chip, pipe = self.chip, instruction.pipe
        narrow = 0.5 if instruction.half and instruction.lanes > 16 else 1
        wide = 2 if instruction.wide == 8 and instruction.lanes > 8 else 1
        cycles = max(1, max(1, instruction.lanes / 16) * narrow * wide)
        latency = chip["alu_latency"] + (instruction.lanes > 8)
        if pipe == "math":
            cycles, latency = max(1, instruction.lanes / chip["math_lanes"]), chip["math_latency"]
        elif instruction.base == "cmp":
            latency = chip["flag_latency"]
        self._take(pipe, at, cycles)
        end = at + cycles + latency
        thread.pipes[pipe].append(end)
        thread.all.append(max(end, thread.all[-1] if thread.all else 0))
        if instruction.token is not None:
            thread.tokens[instruction.token] = (at, end)

    def _send(self, thread: _Thread, message: Instruction, at: float) -> None:
        chip = self.chip
        self._take("send", at, chip["send_cycles"])
        end = at + 30
        if message.message not in ("gateway", "fence"):
            source = self.places.get(thread.pc)
            start = max(at + chip["send_cycles"], self.free["l1"])
            service = message.lines / chip["l1_lines"] * chip["xve"] + chip["message_cycles"]
            if message.message == "prefetch":
                service = chip["message_cycles"] + (source.touched / chip["l1_lines"] if source else 0)
            self._take("l1", start, service)
            end = start + service + chip["l1_latency"]
            if source:
                end = max(end, self._arrival(thread, message, source, start))
        if message.token is not None:
            stored = message.bytes / 64 if "store" in message.message else 0
            thread.tokens[message.token] = (at + 12 + stored, end)

    def _arrival(self, thread: _Thread, message: Instruction, source: Source, start: float) -> float:
        """When the last line of a message is in the core."""
        group = thread.number // self.shared
        key = (group, thread.turn, thread.pc)
        if message.message == "prefetch":
            if source.own:
                self.arrived[key] = max(self.arrived.get(key, 0), self._fetch(start, source.own, source))
            return 0
        if message.message != "load":
            return 0
        ends = [self.arrived.get((group, thread.turn - ago, n), 0.0) for ago, n in source.by]
        ends += [self.leaders.get((group, thread.turn, n), 0.0) for n in source.others]
        if source.own:
            # What several subgroups load is fetched once.
            if key not in self.leaders:
                self.leaders[key] = self._fetch(start, source.own * self.shared, source)
            ends.append(self.leaders[key])
        return max(ends, default=0.0)

    def _fetch(self, at: float, size: float, source: Source) -> float:
        """When bytes of a miss arrive: queues of L2 and memory, and their latencies."""
        chip = self.chip
        start, cost = max(at, self.free["l2"]), size * chip["xve"] / chip["l2_bytes"]
        self._take("l2", start, cost)
        end = self.free["l2"] + chip["l2_latency"]
        if source.memory:
            self._take("memory", max(at, self.free["memory"]), size * source.memory / self.memory_rate)
            # Expected: some cores are the first to ask, others not.
            end = max(end, end + source.memory * (self.free["memory"] + self.memory_latency - end))
        return end


def predict(text: str, chip_name: str, launch: Launch) -> float:
    """TFLOP/s of the kernel of a dumped file of assembly."""
    chip, program = CHIPS[chip_name], Program(text)
    # The compiler may have unrolled the loop; some dpas beside the products, as those of sums, are no step of it.
    of_turn = sum(each.flops for each in program.loop) * launch.subgroups * math.prod(launch.grid)
    steps = max(1, round(of_turn * launch.turns / launch.flops))
    launch = replace(launch, turns=launch.turns / steps)
    threads = chip["threads"] // (2 if program.registers > 128 else 1)
    total = math.prod(launch.grid)
    resident = min(max(1, threads * chip["xve"] // launch.subgroups), -(-total // chip["cores"]))
    places = sources(program, launch, chip, resident)
    turns = max(5, min(16, 16000 // len(program.loop)))
    shared = max(1, launch.subgroups // chip["xve"])  # threads of a vector engine from one workgroup

    def run(workgroups: int, mhz: float) -> tuple[float, float]:
        """Cycles of a turn of that many workgroups, and the share of them that the matrix unit is busy."""
        engine = _Engine(program, chip, places, max(1, workgroups * launch.subgroups // chip["xve"]), shared, mhz)
        cycles = engine.run(turns)
        return cycles, engine.busy["matrix"] / turns / cycles

    mhz = chip["mhz"]
    for attempt in range(4):
        # Power, utilization x clock^3, lowers the clock; memory keeps its own.
        cycles, matrix = run(resident, mhz)
        allowed = chip["mhz"] * min(1.0, (chip["throttle"] / matrix) ** (1 / 3) if matrix else 1.0)
        if abs(allowed / mhz - 1) < 0.02:
            break
        mhz = (mhz + allowed) / 2 if attempt else allowed
    # Outside of the loop: an instruction a cycle and engine, and twice the latency of memory.
    outside = (len(program.code) - len(program.loop)) * resident * launch.subgroups / chip["xve"]
    outside += 2 * chip["memory_ns"] * mhz / 1e3
    waves, rest = divmod(total / chip["cores"], resident)
    time = waves * (cycles * launch.turns + outside)
    if rest > 1e-9:
        groups = math.ceil(rest - 1e-9)
        time += (run(groups, mhz)[0] if groups < resident else cycles) * launch.turns + outside
    # Results are written while others compute: half shows, a guess.
    seconds = time / mhz / 1e6 + launch.bytes_out / (chip["gbs"] * 1e9) * 0.5
    return launch.flops / seconds / 1e12
