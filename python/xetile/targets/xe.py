# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Intel GPUs: a schedule tiles the payload, C++ passes lower it to SPIR-V, Intel's offline compiler makes machine code.

`xetile.compile(payload, schedule, "pvc", params)` with the options of `XeTarget.options`. The very SPIR-V runs on the
OpenCL device that XETILE_DEVICE chooses, a CPU's too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xetile.codegen import engines, saving
from xetile.codegen.frozen import FROZEN, FrozenFunction, FrozenParts, has_frozen, parts_of
from xetile.errors import XeTileError, expect, told
from xetile.facts import chips
from xetile.kernels import runtime
from xetile.kernels.function import CompiledFunction
from xetile.kernels.kernel import NativeBinary, Stage, Stages
from xetile.kernels.signature import Signature
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.mlir.dialects import gpu
from xetile.reports import report
from xetile.reports.launches import launches_in
from xetile.schedule import Schedule
from xetile.schedule import load as load_schedule
from xetile.schedule import suggest as suggest_schedule
from xetile.targets.base import Option, Plan, Target
from xetile.targets.xe_explain import describe_operations, describe_tiling, explain_kernels
from xetile.targets.xe_levels import find_level, preparation_of, signature_of

__all__ = ["XePlan", "XeTarget"]

_OPT_LEVEL = 2  # of host code
_OUTLINED = "4-xegpu"  # the last level before kernels are a binary
_PROGRAM = "gpu_model"  # the schedule that makes any number of kernels


@dataclass(frozen=True)
class XeTarget(Target):
    """An Intel GPU. The facts come from the compiler's own device table.

    `registers` and `large_registers` count the registers of `register_bytes` bytes that a thread has in the default and
    in large-register mode (at half the threads). `subgroup_size` is in lanes, `max_work_items` per workgroup;
    `ocloc_device` is the chip's name for Intel's offline compiler.
    """

    options = (
        Option("native", "'auto' makes machine code if ocloc is found, 'require' fails without it, 'off' makes none"),
        Option("native_chips", "chips to make machine code for; by default the target alone"),
        Option(
            "large_registers", "machine code with twice the registers for half the threads; by default what spills less"
        ),
        Option(
            "prefetch_payloads",
            "whether loops prefetch, and blocks are loaded and stored, by address payloads, which need functions of "
            "Intel's library (default: they do); else by OpenCL's functions alone",
        ),
        Option("line_tables", "whether SPIR-V and machine code name the lines of the payload, for profilers (no)"),
    )

    emits = MappingProxyType(
        {
            "xetile": "1-xetile-workgroup",
            "xegpu": "4-xegpu",
            "xevm": "5-xevm",
            "llvm": "6-llvm",
            "spirv": "6-llvm",
            "native": "6-llvm",
        }
    )
    default_emit = "spirv"
    has_device = True

    name: str
    description: str = field(init=False)
    ocloc_device: str = field(init=False)
    subgroup_size: int = field(init=False)
    max_work_items: int = field(init=False)
    register_bytes: int = field(init=False)
    registers: int = field(init=False)
    large_registers: int = field(init=False)

    def __post_init__(self) -> None:
        for name, value in chips.facts_of(self.name).items():
            if name != "chip":
                object.__setattr__(self, name, value)

    @property
    def binary_emits(self) -> Mapping[str, str]:  # type: ignore[override]
        """The value of `emit` for each binary."""
        return {"spirv": "spirv", "native": self.name}

    @property
    def chip(self) -> str:
        """The same as `name`."""
        return self.name

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The chips that kernels can be compiled for."""
        return chips.names()

    @classmethod
    def why_not(cls, name: str) -> str | None:
        """Why the chip `name` is known and yet no target."""
        why = chips.why_not(name)
        return why if why and not why.startswith("unknown") else None

    def check(self, signature: Signature) -> str | None:
        """Why kernels cannot have that signature: indices among arguments, numbers among results."""
        for spec in signature.arguments:
            if spec.scalar and spec.dtype == "index":
                return f"expected tensors and numbers of fixed width on a GPU, got {spec}"
        for spec in signature.results:
            if spec.scalar:
                return f"expected tensors as results on a GPU, got {spec}"
        return None

    def plan(self, schedule: Schedule | None, params: Mapping[str, Any], options: Mapping[str, Any]) -> XePlan:
        """The compilation by `schedule`, or by what the payload suggests. XeTileError for options that contradict."""
        chosen = schedule or load_schedule("matmul")
        values = dict(params)
        if "target" in values:
            raise XeTileError("params: the target is not among them; expected compile(..., target=...)")
        if "target" in chosen.params:
            values["target"] = self.name
        given = self._options(options)
        native = "auto" if given["native"] is None else given["native"]
        if not isinstance(native, str) or native not in ("auto", "require", "off"):
            raise XeTileError(f"native: expected 'auto', 'require' or 'off', got {told(native)}")
        large = given["large_registers"]
        if large is not None:
            expect("large_registers", large, bool, "True, False or None")
        payloads = True if given["prefetch_payloads"] is None else given["prefetch_payloads"]
        expect("prefetch_payloads", payloads, bool, "True or False")
        lines = False if given["line_tables"] is None else given["line_tables"]
        expect("line_tables", lines, bool, "True or False")
        made_for = _chips(given["native_chips"], self)
        is_open = schedule is None and not params
        return XePlan(self, chosen.with_values(values), native, made_for, large, payloads, lines, is_open)

    def __str__(self) -> str:
        return self.name


def _chips(given: Any, target: XeTarget) -> tuple[str, ...]:
    if given is None:
        return (target.name,)
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise XeTileError(f"native_chips: expected a list of chips, got {told(given)}")
    chips = [chip if isinstance(chip, Target) else Target(chip) for chip in given]
    for chip in chips:
        if not isinstance(chip, XeTarget):
            raise XeTileError(f"native_chips: expected chips, {', '.join(XeTarget.names())}; got {chip}")
    return tuple(dict.fromkeys(chip.name for chip in chips)) or (target.name,)


@dataclass(frozen=True)
class XePlan(Plan):
    """A compilation for an Intel GPU; see `XeTarget.options`."""

    native: str
    chips: tuple[str, ...]
    large_registers: bool | None
    prefetch_payloads: bool
    line_tables: bool
    is_open: bool = False
    """True if the payload decides the schedule."""
    level: int = 0
    """The number of the payload's level, by what it holds."""

    def for_payload(self, payload: ir.Module) -> XePlan:
        """The plan with a schedule and the level that the payload is at."""
        level = find_level(payload, self.target.levels)
        if not self.is_open:
            if not level and self.schedule is not None and self.schedule.name != _PROGRAM and has_frozen(payload):
                raise XeTileError(
                    f"schedule: expected {_PROGRAM} for arguments that are {FROZEN}, got {self.schedule.name!r}: "
                    "kernels of their own compute what depends on them; compile without the schedule or freezing"
                )
            return replace(self, level=level)
        if level:
            return replace(self, schedule=None, is_open=False, level=level)
        # Kernels of their own compute what depends on frozen arguments alone.
        name = _PROGRAM if has_frozen(payload) else suggest_schedule(payload)
        chosen = load_schedule(name).with_values({"target": self.target.name})
        return replace(self, schedule=chosen, is_open=False)

    @property
    def start(self) -> int:
        """The level from which the compiler goes on: that of a payload that is a kernel already."""
        # A schedule that a user names edits kernels, too.
        return self.level if self.schedule is None else 0

    def without_machine_code(self) -> XePlan:
        """The plan with SPIR-V alone."""
        return replace(self, native="off")

    @property
    def preparation(self) -> str:
        """Passes before the first level that a payload at `start` needs."""
        return preparation_of(self.start, self.target.name) if self.start else ""

    def signature(self, payload: ir.Module) -> Signature:
        """Arguments and results of a call; those of kernels follow from the memory that they write."""
        if self.level:
            return signature_of(payload, self.target.levels[self.level])
        return super().signature(payload)

    @property
    def host_opt_level(self) -> int:
        """LLVM's level for host code."""
        return _OPT_LEVEL

    def options(self) -> dict[str, str]:
        """Options of the levels, as `xetile-compile` takes them."""
        large = {None: "auto", True: "true", False: "false"}[self.large_registers]
        return {
            "native": self.native,
            "native-chips": ",".join(self.chips),
            "large-register-file": large,
            "prefetch-payloads": str(self.prefetch_payloads).lower(),
            "line-tables": str(self.line_tables).lower(),
        }

    def code(self, stages: Stages, signature: Signature) -> XeCode:
        """The kernels with the host's code that launches them."""
        return XeCode(stages, signature, self)


def _binaries(stage: Stage, signature: Signature) -> tuple[bytes | None, dict[str, NativeBinary]]:
    """The SPIR-V and the machine code by chip of a module at the last level. A program whose results have no elements
    has no kernel, and no SPIR-V."""
    found = [op for op in stage.module.regions[0].blocks[0].operations if op.operation.name == "gpu.binary"]
    if not found and all(0 in result.shape for result in signature.results):
        return None, {}
    if len(found) != 1:
        raise XeTileError(f"expected one gpu.binary at level {stage.name}, got {len(found)}")
    spirv, *others = map(gpu.ObjectAttr, ir.ArrayAttr(found[0].attributes["objects"]))
    native = {}
    for code in others:
        facts = code.properties
        chip = facts["chip"].value
        native[chip] = NativeBinary(chip, code.object, facts["spill"].value, facts["registers"].value)
    return spirv.object, native


class XeCode:
    """Host code in the LLVM dialect with its kernel as a gpu.binary."""

    def __init__(self, stages: Stages, signature: Signature, plan: XePlan) -> None:
        self._stages, self._signature, self._plan = stages, signature, plan
        self._spirv, native = _binaries(stages.last(), signature)
        self._native = MappingProxyType(native)

    @cached_property
    def _parts(self) -> FrozenParts | None:
        levels = self._plan.target.levels
        return parts_of(self._stages.stage(levels[1]).module, self._signature) if levels[1] in self._stages else None

    def load(self) -> CompiledFunction | FrozenFunction:
        module = _xetile.clone_module(self._stages.last().module)
        called = self._signature if self._parts is None else self._parts.call
        with runtime.launching():
            function = engines.load(module, called, [runtime.library_path()], _OPT_LEVEL, guard=runtime.launching)
        if self._parts is None:
            return function
        freeze = engines.sibling(function, self._parts.freeze)
        return FrozenFunction(self._parts, freeze, function, self._signature, runtime.selected_index)

    @cached_property
    def _binaries(self) -> Mapping[str, bytes]:
        spirv = {} if self._spirv is None else {"spirv": self._spirv}
        return MappingProxyType(spirv | {chip: code.data for chip, code in self._native.items()})

    def binaries(self) -> Mapping[str, bytes]:
        return self._binaries

    def native(self) -> Mapping[str, NativeBinary]:
        return self._native

    def save(self, path: Path) -> None:
        if self._parts is not None:
            raise XeTileError(
                f"cannot write {path}: @{self._signature.name} takes arrays that are on the device in this process; "
                f"compile it without arguments that are {FROZEN}"
            )
        module = _xetile.clone_module(self._stages.last().module)
        saving.add_checked_entry(module, self._signature)
        saving.describe(module, self._signature, self._plan.target.name, self._binaries, self._native)
        code = engines.object_file(module, self._signature.name, _OPT_LEVEL)
        saving.link(path, code, [runtime.library_path()])

    def explain(self) -> str:
        lines = [f"{self._signature} for {self._plan.target}"]
        levels = self._plan.target.levels
        if self._plan.schedule is None:
            lines.append(f"compiled from the level {levels[self._plan.start]}, without a schedule")
        else:
            lines.append(self._plan.schedule.explain())
            payload = _xetile.clone_module(self._stages.stage(levels[0]).module)
            if kernels := explain_kernels(payload, self._plan.schedule):
                lines += ["", kernels, ""]
            if tiling := describe_tiling(self._stages.stage(levels[1]).module):
                lines.append(tiling)
        lines += describe_operations(self._stages.stage("4-xegpu").module)
        for code in self._native.values():
            lines.append(f"{code.chip}: {code.registers} registers per thread, {code.spill_bytes} bytes spilled")
        return "\n".join(lines)

    def report(self) -> str:
        if self._spirv is None:
            return "no kernels: the results have no elements"
        chips = self._native or {self._plan.target.name: None}
        kernels = [
            kernel for chip in chips for kernel in report.statistics(self._spirv, chip, self._plan.large_registers)
        ]
        outlined = self._stages.stage(_OUTLINED).module if _OUTLINED in self._stages else None
        return report.format_table(kernels, launches_in(outlined) if outlined is not None else None)
