// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IntegerRange.cpp: what integers may be, by what they are computed of.
// Input: an instruction's number and ranges of its operands; output: the range of its result.
// Refused: nothing.
//
// A result that may be too large for its bits may be any of these.
#include "IntegerRange.h"

#include "SpirvNumbers.h"

namespace xetile::runtime {
namespace {

__extension__ using Wide = __int128;
using Range = IntegerRange;

Range fitting(Wide least, Wide greatest, unsigned bits) {
  Range all = Range::all(bits);
  if (least < all.least || greatest > all.greatest)
    return all;
  return {static_cast<int64_t>(least), static_cast<int64_t>(greatest)};
}

Range product(const Range &one, const Range &other, unsigned bits) {
  Wide values[] = {Wide(one.least) * other.least, Wide(one.least) * other.greatest,
                   Wide(one.greatest) * other.least, Wide(one.greatest) * other.greatest};
  return fitting(*std::min_element(values, values + 4), *std::max_element(values, values + 4),
                 bits);
}

} // namespace

IntegerRange IntegerRange::all(unsigned bits) {
  int64_t most = bits >= 64 ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1;
  return {-most - 1, most};
}

int64_t IntegerRange::extended(uint64_t value, unsigned bits) {
  unsigned unused = 64 - std::min(bits, 64u);
  return static_cast<int64_t>(value << unused) >> unused;
}

IntegerRange IntegerRange::ofOne(unsigned opcode, const Range &from, unsigned before,
                                 unsigned bits) {
  switch (opcode) {
  case op::convertU:
    if (from.least < 0 && bits > before)
      return {0, before > 62 ? INT64_MAX : (int64_t(1) << before) - 1};
    return fitting(from.least, from.greatest, bits);
  case op::convertS:
    return fitting(from.least, from.greatest, bits);
  case op::negate:
    return fitting(-Wide(from.greatest), -Wide(from.least), bits);
  default:
    return opcode == op::bitcast && before == bits ? from : all(bits);
  }
}

IntegerRange IntegerRange::ofTwo(unsigned opcode, const Range &one, const Range &other,
                                 unsigned bits) {
  Range every = all(bits);
  bool amount = other.least == other.greatest && other.least >= 0 && other.least < bits;
  bool positive = one.least >= 0 && other.least > 0;
  switch (opcode) {
  case op::add:
    return fitting(Wide(one.least) + other.least, Wide(one.greatest) + other.greatest, bits);
  case op::subtract:
    return fitting(Wide(one.least) - other.greatest, Wide(one.greatest) - other.least, bits);
  case op::multiply:
    return product(one, other, bits);
  case op::shiftLeft:
    return amount && other.least < 63
               ? product(one, {int64_t(1) << other.least, int64_t(1) << other.least}, bits)
               : every;
  case op::shiftRightSigned:
    return amount ? Range{one.least >> other.least, one.greatest >> other.least} : every;
  case op::shiftRight:
    return amount && one.least >= 0 ? Range{one.least >> other.least, one.greatest >> other.least}
                                    : every;
  case op::divideUnsigned:
  case op::divideSigned:
    return positive ? Range{one.least / other.greatest, one.greatest / other.least} : every;
  case op::modUnsigned:
  case op::remSigned:
  case op::modSigned:
    return positive ? Range{0, std::min(one.greatest, other.greatest - 1)} : every;
  case op::bitwiseAnd:
    if (one.least == one.greatest && other.least == other.greatest)
      return {one.least & other.least, one.least & other.least};
    if (one.least < 0 && other.least < 0)
      return every;
    return {0, one.least < 0     ? other.greatest
               : other.least < 0 ? one.greatest
                                 : std::min(one.greatest, other.greatest)};
  case op::bitwiseXor:
    // As compilers write that all bits change.
    return other.least == -1 && other.greatest == -1 ? Range{~one.greatest, ~one.least} : every;
  default:
    return every;
  }
}

} // namespace xetile::runtime
