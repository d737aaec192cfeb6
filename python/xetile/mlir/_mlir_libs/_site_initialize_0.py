# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers XeTile in every `xetile.mlir.ir.Context`; upstream's package calls this when it is imported."""

# Importing the extension registers the passes.
from ._xetile import print_no_ops_in_diagnostics as context_init_hook
from ._xetile import register_dialects

__all__ = ["context_init_hook", "disable_multithreading", "register_dialects"]

# The threads of a context are gone in a child of fork(), which then waits for them for ever: multiprocessing forks by
# default. A payload is a function or two: they have nothing to do at once. `enable_multithreading` turns them on.
disable_multithreading = True
