# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/new-pass and scripts/new-schedule: files named as CONTRIBUTING.md asks, nothing overwritten."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xetile

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("new_script", ROOT / "scripts" / "new.py")
new = importlib.util.module_from_spec(spec)
spec.loader.exec_module(new)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the scripts read of a checkout."""
    for name in (
        "cpp/xetile/Transforms/Passes.td",
        "cpp/xetile/Transforms/CMakeLists.txt",
        "examples/unrolled_matmul.mlir",
        "schedules/rows.mlir",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_a_pass_has_one_name_in_all_its_files(checkout):
    assert new.main(["pass", "RotateLoops", "--root", str(checkout)]) == 0
    room = checkout / "cpp" / "xetile" / "Transforms"
    assert 'def RotateLoops : Pass<"xetile-rotate-loops"' in (room / "Passes.td").read_text()
    assert "#define GEN_PASS_DEF_ROTATELOOPS" in (room / "RotateLoops.cpp").read_text()
    sources = [line for line in (room / "CMakeLists.txt").read_text().splitlines() if line.endswith(".cpp")]
    assert "  RotateLoops.cpp" in sources and sources == sorted(sources)
    for name in ("rotate-loops.mlir", "rotate-loops-invalid.mlir"):
        assert "xetile-rotate-loops" in (checkout / "test" / "Transforms" / name).read_text()


def test_a_schedule_compiles_as_it_is(checkout):
    assert new.main(["schedule", "rotated_matmul", "--root", str(checkout)]) == 0
    path = checkout / "schedules" / "rotated_matmul.mlir"
    kernel = xetile.compile(xetile.matmul(256, 256, 128), path, target="pvc", native="off")
    assert "xetile.tile_mma" in kernel.stages["1-xetile-workgroup"]
    assert path.read_text().splitlines()[1].startswith("// TODO") and "CHECK" not in path.read_text()
    made = {str(path.relative_to(checkout / "test")) for path in (checkout / "test").rglob("*.*")}
    assert made == {
        "schedules/rotated_matmul.mlir",
        "schedules/rotated_matmul-invalid-size.mlir",
        "python/targets/xe/test_rotated_matmul_schedule.py",
    }


def test_a_schedule_of_rows_compiles_as_it_is_and_gives_what_its_test_expects(checkout):
    assert new.main(["schedule", "cosine", "rows", "--root", str(checkout)]) == 0
    made = checkout / "test" / "python" / "targets" / "xe" / "test_cosine_schedule.py"
    test: dict[str, Any] = {}
    text = made.read_text().replace('"cosine"', repr(str(checkout / "schedules" / "cosine.mlir")))
    exec(compile(text, str(made), "exec"), test)
    test["test_numbers"](7, 33, "bmg", np.random.default_rng(0))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["pass", "rotate_loops"], "expected a name as RotateLoops, got rotate_loops"),
        (["pass", "RotateLoops", "Nowhere"], "expected a room with passes: Transforms; got Nowhere"),
        (["pass", "WgToSg"], "has a pass WgToSg already"),
        (["schedule", "RotatedMatmul"], "expected a name as rotated_matmul, got RotatedMatmul"),
        (["schedule", "cosine", "columns"], "expected matmul or rows, what it begins as, got columns"),
    ],
)
def test_refusals(checkout, arguments, expected):
    with pytest.raises(SystemExit, match=expected):
        new.main([*arguments, "--root", str(checkout)])
    assert not (checkout / "test").exists()


def test_nothing_is_overwritten(checkout):
    new.main(["schedule", "rotated_matmul", "--root", str(checkout)])
    with pytest.raises(SystemExit, match="is there already"):
        new.main(["schedule", "rotated_matmul", "--root", str(checkout)])
