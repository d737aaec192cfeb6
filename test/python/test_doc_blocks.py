# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Commands of pages that no other test types: each block runs in a folder that has what it names."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import xetile
from xetile.cli import main
from xetile.mlir import ir
from xetile.mlir.dialects import transform
from xetile.system import tools

ROOT = Path(__file__).resolve().parents[2]


def commands(page: str) -> list[str]:
    """The blocks that a shell runs."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    blocks = [text for language, text in fenced if not language]
    assert blocks
    return blocks


def type_block(text: str, folder: Path) -> str:
    """What it prints, with the commands of the tree."""
    names = folder / "commands"
    names.mkdir(exist_ok=True)
    (names / "xetile").write_text(f'#!/bin/sh\nexec {sys.executable} -m xetile.cli "$@"\n')
    (names / "xetile").chmod(0o755)
    path = os.pathsep.join([str(names), str(ROOT / "build" / "bin"), os.environ["PATH"]])
    ocloc = {"XETILE_OCLOC": str(tools.find_ocloc())} if tools.find_ocloc() else {}
    run = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", text.replace(".venv/bin/xetile", "xetile")],
        cwd=folder,
        # What is measured stays here.
        env={**os.environ, "PATH": path, "XETILE_CACHE": str(folder / "cache"), **ocloc},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, f"{text}\n{run.stdout}{run.stderr}"
    return run.stdout + run.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "schedules" / "payloads" / "matmul_f16.mlir", tmp_path / "matmul.mlir")
    return tmp_path


def test_the_path_of_a_matmul(folder):
    block = commands("docs/path.md")[0]
    assert "xetile.tile_mma" in type_block(block, folder)
    assert (folder / "k.so").is_file() and len(list((folder / "stages").iterdir())) > 3


def test_the_path_of_a_program(folder):
    (folder / "schedules").symlink_to(ROOT / "schedules")
    _, block = commands("docs/path.md")
    told = type_block(block, folder)
    kernels = ["program_0_gather_kernel", "program_1_matmul_kernel", "program_2_rows_kernel"]
    assert all(name in told for name in kernels)
    assert (folder / "program.so").is_file()


@pytest.mark.skipif(tools.find_ocloc() is None, reason="no ocloc: scripts/install-ocloc")
def test_how_to_look_at_machine_code(folder):
    compiled = ["compile", str(folder / "matmul.mlir"), "--target", "pvc"]
    for name, steps in (("matmul", ()), ("old", ()), ("new", ("--set", "k_step=16"))):
        assert main([*compiled, *steps, "-o", str(folder / f"{name}.spv")]) == 0
    (block,) = commands("docs/machine-code.md")
    told = type_block(block, folder)
    assert "per dpas" in told and "roofline" in told


def test_the_two_steps_from_a_subgroups_vectors_to_lanes(folder):
    compiled = ["compile", str(folder / "matmul.mlir"), "--target", "pvc"]
    assert main([*compiled, "--emit", "xegpu", "-o", str(folder / "kernel.mlir")]) == 0
    told = type_block(commands("docs/xegpu.md")[0], folder)
    assert "xevm.mma" in told and "remark" in told


def test_a_workgroups_tiles_become_those_of_subgroups(folder):
    text = (ROOT / "test" / "Target" / "Xe" / "Workgroup" / "xegpu-wg-to-sg.mlir").read_text()
    (folder / "kernel.mlir").write_text(text.split("// -----")[0])
    told = type_block(commands("docs/xegpu.md")[1], folder)
    assert "xegpu.load_nd" in told and "sg_layout" not in told


@pytest.mark.skipif(not shutil.which("mlir-opt-22"), reason="no mlir-opt-22 here: scripts/bootstrap installs it")
def test_schedules_are_files_that_a_stock_mlir_opt_runs(folder):
    for name in ("build", "schedules"):
        (folder / name).symlink_to(ROOT / name)
    assert "xetile.tile_mma" in type_block(commands("schedules/README.md")[0], folder)


def test_an_edited_copy_of_the_cpus_schedule(folder):
    (folder / "mine").mkdir()
    shutil.copy(ROOT / "schedules" / "cpu_model.mlir", folder / "mine")
    shutil.copy(ROOT / "examples" / "tutorial" / "5_epilogue" / "layer.mlir", folder / "model.mlir")
    assert "cpu_matmul" in type_block(commands("schedules/README.md")[1], folder)
    assert (folder / "model.so").is_file()


def test_lines_of_schedules_in_python_and_as_text():
    text = (ROOT / "schedules" / "README.md").read_text()
    lines = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)[0]
    names: dict[str, Any] = {"xetile": xetile, "transform": transform}
    exec(compile(lines, "README.md", "exec"), names)
    assert "k_step = 16" in names["schedule"].explain() and "transform.print" in str(names["schedule"])
    (knob,) = re.findall(r"^```mlir\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    with ir.Context():
        ir.Module.parse(
            f"module {{ transform.sequence failures(propagate) {{ ^bb0(%m: !transform.any_op): {knob} }} }}"
        )


# Page of the site -> the test that types its boxes. Commands of test/device are for machines with a GPU.
TYPED = {
    "README.md": "test/readme_blocks.py",
    "docs/dialects/xetile.md": "test/python/test_reference_blocks.py",
    "docs/from-source.md": "test/readme_blocks.py",
    "docs/kernels.md": "test/python/test_kernels_page.py",
    "docs/machine-code.md": "test/python/test_doc_blocks.py",
    "docs/passes.md": "test/python/test_reference_blocks.py",
    "docs/path.md": "test/python/test_doc_blocks.py",
    "docs/tiles.md": "test/python/tiles/test_tiles_build.py",
    "docs/torch.md": "test/torch/test_readme_torch.py",
    "docs/transform-ops.md": "test/python/test_reference_blocks.py",
    "docs/using.md": "test/readme_blocks.py",
    "docs/xegpu.md": "test/python/test_doc_blocks.py",
    "schedules/README.md": "test/python/test_doc_blocks.py",
}


def test_every_page_with_code_is_typed_by_a_test():
    """A new page with a box needs one; those of the tutorial are found by tutorial_boxes.py."""
    pages = [path for folder in ("docs", "examples", "schedules") for path in (ROOT / folder).rglob("*.md")]
    pages += [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    apart = (ROOT / "docs" / "site", ROOT / "examples" / "tutorial")
    coded = {
        str(path.relative_to(ROOT))
        for path in pages
        if not any(path.is_relative_to(folder) for folder in apart)
        and re.search(r"^```", path.read_text(), re.MULTILINE)
    }
    assert coded == set(TYPED)
    for page, test in TYPED.items():
        assert Path(page).name in (ROOT / test).read_text(), f"{test} does not name {page}"
