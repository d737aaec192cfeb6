//===- Ocloc.h - Intel's offline compiler -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_BINARY_OCLOC_H
#define XETILE_TARGET_XE_BINARY_OCLOC_H

#include "xetile/Target/Xe/Binary/NativeElf.h"
#include "xetile/Target/Xe/RegisterFile.h"
#include <vector>

namespace xetile {

/// A compilation of a SPIR-V module by ocloc.
struct OclocJob {
  llvm::StringRef spirv;
  llvm::StringRef device;
  llvm::ArrayRef<llvm::StringRef> kernels; // that must be in the result
  RegisterFile registers = RegisterFile::Small;
  bool assembly = false;   // besides, the code as text
  bool lineTables = false; // of what SPIR-V says of lines, in the result and in the text
};

/// The result of one.
struct NativeBinary : NativeFacts {
  std::string bytes;
  std::vector<std::string> assembly; // of each kernel, by name
};

/// `given` if it is set, else $XETILE_OCLOC, else `ocloc` on PATH, else the one in XeTile's cache;
/// an absolute path. This is the only place that looks for it.
std::optional<std::string> findOcloc(llvm::StringRef given);

/// Why there is none, and what to do.
std::string explainNoOcloc(llvm::StringRef given);

/// Compiles, twice where `registers` leaves the choice and the small register file spills. Each run
/// has $XETILE_OCLOC_TIMEOUT seconds (default: 600). Returns what failed, with the end of ocloc's
/// log as UTF-8. ocloc and its files do not outlive this process.
std::optional<std::string> runOcloc(llvm::StringRef ocloc, const OclocJob &job,
                                    NativeBinary &result);

} // namespace xetile

#endif // XETILE_TARGET_XE_BINARY_OCLOC_H
