//===- Ocloc.h - Intel's offline compiler -----------------------------------===//
#ifndef XETILE_BINARY_OCLOC_H
#define XETILE_BINARY_OCLOC_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace xetile {

/// What ocloc made of a SPIR-V module.
struct NativeBinary {
  std::string bytes;
  int64_t spillBytes = 0; // of the kernel that spills most
  int64_t registers = 0;  // per thread
};

/// `given` if it is set, else $XETILE_OCLOC, else `ocloc` on PATH, else the one in XeTile's cache.
std::optional<std::string> findOcloc(llvm::StringRef given);

/// Compiles for `device`. Returns what failed, with ocloc's log.
std::optional<std::string> runOcloc(llvm::StringRef ocloc, llvm::StringRef spirv,
                                    llvm::StringRef device, llvm::StringRef options,
                                    NativeBinary &result);

} // namespace xetile

#endif // XETILE_BINARY_OCLOC_H
