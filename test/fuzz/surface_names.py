# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the expressions of kind "surfaces" call, and the files that its cases find."""

from __future__ import annotations

import io
import shutil
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from corpus import ROOT

_MATMUL = """func.func @main(%a: tensor<32x32xf16>, %b: tensor<32x64xf16>, %c: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<32x32xf16>, tensor<32x64xf16>) outs(%c : tensor<32x64xf32>)
      -> tensor<32x64xf32>
  return %d : tensor<32x64xf32>
}
"""
_ADD = """func.func @add(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c = arith.addf %a, %b : tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}
"""
_TWO = """func.func @two(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %c = arith.addf %a, %b : tensor<8x8xf32>
  %d = arith.mulf %a, %b : tensor<8x8xf32>
  return %c, %d : tensor<8x8xf32>, tensor<8x8xf32>
}
"""
_DYNAMIC = """func.func @dyn(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c = arith.addf %a, %a : tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}
"""
_MEMREF = "func.func @m(%a: memref<4xf32>) { return }\n"
# Name -> source, argument shapes and types.
KERNELS = {
    "f32": (_ADD, [((8, 8), "f4")] * 2),
    "two": (_TWO, [((8, 8), "f4")] * 2),
    "f16": (_MATMUL, [((32, 32), "f2"), ((32, 64), "f2"), ((32, 64), "f4")]),
    "dynamic": (_DYNAMIC, [((5, 3), "f4")]),
    "gpu": (_MATMUL, [((32, 32), "f2"), ((32, 64), "f2"), ((32, 64), "f4")]),
}
SMALL = {"workgroup_m": 16, "workgroup_n": 32, "subgroups_m": 2, "subgroups_n": 2, "k_step": 16}


class Odd:
    """Says that it is all kinds of things, and is none."""

    def __index__(self) -> int:
        return 3

    def __fspath__(self) -> str:
        return "good.mlir"

    def __len__(self) -> int:
        return 2


class OddStr(str):
    """A string of another class."""


class Names:
    """What expressions call, made when it is first asked for; `shared` is a folder that all processes of a run have."""

    def __init__(self, shared: Path) -> None:
        import xetile
        from xetile.mlir import ir

        self.shared, self.xetile, self.ir = shared, xetile, ir
        self.kernels: dict[str, Any] = {}
        self.made: dict[str, Any] = {}
        self.files = self._files()

    def all(self) -> dict[str, Any]:
        """Each name that an expression may have, and what it is."""
        import ml_dtypes
        import xetile
        from xetile import cpu, layout, passes, reference, report, runtime
        from xetile import schedule as schedules
        from xetile.compiling import compiler
        from xetile.layout import draw as layout_draw
        from xetile.system import tools

        found = {name: getattr(self, name) for name in ("payload", "small", "add", "dynamic", "schedule")}
        found |= {
            name: getattr(self, name) for name in ("spv", "dpas", "layout_of", "plan", "arrays", "memmap", "saved")
        }
        found |= {name: getattr(self, name) for name in ("read_only", "subclass", "big_endian", "unaligned")}
        found |= {
            "memory": self.buffers, "cpu_kernel": lambda: self.kernel("f32"), "gpu_kernel": lambda: self.kernel("gpu"),
            "drain": list, "build": lambda schedule: schedule.build(), "step": lambda handle: None,
            "step_that_returns": lambda handle: handle, "Odd": Odd, "OddStr": OddStr, "np": np, "ml_dtypes": ml_dtypes,
            "xetile": xetile, "compiler": compiler, "cpu": cpu, "layout": layout, "layout_draw": layout_draw,
            "passes": passes, "reference": reference, "report": report, "runtime": runtime, "tools": tools,
            "schedules": schedules, "ir": self.ir, "Path": Path, "Decimal": Decimal, "Fraction": Fraction,
            "Target": xetile.Target,
        }  # fmt: skip
        return found

    def parse(self, text: str) -> Any:
        with self.ir.Context():
            return self.ir.Module.parse(text)

    def payload(self, type_: str = "f16") -> Any:
        return self.xetile.matmul(64, 64, 32, type_)

    def small(self) -> Any:
        return self.parse(_MATMUL)

    def add(self) -> Any:
        return self.parse(_ADD)

    def dynamic(self) -> Any:
        return self.parse(_DYNAMIC)

    def buffers(self) -> Any:
        return self.parse(_MEMREF)

    def schedule(self) -> Any:
        if "schedule" not in self.made:
            self.made["schedule"] = self.xetile.schedule.load("matmul")
        return self.made["schedule"]

    def spv(self) -> bytes:
        return self.files["good.spv"]

    def dpas(self) -> Any:
        return self.xetile.layout.Dpas.of("f16", subgroups=(8, 4), rep_cluster=(4, 2))

    def layout_of(self, operand: str) -> Any:
        return self.xetile.layout.dpas_layout(operand, (16, 16), "f16")

    def plan(self) -> Any:
        return self.xetile.layout.plan("B", (32, 256), "f16", self.dpas())

    def arrays(self, module: Any) -> list[Any]:
        from xetile.kernels.signature import Signature

        return [np.ones(spec.shape, spec.numpy_dtype) for spec in Signature.of(module).arguments]

    def saved(self, cut: bool = False) -> Path:
        """A file with a kernel, or with what is left of one."""
        if "saved" not in self.made:
            self.made["saved"] = self.kernel("f32").save("made.so").read_bytes()
        path = Path("saved.so")
        path.write_bytes(self.made["saved"][: 5000 if cut else None])
        return path

    def memmap(self, array: Any) -> Any:
        place = f"array{len(list(Path().glob('array*')))}.bin"
        array.tofile(place)
        return np.memmap(place, array.dtype, "r", shape=array.shape)

    def read_only(self, array: Any) -> Any:
        array = array.copy()
        array.flags.writeable = False
        return array

    def subclass(self, array: Any) -> Any:
        class Sub(np.ndarray):
            pass

        return array.view(Sub)

    def big_endian(self, array: Any) -> Any:
        return array.astype(array.dtype.newbyteorder(">"))

    def unaligned(self, array: Any) -> Any:
        memory = bytearray(1) + bytearray(array.tobytes())
        return np.frombuffer(memory, array.dtype, offset=1).reshape(array.shape)

    def kernel(self, name: str) -> Any:
        if name not in self.kernels:
            text, _ = KERNELS[name]
            if name == "gpu":
                made = self.xetile.compile(self.parse(text), params=SMALL, native="off")
            else:
                made = self.xetile.compile(self.parse(text), target="cpu")
            self.kernels[name] = made
        return self.kernels[name]

    def _files(self) -> dict[str, bytes]:
        """The files that each case finds, by name."""
        good = self.payload()
        bytecode = io.BytesIO()
        good.operation.write_bytecode(bytecode)
        kept = self.shared / "good.spv"
        if not kept.exists():
            scratch = Path("good.spv")
            scratch.write_bytes(self.xetile.compile(self.parse(_MATMUL), params=SMALL, native="off").spirv)
            shutil.move(scratch, kept)
        spirv = kept.read_bytes()
        text = str(good).encode()
        return {
            "good.mlir": text, "a b.mlir": text, "é.mlir": text, "@resp": b"-o evil",
            "small.mlir": _MATMUL.encode(), "add.mlir": _ADD.encode(), "dynamic.mlir": _DYNAMIC.encode(),
            "memref.mlir": _MEMREF.encode(), "two.mlir": text + text.replace(b"@matmul", b"@other"),
            "nofunc.mlir": b"module {}", "empty.mlir": b"", "text.mlir": b"hello\n", "nul.mlir": text[:40] + b"\0",
            "latin1.mlir": b"// \xe4\n" + text.replace(b"@matmul", b'@"\xff"'), "good.mlirbc": bytecode.getvalue(),
            "truncated.mlirbc": bytecode.getvalue()[: len(bytecode.getvalue()) // 2], "good.spv": spirv,
            "truncated.spv": spirv[: len(spirv) // 2],
            "schedule.mlir": (ROOT / "schedules" / "matmul.mlir").read_bytes(),
        }  # fmt: skip
