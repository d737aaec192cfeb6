// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch.cpp: device memory between the kernels of a call.
// Input: sizes in bytes, the stream of this thread. Output: device pointers, kept for the next call
// on the same stream, which begins with it when this one's kernels are done. Refused: sizes that
// the device does not have, through Error.
#include "Scratch.h"
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace xetile::runtime::cuda {
namespace {

/// Of a stream, in bytes: a call may take memory of up to twice the size that it asks for.
using Free = std::multimap<size_t, DevicePointer>;

/// A stream, and the context that it is in: the default one is in each.
using Stream = std::pair<void *, void *>;

struct Pool {
  std::mutex mutex;
  std::map<Stream, Free> ofStream;
  std::map<std::pair<void *, DevicePointer>, size_t> sizes; // of a context's memory
  std::map<Stream, DevicePointer> counters;
  std::map<DevicePointer, size_t> ranges; // of all memory: contexts share their addresses
  std::atomic<bool> hasRanges{false};
};

Stream thisStream(const Driver &driver) {
  void *context = nullptr;
  check(driver, driver.ctxGetCurrent(&context), "asking for the current context");
  return {context, currentStream()};
}

/// Never destroyed: kernels may be called until the process ends.
Pool &pool() {
  static auto *all = new Pool;
  return *all;
}

} // namespace

DevicePointer takeScratch(const Driver &driver, size_t bytes) {
  Pool &all = pool();
  std::lock_guard<std::mutex> lock(all.mutex);
  Stream stream = thisStream(driver);
  Free &free = all.ofStream[stream];
  auto found = free.lower_bound(bytes);
  if (found != free.end() && found->first / 2 <= bytes) {
    DevicePointer memory = found->second;
    free.erase(found);
    return memory;
  }
  DevicePointer memory = 0;
  check(driver, driver.memAlloc(&memory, bytes),
        "allocating " + std::to_string(bytes) + " bytes between kernels");
  all.sizes[{stream.first, memory}] = bytes;
  all.ranges[memory] = bytes;
  all.hasRanges.store(true, std::memory_order_release);
  return memory;
}

void giveScratch(const Driver &driver, DevicePointer memory) {
  Pool &all = pool();
  std::lock_guard<std::mutex> lock(all.mutex);
  Stream stream = thisStream(driver);
  auto size = all.sizes.find({stream.first, memory});
  if (size != all.sizes.end())
    all.ofStream[stream].emplace(size->second, memory);
}

bool isScratch(DevicePointer address) {
  Pool &all = pool();
  if (!all.hasRanges.load(std::memory_order_acquire))
    return false;
  std::lock_guard<std::mutex> lock(all.mutex);
  auto behind = all.ranges.upper_bound(address);
  if (behind == all.ranges.begin())
    return false;
  const auto &[start, bytes] = *std::prev(behind);
  return address - start < bytes;
}

DevicePointer streamCounter(const Driver &driver) {
  Pool &all = pool();
  std::lock_guard<std::mutex> lock(all.mutex);
  DevicePointer &counter = all.counters[thisStream(driver)];
  if (counter)
    return counter;
  constexpr uint32_t kZeros[] = {0, 0};
  DevicePointer made = 0;
  check(driver, driver.memAlloc(&made, sizeof(kZeros)), "allocating a counter of tiles");
  check(driver, driver.memcpyToDevice(made, kZeros, sizeof(kZeros)), "zeroing a counter of tiles");
  return counter = made;
}

} // namespace xetile::runtime::cuda
