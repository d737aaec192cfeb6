"""Matmuls on the CPU: deep-tiled, vectorised, on threads.

    kernel = xetile.cpu.compile("matmul.mlir", threads=2)
    c = kernel(a, b)                        # a new array
    kernel(a, b, out=c)                     # into an array that is there
    print(xetile.cpu.explain("matmul.mlir"))

Arguments are arrays, and numbers where the function takes them (f32, i1, index, ...); i1 is NumPy's bool. Sizes that
are known at run time only are checked before each call: all that the function's operations ask of one another must fit.

Sums of narrow floats (f16, bf16) are computed in f32 and rounded once: products of contractions of any kind (matmul,
batched ones, matvec, dot, convolutions), and what reductions and pooling add up. Integers are added in the result's
type and wrap around. K threads add their parts in the end, so that the order of sums depends on the configuration.

Indices that the body of an operation computes from data (`tensor.extract` in a gather) are not checked.

Threads are OpenMP's: LLVM's libomp is looked for at $XETILE_LIBOMP, then beside libMLIR, then where the system's
libraries are. OMP_NUM_THREADS and its like have their usual meaning.

Functions of the math dialect are those of glibc: libmvec's on vectors, at most 4 ULP off for any argument in f32 and
f64, and libm's for single elements (operands that are read against the grain), most of them within 1 ULP. f16 and bf16
are computed in f32 and rounded once. NaN, infinities, signed zeros and subnormals are as in C. Without libmvec (glibc
2.35 or newer, x86-64) libm computes every element. The table of all ops is in the documentation of the pass
`xetile-lower-math`.
"""

from __future__ import annotations

import contextlib
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

from xetile import _call, files, passes
from xetile import schedule as schedules
from xetile._elf import undefined_symbols
from xetile.cpu_values import CHECK, DYNAMIC, Condition, as_number, conditions_of, spec_of, text_of
from xetile.errors import XeTileError, expect, told
from xetile.host import ArraySpec, function_name, is_special, show_name
from xetile.mlir import ir
from xetile.mlir.dialects import func
from xetile.mlir.execution_engine import ExecutionEngine
from xetile.schedule import Schedule

__all__ = ["STAGES", "CpuKernel", "MatmulConfig", "compile", "compile_target", "explain", "find_libomp"]

STAGES = ("0-linalg", "1-tiled", "2-memory", "3-llvm")
"""Names of the levels that `CpuKernel.stages` has, in order."""

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
        expect("matmul config", text, str, "a JSON object as a string")
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise XeTileError(f"matmul config: expected a JSON object, got {told(text)}: {error}") from None
        if not isinstance(values, dict):
            raise XeTileError(f"matmul config: expected a JSON object, got {told(text)}")
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
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**63):
                raise XeTileError(f"matmul config: {name}: expected an integer of 64 bits, got {told(value)}")
        return cls(**values)

    def to_json(self) -> str:
        """The fields that are set, as a JSON object."""
        return json.dumps({name: value for name, value in asdict(self).items() if value is not None})


class CpuKernel:
    """A compiled function on the CPU.

    `stages` has the module's text at each level of `STAGES`, `timings` the seconds that each one took, `arguments`
    and `results` tell what arrays it takes and gives (-1 for sizes that are known at run time only), `conditions`
    which sizes must fit together (empty if all are static).
    """

    def __init__(
        self,
        module: ir.Module,
        name: str,
        arguments: list[ArraySpec],
        results: list[ArraySpec],
        stages: dict[str, str],
        timings: dict[str, float],
        conditions: tuple[Condition, ...] = (),
    ) -> None:
        """Use `compile`."""
        self.name = name
        self.arguments = tuple(arguments)
        self.results = tuple(results)
        self.stages = MappingProxyType(stages)
        self.timings = MappingProxyType(timings)
        self._conditions = conditions
        self._module = module
        self._returns = not _are_static(results)
        self._lock = threading.Lock()
        self._engine: ExecutionEngine | None = None
        self._function: Any = None
        self._checker: Any = None
        self._direct: _call.Function | None = None
        self._numbers = tuple(number for number, spec in enumerate(arguments) if spec.scalar)
        self._gives_numbers = any(spec.scalar for spec in results)
        self._dtypes = tuple(spec.numpy_dtype for spec in arguments)
        self._result_dtypes = tuple(spec.numpy_dtype for spec in results)

    @property
    def conditions(self) -> tuple[str, ...]:
        """What the function's operations ask of sizes of arguments: "argument 0, dimension 1 == ..."."""
        return tuple(map(str, self._conditions))

    def __call__(self, *arrays: Any, out: np.ndarray | tuple[np.ndarray, ...] | None = None) -> Any:
        """Runs the function: one array or number per argument; returns its results, one or a tuple.

        `out` takes the results: arrays in C order of the results' shapes and types that share no memory with the
        arguments, of rank 0 for numbers. Arguments are never changed. XeTileError for what does not fit, one argument
        its type or sizes of several each other.
        """
        results = self._call(self._box(arrays) if self._numbers else arrays, out)
        if not self._gives_numbers or out is not None:
            return results
        if len(self.results) == 1:
            return results[()]
        return tuple(
            [result[()] if spec.scalar else result for spec, result in zip(self.results, results, strict=True)]
        )

    def _call(self, arrays: tuple[Any, ...], out: Any) -> Any:
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
        descriptors = [_descriptor(array) for array in (*inputs, *outputs)]
        self._check_sizes(descriptors)
        _invoke(function, descriptors)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _new_results(self) -> tuple[np.ndarray, ...]:
        return tuple(
            [np.empty(spec.shape, dtype) for spec, dtype in zip(self.results, self._result_dtypes, strict=True)]
        )

    def _box(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        boxed = list(arrays)
        for number in self._numbers:
            if number < len(boxed):
                spec = self.arguments[number]
                try:
                    array = as_number(spec, boxed[number])
                except XeTileError as error:
                    raise XeTileError(f"@{self.name}: argument {number}: {error.message}") from None
                boxed[number] = boxed[number] if array is None else array
        return tuple(boxed)

    def _check_sizes(self, descriptors: list[Any]) -> None:
        if not self._conditions:
            return
        status = (ctypes.c_int64 * 3)()
        _invoke(self._checker, [status, *descriptors])
        number, left, right = status
        if number:
            raise XeTileError(f"@{self.name}: {self._conditions[number - 1].told(left, right)}")

    def _check(self, arrays: tuple[Any, ...]) -> list[np.ndarray]:
        if len(arrays) != len(self.arguments):
            raise XeTileError(f"@{self.name}: expected {len(self.arguments)} arrays, got {len(arrays)}")
        inputs = []
        for number, (spec, dtype, array) in enumerate(zip(self.arguments, self._dtypes, arrays, strict=True)):
            if (
                not isinstance(array, np.ndarray)
                or not _same_elements(array.dtype, dtype)
                or (array.shape != spec.shape and not _fits(array.shape, spec.shape))
                or is_special(array)
            ):
                if why := is_special(array):
                    raise XeTileError(f"@{self.name}: argument {number}: {why}")
                got = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else type(array).__name__
                what = f"a number of type {spec.dtype}" if spec.scalar else text_of(spec)
                raise XeTileError(f"@{self.name}: argument {number}: expected {what} ({dtype.name}), got {got}")
            # Of rank 0 it would make an array of rank 1.
            inputs.append(np.ascontiguousarray(array).reshape(array.shape))
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
                or is_special(array)
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
                check = 0
                if self._conditions:
                    self._checker = self._engine.lookup(self.name + CHECK)
                    check = ctypes.cast(self._checker, ctypes.c_void_p).value
                self._function = self._engine.lookup(self.name)
                if not self._returns:
                    parameters = [
                        [(dtype, spec.shape) for spec, dtype in zip(specs, dtypes, strict=True)]
                        for specs, dtypes in ((self.arguments, self._dtypes), (self.results, self._result_dtypes))
                    ]
                    address = ctypes.cast(self._function, ctypes.c_void_p).value
                    self._direct = _call.Function(address, *parameters, np.ndarray, check)
        return self._function

    def _call_returning(self, function: Any, inputs: list[np.ndarray]) -> Any:
        """Results come as descriptors of memory that is ours to free."""
        sizes = [3 + 2 * len(spec.shape) for spec in self.results]
        returned = (ctypes.c_int64 * sum(sizes))()
        descriptors = [_descriptor(array) for array in inputs]
        self._check_sizes(descriptors)
        _invoke(function, [returned, *descriptors])
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
        """Writes a shared object with two C functions. It needs libomp. XeTileError if it cannot be linked.

            const char *<name>_checked(struct memref *argument0, ..., struct memref *result0, ...);
            void _mlir_ciface_<name>(struct memref *argument0, ..., struct memref *result0, ...);

        Descriptors are MLIR's: `void *allocated, *aligned; int64_t offset, sizes[rank], strides[rank];`. Numbers are
        passed by descriptors of rank 0, too, i1 in bytes of 0 or 1. Results of static sizes are written to memory of
        the caller; if one has a size that is known at run time only, the one parameter before the arguments' is a
        struct for all results' descriptors, and the caller frees each different `allocated` that is no argument's.

        `<name>_checked` calls, and returns null, if sizes are those of the types and fit together, all memory is in
        C order with offset 0 and results share none with others. Else it returns a text that says what is wrong,
        without a call. `_mlir_ciface_<name>` checks nothing: its caller must ensure all that, or it reads and writes
        out of bounds. Neither can see whether memory is as large as a descriptor says.
        """
        place = files.path_of(path, "cannot write")
        linker = next(filter(None, map(shutil.which, ("cc", "clang", "clang-22", "gcc"))), None)
        if linker is None:
            raise XeTileError("no cc, clang or gcc on PATH: expected one to link the shared object")
        engine = _engine(self._module, self.name, dump=True)
        # The linker writes here, under names of ours: one that begins with @ or - is not a file's to it.
        with tempfile.TemporaryDirectory(prefix="xetile-link-") as directory:
            thing, linked = Path(directory, "kernel.o"), Path(directory, "kernel.so")
            # To a linker an empty file is a script that asks for nothing.
            if not (code := _object_of(engine)):
                raise XeTileError(f"cannot link {place}: LLVM wrote no machine code")
            files.write(thing, code)
            omp = find_libomp()
            libraries = [str(omp), "-Xlinker", "-rpath", "-Xlinker", str(omp.parent)] if omp else []
            # libm is a linker's script that names libmvec, too.
            libraries += ["-lm", "-Xlinker", "--no-undefined"]
            command = [linker, "-shared", "-o", str(linked), str(thing), *libraries]
            try:
                run = subprocess.run(
                    command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="backslashreplace"
                )
            except OSError as error:
                raise XeTileError(f"cannot link {place}: {linker}: {error.strerror}") from None
            said = run.stderr.strip()
            if run.returncode < 0:
                said = f"{linker} was killed by signal {-run.returncode}. {said}".strip()
            if run.returncode or not linked.is_file():
                raise XeTileError(f"cannot link {place}: {said or f'{linker} wrote nothing'}")
            data = linked.read_bytes()
        files.write(place, data, executable=True)

    def __repr__(self) -> str:
        return f"<CpuKernel {self.name}({', '.join(map(text_of, self.arguments))})>"


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
    expect("fuse", fuse, bool, "True or False")
    if schedule is not None:
        expect("schedule", schedule, Schedule, "a xetile.schedule.Schedule, as xetile.schedule.load gives it")
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
        (
            "lower the function to machine code",
            f"xetile-lower-to-cpu{{vector-bits=0 libmvec={str(_load_libmvec()).lower()}}}",
        ),
    )
    work = ir.Module.parse(str(module), module.context)
    start = time.perf_counter()
    passes.run(work, "xetile-prepare-for-cpu", action="prepare the function")
    timings[STAGES[0]] = time.perf_counter() - start
    conditions = conditions_of(work, name)
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
    kernel = CpuKernel(work, name, arguments, results, stages, timings, conditions)
    # Only machine code tells what it calls: a function that is not there is an error now, not in the first call.
    kernel._load()
    return kernel


def compile_target(
    module_or_path: ir.Module | str | PathLike[str], schedule: Any, params: Mapping[str, Any] | None
) -> CpuKernel:
    """`xetile.compile(..., target="cpu")`: `params` has fields of the configuration, `threads`, `pack` and `fuse`, or
    values for parameters of `schedule`, a Schedule, its name or its path."""
    values = schedules.values_of(params)
    if schedule is not None:
        chosen = schedule if isinstance(schedule, Schedule) else schedules.load(schedule)
        return compile(module_or_path, schedule=chosen._with(values))
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
    """LLVM's OpenMP runtime: $XETILE_LIBOMP, beside libMLIR, or where the system's libraries are; None without one.

    XeTileError if XETILE_LIBOMP names something else.
    """
    if chosen := os.environ.get("XETILE_LIBOMP"):
        return _check_libomp(chosen)
    names = ("libomp.so.5", "libomp.so")
    for line in Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines():
        library = line.split(maxsplit=5)[5:]
        if library and "libMLIR.so" in library[0]:
            for place in (Path(library[0]).parent, Path(library[0]).resolve().parent):
                for name in names:
                    if (place / name).is_file():
                        return place / name
    found = ctypes.util.find_library("omp")
    return Path(found) if found else None


def _check_libomp(name: str) -> Path:
    path = Path(os.path.abspath(name))
    why = "" if files.is_file(path) else "there is no such file"
    if not why:
        try:
            why = "" if hasattr(ctypes.CDLL(str(path)), "__kmpc_fork_call") else "it has no __kmpc_fork_call"
        except OSError as error:
            why = f"it cannot be loaded: {error}"
    if why:
        raise XeTileError(f"XETILE_LIBOMP={name}: expected LLVM's OpenMP runtime (libomp.so.5), but {why}")
    return path


def _read(module_or_path: ir.Module | str | PathLike[str]) -> ir.Module:
    # Here, as the compiler hands payloads for the target "cpu" to this module.
    from xetile.compiler import read_payload

    return module_or_path if isinstance(module_or_path, ir.Module) else read_payload(module_or_path)


def _tiling_options(config: MatmulConfig, threads: int | None, pack: str) -> str:
    if not isinstance(pack, str) or pack not in _PACK:
        raise XeTileError(f"pack: expected one of {', '.join(_PACK)}, got {told(pack)}")
    if threads is not None:
        expect("threads", threads, int, "an integer from 1 to 2147483647")
        if not 1 <= threads < 2**31:
            raise XeTileError(f"threads: expected an integer from 1 to {2**31 - 1}, got {threads}")
    return f"threads={threads or 0} pack={pack} config={{{config.to_json()}}}"


def _find(module: ir.Module, name: str) -> func.FuncOp:
    return next(op for op in module.body.operations if isinstance(op, func.FuncOp) and show_name(op) == name)


def _signature(module: ir.Module) -> tuple[str, list[ArraySpec], list[ArraySpec]]:
    functions = [op for op in module.body.operations if isinstance(op, func.FuncOp) and not op.is_external]
    public = [op for op in functions if "sym_visibility" not in op.attributes or op.visibility.value == "public"]
    if len(public) != 1:
        names = ", ".join("@" + show_name(op) for op in public) or "none"
        raise XeTileError(f"expected a module with one public function, got {names}; make helpers `private`")
    kind = public[0].type
    arguments, results = map(spec_of, kind.inputs), map(spec_of, kind.results)
    return function_name(public[0]), list(arguments), list(results)


def _are_static(specs: list[ArraySpec]) -> bool:
    return all(DYNAMIC not in spec.shape for spec in specs)


def _fits(shape: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    return len(shape) == len(expected) and all(
        want in (DYNAMIC, size) for size, want in zip(shape, expected, strict=True)
    )


def _same_elements(got: np.dtype, expected: np.dtype) -> bool:
    """Integers of a module have no sign: what extends them says how they are read, so that bytes of both kinds fit."""
    return got == expected or (expected == np.int8 and got == np.uint8)


def _engine(module: ir.Module, name: str, dump: bool = False) -> ExecutionEngine:
    omp = find_libomp()
    module = ir.Module.parse(str(module), module.context)
    if not dump:
        _drop_c_entries(module, name)
    text = str(module)
    if omp is None and "omp." in text:
        raise XeTileError(
            "libomp was not found: install LLVM's OpenMP runtime (Debian: libomp-22-dev), name it in XETILE_LIBOMP, "
            "or compile with threads=1"
        )
    try:
        engine = ExecutionEngine(
            module,
            opt_level=3,
            shared_libs=[str(omp)] if omp else [],
            enable_object_dump=dump,
            enable_pic=dump,
        )
    except RuntimeError as error:
        raise XeTileError(f"the code of @{name} cannot be compiled: {error}") from None
    engine.initialize()
    try:
        engine.lookup(name)
    except RuntimeError as error:
        missing = _missing_functions(text, module.context, name, omp)
        if not missing:
            raise XeTileError(f"the code of @{name} cannot be loaded: {error}") from None
        raise XeTileError(
            f"@{name} calls functions that no library has: {', '.join(missing)}; define them in the module or compute "
            "with ops of linalg, math and arith"
        ) from None
    return engine


def _object_of(engine: ExecutionEngine) -> bytes:
    """The object file, by way of memory: LLVM ends the process if it cannot write one."""
    descriptor = os.memfd_create("kernel.o")
    with open(descriptor, "rb") as file:
        engine.dump_to_object_file(f"/proc/self/fd/{descriptor}")
        return file.read()


def _missing_functions(text: str, context: ir.Context, name: str, omp: Path | None) -> list[str]:
    """What the machine code of a module calls and neither this process nor libomp has."""
    engine = ExecutionEngine(ir.Module.parse(text, context), opt_level=3, enable_object_dump=True)
    engine.initialize()
    # Fails, too, but leaves machine code to dump.
    with contextlib.suppress(RuntimeError):
        engine.lookup(name)
    code = _object_of(engine)
    called = undefined_symbols(code) if code else []
    libraries = [ctypes.CDLL(None), *([ctypes.CDLL(str(omp))] if omp else [])]
    return [function for function in called if not any(hasattr(library, function) for library in libraries)]


@functools.cache
def _load_libmvec() -> bool:
    """Makes glibc's functions on vectors known to machine code in this process; whether all of them are there."""
    try:
        ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)
        library = ctypes.CDLL("libmvec.so.1", mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    # The youngest: glibc 2.35.
    return hasattr(library, "_ZGVbN4v_tanf")


def _drop_c_entries(module: ir.Module, name: str) -> None:
    """Removes what only C calls, which takes time to compile."""
    unused = {f"{name}_checked", f"{name}_check_memory", f"_mlir_ciface_{name}_check_memory"}
    for op in list(module.body.operations):
        if "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value in unused:
            op.operation.erase()


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
