# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What makes a kernel of a payload, and what compiles to measure."""
