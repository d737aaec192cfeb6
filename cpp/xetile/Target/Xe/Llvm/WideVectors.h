//===- WideVectors.h - vectors that SPIR-V has no type for ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_WIDEVECTORS_H
#define XETILE_TARGET_XE_LLVM_WIDEVECTORS_H

#include <optional>
#include <string>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace xetile {

/// Rewrites every vector whose element count is not 2, 3, 4, 8 or 16. Returns what could not be
/// rewritten.
std::optional<std::string> splitWideVectors(llvm::Module &module);

/// Where such a vector is loaded to be cut into slices, loads the slices.
void narrowWideLoads(llvm::Function &function);

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_WIDEVECTORS_H
