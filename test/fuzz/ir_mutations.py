# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kind "ir": a mutated piece of some .mlir file goes through our passes, in a process that may die of it.

A case: {"text": the module, "passes": elements of the pipeline, "unregistered": whether unknown ops are allowed,
"library": the text of a mutated schedule, or ""}. Each element runs on its own. Whatever happens before the first of
our passes, or in upstream's own that a test runs besides, is not our finding unless our code is on the stack.
"""

from __future__ import annotations

import functools
import os
import random
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import generic
import mutations
import native
import pipelines
from corpus import Chunk, chunks
from harness import count

_CAST = "builtin.unrealized_conversion_cast"
_LIBRARY = "library.mlir"
_ATTEMPTS = 4
# Longer ones say nothing that shorter ones do not.
_LONGEST = 40_000

Case = dict[str, Any]


class IrMutations:
    name = "ir"
    time_limit = 20.0
    memory = 2 << 30

    def prepare(self) -> None:
        from xetile import XeTileError, passes
        from xetile.mlir import ir

        self.ir, self.passes, self.error = ir, passes, XeTileError
        native.print_stack_traces()
        self._generic: dict[Chunk, str] = {}
        self._shared = self._context(False)
        self.pool = self._fill_pool()

    # Making cases.

    def generate(self, rng: random.Random) -> Case:
        broken = rng.random() < 0.05
        chunk = rng.choice([c for c in chunks() if not c.is_library and bool(self._as_generic(c)) != broken])
        elements = pipelines.random_pipeline(rng, chunk)
        library = ""
        if any("transform-preload-library" in element for element in elements) and rng.random() < 0.5:
            schedule = rng.choice([chunk for chunk in chunks() if chunk.is_library])
            library = self._mutate(rng, schedule)
            elements = [re.sub(r"[^,={}]*/schedules/(?!parts)[\w/]+\.mlir", _LIBRARY, element) for element in elements]
        return {
            "text": self._mutate(rng, chunk) if not library or rng.random() < 0.3 else chunk.text,
            "passes": elements,
            "unregistered": chunk.unregistered or rng.random() < 0.1,
            "library": library,
        }

    def _mutate(self, rng: random.Random, chunk: Chunk) -> str:
        """The chunk, edited: mostly so that it is still a module, which our code sees."""
        for _ in range(_ATTEMPTS):
            text = self._edit(rng, chunk)
            if rng.random() < 0.2 or self._parses(text, chunk.unregistered):
                break
        return text

    def _parses(self, text: str, unregistered: bool) -> bool:
        _stage("parse", is_ours=False)
        with self._shared as context:
            context.allow_unregistered_dialects = unregistered
            try:
                self.ir.Module.parse(text)
            except (self.ir.MLIRError, UnicodeEncodeError):
                return False
        return True

    def _edit(self, rng: random.Random, chunk: Chunk) -> str:
        as_generic = self._as_generic(chunk)
        structural = bool(as_generic) and rng.random() < 0.8
        text = as_generic if structural else chunk.text
        edits = mutations.GENERIC if structural else mutations.ANY
        for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3, 5])):
            new = rng.choice(edits)(rng, text, self.pool)
            if new is not None and len(new) < _LONGEST:
                text = new
        return text

    def _as_generic(self, chunk: Chunk) -> str:
        """The chunk in generic form; empty if it is not valid, as many tests are not."""
        if chunk not in self._generic:
            text = ""
            with self._shared as context:
                context.allow_unregistered_dialects = chunk.unregistered
                try:
                    module = self.ir.Module.parse(chunk.text)
                    text = module.operation.get_asm(print_generic_op_form=True, use_local_scope=True) + "\n"
                except self.ir.MLIRError:
                    pass
            self._generic[chunk] = text
        return self._generic[chunk]

    def _fill_pool(self) -> mutations.Pool:
        pool = mutations.Pool()
        attributes: dict[str, set[str]] = {}
        names: dict[str, set[str]] = {}
        for chunk in chunks():
            text = self._as_generic(chunk)
            if not text:
                continue
            if len(text) < _LONGEST // 4:
                pool.texts.append(text)
            rows = text.splitlines()
            for row in rows:
                for _, _, name, value in mutations.attributes(row):
                    attributes.setdefault(name, set()).add(value or "unit")
            for op in generic.parse(text):
                if not op.has_region and len(op.operands) == len(op.operand_types):
                    names.setdefault(mutations.kin(op), set()).add(op.name)
                    if op.results or op.operands:
                        pool.lines.append((rows[op.first], op))
        pool.attributes = {name: sorted(values) for name, values in attributes.items()}
        pool.names = {key: sorted(values) for key, values in names.items()}
        return pool

    # Checking.

    def check(self, case: Case) -> str | None:
        for path in Path.cwd().iterdir():
            if path.is_file():
                path.unlink()
        if case["library"]:
            Path(_LIBRARY).write_text(case["library"])
        if tool := os.environ.get("XETILE_FUZZ_OPT"):
            return self._check_with(tool, case)
        with self._context(case["unregistered"]):
            _stage("parse", is_ours=False)
            try:
                module = self.ir.Module.parse(case["text"])
            except self.ir.MLIRError:
                count("rejected before our code")
                return None
            except UnicodeEncodeError:
                return None
            _stage("print the input", is_ours=False)
            module, found = self._round_trip(module, "the input")
            if found:
                # Upstream's verifier takes operations of its own that its printer has no text for.
                return None if "xetile" not in case["text"] or is_of_upstreams_op(found) else found
            casts = case["text"].count(_CAST)
            all_ours = True
            for element in case["passes"]:
                ours = pipelines.is_ours(element)
                all_ours = all_ours and ours
                _stage(element, ours)
                try:
                    self.passes.run(module, element)
                except self.error as error:
                    count("refused")
                    found = _judge_refusal(element, ours, error)
                    # Folding merges poison, which has no place then.
                    return None if "ub.poison" in case["text"] and "without location" in (found or "") else found
                _stage(f"print after {element}", is_ours=ours)
                module, found = self._round_trip(module, f"the output of {pipelines.name_of(element)}")
                if found:
                    return found if all_ours else None
            count("passed")
            if all_ours and not casts and _left_casts(str(module)):
                return f"a cast is left after {'; '.join(map(pipelines.name_of, case['passes']))}\n{module}"
        return None

    def _check_with(self, tool: str, case: Case) -> str | None:
        """The case in a process of a tool that sanitizers watch: only what they say counts."""
        Path("case.mlir").write_text(case["text"], errors="surrogateescape")
        flags = ["--allow-unregistered-dialect"] if case["unregistered"] else []
        command = [tool, "case.mlir", f"--pass-pipeline=builtin.module({','.join(case['passes'])})", *flags]
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        # AddressSanitizer reserves terabytes of addresses.
        lift = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (hard, hard))
        run = subprocess.run(command, capture_output=True, preexec_fn=lift)  # noqa: PLW1509  one thread only
        said = run.stderr.decode(errors="replace")
        count("passed" if not run.returncode else "refused or died")
        report = re.search(r"^.*(?:ERROR: AddressSanitizer|runtime error).*$", said, re.M)
        if not report or not re.search(r"(?:xetile::|xetile/)", said[report.start() :]):
            return None
        places = re.findall(r"#\d+ 0x\w+ in ([^\n]*?)\(", said[report.start() :])
        ours = [place for place in places if "xetile" in place or "(anonymous" in place]
        what = re.sub(r"0x\w+|==\d+==|/\S*/", "", report[0]).partition(" (pc")[0]
        return f"{what.strip()} in {', '.join(ours[:2])}\n{said[-8000:]}"

    def _round_trip(self, module: Any, what: str) -> tuple[Any, str | None]:
        """Prints, parses and prints again, also by way of the generic form. Gives the module parsed: with locations."""
        try:
            module.operation.verify()
        except self.ir.MLIRError as error:
            return module, f"{what} does not verify\n{error}"
        text = str(module)
        for form, printed in (("generic ", module.operation.get_asm(print_generic_op_form=True)), ("", text)):
            try:
                module = self.ir.Module.parse(printed)
            except self.ir.MLIRError as error:
                said = "; ".join(str(info.message) for info in error.error_diagnostics)
                theirs = "" if _names_our_op(error, printed) else _NONE_OF_OURS
                return module, f"{what}, printed in {form}form, does not parse: {said}{theirs}\n{printed}"
            again = str(module)
            if _without_numbers(again) != _without_numbers(text):
                rows = zip(text.splitlines(), again.splitlines(), strict=False)
                first, second = next(((a, b) for a, b in rows if a != b), ("", ""))
                return module, f"{what} changes when it is printed in {form}form and parsed\n{first}\n{second}"
        return module, None

    def _context(self, unregistered: bool) -> Any:
        context = self.ir.Context()
        context.enable_multithreading(False)
        context.allow_unregistered_dialects = unregistered
        return context

    def excuse(self, text: str, log: str) -> str | None:
        """Why a death is not our finding: it happened in upstream's code, called by upstream's code."""
        stages = re.findall(r"^stage (ours|upstream): (.*)$", log, re.M)
        if not stages or stages[-1][0] == "ours":
            return None
        reads = stages[-1][1] in ("parse", "print the input")
        # Operations of ours have their attributes read by upstream, as all have.
        if native.own_frames(log) and not (reads and native.in_upstreams_parser(log)):
            return None
        return "died in upstream's parser, verifiers or printers" if reads else "died in upstream's passes"

    # Showing.

    def reduced(self, case: Case) -> Iterator[Case]:
        for place in range(len(case["passes"])):
            if len(case["passes"]) > 1:
                yield {**case, "passes": case["passes"][:place] + case["passes"][place + 1 :]}
        for element in ("unregistered", "library"):
            if case[element]:
                yield {**case, element: type(case[element])()}
        key = "library" if case["library"] else "text"
        for text in self._smaller(case[key], case["unregistered"]):
            yield {**case, key: text}
        for place, element in enumerate(case["passes"]):
            name, braces, options = element.partition("{")
            if braces and "preload" not in name:
                words = options[:-1].split(" ")
                for number in range(len(words)):
                    rest = " ".join(words[:number] + words[number + 1 :])
                    smaller = f"{name}{{{rest}}}" if rest else name
                    yield {**case, "passes": [*case["passes"][:place], smaller, *case["passes"][place + 1 :]]}

    def _smaller(self, text: str, unregistered: bool) -> Iterator[str]:
        """Without pieces of lines; without ops that nothing uses; in generic form, where ops are one piece."""
        with self._context(unregistered):
            try:
                module = self.ir.Module.parse(text)
                form = module.operation.get_asm(print_generic_op_form=True, use_local_scope=True) + "\n"
            except Exception:  # noqa: BLE001  a case that is about text
                form = ""
        if form and '"builtin.module"' not in text:
            yield form
        rows = text.splitlines()
        ops = generic.parse(text) if form else []
        for op in ops:
            # Its uses, where there are any, become poison.
            if op.name == "builtin.module" or len(op.results) != len(op.result_types):
                continue
            new = [mutations.poison(name, type_) for name, type_ in zip(op.results, op.result_types, strict=True)]
            used = any(re.search(re.escape(name) + r"(?![\w#])", "\n".join(rows[op.last + 1 :])) for name in op.results)
            if not used:
                yield "\n".join([*rows[: op.first], *rows[op.last + 1 :]]) + "\n"
            elif op.name not in ("ub.poison", "arith.constant") and not any("#" in name for name in op.results):
                yield "\n".join([*rows[: op.first], *new, *rows[op.last + 1 :]]) + "\n"
        for number, row in enumerate(rows if form else []):
            for start, end, _, _ in mutations.attributes(row):
                shorter = (row[:start] + row[end:]).replace(", ,", ",").replace("{, ", "{").replace(", }", "}")
                yield "\n".join([*rows[:number], shorter.replace(" {}", ""), *rows[number + 1 :]]) + "\n"
        length = len(rows) // 2
        while length and not form:
            for start in range(0, len(rows), length):
                yield "\n".join(rows[:start] + rows[start + length :]) + "\n"
            length //= 2

    def describe(self, case: Case) -> str:
        tool = pipelines.build_folder() / "bin" / "xetile-opt"
        flag = " --allow-unregistered-dialect" if case["unregistered"] else ""
        text = self._pretty(case["text"], case["unregistered"])
        pipeline = f"builtin.module({','.join(case['passes'])})"
        told = f"{tool} case.mlir{flag} --pass-pipeline='{pipeline}'\n-- case.mlir\n{text}"
        return told + (f"\n-- {_LIBRARY}\n{case['library']}" if case["library"] else "")

    def _pretty(self, text: str, unregistered: bool) -> str:
        with self._context(unregistered):
            try:
                return str(self.ir.Module.parse(text))
            except Exception:  # noqa: BLE001  then as it is
                return text


def _stage(name: str, is_ours: bool) -> None:
    """Into the worker's log, where `excuse` finds what was running."""
    print(f"stage {'ours' if is_ours else 'upstream'}: {name}", file=sys.stderr, flush=True)


_NONE_OF_OURS = " (in lines without operations of ours)"


def _names_our_op(error: Any, printed: str) -> bool:
    """Whether one of our operations is in a line that an error of the parser, or a note of it, points at."""
    rows = printed.splitlines()
    told = [info for each in error.error_diagnostics for info in (each, *each.notes)]
    lines = [int(place[1]) for info in told if (place := re.search(r":(\d+):\d+", str(info.location)))]
    return not lines or any(re.search(r"\bxetile\.", rows[line - 1]) for line in lines if 0 < line <= len(rows))


def is_of_upstreams_op(found: str) -> bool:
    """Whether a text that was printed does not parse because of an operation that is none of ours."""
    if found.partition("\n")[0].endswith(_NONE_OF_OURS):
        return True
    return bool(re.search(r"does not parse: (custom op )?'(?!xetile\.|transform\.xetile\.)[\w.]+'", found))


def _without_numbers(text: str) -> str:
    """Names of resources without what a context adds to one that it has already."""
    return re.sub(r"(dense_resource<\w*?)(?:_\d+)+>", r"\1>", text)


def _left_casts(text: str) -> bool:
    """Whether casts are left, but for descriptors as memrefs: how convert-xetile-to-vector writes a given address."""
    rows = [row for row in text.splitlines() if _CAST in row]
    return any(not re.search(r": !llvm\.struct<.*> to memref<", row) for row in rows)


def _judge_refusal(element: str, ours: bool, error: Any) -> str | None:
    """A pass that fails says where; a pipeline that does not parse says why."""
    if "is not a pass pipeline" in error.message:
        return None
    told = [diagnostic for diagnostic in error.diagnostics if diagnostic.severity == "error"]
    if not ours or any(diagnostic.location for diagnostic in told):
        return None
    if told and any(name in told[0].message for name in re.findall(r"[\w-]+(?==)", element)):
        return None  # about an option, which has no place
    if told:
        return f"{pipelines.name_of(element)} fails with an error without location: {told[0].message}\n{error}"
    return f"{pipelines.name_of(element)} fails without an error\n{error}"


KIND = IrMutations()
