// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AccessRanges.h: launches whose accesses are known to lie within arrays before they run, for
// XETILE_CHECK.
// Input: a SPIR-V module as makePortable() leaves it, sizes and numbers of a launch; output: true
// if all that the kernel accesses lies within its arrays. Refused: nothing; what is not understood
// is not known.
#ifndef XETILE_RUNTIME_ACCESSRANGES_H
#define XETILE_RUNTIME_ACCESSRANGES_H

#include "KernelBlocks.h"
#include "SpirvEdit.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace xetile::runtime {

/// For a parameter.
struct LaunchArgument {
  /// Of an array: where in it the pointer points to.
  uint64_t offset = 0;
  /// Of an array, or of a number.
  uint64_t bytes = 0;
  /// Null for an array.
  const void *number = nullptr;
};

struct LaunchNumbers {
  std::array<int64_t, 3> grid{}, block{};
  /// By the kernel's parameters.
  std::vector<LaunchArgument> arguments;
};

class AccessRanges {
public:
  explicit AccessRanges(const std::vector<uint32_t> &spirv);
  AccessRanges(const AccessRanges &) = delete;
  AccessRanges &operator=(const AccessRanges &) = delete;

  bool within(const std::string &kernel, const LaunchNumbers &launch) const;

private:
  friend class RangeSearch;

  /// Of a kernel that is understood but for its numbers.
  struct Known {
    const SpirvFunction *function;
    /// By label: the block that is always run before.
    std::map<uint32_t, uint32_t> dominators;
    std::map<uint32_t, std::set<uint32_t>> predecessors;
  };

  void readConstants();
  void know(const SpirvFunction &function, const std::string &name);
  /// False for a kernel with blocks that nothing leads to.
  static bool findDominators(Known &known);
  bool isUnderstood(const SpirvInstruction &instruction) const;

  std::vector<uint32_t> words;
  SpirvEdit edit;
  KernelBlocks blocks;
  std::map<uint32_t, int64_t> constants;
  /// Constants of truth values.
  std::map<uint32_t, bool> truths;
  std::map<std::string, Known> kernels;
};

} // namespace xetile::runtime
#endif
