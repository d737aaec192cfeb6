# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nvidia's Hopper GPUs: the schedule `matmul` tiles the payload, C++ passes lower it to PTX, the driver compiles that.

`xetile.compile(payload, target="sm_90a")` with the options of `NvidiaTarget.options`. Matmuls of f16, bf16, f32
and i8, in batches, with what is computed of their results element by element; attentions of any length with masks;
rows, elementwise chains and whole programs, each by the schedule that is suggested or given. No CUDA toolkit is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xetile.codegen import engines, saving
from xetile.codegen.frozen import FROZEN, has_frozen
from xetile.errors import XeTileError, told
from xetile.kernels import cuda
from xetile.kernels.cuda_arrays import CudaFunction
from xetile.kernels.function import CompiledFunction
from xetile.kernels.kernel import NativeBinary, Stages
from xetile.kernels.signature import Signature
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.mlir.dialects import gpu
from xetile.schedule import Schedule
from xetile.schedule import load as load_schedule
from xetile.schedule import suggest as suggest_schedule
from xetile.targets.base import Option, Plan, Target

__all__ = ["NvidiaPlan", "NvidiaTarget"]

_NAME = "sm_90a"
_SCHEDULE = "matmul"
_OPT_LEVEL = 2  # of host code
_PTX = "4-ptx"  # the level that has it
_GROUP_ROWS = 8
_CONVOLUTION = "convolution"
_PROGRAM = "gpu_model"
_SWITCHES = {"overlap": True, "lazy": None, "counter": True}  # options of attentions, by default
_PRODUCTS = ("linalg.matmul", "linalg.batch_matmul", "linalg.contract")
_LOADS = ("auto", "plain")
_PIPELINES = ("auto", "simple", "specialized")


@dataclass(frozen=True)
class NvidiaTarget(Target):
    """An H100 or H200."""

    options = (
        Option(
            "group_rows",
            "rows of tiles that workgroups walk together, so that they read the same parts of A and B; 8 by default",
        ),
        Option(
            "loads",
            "plain: without TMA, for sizes of a run whose rows are no multiples of 16 bytes; auto by default, so where "
            "that is known",
        ),
        Option(
            "overlap",
            "of an attention, multiply scores of the next keys before the powers of these; True by default",
        ),
        Option(
            "lazy",
            "of an attention, multiply the output for a new maximum only where that is much larger; by default for "
            "values of at most 64 elements, where that gains",
        ),
        Option(
            "counter",
            "of an attention, workgroups draw tiles from a counter instead of every so many; True by default",
        ),
        Option(
            "pipeline",
            "who loads tiles: simple, a thread of those that multiply; specialized, a warpgroup of its own, and "
            "workgroups walk over tiles; auto by default, the latter where there are more tiles than multiprocessors",
        ),
    )
    emits = MappingProxyType(
        {
            "xetile": "1-xetile-workgroup",
            "ring": "2-ring",
            "nvvm": "3-nvvm",
            "ptx": _PTX,
            "llvm": "5-llvm",
        }
    )
    binary_emits = MappingProxyType({"ptx": "ptx"})
    default_emit = "ptx"
    has_device = False
    """Of OpenCL: its kernels run by another runtime library."""
    tensors_on = "cuda"

    name: str = _NAME
    description: str = field(default="Nvidia H100 and H200 (Hopper)", init=False)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Its name, if the library was built with it."""
        return tuple(entry["name"] for entry in _xetile.describe_targets() if entry["name"] == _NAME)

    @classmethod
    def why_not(cls, name: str) -> str | None:
        """Why `name` is no target, if that is known of it."""
        if name == _NAME:
            return f"{_NAME} is no target of this build: it was made with XETILE_ENABLE_NVIDIA=OFF"
        if name.startswith("sm_"):
            return f"{name} is no target: expected {_NAME}, which is for H100 and H200"
        return None

    def check(self, signature: Signature) -> str | None:
        """Why kernels cannot have that signature: numbers among results."""
        for spec in signature.results:
            if spec.scalar:
                return f"expected tensors as results on a GPU, got {spec}"
        return None

    def plan(self, schedule: Schedule | None, params: Mapping[str, Any], options: Mapping[str, Any]) -> NvidiaPlan:
        """The compilation by `schedule`, or by what the payload suggests. XeTileError for options that contradict."""
        chosen = schedule or load_schedule(_SCHEDULE)
        values = dict(params)
        if "target" in values:
            raise XeTileError("params: the target is not among them; expected compile(..., target=...)")
        if "target" not in chosen.params:
            raise XeTileError(f"schedule {chosen.name!r} is not for GPUs: expected {_SCHEDULE}, or one with its parts")
        values["target"] = self.name
        given = self._options(options)
        rows = _GROUP_ROWS if given["group_rows"] is None else given["group_rows"]
        if not isinstance(rows, int) or isinstance(rows, bool) or not 1 <= rows < 2**15:
            raise XeTileError(f"group_rows: expected an integer from 1 to {2**15 - 1}, got {told(rows)}")
        pipeline = given["pipeline"] or "auto"
        if pipeline not in _PIPELINES:
            raise XeTileError(f"pipeline: expected {', '.join(_PIPELINES)}, got {told(pipeline)}")
        loads = given["loads"] or "auto"
        if loads not in _LOADS:
            raise XeTileError(f"loads: expected {', '.join(_LOADS)}, got {told(loads)}")
        switches: dict[str, Any] = {
            name: usual if given[name] is None else given[name] for name, usual in _SWITCHES.items()
        }
        for name, value in switches.items():
            if value is not None and not isinstance(value, bool):
                raise XeTileError(f"{name}: expected True or False, got {told(value)}")
        is_open = schedule is None and not params
        return NvidiaPlan(self, chosen.with_values(values), rows, pipeline, loads, **switches, is_open=is_open)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class NvidiaPlan(Plan):
    """A compilation for a Hopper GPU; see `NvidiaTarget.options`."""

    group_rows: int
    pipeline: str
    loads: str
    overlap: bool
    lazy: bool | None
    counter: bool
    is_open: bool = False
    """True if the payload decides the schedule."""

    def for_payload(self, payload: ir.Module) -> NvidiaPlan:
        """With the schedule that the payload suggests. XeTileError if the payload is a kernel already, or has frozen
        arguments."""
        if _xetile.find_level(payload):
            raise XeTileError(
                f"expected a function on tensors for the target {_NAME}, got a module with kernels (gpu.module)"
            )
        if has_frozen(payload):
            raise XeTileError(f"expected no arguments that are {FROZEN} for the target {_NAME}")
        schedule = self.schedule
        if self.is_open:
            name = suggest_schedule(payload)
            # Alone, products of types that wgmma does not take are slow on vector units: "matmul" says what it takes.
            if name == "rows" and any(op.name in _PRODUCTS for op in _ops(payload)):
                name = _SCHEDULE
            # A program's convolutions of f32 are on the matrix unit.
            if name == _CONVOLUTION:
                name = _PROGRAM
            schedule = load_schedule(name).with_values({"target": self.target.name})
            return replace(self, schedule=schedule, is_open=False).for_payload(payload)
        return replace(self)

    @property
    def host_opt_level(self) -> int:
        """LLVM's level for host code."""
        return _OPT_LEVEL

    def options(self) -> dict[str, str]:
        """Options of the levels, as `xetile-compile` takes them."""
        options = {"group-rows": str(self.group_rows), "pipeline": self.pipeline, "loads": self.loads}
        spelling = {True: "true", False: "false", None: "auto"}
        return options | {name: spelling[getattr(self, name)] for name in _SWITCHES}

    def code(self, stages: Stages, signature: Signature) -> NvidiaCode:
        """The kernel with the host's code that launches it."""
        return NvidiaCode(stages, signature, self)


class NvidiaCode:
    """Host code in the LLVM dialect, which has its kernels as PTX."""

    def __init__(self, stages: Stages, signature: Signature, plan: NvidiaPlan) -> None:
        self._stages, self._signature, self._plan = stages, signature, plan

    def load(self) -> CompiledFunction:
        module = _xetile.clone_module(self._stages.last().module)
        with cuda.launching():
            libraries = [cuda.library_path()]
            return engines.load(module, self._signature, libraries, _OPT_LEVEL, guard=cuda.launching, make=CudaFunction)

    @cached_property
    def _binaries(self) -> Mapping[str, bytes]:
        found = []
        for op in self._stages.stage(_PTX).module.regions[0].blocks[0].operations:
            if op.operation.name == "gpu.binary":
                found += [gpu.ObjectAttr(entry).object for entry in ir.ArrayAttr(op.attributes["objects"])]
        return MappingProxyType({"ptx": b"".join(found)} if found else {})

    def binaries(self) -> Mapping[str, bytes]:
        return self._binaries

    def native(self) -> Mapping[str, NativeBinary]:
        return MappingProxyType({})

    def save(self, path: Path) -> None:
        module = _xetile.clone_module(self._stages.last().module)
        saving.add_checked_entry(module, self._signature)
        saving.describe(module, self._signature, self._plan.target.name, self._binaries)
        code = engines.object_file(module, self._signature.name, _OPT_LEVEL)
        saving.link(path, code, [cuda.library_path()])

    def explain(self) -> str:
        lines = [f"{self._signature} for {self._plan.target}"]
        if self._plan.schedule is not None:
            lines.append(self._plan.schedule.explain())
        for ring in _rings(self._stages.stage("2-ring").module):
            lines.append(
                f"a ring of {ring['stages']} stages of {ring['stage_bytes']} bytes, {ring['shared_bytes']} bytes of "
                f"shared memory and {ring['threads']} threads for each workgroup"
            )
        return "\n".join(lines)

    def report(self) -> str:
        raise XeTileError(
            f"report: expected a kernel for an Intel GPU, got one for {_NAME}: its `binaries` have the PTX"
        )


def _ops(module: ir.Module) -> list[ir.Operation]:
    """The ops of the functions' bodies."""
    functions = [op for op in module.body.operations if op.operation.name == "func.func"]
    return [op.operation for function in functions for block in function.regions[0] for op in block.operations]


def _rings(module: ir.Operation) -> list[dict[str, int]]:
    """The plan of each kernel."""
    found = []
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "gpu.module":
            for kernel in op.regions[0].blocks[0].operations:
                if "xetile.ring" in kernel.attributes:
                    fields = ir.DictAttr(kernel.attributes["xetile.ring"])
                    numbers = ("stages", "stage_bytes", "shared_bytes", "threads")
                    found.append({name: ir.IntegerAttr(fields[name]).value for name in numbers})
    return found
