# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of liger-kernel, forwards and backwards, on the CPU against PyTorch in f64: the largest error of each.

Not a test: liger-kernel is not installed here. `pip install --no-deps --target LIGER liger-kernel==0.8.5`, then
    XETILE_TRITON=.triton-xpu PYTHONPATH=build/python_packages:LIGER .venv-torch/bin/python \\
      test/triton_kernels/liger_operators.py [NAME ...]
Set LIGER_FUSED_MOE_AUTOTUNE=0: fused_moe has many configurations, each of which is compiled. The driver links the
kernel of mhc_post_res backwards for most of a minute. mhc_coeffs has 3 norms here instead of its 20: it unrolls them,
and Triton's own TritonIntelGPURemoveLayoutConversions, which looks for backward slices to rematerialize, takes 0.8 s
for 4 norms and 25 s for 6 (MLIR_ENABLE_TIMING=1 tells).
mm_int8int2 has no gradients, and is compared exactly. vocab_parallel_cross_entropy runs in one process, which has all
words. Not here are mlp, which asks for CUDA, and fused_linear_scaled_cross_entropy, which is PyTorch's operators alone
on these GPUs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace

import xetile.triton

xetile.triton.activate()
# What liger-kernel asks of a GPU of Intel's, whose forms of kernels these are.
import liger_kernel.utils  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

liger_kernel.utils.infer_device = lambda: "xpu"
torch.xpu.get_device_properties = lambda *_: SimpleNamespace(
    gpu_eu_count=64, gpu_subslice_count=16, name="pvc", total_memory=1 << 36
)

ROWS, COLUMNS = 20, 300
UNIFORM = torch.full((ROWS, COLUMNS), 1 / COLUMNS)
TARGETS = torch.randint(0, COLUMNS, (ROWS,))


def liger(module: str, name: str, *options: object) -> Callable[..., torch.Tensor]:
    function = getattr(import_module(f"liger_kernel.ops.{module}"), name)
    return lambda *tensors: function.apply(*tensors, *options)


def jsd(x: torch.Tensor) -> torch.Tensor:
    p, q = x.softmax(-1), UNIFORM.double()
    middle = ((p + q) / 2).log()
    return (F.kl_div(middle, p, reduction="batchmean") + F.kl_div(middle, q, reduction="batchmean")) / 2


def rotated(x: torch.Tensor) -> torch.Tensor:
    """The halves of the last dimension, the second one negated and first."""
    low, high = x.chunk(2, -1)
    return torch.cat((-high, low), -1)


def both(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return torch.cat((q.flatten(), k.flatten()))


# Angles of rotary embeddings: 10 places, 32 numbers of a head; three of them for each place of an image.
ANGLES = torch.cat([torch.rand(3, 2, 10, 16) * 6] * 2, -1)
COS, SIN = ANGLES.cos(), ANGLES.sin()
SECTIONS = (4, 6, 6)


def rope(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    cos, sin = COS[0, :1].double(), SIN[0, :1].double()
    return both(*(x * cos[:, None] + rotated(x) * sin[:, None] for x in (q, k)))


def mrope(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    parts = [torch.cat([m[i % 3] for i, m in enumerate(t.double().split(SECTIONS * 2, -1))], -1) for t in (COS, SIN)]
    cos, sin = (part[:, None] for part in parts)
    return both(*(x * cos + rotated(x) * sin for x in (q, k)))


def complex_rope(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    turn = torch.polar(torch.ones(10, 16).double(), ANGLES[0, 0, :, :16].double())[None, :, None]
    turned = (torch.view_as_complex(x.reshape(*x.shape[:-1], 16, 2)) * turn for x in (q, k))
    return both(*(torch.view_as_real(x) for x in turned))


def sparsemax(x: torch.Tensor) -> torch.Tensor:
    down = x.sort(-1, descending=True).values
    sums, counts = down.cumsum(-1) - 1, torch.arange(1, x.shape[-1] + 1)
    support = (counts * down > sums).sum(-1, keepdim=True)
    return (x - sums.gather(-1, support - 1) / support).clamp(min=0)


def poly_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    def norm(u: torch.Tensor) -> torch.Tensor:
        return u * (u.square().mean(-1, keepdim=True) + 1e-6).rsqrt()

    return w[0] * norm(x**3) + w[1] * norm(x**2) + w[2] * norm(x) + b


def added(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x + r, ROW, w, 1e-6) + 2 * (x + r)


def residuals(v: torch.Tensor, query: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    scores = (F.rms_norm(v, v.shape[-1:], weight, 1e-6) * query).sum(-1)
    return (scores.softmax(0)[..., None] * v).sum(0)


def convolved(scores: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    out = F.conv2d(scores.masked_fill(later, -torch.inf).softmax(-1), weight, bias, padding=1)
    return out.masked_fill(later, 0)


def neighbours(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    i = torch.arange(q.shape[-2])
    far = (i[:, None] - i).abs() > 3
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return scores.masked_fill(far, -torch.inf).softmax(-1) @ v


def linear_jsd(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    p, q = (x @ w.mT).softmax(-1), (TEACHER[0] @ TEACHER[1].mT).double().softmax(-1)
    middle = ((p + q) / 2).log()
    return (F.kl_div(middle, p, reduction="batchmean") + F.kl_div(middle, q, reduction="batchmean")) / 2


def losses(x: torch.Tensor) -> torch.Tensor:
    ce = F.cross_entropy(x, TARGETS, reduction="none")
    return ce + 2 * (x.softmax(-1) - UNIFORM.double()).abs().sum(-1) / 2


def distance(p: torch.Tensor) -> torch.Tensor:
    return (p.softmax(-1) - UNIFORM.double()).abs().sum() / 2 / ROWS


def weighted(pair: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Both results in one, so that gradients of both are used."""
    return pair[0] + 2 * pair[1]


# Three answers of eight words: the words, what older models gave them, and what the answers are worth.
WORDS = torch.randint(0, COLUMNS, (3, 8))
OLD, REFERENCE = (torch.randn(3, 8) - 6 for _ in range(2))
WORTH = torch.randn(3)


def grpo(logits: torch.Tensor) -> torch.Tensor:
    chosen = (logits[:, :-1] / 0.9).log_softmax(-1).gather(-1, WORDS[..., None])[..., 0]
    ratio, apart = (chosen - OLD).exp(), REFERENCE - chosen
    gain = torch.minimum(ratio * WORTH[:, None], ratio.clamp(0.8, 1.2) * WORTH[:, None])
    return (0.04 * (apart.exp() - apart - 1) - gain).mean()


def in_tiles(x: torch.Tensor, up: torch.Tensor, gate: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    """An MLP with gates, three parts of the rows after one another: its results are as wide as x."""
    module = torch.nn.Module()
    module.up, module.gate, module.down = up, gate, down
    silu = liger("swiglu", "LigerSiLUMulFunction")
    return liger("tiled_mlp", "LigerTiledMLPFunction")(
        lambda own, rows: silu(rows @ own.gate.mT, rows @ own.up.mT) @ own.down.mT, module, x, 3, [up, gate, down]
    )


# Of four, the two that a row goes through.
EXPERTS = torch.stack([torch.randperm(4)[:2] for _ in range(ROWS)]).int()


def experts(x: torch.Tensor, up: torch.Tensor, down: torch.Tensor, worth: torch.Tensor) -> torch.Tensor:
    gate, value = torch.einsum("th,tkih->tki", x, up[EXPERTS.long()]).chunk(2, -1)
    return torch.einsum("tki,tkhi,tk->th", F.silu(gate) * value, down[EXPERTS.long()], worth)


def coefficients(x: torch.Tensor, phi: torch.Tensor, b: torch.Tensor, *scales: torch.Tensor) -> torch.Tensor:
    """What four streams of a residual connection are weighted with, after 3 norms of rows and columns."""
    options = (True, 3, 1e-6, 0.0, 1e-6, 2.0)
    parts = liger("mhc", "LigerMHCCoeffsFunction", *options)(x, phi / 16, b, *scales)
    return torch.cat([part.flatten(1) for part in parts], -1)


def weights(x: torch.Tensor, phi: torch.Tensor, b: torch.Tensor, *scales: torch.Tensor) -> torch.Tensor:
    flat = x.flatten(1)
    mix = flat @ (phi / 16) * (flat.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
    pre, post, res = (
        part * scale + c for part, scale, c in zip(mix.split((4, 4, 16), -1), scales, b.split((4, 4, 16)), strict=True)
    )
    mat = res.unflatten(-1, (4, 4)).softmax(-1) + 1e-6
    mat = mat / (mat.sum(1, keepdim=True) + 1e-6)
    for _ in range(2):
        mat = mat / (mat.sum(2, keepdim=True) + 1e-6)
        mat = mat / (mat.sum(1, keepdim=True) + 1e-6)
    return torch.cat((pre.sigmoid(), 2 * post.sigmoid(), mat.flatten(1)), -1)


WIDE, ROW = (ROWS, COLUMNS), (COLUMNS,)
# Streams of a residual connection.
STREAMS = (ROWS, 4, 64)
HEADS, FEW_HEADS = (2, 4, 10, 32), (2, 2, 10, 32)
# Of a linear layer before a loss.
HIDDEN, VOCABULARY = (ROWS, 64), (COLUMNS, 64)
TEACHER = (torch.randn(HIDDEN), torch.randn(VOCABULARY) / 8)
CASES = {
    "rms_norm": (
        liger("rms_norm", "LigerRMSNormFunction", 1e-6),
        lambda x, w: F.rms_norm(x, ROW, w, 1e-6),
        (WIDE, ROW),
    ),
    "layer_norm": (
        liger("layer_norm", "LigerLayerNormFunction", 1e-6),
        lambda x, w, b: F.layer_norm(x, ROW, w, b, 1e-6),
        (WIDE, ROW, ROW),
    ),
    "group_norm": (
        liger("group_norm", "LigerGroupNormFunction", 8, 4, 1e-6),
        lambda x, w, b: F.group_norm(x, 4, w, b, 1e-6),
        ((3, 8, 40), (8,), (8,)),
    ),
    "swiglu": (liger("swiglu", "LigerSiLUMulFunction"), lambda a, b: F.silu(a) * b, (WIDE, WIDE)),
    "fused_gate_up_swiglu": (
        liger("swiglu", "LigerFusedGateUpSiLUMulFunction"),
        lambda x: F.silu(x.chunk(2, -1)[0]) * x.chunk(2, -1)[1],
        ((ROWS, 2 * COLUMNS),),
    ),
    "geglu": (liger("geglu", "LigerGELUMulFunction"), lambda a, b: F.gelu(a, approximate="tanh") * b, (WIDE, WIDE)),
    "softmax": (liger("softmax", "LigerSoftmaxFunction"), lambda x: x.softmax(-1), (WIDE,)),
    "cross_entropy": (
        liger("cross_entropy", "LigerCrossEntropyFunction", TARGETS, None, -100, 0.0, 0.0, "mean", None, False),
        lambda x: F.cross_entropy(x, TARGETS),
        (WIDE,),
    ),
    "vocab_parallel_cross_entropy": (
        liger(
            "vocab_parallel_cross_entropy",
            "LigerVocabParallelCEFunction",
            TARGETS[:, None],
            None,
            -100,
            0.1,
            "pytorch",
            "global",
        ),
        lambda x: F.cross_entropy(x[:, 0], TARGETS, reduction="none", label_smoothing=0.1)[:, None],
        ((ROWS, 1, COLUMNS),),
    ),
    "kl_div": (
        liger("kl_div", "LigerKLDivLossFunction", UNIFORM),
        lambda x: F.kl_div(x, UNIFORM.double(), reduction="batchmean"),
        (WIDE,),
    ),
    "jsd": (
        lambda x: liger("jsd", "LigerJSDFunction", UNIFORM.log(), None, 0.5, -100)(x.log_softmax(-1)),
        jsd,
        (WIDE,),
    ),
    "dyt": (
        liger("dyt", "LigerDyTFunction"),
        lambda x, a, w, b: w * torch.tanh(a * x) + b,
        (WIDE, (1,), ROW, ROW),
    ),
    "relu_squared": (liger("relu_squared", "LigerReLUSquaredFunction"), lambda x: x.relu() ** 2, (WIDE,)),
    "sparsemax": (liger("sparsemax", "LigerSparsemaxFunction", -1), sparsemax, (WIDE,)),
    "poly_norm": (liger("poly_norm", "LigerPolyNormFunction", 1e-6), poly_norm, (WIDE, (3,), ())),
    "fused_add_rms_norm": (
        lambda *x: weighted(liger("fused_add_rms_norm", "LigerFusedAddRMSNormFunction", 1e-6)(*x)),
        added,
        (WIDE, WIDE, ROW),
    ),
    "modulated_rms_norm": (
        liger("modulated_rms_norm", "LigerModulatedRMSNormFunction", 1e-6),
        lambda x, w, scale, shift: F.rms_norm(x, ROW, w, 1e-6) * (1 + scale) + shift,
        (WIDE, ROW, WIDE, WIDE),
    ),
    "tvd": (
        lambda x: liger("tvd", "LigerTVDLossFunction", UNIFORM, None, "batchmean")(x.softmax(-1)),
        distance,
        (WIDE,),
    ),
    "fused_ce_tvd": (
        lambda x: weighted(liger("fused_ce_tvd", "LigerFusedCETVDFunction", UNIFORM.log(), TARGETS)(x)),
        losses,
        (WIDE,),
    ),
    "rope": (
        lambda q, k: both(*liger("rope", "LigerRopeFunction", COS[0, :1], SIN[0, :1])(q * 1, k * 1)),
        rope,
        (HEADS, FEW_HEADS),
    ),
    "qwen2vl_mrope": (
        lambda q, k: both(*liger("qwen2vl_mrope", "LigerQwen2VLMRopeFunction", COS, SIN, list(SECTIONS))(q * 1, k * 1)),
        mrope,
        (HEADS, FEW_HEADS),
    ),
    "llama4_rope": (
        lambda q, k: both(
            *liger("llama4_rope", "LigerLlama4RopeFunction", torch.polar(torch.ones(10, 16), ANGLES[0, 0, :, :16]))(
                q * 1, k * 1
            )
        ),
        complex_rope,
        ((2, 10, 4, 32), (2, 10, 2, 32)),
    ),
    "attn_res": (liger("attn_res", "LigerAttnResFunction", 1e-6), residuals, ((5, 2, 10, 96), (96,), (96,))),
    "multi_token_attention": (
        liger("multi_token_attention", "LigerMultiTokenAttentionFunction", 1, 1),
        convolved,
        ((2, 4, 24, 24), (4, 4, 3, 3), (4,)),
    ),
    "fused_neighborhood_attention": (
        liger("fused_neighborhood_attention", "LigerFusedNeighborhoodAttentionFunction", 7),
        neighbours,
        ((2, 2, 40, 32),) * 3,
    ),
    "fused_linear_cross_entropy": (
        liger("fused_linear_cross_entropy", "LigerFusedLinearCrossEntropyFunction", TARGETS),
        lambda x, w: F.cross_entropy(x @ w.mT, TARGETS),
        (HIDDEN, VOCABULARY),
    ),
    "fused_linear_jsd": (
        liger("fused_linear_jsd", "LigerFusedLinearJSDFunction", *TEACHER),
        linear_jsd,
        (HIDDEN, VOCABULARY),
    ),
    "fused_linear_kl_div": (
        liger("fused_linear_kl_div", "LigerFusedLinearKLDivFunction", UNIFORM),
        lambda x, w: F.kl_div((x @ w.mT).log_softmax(-1), UNIFORM.double(), reduction="batchmean"),
        (HIDDEN, VOCABULARY),
    ),
    "grpo_loss": (
        liger("grpo_loss", "GrpoLossFunction", OLD, REFERENCE, WORDS, WORTH, None, 0.9, 0.04, 0.2, 0.2, False),
        grpo,
        ((3, 9, COLUMNS),),
    ),
    "mhc_pre": (liger("mhc", "LigerMHCPreFunction"), lambda x, h: (h[..., None] * x).sum(1), (STREAMS, (ROWS, 4))),
    "mhc_post_res": (
        liger("mhc", "LigerMHCPostResFunction"),
        lambda x, f, post, res: post[..., None] * f[:, None] + res @ x,
        (STREAMS, (ROWS, 64), (ROWS, 4), (ROWS, 4, 4)),
    ),
    "mhc_coeffs": (coefficients, weights, (STREAMS, (256, 24), (24,), (), (), ())),
    "fused_moe": (
        lambda x, up, down, worth: liger("fused_moe", "LigerFusedMoEFunction")(x, up, down, EXPERTS, worth),
        experts,
        (HIDDEN, (4, 192, 64), (4, 64, 96), (ROWS, 2)),
    ),
    "tiled_mlp": (
        in_tiles,
        lambda x, up, gate, down: (F.silu(x @ gate.mT) * (x @ up.mT)) @ down.mT,
        (HIDDEN, VOCABULARY, VOCABULARY, (64, COLUMNS)),
    ),
    "embedding": (
        liger("experimental.embedding", "LigerEmbeddingFunction", TARGETS),
        lambda table: F.embedding(TARGETS, table),
        ((COLUMNS, 48),),
    ),
}


# Their products of f32 are of tf32, which has 10 bits.
BY_TF32 = ("fused_neighborhood_attention", "fused_moe", "mhc_coeffs")


def multiplies_bytes_by_packed_numbers() -> bool:
    """mm_int8int2: bytes times -1, 0 and 1, of which a byte has four."""
    op = import_module("liger_kernel.ops.experimental.mm_int8int2")
    a, b = torch.randint(-128, 128, (45, 256), dtype=torch.int8), torch.randint(-1, 2, (256, 72))
    return torch.equal(op.matmul(a, op.pack_weights(b.clone())).long(), a.long() @ b)


def error(got: torch.Tensor, expected: torch.Tensor) -> float:
    return float((got.double() - expected).abs().max() / expected.abs().max())


# Operators of integers, without gradients.
EXACT = {"mm_int8int2": multiplies_bytes_by_packed_numbers}


def try_exactly(name: str) -> bool:
    try:
        right, told = EXACT[name](), ""
    except Exception as problem:  # noqa: BLE001  the others still run
        right, told = False, f" fails: {type(problem).__name__}: {str(problem)[:300]}"
    print(f"{name:29}{told or (' equal' if right else ' differs')}", flush=True)
    return right


def try_with_gradients(name: str) -> bool:
    ours, reference, shapes = CASES[name]
    inputs = [torch.randn(shape) for shape in shapes]
    narrow = [x.clone().requires_grad_() for x in inputs]
    wide = [x.double().requires_grad_() for x in inputs]
    way = "forwards"
    try:
        got = ours(*narrow)
        expected = reference(*wide)
        got = got[0] if isinstance(got, tuple) else got
        gradient = torch.randn(got.shape)
        expected.backward(gradient.double())
        way = "backwards"
        # Some write their gradients over the ones that they are given.
        got.backward(gradient.clone())
    except Exception as problem:  # noqa: BLE001  the others still run
        print(f"{name:29} fails {way}: {type(problem).__name__}: {str(problem)[:300]}", flush=True)
        return False
    forwards = error(got.detach(), expected.detach())
    backwards = [error(a.grad, b.grad) for a, b in zip(narrow, wide, strict=True)]
    print(f"{name:29} forwards {forwards:.1e}, backwards {max(backwards):.1e}", flush=True)
    return all(each <= (4e-3 if name in BY_TF32 else 1e-5) for each in (forwards, *backwards))  # and no NaN


def main() -> int:
    chosen = sys.argv[1:] or [*CASES, *EXACT]
    if unknown := set(chosen) - {*CASES, *EXACT}:
        sys.exit(f"expected operators among {', '.join([*CASES, *EXACT])}; got {', '.join(sorted(unknown))}")
    right = sum(try_exactly(name) if name in EXACT else try_with_gradients(name) for name in chosen)
    print(f"{right} of {len(chosen)} right; torch.initial_seed() {torch.initial_seed()}")
    return int(right < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
