// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PortableSpirv.h: kernels of other compilers as Intel's OpenCL driver for CPUs takes them.
// Input: a SPIR-V module for Intel GPUs; output: the same module without what that driver refuses
// and no result needs, and with calls of Intel's builtins for instructions that it does not have.
// Refused: modules of other environments, instructions, capabilities and modes that neither the
// driver nor this runtime knows, by name.
#ifndef XETILE_RUNTIME_PORTABLESPIRV_H
#define XETILE_RUNTIME_PORTABLESPIRV_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xetile::runtime {

struct PortableSpirv {
  std::vector<uint32_t> words;
  /// For people: "dropped ...", "rewritten ...", each once.
  std::vector<std::string> notes;
};

enum class SubgroupOrder {
  AsDriven,
  /// Each workgroup, and each subgroup in it, takes the place of its mirror image, so the device
  /// runs them the other way round.
  Reversed
};

/// Throws an Error that names what nobody knows.
PortableSpirv makePortable(const void *spirv, size_t size, SubgroupOrder order);

} // namespace xetile::runtime
#endif
