from typing import TypeAlias, TypedDict

import xetile.mlir.execution_engine
import xetile.mlir.ir

_Said: TypeAlias = tuple[int, bytes, bytes, list[_Said]]

class _Target(TypedDict):
    chip: str
    description: str
    ocloc_device: str
    subgroup_size: int
    max_work_items: int
    register_bytes: int
    registers: int
    large_registers: int

class _Rates(TypedDict):
    chip: str
    product: str
    cores: int
    operations_cycle: int
    megahertz: int
    memory_gbs: float

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
    assembly: list[str]

def print_no_ops_in_diagnostics(context: xetile.mlir.ir.Context) -> None: ...
def register_dialects(registry: xetile.mlir.ir.DialectRegistry) -> None: ...
def targets() -> list[_Target]: ...
def rates() -> list[_Rates]: ...
def describe_targets() -> list[_Entry]: ...
def levels(target: str, options: dict[str, str] = {}) -> list[tuple[str, str, str]]: ...
def matmul_fields() -> list[tuple[str, str]]: ...
def matmul_loop_orders() -> list[str]: ...
def check_chip(chip: str) -> str | None: ...
def find_ocloc() -> tuple[bool, str]: ...
def run_ocloc(spirv: bytes, device: str, large_registers: bool | None) -> _Native | str: ...
def clone_module(op: xetile.mlir.ir.Operation) -> xetile.mlir.ir.Module: ...
def lookup(engine: xetile.mlir.execution_engine.ExecutionEngine, name: str) -> int: ...
def make_object_file(module: xetile.mlir.ir.Module, opt_level: int) -> bytes | None: ...

class DiagnosticCollector:
    def __init__(self, context: xetile.mlir.ir.Context) -> None: ...
    def detach(self) -> None: ...
    def said(self) -> list[_Said]: ...
