"""From a payload and a schedule to a kernel: `compile` runs the levels one by one and keeps what each one made.

kernel = xetile.compile("schedules/payloads/matmul_f16.mlir", schedule="matmul", target="pvc")
kernel.spirv                                    # validated SPIR-V
kernel.native["pvc"].spill_bytes                # machine code, where ocloc was found
print(kernel.stages["4-xegpu"])                 # the module at that level
d = kernel(a, b, c)                             # NumPy arrays in, a new one out
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from xetile import files, passes
from xetile import schedule as schedules
from xetile.diagnostics import parse_file
from xetile.errors import Diagnostic, XeTileError, expect, told
from xetile.host import HostProgram, Signature
from xetile.mlir import ir
from xetile.mlir.dialects import gpu
from xetile.schedule import Schedule
from xetile.target import Target

__all__ = ["STAGES", "Kernel", "NativeBinary", "Stage", "Stages", "compile", "read_payload"]

STAGES = ("0-linalg", "1-xetile-workgroup", "2-xetile-subgroup", "4-xegpu", "5-xevm", "6-llvm")
"""Names of the levels that `Kernel.stages` has, in order."""

_COPY_OPERANDS = "xetile-copy-launch-operands"


@dataclass(frozen=True)
class NativeBinary:
    """Machine code for one chip: an ELF file that the GPU driver loads.

    `spill_bytes` is what a thread of the kernel spills to memory, `registers` how many registers a thread has.
    """

    chip: str
    data: bytes
    spill_bytes: int
    registers: int


@dataclass(frozen=True)
class Stage:
    """The module at one level: `seconds` is how long the step from the level before took, `warnings` what it remarked.

    `module` is for reading; later levels are made from it.
    """

    name: str
    seconds: float
    module: ir.Operation
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def text(self) -> str:
        """The module as MLIR text."""
        return str(self.module).rstrip("\n") + "\n"

    def count_ops(self) -> int:
        """The number of operations in the module, itself not counted."""
        count = -1

        def visit(_: ir.Operation) -> ir.WalkResult:
            nonlocal count
            count += 1
            return ir.WalkResult.ADVANCE

        self.module.operation.walk(visit)
        return count

    def write(self, directory: str | PathLike[str]) -> Path:
        """Writes the text to `<name>.mlir` in `directory`, which is made, and returns the path."""
        folder = files.path_of(directory, "cannot write a stage")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise XeTileError(f"cannot write a stage: {error}") from None
        return files.write(folder / f"{self.name}.mlir", self.text)

    def binaries(self) -> tuple[bytes, dict[str, NativeBinary]]:
        """At level 6, the kernel's SPIR-V and its machine code by chip."""
        found = [op for op in self.module.regions[0].blocks[0].operations if op.operation.name == "gpu.binary"]
        if len(found) != 1:
            raise XeTileError(f"expected one gpu.binary at level {STAGES[-1]}, got {len(found)} at {self.name}")
        spirv, *others = map(gpu.ObjectAttr, found[0].attributes["objects"])
        native = {}
        for code in others:
            facts = code.properties
            chip = facts["chip"].value
            native[chip] = NativeBinary(chip, code.object, facts["spill"].value, facts["registers"].value)
        return spirv.object, native


class Stages(Mapping[str, str]):
    """Maps the name of a level to the module's text there. Text is made when it is asked for."""

    def __init__(self, stages: Iterable[Stage]) -> None:
        self._stages = {stage.name: stage for stage in stages}

    def __getitem__(self, name: str) -> str:
        return self.stage(name).text

    def __iter__(self) -> Iterator[str]:
        return iter(self._stages)

    def __len__(self) -> int:
        return len(self._stages)

    def stage(self, name: str) -> Stage:
        """The `Stage` of that name; KeyError, which lists the names, if there is none."""
        if name not in self._stages:
            raise KeyError(f"{name!r}; the stages: {', '.join(self._stages)}")
        return self._stages[name]

    def write(self, directory: str | PathLike[str]) -> list[Path]:
        """Writes every stage into `directory`; see `Stage.write`."""
        return [stage.write(directory) for stage in self._stages.values()]


class Kernel:
    """A compiled payload: call it with NumPy arrays, or take its binaries elsewhere.

    `spirv`      the kernel as SPIR-V, validated.
    `native`     chip -> NativeBinary, for the chips that machine code was made for.
    `stages`     the module at each level, as text; see `Stages`.
    `timings`    level -> seconds it took.
    `signature`  arguments and results of the payload's function; see `Signature`.
    `target`, `schedule`  what it was compiled with, parameters included.
    `warnings`   what the compiler remarked.
    """

    def __init__(self, stages: Stages, signature: Signature, target: Target, schedule: Schedule) -> None:
        """Use `compile`."""
        last = stages.stage(STAGES[-1])
        spirv, native = last.binaries()
        self.stages = stages
        self.signature = signature
        self.target = target
        self.schedule = schedule
        self.spirv = spirv
        self.native = MappingProxyType(native)
        self.warnings = tuple(warning for name in stages for warning in stages.stage(name).warnings)
        self.timings = MappingProxyType({name: stages.stage(name).seconds for name in stages})
        written = _written_arguments(stages.stage("4-xegpu"), signature)
        self._program = HostProgram(last.module, signature, written)

    def __call__(self, *arrays: np.ndarray) -> Any:
        """Runs the payload's function: one array per argument, in order; returns its results as new arrays.

        One result comes as an array, several as a tuple. Arrays have exactly the shapes and types of `signature`
        (bf16 is `ml_dtypes.bfloat16`); any strides will do. Arguments are never changed. The kernel runs on the device
        that XETILE_DEVICE chooses. XeTileError for arrays that do not fit, and for whatever fails on the device.
        """
        return self._program(*arrays)

    def __repr__(self) -> str:
        return f"<Kernel {self.signature} for {self.target}, {len(self.spirv)} bytes of SPIR-V>"


def compile(
    module_or_path: ir.Module | str | PathLike[str],
    schedule: str | PathLike[str] | Schedule | None = None,
    target: str | Target | None = None,
    params: Mapping[str, int | str] | None = None,
    *,
    native: str = "auto",
    native_chips: Iterable[str] | None = None,
    large_registers: bool | None = None,
) -> Kernel:
    """Compiles a payload, which stays as it is.

    `module_or_path`   a module at level 0, or the path of a file with one; it has one public function.
    `schedule`         a Schedule, the name of one that comes with the package, or a path; by default "matmul".
    `target`           a chip; by default the schedule's own. "cpu" gives a `cpu.CpuKernel`: its schedule may be
                       "cpu_matmul"; without one `params` are fields of `cpu.MatmulConfig`, `threads`, `pack`, `fuse`.
    `params`           values for parameters of the schedule.
    `native`           "auto" makes machine code if ocloc is found, "require" fails without it, "off" makes none.
    `native_chips`     chips to make machine code for, by default `target` alone.
    `large_registers`  machine code with twice the registers for half the threads; by default where it spills less.

    XeTileError with the compiler's diagnostics for whatever cannot be compiled.
    """
    _check_native(native, native_chips, large_registers)
    if isinstance(target, str) and target == "cpu":
        from xetile import cpu

        return cpu.compile_target(module_or_path, schedule, params)
    payload = module_or_path if isinstance(module_or_path, ir.Module) else read_payload(module_or_path)
    chosen, chip = _choose(schedule, target, params)
    levels = lower(payload, chosen, chip, native=native, native_chips=native_chips, large_registers=large_registers)
    return Kernel(Stages(levels), Signature.of(payload), chip, chosen)


def lower(
    module_or_path: ir.Module | str | PathLike[str],
    schedule: str | PathLike[str] | Schedule | None = None,
    target: str | Target | None = None,
    params: Mapping[str, int | str] | None = None,
    *,
    native: str = "auto",
    native_chips: Iterable[str] | None = None,
    large_registers: bool | None = None,
) -> Iterator[Stage]:
    """The levels that `compile` goes through, with its arguments. Each is made when it is asked for.

    A level that fails raises XeTileError then; the ones before it have been there.
    """
    payload = module_or_path if isinstance(module_or_path, ir.Module) else read_payload(module_or_path)
    _check_native(native, native_chips, large_registers)
    chosen, chip = _choose(schedule, target, params)
    chips = _chips(native_chips, chip)
    signature = Signature.of(payload)
    yield Stage(STAGES[0], 0.0, payload.operation.clone())

    start = time.perf_counter()
    module = chosen.apply(payload).operation
    yield Stage(STAGES[1], time.perf_counter() - start, module)

    def step(name: str, action: str, pipeline: str) -> Stage:
        nonlocal module
        start = time.perf_counter()
        module = module.clone()
        warnings = passes.run(module, pipeline, action=action)
        return Stage(name, time.perf_counter() - start, module, warnings)

    yield step(STAGES[2], "distribute the kernel over subgroups", "xetile-lower-to-subgroup")
    yield step(STAGES[3], "lower the kernel to XeGPU", f"xetile-lower-to-xegpu{{chip={chip}}}")
    to_xevm = f"xetile-lower-xegpu-to-xevm{{chip={chip} xegpu-op-level=instruction}}"
    yield step(STAGES[4], "lower the kernel to XeVM", f"{_COPY_OPERANDS},{to_xevm}")

    def to_binary(large: bool) -> Stage:
        options = f"native={native} native-chips={','.join(chips)} large-register-file={str(large).lower()}"
        return step(STAGES[5], "make the kernel's binary", f"xetile-lower-xevm-to-binary{{{options}}}")

    start = time.perf_counter()
    xevm = module = module.clone()
    signature.emit_c_interface(module)
    binary = to_binary(bool(large_registers))
    if large_registers is None and (spills := _spill_bytes(binary)):
        module = xevm
        large = to_binary(True)
        binary = large if _spill_bytes(large) < spills else binary
    yield replace(binary, seconds=time.perf_counter() - start)


def read_payload(path: str | PathLike[str]) -> ir.Module:
    """The module in a file of MLIR text or bytecode. XeTileError if it cannot be read or is not valid."""
    if not isinstance(path, (str, PathLike)):
        raise XeTileError(f"expected a module or the path of a file with one, got {told(path)}")
    with ir.Context():
        return parse_file(path, "the module")


def _choose(
    schedule: str | PathLike[str] | Schedule | None, target: str | Target | None, params: Mapping[str, int | str] | None
) -> tuple[Schedule, Target]:
    """The schedule with its parameters, and the target, which a schedule may have as a parameter."""
    chosen = schedule if isinstance(schedule, Schedule) else schedules.load("matmul" if schedule is None else schedule)
    values = schedules.values_of(params)
    if "target" in values:
        raise XeTileError("params: the target is not among them; expected compile(..., target=...)")
    own = chosen.params.get("target")
    if target is None:
        target = str(own.value) if own else "pvc"
    chip = target if isinstance(target, Target) else Target(target)
    if own:
        values["target"] = chip.chip
    return chosen._with(values), chip


def _check_native(native: Any, native_chips: Any, large_registers: Any) -> None:
    if not isinstance(native, str) or native not in ("auto", "require", "off"):
        raise XeTileError(f"native: expected 'auto', 'require' or 'off', got {told(native)}")
    if native_chips is not None and (isinstance(native_chips, (str, bytes)) or not isinstance(native_chips, Iterable)):
        raise XeTileError(f"native_chips: expected a list of chips, got {told(native_chips)}")
    if large_registers is not None:
        expect("large_registers", large_registers, bool, "True, False or None")


def _chips(native_chips: Iterable[str] | None, target: Target) -> list[str]:
    if native_chips is None:
        return [target.chip]
    chips = [chip if isinstance(chip, Target) else Target(chip) for chip in native_chips]
    return list(dict.fromkeys(chip.chip for chip in chips)) or [target.chip]


def _spill_bytes(binary: Stage) -> int:
    return sum(code.spill_bytes for code in binary.binaries()[1].values())


def _written_arguments(xegpu: Stage, signature: Signature) -> frozenset[int]:
    """The arguments that the host code may write to, as far as copies to and from the device show."""
    module = xegpu.module.clone()
    passes.run(module, _COPY_OPERANDS)
    return signature.written_arguments(module)
