# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels and how they are called, also where no compiler is installed. Nothing here makes one."""
