# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled payload, for any target: called with arrays, saved to a file, explained. Needs no compiler to be called.

kernel = xetile.compile("matmul.mlir", target="cpu")        # or "pvc", ...
d = kernel(a, b, c)                                         # new arrays
kernel(a, b, c, out=d)                                      # into arrays that are there
kernel.save("matmul.so")                                    # xetile.load("matmul.so") is the same kernel
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import xetile
from xetile.errors import Diagnostic, XeTileError
from xetile.kernels.header import header_of
from xetile.kernels.signature import ArraySpec, Signature
from xetile.system import files, forks

if TYPE_CHECKING:
    from xetile.mlir import ir
    from xetile.schedule import Schedule

__all__ = ["Code", "Function", "Kernel", "KernelTarget", "NativeBinary", "Stage", "Stages"]


class KernelTarget(Protocol):
    """The interface of `xetile.Target` to its kernels; its room is above this one."""

    @property
    def name(self) -> str:
        """As `xetile.compile` takes it."""

    @property
    def description(self) -> str:
        """For people."""

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels that `Kernel.stages` has, in order."""

    @property
    def has_device(self) -> bool:
        """True if kernels run on a device, through the runtime library."""


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

        def count(op: Any) -> int:
            inner = [op for region in op.regions for block in region.blocks for op in block.operations]
            return len(inner) + sum(map(count, inner))

        return count(self.module)

    def write(self, directory: str | PathLike[str]) -> Path:
        """Writes the text to `<name>.mlir` in `directory`, which is made, and returns the path."""
        folder = files.path_of(directory, "cannot write a stage")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise XeTileError(f"cannot write a stage: {error}") from None
        return files.write(folder / f"{self.name}.mlir", self.text)


class Stages(Mapping[str, str]):
    """Maps the name of a level to the module's text there. Text is made when it is asked for."""

    def __init__(self, stages: Iterable[Stage] = ()) -> None:
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
            raise KeyError(f"{name!r}; the stages: {', '.join(self._stages) or 'none, it was loaded from a file'}")
        return self._stages[name]

    def last(self) -> Stage:
        """The lowest level."""
        return next(reversed(self._stages.values()))

    def write(self, directory: str | PathLike[str]) -> list[Path]:
        """Writes every stage into `directory`; see `Stage.write`."""
        return [stage.write(directory) for stage in self._stages.values()]


class Function(Protocol):
    """The interface of a kernel's function in this process, as `CompiledFunction` has it."""

    @property
    def failed(self) -> bool:
        """True if a device may have lost the function's state: load it anew."""

    @property
    def addresses(self) -> tuple[int, int, bool] | None:
        """Of the function and of its check, for calls with descriptors of memory, and whether it takes memory before
        them for what it tells of its data; None where a call needs more."""

    def __call__(self, values: tuple[Any, ...], out: Any = None) -> Any:
        """See `Kernel.__call__`."""


class Code(Protocol):
    """A target's code of a payload's lowest level. `Kernel` has its methods."""

    def load(self) -> Function:
        """The function in this process. XeTileError if it cannot be loaded."""

    def binaries(self) -> Mapping[str, bytes]:
        """Name -> file: "spirv" and chips, or "object"."""

    def native(self) -> Mapping[str, NativeBinary]:
        """Chip -> machine code of the kernel on a device; empty where the host's code is all."""

    def save(self, path: Path) -> None:
        """Writes a shared object that `xetile.load` reads."""

    def explain(self) -> str:
        """How the payload was cut, and why."""

    def report(self) -> str:
        """Figures of the machine code, a table."""


class Kernel:
    """A compiled payload: call it with arrays, save it, or take its binaries elsewhere.

    `name`       the payload's function.
    `signature`  what it takes and gives, also as `arguments` and `results`, `conditions` on sizes, and `expectations`
                 of the data, as that indices are in range.
    `stages`     the module at each level, as text; see `Stages`. Empty for a kernel that was loaded from a file.
    `timings`    level -> seconds it took.
    `schedule`   what it was tiled with, parameters included; None where the target's own pass chose, or from a file.
    `warnings`   what the compiler remarked.
    """

    def __init__(
        self,
        signature: Signature,
        target: str,
        code: Code,
        stages: Stages | None = None,
        schedule: Schedule | None = None,
        plan: Any = None,
        shown: Kernel | None = None,
    ) -> None:
        """Use `xetile.compile` or `xetile.load`. `shown` is the kernel that this one calls, whose page is its own."""
        self.signature = signature
        self.stages = stages if stages is not None else Stages()
        self.schedule = schedule
        all_stages = [self.stages.stage(name) for name in self.stages]
        self.warnings = tuple(warning for stage in all_stages for warning in stage.warnings)
        self.timings = MappingProxyType({stage.name: stage.seconds for stage in all_stages})
        self._target = target
        self._code = code
        self._plan = plan
        self._shown = shown
        self._lock = forks.Lock()
        self._function: Function | None = None

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Runs the payload's function: one array or number per argument, in order; returns its results, one or a tuple.

        Arrays are NumPy's, or anything with `__dlpack__` in the host's memory, and have the shapes and types of
        `signature` (bf16 is `ml_dtypes.bfloat16`); any strides will do, those in C order are read in place. Sizes that
        are known at run time only are checked against each other. Arguments are not changed, but for those that
        `signature` calls written, as a kernel's on memory are: writable arrays in C order that share no memory with
        others; the call returns None then. What the function finds in its data, as an index out of range, is an error
        after it ran: results in `out` are any numbers then.

        `out` takes the results, one or a tuple: writable arrays in C order that share no memory with the arguments, of
        rank 0 for numbers; these are returned. Without it results are new NumPy arrays (and numbers). A kernel for an
        Intel GPU runs on the device that XETILE_DEVICE chooses. A kernel for sm_90a also takes arrays that are on the
        GPU, as PyTorch's CUDA tensors: they are read and written there, on PyTorch's stream, and tensors returned.
        XeTileError for what does not fit, and for whatever fails on the device.
        """
        function = self._function or self.function()
        try:
            return function(arrays, out)
        except XeTileError:
            # A failure on a device can leave its module without the kernel behind: start afresh then.
            if function.failed:
                self.restart()
            raise

    def restart(self) -> None:
        """Lets go of the function in this process, and of the memory that its code has on a device: the next call loads
        it anew."""
        self._function = None

    def function(self) -> Function:
        """The callee in this process. XeTileError if it cannot be loaded or called with arrays."""
        if self.signature.reason:
            raise XeTileError(f"@{self.name} cannot be called with arrays: {self.signature.reason}")
        with self._lock:
            if self._function is None:
                self._function = self._code.load()
            return self._function

    @property
    def name(self) -> str:
        """The function's name."""
        return self.signature.name

    @property
    def arguments(self) -> tuple[ArraySpec, ...]:
        """The arguments, in the order of a call."""
        return self.signature.arguments

    @property
    def results(self) -> tuple[ArraySpec, ...]:
        """The results that a call returns."""
        return self.signature.results

    @property
    def conditions(self) -> tuple[str, ...]:
        """Preconditions of the operations on sizes of arguments: "argument 0, dimension 1 == ..."."""
        return tuple(map(str, self.signature.conditions))

    @property
    def target(self) -> KernelTarget:
        """The `xetile.Target` that it was compiled for. Its facts come from the compiler, which this loads."""
        target: KernelTarget = xetile.Target(self._target)
        return target

    @property
    def binaries(self) -> Mapping[str, bytes]:
        """Binaries by name: "spirv" and the chips that machine code was made for, or a CPU's "object" file."""
        return self._code.binaries()

    @property
    def spirv(self) -> bytes:
        """The kernel as SPIR-V, validated. XeTileError for a target without."""
        binaries = self.binaries
        if "spirv" not in binaries:
            known = ", ".join(binaries) or "none"
            raise XeTileError(f"a kernel for {self._target} has no SPIR-V; its binaries: {known}")
        return binaries["spirv"]

    @property
    def native(self) -> Mapping[str, NativeBinary]:
        """Chip -> NativeBinary, for the GPUs that machine code was made for."""
        return self._code.native()

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes the kernel as a shared object: `xetile.load(path)` is the same kernel in a process without a compiler.

        It needs XeTile's runtime library for a GPU, OpenMP's for a CPU if it has threads, and nothing else. C calls it,
        too: `header()` declares what it has, and any number of threads may call at once. Its constants are in a GPU's
        memory from the first call on each device until the file is unloaded; everything else is freed before a call
        returns. XeTileError if it cannot be linked or written.
        """
        place = files.path_of(path, "cannot write")
        self._code.save(place)
        return place

    def write_shared_object(self, path: str | PathLike[str]) -> None:
        """The old name of `save`."""
        self.save(path)

    def header(self) -> str:
        """Declarations for C: the functions of a saved kernel, and what they take."""
        return header_of(self.signature, self._target)

    def explain(self) -> str:
        """How the payload was cut, and why."""
        return self._code.explain()

    def report(self) -> str:
        """Figures of the machine code: a table as `xetile report` prints. XeTileError where there are none."""
        return self._code.report()

    def page(
        self, path: str | PathLike[str], *, printed_to: str | PathLike[str] | None = None, check: bool = False
    ) -> Path:
        """Writes a page that shows the kernel at every level: one HTML file that needs nothing beside it.

        The levels are made once more, as the page follows operations through them. `printed_to` is a new folder, to
        which all passes print; the page has what each of them changed then. With `check` the levels that can run do, on
        random arrays, and the page has their errors against NumPy. XeTileError for a kernel from a file.
        """
        if self._shown is not None:
            return self._shown.page(path, printed_to=printed_to, check=check)
        if self._plan is None:
            raise XeTileError(f"@{self.name} was loaded from a file, which has no levels: compile it to see them")
        place = files.path_of(path, "cannot write a page")
        folder = None if printed_to is None else files.path_of(printed_to, "cannot print passes")
        written: Path = xetile.pages.write(self, self._plan, place, printed_to=folder, check=check)
        return written

    def with_stages(self, stages: Stages, name: str) -> Kernel:
        """The kernel that the level `name` of other stages becomes, to run here."""
        resumed: Kernel = self._plan.resume(
            Kernel(self.signature, self._target, self._code, stages, self.schedule, self._plan), name
        )
        return resumed

    def __repr__(self) -> str:
        return f"<Kernel {self.signature} for {self._target}>"
