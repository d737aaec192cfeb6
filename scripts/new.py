# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the files that CONTRIBUTING.md lists for a new pass or schedule: they build, and their tests pass, as they are.

usage: scripts/new-pass NAME [ROOM]   NAME as RotateLoops; ROOM a folder with Passes.td below cpp/xetile (Transforms)
       scripts/new-schedule NAME [OF] NAME as rotated_matmul; OF is matmul, or rows where no matmul is in it

Nothing is overwritten. What a person has to write is marked TODO, and the steps that remain are printed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

DEFINITION = """\
def {name} : Pass<"{flag}", "::mlir::func::FuncOp"> {{
  let summary = "TODO: in one line, what it does";
  let description = [{{
    TODO: for whom, and why.

    Before:
    ```mlir
    func.func @f() {{ return }}
    ```
    After:
    ```mlir
    func.func @f() {{ return }}
    ```
    Refused: functions without a body.
  }}];
}}

"""
SOURCE = """\
//===- {name}.cpp - TODO: in a few words ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: TODO. Out: TODO. Refused: functions without a body.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/{room}/Passes.h"

namespace xetile {{
#define GEN_PASS_DEF_{upper}
#include "xetile/{room}/Passes.h.inc"
}} // namespace xetile

using namespace mlir;

namespace {{

struct {name} : xetile::impl::{name}Base<{name}> {{
  void runOnOperation() override {{
    if (getOperation().isDeclaration()) {{
      getOperation()->emitOpError("expected a function with a body, got a declaration; give it one");
      return signalPassFailure();
    }}
    // TODO
  }}
}};

}} // namespace
"""
TEST = """\
// TODO: in a line, what is tested here.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(func.func({flag}))' | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-NEXT: return
func.func @f() {{
  return
}}
"""
TEST_INVALID = """\
// What {flag} refuses, at the op that does not fit.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(func.func({flag}))' --split-input-file --verify-diagnostics

// expected-error @below {{{{expected a function with a body, got a declaration; give it one}}}}
func.func private @f()
"""
SCHEDULE_TEST = """\
// The kernel at workgroup level that the schedule makes of a matmul.
// RUN: xetile-opt %schedules/payloads/matmul_f16.mlir \\
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/{name}.mlir' \\
// RUN:     --transform-interpreter | FileCheck %s

// TODO: the lines that only this schedule makes.
// CHECK: gpu.func @matmul_kernel
// CHECK: xetile.tile_mma
"""
SCHEDULE_TEST_INVALID = """\
// RUN: not xetile-opt %s \\
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/{name}.mlir' \\
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: {name}-invalid-size.mlir:[[#@LINE+2]]:8: error: expected sizes other than zero, got tensor<256x0xf16>
func.func @matmul(%A: tensor<256x0xf16>, %B: tensor<0x1000xf16>, %C: tensor<256x1000xf32>) -> tensor<256x1000xf32> {{
  %D = linalg.matmul ins(%A, %B : tensor<256x0xf16>, tensor<0x1000xf16>)
                     outs(%C : tensor<256x1000xf32>) -> tensor<256x1000xf32>
  return %D : tensor<256x1000xf32>
}}
"""
SCHEDULE_NUMBERS = '''\
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of schedules/{name}.mlir compute what NumPy computes in f64."""

import numpy as np
import pytest
import xetile


# TODO: sizes that its tiles do not divide, and those that they do.
@pytest.mark.parametrize(("m", "n", "k"), [(256, 256, 128), (200, 136, 128)])
def test_numbers(m, n, k, rng):
    kernel = xetile.compile(xetile.matmul(m, n, k), "{name}", target="pvc")
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    result = kernel(a, b, np.zeros((m, n), np.float32))
    assert np.abs(result - expected).max() < 1e-5 * np.abs(expected).max()
'''

ROWS_TEST = """\
// The kernel at workgroup level that the schedule makes of a sum of rows.
// RUN: xetile-opt %s \\
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/{name}.mlir' \\
// RUN:     --transform-interpreter | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \\
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/{name}.mlir' \\
// RUN:     --transform-interpreter | FileCheck %s

// TODO: the payload that the schedule is for, and the lines that only it makes.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: linalg
// CHECK: gpu.func @rows_kernel
// CHECK: xetile.tile_reduce <add>
// CHECK: xetile.store_tile
func.func @rows(%x: tensor<40x100xf32>) -> tensor<40xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<40xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<40xf32>) -> tensor<40xf32>
  %sum = linalg.reduce {{ arith.addf }} ins(%x : tensor<40x100xf32>) outs(%init : tensor<40xf32>) dimensions = [1]
  return %sum : tensor<40xf32>
}}
"""
ROWS_TEST_INVALID = """\
// RUN: not xetile-opt %s \\
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/{name}.mlir' \\
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: {name}-invalid-size.mlir:[[#@LINE+5]]:10: error: expected tensors that have elements
func.func @rows(%x: tensor<0x40xf32>) -> tensor<0xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<0xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<0xf32>) -> tensor<0xf32>
  %sum = linalg.reduce {{ arith.addf }} ins(%x : tensor<0x40xf32>) outs(%init : tensor<0xf32>) dimensions = [1]
  return %sum : tensor<0xf32>
}}
"""
ROWS_NUMBERS = '''\
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of schedules/{name}.mlir compute what NumPy computes in f64."""

import numpy as np
import pytest
import xetile
from xetile.mlir import ir

# TODO: the program, in linalg; test/python/gpu_programs.py writes longer ones.
PROGRAM = """
func.func @program(%x: tensor<{{m}}x{{n}}xf32>) -> tensor<{{m}}xf32> {{{{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{{m}}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{{m}}xf32>) -> tensor<{{m}}xf32>
  %sum = linalg.reduce {{{{ arith.addf }}}} ins(%x : tensor<{{m}}x{{n}}xf32>) outs(%init : tensor<{{m}}xf32>)
    dimensions = [1]
  return %sum : tensor<{{m}}xf32>
}}}}
"""


# TODO: sizes that its tiles do not divide, and those that they do.
@pytest.mark.parametrize("target", ["pvc", "bmg", "lnl"])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (7, 33), (16, 128), (37, 1000)])
def test_numbers(m, n, target, rng):
    with ir.Context():
        payload = ir.Module.parse(PROGRAM.format(m=m, n=n))
    kernel = xetile.compile(payload, "{name}", target, native="off")
    x = rng.standard_normal((m, n)).astype(np.float32)
    expected = x.astype(np.float64).sum(1)
    # What was there before is seen.
    result = np.full(expected.shape, np.nan, np.float32)
    kernel(x, out=result)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
'''


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=("pass", "schedule"))
    parser.add_argument("name")
    parser.add_argument("place", nargs="?", help="of a pass its room, of a schedule what it begins as")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="another checkout")
    options = parser.parse_args(arguments)
    if options.kind == "pass":
        new_pass(options.root, options.name, options.place or "Transforms")
    else:
        new_schedule(options.root, options.name, options.place or "matmul")
    return 0


def fail(message: str) -> NoReturn:
    sys.exit(f"new: error: {message}")


def new_pass(root: Path, name: str, room: str) -> None:
    """The definition, the source and its line of CMake, two lit tests."""
    if not re.fullmatch(r"([A-Z][a-z0-9]*)+", name):
        fail(f"expected a name as RotateLoops, got {name}")
    folder = root / "cpp" / "xetile" / room
    definitions, cmake = folder / "Passes.td", folder / "CMakeLists.txt"
    if not definitions.exists():
        rooms = sorted(
            str(path.parent.relative_to(root / "cpp/xetile")) for path in root.glob("cpp/xetile/**/Passes.td")
        )
        fail(f"expected a room with passes: {', '.join(rooms)}; got {room}")
    flag = f"xetile-{re.sub('(?<!^)(?=[A-Z])', '-', name).lower()}"
    words = {"name": name, "room": room, "flag": flag, "upper": name.upper()}
    if f"def {name} :" in definitions.read_text():
        fail(f"{definitions} has a pass {name} already")
    test = root / "test" / room / f"{flag.removeprefix('xetile-')}.mlir"
    write(
        {
            folder / f"{name}.cpp": SOURCE.format(**words),
            test: TEST.format(**words),
            test.with_name(f"{test.stem}-invalid.mlir"): TEST_INVALID.format(**words),
        }
    )
    text = definitions.read_text()
    end = text.rindex("#endif")
    definitions.write_text(text[:end] + DEFINITION.format(**words) + text[end:])
    cmake.write_text(with_source(cmake.read_text(), f"{name}.cpp", cmake))
    print(f"{definitions.relative_to(root)}: {name}\n{cmake.relative_to(root)}: {name}.cpp")
    print("next: ninja -C build; lit -sv build/test --filter", test.stem)
    print("then: write what is TODO, place it in a pipeline or a schedule, scripts/dialect-docs, CHANGELOG.md")


def with_source(text: str, source: str, path: Path) -> str:
    """CMake's list of the room's library with one source more, in the order of the alphabet."""
    found = re.search(r"(xetile_library\(\w+\n)((?:  \S+\.cpp\n)+)", text)
    if not found:
        fail(f"{path}: expected xetile_library(NAME and its sources, a line each")
    lines = sorted({*found[2].splitlines(), f"  {source}"})
    return text[: found.start(2)] + "\n".join(lines) + "\n" + text[found.end(2) :]


def new_schedule(root: Path, name: str, of: str) -> None:
    """examples/unrolled_matmul.mlir, or rows, under another name, its tests of IR, refusals and numbers."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        fail(f"expected a name as rotated_matmul, got {name}")
    examples = {
        "matmul": ("examples/unrolled_matmul", SCHEDULE_TEST, SCHEDULE_TEST_INVALID, SCHEDULE_NUMBERS),
        "rows": ("schedules/rows", ROWS_TEST, ROWS_TEST_INVALID, ROWS_NUMBERS),
    }
    if of not in examples:
        fail(f"expected {' or '.join(examples)}, what it begins as, got {of}")
    file, test, invalid, numbers = examples[of]
    # Without what makes a test of the example.
    lines = [
        line for line in (root / f"{file}.mlir").read_text().splitlines() if not re.match(r"// (CHECK|RUN:)", line)
    ]
    text = "\n".join(lines).replace(file, f"schedules/{name}") + "\n"
    # Its first line says what it is: the license's is before it.
    text = re.sub(r"(?<=\n)//.*\n", f"// TODO: the algorithm in one line. So far a copy of {file}.\n", text, count=1)
    tests = root / "test"
    write(
        {
            root / "schedules" / f"{name}.mlir": text,
            tests / "schedules" / f"{name}.mlir": test.format(name=name),
            tests / "schedules" / f"{name}-invalid-size.mlir": invalid.format(name=name),
            tests / "python" / "targets" / "xe" / f"test_{name}_schedule.py": numbers.format(name=name),
        }
    )
    print("next: ninja -C build; lit -sv build/test --filter", name)
    print("then: write what is TODO, name it in schedules/README.md and CHANGELOG.md")


def write(texts: Mapping[Path, str]) -> None:
    """Writes new files; none if one of them is there."""
    for path in texts:
        if path.exists():
            fail(f"{path} is there already")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(path)


if __name__ == "__main__":
    sys.exit(main())
