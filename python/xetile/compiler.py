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
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from xetile import passes
from xetile import schedule as schedules
from xetile.errors import Diagnostic, XeTileError
from xetile.host import HostProgram, Signature
from xetile.mlir import ir
from xetile.mlir.dialects import gpu
from xetile.schedule import Schedule
from xetile.target import Target

__all__ = ["STAGES", "Kernel", "NativeBinary", "Stage", "Stages", "compile", "read_payload"]

STAGES = ("0-linalg", "1-xetile-workgroup", "2-xetile-subgroup", "4-xegpu", "5-xevm", "6-llvm")
"""Names of the levels that `Kernel.stages` has, in order."""


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
    """The module at one level, and the `seconds` that it took to get there from the level before."""

    name: str
    seconds: float
    _module: ir.Operation

    @property
    def text(self) -> str:
        """The module as MLIR text."""
        return f"{self._module}\n"

    def count_ops(self) -> int:
        """The number of operations in the module, its own not counted."""
        count = -1

        def visit(_: ir.Operation) -> ir.WalkResult:
            nonlocal count
            count += 1
            return ir.WalkResult.ADVANCE

        self._module.walk(visit)
        return count


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
        """Writes `<stage>.mlir` for each into `directory`, which is made, and returns the paths."""
        paths = []
        try:
            Path(directory).mkdir(parents=True, exist_ok=True)
            for name, text in self.items():
                paths.append(Path(directory, f"{name}.mlir"))
                paths[-1].write_text(text)
        except OSError as error:
            raise XeTileError(f"cannot write the stages: {error}") from None
        return paths


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

    def __init__(
        self,
        *,
        stages: Stages,
        signature: Signature,
        target: Target,
        schedule: Schedule,
        spirv: bytes,
        native: Mapping[str, NativeBinary],
        warnings: Iterable[Diagnostic],
        program: HostProgram,
    ) -> None:
        self.stages = stages
        self.signature = signature
        self.target = target
        self.schedule = schedule
        self.spirv = spirv
        self.native = MappingProxyType(dict(native))
        self.warnings = tuple(warnings)
        self.timings = MappingProxyType({name: stages.stage(name).seconds for name in stages})
        self._program = program

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
    `target`           a chip; by default the schedule's own.
    `params`           values for parameters of the schedule.
    `native`           "auto" makes machine code if ocloc is found, "require" fails without it, "off" makes none.
    `native_chips`     chips to make machine code for, by default `target` alone.
    `large_registers`  machine code with twice the registers for half the threads; by default where it spills less.

    XeTileError with the compiler's diagnostics for whatever cannot be compiled.
    """
    payload = module_or_path if isinstance(module_or_path, ir.Module) else read_payload(module_or_path)
    chosen, chip = _choose(schedule, target, params)
    chips = _chips(native, native_chips, chip)
    signature = Signature.of(payload)

    warnings: list[Diagnostic] = []
    stages = [Stage(STAGES[0], 0.0, payload.operation.clone())]

    def finish(name: str, module: ir.Module, start: float) -> None:
        seconds = time.perf_counter() - start
        stages.append(Stage(name, seconds, module.operation.clone()))

    def lower(module: ir.Module, pipeline: str, what: str) -> None:
        warnings.extend(passes.run(module, pipeline, action=what))

    start = time.perf_counter()
    module = chosen.apply(payload)
    finish("1-xetile-workgroup", module, start)

    start = time.perf_counter()
    lower(module, "xetile-lower-to-subgroup", "distribute the kernel over subgroups")
    finish("2-xetile-subgroup", module, start)

    start = time.perf_counter()
    lower(module, f"xetile-lower-to-xegpu{{chip={chip}}}", "lower the kernel to XeGPU")
    finish("4-xegpu", module, start)

    start = time.perf_counter()
    lower(module, "xetile-copy-launch-operands", "copy the kernel's operands to the device")
    copied = signature.arguments_to_copy(module)
    xevm = f"xetile-lower-xegpu-to-xevm{{chip={chip} xegpu-op-level=instruction}}"
    lower(module, xevm, "lower the kernel to XeVM")
    finish("5-xevm", module, start)

    start = time.perf_counter()
    signature.emit_c_interface(module)
    module = _to_binary(module, native, chips, large_registers, lower)
    finish("6-llvm", module, start)

    spirv, binaries = _objects(module)
    return Kernel(
        stages=Stages(stages),
        signature=signature,
        target=chip,
        schedule=chosen,
        spirv=spirv,
        native=binaries,
        warnings=warnings,
        program=HostProgram(module, signature, copied),
    )


def read_payload(path: str | PathLike[str]) -> ir.Module:
    """The module in a file of MLIR text or bytecode. XeTileError if it cannot be read or is not valid."""
    if not isinstance(path, (str, PathLike)):
        raise XeTileError(f"expected a module or the path of a file with one, got {type(path).__name__}")
    if not Path(path).is_file():
        raise XeTileError(f"cannot read {path}: there is no such file")
    with ir.Context():
        try:
            return ir.Module.parseFile(str(path))
        except ir.MLIRError as error:
            raise XeTileError.from_mlir(f"cannot read {path}", error) from None


def _choose(
    schedule: str | PathLike[str] | Schedule | None, target: str | Target | None, params: Mapping[str, int | str] | None
) -> tuple[Schedule, Target]:
    """The schedule with its parameters, and the target, which a schedule may have as a parameter."""
    chosen = schedule if isinstance(schedule, Schedule) else schedules.load("matmul" if schedule is None else schedule)
    values = dict(params or {})
    if "target" in values:
        raise XeTileError("params: the target is not among them; expected compile(..., target=...)")
    own = chosen.params.get("target")
    if target is None:
        target = str(own.value) if own else "pvc"
    chip = target if isinstance(target, Target) else Target(target)
    if own:
        values["target"] = chip.chip
    return chosen.with_params(**values), chip


def _chips(native: str, native_chips: Iterable[str] | None, target: Target) -> list[str]:
    if native not in ("auto", "require", "off"):
        raise XeTileError(f"native: expected 'auto', 'require' or 'off', got {native!r}")
    if native_chips is None:
        return [target.chip]
    if isinstance(native_chips, str):
        raise XeTileError(f"native_chips: expected a list of chips, got {native_chips!r}")
    return list(dict.fromkeys(Target(str(chip)).chip for chip in native_chips)) or [target.chip]


def _to_binary(module: ir.Module, native: str, chips: list[str], large_registers: bool | None, lower: Any) -> ir.Module:
    """Level 6 with the register mode that spills less, unless one is asked for."""

    def run(large: bool) -> ir.Module:
        with module.context:
            copy = ir.Module.parse(module.operation.get_asm(enable_debug_info=True, binary=False))
        options = f"native={native} native-chips={','.join(chips)} large-register-file={str(large).lower()}"
        lower(copy, f"xetile-lower-xevm-to-binary{{{options}}}", "make the kernel's binary")
        return copy

    def spills(binary: ir.Module) -> int:
        return sum(code.spill_bytes for code in _objects(binary)[1].values())

    if large_registers is not None:
        return run(large_registers)
    default = run(False)
    if not spills(default):
        return default
    large = run(True)
    return large if spills(large) < spills(default) else default


def _objects(module: ir.Module) -> tuple[bytes, dict[str, NativeBinary]]:
    """What the module's gpu.binary holds."""
    binaries = [op for op in module.body.operations if op.operation.name == "gpu.binary"]
    if len(binaries) != 1:
        raise XeTileError(f"expected the schedule to make one kernel module, got {len(binaries)}")
    spirv, *others = map(gpu.ObjectAttr, binaries[0].attributes["objects"])
    native = {}
    for code in others:
        facts = code.properties
        chip = facts["chip"].value
        native[chip] = NativeBinary(chip, code.object, facts["spill"].value, facts["registers"].value)
    return spirv.object, native
