//===- ScratchFolder.h - a temporary folder, removed in any case ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_BINARY_SCRATCHFOLDER_H
#define XETILE_TARGET_XE_BINARY_SCRATCHFOLDER_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace xetile {

/// A new folder `<prefix>-XXXXXX` among the system's temporary files, locked as long as this object
/// lives. The first one of a process removes those that processes left behind which were killed:
/// their locks are open.
class ScratchFolder {
public:
  explicit ScratchFolder(llvm::StringRef prefix);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;

  /// Why there is none; empty if there is.
  const std::string &failure() const { return error; }
  const std::string &path() const { return directory; }
  std::string file(llvm::StringRef name) const;

private:
  std::string directory, error;
  int lock = -1;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_BINARY_SCRATCHFOLDER_H
