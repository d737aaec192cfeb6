# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts about machines: the compiler's device table, and what was measured on the one at hand."""
