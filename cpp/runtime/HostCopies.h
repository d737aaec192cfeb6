// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostCopies.h: arrays of the host in memory of a device, for one launch.
// Input: blocks of host memory and a kernel's arguments; output: arguments that point into copies
// of the blocks, and what the kernel left in them. Refused: nothing.
#ifndef XETILE_RUNTIME_HOSTCOPIES_H
#define XETILE_RUNTIME_HOSTCOPIES_H

#include "Program.h"
#include "XeTileRuntime.h"

#include <vector>

namespace xetile::runtime {

class HostCopies {
public:
  /// Pointers that lie in none of the blocks stay as they are. Under checks, the copies are filled
  /// by the launch, which knows what the kernel reads.
  HostCopies(const Kernel &kernel, const XeTileHostBlock *blocks, size_t blockCount,
             void **arguments, size_t argumentCount);
  ~HostCopies();
  HostCopies(const HostCopies &) = delete;
  HostCopies &operator=(const HostCopies &) = delete;

  void **arguments() { return values.data(); }

  /// The block whose copy begins there, if the host is to have what the kernel leaves; else null.
  unsigned char *written(const void *copy) const;
  /// The block whose copy begins there; null if there is none.
  unsigned char *host(const void *copy) const;
  /// Copies a block to its copy, which begins there; nothing for other memory.
  void fill(const void *copy) const;
  /// The host has already what the kernel leaves in the block whose copy begins there.
  void settle(const void *copy);

  /// Of the blocks that are written.
  void copyBack() const;

private:
  void *inCopy(void *host) const;

  Device &device;
  std::vector<XeTileHostBlock> blocks;
  std::vector<void *> copies, pointers, values;
};

} // namespace xetile::runtime
#endif
