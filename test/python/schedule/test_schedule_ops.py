# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xetile.schedule.ops and parts: generated, whole, and what they say is consumed is what MLIR says."""

import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest
from xetile.mlir import ir
from xetile.passes.diagnostics import Heard
from xetile.schedule import Module, building, calls, define, handles, knob, ops, parts
from xetile.schedule.building import Builder

ROOT = Path(__file__).parents[3]
FUNCTIONS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": getattr(module, name)
    for module in (ops, parts)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name)) and getattr(module, name).__module__ == module.__name__
}

# Arguments that MLIR needs besides.
MORE = {"ops.tile_using_forall": {"tile_sizes": [1]}}


def test_they_are_up_to_date():
    run = subprocess.run(
        [sys.executable, ROOT / "scripts" / "schedule_functions.py", "--check"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def test_every_part_has_a_function():
    assert {path.stem for path in (ROOT / "schedules" / "parts").glob("*.mlir")} <= set(parts.__all__)


def test_every_function_is_documented():
    assert [name for name, function in FUNCTIONS.items() if len(function.__doc__ or "") < 30] == []


def test_every_schedule_that_is_printed_parses_again():
    for file in sorted((ROOT / "schedules").rglob("*.mlir")):
        with ir.Context():
            printed = str(ir.Module.parse(file.read_text()))
            assert str(ir.Module.parse(printed)) == printed, file


@define
def with_options(module: Module, *, threads: int = knob(2, min=1, doc=""), pack: str = knob("auto", doc="")) -> Module:
    return ops.apply_registered_pass(module, "deep-tile-matmul", options={"threads": threads, "pack": pack})


def test_options_of_several_types_print_so_that_they_parse_again():
    printed = str(with_options)
    with ir.Context():
        assert str(ir.Module.parse(printed)) in printed


def sample(name: str, type_: Any, module: Module) -> Any:
    """An argument of a type that the signature names."""
    args = typing.get_args(type_)
    if isinstance(type_, typing.TypeVar) or (isinstance(type_, type) and issubclass(type_, handles.Handle)):
        return module.as_(handles.Handle if isinstance(type_, typing.TypeVar) else type_)
    if typing.get_origin(type_) is type:
        return handles.Handle
    if name == "patterns":
        return ["canonicalization"]
    if type_ is int or int in args or any(int in typing.get_args(each) for each in args):
        return [1] if "Sequence" in str(type_) else 1
    return "inline"


def consumes(name: str) -> set[str]:
    """The arguments that a function says it consumes."""
    return set(re.findall(r"`(\w+)`", (inspect.getdoc(FUNCTIONS[name]) or "").partition("\nConsumes ")[2]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_said_to_be_consumed_is(name):
    function = FUNCTIONS[name]
    types = typing.get_type_hints(function)
    required = [each.name for each in inspect.signature(function).parameters.values() if each.default is each.empty]
    effects = [f"transform.{'consumed' if each in consumes(name) else 'readonly'}" for each in required]
    with ir.Context() as context, ir.Location.unknown(), Heard(context) as heard:
        module = ir.Module.create()
        module.operation.attributes["transform.with_named_sequence"] = ir.UnitAttr.get()
        handles_ = [ir.Type.parse("!transform.any_op")] * len(required)
        with ir.InsertionPoint(module.body):
            sequence = building.add_sequence("mine", handles_, [], [{}] * len(required), True)
            block = sequence.regions[0].blocks.append(*handles_)
        builder = Builder("mine", module, block)
        with calls.building(builder):
            given = {
                each: sample(each, types[each], Module(argument))
                for each, argument in zip(required, block.arguments, strict=True)
            }
            function(**given, **MORE.get(name, {}))
        with ir.InsertionPoint(block):
            ir.Operation.create("transform.yield")
        builder.finish()
        sequence.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get({e: ir.UnitAttr.get()}) for e in effects])
        assert module.operation.verify()
    # MLIR refuses what is consumed and not marked, and warns of what is marked and not consumed.
    assert heard.errors == heard.others == ()
