# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles payloads to kernels, and measures kernels that it compiles."""
