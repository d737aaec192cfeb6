# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile compile --from LEVEL`: edits that compute the same, those that do not, and where they do not."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import xetile
from xetile import XeTileError
from xetile.cli import main
from xetile.compiling.edits import deviation

MATMUL = """
func.func @matmul(%a: tensor<64x48xf16>, %b: tensor<48x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x48xf16>, tensor<48x64xf16>)
      outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
"""
SHIFT = """
func.func @shift(%x: tensor<64xf32>) -> tensor<64xf32> {
  %three = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %three : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}
"""
LEVELS = ["1-xetile-workgroup", "2-xetile-subgroup", "3-xetile-blocked", "4-xegpu"]


@pytest.fixture(scope="module")
def dumped(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("levels")
    source = folder / "matmul.mlir"
    source.write_text(MATMUL)
    command = ["compile", str(source), "--target", "pvc", "-o", str(folder / "k.spv"), "--dump-stages", str(folder)]
    tiling = ("workgroup_m=64", "workgroup_n=64", "subgroups_m=2", "subgroups_n=1", "prefetch=2", "k_step=16")
    assert main([*command, *(word for setting in tiling for word in ("--set", setting))]) == 0
    return folder


def edited(folder: Path, level: str, old: str, new: str, name: str = "edited.mlir") -> Path:
    text = (folder / f"{level}.mlir").read_text()
    assert old in text
    path = folder / name
    path.write_text(text.replace(old, new, 1))
    return path


def run(path: Path, level: str, *more: str) -> int:
    return main(["compile", str(path), "--from", level, "-o", str(path.with_suffix(".spv")), *more])


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_goes_on_unedited(dumped, level, capsys):
    path = edited(dumped, level, "module", "module", f"same-{level}.mlir")
    assert run(path, level) == 0
    told = capsys.readouterr().err
    assert "computes what" in told and "on random arrays of seed" in told
    assert path.with_suffix(".spv").read_bytes()[:4] == b"\x03\x02\x23\x07"


def test_an_edit_that_only_prefetches_otherwise_is_the_same(dumped, capsys):
    text = (dumped / "3-xetile-blocked.mlir").read_text()
    path = dumped / "no-prefetch.mlir"
    path.write_text("\n".join(line for line in text.splitlines() if "xetile.prefetch_tile" not in line))
    assert path.read_text() != text
    assert run(path, "3-xetile-blocked", "--against", str(dumped / "3-xetile-blocked.mlir")) == 0
    assert "no-prefetch.mlir computes what" in capsys.readouterr().err


def test_an_edit_that_computes_something_else_is_told_with_the_place(dumped, capsys, seed):
    # The second subgroup stores where the first one does: rows 32 to 63 are never written.
    text = (dumped / "2-xetile-subgroup.mlir").read_text()
    store = next(line for line in text.splitlines() if "xetile.store_tile" in line)
    tile = store.split("%")[2].split()[0]
    init = next(line for line in text.splitlines() if f"%{tile} = xetile.init_tile" in line)
    offsets = init[init.index("[") : init.index("]") + 1]
    zero = offsets.replace(offsets[1:-1].split(",")[0], "0")
    path = dumped / "wrong.mlir"
    path.write_text(text.replace(init, init.replace(offsets, zero)))
    before = str(dumped / "1-xetile-workgroup.mlir")
    assert run(path, "2-xetile-subgroup", "--seed", str(seed), "--against", before) == 1, seed
    told = capsys.readouterr().err
    assert f"the edit of 2-xetile-subgroup changes what is computed, on random arrays of seed {seed}:" in told
    assert "result 0: " in told and "of 4096 elements differ, all of them in [0:64, 0:64]; most at [" in told
    assert not path.with_suffix(".spv").exists()


def test_the_payload_before_it_is_numpys(dumped, capsys):
    path = edited(dumped, "1-xetile-workgroup", "module", "module", "workgroup.mlir")
    assert run(path, "1-xetile-workgroup", "--against", str(dumped / "0-linalg.mlir")) == 0
    text = MATMUL.replace("%d =", "%t = arith.addf %c, %c : tensor<64x64xf32>\n  %d =").replace("outs(%c", "outs(%t")
    other = dumped / "other.mlir"
    other.write_text(text)
    assert run(path, "1-xetile-workgroup", "--against", str(other)) == 1
    assert "changes what is computed" in capsys.readouterr().err


def test_an_edit_may_not_have_another_interface(dumped, capsys):
    other = dumped / "larger.mlir"
    other.write_text(MATMUL.replace("48", "80"))
    path = edited(dumped, "4-xegpu", "module", "module", "interface.mlir")
    assert run(path, "4-xegpu", "--against", str(other)) == 1
    assert "the edit has another interface: before it matmul(64x80xf16" in capsys.readouterr().err


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cpu-levels")
    source = folder / "shift.mlir"
    source.write_text(SHIFT)
    command = ["compile", str(source), "--target", "cpu", "-o", str(folder / "k.so"), "--dump-stages", str(folder)]
    assert main(command) == 0
    return folder


@pytest.mark.parametrize("level", ["1-tiled", "2-memory", "3-llvm"])
def test_levels_of_code_for_cpus_go_on(on_cpu, level, capsys):
    """A little more is added than before, which counts as the same: the kernel that is written has the edit."""
    text = (on_cpu / f"{level}.mlir").read_text()
    assert "3.000000e+00" in text
    path = on_cpu / f"edited-{level}.mlir"
    path.write_text(text.replace("3.000000e+00", "3.000001e+00"))
    assert run(path, level, "--target", "cpu", "--emit", "so") == 0
    assert f"{path} computes what {on_cpu}/0-linalg.mlir does" in capsys.readouterr().err
    x = np.zeros(64, np.float32)
    assert (xetile.load(path.with_suffix(".spv"))(x) == np.float32(3.000001)).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3.000000e+00", "4.000000e+00", "result 0: 64 of 64 elements differ, all of them in [0:64]"),
        ("memref<64xf32>", "memref<64xf64>", "the edit has another interface: before it (memref<64xf32>"),
        ("@shift", "@moved", "the edit has no function @shift"),
    ],
)
def test_edits_of_code_for_cpus_that_do_not_fit_are_told(on_cpu, old, new, message, capsys):
    path = on_cpu / "wrong.mlir"
    text = (on_cpu / "2-memory.mlir").read_text().replace(old, new)
    path.write_text(
        text.replace("vector<16xf32>", "vector<16xf64>").replace(": f32", ": f64") if "f64" in new else text
    )
    assert run(path, "2-memory", "--target", "cpu") == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("level", "more", "message"),
    [
        ("2-xetile-subgroup", (), "--from 2-xetile-subgroup: the module is at the level 3-xetile-blocked"),
        ("3-blocked", (), "--from 3-blocked: expected one of the levels of pvc: 0-linalg, 1-xetile-workgroup"),
        ("3-xetile-blocked", ("--schedule", "matmul"), "expected no --schedule and no --set beside it"),
    ],
)
def test_what_does_not_fit_is_one_message(dumped, capsys, level, more, message):
    path = edited(dumped, "3-xetile-blocked", "module", "module", "refused.mlir")
    assert run(path, level, *more) == 1
    assert message in capsys.readouterr().err


def test_there_has_to_be_something_before(dumped, tmp_path, capsys):
    path = tmp_path / "alone.mlir"
    path.write_text((dumped / "3-xetile-blocked.mlir").read_text())
    assert run(path, "3-xetile-blocked") == 1
    assert "nothing to compare the edit with: expected one of 0-linalg" in capsys.readouterr().err
    assert main(["compile", str(path), "--against", str(path), "-o", str(tmp_path / "k.spv")]) == 1
    assert "--against, --seed: expected --from LEVEL beside them" in capsys.readouterr().err


def test_deviations_are_the_elements_beyond_the_limit():
    old = np.ones((4, 6), np.float32)
    new = old.copy()
    assert deviation(old, new + 5e-4) is None
    assert deviation(old, new + 2e-3).count == 24
    new[1, 2], new[3, 4] = 1.5, 0.9
    found = deviation(old, new)
    assert (found.count, found.size, found.box, found.worst) == (2, 24, ((1, 3), (2, 4)), (1, 2))
    assert str(found) == (
        "2 of 24 elements differ, all of them in [1:4, 2:5]; most at [1, 2]: 1.0 before the edit, 1.5 after it"
    )


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_values_that_are_no_numbers_are_equal_to_themselves_only(dtype):
    old = np.array([1, np.nan, np.inf, -np.inf], dtype)
    assert deviation(old, old.copy()) is None
    for index, value in ((0, np.nan), (1, 1), (2, -np.inf), (3, 1e3), (2, np.nan)):
        new = old.copy()
        new[index] = value
        found = deviation(old, new)
        assert (found.count, found.box) == (1, ((index, index),)), (index, value)


def test_integers_are_equal_or_not():
    old = np.array([2**60, -3], np.int64)
    assert deviation(old, old + np.array([1, 0])).worst == (0,)
    assert deviation(old, old.copy()) is None
    assert deviation(np.array([True]), np.array([False])).count == 1


def test_shapes_must_be_equal():
    with pytest.raises(XeTileError, match="expected results of equal shapes"):
        deviation(np.zeros(3), np.zeros(4))
