//===- Callers.h - calls of C functions by their address ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the address of a function that takes addresses only, as many as the run knows. Out: its call.
// Refused: more than kMaxAddresses, which `hasCaller` tells.
//===----------------------------------------------------------------------===//
#ifndef XETILE_BINDINGS_CALLERS_H
#define XETILE_BINDINGS_CALLERS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace xetile {

/// `addresses` hold at least as many as the caller passes.
using Caller = void (*)(uintptr_t address, void *const *addresses);

/// Calls a C function that takes `sizeof...(I)` addresses.
template <size_t... I> Caller callerFor(std::index_sequence<I...>) {
  return [](uintptr_t address, [[maybe_unused]] void *const *addresses) {
    using Pointer = void *;
    reinterpret_cast<void (*)(std::conditional_t<(I, true), Pointer, Pointer>...)>(address)(
        addresses[I]...);
  };
}

/// A function that takes fewer addresses leaves those behind alone: who calls takes them from the
/// stack, on all machines that run these kernels. So a few callers do.
constexpr size_t kMaxAddresses = 1024;
inline const std::array<Caller, 4> callers = {
    callerFor(std::make_index_sequence<16>()), callerFor(std::make_index_sequence<64>()),
    callerFor(std::make_index_sequence<256>()), callerFor(std::make_index_sequence<1024>())};

inline bool hasCaller(size_t count) { return count <= kMaxAddresses; }

/// How many addresses a function with `count` parameters is called with.
inline size_t paddedCount(size_t count) {
  size_t padded = 16;
  while (padded < count)
    padded *= 4;
  return padded;
}

/// `addresses` are `paddedCount(count)` from `first` on, of which `count` are the function's.
inline void callWith(uintptr_t address, void *const *first, size_t count) {
  size_t number = 0;
  for (size_t padded = 16; padded < count; padded *= 4)
    ++number;
  callers[number](address, first);
}

} // namespace xetile

#endif // XETILE_BINDINGS_CALLERS_H
