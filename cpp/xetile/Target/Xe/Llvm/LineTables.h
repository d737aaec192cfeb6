//===- LineTables.h - source lines in SPIR-V --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_LINETABLES_H
#define XETILE_TARGET_XE_LLVM_LINETABLES_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace xetile {

/// True if functions of a module have debug scopes, without which no line is known.
bool hasLineTables(const llvm::Module &module);

/// The lines that instructions of a module come from, on their way through LLVM's SPIR-V backend,
/// which writes none: calls of a function that does not exist pass it in their order.
class LineTables {
public:
  /// Takes the debug information out of the module and leaves the calls.
  explicit LineTables(llvm::Module &module);

  /// Writes OpLine for the calls in what the backend made of the module, and the scopes of
  /// OpenCL.DebugInfo.100 without which Intel's compiler passes over them. Returns what is wrong.
  std::optional<std::string> write(std::string &spirv) const;

private:
  using Place = std::pair<std::string, uint32_t>; // file and line
  std::vector<Place> places; // a call passes their number from 1, 1 more than the last for no line
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_LINETABLES_H
