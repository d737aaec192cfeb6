# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of liger-kernel, forwards and backwards, on the CPU against PyTorch in f64: the largest error of each.

Not a test: liger-kernel is not installed here. `pip install --no-deps --target LIGER liger-kernel==0.8.5`, then
    XETILE_TRITON=.triton-xpu PYTHONPATH=build/python_packages:LIGER .venv-torch/bin/python \\
      test/triton_kernels/liger_operators.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

import xetile.triton

xetile.triton.activate()
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

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


WIDE, ROW = (ROWS, COLUMNS), (COLUMNS,)
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
    "geglu": (liger("geglu", "LigerGELUMulFunction"), lambda a, b: F.gelu(a, approximate="tanh") * b, (WIDE, WIDE)),
    "softmax": (liger("softmax", "LigerSoftmaxFunction"), lambda x: x.softmax(-1), (WIDE,)),
    "cross_entropy": (
        liger("cross_entropy", "LigerCrossEntropyFunction", TARGETS, None, -100, 0.0, 0.0, "mean", None, False),
        lambda x: F.cross_entropy(x, TARGETS),
        (WIDE,),
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
}


def error(got: torch.Tensor, expected: torch.Tensor) -> float:
    return float((got.double() - expected).abs().max() / expected.abs().max())


def main() -> int:
    wrong = 0
    for name, (ours, reference, shapes) in CASES.items():
        inputs = [torch.randn(shape) for shape in shapes]
        narrow = [x.clone().requires_grad_() for x in inputs]
        wide = [x.double().requires_grad_() for x in inputs]
        got, expected = ours(*narrow), reference(*wide)
        got = got[0] if isinstance(got, tuple) else got
        gradient = torch.randn(got.shape)
        # Some write their gradients over the ones that they are given.
        got.backward(gradient.clone())
        expected.backward(gradient.double())
        errors = [error(got, expected), *(error(a.grad, b.grad) for a, b in zip(narrow, wide, strict=True))]
        right = max(errors) <= 1e-5  # and no NaN
        wrong += not right
        print(f"{name:14} forwards {errors[0]:.1e}, backwards {max(errors[1:]):.1e}", flush=True)
    print(f"{len(CASES) - wrong} of {len(CASES)} right; torch.initial_seed() {torch.initial_seed()}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
