# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions in Python for transform ops, from what llvm-tblgen knows of their definitions.

All of XeTile's ops have one, and those of MLIR's that `UPSTREAM` says something about.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

OWN = ("Schedule/TransformOps", "Schedule/DeepTileTransformOps")
OTHERS = (
    "Transform/IR/TransformOps",
    "Linalg/TransformOps/LinalgTransformOps",
    "Bufferization/TransformOps/BufferizationTransformOps",
    "SCF/TransformOps/SCFTransformOps",
)
# MLIR's ops in short; MLIR's documentation tells all.
UPSTREAM = {
    "annotate": "Gives each operation of `target` the attribute `name`: of the value `param`, or a unit.",
    "apply_cse": "Computes in `target` once what is the same.",
    "apply_dce": "Removes from `target` what nobody uses.",
    "apply_licm": "Moves out of the loops `target` what is the same in each step.",
    "apply_patterns": (
        "Applies patterns to what is in `target` until nothing changes: `patterns` are names such as "
        '"canonicalization" or\n"memref.fold_memref_alias_ops".'
    ),
    "apply_registered_pass": "Runs a pass on each operation of `target`; an option may be a parameter.",
    "bufferization.one_shot_bufferize": "Makes buffers of the tensors in `target`.",
    "get_parent_op": "The innermost operation around each of `target`, of the name `op_name` if that is given.",
    "loop.unroll": "Unrolls each loop of `target`, `factor` steps at a time.",
    "print": "Prints the operations of `target`, all of the payload without one, to the standard error.",
    "structured.fuse_into_containing_op": "Moves the computation of `producer_op` into the loop that uses it.",
    "structured.generalize": "Writes each named linalg op of `target` as the `linalg.generic` that it stands for.",
    "structured.match": "The operations in `target` with one of the names `ops` and the attributes `op_attrs`.",
    "structured.tile_using_for": "Tiles each of `target` by a nest of `scf.for`, a size for each loop; 0 makes none.",
    "structured.tile_using_forall": (
        "Tiles each of `target` by an `scf.forall`, a size, or a number of threads, for each loop; one parameter may "
        "hold all."
    ),
}
# Operands that are consumed; test_schedule_ops.py asks MLIR.
CONSUMES = {
    "apply_registered_pass": ["target"],
    "bufferization.one_shot_bufferize": ["target"],
    "loop.unroll": ["target"],
    "structured.fuse_into_containing_op": ["producer_op"],
    "structured.generalize": ["target"],
    "structured.tile_using_for": ["target"],
    "structured.tile_using_forall": ["target"],
    "xetile.deep_tile_matmul": ["target"],
    "xetile.get_program": ["target"],
    "xetile.launch_workgroups": ["workgroups"],
    "xetile.normalize_matmul": ["matmul"],
    "xetile.pipeline": ["target"],
    "xetile.stage_in_slm": ["target"],
}
# Kinds of handles that are not `Handle`, by op. "same" is the kind of the op's target, "kind" one that callers name.
KINDS = {
    "apply_licm": {"target": "Loop"},
    "apply_registered_pass": {"target": "same", "result": "same"},
    "bufferization.one_shot_bufferize": {"target": "same", "transformed": "same"},
    "get_parent_op": {"parent": "kind"},
    "loop.unroll": {"target": "Loop"},
    "structured.fuse_into_containing_op": {
        "producer_op": "same", "fused_op": "same", "containing_op": "Loop", "new_containing_op": "Loop",
    },
    "structured.generalize": {"target": "same", "transformed": "same"},
    "structured.match": {"results": "kind"},
    "structured.tile_using_for": {"target": "same", "tiled_linalg_op": "same", "loops": "Loop"},
    "structured.tile_using_forall": {"target": "same", "tiled_op": "same", "forall_op": "Loop"},
    "xetile.check_matmul_tiling": {"matmul": "Matmul"},
    "xetile.choose_matmul_tiling": {"matmul": "Matmul"},
    "xetile.fuse_consumers": {"workgroups": "Loop", "fused": "Loop"},
    "xetile.get_matmul": {"matmul": "Matmul", "init": "Fill"},
    "xetile.hang_over_edges": {"workgroups": "Loop"},
    "xetile.get_program": {"target": "Module", "program": "Module"},
    "xetile.insert_prefetch": {"target": "Load", "prefetches": "Prefetch"},
    "xetile.isolate_kernel": {"target": "Module", "kernel": "Module", "rest": "Module"},
    "xetile.launch_workgroups": {"workgroups": "Loop", "launch": "Launch"},
    "xetile.normalize_matmul": {"matmul": "Matmul", "normal": "Matmul"},
    "xetile.online": {"loops": "Loop"},
    "xetile.order": {"kernel": "Kernel"},
    "xetile.pipeline": {"target": "Loop", "loops": "Loop"},
    "xetile.split_k": {"module": "Module"},
    "xetile.split_keys": {"target": "Function"},
    "xetile.set_launch_subgroups": {"target": "Launch"},
    "xetile.stage_in_slm": {"target": "Load", "loops": "Loop"},
    "xetile.to_tiles": {"target": "Function", "workgroups": "Loop"},
}  # fmt: skip
# Parameters that are strings, by name; `values` of several kinds.
STRINGS = {"precision", "target", "config", "chip", "by", "units"}
ANY = {"values", "param"}
# Attribute -> the type of an argument, and the function of xetile.schedule.attributes that makes it.
ATTRIBUTES = {
    "UnitAttr": ("bool", "unit"),
    "BoolAttr": ("bool", "boolean"),
    "I64Attr": ("int", "integer"),
    "StrAttr": ("str", "string"),
    "StrArrayAttr": ("Sequence[str]", "strings"),
    "DenseI64ArrayAttr": ("Sequence[int]", "integers"),
    "DictionaryAttr": ("attributes.Options", "dictionary"),
}


class Result(NamedTuple):
    """A result of a step: its name, its type for callers, its kind when it runs."""

    name: str
    type: str
    kind: str


def function(
    *,
    name: str,
    call: str,
    doc: str,
    parameters: list[str],
    arguments: list[str],
    results: list[Result],
    options: list[str],
    before: list[str] | None = None,
    loops: str = "",
) -> str:
    """The text of a function, and of the tuple that it returns if that is one. `loops` says how many the last are."""
    title = "".join(word.title() for word in name.split("_"))
    generic = any(result.type == "_K" for result in results)
    head = ""
    if len(results) > 1:
        fields = [f"    {each.name}: {each.type}" for each in results]
        if loops:
            fields[-1] = f"    {results[-1].name}: tuple[{results[-1].type}, ...]"
        bases = "NamedTuple, Generic[_K]" if generic else "NamedTuple"
        head = f'class {title}({bases}):\n    """Results of `{name}`."""\n\n' + "\n".join(fields) + "\n\n\n"
    kinds = ", ".join(result.kind for result in results)
    if loops:
        kinds = f"{', '.join(result.kind for result in results[:-1])}, *[{results[-1].kind}] * {loops}"
    tail = [f"[{kinds}]"] if results else []
    inside = ", ".join(arguments)
    made = f"{call}{', '.join([f'[{inside}]', *tail, *options])})"
    returned = {0: "None", 1: results[0].type if results else ""}.get(len(results), title + ("[_K]" if generic else ""))
    body = [made] if not results else [f"found: {returned} = {made}[0]", "return found"]
    if len(results) > 1:
        body = [f"return {title}(*{made})"]
    if loops:
        first = [f"made[{i}]" for i in range(len(results) - 1)]
        body = [f"made = {made}", f"return {title}({', '.join(first)}, tuple(made[{len(first)}:]))"]
    quotes = 'r"""' if "\\" in doc else '"""'
    text = textwrap.indent(f"{quotes}{doc.strip()}\n" + ('"""' if "\n" in doc.strip() else ""), "    ")
    if "\n" not in doc.strip():
        text = text.rstrip("\n") + '"""'
    lines = "\n".join(f"    {line}" for line in [*(before or []), *body])
    return f"{head}def {name}({', '.join(parameters)}) -> {returned}:\n{text}\n{lines}\n"


def functions(root: Path) -> list[str]:
    """Those of all ops, in the order of their names."""
    found = {}
    for own, files in ((True, OWN), (False, OTHERS)):
        for file in files:
            records = load(root, file, own=own)
            for op in map(records.__getitem__, records["!instanceof"]["Op"]):
                name = op["opName"]
                if (
                    op["opDialect"]["def"] == "Transform_Dialect"
                    and name.startswith("xetile.") == own
                    and (own or name in UPSTREAM)
                ):
                    short = name.rpartition(".")[2]
                    found["print_" if short == "print" else short] = Op(records, op)
    return [op.text(name) for name, op in sorted(found.items())]


def load(root: Path, file: str, *, own: bool) -> dict[str, Any]:
    """The records of a file, as llvm-tblgen dumps them."""
    version = re.search(r"LLVM_VERSION=(\d+)", (root / "scripts" / "versions.env").read_text())
    assert version is not None
    command: list[str | Path] = [f"llvm-config-{version[1]}", "--prefix"]
    prefix = Path(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
    folder = root / "cpp" / "xetile" if own else prefix / "include" / "mlir" / "Dialect"
    command = [
        prefix / "bin" / "llvm-tblgen",
        "--dump-json",
        "-I",
        root / "cpp",
        "-I",
        prefix / "include",
        folder / f"{file}.td",
    ]
    records: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return records


class Op:
    """One op's function in the making."""

    def __init__(self, records: dict[str, Any], op: dict[str, Any]) -> None:
        self.records, self.op, self.name = records, op, op["opName"]
        self.required: list[str] = []
        self.optional: list[str] = []
        self.arguments: list[str] = []
        self.attributes: list[str] = []
        self.before: list[str] = []
        self.segments = any(trait.get("def") == "AttrSizedOperandSegments" for trait in op["traits"])
        self.names = [name for _, name in op["arguments"]["args"]]

    def text(self, function_name: str) -> str:
        what = f"ops.{function_name}"
        self.mixed = {each: f"static_{each.removeprefix('dynamic_')}" for each in self.names
                      if f"static_{each.removeprefix('dynamic_')}" in self.names}  # fmt: skip
        for record, name in self.each("arguments"):
            if "Attr" in record["!superclasses"]:
                self.attribute(what, record, name)
            else:
                self.operand(what, record, name)
        kinds = KINDS.get(self.name, {})
        if "kind" in kinds.values():
            self.required.insert(1, "kind: type[_K]")
        results, loops = [], ""
        for record, name in self.each("results"):
            kind = "IntParam" if record_is(record, "TransformParamTypeInterface") else kinds.get(name, "Handle")
            type_ = {"same": "_K", "kind": "_K"}.get(kind, kind)
            results.append(Result(name, type_, {"same": f"kind_of({self.names[0]})", "kind": "kind"}.get(kind, kind)))
            if "Variadic" in record["!superclasses"]:
                loops = "attributes.count_loops(sizes)"
        options = [f"attributes={{{', '.join(self.attributes)}}}"] if self.attributes else []
        if consumed := CONSUMES.get(self.name):
            options.append(f"consumes={consumed}")
        if self.segments:
            options.append("segments=True")
        if self.op["regions"]["args"]:
            self.required.append("patterns: Sequence[str]")
            options.append(f'patterns=attributes.names("{what}: patterns", patterns)')
        return function(
            name=function_name,
            call=f'emit("{self.name}", ',
            doc=self.doc(consumed or []),
            parameters=[*self.required, *(["*", *self.optional] if self.optional else [])],
            arguments=self.arguments,
            results=results,
            options=options,
            before=self.before,
            loops=loops,
        )

    def each(self, key: str) -> Iterator[tuple[dict[str, Any], str]]:
        for type_, name in self.op[key]["args"]:
            yield self.records[type_["def"]], name

    def operand(self, what: str, record: dict[str, Any], name: str) -> None:
        many, optional = ("Variadic" in record["!superclasses"]), ("Optional" in record["!superclasses"])
        base = self.records[record["baseType"]["def"]] if many or optional else record
        if name in self.mixed:
            shown = name.removeprefix("dynamic_")
            whole = " | IntParam" if f"packed_{name}" in self.names else ""
            default = "" if name.startswith("dynamic_") else " = ()"
            (self.optional if default else self.required).append(f"{shown}: Sequence[Int]{whole}{default}")
            self.before.append(f'{shown}_ = attributes.mixed("{what}: {shown}", {shown})')
            self.arguments.append(f'Argument("{shown}", {shown}_.dynamic, IntParam, "*")')
            return
        if name.startswith("packed_"):
            shown = name.removeprefix("packed_")
            self.arguments.append(f'Argument("{shown}", {shown}_.packed, IntParam, "?")')
            return
        if name == "dynamic_options":
            self.arguments.append('Argument("options", options_.dynamic, AnyParam, "*")')
            return
        type_, kind = self.kind(base, name)
        type_ = f"Sequence[{type_}] = ()" if many else f"{type_} | None = None" if optional else type_
        (self.optional if many or optional else self.required).append(f"{name}: {type_}")
        count = ', "*"' if many else ', "?"' if optional else ""
        self.arguments.append(f'Argument("{name}", {name}, {kind}{count})')

    def kind(self, base: dict[str, Any], name: str) -> tuple[str, str]:
        if name in ANY:
            return "Int | Str", "AnyParam"
        if record_is(base, "TransformParamTypeInterface"):
            return ("Str", "StrParam") if name in STRINGS else ("Int", "IntParam")
        kind = KINDS.get(self.name, {}).get(name, "Handle")
        return ("_K", "Handle") if kind == "same" else (kind, kind)

    def attribute(self, what: str, record: dict[str, Any], name: str) -> None:
        if name in self.mixed.values():
            shown = name.removeprefix("static_")
            self.attributes.append(f'"{name}": {shown}_.static')
            return
        if name == "scalable_sizes":
            self.attributes.append('"scalable_sizes": attributes.none_of(sizes)')
            return
        if name == "options" and "dynamic_options" in self.names:
            self.optional.append("options: attributes.Options | None = None")
            self.before.append(f'options_ = attributes.options("{what}: options", options)')
            self.attributes.append('"options": options_.attribute')
            return
        optional = bool(record["isOptional"]) or record.get("defaultValue") is not None
        base = record
        while base.get("baseAttr"):
            base = self.records[base["baseAttr"]["def"]]
        found = ATTRIBUTES.get(base["!name"])
        extra = ""
        if found is None and "IntEnumAttr" in base["!superclasses"]:
            known = {
                each["str"]: each["value"]
                for each in map(self.records.__getitem__, (e["def"] for e in base["enumerants"]))
            }
            found, extra = (f"Literal[{', '.join(map(repr, known))}]", "choice"), f", {known}"
        if found is None:
            if not optional:
                sys.exit(f"{self.name}: {name}: no type in Python for {base['!name']}: add it to ATTRIBUTES")
            return
        type_, maker = found
        (self.optional if optional else self.required).append(
            f"{name}: {type_}{default_of(record, type_) if optional else ''}"
        )
        self.attributes.append(f'"{name}": attributes.{maker}("{what}: {name}", {name}{extra})')

    def doc(self, consumed: list[str]) -> str:
        if self.name in UPSTREAM:
            text = f"{UPSTREAM[self.name]}\n\nMLIR's `transform.{self.name}`."
        else:
            text = f"{self.op['summary']}.\n\n{textwrap.dedent(self.op['description']).strip()}"
        if consumed:
            text += f"\n\nConsumes {' and '.join(f'`{name}`' for name in consumed)}."
        return text


def record_is(record: dict[str, Any], name: str) -> bool:
    """True for a definition of that name, and for an optional or variadic one of it."""
    return name == record["!name"] or (record.get("baseType") or {}).get("def") == name


def default_of(record: dict[str, Any], type_: str) -> str:
    """The default of an argument that need not be given."""
    value = record.get("defaultValue")
    if type_ == "bool":
        return f" = {value == 'true'}"
    if value is not None and re.fullmatch(r'-?\d+|"\w*"', value) and type_ in ("int", "str"):
        return f" = {value}"
    return " | None = None"
