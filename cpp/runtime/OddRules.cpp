// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OddRules.cpp: instructions on odd integers that become several on wide ones.
// Input: an instruction, and the types of its module; output: what computes the same is emitted.
// Refused: forms without a rule, by the instruction's number and the integer's bits.
#include "OddRules.h"

#include "Errors.h"
#include "SpirvNumbers.h"

#include <algorithm>

namespace xetile::runtime {
namespace {

// Of OpenCL.std.
namespace ext {
constexpr uint32_t sAbs = 141, sAddSat = 143, uAddSat = 144, clz = 151, ctz = 152, sMax = 156,
                   uMax = 157, sMin = 158, uMin = 159, rotate = 161, sSubSat = 162, uSubSat = 163,
                   popcount = 166, uAbs = 201;
}
constexpr uint32_t isVolatile = 1, isAligned = 2;

/// Calls `access` with the place of each byte, a pointer to it, and how it is accessed.
template <typename Access>
void forBytes(SpirvEdit &edit, OddTypes &types, uint32_t bytes, uint32_t pointer, uint32_t mask,
              Access access) {
  uint32_t index = types.intType(64), storage = edit.storageOf(edit.typeOf(pointer)).value_or(0);
  uint32_t type = types.pointerType(storage, types.intType(8));
  uint32_t base = types.emit(op::bitcast, type, {pointer});
  for (uint32_t i = 0; i < bytes; ++i) {
    uint32_t at = types.emit(op::inBoundsPtrAccessChain, type, {base, types.number(index, 64, i)});
    access(i, at, std::vector<uint32_t>{(mask & isVolatile) | isAligned, 1});
  }
}

} // namespace

void OddRules::refuse(const SpirvInstruction &in, uint32_t type) const {
  uint32_t bits = types.bitsOf(type);
  throw Error("the kernel has the SPIR-V instruction " + std::to_string(in.opcode()) + " on " +
              (edit.elementOf(type) ? "vectors of " : "") + "integers of " +
              (bits ? std::to_string(bits) + " bits" : "odd numbers of bits in a composite") +
              ", for which this runtime has no rule. Compute it with integers of 8, 16, 32 or 64 "
              "bits");
}

void OddRules::copy(const SpirvInstruction &in) {
  std::vector<uint32_t> operands(in.at + 1, in.at + in.length());
  if (operands.size() > 1)
    operands[0] = types.written(operands[0]);
  if (in.opcode() == op::function && operands.size() > 3)
    operands[3] = types.written(operands[3]);
  edit.emit(in.opcode(), operands);
}

uint32_t OddRules::oddOperand(const SpirvInstruction &in, unsigned from) const {
  for (unsigned i = from; i < in.length(); ++i)
    if (types.holdsOdd(edit.typeOf(in[i])))
      return edit.typeOf(in[i]);
  return 0;
}

uint32_t OddRules::resized(unsigned opcode, uint32_t value, uint32_t from, uint32_t to) {
  return types.wideBitsOf(from) == types.wideBitsOf(to)
             ? value
             : types.emit(opcode, types.written(to), {value});
}

void OddRules::give(const SpirvInstruction &in, uint32_t value) {
  if (types.isOdd(in[1]))
    types.masked(value, in[1], in[2]);
  else
    types.emit(op::copyObject, types.written(in[1]), {value}, in[2]);
}

/// Bits of a number, the integer type that it is computed in, and how many lanes there are.
struct OddRules::Bits {
  uint32_t count, number, lanes;
};

/// The bits of one lane of the result. Little-endian, as memory would have it.
uint32_t OddRules::gathered(const Bits &from, const Bits &to, uint32_t value, uint32_t lane) {
  uint32_t sum = 0;
  for (uint32_t k = 0; k < std::max(1u, to.count / from.count); ++k) {
    uint32_t bit = lane * to.count + k * from.count, part = value;
    if (from.lanes > 1)
      part = types.emit(op::compositeExtract, from.number, {value, bit / from.count});
    if (bit % from.count)
      part = types.emit(op::shiftRight, from.number,
                        {part, types.number(from.number, from.count, bit % from.count)});
    if (from.number != to.number)
      part = types.emit(op::convertU, to.number, {part});
    if (k)
      part = types.emit(
          op::shiftLeft, to.number,
          {part, types.number(to.number, to.count, static_cast<uint64_t>(k) * from.count)});
    sum = sum ? types.emit(op::bitwiseOr, to.number, {sum, part}) : part;
  }
  if (!OddTypes::isOddWidth(to.count))
    return sum;
  uint32_t mask = types.number(to.number, to.count, OddTypes::maskOf(to.count));
  return types.emit(op::bitwiseAnd, to.number, {sum, mask});
}

void OddRules::bitcast(const SpirvInstruction &in) {
  uint32_t value = in[3];
  auto bitsOf = [&](uint32_t type) {
    uint32_t element = edit.elementOf(type) ? edit.elementOf(type) : type;
    uint32_t count = types.bitsOf(type) ? types.bitsOf(type) : edit.floatBitsOf(element);
    return Bits{count, types.intType(OddTypes::wideBits(count)), edit.lanesOf(type)};
  };
  Bits from = bitsOf(edit.typeOf(in[3])), to = bitsOf(in[1]);
  // One type's elements are whole numbers of the other's.
  if (!from.count || !to.count || (from.count % to.count && to.count % from.count))
    refuse(in, types.isOdd(in[1]) ? in[1] : edit.typeOf(in[3]));
  if (!types.bitsOf(edit.typeOf(in[3])))
    value = types.emit(op::bitcast, types.vectorType(from.number, from.lanes), {value});
  std::vector<uint32_t> lanes;
  lanes.reserve(to.lanes);
  for (uint32_t lane = 0; lane < to.lanes; ++lane)
    lanes.push_back(gathered(from, to, value, lane));
  value = to.lanes == 1
              ? lanes[0]
              : types.emit(op::compositeConstruct, types.vectorType(to.number, to.lanes), lanes);
  unsigned last = types.bitsOf(in[1]) ? op::copyObject : op::bitcast;
  types.emit(last, types.written(in[1]), {value}, in[2]);
}

/// Those of an odd integer are those of its wide type or fewer. Vectors of them lie bit by bit, and
/// composites have bits between that are anything.
uint32_t OddRules::bytesInMemory(const SpirvInstruction &in, uint32_t type) const {
  if (!types.isOdd(type) || edit.elementOf(type))
    refuse(in, type);
  return (types.bitsOf(type) + 7) / 8;
}

void OddRules::load(const SpirvInstruction &in) {
  if (in.length() < 4 || !types.holdsOdd(in[1]))
    return copy(in);
  uint32_t bytes = bytesInMemory(in, in[1]), wide = types.written(in[1]), sum = 0;
  if (bytes * 8 == types.wideBitsOf(in[1])) {
    std::vector<uint32_t> operands(in.at + 3, in.at + in.length());
    types.masked(types.emit(op::load, wide, operands), in[1], in[2]);
    return;
  }
  auto add = [&](uint32_t i, uint32_t at, std::vector<uint32_t> how) {
    how.insert(how.begin(), at);
    uint32_t part = types.emit(op::load, types.intType(8), how);
    part = types.emit(op::convertU, wide, {part});
    uint32_t by = types.constant(in[1], static_cast<uint64_t>(i) * 8);
    part = types.emit(op::shiftLeft, wide, {part, by});
    sum = sum ? types.emit(op::bitwiseOr, wide, {sum, part}) : part;
  };
  forBytes(edit, types, bytes, in[3], in.length() > 4 ? in[4] : 0, add);
  types.masked(sum, in[1], in[2]);
}

void OddRules::store(const SpirvInstruction &in) {
  uint32_t type = in.length() > 2 ? edit.typeOf(in[2]) : 0;
  if (!types.holdsOdd(type))
    return copy(in);
  uint32_t bytes = bytesInMemory(in, type), wide = types.written(type);
  if (bytes * 8 == types.wideBitsOf(type))
    return copy(in);
  auto put = [&](uint32_t i, uint32_t at, std::vector<uint32_t> how) {
    uint32_t by = types.constant(type, static_cast<uint64_t>(i) * 8);
    uint32_t part = types.emit(op::shiftRight, wide, {in[2], by});
    part = types.emit(op::convertU, types.intType(8), {part});
    how.insert(how.begin(), {at, part});
    edit.emit(op::store, how);
  };
  forBytes(edit, types, bytes, in[1], in.length() > 3 ? in[3] : 0, put);
}

void OddRules::choose(const SpirvInstruction &in) {
  uint32_t type = in.length() > 2 ? edit.typeOf(in[1]) : 0;
  if (!types.isOdd(type))
    return copy(in);
  std::vector<uint32_t> operands(in.at + 1, in.at + in.length());
  unsigned words = types.wideBitsOf(type) == 64 ? 2 : 1;
  uint64_t mask = OddTypes::maskOf(types.bitsOf(type));
  for (size_t i = 2; i + words < operands.size(); i += words + 1)
    for (unsigned k = 0; k < words; ++k)
      operands[i + k] &= static_cast<uint32_t>(mask >> 32 * k);
  edit.emit(op::switchOf, operands);
}

bool OddRules::isStandard(uint32_t set) const {
  for (const SpirvInstruction &in : edit.instructions())
    if (in.opcode() == op::extInstImport && in.length() > 2 && in[1] == set)
      return spirvText(in.at + 2, in.at + in.length()) == "OpenCL.std";
  return false;
}

void OddRules::callStandard(const SpirvInstruction &in) {
  if (in.length() < 6 || !isStandard(in[3]))
    return copy(in);
  uint32_t odd = types.holdsOdd(in[1]) ? in[1] : oddOperand(in, 5);
  if (!odd)
    return copy(in);
  if (!types.isOdd(in[1]) || oddOperand(in, 5) != in[1])
    refuse(in, odd);
  if (in.length() == 6)
    callOfOne(in);
  else
    callOfTwo(in);
}

uint32_t OddRules::call(const SpirvInstruction &in, uint32_t function,
                        std::vector<uint32_t> operands) {
  operands.insert(operands.begin(), {in[3], function});
  return types.emit(op::extInst, types.written(in[1]), operands);
}

void OddRules::callOfOne(const SpirvInstruction &in) {
  uint32_t type = in[1], wide = types.written(type), width = types.bitsOf(type);
  switch (in[4]) {
  case ext::uAbs:
  case ext::popcount:
    return copy(in);
  case ext::sAbs:
    return give(in, call(in, ext::sAbs, {types.signs(in[5], type)}));
  case ext::clz: {
    uint32_t more = types.constant(type, types.wideBitsOf(type) - width);
    return give(in, types.emit(op::subtract, wide, {call(in, ext::clz, {in[5]}), more}));
  }
  case ext::ctz: {
    uint32_t end = types.constant(type, static_cast<uint64_t>(1) << width);
    return give(in, call(in, ext::ctz, {types.emit(op::bitwiseOr, wide, {in[5], end})}));
  }
  default:
    refuse(in, type);
  }
}

void OddRules::callOfTwo(const SpirvInstruction &in) {
  uint32_t type = in[1], wide = types.written(type), width = types.bitsOf(type);
  auto number = [&](uint64_t value) { return types.constant(type, value); };
  auto sign = [&](unsigned i) { return types.signs(in[i], type); };
  switch (in[4]) {
  case ext::uMax:
  case ext::uMin:
  case ext::uSubSat:
    return copy(in);
  case ext::sMax:
  case ext::sMin:
    return give(in, call(in, in[4], {sign(5), sign(6)}));
  case ext::uAddSat: {
    uint32_t sum = types.emit(op::add, wide, {in[5], in[6]});
    return give(in, call(in, ext::uMin, {sum, number(OddTypes::maskOf(width))}));
  }
  case ext::sAddSat:
  case ext::sSubSat: {
    unsigned opcode = in[4] == ext::sAddSat ? op::add : op::subtract;
    uint32_t sum = types.emit(opcode, wide, {sign(5), sign(6)});
    uint64_t most = OddTypes::maskOf(width - 1);
    uint64_t least = ~most & OddTypes::maskOf(types.wideBitsOf(type));
    uint32_t cut = call(in, ext::sMin, {sum, number(most)});
    return give(in, call(in, ext::sMax, {cut, number(least)}));
  }
  case ext::rotate: {
    uint32_t by = types.emit(op::modUnsigned, wide, {in[6], number(width)});
    uint32_t rest = types.emit(op::subtract, wide, {number(width), by});
    uint32_t up = types.emit(op::shiftLeft, wide, {in[5], by});
    uint32_t down = types.emit(op::shiftRight, wide, {in[5], rest});
    return give(in, types.emit(op::bitwiseOr, wide, {up, down}));
  }
  default:
    refuse(in, type);
  }
}

} // namespace xetile::runtime
