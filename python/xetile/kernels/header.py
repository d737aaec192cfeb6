# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Declarations in C of what a saved kernel has: `Kernel.header()`, `xetile compile --emit header`."""

from __future__ import annotations

import re

from xetile.errors import XeTileError
from xetile.kernels.signature import ArraySpec, Signature

__all__ = ["header_of"]

_C = {
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "f32": "float",
    "f64": "double",
    "i1": "uint8_t",
    "i8": "int8_t",
    "ui8": "uint8_t",
    "ui16": "uint16_t",
    "ui32": "uint32_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "index": "int64_t",
}


_AFTER = (
    "// What is wrong with elements, as an index among them, it tells after the call: results are any numbers then.",
)
_TOLD = (
    "// Behind the call told[0] is the number, from 1, of what is wrong with elements (0 for nothing), listed above;",
    "// of an index, told[1] is what came, and told[2] what it has to be less than.",
)


def header_of(signature: Signature, target: str) -> str:
    """The header. XeTileError for a function that C cannot call by its name."""
    name = signature.name
    if signature.reason:
        raise XeTileError(f"@{name} cannot be called from C: {signature.reason}")
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise XeTileError(f"@{name}: expected a name that C has (letters, digits and _), to declare it")
    specs = {f"a{number}": spec for number, spec in enumerate(signature.arguments)}
    results = {f"r{number}": spec for number, spec in enumerate(signature.results)}
    ranks = sorted({len(spec.shape) for spec in (*specs.values(), *results.values())})
    guard = f"XETILE_KERNEL_{name.upper()}_H"
    lines = [
        f"// {signature}",
        f"// for {target}; link the shared object, or open it with dlopen.",
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <stdint.h>",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "// Memory of an array, as MLIR describes it: sizes and strides in elements, the offset from `aligned`.",
    ]
    for rank in ranks:
        lines += _describe(rank)
    lines += ["", *_comment(specs, results, signature)]
    parameters = [f"const xetile_memref{len(spec.shape)}d *{key}" for key, spec in specs.items()]
    if signature.returns:
        lines += [f"typedef struct {name}_results {{"]
        lines += [f"  xetile_memref{len(spec.shape)}d {key};" for key, spec in results.items()]
        if signature.expectations:
            lines += ["  int64_t told[3];"]
        lines += [f"}} {name}_results;"]
        parameters = [f"{name}_results *results", *parameters]
    else:
        parameters += [f"const xetile_memref{len(spec.shape)}d *{key}" for key, spec in results.items()]
    shown = ", ".join(parameters) or "void"
    unchecked = parameters if signature.returns or not signature.expectations else ["int64_t told[3]", *parameters]
    lines += [
        "",
        "// Checks sizes, strides and that results share no memory with others, then calls. Null, or what is wrong,",
        "// and nothing was called then. Whether memory is as large as its description says, it cannot see.",
        *(_AFTER if signature.expectations else ()),
        f"const char *{name}_checked({shown});",
        "",
        "// The same without a check: descriptors that do not fit read and write out of bounds.",
        *(_TOLD if signature.expectations else ()),
        f"void _mlir_ciface_{name}({', '.join(unchecked) or 'void'});",
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _describe(rank: int) -> list[str]:
    """The type of arrays of a rank, and a function that describes memory in C order."""
    kind, name = f"xetile_memref{rank}d", f"xetile_dense{rank}d"
    sizes = ", ".join(f"int64_t size{dim}" for dim in range(rank))
    fields = f" sizes[{rank}], strides[{rank}];" if rank else ";"
    offset = "int64_t offset" + ("," if rank else "")
    values = ""
    if rank:
        strides = [" * ".join(f"size{dim}" for dim in range(first + 1, rank)) or "1" for first in range(rank)]
        values = f", {{{', '.join(f'size{dim}' for dim in range(rank))}}}, {{{', '.join(strides)}}}"
    parameters = "const void *memory" + (f", {sizes}" if rank else "")
    return [
        f"#ifndef XETILE_MEMREF{rank}D",
        f"#define XETILE_MEMREF{rank}D",
        f"typedef struct {kind} {{",
        "  void *allocated, *aligned;",
        f"  {offset}{fields}",
        f"}} {kind};",
        f"static inline {kind} {name}({parameters}) {{",
        f"  {kind} described = {{(void *)memory, (void *)memory, 0{values}}};",
        "  return described;",
        "}",
        "#endif",
    ]


def _comment(specs: dict[str, ArraySpec], results: dict[str, ArraySpec], signature: Signature) -> list[str]:
    lines = [
        f"// {key}: {spec}, elements of {_C[spec.dtype]}{', written by the call' if spec.written else ''}"
        for key, spec in specs.items()
    ]
    memory = "allocated by the function; free() each different `allocated` that is no argument's"
    lines += [
        f"// {key}: {spec}, elements of {_C[spec.dtype]}, {memory if signature.returns else 'memory of the caller'}"
        for key, spec in results.items()
    ]
    lines += [f"// {condition}" for condition in signature.conditions]
    expected = enumerate(signature.expectations, start=1)
    return lines + [f"// told {number}: {expectation}" for number, expectation in expected]
