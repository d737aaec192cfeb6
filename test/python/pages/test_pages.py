# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages of levels: what their data says, that they are self-contained, and that they are there after a failure."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xetile
from page_programs import ATTENTION, LOOP, MATMUL, MODEL, data_of, ops_named
from xetile import Diagnostic, XeTileError, passes
from xetile.cli import main
from xetile.compiling import compiler
from xetile.kernels.kernel import Stages
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.pages.program import Kernel, Program
from xetile.system import tools

SHIFT = """
func.func @shift(%x: tensor<64xf32>) -> tensor<64xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %one : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def parsed(text: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def kernel(folder):
    source = written(folder, "matmul.mlir", MATMUL)
    return compiler.show(source, target="pvc", native="off", path=folder / "matmul.html", printed_to=folder / "passes")


@pytest.fixture(scope="module")
def page(folder, kernel):
    return data_of(folder / "matmul.html")


@pytest.fixture(scope="module")
def model(folder):
    source = written(folder, "model.mlir", MODEL)
    compiler.show(source, target="pvc", native="off", path=folder / "model.html")
    return data_of(folder / "model.html")


def test_every_level_is_there_with_the_text_that_a_kernel_has(page, kernel):
    assert [level["name"] for level in page["levels"]] == list(kernel.stages)
    for level in page["levels"][:-1]:
        assert level["lines"] == kernel.stages[level["name"]].rstrip("\n").split("\n")
    assert (page["state"], page["error"]) == ("", "")


def test_an_operation_stands_at_its_line(page):
    for level in page["levels"]:
        for line, name, *_ in level["ops"]:
            text = level["lines"][line - 1]
            assert name in text or name.partition(".")[2] in text, (level["name"], line)


def test_a_matmul_is_followed_to_its_instructions_and_back(page):
    names = {1: "xetile.tile_mma", 2: "xetile.tile_mma", 3: "xetile.tile_mma", 4: "xegpu.dpas", 5: "xevm.mma"}
    (payload,) = ops_named(page["levels"][0], "linalg.matmul")
    before = [payload[0]]
    for number, name in names.items():
        ops = ops_named(page["levels"][number], name)
        assert ops
        for op in ops:
            assert op[2]["0"] == [payload[0]]
            assert set(op[2][str(number - 1)]) <= set(before), (number, op)
            assert re.fullmatch(r".*matmul\.mlir:3:8", op[3])
        before = [op[0] for op in ops]


def test_no_operation_comes_from_its_own_level_or_a_later_one(page):
    for number, level in enumerate(page["levels"]):
        assert all(int(origin) < number for op in level["ops"] for origin in op[2])


def test_lines_that_are_new_are_not_in_the_level_before(page):
    blocked = page["levels"][3]
    fresh = [blocked["lines"][line - 1] for line in blocked["new"]]
    assert any("tile_pack" in line for line in fresh)
    assert not any("gpu.return" in line for line in fresh)
    gone = [page["levels"][2]["lines"][line - 1] for line in page["levels"][2]["gone"]]
    assert any("tile_mma" in line for line in gone)


def test_marks_change_nothing_of_the_binary(kernel):
    plain = xetile.compile(parsed(MATMUL), target="pvc", native="off")
    assert plain.spirv == kernel.spirv


@pytest.mark.parametrize("target", ["pvc", "cpu"])
def test_a_kernel_that_was_followed_knows_of_no_mark(folder, target):
    source = written(folder, "followed.mlir", MATMUL)
    options = {"native": "off"} if target == "pvc" else {}
    followed = compiler.show(source, target=target, path=folder / f"followed-{target}.html", **options)
    plain = xetile.compile(source, target=target, **options)
    assert followed.explain() == plain.explain() == data_of(folder / f"followed-{target}.html")["explained"]
    for name in plain.stages:
        assert "xetile.level" not in followed.stages.stage(name).module.get_asm(enable_debug_info=True), name


def test_passes_are_listed_with_what_they_changed(page):
    runs = page["passes"]["3-xetile-blocked"]
    (blocking,) = [run for run in runs if run["flag"].startswith("xetile-blocking")]
    assert any(line.startswith("+") and "tile_pack" in line for line in blocking["diff"])
    assert any(not run["diff"] for runs in page["passes"].values() for run in runs)
    assert "xetile-blocking" in page["levels"][3]["passes"]


def test_a_page_has_what_there_is_to_read_of_its_passes(page):
    summary, text = page["documents"]["xetile-blocking"]
    written = (Path(__file__).resolve().parents[3] / "docs" / "passes.md").read_text()
    assert f"### `-xetile-blocking`\n\n_{summary}_\n\n{text}\n" in written
    assert "```mlir" in text and "\n## " not in text
    assert set(page["documents"]) < {name for level in page["levels"] for name in level["passes"]}
    assert page["docs"] == ""


def test_the_folder_of_passes_must_be_new(folder, kernel):
    with pytest.raises(XeTileError, match="cannot print passes to .*: it is there already; remove it, or name another"):
        kernel.page(folder / "again.html", printed_to=folder / "passes")


def test_pictures_tell_who_holds_what(page):
    kinds = {picture["kind"] for picture in page["pictures"]}
    assert kinds == {"map", "lanes"}
    for picture in page["pictures"]:
        rows, columns = picture["size"]
        if picture["kind"] == "map":
            area = picture["piece"][0] * picture["piece"][1] * len(picture["pieces"])
            assert area == rows * columns
        else:
            places = {tuple(cell) for row in picture["cells"] for cell in row}
            assert len(places) == rows * columns and (-1, -1) not in places
    (mma, *_) = ops_named(page["levels"][4], "xegpu.dpas")
    assert len(page["levels"][4]["pictures"][str(mma[0])]) == 3


def test_a_page_needs_no_network(folder, kernel):
    text = (folder / "matmul.html").read_text()
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//|@import|url\(["']?http""", text)
    assert text.count("<script") == 2


def test_a_text_cannot_end_the_script(folder):
    source = written(folder, "note.mlir", 'module attributes {x.note = "</script><b>"} {' + MATMUL + "}")
    compiler.show(source, target="cpu", path=folder / "note.html")
    assert "</script><b>" not in (folder / "note.html").read_text()
    assert any("</script><b>" in line for line in data_of(folder / "note.html")["levels"][0]["lines"])


def test_a_programs_kernels_have_their_schedule_and_bytes(model):
    kernels = model["program"]["kernels"]
    assert [kernel["schedule"] for kernel in kernels] == ["matmul", "matmul_rows"]
    assert [kernel["sources"] for kernel in kernels] == [[-1], [-1, 0]]
    assert [kernel["returned"] for kernel in kernels] == [False, True]
    assert kernels[0]["writes"] == 33 * 64 * 2
    assert model["program"]["moved"] == sum(kernel["reads"] + kernel["writes"] for kernel in kernels)
    lines = model["levels"][0]["lines"]
    assert "linalg.matmul" in lines[kernels[0]["ops"][0]["lines"][0] - 1]
    svg = model["program"]["svg"]
    # The second kernel reads an argument, too: a short edge of its own tells so.
    assert svg.count('class="kernel"') == 2 and svg.count(">arguments</text>") == 2 and svg.count('class="edge"') == 4


def test_shares_are_of_the_least_time_where_the_chips_rates_are_known(model):
    """Of each kernel what takes longer: its bytes from memory, or its products on the matrix units."""
    (rates,) = [entry for entry in _xetile.rates() if entry["chip"] == "pvc"]
    kernels = model["program"]["kernels"]
    for kernel, products in zip(kernels, (33 * 64 * 48, 33 * 32 * 64), strict=True):
        peak = rates["cores"] * rates["operations_cycle"] * rates["megahertz"] * 1e6
        assert kernel["work"] == pytest.approx(2 * products / peak)
        memory = (kernel["reads"] + kernel["writes"]) / (rates["memory_gbs"] * 1e9)
        assert kernel["seconds"] == pytest.approx(max(memory, kernel["work"]))
    assert model["program"]["seconds"] == pytest.approx(sum(kernel["seconds"] for kernel in kernels))
    assert model["program"]["product"] == rates["product"]


def test_shares_are_of_bytes_where_no_rates_are_known():
    big, small = Kernel(0, "matmul", 300, 0, seconds=4e-6), Kernel(1, "rows", 60, 40, seconds=1e-6)
    assert Program("f", [big, small]).share(big) == 0.8
    big.seconds = None
    assert Program("f", [big, small]).share(big) == 0.75
    small.writes = None
    assert Program("f", [big, small]).share(big) is None


def test_kernels_in_loops_of_the_host_read_from_arguments_and_are_returned(folder):
    source = written(folder, "chain.mlir", LOOP)
    compiler.show(source, target="pvc", native="off", path=folder / "chain.html")
    (kernel,) = data_of(folder / "chain.html")["program"]["kernels"]
    assert (kernel["schedule"], kernel["sources"], kernel["returned"]) == ("matmul", [-1], True)


def test_kernels_in_loops_of_the_host_read_what_the_step_before_made(folder):
    product = LOOP[LOOP.index("    %n =") : LOOP.index("    scf.yield")]
    both = product.replace("%n =", "%m =") + product.replace("ins(%v,", "ins(%m,")
    source = written(folder, "pair.mlir", LOOP.replace(product, both))
    compiler.show(source, target="pvc", native="off", path=folder / "pair.html")
    first, second = data_of(folder / "pair.html")["program"]["kernels"]
    assert (first["sources"], second["sources"]) == ([-1, 1], [-1, 0])


def test_memory_is_told_by_time(model):
    memory = model["memory"]
    launches = [step for step in memory["steps"] if step != "copy"]
    assert len(launches) == 2
    (between,) = [buffer for buffer in memory["buffers"] if buffer["name"] == "33x64xf16"]
    first = memory["steps"].index(launches[0])
    assert (between["first"], between["last"], between["size"]) == (first, first + 1, 33 * 64 * 2)
    # What is in memory at one time does not share bytes.
    views = [buffer for buffer in memory["buffers"] if buffer["offset"] is not None]
    for one in views:
        for other in views:
            apart = one["last"] < other["first"] or other["last"] < one["first"]
            beside = one["offset"] + one["size"] <= other["offset"] or other["offset"] + other["size"] <= one["offset"]
            assert one is other or apart or beside


def test_levels_are_compared_with_numpy(folder):
    source = written(folder, "checked.mlir", MATMUL)
    status = main(["stages", str(source), "--html", str(folder / "checked.html"), "--target", "pvc", "--check"])
    assert status == 0
    rows = {row["level"]: row for row in data_of(folder / "checked.html")["errors"]}
    assert set(rows) == {level["name"] for level in data_of(folder / "checked.html")["levels"]}
    assert "NumPy in f64" in rows.pop("0-linalg")["why"]
    assert len(rows) == 6
    for row in rows.values():
        assert row["good"] and row["max"] < row["limit"]


def test_levels_of_code_for_cpus_are_compared_with_numpy(folder):
    source = written(folder, "host-checked.mlir", MATMUL)
    kernel = xetile.compile(source, target="cpu")
    kernel.page(folder / "host-checked.html", check=True)
    first, *rows = data_of(folder / "host-checked.html")["errors"]
    assert first["level"] == "0-linalg"
    assert [row["level"] for row in rows] == list(kernel.stages)[1:]
    assert all(row["good"] for row in rows)


@pytest.mark.parametrize(("target", "level"), [("pvc", "3-xetile-blocked"), ("pvc", "5-xevm"), ("cpu", "2-memory")])
def test_a_level_is_run_from_its_own_module(target, level):
    """The level adds two where the payload, and the levels before, add one."""
    with ir.Context():
        kernel = xetile.compile(ir.Module.parse(SHIFT), target=target)
    stages = [kernel.stages.stage(name) for name in kernel.stages]
    number = list(kernel.stages).index(level)
    edited = stages[number].text.replace("1.000000e+00", "2.000000e+00")
    assert edited != stages[number].text
    with ir.Context():
        stages[number] = replace(stages[number], module=ir.Module.parse(edited).operation)
    kernel.stages = Stages(stages)
    x = np.arange(64, dtype=np.float32)
    before, after = (kernel._plan.resume(kernel, name)(x) for name in (stages[number - 1].name, level))
    assert (before == x + 1).all() and (after == x + 2).all()


def test_a_level_that_fails_is_told_with_those_before(folder):
    text = MATMUL.replace("f16", "f128").replace("f32", "f128")
    source = written(folder, "bad.mlir", text)
    with pytest.raises(XeTileError) as told:
        compiler.show(source, "matmul", "pvc", path=folder / "bad.html")
    assert "xetile.level" not in str(told.value) and "bad.mlir:3:8" in str(told.value)
    page = data_of(folder / "bad.html")
    assert [level["name"] for level in page["levels"]] == ["0-linalg"]
    assert page["error"] == str(told.value)
    assert page["state"] == "1-xetile-workgroup could not be made"


def test_warnings_name_the_places_that_users_know(folder, monkeypatch):
    """The compiler has hardly any: a remark on each function stands for them."""
    run = passes.run

    def remarks(module, pipeline, **options):
        said = run(module, pipeline, **options)
        if pipeline.startswith("snapshot"):
            return said
        place = (
            str(module.body.operations[0].operation.location).removeprefix("loc(").removesuffix(")").replace('"', "")
        )
        return (*said, Diagnostic("remark", "seen", place, (Diagnostic("note", "here", place),)))

    monkeypatch.setattr(passes, "run", remarks)
    told = []
    source = written(folder, "remarks.mlir", MATMUL)
    page = folder / "remarks.html"
    compiler.show(source, target="pvc", native="off", path=page, on_stage=lambda stage: told.extend(stage.warnings))
    assert told and {warning.location for warning in told} == {f"{source}:2:1"}
    assert {note.location for warning in told for note in warning.notes} == {f"{source}:2:1"}


def test_machine_code_is_told_by_purpose_in_the_loop_only(folder):
    if tools.find_ocloc() is None:
        pytest.skip("no ocloc: scripts/install-ocloc")
    source = written(folder, "native.mlir", MATMUL)
    compiler.show(source, target="pvc", path=folder / "native.html", native="require")
    (kernel,) = data_of(folder / "native.html")["machine"]
    hot = [purpose for _, purpose, inside, *_ in kernel["lines"] if inside]
    cold = {purpose for _, purpose, inside, *_ in kernel["lines"] if not inside}
    assert "dpas" in hot and "loop" in hot and "purpose" in kernel["loop"]
    assert cold <= {"", "dpas", "load", "prefetch", "store"}
    assert kernel["facts"].startswith(f"{len(kernel['lines'])} instructions, ")


def made_of(page, opcode: str, level: int) -> set[str]:
    """Names of a level's operations that instructions were made of."""
    names = {op[0]: op[1] for op in reversed(page["levels"][level]["ops"])}
    ops = [op for op in page["code"][0]["ops"] if op[1].startswith(opcode)]
    assert ops
    return {names[line] for op in ops for line in op[2].get(str(level), ())}


def test_instructions_of_a_gpu_name_the_operations_that_they_were_made_of(folder):
    if tools.find_ocloc() is None:
        pytest.skip("no ocloc: scripts/install-ocloc")
    source = written(folder, "lines.mlir", MATMUL)
    compiler.show(source, target="pvc", path=folder / "lines.html")
    page = data_of(folder / "lines.html")
    assert page["notes"] == []
    (pane,) = page["code"]
    assert pane["name"] == "machine code, pvc"
    (kernel,) = page["machine"]
    assert pane["lines"][kernel["first"] - 1].strip() == kernel["lines"][0][0]
    # The level before the binary; then each level up to the payload, by its own lines.
    assert made_of(page, "dpas", 5) == {"xevm.mma"}
    assert made_of(page, "dpas", 4) == {"xegpu.dpas"}
    assert made_of(page, "dpas", 3) == {"xetile.tile_mma"}
    assert made_of(page, "dpas", 0) == {"linalg.matmul"}
    assert "xevm.blockload2d" in made_of(page, "load_block2d", 5)
    assert all(re.fullmatch(r".*lines\.mlir:3:8", op[3]) for op in pane["ops"] if op[1].startswith("dpas"))
    known = [op for op in pane["ops"] if op[2]]
    assert len(known) > 0.8 * len(pane["ops"])


def test_instructions_of_an_attention_name_its_softmax_and_its_products(folder):
    if tools.find_ocloc() is None:
        pytest.skip("no ocloc: scripts/install-ocloc")
    compiler.show(written(folder, "attention.mlir", ATTENTION), target="pvc", path=folder / "attention.html")
    page = data_of(folder / "attention.html")
    assert made_of(page, "dpas", 0) == {"linalg.generic"}
    multiplied = {line for op in page["code"][0]["ops"] if op[1].startswith("dpas") for line in op[2]["0"]}
    products = {op[0] for op in ops_named(page["levels"][0], "linalg.generic") if is_product(page, op[0])}
    # Besides, sums of rows may be products with ones.
    assert len(products) == 2 and products <= multiplied
    assert "math.exp" in made_of(page, "math", 0)


def is_product(page, line: int) -> bool:
    """True for a linalg.generic that sums products of f16, by its body."""
    return "arith.extf" in page["levels"][0]["lines"][line + 1]


def test_instructions_of_a_cpu_name_the_operations_that_they_were_made_of(folder):
    source = written(folder, "host.mlir", MATMUL.replace("f16", "f32"))
    compiler.show(source, target="cpu", path=folder / "host.html")
    page = data_of(folder / "host.html")
    last = len(page["levels"]) - 1
    assert made_of(page, "vfmadd", last) & {"llvm.intr.fmuladd", "llvm.intr.fma"}
    assert made_of(page, "vfmadd", 0) == {"linalg.matmul"}
    names = {kernel["name"] for kernel in page["machine"]}
    assert any("matmul" in name for name in names)
    (hottest,) = [kernel for kernel in page["machine"] if "roofline" in kernel["loop"]][:1]
    # Functions with loops come first; what a call has on the stack is no spill of theirs.
    looping = [bool(kernel["loop"]) for kernel in page["machine"]]
    assert looping == sorted(looping, reverse=True) and looping[0]
    for kernel in page["machine"]:
        spills = sum(purpose == "spill" and inside for _, purpose, inside, *_ in kernel["lines"])
        assert kernel["spilled"] == (f"{spills} instructions of its hottest loop reach the stack" if spills else "")
    assert "product" in hottest["loop"] and any(hot for *_, hot, _, _ in hottest["lines"])


def test_a_trace_is_there_after_a_crash(tmp_path):
    """The process ends in the middle of a level, as by a signal."""
    program = f"""
import os, xetile
from xetile import passes
def stop(stage):
    if stage.name == "3-xetile-blocked":
        passes.run = lambda *a, **b: os._exit(9) if "attach" in str(a) or "xegpu" in str(a) else None
xetile.compile({str(written(tmp_path, "matmul.mlir", MATMUL))!r}, target="pvc", native="off", on_stage=stop)
"""
    traces = tmp_path / "traces"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "XETILE_TRACE": str(traces)})
    assert done.returncode == 9
    (path,) = traces.iterdir()
    page = data_of(path)
    assert [level["name"] for level in page["levels"]][-1] == "3-xetile-blocked"
    assert page["state"] == "4-xegpu is being made"


def test_a_trace_has_each_pass_before_the_one_that_ends_the_process(tmp_path):
    program = f"""
import os, xetile
from xetile.mlir.passmanager import PassManager
run = PassManager.run
def stop(manager, operation):
    if "convert-xetile-to-xegpu" in str(manager):
        os._exit(9)
    run(manager, operation)
PassManager.run = stop
xetile.compile({str(written(tmp_path, "matmul.mlir", MATMUL))!r}, target="pvc", native="off")
"""
    traces = tmp_path / "traces"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "XETILE_TRACE": str(traces)})
    assert done.returncode == 9
    (path,) = traces.iterdir()
    page = data_of(path)
    assert page["state"] == "4-xegpu is being made"
    ran = [run["flag"] for run in page["passes"]["4-xegpu"]]
    assert ran and not any("convert-xetile-to-xegpu" in flag for flag in ran)


def test_a_trace_of_each_compilation_has_a_file_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XETILE_TRACE", str(tmp_path / "traces"))
    for _ in range(2):
        kernel = xetile.compile(parsed(MATMUL), target="cpu")
    names = sorted(path.name for path in (tmp_path / "traces").iterdir())
    assert names == ["matmul-cpu-1.html", "matmul-cpu.html"]
    rng = np.random.default_rng()
    a, b = rng.standard_normal((40, 48)).astype(np.float16), rng.standard_normal((48, 64)).astype(np.float16)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(kernel(a, b, np.zeros((40, 64), np.float32)) - expected).max() < 1e-2


def test_a_folder_for_traces_that_cannot_be_made_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("XETILE_TRACE", str(written(tmp_path, "file", "")) + "/x")
    with pytest.raises(XeTileError, match="XETILE_TRACE: cannot make the folder"):
        xetile.compile(parsed(MATMUL), target="cpu")


def test_a_kernel_from_a_file_has_no_page(tmp_path):
    kernel = xetile.compile(parsed(MATMUL), target="cpu")
    assert kernel.page(tmp_path / "page.html") == tmp_path / "page.html"
    assert [level["name"] for level in data_of(tmp_path / "page.html")["levels"]] == list(kernel.stages)
    loaded = xetile.load(kernel.save(tmp_path / "kernel.so"))
    with pytest.raises(XeTileError, match="loaded from a file, which has no levels: compile it to see them"):
        loaded.page(tmp_path / "other.html")


def test_the_command_writes_a_page_to_a_file_only(tmp_path, capsys):
    source = written(tmp_path, "matmul.mlir", MATMUL)
    assert main(["stages", str(source), "--target", "cpu", "--html", "-"]) == 1
    assert "--html -: expected a file" in capsys.readouterr().err
    assert main(["stages", str(source), "--target", "cpu", "--html", str(tmp_path / "o.html")]) == 0
    assert (tmp_path / "o.html").is_file()
