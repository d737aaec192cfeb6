// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostBytes.h: long arrays of the host, by several threads where one would take long.
// Input: memory of the host; output: a copy of it, its digest, true if two are equal.
// Refused: nothing.
#ifndef XETILE_RUNTIME_HOSTBYTES_H
#define XETILE_RUNTIME_HOSTBYTES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace xetile::runtime {

void copyBytes(void *to, const void *from, size_t size);
bool equalBytes(const void *one, const void *other, size_t size);

/// Bytes that one part of a digest tells of.
constexpr size_t digestedBytes = size_t(16) << 10;

/// Of the array's parts, eight numbers each, which differ where one word of 8 bytes does, and with
/// a probability of 1 - 2^-64 where more do. Only this process can compare them.
std::vector<uint64_t> digestOf(const void *bytes, size_t size);

/// The first byte of the first part in which two digests differ; `size` if none does.
size_t firstDifference(const std::vector<uint64_t> &one, const std::vector<uint64_t> &other,
                       size_t size);

} // namespace xetile::runtime
#endif
