# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of machine code, and comparisons with kept ones."""
