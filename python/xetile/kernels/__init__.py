# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel is, and how it is called, also where no compiler is installed. Nothing here makes one."""
