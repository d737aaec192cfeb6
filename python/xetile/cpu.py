"""Matmuls on the CPU: deep-tiled, vectorised, on threads.

    kernel = xetile.cpu.compile("matmul.mlir", threads=2)
    c = kernel(a, b)                        # a new array
    kernel(a, b, out=c)                     # into an array that is there
    print(xetile.cpu.explain("matmul.mlir"))

Threads are OpenMP's: LLVM's libomp is looked for at $XETILE_LIBOMP, then beside libMLIR, then where the system's
libraries are. OMP_NUM_THREADS and its like have their usual meaning.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from xetile import _call, passes
from xetile import schedule as schedules
from xetile.errors import XeTileError
from xetile.host import ArraySpec
from xetile.mlir import ir
from xetile.mlir.dialects import func
from xetile.mlir.execution_engine import ExecutionEngine
from xetile.schedule import Schedule

__all__ = ["STAGES", "CpuKernel", "MatmulConfig", "compile", "compile_target", "explain", "find_libomp"]

STAGES = ("0-linalg", "1-tiled", "2-memory", "3-llvm")
"""Names of the levels that `CpuKernel.stages` has, in order."""

_DYNAMIC = -1
_PACK = ("auto", "always", "never")
# What MLIR's lowering puts where memory must not be freed: globals.
_NOT_ALLOCATED = 0xDEADBEEF


@dataclass(frozen=True)
class MatmulConfig:
    """How a matmul is cut; None leaves a field to the heuristic. Sizes are in elements.

    Threads share m, n and k; blocks fit the second-level cache, innermost blocks registers and the first-level one.
    `loopOrder` is the order of the loops over blocks: 0 mnk, 1 mkn, 2 nmk, 3 nkm, 4 kmn, 5 knm.
    """

    MThreads: int | None = None
    NThreads: int | None = None
    KThreads: int | None = None
    MBlock: int | None = None
    NBlock: int | None = None
    KBlock: int | None = None
    innermostMBlock: int | None = None
    innermostNBlock: int | None = None
    innermostKBlock: int | None = None
    loopOrder: int | None = None

    @classmethod
    def from_json(cls, text: str) -> MatmulConfig:
        """Reads an object of some fields. XeTileError for other JSON."""
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise XeTileError(f"matmul config: expected a JSON object, got {text!r}: {error}") from None
        if not isinstance(values, dict):
            raise XeTileError(f"matmul config: expected a JSON object, got {text!r}")
        return cls.of(values)

    @classmethod
    def of(cls, values: MatmulConfig | Mapping[str, Any] | None) -> MatmulConfig:
        """From a mapping of fields; None has none. XeTileError for unknown fields and other than integers."""
        if values is None or isinstance(values, cls):
            return values or cls()
        if not isinstance(values, Mapping):
            raise XeTileError(f"matmul config: expected fields and their values, got {type(values).__name__}")
        names = [field.name for field in fields(cls)]
        for name, value in values.items():
            if name not in names:
                raise XeTileError(f"matmul config: unknown field {name!r}; expected one of {', '.join(names)}")
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise XeTileError(f"matmul config: {name}: expected an integer, got {value!r}")
        return cls(**values)

    def to_json(self) -> str:
        """The fields that are set, as a JSON object."""
        return json.dumps({name: value for name, value in asdict(self).items() if value is not None})


class CpuKernel:
    """A compiled function on the CPU.

    `stages` has the module's text at each level of `STAGES`, `timings` the seconds that each one took, `arguments`
    and `results` tell what arrays it takes and gives (-1 for sizes that are known at run time only).
    """

    def __init__(
        self,
        module: ir.Module,
        name: str,
        arguments: list[ArraySpec],
        results: list[ArraySpec],
        stages: dict[str, str],
        timings: dict[str, float],
    ) -> None:
        """Use `compile`."""
        self.name = name
        self.arguments = tuple(arguments)
        self.results = tuple(results)
        self.stages = MappingProxyType(stages)
        self.timings = MappingProxyType(timings)
        self._module = module
        self._returns = not _are_static(results)
        self._lock = threading.Lock()
        self._engine: ExecutionEngine | None = None
        self._function: Any = None
        self._direct: _call.Function | None = None
        self._dtypes = tuple(spec.numpy_dtype for spec in arguments)
        self._result_dtypes = tuple(spec.numpy_dtype for spec in results)

    def __call__(self, *arrays: np.ndarray, out: np.ndarray | tuple[np.ndarray, ...] | None = None) -> Any:
        """Runs the function: one array per argument; returns its results, one array or a tuple.

        `out` takes the results: arrays in C order of the results' shapes and types that share no memory with the
        arguments. Arguments are never changed. XeTileError for arrays that do not fit.
        """
        if self._direct is not None:
            # Calls only with arrays that are exactly what the function takes. The rest of this method converts others,
            # or tells what is wrong with them.
            direct = self._new_results() if out is None else out if isinstance(out, tuple) else (out,)
            if self._direct(arrays, direct):
                return direct[0] if len(direct) == 1 else direct
        inputs = self._check(arrays)
        function = self._function or self._load()
        if self._returns:
            if out is not None:
                raise XeTileError(f"@{self.name}: out: results of sizes known at run time only are new arrays")
            return self._call_returning(function, inputs)
        outputs = self._new_results() if out is None else self._check_outputs(out, inputs)
        _invoke(function, [_descriptor(array) for array in (*inputs, *outputs)])
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _new_results(self) -> tuple[np.ndarray, ...]:
        return tuple(
            [np.empty(spec.shape, dtype) for spec, dtype in zip(self.results, self._result_dtypes, strict=True)]
        )

    def _check(self, arrays: tuple[Any, ...]) -> list[np.ndarray]:
        if len(arrays) != len(self.arguments):
            raise XeTileError(f"@{self.name}: expected {len(self.arguments)} arrays, got {len(arrays)}")
        inputs = []
        for number, (spec, dtype, array) in enumerate(zip(self.arguments, self._dtypes, arrays, strict=True)):
            if (
                not isinstance(array, np.ndarray)
                or not _same_elements(array.dtype, dtype)
                or (array.shape != spec.shape and not _fits(array.shape, spec.shape))
            ):
                got = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else type(array).__name__
                raise XeTileError(f"@{self.name}: argument {number}: expected {_text(spec)} ({dtype.name}), got {got}")
            inputs.append(np.ascontiguousarray(array))
        return inputs

    def _check_outputs(self, out: Any, inputs: list[np.ndarray]) -> list[np.ndarray]:
        outputs = list(out) if isinstance(out, tuple) else [out]
        if len(outputs) != len(self.results):
            raise XeTileError(f"@{self.name}: out: expected {len(self.results)} arrays, got {len(outputs)}")
        for number, (spec, array) in enumerate(zip(self.results, outputs, strict=True)):
            if (
                not isinstance(array, np.ndarray)
                or array.shape != spec.shape
                or array.dtype != self._result_dtypes[number]
            ):
                raise XeTileError(f"@{self.name}: out {number}: {spec.check(array)}")
            flags = array.flags
            if not flags.c_contiguous or not flags.writeable:
                raise XeTileError(f"@{self.name}: out {number}: expected a writable array in C order")
            others = [*inputs, *outputs[:number]]
            if any(np.may_share_memory(array, other) for other in others):
                raise XeTileError(f"@{self.name}: out {number}: it shares memory with another array; pass a copy")
        return outputs

    def _load(self) -> Any:
        with self._lock:
            if self._function is None:
                self._engine = _engine(self._module, self.name)
                self._function = self._engine.lookup(self.name)
                if not self._returns:
                    parameters = [
                        [(dtype, spec.shape) for spec, dtype in zip(specs, dtypes, strict=True)]
                        for specs, dtypes in ((self.arguments, self._dtypes), (self.results, self._result_dtypes))
                    ]
                    address = ctypes.cast(self._function, ctypes.c_void_p).value
                    self._direct = _call.Function(address, *parameters, np.ndarray)
        return self._function

    def _call_returning(self, function: Any, inputs: list[np.ndarray]) -> Any:
        """Results come as descriptors of memory that is ours to free."""
        sizes = [3 + 2 * len(spec.shape) for spec in self.results]
        returned = (ctypes.c_int64 * sum(sizes))()
        _invoke(function, [returned, *map(_descriptor, inputs)])
        arrays, start, owned = [], 0, set()
        for spec, size in zip(self.results, sizes, strict=True):
            allocated, aligned, offset, *rest = returned[start : start + size]
            start += size
            rank, dtype = len(spec.shape), spec.numpy_dtype
            shape, strides = rest[:rank], [stride * dtype.itemsize for stride in rest[rank:]]
            length = sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)) + dtype.itemsize
            if 0 in shape:
                arrays.append(np.empty(shape, dtype))
            else:
                memory = (ctypes.c_char * length).from_address(aligned + offset * dtype.itemsize)
                arrays.append(np.ndarray(shape, dtype, memory, strides=strides).copy())
            owned.add(allocated)
        for address in owned - {array.ctypes.data for array in inputs} - {0, _NOT_ALLOCATED}:
            _free(ctypes.c_void_p(address))
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def write_shared_object(self, path: str | PathLike[str]) -> None:
        """Writes a shared object with the C function `_mlir_ciface_<name>`: addresses of memref descriptors, the
        results' after the arguments'. It needs libomp. XeTileError if it cannot be linked."""
        linker = next(filter(None, map(shutil.which, ("cc", "clang", "clang-22", "gcc"))), None)
        if linker is None:
            raise XeTileError("no cc, clang or gcc on PATH: expected one to link the shared object")
        engine = _engine(self._module, self.name, dump=True)
        engine.lookup(self.name)
        with tempfile.TemporaryDirectory() as directory:
            thing = Path(directory, "kernel.o")
            engine.dump_to_object_file(str(thing))
            omp = find_libomp()
            libraries = [str(omp), f"-Wl,-rpath,{omp.parent}"] if omp else []
            run = subprocess.run(
                [linker, "-shared", "-o", str(path), str(thing), *libraries, "-lm"], capture_output=True, text=True
            )
        if run.returncode:
            raise XeTileError(f"cannot link {path}: {run.stderr.strip()}")

    def __repr__(self) -> str:
        return f"<CpuKernel {self.name}({', '.join(map(_text, self.arguments))})>"


def compile(
    module_or_path: ir.Module | str | PathLike[str],
    *,
    config: MatmulConfig | Mapping[str, int] | None = None,
    threads: int | None = None,
    pack: str = "auto",
    fuse: bool = True,
    schedule: Schedule | None = None,
) -> CpuKernel:
    """Compiles the one public function of a module on tensors for this CPU.

    `config`   fields of the configuration, for all matmuls; the heuristic chooses the others.
    `threads`  threads to use, by default one for each core.
    `pack`     copies of blocks of A and B: "auto", "always" or "never".
    `fuse`     whether elementwise ops before and after a matmul are computed block by block inside its loops.
    `schedule` tiles the matmuls instead: the options above are its parameters then, and must not be given.

    XeTileError with the compiler's diagnostics for whatever cannot be compiled.
    """
    module = _read(module_or_path)
    chosen = MatmulConfig.of(config)
    if schedule is not None and (chosen != MatmulConfig() or threads is not None or pack != "auto" or not fuse):
        raise XeTileError("schedule: expected no config, threads, pack or fuse beside it; set its parameters")
    options = f"{_tiling_options(chosen, threads, pack)} fuse={str(fuse).lower()}"
    name, arguments, results = _signature(module)
    as_arguments = _are_static(results)
    stages, timings = {STAGES[0]: str(module)}, {STAGES[0]: 0.0}
    steps = (
        ("tile the matmuls", f"deep-tile-matmul{{{options}}}"),
        (
            "take the function to memory",
            f"xetile-bufferize-for-cpu{{results-as-arguments={str(as_arguments).lower()}}}",
        ),
        ("lower the function to machine code", "xetile-lower-to-cpu{vector-bits=0}"),
    )
    work = ir.Module.parse(str(module), module.context)
    for level, (action, pipeline) in zip(STAGES[1:], steps, strict=True):
        start = time.perf_counter()
        if level == STAGES[3]:
            with work.context:
                _find(work, name).attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        if level == STAGES[1] and schedule is not None:
            work = schedule.apply(work)
        else:
            passes.run(work, pipeline, action=action)
        timings[level] = time.perf_counter() - start
        stages[level] = str(work)
    return CpuKernel(work, name, arguments, results, stages, timings)


def compile_target(
    module_or_path: ir.Module | str | PathLike[str], schedule: Any, params: Mapping[str, Any] | None
) -> CpuKernel:
    """`xetile.compile(..., target="cpu")`: `params` has fields of the configuration, `threads`, `pack` and `fuse`, or
    values for parameters of `schedule`, a Schedule, its name or its path."""
    values = dict(params or {})
    if schedule is not None:
        chosen = schedule if isinstance(schedule, Schedule) else schedules.load(schedule)
        return compile(module_or_path, schedule=chosen.with_params(**values))
    options = {name: values.pop(name) for name in ("threads", "pack", "fuse") if name in values}
    return compile(module_or_path, config=values, **options)


def explain(
    module_or_path: ir.Module | str | PathLike[str],
    *,
    config: MatmulConfig | Mapping[str, int] | None = None,
    threads: int | None = None,
) -> str:
    """The configuration of each matmul, as JSON, and below it the terms that it was chosen by."""
    module = _read(module_or_path)
    options = _tiling_options(MatmulConfig.of(config), threads, "auto")
    said = passes.run(module, f"deep-tile-matmul{{{options} explain}}", action="explain the matmuls")
    lines = []
    for remark in said:
        lines.append(f"{remark.location}: {remark.message}" if remark.location else remark.message)
        lines += [f"  {note.message}" for note in remark.notes]
    if not lines:
        raise XeTileError("there is no matmul on tensors to explain; expected a linalg contraction")
    return "\n".join(lines)


def find_libomp() -> Path | None:
    """LLVM's OpenMP runtime: $XETILE_LIBOMP, beside libMLIR, or where the system's libraries are; None without one."""
    if chosen := os.environ.get("XETILE_LIBOMP"):
        return Path(chosen) if Path(chosen).is_file() else None
    names = ("libomp.so.5", "libomp.so")
    for line in Path("/proc/self/maps").read_text().splitlines():
        library = line.split(maxsplit=5)[5:]
        if library and "libMLIR.so" in library[0]:
            for place in (Path(library[0]).parent, Path(library[0]).resolve().parent):
                for name in names:
                    if (place / name).is_file():
                        return place / name
    found = ctypes.util.find_library("omp")
    return Path(found) if found else None


def _read(module_or_path: ir.Module | str | PathLike[str]) -> ir.Module:
    # Here, as the compiler hands payloads for the target "cpu" to this module.
    from xetile.compiler import read_payload

    return module_or_path if isinstance(module_or_path, ir.Module) else read_payload(module_or_path)


def _tiling_options(config: MatmulConfig, threads: int | None, pack: str) -> str:
    if pack not in _PACK:
        raise XeTileError(f"pack: expected one of {', '.join(_PACK)}, got {pack!r}")
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise XeTileError(f"threads: expected a positive integer, got {threads!r}")
    return f"threads={threads or 0} pack={pack} config={{{config.to_json()}}}"


def _find(module: ir.Module, name: str) -> func.FuncOp:
    return next(op for op in module.body.operations if isinstance(op, func.FuncOp) and op.name.value == name)


def _signature(module: ir.Module) -> tuple[str, list[ArraySpec], list[ArraySpec]]:
    functions = [op for op in module.body.operations if isinstance(op, func.FuncOp) and not op.is_external]
    public = [op for op in functions if "sym_visibility" not in op.attributes or op.visibility.value == "public"]
    if len(public) != 1:
        names = ", ".join("@" + op.name.value for op in public) or "none"
        raise XeTileError(f"expected a module with one public function, got {names}; make helpers `private`")
    kind = public[0].type
    return public[0].name.value, [_spec(type_) for type_ in kind.inputs], [_spec(type_) for type_ in kind.results]


def _spec(kind: ir.Type) -> ArraySpec:
    if not isinstance(kind, ir.RankedTensorType):
        raise XeTileError(f"expected arguments and results to be ranked tensors, got {kind}")
    shape = tuple(_DYNAMIC if kind.is_dynamic_dim(i) else kind.get_dim_size(i) for i in range(kind.rank))
    spec = ArraySpec(shape, str(kind.element_type))
    try:
        _ = spec.numpy_dtype
    except KeyError:
        raise XeTileError(f"expected elements that NumPy has, or bf16; got {kind}") from None
    return spec


def _are_static(specs: list[ArraySpec]) -> bool:
    return all(_DYNAMIC not in spec.shape for spec in specs)


def _fits(shape: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    return len(shape) == len(expected) and all(
        want in (_DYNAMIC, size) for size, want in zip(shape, expected, strict=True)
    )


def _same_elements(got: np.dtype, expected: np.dtype) -> bool:
    """Integers of a module have no sign: what extends them says how they are read, so that bytes of both kinds fit."""
    return got == expected or (expected == np.int8 and got == np.uint8)


def _text(spec: ArraySpec) -> str:
    return "x".join([*("?" if size == _DYNAMIC else str(size) for size in spec.shape), spec.dtype])


def _engine(module: ir.Module, name: str, dump: bool = False) -> ExecutionEngine:
    omp = find_libomp()
    text = str(module)
    if omp is None and "omp." in text:
        raise XeTileError(
            "libomp was not found: install LLVM's OpenMP runtime (Debian: libomp-22-dev), name it in XETILE_LIBOMP, "
            "or compile with threads=1"
        )
    try:
        engine = ExecutionEngine(
            ir.Module.parse(text, module.context),
            opt_level=3,
            shared_libs=[str(omp)] if omp else [],
            enable_object_dump=dump,
            enable_pic=dump,
        )
    except RuntimeError as error:
        raise XeTileError(f"the code of @{name} cannot be compiled: {error}") from None
    engine.initialize()
    return engine


def _descriptor(array: np.ndarray) -> Any:
    """A ranked memref descriptor of an array in C order: allocated and aligned address, offset, sizes, strides."""
    address, size = array.ctypes.data, array.itemsize
    rank = array.ndim
    return _words(3 + 2 * rank)(address, address, 0, *array.shape, *[stride // size for stride in array.strides])


@functools.cache
def _words(count: int) -> Any:
    return ctypes.c_int64 * count


def _invoke(function: Any, descriptors: list[Any]) -> None:
    """Each parameter is the address of a descriptor; the packed interface takes the address of each parameter."""
    addresses = (ctypes.c_void_p * len(descriptors))(*map(ctypes.addressof, descriptors))
    base = ctypes.addressof(addresses)
    packed = (ctypes.c_void_p * len(descriptors))(*(base + 8 * number for number in range(len(descriptors))))
    function(packed)


_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]
_free.restype = None
