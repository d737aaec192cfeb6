//===- RegisterFile.h - how many registers a thread has -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_REGISTERFILE_H
#define XETILE_TARGET_XE_REGISTERFILE_H

#include "llvm/Support/CommandLine.h"

namespace xetile {

/// Of machine code.
enum class RegisterFile {
  Small,
  Large, // twice the registers, for half the threads
  Auto,  // the large one where that spills less than the small one
};

/// As users write it: `large-register-file` alone means true.
inline llvm::cl::ValuesClass registerFileValues() {
  return llvm::cl::values(
      clEnumValN(RegisterFile::Auto, "auto", "where a thread spills less with them"),
      clEnumValN(RegisterFile::Large, "true", "for half the threads"),
      clEnumValN(RegisterFile::Small, "false", "not"), clEnumValN(RegisterFile::Large, "", "true"));
}

} // namespace xetile

#endif // XETILE_TARGET_XE_REGISTERFILE_H
