// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AccessFlow.h: what the accesses of a kernel depend on, for XETILE_CHECK.
// Input: a SPIR-V module as makePortable() leaves it; output: for each kernel, which parameters it
// reads and writes through, and which of their contents decide where. Refused: nothing; what is
// not understood may be anything.
#ifndef XETILE_RUNTIME_ACCESSFLOW_H
#define XETILE_RUNTIME_ACCESSFLOW_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace xetile::runtime {

/// Of one kernel. The bit i is the parameter i.
struct AccessFlow {
  static constexpr uint64_t anything = ~uint64_t(0);
  /// In `decides`: what subgroups may leave for each other outside of the parameters' arrays, and
  /// the bits of addresses.
  static constexpr uint64_t exchanged = uint64_t(1) << 63;

  /// Arrays that may be read, and written.
  uint64_t reads = anything, writes = anything;
  /// Arrays whose contents, and numbers that, may decide which bytes are accessed, or are divided
  /// by, which may end a process. Where none of the arrays is written, and `exchanged` is not set,
  /// the order of subgroups changes no address.
  uint64_t decides = anything;

  bool readsThrough(size_t parameter) const { return reads >> std::min<size_t>(parameter, 63) & 1; }
  bool writesThrough(size_t parameter) const {
    return writes >> std::min<size_t>(parameter, 63) & 1;
  }
  bool decidedBy(size_t parameter) const { return decides >> std::min<size_t>(parameter, 63) & 1; }
  /// All that is accessed is known to lie in arrays of the parameters, and not to be decided by
  /// what is no parameter.
  bool isKnown() const { return !(decides & exchanged) && reads != anything && writes != anything; }
};

/// By kernels' names.
std::map<std::string, AccessFlow> accessFlows(const std::vector<uint32_t> &spirv);

} // namespace xetile::runtime
#endif
