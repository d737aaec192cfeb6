# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's interface to the system: its own files, the cache, other programs, the machine, this process."""
