// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kept.cpp: copies of a program's constants on devices, which stay until the program goes.
// Input: host memory that never changes, and who owns it; output: its copy, one for each device.
// Refused: what the device has no memory for; nothing is remembered of it.
#include "Kept.h"

#include "Memory.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <tuple>

namespace xetile::runtime {
namespace {

struct Kept {
  std::mutex mutex;
  std::map<std::tuple<const void *, const void *, Device *>, void *> copies;
  uint64_t uploads = 0, bytes = 0;
  bool ending = false;
};

Kept &kept() {
  static auto *state = new Kept;
  return *state;
}

/// Behind the driver's own: functions at the end run in the other order.
void markEnd() {
  std::atexit([] {
    Kept &state = kept();
    std::lock_guard<std::mutex> lock(state.mutex);
    state.ending = true;
  });
}

} // namespace

void *keep(Device &device, const void *owner, const void *host, size_t size) {
  if (size == 0)
    return nullptr;
  Kept &state = kept();
  std::lock_guard<std::mutex> lock(state.mutex);
  std::tuple<const void *, const void *, Device *> key(owner, host, &device);
  if (auto found = state.copies.find(key); found != state.copies.end())
    return found->second;
  static const bool once = (markEnd(), true);
  (void)once;
  void *made = allocate(device, size, /*hostShared=*/false);
  try {
    copy(device, made, host, size, /*stream=*/nullptr);
  } catch (...) {
    release(made, /*stream=*/nullptr);
    throw;
  }
  state.copies.emplace(key, made);
  ++state.uploads;
  state.bytes += size;
  return made;
}

void forget(const void *owner) {
  Kept &state = kept();
  std::lock_guard<std::mutex> lock(state.mutex);
  auto next = state.copies.lower_bound({owner, nullptr, nullptr});
  while (next != state.copies.end() && std::get<0>(next->first) == owner) {
    if (!state.ending)
      release(next->second, /*stream=*/nullptr);
    next = state.copies.erase(next);
  }
}

KeptCounters keptCounters() {
  Kept &state = kept();
  std::lock_guard<std::mutex> lock(state.mutex);
  return {state.uploads, state.bytes, state.copies.size()};
}

} // namespace xetile::runtime
