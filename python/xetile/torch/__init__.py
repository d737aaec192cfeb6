# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch models as kernels for this CPU. Needs `pip install xetile[torch]`.

    compiled = torch.compile(model, backend="xetile", options={"threads": 2})
    kernel = xetile.torch.compile(model.eval(), (x,))   # a xetile.Kernel: called with arrays or tensors, as the model
    module = xetile.torch.export(model.eval(), (x,))    # linalg on tensors, for schedules and mlir-opt

torch-mlir turns graphs of ATen operations into linalg on tensors; from there on it is `xetile.compile(target="cpu")`.
What cannot be compiled runs as PyTorch runs it, and the logger "xetile.torch" says what and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xetile.torch.backend import backend
    from xetile.torch.models import compile, export

# Each is imported when it is first used: the module can be looked at where there is no PyTorch.
_LAZY = {"backend": "xetile.torch.backend", "compile": "xetile.torch.models", "export": "xetile.torch.models"}

__all__ = ["backend", "compile", "export"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'xetile.torch' has no attribute {name!r}; it has {', '.join(__all__)}")
    from importlib import import_module

    from xetile.torch import _versions

    _versions.expect()
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value
