# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the package has of the system: its own files, the cache, other programs, the machine, this process."""
