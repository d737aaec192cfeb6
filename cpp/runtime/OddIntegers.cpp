// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OddIntegers.cpp: a SPIR-V module without integers that CPUs do not have.
// Input: a SPIR-V module; output: one that computes the same in integers of 8, 16, 32 and 64 bits.
// Refused: instructions that nobody wrote a rule for, by number; integers of more than 64 bits.
//
// A value of an odd integer keeps its id and has zeros above its bits. So what moves values stays
// as it is; what computes with signs extends them first, and results are cut where they may be
// longer.
#include "OddIntegers.h"

#include "OddRules.h"
#include "OddTypes.h"
#include "SpirvNumbers.h"

#include <algorithm>
#include <set>

namespace xetile::runtime {
namespace {

constexpr uint32_t int8 = 39, int16 = 22, int64 = 11;
constexpr uint32_t anyLane = 0xffffffff;

class Widener {
public:
  Widener(const std::vector<uint32_t> &words, std::vector<std::string> &notes)
      : edit(words.data(), words.size()), types(edit), rules(edit, types), notes(notes) {}

  std::vector<uint32_t> run() {
    std::set<uint32_t> capabilities;
    bool inCapabilities = true, inFunctions = false;
    for (const SpirvInstruction &in : edit.instructions()) {
      unsigned opcode = in.opcode();
      if (inCapabilities && opcode == op::capability && in.length() > 1)
        capabilities.insert(in[1]);
      else if (inCapabilities)
        for (uint32_t needed : {int8, int16, int64})
          if (capabilities.insert(needed).second)
            edit.emit(op::capability, {needed});
      if (opcode != op::capability && inCapabilities) {
        edit.endCapabilities();
        inCapabilities = false;
      }
      edit.reach(in);
      inFunctions |= opcode == op::function;
      if (opcode >= op::typeVoid && opcode < op::typeForward && in.length() > 1)
        declareType(in);
      else if (inFunctions)
        compute(in);
      else
        declare(in);
    }
    return edit.finish();
  }

private:
  void declareType(const SpirvInstruction &in) {
    if (in.opcode() == op::typeInt && types.isOdd(in[1]))
      notes.push_back("rewritten integers of " + std::to_string(types.bitsOf(in[1])) +
                      " bits: the driver has " + std::to_string(types.wideBitsOf(in[1])));
    types.declare(in);
  }

  /// Before functions.
  void declare(const SpirvInstruction &in) {
    unsigned opcode = in.opcode(), length = in.length();
    // They are about the bits that a number had.
    if (opcode == op::decorate && length > 2 &&
        (in[2] == noSignedWrap || in[2] == noUnsignedWrap) && types.isOdd(edit.typeOf(in[1])))
      return;
    // Of others the first operand may be a number.
    bool isValue = opcode == op::undef || (opcode >= op::typeForward && opcode <= op::variable);
    bool isOdd = isValue && length > 2 && types.holdsOdd(in[1]);
    if (opcode == op::undef && isOdd)
      edit.emit(op::constantNull, {types.written(in[1]), in[2]});
    else if (opcode == op::constant && isOdd && length > 3)
      constant(in);
    else if (opcode == op::specConstant || opcode == op::specConstantOp)
      others(in);
    else if (opcode == op::name || isValue)
      rules.copy(in);
    else
      edit.copy(in);
  }

  void constant(const SpirvInstruction &in) {
    uint64_t number = in[3] | (in.length() > 4 ? static_cast<uint64_t>(in[4]) << 32 : 0);
    uint32_t bits = types.bitsOf(in[1]);
    std::vector<uint32_t> operands = OddTypes::literal(bits, number & OddTypes::maskOf(bits));
    types.emit(op::constant, types.written(in[1]), operands, in[2]);
  }

  bool hasResult(const SpirvInstruction &in) const { return in.length() > 2 && edit.isType(in[1]); }

  /// Instructions without a rule, which may not have odd integers.
  void others(const SpirvInstruction &in) {
    bool result = hasResult(in);
    uint32_t odd = result && types.holdsOdd(in[1]) ? in[1] : rules.oddOperand(in, result ? 3 : 1);
    if (odd)
      rules.refuse(in, odd);
    rules.copy(in);
  }

  void compute(const SpirvInstruction &in) {
    switch (in.opcode()) {
    // These have numbers among their operands that could be read as ids.
    case op::line:
    case op::function:
    case op::variable:
    case op::loopMerge:
    case op::selectionMerge:
    case op::branchConditional:
    case op::lifetimeStart:
    case op::lifetimeStop:
    // These move values, or compute numbers without signs that are no longer than their operands.
    case op::functionParameter:
    case op::functionCall:
    case op::vectorExtractDynamic:
    case op::vectorInsertDynamic:
    case op::compositeConstruct:
    case op::compositeExtract:
    case op::compositeInsert:
    case op::copyObject:
    case op::convertUToF:
    case op::convertUToPtr:
    case op::divideUnsigned:
    case op::modUnsigned:
    case op::select:
    case op::equal:
    case op::notEqual:
    case op::greaterUnsigned:
    case op::greaterEqualUnsigned:
    case op::lessUnsigned:
    case op::lessEqualUnsigned:
    case op::shiftRight:
    case op::bitwiseOr:
    case op::bitwiseXor:
    case op::bitwiseAnd:
    case op::phi:
    case op::returnValue:
    case op::groupBroadcast:
    case op::nonUniformBroadcast:
    case op::nonUniformBroadcastFirst:
    case op::nonUniformShuffle:
    case op::nonUniformShuffleXor:
    case op::nonUniformShuffleUp:
    case op::nonUniformShuffleDown:
    case op::shuffle:
    case op::shuffleDown:
    case op::shuffleUp:
    case op::shuffleXor:
      return rules.copy(in);
    default:
      return computeNumbers(in);
    }
  }

  void computeNumbers(const SpirvInstruction &in) {
    bool result = hasResult(in) && in.length() > 3;
    bool isOdd = result && (types.isOdd(in[1]) || types.isOdd(edit.typeOf(in[3])));
    unsigned opcode = in.opcode(), all = in.length();
    switch (opcode) {
    case op::convertFToU:
    case op::convertFToS:
    case op::convertPtrToU:
    case op::negate:
    case op::add:
    case op::subtract:
    case op::multiply:
    case op::shiftLeft:
    case op::bitwiseNot:
      return isOdd ? operate(in, 0) : rules.copy(in);
    case op::convertSToF:
    case op::divideSigned:
    case op::remSigned:
    case op::modSigned:
    case op::greaterSigned:
    case op::greaterEqualSigned:
    case op::lessSigned:
    case op::lessEqualSigned:
      return isOdd ? operate(in, all) : rules.copy(in);
    // Indices have signs, and the base is a pointer.
    case op::accessChain:
    case op::inBoundsAccessChain:
    case op::ptrAccessChain:
    case op::inBoundsPtrAccessChain:
      return rules.oddOperand(in, 3) ? operate(in, all) : rules.copy(in);
    case op::shiftRightSigned:
      return isOdd ? operate(in, 4) : rules.copy(in);
    case op::convertU:
    case op::convertS:
      return isOdd ? convert(in) : rules.copy(in);
    case op::bitReverse:
    case op::bitCount:
      return isOdd ? countOrReverse(in) : rules.copy(in);
    case op::bitcast:
      return isOdd ? rules.bitcast(in) : rules.copy(in);
    case op::vectorShuffle:
      return isOdd && all > 5 ? shuffleLanes(in) : rules.copy(in);
    case op::undef:
      return undefined(in);
    case op::load:
      return rules.load(in);
    case op::store:
      return rules.store(in);
    case op::switchOf:
      return rules.choose(in);
    case op::extInst:
      return rules.callStandard(in);
    default:
      return others(in);
    }
  }

  /// The same on wide numbers: with the signs of operands before the `signs`th word.
  void operate(const SpirvInstruction &in, unsigned signs) {
    std::vector<uint32_t> operands(in.at + 3, in.at + in.length());
    for (size_t i = 0; i < operands.size() && i + 3 < signs; ++i)
      if (uint32_t type = edit.typeOf(operands[i]); types.isOdd(type))
        operands[i] = types.signs(operands[i], type);
    bool cuts = types.isOdd(in[1]);
    uint32_t value = types.emit(in.opcode(), types.written(in[1]), operands, cuts ? 0 : in[2]);
    if (cuts)
      types.masked(value, in[1], in[2]);
  }

  void convert(const SpirvInstruction &in) {
    uint32_t from = edit.typeOf(in[3]), value = in[3];
    if (in.opcode() == op::convertS && types.isOdd(from))
      value = types.signs(value, from);
    rules.give(in, rules.resized(in.opcode(), value, from, in[1]));
  }

  void countOrReverse(const SpirvInstruction &in) {
    uint32_t type = edit.typeOf(in[3]);
    uint32_t value = types.emit(in.opcode(), types.written(type), {in[3]});
    if (in.opcode() == op::bitReverse) {
      uint32_t more = types.constant(type, types.wideBitsOf(type) - types.bitsOf(type));
      value = types.emit(op::shiftRight, types.written(type), {value, more});
    }
    rules.give(in, rules.resized(op::convertU, value, type, in[1]));
  }

  void shuffleLanes(const SpirvInstruction &in) {
    std::vector<uint32_t> operands(in.at + 3, in.at + in.length());
    // One that is anything would not have zeros above.
    std::replace(operands.begin() + 2, operands.end(), anyLane, 0u);
    types.emit(op::vectorShuffle, types.written(in[1]), operands, in[2]);
  }

  void undefined(const SpirvInstruction &in) {
    if (in.length() < 3 || !types.holdsOdd(in[1]))
      return rules.copy(in);
    uint32_t zero = edit.newId();
    edit.declare(op::constantNull, {types.written(in[1]), zero});
    types.emit(op::copyObject, types.written(in[1]), {zero}, in[2]);
  }

  SpirvEdit edit;
  OddTypes types;
  OddRules rules;
  std::vector<std::string> &notes;
};

} // namespace

std::vector<uint32_t> widenOddIntegers(std::vector<uint32_t> words,
                                       std::vector<std::string> &notes) {
  SpirvEdit module(words.data(), words.size());
  for (const SpirvInstruction &in : module.instructions())
    if (in.opcode() == op::typeInt && in.length() > 2 && OddTypes::isOddWidth(in[2]))
      return Widener(words, notes).run();
  return words;
}

} // namespace xetile::runtime
