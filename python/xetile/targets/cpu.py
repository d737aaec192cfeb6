# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""This CPU: matmuls deep-tiled, vectorised, on threads; everything around them as loops.

Arguments are arrays, and numbers where the function takes them (f32, i1, index, ...); i1 is NumPy's bool. Sizes that
are known at run time only are checked before each call: all that the function's operations ask of one another must fit.

Sums of narrow floats (f16, bf16) are computed in f32 and rounded once: products of contractions of any kind (matmul,
batched ones, matvec, dot, convolutions), and what reductions and pooling add up. Integers are added in the result's
type and wrap around. K threads add their parts in the end, so that the order of sums depends on the configuration.

Indices that the body of an operation computes from data (`tensor.extract` in a gather) are kept in range. Where one was
not, the call raises XeTileError, which names the operation, its line, the index and its bound; results in `out` are any
numbers then. So does an assertion (`cf.assert`) that fails, with its message; where it follows from the arguments,
before anything is computed. Indices that are known to be in range, as constants or clamped ones, cost nothing.

Threads are OpenMP's: LLVM's libomp is looked for at $XETILE_LIBOMP, then beside libMLIR, then where the system's
libraries are. OMP_NUM_THREADS and its like have their usual meaning.

exp, expm1, log, log1p, tanh and erf of f32 are inline on CPUs with FMA, at most 3.5 ULP off for any argument and the
same wherever an element is. Other functions of the math dialect are those of glibc: libmvec's on vectors, at most 4
ULP off for any argument in f32 and f64, and libm's for single elements (operands that are read against the grain),
most of them within 1 ULP. f16 and bf16 are computed in f32 and rounded once. NaN, infinities, signed zeros and
subnormals are as in C. Without libmvec (glibc 2.35 or newer, x86-64) libm computes every element. The table of all
ops is in the documentation of the pass `xetile-lower-math`."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xetile import passes
from xetile.codegen import engines, saving
from xetile.codegen.frozen import FROZEN, FrozenFunction, FrozenParts, parts_of
from xetile.errors import XeTileError, expect, told
from xetile.facts.measured_configs import Effort, Tuned, with_tuned_configs
from xetile.kernels.function import CompiledFunction
from xetile.kernels.kernel import NativeBinary, Stages
from xetile.kernels.signature import Signature, find_function
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.schedule import Schedule
from xetile.schedule.matmul_config import MatmulConfig
from xetile.system.tools import find_libomp
from xetile.targets import cpu_calibration as calibration
from xetile.targets import cpu_explain
from xetile.targets.base import Option, Plan, Target

__all__ = ["CpuPlan", "CpuTarget", "explain_matmuls", "explain_parameters"]

_PACK = ("auto", "always", "never")
_OPT_LEVEL = 3
_OWN = ("config", "threads", "pack", "fuse", "attention")


@dataclass(frozen=True)
class CpuTarget(Target):
    """The CPU of this process, by what it can do."""

    options = (
        Option("config", "fields of `MatmulConfig`, for all matmuls; by default the cost model chooses"),
        Option("threads", "threads to use; by default one for each core"),
        Option("pack", "copies of blocks of A and B: 'auto', 'always' or 'never'"),
        Option(
            "fuse", "whether elementwise ops around a matmul are computed block by block in its loops; by default yes"
        ),
        Option(
            "attention",
            "whether attention is computed block by block of its rows, without all scores in memory; by default yes, "
            "unless there is a config",
        ),
        Option(
            "tune", "whether configurations are measured where they are not known yet (`xetile.tune`); by default no"
        ),
    )

    emits = MappingProxyType({"tiled": "1-tiled", "memory": "2-memory", "llvm": "3-llvm", "object": "3-llvm"})
    binary_emits = MappingProxyType({"object": "object"})
    default_emit = "so"
    has_device = False

    name: str = "cpu"
    description: str = field(default="this CPU", init=False)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Its names: "cpu", if the library was built with it."""
        return tuple(name for name in ("cpu",) if any(entry["name"] == name for entry in _xetile.describe_targets()))

    @classmethod
    def why_not(cls, name: str) -> str | None:
        """Why `name` is no target, if that is known of it."""
        return "cpu is no target of this build: it was made with XETILE_ENABLE_CPU=OFF" if name == "cpu" else None

    def check(self, signature: Signature) -> str | None:
        """Nothing: CPUs take every signature."""
        return None

    def plan(self, schedule: Schedule | None, params: Mapping[str, Any], options: Mapping[str, Any]) -> CpuPlan:
        """The compilation by `schedule`, or the compiler's own choice. XeTileError for options that contradict."""
        given = {name: value for name, value in self._options(options).items() if value is not None}
        effort = _effort(given.pop("tune", False))
        if schedule is not None:
            if given or effort:
                raise XeTileError(
                    "schedule: expected no config, threads, pack, fuse, attention or tune beside it; set its parameters"
                )
            if "target" in schedule.params:
                raise XeTileError(
                    f"schedule {schedule.name!r} is for GPUs, it has a parameter 'target'; for the target cpu expected "
                    "cpu_matmul, cpu_model, one of your own, or none"
                )
            chosen = schedule.with_values(params)
            # Levels after the schedule's share loops that it left among as many threads.
            shared = {"threads": str(chosen.params["threads"].value)} if "threads" in chosen.params else {}
            return CpuPlan(self, chosen, shared)
        tiling = _tiling(params, given)
        if effort and (tiling["config"] != "{}" or tiling["pack"] != "auto"):
            raise XeTileError("tune: expected no config and no pack beside it, they are what is measured")
        return CpuPlan(self, None, tiling, effort)

    def __str__(self) -> str:
        return self.name


def _effort(tune: Any) -> Effort | None:
    """The effort of measurements that `tune` asks for, None for none."""
    if isinstance(tune, Effort):
        return tune
    expect("tune", tune, bool, "True or False")
    return Effort() if tune else None


def _tiling(params: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
    """Options of the pass that tiles, which are the parameters where there is no schedule."""
    given = dict(options)
    fields: dict[str, Any] = {}
    for name, value in params.items():
        if name in given:
            raise XeTileError(f"{name}: expected it once, got it as an option and among params")
        (given if name in _OWN else fields)[name] = value
    config = MatmulConfig.of(given.get("config"))
    if fields and config != MatmulConfig():
        raise XeTileError("config: expected fields there or among params, got both")
    if fields:
        config = MatmulConfig.of(fields)
    threads, pack, fuse = given.get("threads"), given.get("pack", "auto"), given.get("fuse", True)
    if not isinstance(pack, str) or pack not in _PACK:
        raise XeTileError(f"pack: expected one of {', '.join(_PACK)}, got {told(pack)}")
    expect("fuse", fuse, bool, "True or False")
    attention = given.get("attention", True)
    expect("attention", attention, bool, "True or False")
    if threads is not None:
        expect("threads", threads, int, "an integer from 1 to 2147483647")
        if not 1 <= threads < 2**31:
            raise XeTileError(f"threads: expected an integer from 1 to {2**31 - 1}, got {threads}")
    return {
        "threads": str(threads or 0),
        "pack": pack,
        "fuse": str(fuse).lower(),
        "attention": str(attention).lower(),
        "config": config.to_json(),
    }


@dataclass(frozen=True)
class CpuPlan(Plan):
    """A compilation for this CPU; `tiling` has options of the pass that tiles, with a schedule its threads alone."""

    tiling: Mapping[str, str]
    effort: Effort | None = None

    def prepared(self, payload: ir.Module) -> ir.Module:
        """The payload as the first level's passes leave it, its convolutions as matmuls."""
        _, action, pipeline = _xetile.levels(self.target.name, self.options())[0]
        module = self.copy(payload)
        passes.run(module, pipeline, action=action)
        _find_matmuls(module)
        return module

    def for_payload(self, payload: ir.Module) -> CpuPlan:
        """Itself. XeTileError if the payload is a kernel for a GPU."""
        if _xetile.find_level(payload):
            raise XeTileError(
                "expected a function on tensors for the target cpu, got a module with kernels for a GPU (gpu.module); "
                "compile it for a GPU: its kernels run on this CPU's OpenCL device, too"
            )
        return self

    def copy(self, payload: ir.Module) -> ir.Module:
        """The payload with a description of this machine's rates, where they were measured."""
        module = super().copy(payload)
        calibration.describe(module)
        return module

    def after_preparation(self, module: ir.Module, payload: ir.Module) -> ir.Module:
        """The module with tuned configurations, frozen arguments split off, if they were asked for."""
        if self.schedule is None and not self.effort:
            return module
        function = find_function(module.operation, self.signature(payload).name)
        if "arg_attrs" in function.attributes and FROZEN in str(function.arg_attrs):
            if self.schedule is not None:
                raise XeTileError(
                    f"schedule: expected no arguments that are {FROZEN}, which only the compiler's own steps pack "
                    "ahead; compile without the schedule, or without freezing"
                )
            raise XeTileError(f"tune: expected no arguments that are {FROZEN}; tune without, configurations are kept")
        if not self.effort:
            return module
        _find_matmuls(module)
        return self.tuned(module, self.signature(payload))

    def tuned(
        self, module: ir.Module, signature: Signature, on_found: Callable[[Tuned], None] = lambda found: None
    ) -> ir.Module:
        """A prepared module with the configurations of `xetile.tune`."""

        def build(varied: ir.Module) -> CompiledFunction:
            varied = _xetile.clone_module(varied.operation)
            for _, action, pipeline in _xetile.levels(self.target.name, self.options())[1:]:
                passes.run(varied, pipeline, action=action)
            return engines.load(varied, signature, _libraries(varied), _OPT_LEVEL)

        assert self.effort
        return with_tuned_configs(module, signature, int(self.tiling["threads"]), self.effort, build, on_found)

    @property
    def host_opt_level(self) -> int:
        """LLVM's level for all code."""
        return _OPT_LEVEL

    def options(self) -> dict[str, str]:
        """Options of the levels, as `xetile-compile` takes them."""
        return {**self.tiling, "libmvec": str(_load_libmvec()).lower()}

    def signature(self, payload: ir.Module) -> Signature:
        """Arguments and results of a call. XeTileError if the function cannot be called."""
        found = super().signature(payload)
        if found.reason:
            raise XeTileError(found.reason)
        return found

    def code(self, stages: Stages, signature: Signature) -> CpuCode:
        """The machine code, loaded. XeTileError if it calls a function that is not there."""
        code = CpuCode(stages, signature, self)
        # Only machine code tells what it calls: a function that is not there is an error now, not in the first call.
        code.load()
        return code


class CpuCode:
    """A function in the LLVM dialect."""

    def __init__(self, stages: Stages, signature: Signature, plan: CpuPlan) -> None:
        self._stages, self._signature, self._plan = stages, signature, plan

    @cached_property
    def _parts(self) -> FrozenParts | None:
        return parts_of(self._stages.stage(self._plan.target.levels[1]).module, self._signature)

    @cached_property
    def _function(self) -> CompiledFunction | FrozenFunction:
        module = _xetile.clone_module(self._stages.last().module)
        libraries = _libraries(module)
        if self._parts is None:
            return engines.load(module, self._signature, libraries, _OPT_LEVEL)
        function = engines.load(module, self._parts.call, libraries, _OPT_LEVEL)
        return FrozenFunction(self._parts, engines.sibling(function, self._parts.freeze), function, self._signature)

    def load(self) -> CompiledFunction | FrozenFunction:
        return self._function

    @cached_property
    def _binaries(self) -> Mapping[str, bytes]:
        module = _xetile.clone_module(self._stages.last().module)
        return MappingProxyType({"object": engines.object_file(module, self._signature.name, _OPT_LEVEL)})

    def binaries(self) -> Mapping[str, bytes]:
        return self._binaries

    def native(self) -> Mapping[str, NativeBinary]:
        return MappingProxyType({})

    def save(self, path: Path) -> None:
        if self._parts is not None:
            raise XeTileError(
                f"cannot write {path}: @{self._signature.name} takes arrays that are packed in this process; compile "
                f"it without arguments that are {FROZEN}"
            )
        module = _xetile.clone_module(self._stages.last().module)
        saving.add_checked_entry(module, self._signature)
        saving.describe(module, self._signature, self._plan.target.name)
        libraries = _libraries(module) if _has_threads(module) else []
        saving.link(path, engines.object_file(module, self._signature.name, _OPT_LEVEL), libraries)

    def explain(self) -> str:
        prepared = self._stages.stage(self._plan.target.levels[0]).module
        return cpu_explain.explain(prepared, self._plan.tiling, self._plan.schedule)

    def report(self) -> str:
        raise XeTileError(
            "report: expected a kernel for an Intel GPU, got one for cpu: its `binaries` have the object file"
        )


def explain_parameters(payload: ir.Module, params: Mapping[str, Any]) -> str:
    """The text of `xetile explain`, for `params` of a compilation without a schedule."""
    return cpu_explain.explain(payload.operation, _tiling(params, {}))


def explain_matmuls(payload: ir.Module, params: Mapping[str, Any]) -> str:
    """Of that, what the cost model says, and which ops are computed in blocks of rows."""
    return cpu_explain.explain_matmuls(payload.operation, _tiling(params, {}))


def _find_matmuls(module: ir.Module) -> None:
    """Makes matmuls of convolutions, as tiling begins with."""
    passes.run(module, "xetile-tile-for-cpu{sequence=find_matmuls}", action="find the matmuls")


def _libraries(module: ir.Module) -> list[Path]:
    omp = find_libomp()
    if omp is None and _has_threads(module):
        raise XeTileError(
            "libomp was not found: install LLVM's OpenMP runtime (Debian: libomp-22-dev), name it in XETILE_LIBOMP "
            "or compile with threads=1"
        )
    return [omp] if omp else []


def _has_threads(module: ir.Module) -> bool:
    """True if the code starts threads, which need libomp."""
    found = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = found or op.name.startswith("omp.")
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


@functools.cache
def _load_libmvec() -> bool:
    """Makes glibc's functions on vectors known to machine code in this process; whether all of them are there."""
    try:
        ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)
        library = ctypes.CDLL("libmvec.so.1", mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    # The youngest: glibc 2.35.
    return hasattr(library, "_ZGVbN4v_tanf")
