// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostCopies.cpp: arrays of the host in memory of a device, for one launch.
// Input: blocks of host memory and a kernel's arguments; output: arguments that point into copies
// of the blocks, and what the kernel left in them. Refused: nothing.
#include "HostCopies.h"

#include "GuardedMemory.h"
#include "Memory.h"

namespace xetile::runtime {

HostCopies::HostCopies(const Kernel &kernel, const XeTileHostBlock *given, size_t blockCount,
                       void **arguments, size_t argumentCount)
    : device(kernel.program->device()), blocks(given, given + blockCount), pointers(argumentCount),
      values(arguments, arguments + argumentCount) {
  // Who throws in a constructor is not destroyed.
  try {
    for (const XeTileHostBlock &block : blocks)
      copies.push_back(allocateForCopy(device, block.bytes));
  } catch (...) {
    for (void *copy : copies)
      release(copy, nullptr);
    throw;
  }
  if (!checksLaunches())
    for (void *copy : copies)
      fill(copy);
  size_t next = 0;
  const std::vector<SpirvType> &parameters = kernel.declaration->parameters;
  for (size_t i = 0; i < parameters.size() && next < argumentCount; ++i) {
    bool pointer = parameters[i].kind == SpirvType::Pointer;
    if (pointer && parameters[i].storage == storage::workgroup)
      continue;
    if (pointer && !kernel.declaration->structBytes[i] && values[next]) {
      pointers[next] = inCopy(*static_cast<void **>(values[next]));
      values[next] = &pointers[next];
    }
    ++next;
  }
}

HostCopies::~HostCopies() {
  // Who launched has waited for the kernel, and errors of a launch come before or behind it.
  for (void *copy : copies)
    releaseIdle(copy);
}

unsigned char *HostCopies::written(const void *copy) const {
  for (size_t i = 0; i < blocks.size(); ++i)
    if (copies[i] == copy && blocks[i].written)
      return static_cast<unsigned char *>(blocks[i].host);
  return nullptr;
}

unsigned char *HostCopies::host(const void *copy) const {
  for (size_t i = 0; i < blocks.size(); ++i)
    if (copies[i] == copy)
      return static_cast<unsigned char *>(blocks[i].host);
  return nullptr;
}

void HostCopies::fill(const void *copy) const {
  for (size_t i = 0; i < blocks.size(); ++i)
    if (copies[i] == copy)
      copyToDevice(device, copies[i], blocks[i].host, blocks[i].bytes);
}

void HostCopies::settle(const void *copy) {
  for (size_t i = 0; i < blocks.size(); ++i)
    if (copies[i] == copy)
      blocks[i].written = 0;
}

void HostCopies::copyBack() const {
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].written)
      copyToHost(device, blocks[i].host, copies[i], blocks[i].bytes);
}

void *HostCopies::inCopy(void *host) const {
  auto address = reinterpret_cast<uintptr_t>(host);
  for (size_t i = 0; i < blocks.size(); ++i) {
    auto start = reinterpret_cast<uintptr_t>(blocks[i].host);
    if (address >= start && address - start < blocks[i].bytes)
      return static_cast<char *>(copies[i]) + (address - start);
  }
  return host;
}

} // namespace xetile::runtime
