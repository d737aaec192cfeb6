//===- Compile.h - the walk through a target's levels -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_COMPILE_H
#define XETILE_TARGET_COMPILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace xetile {

/// How a level is reached from the level before (level 0: from what users write).
struct LevelStep {
  llvm::StringRef name, action;
  std::string pipeline; // passes as text; empty where only a schedule leads there
};

/// All levels of the target of that name, compiled with these options (name, value). Returns what
/// is wrong with them.
std::optional<std::string>
describeLevels(llvm::StringRef target, llvm::ArrayRef<std::pair<std::string, std::string>> options,
               std::vector<LevelStep> &steps);

/// Registers xetile-compile, for the targets that are registered before it runs.
void registerCompilePipeline();

} // namespace xetile

#endif // XETILE_TARGET_COMPILE_H
