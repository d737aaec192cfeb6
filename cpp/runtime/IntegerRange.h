// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IntegerRange.h: what integers may be, by what they are computed of.
// Input: an instruction's number and ranges of its operands; output: the range of its result.
// Refused: nothing; what is not known may be anything.
#ifndef XETILE_RUNTIME_INTEGERRANGE_H
#define XETILE_RUNTIME_INTEGERRANGE_H

#include <algorithm>
#include <cstdint>

namespace xetile::runtime {

/// Of signed numbers, both ends among them.
struct IntegerRange {
  int64_t least, greatest;

  bool empty() const { return least > greatest; }
  bool holds(const IntegerRange &other) const {
    return least <= other.least && other.greatest <= greatest;
  }
  IntegerRange with(const IntegerRange &other) const {
    return {std::max(least, other.least), std::min(greatest, other.greatest)};
  }
  IntegerRange either(const IntegerRange &other) const {
    return {std::min(least, other.least), std::max(greatest, other.greatest)};
  }

  /// All of so many bits, up to 64.
  static IntegerRange all(unsigned bits);
  /// The number that the lower bits are.
  static int64_t extended(uint64_t value, unsigned bits);
  /// Of a conversion of integers of `before` bits, or a sign's change.
  static IntegerRange ofOne(unsigned opcode, const IntegerRange &from, unsigned before,
                            unsigned bits);
  static IntegerRange ofTwo(unsigned opcode, const IntegerRange &one, const IntegerRange &other,
                            unsigned bits);
};

} // namespace xetile::runtime
#endif
