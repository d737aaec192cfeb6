# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target sm_90a where there is no GPU: levels, PTX, saved kernels, and the runtime with a driver that computes
nothing. `test/device` has what runs on a GPU."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import xetile
from hopper_kernels import MATMUL, PARAMS, K, M, N, call, compiled, ptx_of
from xetile import XeTileError
from xetile.kernels import cuda

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)


@pytest.fixture(scope="module")
def kernel() -> xetile.Kernel:
    return compiled()


def arrays() -> list[np.ndarray]:
    return [np.ones((M, K), np.float16), np.ones((K, N), np.float16), np.ones((M, N), np.float32)]


def test_it_is_a_target_with_six_levels(kernel):
    target = xetile.Target("sm_90a")
    assert target in xetile.targets.available()
    assert kernel.target == target and tuple(kernel.stages) == target.levels
    assert target.levels == ("0-linalg", "1-xetile-workgroup", "2-ring", "3-nvvm", "4-ptx", "5-llvm")


def test_explain_tells_of_the_ring(kernel):
    stage = (128 + 64) * 64 * 2
    assert f"a ring of 3 stages of {stage} bytes, {3 * (stage + 16) + 2 * 16384} bytes of shared" in kernel.explain()


def test_ptx_counts_what_the_ring_promises(kernel):
    ptx = ptx_of(kernel)
    assert ".version 8.6" in ptx and ".target sm_90a" in ptx
    # Three stages: a barrier each, two of them loaded before the loop, the third in it.
    assert ptx.count("mbarrier.init.shared.b64") == 3
    assert ptx.count("mbarrier.arrive.expect_tx") == 3
    # A: one box of 64 x 128, B: one of 64 x 64.
    assert ptx.count("cp.async.bulk.tensor.2d.shared::cluster.global") == 3 * 2
    assert len(re.findall(r"mov\.b32\s+%r\d+, 24576;", ptx)) >= 1
    # k_step 64 in products of 16, one warpgroup's 64 rows.
    assert ptx.count("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16") == 4
    assert ptx.count("mbarrier.try_wait.parity") == 1


def test_a_stage_is_filled_again_only_when_all_have_read_it(kernel):
    """Between the wait for the product before and the next load to its stage all threads of the workgroup meet."""
    ptx = ptx_of(kernel)
    done = ptx.index("wgmma.wait_group.sync.aligned \t1")
    meet, refill = ptx.index("bar.sync \t0;", done), ptx.index("mbarrier.arrive.expect_tx", done)
    assert done < meet < refill
    assert ptx.index("wgmma.commit_group") < done


@pytest.mark.parametrize(("m", "n", "warpgroups"), [(64, 64, 1), (128, 256, 2), (256, 64, 4)])
def test_registers_that_are_handed_over_are_there(m, n, warpgroups):
    """A setmaxnreg that asks for more than the others gave up waits for ever."""
    params = {"workgroup_m": m, "workgroup_n": n, "subgroups_m": warpgroups, "prefetch": 2}
    ptx = ptx_of(compiled(params=params, pipeline="specialized"))
    threads = 128 * (warpgroups + 1)
    assert f".reqntid {threads}, 1, 1" in ptx and ".minnctapersm 1" in ptx
    least, most = (re.findall(rf"setmaxnreg\.{kind}\.sync\.aligned\.u32 \t?(\d+)", ptx) for kind in ("dec", "inc"))
    each = min(65536 // threads // 8 * 8, 256)
    if warpgroups == 1:
        assert not least and not most and each == 256
    else:
        assert warpgroups * int(most[0]) + int(least[0]) <= (warpgroups + 1) * each
        assert int(least[0]) < each < int(most[0]) and int(most[0]) % 8 == 0


@pytest.mark.parametrize("stages", [2, 3, 5])
def test_barriers_of_the_ring_balance(stages):
    """Full: the loader's arrival with the bytes of all boxes. Empty: an arrival of each warpgroup that reads."""
    params = {"workgroup_m": 128, "workgroup_n": 64, "subgroups_m": 2, "prefetch": stages - 1}
    text = str(compiled(params=params, pipeline="specialized").stages["3-nvvm"])
    inits = re.findall(r"nvvm\.mbarrier\.init %\S+, (%\S+) :", text)
    counts = [re.search(rf"{re.escape(name)} = llvm\.mlir\.constant\((\d+) : i32\)", text).group(1) for name in inits]
    assert counts == ["1"] * stages + ["2"] * stages
    # In the loop the stage before, behind it the last one; one thread of a warpgroup says each.
    assert len(re.findall(r"nvvm\.mbarrier\.arrive %", text)) == 2
    assert len(re.findall(r"nvvm\.mbarrier\.arrive\.expect_tx", text)) == 1
    # Those of f16 are 64 elements wide; that of the results is of f32.
    boxes = re.findall(r"box = array<i64: 64, (\d+)>", text)
    assert sum(64 * int(outer) * 2 for outer in boxes) == (128 + 64) * 64 * 2


def test_results_load_each_element_once_and_ahead():
    """A residual and a bias: each pair of a thread is loaded once, those of the first 64 columns before the loop."""
    c, r = "tensor<256x512xf32>", "tensor<256x512xbf16>"
    text = f"""
    #rows = affine_map<(m, n) -> (m, n)>
    func.func @f(%A: tensor<256x512xbf16>, %B: tensor<512x512xbf16>, %bias: tensor<512xf32>, %R: {r}) -> {r} {{
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : {c}
      %C = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
      %D = linalg.matmul ins(%A, %B : tensor<256x512xbf16>, tensor<512x512xbf16>) outs(%C : {c}) -> {c}
      %out = tensor.empty() : {r}
      %E = linalg.generic {{indexing_maps = [#rows, affine_map<(m, n) -> (n)>, #rows, #rows],
                           iterator_types = ["parallel", "parallel"]}}
          ins(%D, %bias, %R : {c}, tensor<512xf32>, {r}) outs(%out : {r}) {{
      ^bb0(%d: f32, %b: f32, %r: bf16, %o: bf16):
        %s = arith.addf %d, %b : f32
        %w = arith.extf %r : bf16 to f32
        %t = arith.addf %s, %w : f32
        %n = arith.truncf %t : f32 to bf16
        linalg.yield %n : bf16
      }} -> {r}
      return %E : {r}
    }}"""
    ptx = ptx_of(compiled(text, params={"workgroup_m": 128, "workgroup_n": 256}))
    loads = [found.start() for found in re.finditer(r"ld\.global", ptx)]
    # 64 x 256 sums of a warpgroup are 64 pairs of each thread, in 32 groups of columns with a pair of the bias each.
    assert len(loads) == 64 + 32
    assert sum(place < ptx.index("wgmma.mma_async") for place in loads) == (64 + 32) // 4


@pytest.mark.parametrize(
    ("maps", "kinds"),
    [
        ("(m, k), (k, n)", ("0", "1")),
        ("(m, k), (n, k)", ("0", "0")),
        ("(k, m), (k, n)", ("1", "1")),
        ("(k, m), (n, k)", ("1", "0")),
    ],
)
def test_transposed_operands_are_descriptors(maps, kinds):
    a, b = maps.split("), ")
    a, b = a + ")", b
    shapes = {"m": 256, "n": 128, "k": 512}

    def tensor(map_: str) -> str:
        return f"tensor<{'x'.join(str(shapes[name]) for name in map_.strip('()').split(', '))}xbf16>"

    c = "tensor<256x128xf32>"
    kernel = compiled(
        f"""func.func @f(%A: {tensor(a)}, %B: {tensor(b)}, %C: {c}) -> {c} {{
      %D = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> {a}>, affine_map<(m, n, k) -> {b}>,
                                          affine_map<(m, n, k) -> (m, n)>]
          ins(%A, %B : {tensor(a)}, {tensor(b)}) outs(%C : {c}) -> {c}
      return %D : {c}
    }}"""
    )
    # The last two operands of wgmma: A and B are read along the other dimension.
    found = set(re.findall(r"wgmma\.mma_async.*p, 1,\s+1, ([01]),\s+([01]);", ptx_of(kernel)))
    assert found == {kinds}


def test_without_a_driver_a_call_says_so(kernel, tmp_path):
    text = """
import numpy as np, sys, xetile
a, b, c = np.ones((200, 1000), np.float16), np.ones((1000, 136), np.float16), np.ones((200, 136), np.float32)
try:
    xetile.load(sys.argv[1])(a, b, c)
except xetile.XeTileError as error:
    print(error)
"""
    kernel.save(tmp_path / "k.so")
    environment = os.environ | {"XETILE_CUDA_DRIVER": str(tmp_path / "none.so")}
    run = subprocess.run(
        [sys.executable, "-c", text, tmp_path / "k.so"], capture_output=True, text=True, env=environment
    )
    assert "no driver of Nvidia's GPUs" in run.stdout and "an H100 or H200 and its driver" in run.stdout, run.stderr


def test_calls_ask_the_driver_for_what_the_kernel_needs(kernel, driver, tmp_path):
    printed, log = call(kernel, driver, tmp_path, arrays())
    # Nothing is computed: what comes back is C, which went there.
    assert f"result {float(M * N)} ({M}, {N})" in printed
    assert "Fake 0, driver for CUDA 13.0, capability 9.0" in printed
    # Compiled once, for two calls.
    assert [line for line in log if line.startswith("load")] == [f"load {len(kernel.binaries['ptx'])} bytes"]
    assert "function matmul_kernel" in log
    shared = 3 * ((128 + 64) * 64 * 2 + 16) + 2 * 16384
    assert f"attribute 8 = {shared}" in log
    maps = {line for line in log if line.startswith("map")}
    assert maps == {
        f"map kind 6 rank 2 sizes {K} x {M} pitch {K * 2} box 64 x 128 swizzle 3 fill 0 aligned 1 steps 5",
        f"map kind 6 rank 2 sizes {N} x {K} pitch {N * 2} box 64 x 64 swizzle 3 fill 0 aligned 1 steps 5",
        f"map kind 7 rank 2 sizes {N} x {M} pitch {N * 4} box 32 x 64 swizzle 3 fill 0 aligned 1 steps 5",
    }
    assert log.count(f"launch 3 x 2 x 1 of 256 x 1 x 1, {shared} bytes") == 2
    assert log.count(f"copy {M * N * 4} to host") == 2
    assert log[-1] == "free, 0 live"


TWO_KERNELS = """func.func @f(%A: tensor<64x512xf32>) -> tensor<512xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<64xf32>) -> tensor<64xf32>
  %S = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%A : tensor<64x512xf32>) outs(%zs : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %ed = tensor.empty() : tensor<512xf32>
  %zd = linalg.fill ins(%zero : f32) outs(%ed : tensor<512xf32>) -> tensor<512xf32>
  %D = linalg.generic {indexing_maps = [
      affine_map<(n, m) -> (m, n)>, affine_map<(n, m) -> (m)>, affine_map<(n, m) -> (n)>],
      iterator_types = ["parallel", "reduction"]} ins(%A, %S : tensor<64x512xf32>, tensor<64xf32>)
      outs(%zd : tensor<512xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %p = arith.mulf %a, %s : f32
    %q = arith.addf %p, %o : f32
    linalg.yield %q : f32
  } -> tensor<512xf32>
  return %D : tensor<512xf32>
}"""


def test_memory_between_kernels_is_known_to_be_the_gpus(driver, tmp_path):
    """The driver, which here takes all memory for the host's, is not asked for it, and nothing of it is copied."""
    kernel = compiled(TWO_KERNELS, schedule="gpu_model", params={})
    _, log = call(kernel, driver, tmp_path, [np.ones((64, 512), np.float32)])
    assert len([line for line in log if line.startswith("launch")]) == 4
    copied = {line for line in log if line.startswith("copy")}
    assert copied == {f"copy {64 * 512 * 4} to device", f"copy {512 * 4} to device", f"copy {512 * 4} to host"}


def test_an_older_gpu_is_refused(kernel, driver, tmp_path):
    printed, log = call(kernel, driver, tmp_path, arrays(), FAKE_DRIVER_CAPABILITY="89")
    assert "the GPU 'Fake 0' has compute capability 8.9; expected 9.0, an H100 or H200" in printed
    assert not any(line.startswith("launch") for line in log)


def test_ptx_that_the_driver_refuses_has_its_log_in_the_error(kernel, driver, tmp_path):
    printed, _ = call(kernel, driver, tmp_path, arrays(), FAKE_DRIVER_REFUSES="1")
    assert "the driver does not compile the PTX of the kernel 'matmul_kernel'" in printed
    assert "ptxas application ptx input, line 1; error : no such thing" in printed


DYNAMIC = """
func.func @matmul(%A: tensor<?x?xbf16>, %B: tensor<?x?xbf16>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %B, %c1 : tensor<?x?xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %C = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %D = linalg.matmul ins(%A, %B : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%C : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %D : tensor<?x?xf32>
}"""


@pytest.mark.parametrize(
    ("pipeline", "launch"), [("simple", "2 x 3 x 1 of 256"), ("specialized", "4 x 1 x 1 of 384"), ("auto", "4 x 1 x 1")]
)
def test_sizes_of_a_run_make_the_grid_and_the_maps(driver, tmp_path, pipeline, launch):
    """Workgroups that walk over tiles are as many as the fake device's four multiprocessors."""
    import ml_dtypes

    kernel = compiled(DYNAMIC, pipeline=pipeline)
    given = [np.ones((300, 72), ml_dtypes.bfloat16), np.ones((72, 80), ml_dtypes.bfloat16)]
    _, log = call(kernel, driver, tmp_path, given)
    assert any(line.startswith(f"launch {launch}") for line in log)
    assert any("sizes 72 x 300 pitch 144 box 64 x 128" in line for line in log)


def test_rows_of_a_run_that_tma_does_not_take_are_refused(driver, tmp_path):
    import ml_dtypes

    kernel = compiled(DYNAMIC)
    given = [np.ones((300, 71), ml_dtypes.bfloat16), np.ones((71, 80), ml_dtypes.bfloat16)]
    printed, log = call(kernel, driver, tmp_path, given)
    assert "argument 0 of the kernel 'matmul_kernel' has rows 142 bytes apart; expected a multiple of 16" in printed
    assert "or compile with loads=plain" in printed
    assert not any(line.startswith("launch") for line in log)
    _, log = call(compiled(DYNAMIC, loads="plain"), driver, tmp_path, given)
    assert any(line.startswith("launch") for line in log) and not any(line.startswith("map") for line in log)


def matmul_of(maps: str, sizes: dict[str, int], element: str, result: str = "f32") -> str:
    """A product whose operands are stored as `maps` say: "mk,kn", with a batch "zmk,zkn"."""
    a, b = maps.split(",")
    batch = "z" if "z" in maps else ""

    def tensor(letters: str, type_: str) -> str:
        return f"tensor<{'x'.join(str(sizes[letter]) for letter in letters)}x{type_}>"

    def map_(letters: str) -> str:
        return f"affine_map<({', '.join(batch + 'mnk')}) -> ({', '.join(letters)})>"

    a_type, b_type, c = tensor(a, element), tensor(b, element), tensor(batch + "mn", result)
    return f"""func.func @f(%A: {a_type}, %B: {b_type}, %C: {c}) -> {c} {{
      %D = linalg.{"batch_" if batch else ""}matmul indexing_maps = [{map_(a)}, {map_(b)}, {map_(batch + "mn")}]
          ins(%A, %B : {a_type}, {b_type}) outs(%C : {c}) -> {c}
      return %D : {c}
    }}"""


@pytest.mark.parametrize(
    ("element", "result", "product", "columns"),
    [
        ("i8", "i32", "k32.s32.s8.s8", 128),
        ("f32", "f32", "k8.f32.tf32.tf32", 32),
        ("f16", "f32", "k16.f32.f16.f16", 64),
    ],
)
def test_types_have_products_of_their_own(element, result, product, columns, driver, tmp_path):
    """Rows of 128 bytes in shared memory, one wgmma for each 32 bytes of them."""
    sizes = {"m": 192, "n": 128, "k": 512}
    params = {"workgroup_m": 64, "workgroup_n": 128, "precision": "tf32"}
    kernel = compiled(matmul_of("mk,nk", sizes, element, result), params=params)
    assert "wgmma.mma_async.sync.aligned.m64n128" + product in ptx_of(kernel)
    assert str(kernel.stages["3-nvvm"]).count("nvvm.wgmma.mma_async") == 4
    given = [
        np.ones(shape, {"i8": np.int8, "f32": np.float32, "f16": np.float16}[element])
        for shape in ((192, 512), (128, 512))
    ]
    given.append(np.ones((192, 128), np.int32 if result == "i32" else np.float32))
    _, log = call(kernel, driver, tmp_path, given)
    kind, kind_of_result = {"i8": (0, 3), "f32": (11, 7), "f16": (6, 7)}[element]
    assert any(f"map kind {kind} rank 2 sizes 512 x 192" in line and f"box {columns} x 64" in line for line in log)
    assert any(f"map kind {kind_of_result} rank 2 sizes 128 x 192" in line for line in log)


def test_batches_are_a_dimension_of_the_maps(driver, tmp_path):
    kernel = compiled(matmul_of("zmk,zkn", {"z": 3, "m": 200, "n": 136, "k": 1000}, "f16"))
    assert ptx_of(kernel).count("cp.async.bulk.tensor.3d.shared::cluster.global") == 3 * 2
    given = [np.ones(shape, np.float16) for shape in ((3, 200, 1000), (3, 1000, 136))]
    _, log = call(kernel, driver, tmp_path, [*given, np.ones((3, 200, 136), np.float32)])
    assert any("map kind 6 rank 3 sizes 1000 x 200 pitch 2000 box 64 x 128" in line for line in log)
    assert any(line.startswith("launch 3 x 2 x 3 of 256") for line in log)


@pytest.mark.parametrize(
    ("maps", "element", "sizes", "copies", "loads"),
    [
        # Units of 2 bytes go by registers, of 4 and 8 by cp.async.
        ("mk,kn", "f16", {"m": 200, "n": 137, "k": 1001}, set(), "ld.global.b16"),
        ("mk,kn", "f16", {"m": 200, "n": 138, "k": 1002}, {"cp.async.ca.shared.global [%], [%], 4"}, ""),
        ("mk,kn", "f16", {"m": 200, "n": 140, "k": 1004}, {"cp.async.ca.shared.global [%], [%], 8"}, ""),
        # B is not contiguous along k, as wgmma wants bytes: by elements.
        ("mk,kn", "i8", {"m": 192, "n": 144, "k": 1024}, set(), "ld.global.b8"),
        ("mk,kn", "f32", {"m": 192, "n": 144, "k": 1024}, {"cp.async.ca.shared.global [%], [%], 4"}, ""),
    ],
)
def test_what_tma_does_not_take_is_copied_by_threads(maps, element, sizes, copies, loads):
    result = "i32" if element == "i8" else "f32"
    kernel = compiled(matmul_of(maps, sizes, element, result), params={"precision": "tf32", "split_k": 1})
    ptx = ptx_of(kernel)
    found = {
        re.sub(r"\[[^]]*\]", "[%]", text) for text in re.findall(r"cp\.async\.c[ag]\S+\s+\[.*?\], \[.*?\], \d+", ptx)
    }
    assert {re.sub(r"\s+", " ", text) for text in found} == copies
    assert loads in ptx
    # Each writer has its writes seen by wgmma before it says that they are there.
    nvvm = str(kernel.stages["3-nvvm"])
    fences = nvvm.count("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>")
    stores = nvvm.count("nvvm.cp.async.bulk.tensor.global.shared.cta")
    assert fences - stores >= 1 and len(re.findall(r"nvvm\.mbarrier\.arrive %", nvvm)) == 2 + fences - stores
    # TMA still loads what it takes, and its thread arrives once more.
    swaps = element in ("i8", "f32")
    assert ("cp.async.bulk.tensor.2d.shared" in ptx) == swaps
    assert f"llvm.mlir.constant({129 if swaps else 128} : i32)" in nvvm


def test_units_beyond_an_edge_read_the_last_unit():
    """Of two bytes: the last byte of 66 is at an odd address."""
    ring = compiled(matmul_of("mk,nk", {"m": 70, "n": 80, "k": 66}, "i8", "i32"), params={})
    nvvm = str(ring.stages["3-nvvm"])
    assert "llvm.load" in nvvm and "-> i16" in nvvm
    assert "constant(64 : index)" in nvvm and "constant(65 : index)" not in nvvm


def test_units_need_their_alignment():
    """The runtime refuses an array that begins between two of them."""
    kernel = compiled(matmul_of("mk,kn", {"m": 200, "n": 140, "k": 1004}, "f16"))
    ring = str(kernel.stages["2-ring"])
    assert re.search(r"aligned = array<i64: \d, 8, \d, 8>", ring)
    assert "xetileCudaAligned" in str(kernel.stages["5-llvm"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MATMUL.replace("f16", "i4").replace("xf32", "xi32"), "got i4 x i4 -> i32"),
        (MATMUL.replace("f16", "f64").replace("xf32", "xf64"), "got f64 x f64 -> f64"),
    ],
)
def test_other_programs_are_refused(text, message):
    with pytest.raises(XeTileError, match=re.escape(message)):
        compiled(text, params={})


def test_the_payload_decides_the_schedule():
    """As on Intel's GPUs: one that is named, or parameters, are taken as they are."""
    text = """func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
      %o = tensor.empty() : tensor<64xf32>
      %y = linalg.exp ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) -> tensor<64xf32>
      return %y : tensor<64xf32>
    }"""
    assert compiled(text, params={}).schedule.name == "elementwise"
    assert compiled(params={}).schedule.name == "matmul"
    with pytest.raises(XeTileError, match="matmul"):
        compiled(text, params=PARAMS)


def test_options_are_checked():
    with pytest.raises(XeTileError, match="group_rows: expected an integer from 1 to 32767, got 0"):
        compiled(group_rows=0)
    with pytest.raises(XeTileError, match="pipeline: expected auto, simple, specialized, got 'fast'"):
        compiled(pipeline="fast")
    with pytest.raises(XeTileError, match="loads: expected auto, plain, got 'tma'"):
        compiled(loads="tma")
    with pytest.raises(XeTileError, match="overlap: expected True or False, got 1"):
        compiled(overlap=1)
    with pytest.raises(XeTileError, match="target sm_90a has no option 'native'"):
        compiled(native="off")
    with pytest.raises(XeTileError, match="sm_100 is no target: expected sm_90a"):
        xetile.Target("sm_100")


def test_the_command_line_writes_ptx_and_a_shared_object(tmp_path, kernel):
    source = tmp_path / "matmul.mlir"
    source.write_text(MATMUL)
    for name in ("k.ptx", "k.so"):
        command = [sys.executable, "-m", "xetile.cli", "compile", source, "--target", "sm_90a", "-o", tmp_path / name]
        command += [part for key, value in PARAMS.items() for part in ("--set", f"{key}={value}")]
        subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "k.ptx").read_bytes() == kernel.binaries["ptx"]
    assert xetile.load(tmp_path / "k.so").binaries == kernel.binaries


def test_the_runtime_library_is_there():
    assert cuda.library_path().name == "libXeTileCudaRuntime.so"
