//===- NativeElf.h - what machine code for Intel GPUs holds -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_BINARY_NATIVEELF_H
#define XETILE_TARGET_XE_BINARY_NATIVEELF_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace xetile {

/// Metadata for the driver of the kernels in an ELF file.
struct NativeFacts {
  int64_t spillBytes = 0; // of the kernel that spills most
  int64_t registers = 0;  // per thread
};

/// Reads the facts. Returns why the bytes are not what a driver loads: not an ELF file for Intel
/// GPUs, no description of its kernels, no code for one of `kernels`, calls of functions that are
/// nowhere.
std::optional<std::string>
readNativeElf(llvm::StringRef bytes, llvm::ArrayRef<llvm::StringRef> kernels, NativeFacts &facts);

} // namespace xetile

#endif // XETILE_TARGET_XE_BINARY_NATIVEELF_H
