# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as files: saved, loaded without a compiler, called from C; and what is refused."""

import ctypes
import hashlib
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xetile
from xetile import XeTileError
from xetile.codegen import engines, saving
from xetile.kernels import saved
from xetile.kernels.kernel import NativeBinary
from xetile.mlir import ir
from xetile.system import elf, tools

TARGETS = {
    "pvc": {"target": "pvc", "params": {"workgroup_m": 64, "workgroup_n": 64, "subgroups_m": 2, "subgroups_n": 2}},
    "cpu": {"target": "cpu", "threads": 2},
}
M, N, K = 64, 128, 32
C = f"tensor<{M}x{N}xf32>"


def compiled(target: str) -> xetile.Kernel:
    more = {"native": "off"} if target == "pvc" else {}
    return xetile.compile(xetile.matmul(M, N, K), **TARGETS[target], **more)


@pytest.fixture(scope="module", params=TARGETS)
def kernel(request) -> xetile.Kernel:
    return compiled(request.param)


@pytest.fixture(scope="module")
def file(kernel, tmp_path_factory) -> Path:
    return kernel.save(tmp_path_factory.mktemp("saved") / "matmul.so")


@pytest.fixture
def arrays(rng):
    shapes = (((M, K), np.float16), ((K, N), np.float16), ((M, N), np.float32))
    return tuple(rng.integers(-4, 5, shape).astype(dtype) for shape, dtype in shapes)


def product(a, b, c) -> np.ndarray:
    return a.astype(np.float32) @ b.astype(np.float32) + c


# In a process of its own: which libraries are there, and whether it computes what NumPy does.
ALONE = """
import sys, time
start = time.perf_counter()
from xetile import runtime
import xetile
spent = time.perf_counter() - start
import numpy as np
rng = np.random.default_rng(int(sys.argv[2]))
a, b = rng.integers(-4, 5, (64, 32)).astype("f2"), rng.integers(-4, 5, (32, 128)).astype("f2")
c = rng.integers(-4, 5, (64, 128)).astype("f4")
kernel = xetile.load(sys.argv[1])
out = np.full((64, 128), np.nan, "f4")
assert kernel(a, b, c, out=out) is out
assert (out == a.astype("f4") @ b.astype("f4") + c).all()
assert (kernel(a, b, c) == out).all()
maps = open("/proc/self/maps").read()
print([name for name in ("libMLIR", "libLLVM", "_xetile.", "XeTilePythonCAPI") if name in maps])
print(sorted(name for name in sys.modules if name.startswith("xetile.mlir")))
print(kernel.signature)
"""


def test_a_loaded_kernel_computes_in_a_process_without_a_compiler(kernel, file):
    seed = str(np.random.SeedSequence().entropy % 2**32)
    run = subprocess.run([sys.executable, "-c", ALONE, file, seed], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, f"seed {seed}\n{run.stderr}"
    assert run.stdout.splitlines() == ["[]", "[]", str(kernel.signature)]


def test_importing_the_runtime_costs_little_beside_numpy():
    """What the import adds to NumPy's, which it needs: under 0.1 s of the processor, as others may use the machine."""
    code = "import time, numpy; s = time.process_time(); from xetile import runtime; print(time.process_time() - s)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(5)
    ]
    assert min(runs) < 0.1


def test_a_loaded_kernel_is_the_same_kernel(kernel, file, arrays):
    loaded = xetile.load(file)
    assert type(loaded) is type(kernel) and repr(loaded) == repr(kernel)
    assert loaded.signature == kernel.signature and loaded.target == kernel.target
    assert dict(loaded.stages) == {} and loaded.conditions == kernel.conditions
    if "spirv" in kernel.binaries:
        assert loaded.spirv == kernel.spirv
    np.testing.assert_array_equal(loaded(*arrays), kernel(*arrays))
    np.testing.assert_array_equal(loaded(*arrays), product(*arrays))
    with pytest.raises(XeTileError, match="@matmul: argument 0: expected 64x32xf16"):
        loaded(arrays[0].T, *arrays[1:])
    with pytest.raises(KeyError, match="none, it was loaded from a file"):
        loaded.stages["4-xegpu"]
    with pytest.raises(XeTileError, match="compile the payload to explain it"):
        loaded.explain()


def test_a_loaded_kernel_may_be_saved_again(file, tmp_path, arrays):
    again = xetile.load(file).save(tmp_path / "again.so")
    assert again.read_bytes() == file.read_bytes()
    np.testing.assert_array_equal(xetile.load(again)(*arrays), product(*arrays))


def test_machine_code_for_chips_is_inside(tmp_path):
    from xetile.system import tools

    if tools.find_ocloc() is None:
        pytest.skip("no ocloc: scripts/install-ocloc")
    options = TARGETS["pvc"] | {"native": "require", "native_chips": ["pvc", "bmg"]}
    kernel = xetile.compile(xetile.matmul(M, N, K), **options)
    loaded = xetile.load(kernel.save(tmp_path / "k.so"))
    assert dict(loaded.native) == dict(kernel.native)
    assert list(loaded.binaries) == ["spirv", "pvc", "bmg"]


def test_sizes_of_a_loaded_kernel_are_checked(tmp_path):
    text = """
    func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %s: f32) -> (tensor<?x?xf32>, f32) {
      %d = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
      return %d, %s : tensor<?x?xf32>, f32
    }"""
    with ir.Context():
        kernel = xetile.compile(ir.Module.parse(text), target="cpu", threads=1)
    loaded = xetile.load(kernel.save(tmp_path / "f.so"))
    assert loaded.conditions == kernel.conditions != ()
    a, b, c = np.ones((5, 7), "f4"), np.ones((7, 9), "f4"), np.ones((5, 9), "f4")
    d, s = loaded(a, b, c, 2.5)
    assert (d == 8).all() and s == 2.5
    with pytest.raises(XeTileError, match=r"argument 0, dimension 1 \(7\) == argument 1, dimension 0 \(8\)"):
        loaded(a, np.ones((8, 9), "f4"), c, 2.5)


PROGRAM = """
#include "matmul.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  static uint16_t a[64 * 32], b[32 * 128];
  static float c[64 * 128], d[64 * 128];
  for (int i = 0; i < 64 * 32; ++i) a[i] = 0x3c00;              // 1 as f16
  for (int i = 0; i < 32 * 128; ++i) b[i] = 0x4000;             // 2
  for (int i = 0; i < 64 * 128; ++i) c[i] = i, d[i] = -1;
  xetile_memref2d da = xetile_dense2d(a, 64, 32), db = xetile_dense2d(b, 32, 128);
  xetile_memref2d dc = xetile_dense2d(c, 64, 128), dd = xetile_dense2d(d, 64, 128);
  const char *wrong = matmul_checked(&da, &db, &dc, &dd);
  if (wrong) return puts(wrong), 1;
  for (int i = 0; i < 64 * 128; ++i)
    if (d[i] != 64 + i) return printf("element %d is %f\\n", i, d[i]), 1;
  db.sizes[0] = 31;
  puts(matmul_checked(&da, &db, &dc, &dd));
  db.sizes[0] = 32;
  puts(matmul_checked(&da, &db, &dc, &dc));
  return 0;
}
"""


@pytest.mark.parametrize("language", ["c", "c++"])
def test_c_programs_call_it_and_hear_what_is_wrong(kernel, file, tmp_path, language):
    shutil.copy(file, tmp_path / "matmul.so")
    (tmp_path / "matmul.h").write_text(kernel.header())
    (tmp_path / "main.c").write_text(PROGRAM)
    compiler = shutil.which("clang-22") or shutil.which("cc")
    command = [compiler, "-Wall", "-Werror", "-x", language, "main.c", "-x", "none", "./matmul.so", "-o", "main"]
    command += ["-Wl,-rpath,$ORIGIN"]
    subprocess.run(command, cwd=tmp_path, check=True)
    run = subprocess.run([tmp_path / "main"], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines() == [
        "@matmul: expected argument 1, dimension 0 == 32 (its type)",
        "@matmul: expected result 0 apart from argument 2 (results share no memory)",
    ]


def test_headers_describe_numbers_and_results_of_any_size():
    text = """
    func.func @f(%a: tensor<?x4xbf16>, %s: f64) -> tensor<?x4xbf16> {
      return %a : tensor<?x4xbf16>
    }"""
    with ir.Context():
        header = xetile.compile(ir.Module.parse(text), target="cpu", threads=1).header()
    assert "// a0: ?x4xbf16, elements of uint16_t" in header
    assert "// a1: f64, elements of double" in header
    assert "const char *f_checked(f_results *results, const xetile_memref2d *a0, const xetile_memref0d *a1);" in header
    assert "static inline xetile_memref0d xetile_dense0d(const void *memory) {" in header


# Refusals


def damaged(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data and len(old) == len(new)
    return data.replace(old, new)


def rewritten(data: bytes) -> bytes:
    """As if it had been written so: with the digest of its bytes, computed as `xetile.saving` says it is."""
    place = elf.find_symbol(data, "xetile_digest")
    empty = data[: place.start] + bytes(32) + data[place.stop :]
    return data[: place.start] + hashlib.sha256(empty).digest() + data[place.stop :]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "expected an ELF file of 64 bits"),
        (lambda data: b"\x7fELF", "expected an ELF file of 64 bits"),
        (lambda data: data[:2000], "the ELF file is damaged"),
        (lambda data: data[:0x28] + b"\xff" * 8 + data[0x30:], "the ELF file is damaged"),  # where its sections are
        (lambda data: data[:64] + bytes(len(data) - 64), "the ELF file is damaged|it is no kernel of xetile's"),
        (lambda data: damaged(data, b'{"format": 4', b'{"format": 1'), "expected format 4, got 1; save it with this"),
        (lambda data: damaged(data, b'{"format": 4', b'{"farmot": 2'), "its description is damaged"),
        (
            lambda data: rewritten(damaged(data, b'"dtype": "f16"', b'"dtype": "x16"')),
            "expected what Signature.to_json writes",
        ),
        (
            lambda data: rewritten(damaged(data, b'"x86_64"', b'"armv99"')),
            "compiled for a CPU with armv99, which this one has not",
        ),
        (lambda data: damaged(data, b'"x86_64"', b'"armv99"'), "damaged, or was changed .* its digest is not that"),
        (lambda data: data + b"\0", "its digest is not that of its bytes; save it again"),
        (lambda data: data.replace(b"\0xetile_digest\0", b"\0xetile_dijest\0"), "its digest is not that of its bytes"),
    ],
)
def test_files_that_are_no_kernels_are_refused(file, tmp_path, change, message):
    path = tmp_path / "k.so"
    path.write_bytes(change(file.read_bytes()))
    with pytest.raises(XeTileError, match=message):
        xetile.load(path)


def test_a_binary_outside_of_its_section_is_refused(file, tmp_path):
    data = bytearray(file.read_bytes())
    kernel = xetile.load(file)
    if not kernel.binaries.keys() & {"spirv"}:
        return  # The code of a CPU's kernel is the shared object.
    _, _, _, _, symbols, length, link = next(entry for entry in elf._sections(data) if entry[1] == 11)  # .dynsym
    names = elf._sections(data)[link][4]
    name = data.index(f"\0{saved.BINARY}spirv\0".encode(), names) + 1 - names
    place = next(at for at in range(symbols, symbols + length, 24) if struct.unpack_from("<I", data, at)[0] == name)
    struct.pack_into("<Q", data, place + 16, 1 << 40)  # its size
    path = tmp_path / "k.so"
    path.write_bytes(rewritten(bytes(data)))
    with pytest.raises(XeTileError, match=r"k\.so: the ELF file is damaged: a constant lies outside of its section"):
        dict(xetile.load(path).binaries)


def test_other_libraries_are_refused(tmp_path):
    with pytest.raises(XeTileError, match="it is no kernel of xetile's: it has no xetile_kernel"):
        xetile.load(xetile.runtime.library_path())
    with pytest.raises(XeTileError, match="cannot read the kernel .*gone.so: there is no such file"):
        xetile.load(tmp_path / "gone.so")


def test_no_file_with_a_flipped_bit_is_loaded(file, tmp_path):
    """Of what is not checked, some ends the process, and some computes other numbers."""
    data, path = file.read_bytes(), tmp_path / "k.so"
    assert rewritten(data) == data
    seed = np.random.SeedSequence().entropy
    for place in np.random.default_rng(seed).integers(0, 8 * len(data), 400):
        broken = bytearray(data)
        broken[place // 8] ^= 1 << place % 8
        path.write_bytes(broken)
        with pytest.raises(XeTileError):
            xetile.load(path)
            pytest.fail(f"bit {place % 8} of byte {place // 8} (seed {seed})")


def test_the_digest_is_not_looked_at_where_the_caller_says_so(file, tmp_path, arrays):
    data, path = bytearray(file.read_bytes()), tmp_path / "k.so"
    place = elf.find_symbol(bytes(data), saved.DIGEST)
    data[place.start] ^= 1
    path.write_bytes(data)
    with pytest.raises(XeTileError, match="its digest is not that of its bytes"):
        xetile.load(path)
    np.testing.assert_array_equal(xetile.load(path, check_digest=False)(*arrays), product(*arrays))
    with pytest.raises(XeTileError, match="check_digest: expected True or False, got 1"):
        xetile.load(file, check_digest=1)


def test_facts_of_machine_code_come_back_each_by_its_name(tmp_path):
    """Without Intel's compiler: what it would have made is made up."""
    kernel = compiled("cpu")
    signature, path = kernel.signature, tmp_path / "k.so"
    code = {
        "pvc": NativeBinary("pvc", b"code of pvc", spill_bytes=192, registers=256),
        "bmg": NativeBinary("bmg", b"code of bmg, longer", spill_bytes=0, registers=128),
    }
    binaries = {"spirv": b"\x03\x02\x23\x07more"} | {chip: native.data for chip, native in code.items()}
    with ir.Context():
        module = ir.Module.parse("module {}")
        saving.describe(module, signature, "pvc", binaries, code)
        saving.link(path, engines.object_file(module, "matmul", 0), [])
    loaded = xetile.load(path)
    assert dict(loaded.native) == code and dict(loaded.binaries) == binaries
    assert loaded.target == xetile.Target("pvc")
    # The description says more bytes than there are.
    broken = damaged(path.read_bytes(), b'"pvc": 11', b'"pvc": 12')
    path.write_bytes(rewritten(broken))
    with pytest.raises(XeTileError, match=r"k\.so is damaged: expected 12 bytes of the binary 'pvc'"):
        dict(xetile.load(path).binaries)


def test_no_file_that_is_cut_or_changed_somewhere_crashes(file, tmp_path, rng):
    """Without its digest, too, an error, or the same description; never another exception."""
    data, path = file.read_bytes(), tmp_path / "k.so"
    for _ in range(100):
        broken = bytearray(data)
        for _ in range(int(rng.integers(1, 8))):
            broken[int(rng.integers(0, 4096 if rng.random() < 0.5 else len(data)))] = int(rng.integers(0, 256))
        path.write_bytes(bytes(broken[: int(rng.integers(1, len(data)))] if rng.random() < 0.3 else broken))
        try:
            loaded = xetile.load(path, check_digest=False)
            dict(loaded.binaries)
        except XeTileError as error:
            assert str(error)


def test_the_description_is_readable(file):
    from xetile.system.elf import read_symbol

    description = json.loads(read_symbol(file.read_bytes(), saved.DESCRIPTION).rstrip(b"\0"))
    assert description["format"] == saved.FORMAT
    assert description["signature"]["name"] == "matmul"
    assert "x86_64" in description["cpu_features"]


REFUSAL = """
llvm.mlir.global internal constant @text("expected some registers\\00")
llvm.mlir.global weak @xetile_refused() : !llvm.ptr {
  %0 = llvm.mlir.addressof @text : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
"""


def add_refusal(module: ir.Module) -> None:
    """As if a constructor had not got what the code needs."""
    refusal = ir.Module.parse(REFUSAL, module.context)
    for op in list(refusal.body.operations):
        module.body.append(op)


def test_what_the_system_refuses_is_said_before_a_call(tmp_path, monkeypatch):
    kernel = compiled("cpu")
    write = saving.add_checked_entry
    monkeypatch.setattr(saving, "add_checked_entry", lambda module, of: (add_refusal(module), write(module, of)))
    file = kernel.save(tmp_path / "matmul.so")
    with pytest.raises(XeTileError, match=r"cannot load .*matmul.so: expected some registers"):
        xetile.load(file)(*(np.zeros(shape, "f2") for shape in ((M, K), (K, N))), np.zeros((M, N), "f4"))
    library = ctypes.CDLL(str(file))
    library.matmul_checked.restype = ctypes.c_char_p
    # Nothing is read of arguments.
    assert library.matmul_checked(None, None, None, None) == b"expected some registers"


def test_code_that_the_system_refuses_is_not_called():
    kernel = compiled("cpu")
    with ir.Context():
        module = ir.Module.parse(kernel.stages["3-llvm"])
        add_refusal(module)
        with pytest.raises(XeTileError, match="@matmul cannot be called: expected some registers"):
            engines.load(module, kernel._code._signature, [tools.find_libomp()], 3)
