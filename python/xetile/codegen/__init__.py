# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules in the LLVM dialect as code: of this process, of an object file, of a saved kernel."""
