# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile reduce`: a module that fails becomes the smallest one that fails in the same way."""

from pathlib import Path

import pytest
from xetile.cli import main
from xetile.cli.failures import same_failure

SCHEDULES = Path(__file__).resolve().parents[3] / "schedules"
# A matmul, what follows on it, and a softmax, which the schedule `matmul` refuses.
FAILS = """
#matrix = affine_map<(m, n) -> (m, n)>
func.func @f(%x: tensor<32x64xf16>, %w: tensor<64x64xf16>) -> tensor<32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %h = linalg.matmul ins(%x, %w : tensor<32x64xf16>, tensor<64x64xf16>)
      outs(%z : tensor<32x64xf32>) -> tensor<32x64xf32>
  %r = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    %n = arith.mulf %m, %a : f32
    linalg.yield %n : f32
  } -> tensor<32x64xf32>
  %p = linalg.softmax dimension(1) ins(%r : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %p : tensor<32x64xf32>
}
"""
PASSES = f"builtin.module(xetile-compile{{target=pvc schedule={SCHEDULES}/matmul.mlir native=off}})"


@pytest.fixture
def fails(tmp_path: Path) -> Path:
    path = tmp_path / "fails.mlir"
    path.write_text(FAILS)
    return path


def left(path: Path) -> list[str]:
    """The operations of the function that a file has, by their names."""
    lines = [line.strip().partition(" = ")[2] for line in path.read_text().splitlines() if " = " in line]
    return [line.replace("(", " ").split()[0] for line in lines if not line.startswith("affine_map")]


def test_a_module_that_a_schedule_refuses_is_what_it_refuses(fails, tmp_path, capsys):
    assert main(["reduce", str(fails), "--schedule", "matmul", "-o", str(tmp_path / "small.mlir")]) == 0
    assert left(tmp_path / "small.mlir") == ["tensor.empty", "linalg.softmax"]
    said = capsys.readouterr().err
    assert "reducing while it fails with: an op is not part of a matmul's kernel" in said
    assert "are left of" in said


def test_the_error_may_be_another_than_the_first(fails, tmp_path):
    """A note beside it, by which the matmul may go and the softmax may not."""
    small = tmp_path / "small.mlir"
    assert (
        main(["reduce", str(fails), "--passes", PASSES, "--error", "linalg.softmax: reductions", "-o", str(small)]) == 0
    )
    assert left(small) == ["tensor.empty", "linalg.softmax"]


def test_a_reproducer_names_its_passes(tmp_path):
    path = tmp_path / "reproducer.mlir"
    pipeline = PASSES.replace('"', '\\"')
    path.write_text(f'{FAILS}\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n      pipeline: "{pipeline}",\n'
                    "      disable_threading: false,\n      verify_each: true\n    }\n  }\n#-}\n")  # fmt: skip
    assert main(["reduce", str(path), "-o", str(tmp_path / "small.mlir")]) == 0
    assert left(tmp_path / "small.mlir") == ["tensor.empty", "linalg.softmax"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--passes", "builtin.module(canonicalize)"], "expected a module that fails, and it does not"),
        (["--passes", PASSES, "--target", "pvc"], "expected no --schedule, --target, --set and --emit beside it"),
        (["--passes", PASSES, "--error", "no such words"], "expected it among the errors of"),
    ],
)
def test_refusals(fails, tmp_path, capsys, more, expected):
    assert main(["reduce", str(fails), *more, "-o", str(tmp_path / "small.mlir")]) == 1
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "small.mlir").exists()


@pytest.mark.parametrize(
    ("status", "said", "same"),
    [
        (1, "b.mlir:9:1: error: expected 16 rows of %7, got 3\n", True),
        (1, "b.mlir:9:1: error: expected 16 columns of %7, got 3\n", False),
        (0, "a.mlir:1:1: error: expected 8 rows of %x, got 5\n", False),
        (-11, "a.mlir:1:1: error: expected 8 rows of %x, got 5\n", False),
    ],
)
def test_places_names_and_numbers_do_not_make_another_error(status, said, same):
    assert same_failure(status, said, "expected # rows of %, got #", None) is same


def test_a_crash_is_the_same_if_its_signal_is():
    assert same_failure(-11, "Stack dump: 1", "signal SIGSEGV", None)
    assert same_failure(139, "", "signal SIGSEGV", None)
    assert not same_failure(-6, "Stack dump: 1", "signal SIGSEGV", None)
