# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times the kernels of this folder on a Hopper GPU; `prepare.py` wrote it. Needs PyTorch, and no compiler.

    python3 on_device.py [--kind numbers|random|speed|pipelines|tilings|f32] [--only WORD ..] [--rounds 3] [--limit 60]
        [--workers 8]
    ncu --profile-from-start off --clock-control none --set full python3 on_device.py --profile KIND WORD ..

Each kernel runs in a process that has a time limit: one that hangs is killed, and the next ones go on. What is computed
is compared with PyTorch's product in f64, on arrays between NaNs; what is timed, with cuBLAS in the same rounds. With
--profile the kernels whose names have all words run in this process, each and its peer once for the profiler.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attention_kernels
import convolution_kernels
import exact_kernels
import form_kernels
import program_kernels
import row_kernels
from supervised import supervise, told_gpu

HERE = Path(__file__).resolve().parent
RUNTIME = "libXeTileCudaRuntime.so"
GUARD = 4096  # elements before and behind each array


def why_not() -> str | None:
    """Why nothing can run here."""
    try:
        ctypes.CDLL(os.environ.get("XETILE_CUDA_DRIVER", "libcuda.so.1"))
    except OSError as error:
        return f"no driver of Nvidia's GPUs: {error}"
    try:
        import torch
    except ImportError as error:
        return f"no PyTorch: {error}"
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
        return "no Hopper GPU (H100, H200)"
    return None


class Kernel:
    """A saved kernel by its C interface, on tensors of PyTorch."""

    def __init__(self, file: str, name: str = "kernel") -> None:
        self.runtime = ctypes.CDLL(str(HERE / RUNTIME), mode=ctypes.RTLD_GLOBAL)
        self.runtime.xetileCudaSetErrorMode(1)
        self.function = getattr(ctypes.CDLL(str(HERE / file)), f"_mlir_ciface_{name}")

    @staticmethod
    def describe(tensor: Any) -> Any:
        rank = tensor.dim()

        class Descriptor(ctypes.Structure):
            _fields_ = [
                ("allocated", ctypes.c_void_p),
                ("aligned", ctypes.c_void_p),
                ("offset", ctypes.c_int64),
                ("sizes", ctypes.c_int64 * rank),
                ("strides", ctypes.c_int64 * rank),
            ]

        sizes, strides = (ctypes.c_int64 * rank)(*tensor.shape), (ctypes.c_int64 * rank)(*tensor.stride())
        return Descriptor(tensor.data_ptr(), tensor.data_ptr(), 0, sizes, strides)

    def bind(self, *tensors: Any) -> Any:
        """A call without arguments. RuntimeError with what the runtime says."""
        described = [self.describe(tensor) for tensor in tensors]
        pointers = [ctypes.byref(entry) for entry in described]

        def call() -> None:
            self.function(*pointers)

        call.keep = described, tensors  # type: ignore[attr-defined]
        return call

    def raise_error(self) -> None:
        buffer = ctypes.create_string_buffer(4096)
        self.runtime.xetileCudaTakeError.restype = ctypes.c_size_t
        if self.runtime.xetileCudaTakeError(buffer, ctypes.c_size_t(len(buffer))):
            raise RuntimeError(buffer.value.decode())


def dtype_of(name: str) -> Any:
    import torch

    floats = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "tf32": torch.float32}
    return (floats | {"s8": torch.int8, "i32": torch.int32})[name]


def guarded(shape: tuple[int, ...], dtype: Any, fill: Any = None) -> tuple[Any, Any]:
    """A tensor between NaNs, or the least numbers, and the whole of it."""
    import torch

    count = math.prod(shape)
    poison = math.nan if dtype.is_floating_point else torch.iinfo(dtype).min
    whole = torch.full((count + 2 * GUARD,), poison, dtype=dtype, device="cuda")
    view = whole[GUARD : GUARD + count].view(shape)
    if fill is not None:
        view.copy_(fill)
    return view, whole


def inputs_of(case: dict[str, Any], seed: int, positive: bool = False) -> list[Any]:
    """Random arrays in the order of the kernel's arguments, of a normal distribution or, `positive`, from 0 to 1."""
    import torch

    generator = torch.Generator(device="cuda").manual_seed(seed)
    m, n, k = case["m"], case["n"], case["k"]

    batch = (case["batch"],) if case["batch"] else ()

    def random(*shape: int, dtype: str) -> Any:
        if dtype == "s8":
            values = torch.randint(-128, 128, shape, device="cuda", generator=generator, dtype=torch.int32)
        else:
            draw = torch.rand if positive else torch.randn
            values = draw(*shape, device="cuda", generator=generator, dtype=torch.float32)
        return guarded(shape, dtype_of(dtype), values.to(dtype_of(dtype)))[0]

    a = random(*batch, *((k, m) if "a" in case["transposed"] else (m, k)), dtype=case["input"])
    b = random(*batch, *((n, k) if "b" in case["transposed"] else (k, n)), dtype=case["input"])
    more = []
    if case["after"] in ("bias_relu", "bias_gelu", "residual"):
        more.append(random(n, dtype="f32"))
    if case["after"] == "residual":
        more.append(random(*batch, m, n, dtype=case["output"]))
    if case["after"] == "accumulate":
        more.append(random(*batch, m, n, dtype="f32"))
    return [a, b, *more]


def expected_of(case: dict[str, Any], arrays: list[Any]) -> Any:
    """The same in f64."""
    import torch

    a, b, *more = (array.double() for array in arrays)
    a = a.mT if "a" in case["transposed"] else a
    b = b.mT if "b" in case["transposed"] else b
    result = a @ b
    if case["after"] in ("bias_relu", "bias_gelu", "residual"):
        result = result + more[0]
    if case["after"] == "bias_relu":
        result = torch.clamp(result, min=0)
    if case["after"] in ("bias_gelu", "residual"):
        result = torch.nn.functional.gelu(result)
    if case["after"] == "residual":
        result = result + more[1]
    if case["after"] == "accumulate":
        result = result + more[0]
    return result


EPSILON = {"f32": 0.0, "bf16": 2.0**-8, "f16": 2.0**-10, "i32": 0.0}


def slack_of(case: dict[str, Any], arrays: list[Any]) -> Any:
    """What inputs that are cut to 10 bits may change: the matrix unit doesn't read the other 13 (PTX ISA, mma)."""
    if case["input"] != "tf32":
        return 0.0
    a, b = (array.double().abs() for array in arrays[:2])
    return (a.mT if "a" in case["transposed"] else a) @ (b.mT if "b" in case["transposed"] else b) * 2.0**-9


def compare(case: dict[str, Any], got: Any, expected: Any, slack: Any = 0.0) -> float:
    """The largest error as a part of what is allowed; infinite where NaNs or infinities differ."""
    import torch

    got, finite = got.double(), torch.isfinite(expected)
    if case["output"] == "f16":
        # What f16 cannot hold is infinite there.
        finite &= expected.abs() < 65504
        expected = torch.where(finite, expected, expected.half().double())
    if bool((torch.isnan(got) != torch.isnan(expected)).any()):
        return math.inf
    if bool((got[~finite & ~torch.isnan(expected)] != expected[~finite & ~torch.isnan(expected)]).any()):
        return math.inf
    if not bool(finite.any()):
        return 0.0
    allowed = 2e-5 * expected[finite].abs().max() + EPSILON[case["output"]] * expected[finite].abs()
    if case["output"] == "i32":
        allowed = torch.full_like(allowed, 0.5)
    if case["input"] == "tf32":
        allowed = allowed + slack[finite]
    return float(((got[finite] - expected[finite]).abs() / allowed.clamp(min=1e-30)).max())


def check(case: dict[str, Any], seed: int) -> dict[str, Any]:
    """Errors of a kernel: on random arrays, with NaNs and infinities in them, and on arrays of the host."""
    import torch

    kernel = Kernel(case["file"])
    found = {}
    shape = (*((case["batch"],) if case["batch"] else ()), case["m"], case["n"])
    rounds = ("random", "special") if case["kind"] == "random" else ("random", "again", "special", "host")
    rounds += exact_kernels.rounds(case) if case["kind"] == exact_kernels.NUMBERS else ()
    for round_, what in enumerate(rounds):
        arrays = inputs_of(case, seed + round_, what == "positive")
        exact_kernels.scale(what, arrays)
        slack = slack_of(case, arrays)
        # tf32 may round what is small to zero beside an infinity.
        if what == "special" and case["after"] != "bias_relu" and case["input"] in ("bf16", "f16", "f32"):
            arrays[0][..., 0, 0] = math.nan
            arrays[1][..., -1, -1] = math.inf
        out, whole = guarded(shape, dtype_of(case["output"]))
        if what == "host":
            host = [array.cpu() for array in [*arrays, out]]
            kernel.bind(*host)()
            out.copy_(host[-1])
        else:
            kernel.bind(*arrays, out)()
        torch.cuda.synchronize()
        kernel.raise_error()
        found[what] = compare(case, out, expected_of(case, arrays), slack)
        count = math.prod(shape)
        around = torch.cat((whole[:GUARD], whole[GUARD + count :]))
        poisoned = torch.isnan(around) if around.is_floating_point() else around == torch.iinfo(around.dtype).min
        if not bool(poisoned.all()):
            found[what] = math.inf
    return {"errors": found}


def peer_of(case: dict[str, Any], arrays: list[Any], out: Any) -> Any:
    """What PyTorch does for the same: cuBLAS, with what follows compiled."""
    import torch

    a = arrays[0].mT if "a" in case["transposed"] else arrays[0]
    b = arrays[1].mT if "b" in case["transposed"] else arrays[1]
    if case["input"] == "s8":
        # It takes multiples of 8 only, and no batches.
        fits = not case["batch"] and not any(case[size] % 8 for size in "mnk") and case["m"] > 16
        return (lambda: torch._int_mm(a, b)) if fits else (lambda: a.float() @ b.float())
    if case["input"] == "tf32":
        torch.backends.cuda.matmul.allow_tf32 = True
    if case["batch"]:
        return lambda: torch.bmm(a, b)
    if case["after"]:
        functional, bias = torch.nn.functional, arrays[2]
        function = functional.relu if case["after"] == "bias_relu" else functional.gelu

        def plain(a: Any, b: Any, bias: Any, *residual: Any) -> Any:
            result = function((a @ b) + bias)
            return ((result + residual[0]) if residual else result).to(out.dtype)

        compiled = torch.compile(plain)
        compiled(a, b, bias, *arrays[3:])
        return lambda: compiled(a, b, bias, *arrays[3:])
    if out.dtype == a.dtype:
        return lambda: torch.mm(a, b, out=out)
    return lambda: torch.mm(a, b, out_dtype=out.dtype)


def host_time(call: Any, rounds: int = 20, calls: int = 20) -> float:
    """Microseconds of the host for a call that does not wait: the median of rounds' means. That of Python to call a C
    function is in it, 0.4 or 0.7."""
    import torch

    means = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        means.append((time.perf_counter() - start) / calls * 1e6)
    torch.cuda.synchronize()
    return statistics.median(means)


def measure(case: dict[str, Any], seed: int) -> dict[str, Any]:
    """Microseconds of the kernel and of its peer, each the median of what triton's do_bench measures."""
    import torch
    from triton.testing import do_bench

    kernel = Kernel(case["file"])
    arrays = inputs_of(case, seed)
    shape = (*((case["batch"],) if case["batch"] else ()), case["m"], case["n"])
    out, _ = guarded(shape, dtype_of(case["output"]))
    call = kernel.bind(*arrays, out)
    call()
    torch.cuda.synchronize()
    kernel.raise_error()
    error = math.nan
    if case["m"] * case["n"] * case["k"] * max(case["batch"], 1) <= 2**37:
        error = compare(case, out, expected_of(case, arrays), slack_of(case, arrays))
    elif case["input"] in ("bf16", "f16") and not case["batch"] and not case["transposed"]:
        wide = (arrays[0] if "a" not in case["transposed"] else arrays[0].t())[:256].double()
        error = compare(case, out[:256], wide @ arrays[1].double()) if not case["after"] else error
    peer = peer_of(case, arrays, out)
    more = {}
    if case["kind"] == exact_kernels.KIND:
        more = exact_kernels.errors(case, kernel, seed, inputs_of, expected_of, peer_of)
    ours, theirs = [], []
    for _ in range(case["rounds"]):
        theirs.append(do_bench(peer, warmup=15, rep=60, return_mode="median") * 1e3)
        ours.append(do_bench(call, warmup=15, rep=60, return_mode="median") * 1e3)
    return {
        "ours": statistics.median(ours),
        "peer": statistics.median(theirs),
        "error": error,
        "host": host_time(call),
    } | more


def work(kind: str, numbers: list[int], seed: int, rounds: int) -> None:
    cases = json.loads((HERE / "cases.json").read_text())
    for number in numbers:
        print(f"BEGIN {number}", flush=True)
        case = cases[number] | {"rounds": rounds}
        try:
            if kind == form_kernels.KIND:
                result = form_kernels.run(case, Kernel(case["file"]), rounds, seed, guarded)
            elif kind in (convolution_kernels.NUMBERS, convolution_kernels.KIND):
                result = convolution_kernels.run(case, Kernel(case["file"]), rounds, seed, guarded)
            elif kind == "programs":
                result = program_kernels.run(case, Kernel(case["file"], case["function"]), rounds, seed, guarded)
            elif kind.startswith("attention"):
                result = attention_kernels.run(case, Kernel(case["file"]), rounds, seed, guarded)
            elif kind.startswith("rows"):
                result = row_kernels.run(case, Kernel(case["file"]), rounds, seed, guarded)
            else:
                result = check(case, seed) if kind in CHECKED else measure(case, seed)
        except Exception as error:
            result = {"failed": f"{type(error).__name__}: {str(error)[:1500]}"}
        print("END " + json.dumps(result), flush=True)


def profile(kind: str, words: list[str], seed: int) -> None:
    """Runs what would be timed once each between marks for ncu, after two runs that it doesn't see."""
    import torch
    import triton.testing

    def profiled(call: Any, **_: Any) -> float:
        for _ in range(2):
            call()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        call()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
        return 1.0

    triton.testing.do_bench = profiled
    cases = json.loads((HERE / "cases.json").read_text())
    named = [number for number, case in enumerate(cases) if all(word in case["name"] for word in words)]
    work(kind, [number for number in named if cases[number]["kind"] == kind], seed, rounds=1)


def supervise_kind(kind: str, numbers: list[int], options: argparse.Namespace, seed: int) -> dict[int, dict[str, Any]]:
    """Results of cases, added to the log as they come."""

    def log(number: int, result: dict[str, Any]) -> None:
        if options.log:
            with open(options.log, "a") as file:
                file.write(json.dumps({"kind": kind, "number": number, **result}) + "\n")

    command = [sys.executable, __file__, "--rounds", str(options.rounds), "--work", kind, str(seed)]
    return supervise(numbers, command, options.limit, math.inf, log)


CHECKED = (
    "numbers",
    "random",
    "attention_numbers",
    "rows_numbers",
    "attention_forms",
    exact_kernels.NUMBERS,
    convolution_kernels.NUMBERS,
)  # kinds of which the results matter; the others are timed, one at a time


def supervise_all(kind: str, numbers: list[int], options: argparse.Namespace, seed: int) -> dict[int, dict[str, Any]]:
    """Checks are shared by workers, as the driver compiles for each kernel on one core."""
    workers = options.workers if kind in CHECKED else 1
    shares = [numbers[first::workers] for first in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        parts = pool.map(lambda share: supervise_kind(kind, share, options, seed), [share for share in shares if share])
        return {number: result for part in parts for number, result in part.items()}


def tell_numbers(cases: list[dict[str, Any]], results: dict[int, dict[str, Any]]) -> bool:
    bad = 0
    for number, result in sorted(results.items()):
        errors = result.get("errors", {})
        worst = max(errors.values(), default=math.inf)
        if "failed" in result or not worst <= 1:
            bad += 1
            print(f"WRONG {cases[number]['name']}: {result}")
    worst = max((max(r["errors"].values()) for r in results.values() if "errors" in r), default=math.nan)
    print(f"{len(results) - bad} of {len(results)} kernels are right; the largest error is {worst:.2f} of the allowed")
    return not bad


def tell_speed(cases: list[dict[str, Any]], results: dict[int, dict[str, Any]]) -> bool:
    print("| kernel | TFLOP/s | peer | ratio | us | host us | error |\n|---|---|---|---|---|---|---|")
    ratios, fine = [], True
    for number, result in sorted(results.items()):
        case = cases[number]
        if "failed" in result:
            print(f"| {case['name']} | {result['failed']} |")
            fine = False
            continue
        flops = 2 * case["m"] * case["n"] * case["k"] * max(case["batch"], 1)
        ours, peer = (flops / result[name] * 1e-6 for name in ("ours", "peer"))
        ratios.append(ours / peer)
        fine &= not result["error"] > 1
        print(
            f"| {case['name']} | {ours:.1f} | {peer:.1f} | {ours / peer:.3f} | {result['ours']:.1f} | "
            f"{result['host']:.1f} | {result['error']:.2f} |"
        )
        exact_kernels.tell(result)
    if ratios:
        print(
            f"geometric mean of ratios {math.exp(statistics.fmean(map(math.log, ratios))):.3f}, least {min(ratios):.3f}"
        )
    return fine


KINDS = (
    "numbers",
    "random",
    "attention_numbers",
    "rows_numbers",
    "attention_forms",
    "programs",
    "attention",
    "rows",
    "speed",
    "pipelines",
    "tilings",
    exact_kernels.NUMBERS,
    exact_kernels.KIND,
    "f32_tilings",
    convolution_kernels.NUMBERS,
    convolution_kernels.KIND,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=8, help="processes that check at a time")
    parser.add_argument("--log", help="a file that each result is added to as it comes")
    parser.add_argument("--limit", type=int, default=60, help="seconds that a kernel may take")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 2**31)
    parser.add_argument("--only", nargs="+", help="words, one of which a case's name has")
    parser.add_argument("--profile", nargs="+", metavar=("KIND", "WORD"), help="for ncu: see above")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        kind, seed, numbers = options.work
        work(kind, [int(number) for number in numbers.split(",")], int(seed), options.rounds)
        return 0
    if reason := why_not():
        print(f"skipped: {reason}")
        return 0
    if options.profile:
        profile(options.profile[0], options.profile[1:], options.seed)
        return 0

    cases = json.loads((HERE / "cases.json").read_text())
    print(f"{told_gpu()}\nseed {options.seed}")
    fine = True
    for kind in options.kind or KINDS:
        chosen = [number for number, case in enumerate(cases) if case["kind"] == kind]
        if options.only:
            chosen = [number for number in chosen if any(word in cases[number]["name"] for word in options.only)]
        if chosen:
            start = time.perf_counter()
            results = supervise_all(kind, chosen, options, options.seed)
            others = {"attention": attention_kernels.tell, "rows": row_kernels.tell, "programs": program_kernels.tell}
            others[convolution_kernels.KIND] = convolution_kernels.tell
            is_checked = kind in CHECKED or kind in others
            fine &= (tell_numbers if is_checked else tell_speed)(cases, results)
            if kind in others:
                others[kind](cases, results)
            print(f"{kind}: {time.perf_counter() - start:.0f} s", flush=True)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
