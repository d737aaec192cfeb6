# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels of workgroup-level XeTile stage by stage, with NumPy arrays: the round trip of meaning.

`COLUMNS` names the stages. Each takes the same kernel and gives the arrays as it leaves them: a wrong stage shows.
- workgroup: by its meaning, without maps, as if one big subgroup ran each workgroup (convert-xetile-to-vector);
- subgroup: what xetile-wg-to-sg makes, the subgroups of a workgroup as threads that meet at barriers. Between two
  barriers they run one after the other, in an order that is drawn anew each time;
- blocked: the same, cut into blocks by xetile-blocking;
- device: SPIR-V for the kernel's chip, run on the CPU's OpenCL device. Its driver makes one thread of a workgroup: it
  runs the subgroups by their ids, each up to the next barrier, and has no setting that would change this. So the ids
  are renumbered: who runs first, second, .. is drawn anew each time, the same for all barriers.
A further stage is a function with the same signature.
"""

from __future__ import annotations

import ctypes
import math
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from xetile import passes, runtime
from xetile.mlir import ir
from xetile.mlir.execution_engine import ExecutionEngine
from xetile_programs import DTYPES, _narrow_floats, _pack, lower_on_host, memref_type

BLOCK = "xetile-blocking{{chip={chip}}},canonicalize,cse"
LAUNCHED = """{aliases}
module attributes {{gpu.container_module}} {{
  gpu.module @device {{
    gpu.func @kernel({parameters}) kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
{body}
      gpu.return
    }}
  }}
  func.func @main({parameters}) attributes {{llvm.emit_c_interface}} {{
    %one = arith.constant 1 : index
    %x = arith.constant {grid[0]} : index
    %y = arith.constant {grid[1]} : index
    %threads = arith.constant {threads} : index
    gpu.launch_func @device::@kernel blocks in (%x, %y, %one) threads in (%threads, %one, %one) args({arguments})
    return
  }}
}}"""
DISTRIBUTE = "xetile-infer-wg-map,xetile-wg-to-sg{{slm-bytes={slm_bytes}}},canonicalize,cse"
ORDER = "order"
# The subgroup that is called %number by the driver is another: one of as many, by two numbers that a run brings.
RENUMBERED = """
      {own} = gpu.subgroup_id upper_bound {subgroups} : index
      %order_0 = arith.constant 0 : index
      %order_1 = arith.constant 1 : index
      %order_step = memref.load %{order}[%order_0] : memref<2xindex>
      %order_start = memref.load %{order}[%order_1] : memref<2xindex>
      %order_end = arith.constant {subgroups} : index
      %order_far = arith.muli {own}, %order_step : index
      %order_sum = arith.addi %order_far, %order_start : index
      {number} = arith.remui %order_sum, %order_end : index
"""
BLOCKS = 2  # arguments for gpu.block_id
# The workgroup's memory is poisoned: not a number, or -1.
POISON = 0xFF


@dataclass(frozen=True)
class Kernel:
    """The body of a kernel whose memrefs are `arrays` by name, and how many workgroups of how many subgroups run it.

    `aliases` are those of attributes that the body names; `chip` is for what the stages from the third on compile;
    `types` replaces types of memrefs.
    """

    body: str
    arrays: dict[str, np.ndarray]
    subgroups: int
    grid: tuple[int, int] = (1, 1)
    slm_bytes: int = 128 * 1024
    aliases: str = ""
    chip: str = "pvc"
    types: dict[str, str] = field(default_factory=dict)

    def memrefs(self) -> dict[str, str]:
        """The types of the memrefs by name."""
        return {name: plain_type(array) for name, array in self.arrays.items()} | self.types

    def text(self) -> str:
        """As a function that also takes block_id x and y, the number of the subgroup and the shared memory."""
        arguments = [f"%{name}: {kind}" for name, kind in self.memrefs().items()]
        arguments += ["%block_x: index", "%block_y: index", "%subgroup: index", "%memory: memref<?xi8, 3>"]
        return (
            f"{self.aliases}\nfunc.func private @barrier() attributes {{llvm.emit_c_interface}}\n"
            f"func.func @f({', '.join(arguments)}) attributes {{llvm.emit_c_interface}} {{\n{self.body}\nreturn\n}}"
        )

    def distributed(self) -> str:
        """The code of one subgroup, from xetile-wg-to-sg."""
        with ir.Context(), ir.Location.unknown():
            module = ir.Module.parse(self.text())
            passes.run(module, DISTRIBUTE.format(slm_bytes=self.slm_bytes))
            return str(module)

    def blocked(self) -> str:
        """The same in blocks, from xetile-blocking."""
        with ir.Context(), ir.Location.unknown():
            module = ir.Module.parse(self.distributed())
            passes.run(module, BLOCK.format(chip=self.chip))
            return str(module)

    def launched(self) -> str:
        """As a kernel, and the host's code that launches it; `ORDER` is one argument more."""
        kinds = self.memrefs() | {ORDER: "memref<2xindex>"}
        return launched(self.body, kinds, self.subgroups, self.grid, self.aliases)


def launched(
    body: str, kinds: dict[str, str], subgroups: int, grid: tuple[int, int] = (1, 1), aliases: str = ""
) -> str:
    """`body` as a kernel with arguments of `kinds` by name, and the host's code that launches it."""
    return LAUNCHED.format(
        aliases=aliases,
        body=body,
        grid=grid,
        threads=16 * subgroups,
        parameters=", ".join(f"%{name}: {kind}" for name, kind in kinds.items()),
        arguments=", ".join(f"%{name} : {kind}" for name, kind in kinds.items()),
    )


def plain_type(array: np.ndarray) -> str:
    """The type of a memref; without its strides where rows follow one another."""
    return re.sub(r", strided.*", ">", memref_type(array)) if array.flags.c_contiguous else memref_type(array)


def without_maps(code: str) -> str:
    """The same kernel for one big subgroup; it has nobody to meet at barriers."""
    with ir.Context(), ir.Location.unknown():
        code = ir.Module.parse(code).operation.get_asm(use_local_scope=True)
    wg_map = r"(?:#xetile\.wg_map)?<sg_layout = \[[^]]*\], sg_data = \[[^]]*\]>"
    # A conversion of maps is nothing then.
    code = re.sub(
        r"xetile\.tile_conv_layout (%\w+(?:#\d+)?) \{[^}]*\} : (\S+)",
        r"xetile.tile_transpose \1, [0, 1] : \2 -> \2",
        code,
    )
    code = re.sub(rf"(?:, )?wg_map = {wg_map}(?:, )?", "", code)
    code = code.replace(", #xetile.tile_attr<>", "").replace(" {}", "")
    return code.replace("gpu.barrier", "")


def on_host(code: str, arrays: int) -> tuple[str, int]:
    """Code of a subgroup as an ordinary function, and how many bytes of shared memory it takes."""
    x, y, subgroup, memory = (f"%arg{arrays + number}" for number in range(BLOCKS + 2))
    for op, argument in [("block_id  x", x), ("block_id  y", y), ("subgroup_id", subgroup)]:
        code = re.sub(rf"gpu\.{op}.*", f"arith.maxui {argument}, {argument} : index", code)
    code = code.replace("gpu.barrier", "func.call @barrier() : () -> ()")
    size = 0

    def place(match: re.Match[str]) -> str:
        nonlocal size
        name, shape, element = match.groups()
        start, width = size, 8 if element == "index" else max(8, int(re.sub(r"\D", "", element))) // 8
        size += -(-int(np.prod([int(n) for n in shape.split("x")])) * width // 64) * 64
        return (
            f"{name}_start = arith.constant {start} : index\n"
            f"{name} = memref.view {memory}[{name}_start][] : memref<?xi8, 3> to memref<{shape}x{element}, 3>"
        )

    code = re.sub(r"(%\w+) = memref\.alloca\(\).* : memref<((?:\d+x)*\d+)x(\w+), 3>", place, code)
    code = re.sub(r"(%)(\d+)_start", r"\1start_\2", code)
    return code, size


class Workgroup:
    """Threads of which one runs at a time: each until a barrier or its end, in an order drawn anew every time."""

    def __init__(self, subgroups: int, rng: np.random.Generator) -> None:
        self.turn = [threading.Semaphore(0) for _ in range(subgroups)]
        self.paused = threading.Semaphore(0)
        self.own = threading.local()
        self.rng = rng
        self.finished = [False] * subgroups
        self.error: BaseException | None = None

    def barrier(self) -> None:
        self.paused.release()
        self.turn[self.own.number].acquire()

    def _work(self, number: int, work: Callable[[int], None]) -> None:
        self.own.number = number
        self.turn[number].acquire()
        try:
            work(number)
        except BaseException as error:  # shown by `run`, in the thread of the test
            self.error = error
        self.finished[number] = True
        self.paused.release()

    def run(self, work: Callable[[int], None]) -> None:
        threads = [threading.Thread(target=self._work, args=(n, work), daemon=True) for n in range(len(self.turn))]
        for thread in threads:
            thread.start()
        while not all(self.finished):
            for number in self.rng.permutation(len(self.turn)):
                self.turn[number].release()
                self.paused.acquire()
            assert self.error is None, self.error
            assert len(set(self.finished)) == 1, "some subgroups wait at a barrier that others never reach"
        for thread in threads:
            thread.join()


def blocks(kernel: Kernel) -> Iterator[tuple[int, int]]:
    yield from np.ndindex(*kernel.grid)


class Program:
    """Compiled code of a subgroup."""

    def __init__(self, kernel: Kernel, code: str) -> None:
        self.kernel = kernel
        code, self.slm_bytes = on_host(code, len(kernel.arrays))
        self.workgroup: Workgroup | None = None
        with ir.Context(), ir.Location.unknown():
            module = ir.Module.parse(code)
            lower_on_host(module)
            self.engine = ExecutionEngine(module, opt_level=1, shared_libs=_narrow_floats())
        self.callback = ctypes.CFUNCTYPE(None)(self._barrier)
        self.engine.register_runtime("barrier", self.callback)

    def _barrier(self) -> None:
        assert self.workgroup is not None
        self.workgroup.barrier()

    def run(self, rng: np.random.Generator, subgroups: int) -> dict[str, np.ndarray]:
        arrays = {name: _copy(array) for name, array in self.kernel.arrays.items()}
        previous = threading.stack_size(64 << 20)
        try:
            for x, y in blocks(self.kernel):
                memory = np.full(max(64, self.slm_bytes), POISON, np.uint8).view(np.int8)

                def work(subgroup: int, x: int = x, y: int = y, memory: np.ndarray = memory) -> None:
                    values = [*arrays.values(), int(x), int(y), subgroup, memory]
                    self.engine.invoke("f", *(_pack(value) for value in values))

                self.workgroup = Workgroup(subgroups, rng)
                self.workgroup.run(work)
        finally:
            threading.stack_size(previous)
        return arrays


def _copy(array: np.ndarray) -> np.ndarray:
    """With the same strides, which are in the code."""
    base = array if array.base is None or not isinstance(array.base, np.ndarray) else array.base
    copy = base.copy()
    if base is array:
        return copy
    offset = array.ctypes.data - base.ctypes.data
    return np.ndarray(array.shape, array.dtype, copy, offset, array.strides)


def run_workgroup(kernel: Kernel, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return Program(kernel, without_maps(kernel.text())).run(rng, 1)


def run_subgroup(kernel: Kernel, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return Program(kernel, kernel.distributed()).run(rng, kernel.subgroups)


def run_blocked(kernel: Kernel, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return Program(kernel, kernel.blocked()).run(rng, kernel.subgroups)


def renumbered(code: str, subgroups: int) -> str:
    """Code of one subgroup, with its number by ORDER, the last argument of the kernel."""
    order = re.search(r"gpu\.func @kernel\(.*%(\w+): memref<2xindex>\)", code)
    assert order, code
    return re.sub(
        r"(%\w+) = gpu\.subgroup_id.*",
        lambda own: RENUMBERED.format(own="%order_own", number=own[1], order=order[1], subgroups=subgroups),
        code,
    )


def drawn_order(rng: np.random.Generator, subgroups: int) -> np.ndarray:
    """What RENUMBERED takes: a step that meets each of the subgroups, and a start."""
    steps = [step for step in range(1, subgroups + 1) if math.gcd(step, subgroups) == 1]
    return np.array([rng.choice(steps), rng.integers(subgroups)], np.int64)


def run_launched(module: ir.Module, chip: str, arguments: list) -> None:
    """Compiles what `launched` made, in its context, for `chip`, and runs it on the CPU's device."""
    passes.run(module, f"xetile-lower-to-binary{{chip={chip} native=off}}")
    with runtime.checked():
        engine = ExecutionEngine(module, opt_level=0, shared_libs=[str(runtime.library_path())])
        engine.initialize()  # loads the kernel, which a global constructor does
        engine.invoke("main", *arguments)


def run_device(kernel: Kernel, rng: np.random.Generator) -> dict[str, np.ndarray]:
    arrays = {name: _copy(array) for name, array in kernel.arrays.items()}
    order = drawn_order(rng, kernel.subgroups)
    with ir.Context():
        module = ir.Module.parse(kernel.launched())
        passes.run(module, "xetile-lower-to-subgroup")
        module = ir.Module.parse(renumbered(str(module), kernel.subgroups))
        run_launched(module, kernel.chip, [_pack(array) for array in [*arrays.values(), order]])
    return arrays


COLUMNS: dict[str, Callable[[Kernel, np.random.Generator], dict[str, np.ndarray]]] = {
    "workgroup": run_workgroup,
    "subgroup": run_subgroup,
    "blocked": run_blocked,
    "device": run_device,
}


def wg_map(layout: tuple[int, int], data: tuple[int, int]) -> str:
    return f"#xetile.wg_map<sg_layout = {list(layout)}, sg_data = {list(data)}>"


def mapped_tile(shape: tuple[int, int], dtype: str, map_: str | None = None, **attributes: str) -> str:
    inner = ", ".join([f"wg_map = {map_}"] * bool(map_) + [f"{name} = {value}" for name, value in attributes.items()])
    return f"!xetile.tile<{shape[0]}x{shape[1]}x{dtype}{f', #xetile.tile_attr<{inner}>' if inner else ''}>"


def random_map(rng: np.random.Generator, shape: tuple[int, int], subgroups: int) -> str:
    """Any map of `shape` for so many subgroups: pieces shared, one each, or several each, in both dimensions."""

    def choices(size: int, layout: int) -> list[int]:
        pieces = [n for n in range(1, size + 1) if size % n == 0 and (n % layout == 0 or layout % n == 0)]
        return [size // n for n in pieces if n <= 8 * layout]

    grids = [(n, subgroups // n) for n in range(1, subgroups + 1) if subgroups % n == 0]
    grids = [grid for grid in grids if choices(shape[0], grid[0]) and choices(shape[1], grid[1])]
    grid = grids[rng.integers(len(grids))]
    return wg_map(grid, tuple(int(rng.choice(choices(size, n))) for size, n in zip(shape, grid, strict=True)))


def poisoned(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Not a number, or -99: an element that the kernel leaves out cannot pass for a result."""
    return np.full(shape, np.nan if not dtype.startswith("i") else -99, DTYPES[dtype])
