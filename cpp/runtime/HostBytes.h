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

/// Of an array: eight numbers for each part of so many bytes.
struct Digest {
  std::vector<uint64_t> numbers;
  size_t partBytes = 0;
};
constexpr size_t digestLanes = 8;

/// Keys of the words of a digest, which come again behind the last one.
constexpr size_t digestKeyCount = 16 * digestLanes;
const uint64_t *digestKeys();

/// Of the array's parts the numbers differ where one word of 8 bytes does, and with a probability
/// of 1 - 2^-64 where more do. Only this process can compare them.
Digest digestOf(const void *bytes, size_t size);

/// The first byte of the first part in which two digests, of parts of one length, differ; `size` if
/// none does.
size_t firstDifference(const Digest &one, const Digest &other, size_t size);

} // namespace xetile::runtime
#endif
