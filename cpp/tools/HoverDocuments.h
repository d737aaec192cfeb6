//===- HoverDocuments.h - What definitions say, in hovers -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TOOLS_HOVERDOCUMENTS_H
#define XETILE_TOOLS_HOVERDOCUMENTS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <thread>

namespace xetile {

/// Texts of operations by their definitions, in Markdown: the parts of the pages that
/// mlir-tblgen makes of ODS.
class HoverDocuments {
public:
  /// Of the pages in a folder; of none where it is not there.
  explicit HoverDocuments(llvm::StringRef folder);

  /// Empty for an operation of which they say nothing.
  llvm::StringRef of(llvm::StringRef operation) const;

  /// A message of the server, in JSON; a hover on an operation with what is known of it.
  std::string complete(llvm::StringRef message) const;

private:
  void read(llvm::StringRef path);

  llvm::StringMap<std::string> parts;
};

/// Completes what this process writes to its standard output, a server's messages, until it ends or
/// the filter does. Upstream's server takes no other stream, and keeps to itself how hovers are
/// made.
class HoverFilter {
public:
  explicit HoverFilter(llvm::StringRef folder);
  ~HoverFilter();
  HoverFilter(const HoverFilter &) = delete;
  HoverFilter &operator=(const HoverFilter &) = delete;

private:
  HoverDocuments documents;
  std::thread pump;
};

} // namespace xetile

#endif // XETILE_TOOLS_HOVERDOCUMENTS_H
