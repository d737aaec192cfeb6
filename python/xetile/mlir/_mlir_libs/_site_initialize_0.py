# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers XeTile in every `xetile.mlir.ir.Context`; upstream's package calls this when it is imported."""

# Importing the extension registers the passes.
from ._xetile import print_no_ops_in_diagnostics as context_init_hook
from ._xetile import register_dialects

__all__ = ["context_init_hook", "register_dialects"]
