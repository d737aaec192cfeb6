# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile.kernel`: from a Python function to a module with a kernel of workgroup-level XeTile and what launches it."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from xetile.errors import XeTileError, expect, told
from xetile.mlir import ir
from xetile.passes.diagnostics import Heard
from xetile.tiles import memory
from xetile.tiles.trace import LANES, Place, Trace, begin, here, integers, wrong
from xetile.tiles.types import name_of

__all__ = ["TileKernel", "kernel"]

_MOST = 1 << 60
"""Elements of an array: more bytes than these no address reaches."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEXT = """
module attributes {{gpu.container_module}} {{
  gpu.module @{name}_kernels {{
    gpu.func @{name}({parameters}) kernel attributes {{known_block_size = array<i32: {lanes}, 1, 1>,
        known_grid_size = array<i32: {grid[0]}, {grid[1]}, {grid[2]}>}} {{
      gpu.return loc({at})
    }} loc({at})
  }} loc({at})
  func.func @{name}({parameters}) {{
    %one = arith.constant 1 : index loc({at})
    %x = arith.constant {grid[0]} : index loc({at})
    %y = arith.constant {grid[1]} : index loc({at})
    %z = arith.constant {grid[2]} : index loc({at})
    %threads = arith.constant {lanes} : index loc({at})
    gpu.launch_func @{name}_kernels::@{name} blocks in (%x, %y, %z) threads in (%threads, %one, %one)
        args({arguments}) loc({at})
    return loc({at})
  }} loc({at})
}} loc({at})
"""


class TileKernel:
    """A kernel that was built. `xetile.compile(kernel, target="pvc")` compiles its `module`; `str(kernel)` is its text.

    `subgroups` are those of a workgroup, `grid` the workgroups along x, y and z.
    """

    def __init__(self, name: str, module: ir.Module, grid: tuple[int, ...], subgroups: int) -> None:
        """Use `xetile.kernel`."""
        self.name, self.module, self.grid, self.subgroups = name, module, grid, subgroups

    def __call__(self, *_: Any, **__: Any) -> Any:
        """XeTileError: only what it is compiled to can be called."""
        raise XeTileError(
            f"the kernel {self.name} is not compiled: expected a call of what xetile.compile({self.name}, "
            "target=...) gives"
        )

    def __str__(self) -> str:
        return str(self.module)

    def __repr__(self) -> str:
        shown = " x ".join(map(str, self.grid))
        return f"<TileKernel {self.name}: {shown} workgroups of {self.subgroups} subgroups>"


def kernel(*arrays: str, grid: Sequence[int]) -> Callable[[Callable[..., None]], TileKernel]:
    """Builds a kernel of a function: what it does with its arguments, and with what comes of them, is recorded once, as
    operations at the function's lines.

        @xetile.kernel("1024x512xf16", "512x1024xf16", "1024x1024xf32", grid=(4, 4))
        def matmul(a: tiles.Array, b: tiles.Array, c: tiles.Array) -> None: ...

    `arrays`  size and elements of each argument, an array in C order: "8x128x64xf16".
    `grid`    workgroups along x, y and z, one to three numbers; all run the function, `tiles.workgroup_id` tells which.
              Each has as many subgroups as the function's maps (`tiles.wg_map`) are for, one without any.

    `xetile.tiles` has what the function is written with. XeTileError, at the function's line, for what does not fit.
    It is no compiled kernel yet: `xetile.compile` makes that (`xetile.Kernel`), which is called with arrays.
    """
    place = here()
    specs = [_spec(number, text) for number, text in enumerate(arrays)]
    if not isinstance(grid, Sequence) or not 1 <= len(grid) <= 3:
        raise wrong(f"kernel: grid: expected one to three numbers of workgroups, got {told(grid)}")
    sizes = (*integers("kernel: grid", grid, len(grid)), 1, 1)[:3]

    def build(function: Callable[..., None]) -> TileKernel:
        name = _name_of(function, len(specs))
        return _build(function, name, specs, sizes, place)

    return build


def _spec(number: int, text: Any) -> tuple[tuple[int, ...], str]:
    expect(f"kernel: array {number}", text, str, 'sizes and an element type, as "1024x512xf16"')
    found = re.fullmatch(r"((?:[1-9][0-9]*x)+)([a-z]\w*)", text)
    if not found:
        raise wrong(f'kernel: array {number}: expected sizes and an element type, as "1024x512xf16"; got {told(text)}')
    shape = tuple(map(int, found[1][:100].rstrip("x").split("x")))
    if len(found[1]) > 100 or math.prod(shape) >= _MOST:
        raise wrong(f"kernel: array {number}: expected fewer than {_MOST} elements, got {told(text)}")
    return shape, name_of(found[2])


def _name_of(function: Any, arguments: int) -> str:
    if not inspect.isfunction(function):
        raise wrong(f"kernel: expected a function, got {told(function)}")
    name = function.__name__
    if not _NAME.fullmatch(name):
        raise wrong(f"kernel: expected a function with a name of letters, digits and _, got {name}")
    try:
        inspect.signature(function).bind(*[None] * arguments)
    except TypeError:
        raise wrong(
            f"kernel: expected a function of {arguments} arguments, one for each array; got "
            f"{name}{inspect.signature(function)}"
        ) from None
    return name


def _build(
    function: Callable[..., None],
    name: str,
    specs: list[tuple[tuple[int, ...], str]],
    grid: tuple[int, ...],
    place: Place,
) -> TileKernel:
    with ir.Context() as context, ir.Location.unknown(), Heard(context) as heard:
        module = ir.Module.parse(_skeleton(name, specs, grid, place))
        device, host = module.body.operations
        (body,) = device.regions[0].blocks[0].operations[0].regions[0].blocks
        trace = Trace(name)
        before = begin(trace)
        try:
            scope = trace.enter(place, ir.InsertionPoint.at_block_terminator(body))
            arguments = [memory.argument(*each) for each in _pairs(body.arguments, specs)]
            _run(function, arguments, trace)
            trace.leave(scope)
        finally:
            begin(before)
        subgroups = trace.subgroups or 1
        _set_threads(device, host, subgroups * LANES)
        try:
            valid = module.operation.verify()
        except ir.MLIRError:
            valid = False
        if not valid:
            raise XeTileError(f"the kernel {name} cannot be built", heard.errors)
    return TileKernel(name, module, grid, subgroups)


def _run(function: Callable[..., None], arguments: list[memory.Array], trace: Trace) -> None:
    given = function(*arguments)  # type: ignore[func-returns-value]
    if trace.left:
        raise wrong(
            "the loop was left by break, return or continue: expected its body to come to its end", trace.left[0]
        )
    if given is not None:
        raise wrong(f"expected a function that returns nothing, as it stores to its arrays; it returned {told(given)}")


def _pairs(arguments: Any, specs: list[tuple[tuple[int, ...], str]]) -> list[Any]:
    return [(argument, *spec) for argument, spec in zip(arguments, specs, strict=True)]


def _skeleton(name: str, specs: list[tuple[tuple[int, ...], str]], grid: tuple[int, ...], place: Place) -> str:
    kinds = [f"memref<{'x'.join([*map(str, shape), dtype])}>" for shape, dtype in specs]
    return _TEXT.format(
        name=name,
        parameters=", ".join(f"%a{number}: {kind}" for number, kind in enumerate(kinds)),
        arguments=", ".join(f"%a{number} : {kind}" for number, kind in enumerate(kinds)),
        grid=grid,
        lanes=LANES,
        at=str(place.location())[len("loc(") : -1],
    )


def _set_threads(device: Any, host: Any, threads: int) -> None:
    """The size of a workgroup, which is known when all maps are."""
    function = device.regions[0].blocks[0].operations[0]
    function.attributes["known_block_size"] = ir.DenseI32ArrayAttr.get([threads, 1, 1])
    constants = [op for op in host.regions[0].blocks[0].operations if op.operation.name == "arith.constant"]
    constants[-1].operation.attributes["value"] = ir.IntegerAttr.get(ir.IndexType.get(), threads)
