//===- KernelName.h - names that drivers and file systems take --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_BINARY_KERNELNAME_H
#define XETILE_TARGET_XE_BINARY_KERNELNAME_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace xetile {

/// Why no kernel may have this name, or nothing: drivers abort on names that are no identifiers.
std::optional<std::string> checkKernelName(llvm::StringRef name);

/// The name of a file for the kernel, without a suffix: a long one is cut and told apart by a hash.
std::string fileNameOfKernel(llvm::StringRef name);

} // namespace xetile

#endif // XETILE_TARGET_XE_BINARY_KERNELNAME_H
