# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the files that CONTRIBUTING.md lists for a new pass or schedule: they build, and their tests pass, as they are.

usage: scripts/new-pass NAME [ROOM]   NAME as RotateLoops; ROOM a folder with Passes.td below cpp/xetile (Transforms)
       scripts/new-schedule NAME      NAME as rotated_matmul

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


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=("pass", "schedule"))
    parser.add_argument("name")
    parser.add_argument("room", nargs="?", default="Transforms")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="another checkout")
    options = parser.parse_args(arguments)
    make = new_pass if options.kind == "pass" else new_schedule
    make(options.root, options.name, options.room)
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


def new_schedule(root: Path, name: str, _: str) -> None:
    """The schedule of examples/unrolled_matmul.mlir under another name, its tests of IR, refusals and numbers."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        fail(f"expected a name as rotated_matmul, got {name}")
    example = (root / "examples" / "unrolled_matmul.mlir").read_text()
    # Without what makes a test of the example.
    lines = [line for line in example.splitlines() if not re.match(r"// (CHECK|RUN:)", line)]
    text = "\n".join(lines).replace("examples/unrolled_matmul", f"schedules/{name}") + "\n"
    # Its first line says what it is: the license's is before it.
    text = re.sub(r"(?<=\n)//.*\n", "// TODO: the algorithm in one line. So far a copy of an example.\n", text, count=1)
    tests = root / "test"
    write(
        {
            root / "schedules" / f"{name}.mlir": text,
            tests / "schedules" / f"{name}.mlir": SCHEDULE_TEST.format(name=name),
            tests / "schedules" / f"{name}-invalid-size.mlir": SCHEDULE_TEST_INVALID.format(name=name),
            tests / "python" / "targets" / "xe" / f"test_{name}_schedule.py": SCHEDULE_NUMBERS.format(name=name),
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
