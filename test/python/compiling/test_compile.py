# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile.compile`: its arguments, and what it refuses."""

import os
import stat
import warnings
from pathlib import Path

import pytest
import xetile
from xetile import schedule
from xetile.compiling import compiler
from xetile.mlir import ir
from xetile.targets import XeTarget

T, C = "tensor<256x256xf16>", "tensor<256x256xf32>"
MATMUL = f"linalg.matmul ins(%A, %B : {T}, {T}) outs(%C : {C}) -> {C}"
HEAD = f"(%A: {T}, %B: {T}, %C: {C}) -> {C}"


def parse(text: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


def test_the_payload_stays_as_it_is(compile_kernel):
    payload = xetile.matmul(256, 256, 256)
    before = str(payload)
    kernel = compile_kernel(payload)
    assert str(payload) == before
    assert kernel.stages["0-linalg"].rstrip() == before.rstrip()


def test_a_path_and_a_module_give_the_same_kernel(compile_kernel, payloads):
    path = payloads / "matmul_f16.mlir"
    kernels = [compile_kernel(path), compile_kernel(str(path)), compile_kernel(compiler.read_payload(path))]
    assert len({kernel.spirv for kernel in kernels}) == 1


def test_schedules_are_named_or_given_or_files(compile_kernel, tmp_path):
    payload = xetile.matmul(256, 256, 64)
    made = schedule.matmul(workgroup_tile=(128, 256), subgroup_layout=(4, 4))
    path = tmp_path / "mine.mlir"
    path.write_text(str(made))
    kernels = [
        compile_kernel(payload, made),
        compile_kernel(payload, "matmul", params={"workgroup_m": 128, "subgroups_m": 4}),
        compile_kernel(payload, path),
    ]
    assert len({kernel.spirv for kernel in kernels}) == 1
    assert kernels[1].schedule.params["workgroup_m"].value == 128
    assert compile_kernel(payload).spirv != kernels[0].spirv


def test_the_target_is_the_schedules_own_unless_given(compile_kernel):
    payload = xetile.matmul(256, 256, 64)
    assert compile_kernel(payload).target == xetile.Target("pvc")
    assert compile_kernel(payload, schedule.matmul(target="bmg")).target.chip == "bmg"
    assert compile_kernel(payload, schedule.matmul(target="bmg"), "lnl").target.chip == "lnl"
    kernel = compile_kernel(payload, target=xetile.Target("lnl"))
    assert 'xetile.chip = "lnl"' in kernel.stages["4-xegpu"]


def test_native_binaries_are_made_for_the_chips_that_are_asked_for(compile_kernel):
    payload = xetile.matmul(1024, 1024, 1024)
    kernel = compile_kernel(payload, native="require", native_chips=["pvc", "bmg"])
    assert list(kernel.native) == ["pvc", "bmg"]
    for code in kernel.native.values():
        assert code.data.startswith(b"\x7fELF")
        # The default tiling fills the registers of large-register mode, which is chosen because it does not spill.
        assert (code.spill_bytes, code.registers) == (0, 256)
    small = compile_kernel(payload, native="require", large_registers=False)
    assert small.native["pvc"].registers == 128
    assert small.native["pvc"].spill_bytes > 0
    assert compile_kernel(payload, native="off").native == {}


def test_a_tiling_that_fits_keeps_the_small_registers(compile_kernel):
    params = {"workgroup_m": 64, "workgroup_n": 64, "subgroups_m": 4, "subgroups_n": 4}
    kernel = compile_kernel(xetile.matmul(256, 256, 256), params=params, native="require")
    assert (kernel.native["pvc"].spill_bytes, kernel.native["pvc"].registers) == (0, 128)


def test_lower_makes_levels_when_they_are_asked_for():
    levels = compiler.lower(xetile.matmul(256, 256, 256), native="off")
    assert [next(levels).name for _ in range(3)] == list(XeTarget("pvc").levels[:3])
    bad = compiler.lower(xetile.matmul(256, 256, 256), params={"workgroup_m": 96, "subgroups_m": 5})
    assert next(bad).name == "0-linalg"
    with pytest.raises(xetile.XeTileError, match="does not divide"):
        next(bad)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"params": {"workgroup_m": 100}}, "workgroup_m = 100 over subgroups_m = 1 gives each subgroup 100 of m"),
        ({"params": {"k_step": 24}}, "k_step = 24 gives each subgroup 24 of k; expected a multiple of 16"),
        ({"params": {"workgroup_m": 256, "subgroups_m": 1}}, "expected at most .* on pvc"),
        ({"params": {"subgroups_m": 32, "subgroups_n": 16}}, "expected at most .* subgroups in a workgroup on pvc"),
        ({"params": {"workgroup_m": 256, "subgroups_m": 64}}, "expected a multiple of 8, the m of DPAS"),
        ({"params": {"k_step": -1}}, "k_step: expected 0 or more, got -1"),
        ({"params": {"k_step": "32"}}, "k_step: expected an integer, got '32'"),
        ({"params": {"tile": 1}}, "has no parameter 'tile'; its parameters: workgroup_m, "),
        ({"params": {"target": "bmg"}}, r"expected compile\(..., target=...\)"),
        ({"target": "tpu"}, "target: unknown chip 'tpu'; known: bmg, cpu, lnl, pvc"),
        ({"target": "dg2"}, "target: chip 'dg2' .* has no 2D block messages"),
        ({"target": 3}, "target: expected the name of a chip, or cpu; got 3"),
        (
            {"schedule": "nosuch"},
            f"expected a file or one of {', '.join(xetile.schedule.available())}",
        ),
        ({"native": "yes"}, "native: expected 'auto', 'require' or 'off', got 'yes'"),
        ({"native_chips": "pvc"}, r"native_chips: expected a list of chips, got 'pvc'"),
        ({"native_chips": ["xyz"]}, "unknown chip 'xyz'"),
    ],
)
def test_arguments_that_do_not_suit_are_refused(arguments, message):
    with pytest.raises(xetile.XeTileError, match=message):
        xetile.compile(xetile.matmul(256, 256, 256), **arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"func.func @f{HEAD} {{ return %C : {C} }}", "expected exactly one linalg.matmul, found 0"),
        (
            f"func.func @f{HEAD} {{ %0 = {MATMUL}\n %1 = {MATMUL.replace('%C', '%0')}\n return %1 : {C} }}",
            "expected exactly one linalg.matmul, found 2",
        ),
        ("", "expected a module with one public function, got none"),
        (
            f"func.func @f{HEAD} {{ %0 = {MATMUL}\n return %0 : {C} }}\n func.func @g() {{ return }}",
            "expected a module with one public function, got @f, @g; make helpers `private`",
        ),
        (f"func.func @f{HEAD} {{ %0 = {MATMUL}\n return %0 : {C} }}".replace("f16", "f32"), "precision=tf32"),
    ],
    ids=["no matmul", "two matmuls", "empty", "two functions", "f32 inputs"],
)
def test_payloads_that_do_not_suit_are_refused(text, message):
    with pytest.raises(xetile.XeTileError, match=message):
        xetile.compile(parse(text), schedule="matmul", native="off")


def test_types_without_a_matrix_unit_are_refused():
    with pytest.raises(xetile.XeTileError, match="expected element types .*, got i32 x i32 -> i32"):
        xetile.compile(xetile.matmul(256, 256, 256, "i32", "i32"), schedule="matmul", native="off")


def test_errors_are_about_the_users_own_lines(tmp_path):
    path = tmp_path / "two.mlir"
    lines = [f"func.func @f{HEAD} {{", f"%0 = {MATMUL}", f"%1 = {MATMUL.replace('%C', '%0')}", f"return %1 : {C}", "}"]
    path.write_text("\n".join(lines))
    with pytest.raises(xetile.XeTileError) as caught:
        xetile.compile(path, schedule="matmul")
    assert f"{path}:3:" in str(caught.value)


def test_files_that_are_no_modules_are_refused(tmp_path):
    with pytest.raises(xetile.XeTileError, match="cannot read .*gone.mlir: there is no such file"):
        xetile.compile(tmp_path / "gone.mlir")
    bad = tmp_path / "bad.mlir"
    bad.write_text("func.func @f() { return 1 }")
    with pytest.raises(xetile.XeTileError, match=r"cannot read .*bad.mlir:\n .*bad.mlir:1:"):
        xetile.compile(bad)
    with pytest.raises(xetile.XeTileError, match="expected a module or the path of a file with one, got 3"):
        xetile.compile(3)


def test_missing_ocloc_is_an_error_only_where_it_is_required(monkeypatch, compile_kernel):
    monkeypatch.setenv("XETILE_OCLOC", "/nowhere/ocloc")
    payload = xetile.matmul(256, 256, 256)
    with pytest.raises(xetile.XeTileError, match="ocloc was not found.*run scripts/install-ocloc"):
        xetile.compile(payload, native="require")
    assert compile_kernel(payload, native="auto").native == {}


def test_an_ocloc_that_fails_is_an_error_with_its_log(monkeypatch, tmp_path):
    broken = tmp_path / "ocloc"
    broken.write_text("#!/bin/sh\necho out of cheese >&2\nexit 3\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("XETILE_OCLOC", str(broken))
    with pytest.raises(xetile.XeTileError, match="out of cheese"):
        xetile.compile(xetile.matmul(256, 256, 256), native="auto")


def test_compiling_says_nothing(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = xetile.compile(xetile.matmul(256, 256, 256), native="auto")
    assert kernel.warnings == ()
    assert capfd.readouterr() == ("", "")


def test_the_compiler_leaves_no_files_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    xetile.compile(xetile.matmul(256, 256, 256), native="require")
    assert os.listdir(tmp_path) == []
    assert Path.cwd() == tmp_path


NAMED_MATMUL = """
func.func @"{name}"(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {{
  %d = linalg.matmul ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}}"""


@pytest.mark.parametrize("target", ["pvc", "cpu"])
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("x\\FFy", r"'x\xffy'"),
        ("a$(b)", "'a$(b)'"),
        ("../../escape", "'../../escape'"),
        ("a\\00b", r"'a\x00b'"),
        ("n" * 1001, f"'{'n' * 64}...'"),
    ],
)
def test_names_that_no_driver_takes(name, shown, target):
    with ir.Context():
        module = ir.Module.parse(NAMED_MATMUL.format(name=name))
    with pytest.raises(xetile.XeTileError) as error:
        xetile.compile(module, target=target)
    expected = f"-:2:1: a function cannot have the name {shown}: expected a letter or '_', then letters, digits"
    assert str(error.value).startswith(expected)
