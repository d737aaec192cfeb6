# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Follows a compilation level by level and writes its page after each of them."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Protocol

from xetile import passes, schedule
from xetile.errors import Diagnostic, XeTileError
from xetile.kernels.kernel import Kernel, KernelTarget, Stage
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.mlir.passmanager import PassManager
from xetile.pages import levels, machine, memory, numbers, program
from xetile.pages.page import Page
from xetile.pages.printed import Printed
from xetile.schedule import Schedule
from xetile.system import files

__all__ = ["Lowering", "Trace", "from_environment", "write"]

_VARIABLE = "XETILE_TRACE"


class Lowering(Protocol):
    """The interface of a target's `Plan` to what follows it; its room is above this one."""

    @property
    def target(self) -> KernelTarget:
        """The target."""

    @property
    def schedule(self) -> Schedule | None:
        """Of the step that tiles; None where the target's own pass does."""

    @property
    def start(self) -> int:
        """The number of the payload's level."""

    @property
    def host_opt_level(self) -> int:
        """LLVM's level, 0 to 3, for code that runs on this CPU."""

    def options(self) -> dict[str, str]:
        """Of the target's levels."""

    def lower(self, payload: ir.Module) -> Iterator[Stage]:
        """The levels, each made when it is asked for."""

    def resume(self, kernel: Kernel, name: str) -> Kernel:
        """The kernel that a level of one becomes, to run here."""


class Trace:
    """A page that is written to `path` again whenever a level was made, and before the next one begins.

    With `printed_to`, a folder that must not be there, all passes print to it, the page shows what each changed, and is
    written after each of them; with `every_pass` the same, and the folder is one that does not stay.
    """

    def __init__(
        self, path: Path, name: str, plan: Lowering, printed_to: Path | None = None, *, every_pass: bool = False
    ) -> None:
        target = plan.target
        self.page = Page(name, target.name, target.levels[plan.start :])
        self._path, self._name, self._plan, self._folder = path, name, plan, printed_to
        self._every_pass = every_pass
        if printed_to is not None and printed_to.exists():
            raise XeTileError(f"cannot print passes to {printed_to}: it is there already; remove it, or name another")
        if plan.schedule is not None:
            self.page.schedule = plan.schedule.explain()
            with suppress(XeTileError):
                self.page.schedule += f"\n\n{schedule.algorithm(plan.schedule.name)}"

    def follow(self, payload: ir.Module) -> Iterator[Stage]:
        """The plan's levels, as if nobody followed them; those that are lowered have marks.

        XeTileError as the plan raises it, with the places that users know.
        """
        with ExitStack() as stack:
            if self._every_pass:
                self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="xetile-trace-")))
            yield from self._follow(payload)

    def _follow(self, payload: ir.Module) -> Iterator[Stage]:
        marked = levels.clone(payload)
        first = levels.mark(marked, 0)
        self._pipelines(payload.context)
        stages = self._plan.lower(marked)
        for number in count():
            name = self.page.names[number] if number < len(self.page.names) else ""
            if name:
                self.page.state = f"{name} is being made"
                self.page.write(self._path)
            printed = self._printed(name)
            try:
                with self._printing(name, printed):
                    stage = next(stages, None)
            except XeTileError as error:
                told = _plain(error)
                self.page.state, self.page.error = f"{name} could not be made", str(told)
                self._read_passes(name, printed)
                self.page.write(self._path)
                raise told from None
            self._read_passes(name, printed)
            if stage is None:
                break
            stage = replace(stage, warnings=tuple(map(_without_marks, stage.warnings)))
            self.page.levels.append(levels.of_stage(stage, number, first if number == 0 else None))
            self._learn(stage, marked if number == 0 else None)
            yield replace(stage, module=levels.without_marks(stage.module))
        self.page.state = ""
        self.page.write(self._path)

    def finish(self, kernel: Kernel, payload: ir.Module | None = None) -> None:
        """Adds what only a kernel has: how it was cut, its machine code; with `payload` the errors of its levels."""
        page = self.page
        page.title = str(kernel.signature)
        with suppress(XeTileError):
            page.explained = kernel.explain()
        if "spirv" in kernel.binaries:
            page.lined = len(page.levels) - 2
            page.spirv = machine.disassemble(kernel.spirv) or ""
            large = {"true": True, "false": False}.get(self._plan.options().get("large-register-file", ""))
            lined = self._spirv_with_lines()
            for chip in kernel.native or (kernel.target.name,):
                try:
                    page.machine.append(machine.of_spirv(kernel.spirv, chip, large, lined))
                except XeTileError as error:
                    page.notes.append(f"no machine code for {chip}: {error.message}")
        elif not kernel.target.has_device:
            page.lined = len(page.levels) - 1
            try:
                page.machine.append(machine.of_host(page.levels[-1], self._name, self._plan.host_opt_level))
            except XeTileError as error:
                page.notes.append(f"no machine code: {error.message}")
        if payload is not None:
            page.state = "levels are compared with NumPy"
            for row in numbers.of_levels(payload, kernel, page.levels, lambda name: self._plan.resume(kernel, name)):
                page.errors.append(row)
                page.write(self._path)
        page.state = ""
        page.write(self._path)

    def _spirv_with_lines(self) -> bytes | None:
        """The kernels' SPIR-V once more, of the level before the last one, with its lines; None where that fails."""
        options = self._plan.options() | {"native": "off", "line-tables": "true"}
        pipeline = _xetile.levels(self._plan.target.name, options)[-1][2]
        try:
            return machine.spirv_with_lines(self.page.levels[-2], pipeline)
        except XeTileError as error:
            self.page.notes.append(f"no lines of machine code: {error.message}")
            return None

    def _printed(self, name: str) -> Printed | None:
        """Of the passes to a level; None where none are shown."""
        if self._folder is None or not name or not self.page.levels:
            return None
        return Printed(self._folder / name, self.page.levels[-1].lines)

    def _printing(self, name: str, printed: Printed | None) -> AbstractContextManager[None]:
        if printed is None or self._folder is None:
            return nullcontext()

        def after() -> None:
            self._read_passes(name, printed)
            self.page.write(self._path)

        return passes.printed_to(self._folder / name, after)

    def _read_passes(self, name: str, printed: Printed | None) -> None:
        if printed is not None:
            self.page.runs[name] = printed.read()

    def _learn(self, stage: Stage, payload: ir.Module | None) -> None:
        """Takes from a level all that the page shows beside its text."""
        if payload is not None:
            with suppress(XeTileError):
                self.page.program = program.of_payload(payload, self._plan.schedule, self._name, self._plan.target.name)
        self.page.memory = memory.of_function(stage.module, self._name, stage.name) or self.page.memory

    def _pipelines(self, context: ir.Context) -> None:
        """The passes of each level."""
        entries = _xetile.levels(self._plan.target.name, self._plan.options())[self._plan.start :]
        with context:
            for name, _, pipeline in entries:
                text = str(PassManager.parse(f"builtin.module({pipeline})"))
                found = re.findall(r"[\w.-]+(?=[,(){]|$)", re.sub(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", "", text))
                self.page.passes[name] = [word for word in found if "." not in word]


def from_environment(name: str, plan: Lowering) -> Trace | None:
    """A trace into the folder that XETILE_TRACE names; None where it is not set. XeTileError if it cannot be made."""
    text = os.environ.get(_VARIABLE)
    if not text:
        return None
    folder = files.path_of(text, _VARIABLE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise XeTileError(f"{_VARIABLE}: cannot make the folder {folder}: {error.strerror}") from None
    stem = re.sub(r"[^\w.-]", "_", f"{name}-{plan.target.name}")[:100]
    for number in count():
        path = folder / (f"{stem}-{number}.html" if number else f"{stem}.html")
        try:
            path.touch(exist_ok=False)  # another process may write there, too
        except FileExistsError:
            continue
        except OSError as error:
            raise XeTileError(f"{_VARIABLE}: cannot write {path}: {error.strerror}") from None
        return Trace(path, name, plan, every_pass=True)
    raise AssertionError("count() has no end")


def write(
    kernel: Kernel,
    plan: Lowering,
    path: Path,
    *,
    printed_to: Path | None = None,
    check: bool = False,
) -> Path:
    """Writes the page of a kernel that `plan` compiled: its levels are made once more, this time marked.

    `printed_to` is a folder for what passes print; with `check` levels run, and are compared with NumPy.
    """
    first = kernel.stages.stage(next(iter(kernel.stages)))
    payload = levels.clone(first.module)
    trace = Trace(path, kernel.name, plan, printed_to)
    for _ in trace.follow(payload):
        pass
    trace.finish(kernel, payload if check else None)
    return path


def _plain(error: XeTileError) -> XeTileError:
    """The same with places of users' files, not those of marks."""
    return type(error)(error.message, map(_without_marks, error.diagnostics))


def _without_marks(said: Diagnostic) -> Diagnostic:
    place, notes = said.location, tuple(map(_without_marks, said.notes))
    fused = re.fullmatch(r"fused\[(.*)\]", place) if place else None
    if fused:
        parts = [part for part in fused[1].split(", ") if not levels.is_mark(part)]
        place = parts[0] if len(parts) == 1 else f"fused[{', '.join(parts)}]" if parts else None
    elif place and levels.is_mark(place):
        place = None
    return replace(said, location=place, notes=notes)
