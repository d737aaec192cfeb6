# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rates of this CPU, measured: what the cost model of matmuls takes instead of what it knows of such CPUs.

found = xetile.calibrate()     # once, some seconds on a quiet machine; compile() takes it from then on
print(found)

The rates are kept in a file of XeTile's cache for this CPU's model and number of cores. `compile` writes them into the
module that it lowers, as DLTI entries of the device "host", where `xetile explain`, dumped stages and mlir-opt see
them; a module that has a description of its own, of the device "CPU" or of others, keeps that and gets none. Without a
file, the compiler's table has rates of a few CPUs. Another one is measured when something is compiled for the first
time, in 0.2 s, which is kept, too; `calibrate` takes longer and is less uncertain.

The environment variable XETILE_CALIBRATION is "kept" where nothing is to be measured so, and "off" where what is kept
is not to be used either: then CPUs that the table does not have get typical rates.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import math
import os
import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from xetile import passes
from xetile.codegen import engines
from xetile.errors import XeTileError, told
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.system import files, machine, tools
from xetile.targets import cpu_calibration_kernels as kernels

__all__ = ["Calibration", "calibrate", "describe", "known"]

RATES: Mapping[str, str] = MappingProxyType(
    {
        "multiply_add_ns": "a multiply-add of f32 vectors",
        "bf16_dot_ns": "a dot product of pairs of bf16",
        "int8_dot_ns": "a dot product of four bytes",
        "bf16_tiles_ns": "a product of tiles of bf16",
        "int8_tiles_ns": "a product of tiles of bytes",
        "read_l2_ns": "reading a KiB of panels from L2",
        "read_l3_ns": "reading a KiB of panels from L3",
        "copy_l2_ns": "copying a KiB of rows in L2 to panels",
        "copy_l3_ns": "copying a KiB of rows in L3 to panels",
        "write_l2_ns": "writing a KiB of results to L2",
        "write_l3_ns": "writing a KiB of results to L3",
        "wait_l2_ns": "multiply-adds waiting for a KiB from L2",
        "wait_l3_ns": "the same, from L3",
        "wait_unaligned_ns": "the same, of rows that begin within a line",
        "fork_ns": "starting and joining all threads",
    }
)
"""Entries of a calibration, in nanoseconds; instructions that a CPU lacks have none."""

# As the compiler reads them.
_LEAST, _MOST = 1e-3, 1e9
# All rates are measured in turns: what disturbs one of them for a while is in few of its rounds.
_ROUNDS = 5
_TURN = 0.02
# For a CPU that nothing is known of, when something is compiled for it.
_BRIEF_ROUNDS = 3
_BRIEF_TURN = 0.0005
_MOST_FORK = 1e4
# Less is not told of.
_TELL = 0.1
# Few, as other processes disturb them.
_FORKS = 20
_SPEC = "dlti.target_system_spec"


@dataclass(frozen=True)
class Calibration:
    """Nanoseconds by the names of `RATES`, medians of several rounds; `seconds` is how long measuring took, 0 for what
    was read. `spread` is how far apart the rounds between the best and the worst were, as a part of a rate."""

    rates: Mapping[str, float]
    path: Path
    seconds: float = 0.0
    spread: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def uncertainty(self) -> float:
        """Of most rates: the compiler follows no prediction that wins less."""
        return float(f"{statistics.median(list(self.spread.values()) or [0.0]):.4g}")

    def __str__(self) -> str:
        lines = [
            f"{name:18} {value:10.3f}  {RATES[name]}"
            + (f", +-{100 * self.spread[name]:.0f} %" if self.spread.get(name, 0.0) >= _TELL else "")
            for name, value in self.rates.items()
        ]
        return "\n".join([*lines, *_doubts(self.rates), f"kept in {self.path}"])


def calibrate(*, on_measured: Callable[[str, float], None] = lambda name, value: None) -> Calibration:
    """Measures this CPU's rates, in under ten seconds, and keeps them for `compile`.

    `on_measured` is called with each rate. What runs beside this process is measured, too: do it on a quiet machine.
    XeTileError if the loops cannot be compiled, or the file cannot be written.
    """
    found = _measure(_ROUNDS, _TURN, statistics.median)
    for name, value in found.rates.items():
        on_measured(name, value)
    _keep(found)
    return found


def _measure(count: int, turn: float, chosen: Callable[[list[float]], float]) -> Calibration:
    """In so many rounds, of `turn` seconds for each rate, of which `chosen` takes one."""
    start = time.perf_counter()
    bench = _Bench(turn)
    rounds: dict[str, list[float]] = {}
    for _ in range(count):
        for name, measure in bench.measures():
            rounds.setdefault(name, []).append(min(max(measure(), _LEAST), _MOST))
    rates: dict[str, float] = {}
    spread: dict[str, float] = {}
    for name, values in rounds.items():
        rates[name] = float(f"{chosen(values):.4g}")
        # Of few rounds all count.
        inner = sorted(values)[1:-1] if count > _BRIEF_ROUNDS else sorted(values)
        spread[name] = float(f"{min((inner[-1] - inner[0]) / 2 / rates[name], 1.0):.4g}")
    return Calibration(MappingProxyType(rates), _path(), time.perf_counter() - start, MappingProxyType(spread))


def _keep(found: Calibration) -> None:
    path = found.path
    content = _holds() | {"rates": dict(found.rates), "spread": dict(found.spread)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise XeTileError(f"cannot write {path}: {error.strerror}; name another folder in XETILE_CACHE") from None
    files.write(path, json.dumps(content | {"digest": _digest(content)}, indent=2) + "\n")


def _word() -> str:
    word = os.environ.get("XETILE_CALIBRATION", "")
    if word not in ("", "kept", "off"):
        raise XeTileError(f"XETILE_CALIBRATION={word}: expected 'kept', 'off', or that it is not set")
    return word


def _of_unknown_cpu() -> Calibration | None:
    """Measured now; None where the table has this CPU, where it is not to be, or cannot be done."""
    path = _path()
    # A file that is no good has been told of, and stays for whoever looks into it.
    if _word() or _xetile.knows_cpu() or files.is_file(path):
        return None
    return _measured_once(path)


@functools.cache
def _measured_once(path: Path) -> Calibration | None:
    """Once, in a process that cannot write the file, too."""
    try:
        # Nobody has seen to it that the machine is quiet: what runs beside makes rounds longer, never shorter.
        found = _measure(_BRIEF_ROUNDS, _BRIEF_TURN, min)
    except XeTileError:
        return None
    fork = found.rates.get("fork_ns")
    if fork is not None:
        # Threads that wait for a core are those of a busy machine.
        found = replace(found, rates=MappingProxyType({**found.rates, "fork_ns": min(fork, _MOST_FORK)}))
    with contextlib.suppress(XeTileError):
        _keep(found)
    return found


def _doubts(rates: Mapping[str, float]) -> list[str]:
    """Rates that do not fit one another: something ran beside the measurement."""
    pairs = [(f"{name}_l2_ns", f"{name}_l3_ns") for name in ("read", "copy", "write")]
    return [
        f"note: {near} is more than {far}: something ran beside; measure again on a quiet machine"
        for near, far in pairs
        if rates.get(near, 0.0) > 1.25 * rates.get(far, math.inf)
    ]


def known() -> Calibration | None:
    """The calibration of this CPU. None if there is none, with a warning if its file is invalid.

    None, too, where XETILE_CALIBRATION is "off"; XeTileError where it is a word that is not known.
    """
    if _word() == "off":
        return None
    path = _path()
    if not files.is_file(path):
        return None
    try:
        content = json.loads(files.read(path, "a calibration"))
        if not isinstance(content, dict):
            raise XeTileError("expected a JSON object")
        for name, value in _holds().items():
            if content.get(name) != value:
                raise XeTileError(f"{name}: it is of another machine or version")
        rates, spread = _checked(content.get("rates")), _parts(content.get("spread"))
        digest = content.pop("digest", None)
        if digest != _digest(content):
            raise XeTileError("it was edited")
    except (XeTileError, ValueError, RecursionError) as error:
        told_ = f"{path} is ignored: {error}; `xetile calibrate` writes it again, compile() takes rates from its table"
        warnings.warn(told_, RuntimeWarning, stacklevel=2)
        return None
    return Calibration(MappingProxyType(rates), path, spread=MappingProxyType(spread))


def describe(module: ir.Module) -> None:
    """Writes what is known into a module, unless it has a description of machines.

    A CPU of which nothing is known is measured.
    """
    if _SPEC in module.operation.attributes:
        return
    found = known() or _of_unknown_cpu()
    if found is None:
        return
    numbers = {**found.rates, "uncertainty": found.uncertainty}
    entries = ", ".join(f'"{name}" = {value!r} : f64' for name, value in numbers.items())
    text = f'#dlti.target_system_spec<"host" = #dlti.target_device_spec<{entries}>>'
    module.operation.attributes[_SPEC] = ir.Attribute.parse(text, module.context)


def _path() -> Path:
    return tools.cache_dir() / "calibration" / f"{_digest(_holds())[:32]}.json"


def _holds() -> dict[str, Any]:
    return {"version": 2, "machine": machine.facts()}


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _checked(rates: Any) -> dict[str, float]:
    if not isinstance(rates, dict) or not rates:
        raise XeTileError("expected rates")
    for name, value in rates.items():
        if name not in RATES:
            raise XeTileError(f"unknown rate {told(name)}")
        if not isinstance(value, float) or not _LEAST <= value <= _MOST:
            raise XeTileError(f"{name}: expected {_LEAST} to {_MOST:.0f} ns, got {told(value)}")
    return rates


def _parts(spread: Any) -> dict[str, float]:
    if not isinstance(spread, dict) or not set(spread) <= set(RATES):
        raise XeTileError("expected how far apart rounds were")
    for name, value in spread.items():
        if not isinstance(value, float) or not 0 <= value <= 1:
            raise XeTileError(f"spread of {name}: expected 0 to 1, got {told(value)}")
    return spread


class _Memory(ctypes.Structure):
    """A memref<?xi8>."""

    _fields_ = [(name, ctypes.c_int64) for name in ("allocated", "aligned", "offset", "size", "stride")]

    def __init__(self, size: int, seed: int) -> None:
        """Floats from 0 to 1, from a page's beginning on."""
        page = 4096
        self.array = np.random.default_rng(seed).random((size + page) // 4, dtype=np.float32)
        start = self.array.ctypes.data
        super().__init__(start, start + -start % page, 0, size, 1)


class _Bench:
    """The kernels as machine code, with memory."""

    def __init__(self, turn: float) -> None:
        self._turn = turn
        flags = machine.flags()
        bits = 512 if "avx512f" in flags else 256 if "avx2" in flags else 128
        caches = machine.cache_sizes()
        self._l2 = min(max(caches.get(2, 1 << 20), 1 << 18), 1 << 23)
        # Several L2s; virtual machines share the third level with others.
        self._far = max(min(4 * self._l2, caches.get(3, 1 << 24) // 2), 2 * self._l2)
        self._vector_bytes = bits // 8
        self._bf16 = bits == 512 and "avx512_bf16" in flags
        self._int8 = bits == 512 and "avx512_vnni" in flags
        self._tiles = {"amx_bf16", "amx_int8"} <= flags and machine.lends_tile_registers()
        omp = tools.find_libomp()
        self._threads = omp is not None
        text = kernels.module_text(
            bits, os.cpu_count() or 1, bf16=self._bf16, int8=self._int8, tiles=self._tiles, threads=self._threads
        )
        with ir.Context():
            module = ir.Module.parse(text)
        passes.run(module, "xetile-lower-to-cpu", action="compile the loops to measure")
        self._engine = engines.engine(module, [omp] if omp else [], 3, action="calibrate: compile the loops")
        self._memory = [_Memory(2 * self._far, 1), _Memory(2 * self._far, 2), _Memory(1 << 16, 3)]

    def measures(self) -> list[tuple[str, Callable[[], float]]]:
        """The benchmark of each rate."""
        steps, near, far = 1000, self._l2 // 2, self._far

        def of_kib(name: str, size: int) -> Callable[[], float]:
            # Rows of half a page and a line, which fall into all sets of a cache.
            columns = 2048
            rows = size // columns // kernels.ROWS * kernels.ROWS
            return lambda: self._time(name, columns, rows, columns + 64) / (rows * columns / 1024)

        def of_sums(name: str) -> Callable[[], float]:
            return lambda: self._time(name, steps) / (steps * kernels.SUMS)

        def of_tiles(name: str) -> Callable[[], float]:
            return lambda: self._time(name, 1) / kernels.TILE_PRODUCTS

        found = [("multiply_add_ns", of_sums("multiply_add"))]
        for name, there in (("bf16_dot", self._bf16), ("int8_dot", self._int8)):
            if there:
                found.append((f"{name}_ns", of_sums(name)))
        for name in ("bf16_tiles", "int8_tiles") if self._tiles else ():
            found.append((f"{name}_ns", of_tiles(name)))
        for name in ("read", "copy", "write"):
            found += [(f"{name}_l2_ns", of_kib(name, near)), (f"{name}_l3_ns", of_kib(name, far))]
        found.append(("wait_l2_ns", lambda: self._wait(64, self._l2 // 4)))
        found.append(("wait_l3_ns", lambda: self._wait(64, self._far)))
        found.append(("wait_unaligned_ns", lambda: self._wait(16, self._far)))
        if self._threads:
            found.append(("fork_ns", lambda: self._time("fork", times=_FORKS) / _FORKS))
        return found

    def _wait(self, more: int, size: int) -> float:
        """For a KiB of panels of B of `size` bytes, rows a page and `more` bytes apart. Rows of A stay in L1."""
        columns = 4096
        rows = min(size // columns, 1024)
        panels = columns // kernels.STREAMS
        kib = rows * panels * kernels.TILE_VECTORS * self._vector_bytes / 1024
        far = self._time("tile", rows, kernels.STREAMS, columns + more, times=panels)
        near = self._time("tile", rows, 0, 0, times=panels)
        return (far - near) / kib

    def _time(self, kernel: str, n: int = 0, rows: int = 0, pitch: int = 0, *, times: int = 0) -> float:
        """Nanoseconds of one time, the fastest of many calls; of all `times` where these are given."""
        address = _xetile.lookup(self._engine, engines.C_INTERFACE + kernel)
        memory = [ctypes.byref(part) for part in self._memory]
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4, *[ctypes.POINTER(_Memory)] * 3)
        function = prototype(address)

        def seconds(count: int) -> float:
            start = time.perf_counter()
            function(count, n, rows, pitch, *memory)
            return time.perf_counter() - start

        count = times or 1
        seconds(count)
        # Longer than the call from Python by far.
        while not times and seconds(count) < 3e-4:
            count *= 2
        best, end = math.inf, time.perf_counter() + self._turn
        while time.perf_counter() < end:
            best = min(best, seconds(count))
        return best * 1e9 / (1 if times else count)
