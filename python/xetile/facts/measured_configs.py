# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configurations of matmuls that were measured on this machine: `xetile.tune` tells of them.

In:   a prepared module, whose matmuls get the configurations that are known, or measured now (`with_tuned_configs`).
Out:  a file in XeTile's cache for each matmul, written at once. It holds for the machine, the number of threads, the
      matmul's sizes, maps and types, and the build of XeTile; another is ignored with a warning.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xetile import passes, reference
from xetile.errors import XeTileError, expect, told
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.schedule.matmul_config import MatmulConfig
from xetile.system import files, machine, tools
from xetile.system.surroundings import version

if TYPE_CHECKING:
    from xetile.kernels.function import CompiledFunction
    from xetile.kernels.signature import Signature

__all__ = ["Effort", "Tuned", "with_tuned_configs"]

_KEY, _CANDIDATES = "xetile.matmul_key", "xetile.matmul_candidates"
_CONFIG, _PACK = "xetile.matmul_config", "xetile.matmul_pack"
_ROUNDS = 4
# Speedups below this are noise.
_NOISE = 0.02


@dataclass(frozen=True)
class Effort:
    """How much is measured. `candidates` of each matmul at most; `seconds` for the calls of each; `again` if known."""

    candidates: int = 5
    seconds: float = 0.2
    again: bool = False

    def __post_init__(self) -> None:
        expect("candidates", self.candidates, int, "an integer from 1 to 1000")
        if not 1 <= self.candidates <= 1000:
            raise XeTileError(f"candidates: expected 1 to 1000, got {self.candidates}")
        expect("seconds", self.seconds, (int, float), "a number of seconds")
        if not 0 < self.seconds <= 3600:
            raise XeTileError(f"seconds: expected more than 0 and at most 3600, got {told(self.seconds)}")
        expect("again", self.again, bool, "True or False")


@dataclass(frozen=True)
class Tuned:
    """The fastest configuration of a matmul: `config`, and `pack` ("auto", "always" or "never") beside it.

    `speedup` is over the model's own choice, of the whole function; `tried` configurations were measured, 0 if it was
    known.
    """

    matmul: str
    threads: int
    config: MatmulConfig
    pack: str
    speedup: float
    tried: int

    def __str__(self) -> str:
        how = f"fastest of {self.tried}" if self.tried else "known"
        return f"{self.matmul}: {self.speedup:.2f}x, {how}, pack={self.pack} {self.config.to_json()}"


def with_tuned_configs(
    module: ir.Module,
    signature: Signature,
    threads: int,
    effort: Effort,
    build: Callable[[ir.Module], CompiledFunction],
    on_found: Callable[[Tuned], None] = lambda tuned: None,
) -> ir.Module:
    """A copy of a prepared module whose matmuls have the configurations that are known, or measured now.

    `build` compiles such a module. `threads` is 0 for all cores.
    """
    module = _xetile.clone_module(module.operation)
    ranking = f"xetile-rank-matmul-configs{{count={effort.candidates} threads={threads}}}"
    passes.run(module, ranking, action="rank configurations")
    matmuls = list(_matmuls(module))
    bench = _Bench(signature, build, effort.seconds)
    for matmul in matmuls:
        database = _Entry(matmul.key, threads or os.cpu_count() or 1)
        known = None if effort.again else database.read(module.context)
        if known is None:
            known = bench.fastest(module, matmul, database.threads)
            database.write(known)
        matmul.take(known.config, known.pack)
        on_found(known)
    return module


class _Matmul:
    """All matmuls of one key, and what may be done with them."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.ops: list[ir.Operation] = []
        self.candidates: list[tuple[MatmulConfig, str]] = []

    def take(self, config: MatmulConfig, pack: str) -> None:
        for op in self.ops:
            op.attributes[_CONFIG] = _attribute(config, op.context)
            op.attributes[_PACK] = ir.StringAttr.get(pack, op.context)


def _attribute(config: MatmulConfig, context: ir.Context) -> ir.Attribute:
    """XeTileError for values that no configuration has."""
    fields = ", ".join(f"{name} = {value}" for name, value in json.loads(config.to_json()).items())
    try:
        return ir.Attribute.parse(f"#xetile.matmul_config<{fields}>", context)
    except ir.MLIRError as error:
        told_ = "; ".join(diagnostic.message for diagnostic in error.error_diagnostics)
        raise XeTileError(f"matmul config: {told_ or error}") from None


def _matmuls(module: ir.Module) -> Iterator[_Matmul]:
    """Takes the ranking's attributes off the module."""
    found: dict[str, _Matmul] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if _KEY not in op.attributes:
            return ir.WalkResult.ADVANCE
        key = ir.StringAttr(op.attributes[_KEY]).value
        matmul = found.setdefault(key, _Matmul(key))
        matmul.ops.append(op)
        matmul.candidates = [_candidate(ir.DictAttr(entry)) for entry in ir.ArrayAttr(op.attributes[_CANDIDATES])]
        del op.attributes[_KEY], op.attributes[_CANDIDATES]
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    yield from found.values()


def _candidate(entry: ir.DictAttr) -> tuple[MatmulConfig, str]:
    text = str(entry["config"]).partition("<")[2].rpartition(">")[0]
    fields = (field.split(" = ") for field in text.split(", "))
    return MatmulConfig.of({name: int(value) for name, value in fields}), ir.StringAttr(entry["pack"]).value


class _Bench:
    """Compiles candidates and times them, in turns."""

    def __init__(self, signature: Signature, build: Callable[[ir.Module], CompiledFunction], seconds: float) -> None:
        self._signature, self._build, self._seconds = signature, build, seconds

    def fastest(self, module: ir.Module, matmul: _Matmul, threads: int) -> Tuned:
        try:
            arguments = reference.random_arguments(self._signature, np.random.default_rng(1))
        except XeTileError as error:
            raise XeTileError(f"tune: {error}") from None
        functions = []
        for candidate in matmul.candidates:
            matmul.take(*candidate)
            functions.append(self._build(module))
        times = _times(functions, arguments, self._seconds)
        best = min(range(len(times)), key=times.__getitem__)
        if times[best] > (1 - _NOISE) * times[0]:
            best = 0
        config, pack = matmul.candidates[best]
        return Tuned(matmul.key, threads, config, pack, times[0] / times[best], len(times))


def _times(functions: Sequence[CompiledFunction], arguments: tuple[Any, ...], seconds: float) -> list[float]:
    """The fastest call of each."""
    best = [math.inf] * len(functions)
    for function in functions:
        function(arguments)
    for _ in range(_ROUNDS):
        for number, function in enumerate(functions):
            end = time.perf_counter() + seconds / _ROUNDS
            while True:
                start = time.perf_counter()
                function(arguments)
                now = time.perf_counter()
                best[number] = min(best[number], now - start)
                if now >= end:
                    break
    return best


class _Entry:
    """The measurements of a matmul on this machine: a file."""

    def __init__(self, matmul: str, threads: int) -> None:
        self.matmul, self.threads = matmul, threads
        self._holds = {"matmul": matmul, "threads": threads, "machine": machine.facts(), "build": _build_id()}
        self.path = tools.cache_dir() / "tuned" / f"{_digest(self._holds)[:32]}.json"

    def read(self, context: ir.Context) -> Tuned | None:
        """None, with a warning where there is such a file, if nothing is known."""
        if not files.is_file(self.path):
            return None
        try:
            content = json.loads(files.read(self.path, "a measured configuration"))
            if not isinstance(content, dict) or {name: content.get(name) for name in self._holds} != self._holds:
                raise XeTileError("it is not of this machine, matmul and build")
            if content.pop("digest", None) != _digest(content):
                raise XeTileError("it was edited or damaged")
            config, pack, speedup = MatmulConfig.of(content["config"]), content["pack"], content["speedup"]
            if pack not in ("auto", "always", "never") or not isinstance(speedup, float):
                raise XeTileError(f"unknown values, pack {told(pack)}, speedup {told(speedup)}")
            _attribute(config, context)
        except (XeTileError, ValueError, KeyError, RecursionError) as error:
            warnings.warn(f"{self.path} is ignored: {error}; it is measured again", RuntimeWarning, stacklevel=2)
            return None
        return Tuned(self.matmul, self.threads, config, pack, speedup, 0)

    def write(self, tuned: Tuned) -> None:
        found = {"config": json.loads(tuned.config.to_json()), "pack": tuned.pack, "speedup": tuned.speedup}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise XeTileError(
                f"cannot write {self.path}: {error.strerror}; name another folder in XETILE_CACHE"
            ) from None
        content = {**self._holds, **found}
        files.write(self.path, json.dumps(content | {"digest": _digest(content)}, indent=2) + "\n")


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _build_id() -> str:
    """An installed package has a version; a build tree is as old as its extension module."""
    compiled = Path(_xetile.__file__).stat()
    return f"{version()} {compiled.st_size} {compiled.st_mtime_ns}"
