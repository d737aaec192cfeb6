# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel as a file: a shared object with host code, binaries, a C entry and its own description.

    xetile.compile("matmul.mlir").save("matmul.so")

What is inside, besides the functions that `xetile.kernels.header` declares:
    xetile_kernel           JSON, ends with a null: format, target, signature, the CPU's features, sizes of binaries
    xetile_binary_NAME      the kernel's binaries for a device: SPIR-V, machine code of chips
    xetile_digest           SHA-256 of the file, its own 32 bytes taken as zeros; `xetile.load` compares it
`xetile.load` reads it without MLIR.
"""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from xetile import passes
from xetile.codegen.engines import C_INTERFACE
from xetile.errors import XeTileError
from xetile.kernels.kernel import NativeBinary
from xetile.kernels.saved import BINARY, DESCRIPTION, DIGEST, DIGEST_BYTES, FORMAT, cpu_features, with_digest
from xetile.kernels.signature import DYNAMIC, ArraySpec, Signature
from xetile.mlir import ir
from xetile.system import files, tools
from xetile.system.surroundings import mapped

__all__ = ["add_checked_entry", "describe", "link"]

_CHECK_MEMORY = "_check_memory"
_LINKERS = ("cc", "clang", "clang-22", "gcc")
_SYSTEM_LIBRARIES = ("libm.so.6", "libmvec.so.1", "libgcc_s.so.1", "libc.so.6")
_TIME_LIMIT = 120


def describe(
    module: ir.Module,
    signature: Signature,
    target: str,
    binaries: Mapping[str, bytes] | None = None,
    native: Mapping[str, NativeBinary] | None = None,
) -> None:
    """Adds the kernel's description and its binaries to a module in the LLVM dialect."""
    native = native or {}
    binaries = binaries or {}
    description: dict[str, Any] = {
        "format": FORMAT,
        "target": target,
        "signature": json.loads(signature.to_json()),
        "cpu_features": cpu_features(),
        "binaries": {name: len(data) for name, data in binaries.items()},
        "native": {
            chip: {"spill_bytes": code.spill_bytes, "registers": code.registers} for chip, code in native.items()
        },
    }
    _add_constant(module, DESCRIPTION, json.dumps(description).encode() + b"\0")
    for name, data in binaries.items():
        _add_constant(module, BINARY + name, data)
    # `link` fills it in.
    _add_constant(module, DIGEST, bytes(DIGEST_BYTES))


def add_checked_entry(module: ir.Module, signature: Signature) -> None:
    """Adds the C function that checks descriptors and calls, `f_checked`, to a module in the LLVM dialect.

    What it checks follows from the signature alone: passes write it for a function without a body of its own.
    """
    returned = signature.returns
    parameters = [
        f"%a{number}: {_memref(spec)}{' {xetile.written}' if spec.written else ''}"
        for number, spec in enumerate(signature.arguments)
    ]
    if not returned:
        parameters += [
            f"%r{number}: {_memref(spec)} {{xetile.result}}" for number, spec in enumerate(signature.results)
        ]
    text = f'func.func @"{signature.name}"({", ".join(parameters)}) {{ return }}'
    checks = ir.Module.parse(text, module.context)
    passes.run(
        checks,
        "xetile-check-memory,expand-strided-metadata,lower-affine,convert-to-llvm,reconcile-unrealized-casts",
        action="write what checks arguments",
    )
    written = signature.name + _CHECK_MEMORY
    for op in list(checks.body.operations):
        if ir.StringAttr(op.attributes["sym_name"]).value in (written, C_INTERFACE + written):
            module.body.append(op)
    passes.run(module, "xetile-add-checked-entry", action="write the function that checks and calls")


def _memref(spec: ArraySpec) -> str:
    sizes = "".join("?x" if size == DYNAMIC else f"{size}x" for size in spec.shape)
    return f"memref<{sizes}{spec.dtype}>"


def _add_constant(module: ir.Module, name: str, data: bytes) -> None:
    with module.context, ir.Location.unknown():
        attributes = {
            "sym_name": ir.StringAttr.get(name),
            "global_type": ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{len(data)} x i8>")),
            "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
            "constant": ir.UnitAttr.get(),
            "value": ir.StringAttr.get(data),
            "addr_space": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 0),
            "visibility_": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0),
        }
        op = ir.Operation.create("llvm.mlir.global", attributes=attributes, regions=1)
        module.body.append(op)


def link(place: Path, code: bytes, libraries: Sequence[Path]) -> None:
    """Writes a shared object of one object file, which finds `libraries` where they are now, or where the system has
    them, and its digest where `describe` left room. XeTileError if there is no linker, or with what it says.

    The machine's compiler links, or else the package's own linker.
    """
    linker = next(filter(None, map(shutil.which, _LINKERS)), None)
    own = tools.find_linker()
    if linker is None and own is None:
        raise XeTileError("no cc, clang or gcc on PATH: expected one to link the shared object")
    # To a linker an empty file is a script that asks for nothing.
    if not code:
        raise XeTileError(f"cannot link {place}: LLVM wrote no machine code")
    # The linker writes here, under names of ours: one that begins with @ or - is not a file's to it.
    with tempfile.TemporaryDirectory(prefix="xetile-link-") as directory:
        thing, linked = Path(directory, "kernel.o"), Path(directory, "kernel.so")
        files.write(thing, code)
        options = ["--no-undefined"]
        for path in libraries:
            options += ["-rpath", str(path.parent)]
        # Without a name of its own, programs that are linked with it look for the path that they were given.
        if re.fullmatch(r"\w[\w.+-]*", place.name):
            options += ["-soname", place.name]
        command = ["-shared", "-o", str(linked), str(thing), *map(str, libraries)]
        if linker is not None:
            # libm is a linker's script that names libmvec, too.
            command = [linker, *command, "-lm", *(part for option in options for part in ("-Xlinker", option))]
        else:
            command = [str(own), *command, *options, "--hash-style=gnu", "--as-needed", *_system_libraries()]
        try:
            run = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="backslashreplace",
                timeout=_TIME_LIMIT,
            )
        except subprocess.TimeoutExpired:
            raise XeTileError(f"cannot link {place}: {command[0]} took more than {_TIME_LIMIT} s") from None
        except OSError as error:
            raise XeTileError(f"cannot link {place}: {command[0]}: {error.strerror}") from None
        said = run.stderr.strip()
        if run.returncode < 0:
            said = f"{command[0]} was killed by signal {-run.returncode}. {said}".strip()
        if run.returncode or not linked.is_file():
            raise XeTileError(f"cannot link {place}: {said or f'{command[0]} wrote nothing'}")
        data = linked.read_bytes()
    files.write(place, with_digest(data), executable=True)


def _system_libraries() -> list[str]:
    """Libraries that compiler drivers link implicitly, as loaded here: without a compiler there are no others."""
    for name in _SYSTEM_LIBRARIES:
        with suppress(OSError):
            ctypes.CDLL(name)
    found = {Path(path).name: path for path in mapped()}
    return [found[name] for name in _SYSTEM_LIBRARIES if name in found]
