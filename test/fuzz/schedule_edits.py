# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kind "edits": an edited schedule, or an edited part of one, applied to a payload as `xetile.compile` does it.

A case: {"schedule": the text of the file with @__transform_main, "part": the text of a part or "", "name": that part's
name, "payload": the text of the module}. XeTileError is well; whatever ends the process is a finding, as is an error
of a schedule that has no place.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import generic
import mutations
from corpus import ROOT, chunks
from harness import count

Case = dict[str, Any]
_LONGEST = 60_000
_MATMUL = """func.func @f(%a: tensor<{m}x{k}x{t}>, %b: tensor<{k}x{n}x{t}>, %c: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %d = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>) outs(%c : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %d : tensor<{m}x{n}xf32>
}}
"""  # noqa: E501


class ScheduleEdits:
    name = "edits"
    time_limit = 30.0
    memory = 4 << 30

    def prepare(self) -> None:
        import xetile
        from xetile.mlir import ir

        self.xetile, self.ir = xetile, ir
        self._parts = {path.stem: path.read_text() for path in sorted((ROOT / "schedules" / "parts").glob("*.mlir"))}
        self._files = {path.stem: path.read_text() for path in sorted((ROOT / "schedules").glob("*.mlir"))}
        self.pool = mutations.Pool()
        for text in [
            *self._parts.values(),
            *self._files.values(),
            *(c.text for c in chunks() if "transform." in c.text),
        ]:
            form = self._as_generic(text)
            if not form:
                continue
            self.pool.texts.append(form)
            rows = form.splitlines()
            for row in rows:
                for _, _, name, value in mutations.attributes(row):
                    self.pool.attributes.setdefault(name, []).append(value or "unit")
            for op in generic.parse(form):
                if op.name.startswith("transform.") and not op.has_region:
                    self.pool.names.setdefault(mutations.kin(op), []).append(op.name)
                    if op.operands and len(op.operands) == len(op.operand_types):
                        self.pool.lines.append((rows[op.first], op))

    def _as_generic(self, text: str) -> str:
        with self.ir.Context():
            try:
                module = self.ir.Module.parse(text)
            except self.ir.MLIRError:
                return ""
            return module.operation.get_asm(print_generic_op_form=True, use_local_scope=True) + "\n"

    def generate(self, rng: random.Random) -> Case:
        entry = rng.choice(["matmul", "matmul", "cpu_matmul", "cpu_model"])
        part, name = "", ""
        schedule = self._files[entry]
        if entry == "matmul" and rng.random() < 0.5:
            name = rng.choice(sorted(self._parts))
            part = self._edited(rng, self._parts[name])
        else:
            schedule = self._edited(rng, schedule)
        sizes = {size: rng.choice([1, 16, 33, 64, 100, 128]) for size in "mnk"}
        payload = _MATMUL.format(**sizes, t="f32" if entry != "matmul" else "f16")
        return {"schedule": schedule, "part": part, "name": name, "payload": payload}

    def _edited(self, rng: random.Random, text: str) -> str:
        """Edited, whether it can be read or not: that is found out in a child process."""
        form = self._as_generic(text)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            new = rng.choice(_EDITS)(rng, form, self.pool)
            if new is not None and len(new) < _LONGEST:
                form = new
        return form

    def check(self, case: Case) -> str | None:
        mine = Path.cwd() / "mine"
        (mine / "parts").mkdir(parents=True, exist_ok=True)
        for path in (mine / "parts").iterdir():
            path.unlink()
        (mine / "edited.mlir").write_text(case["schedule"], errors="surrogateescape")
        if case["part"]:
            (mine / "parts" / f"{case['name']}.mlir").write_text(case["part"], errors="surrogateescape")
        with self.ir.Context():
            payload = self.ir.Module.parse(case["payload"])
        try:
            self.xetile.schedule.load(mine / "edited.mlir").apply(payload)
        except self.xetile.XeTileError as error:
            text = str(error)
            count("died and said so" if "ended the process that applies" in text else "refused")
            if "makes no progress" in text:
                return text
            return None if error.diagnostics or "schedule" in text or "parameter" in text else f"no place\n{text}"
        count("applied")
        return None

    def reduced(self, case: Case) -> Iterator[Case]:
        key = "part" if case["part"] else "schedule"
        rows = case[key].splitlines()
        for op in generic.parse(case[key]):
            used = any(re.search(re.escape(name) + r"(?![\w#])", "\n".join(rows[op.last + 1 :])) for name in op.results)
            if not used and op.name != "builtin.module":
                yield {**case, key: "\n".join([*rows[: op.first], *rows[op.last + 1 :]]) + "\n"}

    def describe(self, case: Case) -> str:
        part = f"\n-- mine/parts/{case['name']}.mlir\n{case['part']}" if case["part"] else ""
        return (
            "xetile compile payload.mlir --schedule mine/edited.mlir\n"
            f"-- payload.mlir\n{case['payload']}\n-- mine/edited.mlir\n{case['schedule']}{part}"
        )


def callee(rng: random.Random, text: str, pool: mutations.Pool) -> str | None:
    """Another sequence of the file in a symbol's place."""
    names = re.findall(r'sym_name = "(\w+)"', text)
    found = list(re.finditer(r"@\w+", text))
    if not names or not found:
        return None
    place = rng.choice(found)
    return text[: place.start()] + "@" + rng.choice(names) + text[place.end() :]


def consumed(rng: random.Random, text: str, pool: mutations.Pool) -> str | None:
    """The handle that an op took instead of the one that it gave, in all that follows."""
    ops = [op for op in generic.parse(text) if op.results and op.operands and not op.has_region]
    if not ops:
        return None
    op = rng.choice(ops)
    rows = text.splitlines()
    rest = generic.rename("\n".join(rows[op.last + 1 :]), rng.choice(op.results), rng.choice(op.operands))
    return "\n".join([*rows[: op.last + 1], rest]) + "\n"


def handle_type(rng: random.Random, text: str, pool: mutations.Pool) -> str | None:
    """Another type of handles or parameters, here or everywhere."""
    types = ["!transform.any_op", "!transform.any_param", "!transform.any_value", "!transform.param<i64>"]
    types += ['!transform.op<"linalg.matmul">', '!transform.op<"scf.for">', '!transform.op<"func.func">']
    found = list(re.finditer(r'!transform\.\w+(?:<"?[\w.]+"?>)?', text))
    if not found:
        return None
    place, new = rng.choice(found), rng.choice(types)
    if rng.random() < 0.4:
        return text.replace(place[0], new)
    return text[: place.start()] + new + text[place.end() :]


_EDITS = (
    mutations.delete_op, mutations.copy_op, mutations.swap_ops, mutations.operands, mutations.operands,
    mutations.operands, mutations.attribute, mutations.attribute, mutations.add_attribute, mutations.op_name,
    mutations.number, callee, consumed, consumed, handle_type,
)  # fmt: skip


KIND = ScheduleEdits()
