//===- CacheControls.h - cache hints in SPIR-V ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_CACHECONTROLS_H
#define XETILE_TARGET_XE_LLVM_CACHECONTROLS_H

#include <string>

namespace llvm {
class CallInst;
class Module;
} // namespace llvm

namespace xetile {

/// Makes decorations of pointers of the cache hints that XeVM leaves as metadata of calls: what
/// LLVM's backend knows. Returns whether there are any.
bool decorateCacheControls(llvm::Module &module);

/// The hints of a load or prefetch as the number that a message's cache control has in Intel's
/// builtins. Without any, or with such as no message has: caches at all levels.
unsigned cacheControlOfMessage(const llvm::CallInst &call);

/// The module without what SPV_INTEL_cache_controls adds, for a validator that does not know it.
std::string withoutCacheControls(const std::string &spirv);

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_CACHECONTROLS_H
