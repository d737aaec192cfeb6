# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interface of targets: a name, facts of the machine, options, and the levels that a payload goes through."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from xetile import passes
from xetile.errors import XeTileError, told
from xetile.kernels.kernel import Code, Kernel, Stage, Stages
from xetile.kernels.signature import Condition, Expectation, Signature
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile

if TYPE_CHECKING:
    from xetile.schedule import Schedule

__all__ = ["Option", "Plan", "Target"]

# The suffix of the function that checks another one's sizes.
_CHECK = "_check"


@dataclass(frozen=True)
class Option:
    """An option of `xetile.compile` that a target has; None leaves the choice to it."""

    name: str
    doc: str


class Target:
    """A compilation target: `Target("pvc")`, `Target("cpu")`. XeTileError, which lists the known, for others.

    `Target(name)` is an object of the class of its room: `XeTarget` for Intel GPUs, `CpuTarget` for this CPU.
    """

    name: str
    description: str
    options: ClassVar[tuple[Option, ...]]
    """Keyword arguments of `xetile.compile` for it, besides schedule and params."""
    emits: ClassVar[Mapping[str, str]]
    """Short name of what `xetile compile --emit` writes -> the level that has it."""
    binary_emits: ClassVar[Mapping[str, str]]
    """Those of them that are a binary -> its name in `Kernel.binaries`; "native" is the target's own chip."""
    default_emit: ClassVar[str]
    has_device: ClassVar[bool]
    """True if kernels run on a device, through the runtime library."""
    tensors_on: ClassVar[str] = "cpu"
    """Where the tensors of PyTorch's graphs are that `torch.compile(backend="xetile")` compiles for it."""

    _rooms: ClassVar[list[type[Target]]] = []

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Target._rooms.append(cls)

    def __new__(cls, name: Any = None) -> Target:
        """The target of a name: `Target("pvc")`. XeTileError lists the names that there are."""
        if cls is not Target:
            return super().__new__(cls)
        if not isinstance(name, str):
            raise XeTileError(f"target: expected the name of a chip, or cpu; got {told(name)}")
        for room in Target._rooms:
            if name in room.names():
                return super().__new__(room)
        # A room may know a name that it does not take, and says why.
        reasons = [reason for room in Target._rooms if (reason := room.why_not(name))]
        known = ", ".join(sorted(name for room in Target._rooms for name in room.names()))
        raise XeTileError(f"target: {reasons[0]}" if reasons else f"target: unknown chip {told(name)}; known: {known}")

    if TYPE_CHECKING:

        def __init__(self, name: str) -> None: ...

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels that `Kernel.stages` has, in order."""
        entries = _xetile.describe_targets()
        return tuple(next(entry["levels"] for entry in entries if entry["name"] == self.name))

    # Each room has its own of these. None is abstract, for type checkers: `Target(name)` makes an object of a room.

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The targets of this room."""
        raise NotImplementedError(cls)

    @classmethod
    def why_not(cls, name: str) -> str | None:
        """Why there are no kernels for a chip that the room knows; None for others."""
        return None

    def plan(self, schedule: Schedule | None, params: Mapping[str, Any], options: Mapping[str, Any]) -> Plan:
        """How to compile with these. XeTileError for what the target does not take."""
        raise NotImplementedError(self)

    def check(self, signature: Signature) -> str | None:
        """Why a kernel of that signature cannot be called here; None if it can."""
        raise NotImplementedError(self)

    def _options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All options, None where nothing was said. XeTileError for one that the target does not have."""
        names = [option.name for option in self.options]
        for name in given:
            if name not in names:
                raise XeTileError(f"target {self.name} has no option {name!r}; expected one of {', '.join(names)}")
        return {name: given.get(name) for name in names}

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Plan(ABC):
    """A target with all that was chosen for one compilation. `schedule` is None where the target's own pass tiles."""

    target: Target
    schedule: Schedule | None

    def for_payload(self, payload: ir.Module) -> Plan:
        """The plan with what is chosen by the payload. XeTileError for one that the target does not begin with."""
        return self

    @property
    def start(self) -> int:
        """The number of the level that the payload is at."""
        return 0

    @property
    @abstractmethod
    def host_opt_level(self) -> int:
        """LLVM's level, 0 to 3, for code that runs on this CPU."""

    @abstractmethod
    def options(self) -> dict[str, str]:
        """Options of the compiler's levels, as `xetile-compile` has them."""

    def lower(self, payload: ir.Module) -> Iterator[Stage]:
        """The levels from the payload's on, each made when it is asked for. The list is the compiler's own."""
        first, *others = _xetile.levels(self.target.name, self.options())[self.start :]
        # The payload as it came; what prepares it belongs to the next level.
        yield Stage(first[0], 0.0, payload.operation.clone())
        start = time.perf_counter()
        module = self.copy(payload)
        warnings = passes.run(module, self.preparation or first[2], action=first[1])
        module = self.after_preparation(module, payload)
        for number, (name, action, pipeline) in enumerate(others):
            if number:
                start, warnings = time.perf_counter(), ()
                module = _xetile.clone_module(module.operation)
            if number == 0 and self.schedule is not None:
                module = self.schedule.apply(module)
            else:
                warnings += passes.run(module, pipeline, action=action)
            yield Stage(name, time.perf_counter() - start, module.operation, warnings)

    def resume(self, kernel: Kernel, name: str) -> Kernel:
        """The kernel that the module of its level `name` becomes, to run here: later levels are made once more."""
        plan = self.without_machine_code()
        kept, later = [], False
        for level, action, pipeline in _xetile.levels(self.target.name, plan.options()):
            if not later:
                kept += [kernel.stages.stage(level)] if level in kernel.stages else []
                later = level == name
                continue
            start = time.perf_counter()
            module = _xetile.clone_module(kept[-1].module)
            warnings = passes.run(module, pipeline, action=action)
            kept.append(Stage(level, time.perf_counter() - start, module.operation, warnings))
        stages = Stages(kept)
        code = plan.code(stages, kernel.signature)
        return Kernel(kernel.signature, self.target.name, code, stages, self.schedule, plan)

    def without_machine_code(self) -> Plan:
        """The plan without what only other machines run."""
        return self

    @property
    def preparation(self) -> str:
        """The passes that a payload at a later level than the first one needs; else empty."""
        return ""

    def copy(self, payload: ir.Module) -> ir.Module:
        """A payload to lower, with what the target knows of its machine."""
        return _xetile.clone_module(payload.operation)

    def after_preparation(self, module: ir.Module, payload: ir.Module) -> ir.Module:
        """The input of tiling: the payload as the first level's passes left it, or a module derived from it."""
        return module

    def finish(self, stages: Stages, signature: Signature) -> Signature:
        """With what the prepared function expects of sizes and data, in the order of the numbers that it tells."""
        conditions, expectations = signature.conditions, signature.expectations
        for op in stages.last().module.regions[0].blocks[0].operations:
            attributes = op.operation.attributes
            name = ir.StringAttr(attributes["sym_name"]).value if "sym_name" in attributes else None
            if name == signature.name + _CHECK and "xetile.conditions" in attributes:
                listed = _listed(attributes["xetile.conditions"])
                conditions = tuple((Expectation if len(texts) == 2 else Condition)(*texts) for texts in listed)
            if name == signature.name and "xetile.expectations" in attributes:
                expectations = tuple(Expectation(*texts) for texts in _listed(attributes["xetile.expectations"]))
        return replace(signature, conditions=conditions, expectations=expectations)

    @abstractmethod
    def code(self, stages: Stages, signature: Signature) -> Code:
        """The code of the lowest level."""

    def signature(self, payload: ir.Module) -> Signature:
        """The payload's, and why it cannot be called on this target, if so."""
        found = Signature.of(payload)
        return found if found.reason else replace(found, reason=self.target.check(found))


def _listed(attribute: ir.Attribute) -> list[list[str]]:
    """The texts of an attribute that lists lists of texts."""
    return [[ir.StringAttr(part).value for part in ir.ArrayAttr(entry)] for entry in ir.ArrayAttr(attribute)]
