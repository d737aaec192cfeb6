"""XeTile's part of the compiler; the C++ is cpp/bindings/XeTileModule.cpp."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

from xetile.mlir import ir
from xetile.mlir.execution_engine import ExecutionEngine

_Said: TypeAlias = tuple[int, bytes, bytes, "list[_Said]"]

class _Target(TypedDict):
    chip: str
    description: str
    ocloc_device: str
    subgroup_size: int
    max_work_items: int
    register_bytes: int
    registers: int
    large_registers: int

class _Entry(TypedDict):
    name: str
    description: str
    binary: str
    levels: list[str]
    options: dict[str, str]

class _Native(TypedDict):
    data: bytes
    spill_bytes: int
    registers: int
    assembly: Sequence[str]

class DiagnosticCollector:
    def __init__(self, context: ir.Context) -> None: ...
    def detach(self) -> None: ...
    def said(self) -> list[_Said]: ...

def register_dialects(registry: Any) -> None: ...
def targets() -> list[_Target]: ...
def describe_targets() -> list[_Entry]: ...
def levels(target: str, options: Mapping[str, str] = ...) -> list[tuple[str, str, str]]: ...
def check_chip(chip: str) -> str | None: ...
def clone_module(op: ir.Operation) -> ir.Module: ...
def lookup(engine: ExecutionEngine, name: str) -> int: ...
def make_object_file(module: ir.Module, opt_level: int) -> bytes | None: ...
def find_ocloc() -> tuple[bool, str]: ...
def run_ocloc(spirv: bytes, device: str, large_registers: bool | None) -> _Native | str: ...
