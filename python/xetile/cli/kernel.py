# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile run K.spv --kernel NAME --grid 4,1 --block 512 --arg f16:512x256:random`: a kernel of any compiler.

An argument is `TYPE:SHAPE:FILL` for an array, `TYPE:VALUE` for a number, `local:BYTES` for local memory, or `null`.
FILL is random, zeros, ones, iota, nan, a number, or a file that `numpy.save` wrote.
"""

from __future__ import annotations

import argparse
import os
import secrets
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile.errors import XeTileError

__all__ = ["add_options", "explain", "is_kernel", "read_spirv", "run"]

_TYPES = {f"f{bits}": f"f{bits // 8}" for bits in (16, 32, 64)}
_TYPES |= {f"{sign}{bits}": f"{sign}{bits // 8}" for sign in "iu" for bits in (8, 16, 32, 64)}
_FILLS = "random, zeros, ones, iota, nan, a number or a file.npy"


def is_kernel(path: str) -> bool:
    """True if a command line's input is a module of kernels in SPIR-V, or OpenCL C."""
    return path.endswith((".spv", ".cl"))


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `xetile run` for K.spv and K.cl."""
    group = parser.add_argument_group("for K.spv (and K.cl, by ocloc)")
    group.add_argument("--kernel", metavar="NAME", help="the kernel (default: the only one)")
    group.add_argument("--grid", metavar="X[,Y[,Z]]", help="workgroups")
    group.add_argument(
        "--block", metavar="X[,Y[,Z]]", help="work-items of a workgroup (default: what the kernel requires)"
    )
    group.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="TYPE:SHAPE:FILL",
        help=f"an argument, in their order; FILL is {_FILLS}. Also TYPE:VALUE, local:BYTES, null",
    )
    group.add_argument(
        "--out",
        action="append",
        default=[],
        metavar="N[=FILE.npy]",
        help="tell, or save, what argument N is afterwards",
    )


def read_spirv(path: str, chip: str | None = None, lines: bool = False) -> bytes:
    """The SPIR-V of a .spv or .cl file, the latter with debug lines if `lines`. XeTileError for what cannot be read or
    compiled."""
    from xetile.system import files

    if not path.endswith(".cl"):
        return files.read(path, "SPIR-V")
    from xetile.facts import chips
    from xetile.system import opencl

    return opencl.to_spirv(path, chips.facts_of(chip or "pvc")["ocloc_device"], lines)


def run(options: argparse.Namespace) -> int:
    """Runs the kernel `options.repeat` times, tells the fastest, and what it left in the arguments of --out."""
    from xetile.kernels import runtime

    if options.schedule is not None or options.set or options.dump_stages:
        raise XeTileError("--schedule, --set, --dump-stages: expected none for a kernel in SPIR-V")
    # Errors of checks name lines.
    lines = os.environ.get("XETILE_CHECK", "0") not in ("", "0")
    module = runtime.Module(read_spirv(options.input, options.target, lines))
    kernel = _choose(module, options.kernel)
    if options.grid is None:
        raise XeTileError("--grid: expected the number of workgroups, --grid X[,Y[,Z]]")
    block = kernel.local_size if options.block is None else _sizes("--block", options.block)
    if block is None:
        raise XeTileError("--block: the kernel requires no size of its workgroups: expected --block X[,Y[,Z]]")
    seed = secrets.randbits(32) if options.seed is None else options.seed
    values, local = _arguments(options.arg, np.random.default_rng(seed))
    places = [_place(text, values) for text in options.out]
    launch = kernel[_sizes("--grid", options.grid), block]
    for note in (*module.notes, *kernel.may_differ):
        print(f"note: {note}")
    seconds, calls = [], []
    for _ in range(options.repeat):
        copies = [np.array(value) if isinstance(value, np.ndarray) else value for value in values]
        start = time.perf_counter()
        launch(*copies, local=local)
        calls.append(time.perf_counter() - start)
        seconds.append(runtime.stats().kernel_seconds)
    print(f"{kernel} on {runtime.selected_device()}")
    print(f"kernel {min(seconds) * 1e3:.3f} ms; call {min(calls) * 1e3:.3f} ms; random arrays of seed {seed}")
    for number, file in places:
        print(_tell(number, copies[number]))
        if file:
            np.save(file, copies[number])
    return 0


def explain(path: str, chip: str | None) -> str:
    """A module's kernels, and what is dropped, rewritten and defined for it on a device that is no GPU."""
    from xetile.kernels import runtime

    module = runtime.Module(read_spirv(path, chip))
    lines = []
    for kernel in module.values():
        block = "x".join(map(str, kernel.local_size)) if kernel.local_size else "any size"
        lines.append(f"{kernel}: subgroups of {kernel.subgroup_size or 'any size'}, workgroups of {block}")
        lines += [f"  {reason}" for reason in kernel.may_differ]
    lines.append("on a device that is no GPU:" if module.notes or module.defined else "taken as it is")
    lines += [f"  {note}" for note in module.notes]
    lines += [f"  defined {name}" for name in module.defined]
    return "\n".join(lines)


def _choose(module: Any, name: str | None) -> Any:
    if name is None and len(module) != 1:
        raise XeTileError(f"--kernel: expected one of {', '.join(module)}")
    return module[next(iter(module)) if name is None else name]


def _sizes(option: str, text: str) -> tuple[int, ...]:
    parts = text.replace("x", ",").split(",")
    if not 1 <= len(parts) <= 3 or not all(part.isdecimal() and int(part) for part in parts):
        raise XeTileError(f"{option}: expected one to three positive integers, X[,Y[,Z]], got {text!r}")
    return tuple(map(int, parts))


def _place(text: str, values: list[Any]) -> tuple[int, str]:
    number, _, file = text.partition("=")
    if not number.isdecimal() or int(number) >= len(values) or not isinstance(values[int(number)], np.ndarray):
        arrays = [str(i) for i, value in enumerate(values) if isinstance(value, np.ndarray)]
        raise XeTileError(f"--out: expected the number of an array, one of {', '.join(arrays) or 'none'}, got {text!r}")
    if file and not Path(file).absolute().parent.is_dir():
        raise XeTileError(f"--out: there is no folder {Path(file).parent} for {file}")
    return int(number), file


def _arguments(texts: list[str], rng: np.random.Generator) -> tuple[list[Any], list[int]]:
    values: list[Any] = []
    local: list[int] = []
    for number, text in enumerate(texts):
        kind, _, rest = text.partition(":")
        try:
            if kind == "local":
                if not rest.isdecimal() or not int(rest):
                    raise XeTileError("expected local:BYTES")
                local.append(int(rest))
            elif text == "null":
                values.append(None)
            else:
                values.append(_value(kind, rest, rng))
        except XeTileError as error:
            raise XeTileError(f"--arg {number} {text!r}: {error.message}") from None
    return values, local


def _value(kind: str, rest: str, rng: np.random.Generator) -> Any:
    if kind == "bf16":
        import ml_dtypes

        dtype = np.dtype(ml_dtypes.bfloat16)
    elif kind in _TYPES:
        dtype = np.dtype(_TYPES[kind])
    else:
        raise XeTileError(f"expected a type, one of {', '.join(_TYPES)}, bf16, or local:BYTES or null")
    shape, colon, fill = rest.partition(":")
    if not colon:
        try:
            return int(shape) if dtype.kind in "iu" else float(shape)
        except ValueError:
            raise XeTileError(f"expected {kind}:VALUE or {kind}:SHAPE:FILL, FILL being {_FILLS}") from None
    parts = shape.split("x")
    if not all(part.isdecimal() and int(part) for part in parts):
        raise XeTileError(f"expected a shape such as 512x256, got {shape!r}")
    return _filled(dtype, tuple(map(int, parts)), fill, rng)


def _filled(dtype: np.dtype[Any], shape: tuple[int, ...], fill: str, rng: np.random.Generator) -> NDArray[Any]:
    whole = dtype.kind in "iu"
    if fill == "random":
        if whole:
            return rng.integers(
                max(np.iinfo(dtype).min, -128), min(np.iinfo(dtype).max, 127), shape, dtype, endpoint=True
            )
        return rng.standard_normal(shape).astype(dtype)
    if fill == "iota":
        return np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    if fill.endswith(".npy"):
        try:
            array = np.load(fill)
        except (OSError, ValueError) as error:
            raise XeTileError(f"{fill}: {error}") from None
        if array.shape != shape or array.dtype.itemsize != dtype.itemsize:
            raise XeTileError(f"{fill}: expected {dtype}{list(shape)}, got {array.dtype}{list(array.shape)}")
        return np.ascontiguousarray(array).view(dtype)
    try:
        value = {"zeros": 0.0, "ones": 1.0}.get(fill)
        value = float(fill) if value is None else value
        if whole and not value.is_integer():
            raise ValueError
    except ValueError:
        raise XeTileError(f"expected a FILL of {_FILLS}, got {fill!r}") from None
    return np.full(shape, value, dtype)


def _tell(number: int, array: NDArray[Any]) -> str:
    wide = array.astype("f8")
    nans = int(np.isnan(wide).sum())
    finite = wide[np.isfinite(wide)]
    span = f"{finite.min():.6g} to {finite.max():.6g}, mean {finite.mean():.6g}" if finite.size else "no finite number"
    rest = f", {nans} NaN, {wide.size - nans - finite.size} infinite" if finite.size < wide.size else ""
    first = " ".join(f"{value:.6g}" for value in wide.reshape(-1)[:4])
    return f"argument {number}: {array.dtype}{list(array.shape)}: {span}{rest}; begins {first}"
