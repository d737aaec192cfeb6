//===- SpirvCodegen.h - LLVM IR to SPIR-V -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_SPIRVCODEGEN_H
#define XETILE_TARGET_XE_LLVM_SPIRVCODEGEN_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace llvm {
class Module;
}

namespace xetile {

/// How to optimize kernels.
struct SpirvOptions {
  unsigned level = 2;            // 0 to 3; loops are left alone at 0
  bool prefetchPayloads = true;  // prefetches in loops by address payloads
  bool blockPayloads = true;     // loads and stores, which have no cache hints then
  bool hasMessageOffsets = true; // of the chip
};

/// Optimizes `module` for the triple and repairs what SPIR-V has no form for. Returns what failed.
std::optional<std::string> optimizeForSpirv(llvm::Module &module, llvm::StringRef triple,
                                            const SpirvOptions &options);

/// Translates optimized IR and stores the binary, valid or not, in `spirv`. Returns what failed.
/// Cache hints need SPV_INTEL_cache_controls, which not every validator knows.
std::optional<std::string> translateToSpirv(const llvm::Module &module, std::string &spirv,
                                            bool withCacheControls = false);

/// The validator's messages, or nothing if it accepts the module.
std::optional<std::string> validateSpirv(llvm::StringRef spirv);

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_SPIRVCODEGEN_H
