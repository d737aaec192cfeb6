# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions for Hopper GPUs, where there is none: tiles, ways to compute, masks, and what the driver is asked for."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xetile
from attention_programs import Attention
from hopper_kernels import call, parse, ptx_of

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)

PAYLOAD = Path(xetile.__file__).parent / "schedules" / "payloads" / "attention_f16.mlir"


def tiles_of(kernel: xetile.Kernel) -> tuple[int, int]:
    """Workgroups along the queries, and threads of one."""
    kernels = re.findall(r"gpu.func .*known_grid_size = array<i32: 1, (\d+), .*threads = (\d+)", ring(kernel))
    assert len(kernels) == 1
    return int(kernels[0][0]), int(kernels[0][1])


def ring(kernel: xetile.Kernel) -> str:
    return str(kernel.stages["2-ring"])


@pytest.mark.parametrize("schedule", ["attention", "gpu_model"])
def test_attentions_have_tiles_for_warpgroups(schedule):
    """64 queries for each of three warpgroups, whose registers rows of 64 elements leave, and one that loads."""
    kernel = xetile.compile(PAYLOAD, schedule=schedule, target="sm_90a")
    assert tiles_of(kernel) == (6, 4 * 128)
    ptx = ptx_of(kernel)
    assert "m64n128k16.f32.f16.f16" in ptx and "m64n64k16.f32.f16.f16" in ptx


def test_what_is_given_of_an_attentions_tiles_stays():
    kernel = xetile.compile(PAYLOAD, schedule="attention", target="sm_90a", params={"keys": 64}, overlap=False)
    assert "m64n128k16" not in ptx_of(kernel)


def test_of_wider_rows_of_an_attention_there_are_two_warpgroups(tmp_path):
    wide = re.sub(r"x64x(f\d+)", r"x128x\1", PAYLOAD.read_text()).replace("x64x1024x", "x128x1024x")
    (tmp_path / "wide.mlir").write_text(wide)
    kernel = xetile.compile(tmp_path / "wide.mlir", schedule="attention", target="sm_90a")
    assert tiles_of(kernel) == (8, 3 * 128)


@pytest.mark.parametrize(
    ("option", "instruction"), [("lazy", "vote.sync.any"), ("counter", "atom."), ("overlap", "bar.arrive")]
)
def test_ways_of_an_attention_can_be_switched_off(option, instruction):
    on, off = (xetile.compile(PAYLOAD, schedule="attention", target="sm_90a", **{option: way}) for way in (True, False))
    assert instruction in ptx_of(on)
    assert instruction not in ptx_of(off)


CAUSAL = """
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi ule, %j, %i : index
    %low = arith.constant 0xFF800000 : f32
    %masked = arith.select %seen, %f, %low : f32
    linalg.yield %masked : f32"""


def test_a_causal_mask_compares_only_in_steps_across_the_diagonal(tmp_path):
    """One loop of steps that all queries see, one of the others; the first step is compared, too."""
    text = PAYLOAD.read_text().replace("linalg.yield %f : f32", CAUSAL.strip(), 1)
    (tmp_path / "causal.mlir").write_text(text)
    kernel = xetile.compile(tmp_path / "causal.mlir", schedule="attention", target="sm_90a")
    nvvm = str(kernel.stages["3-nvvm"])
    products = re.findall(r"m64n64k16.f32.f16.f16", nvvm)
    assert len(products) >= 3 * 8  # in either loop, and behind them
    assert nvvm.count("arith.cmpi sle") <= nvvm.count("llvm.nvvm.ex2.approx.ftz.f32")


def test_the_counter_of_tiles_is_made_once(driver, tmp_path):
    kernel = xetile.compile(PAYLOAD, schedule="attention", target="sm_90a")
    _, log = call(kernel, driver, tmp_path, [np.ones((16, 1024, 64), np.float16)] * 3)
    assert len([line for line in log if line.startswith("launch 4 x 1 x 1 of 512")]) == 2
    assert len([line for line in log if line.startswith("allocate 8,")]) == 1


FORMS = {
    "keys that are no whole step": Attention(keys=200),
    "fewer keys than a step": Attention(keys=8),
    "heads share keys": Attention(heads=8, key_heads=2, rows=128, keys=256),
    "a mask that is added": Attention(rows=200, keys=333, mask="added"),
    "a mask that selects": Attention(rows=100, keys=200, mask="selected"),
    "keys before the queries": Attention(rows=100, keys=333, mask="causal", offset=233),
    "a window": Attention(rows=500, keys=500, mask="window", first=-64),
    "heads of 40": Attention(inner=40, values=40, keys=256),
    "heads of 80": Attention(inner=80, values=80, keys=256),
    "heads of 256": Attention(inner=256, values=256, keys=256),
}


@pytest.mark.parametrize("schedule", ["attention", "gpu_model"])
@pytest.mark.parametrize("name", FORMS)
def test_forms_of_attentions_become_ptx(name, schedule):
    """As one kernel."""
    case = FORMS[name]
    kernel = xetile.compile(parse(case.text()), schedule=schedule, target="sm_90a")
    assert len(re.findall("gpu.func ", ring(kernel))) == 1
    columns = -(-case.values // 64) * 64
    assert f"m64n{columns}k16.f32.f16.f16" in ptx_of(kernel)


def test_keys_that_a_longer_step_masks_are_none(tmp_path, compile_kernel):
    """The numbers of such a loop, whose tiles are those of another target: 37 keys are two steps of 16 and one of 5."""
    text = (Path(xetile.__file__).parent / "schedules" / "attention.mlir").read_text()
    text = text.replace("lazy = %lazy target = %target", "lazy = %lazy target = %masks")
    first = "    // linalg.softmax has no loops"
    text = text.replace(first, f'    %masks = transform.param.constant "sm_90a" -> !transform.any_param\n{first}', 1)
    (tmp_path / "masked.mlir").write_text(text)
    small = Attention(heads=1, rows=20, keys=37, inner=32, values=32)
    for case in (small, replace(small, keys=7)):
        params = {"keys": 16, "subgroups_m": 2}
        kernel = compile_kernel(parse(case.text()), schedule=tmp_path / "masked.mlir", target="pvc", params=params)
        assert f"scf.for %{{}} = %c0 to %c{max(case.keys, 17)} step %c16" in re.sub(
            r"scf.for %\w+", "scf.for %{}", str(kernel.stages["1-xetile-workgroup"])
        )
        arrays = case.arrays()
        out = np.full((*arrays[0].shape[:-1], case.values), np.nan, np.float32)
        kernel(*arrays, out=out)
        np.testing.assert_allclose(out, case.reference(arrays), atol=2e-3)
