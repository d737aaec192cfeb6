// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AccessRanges.cpp: launches whose accesses are known to lie within arrays before they run.
// Input: a SPIR-V module, sizes and numbers of a launch; output: true if all that the kernel
// accesses lies within its arrays. Refused: nothing.
//
// Each integer lies between a least and a greatest number, as signed ones of its bits: those of ids
// come from the launch, those of instructions from their operands, and where a result may be too
// large for its bits it may be any. A branch tells more about what its condition compares, in all
// blocks that are run behind it alone. What changes from turn to turn of a loop may be anything.
#include "AccessRanges.h"

#include "IntegerRange.h"
#include "SpirvModule.h"
#include "SpirvNumbers.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace xetile::runtime {
namespace {

constexpr unsigned constantTrue = 41, constantFalse = 42, transpose = 84, logicalOr = 166,
                   logicalAnd = 167, logicalNot = 168, memoryBarrier = 225, branch = 249,
                   firstGroup = 261, lastGroup = 271, firstNonUniform = 333, lastNonUniform = 366;
namespace builtin {
constexpr uint32_t numWorkgroups = 24, workgroupSize = 25, workgroupId = 26, localId = 27,
                   globalId = 28, globalSize = 31, enqueuedSize = 32, globalOffset = 33;
}
/// Of a kernel: what more have takes longer to look at than to run on shadows.
constexpr size_t mostInstructions = 2000;
constexpr size_t padding = 8;

bool isIn(unsigned opcode, unsigned first, unsigned last) {
  return opcode >= first && opcode <= last;
}

__extension__ using Wide = __int128;
using Range = IntegerRange;

std::vector<uint32_t> padded(const std::vector<uint32_t> &spirv) {
  // Of an instruction that is too short, the words behind it are read.
  std::vector<uint32_t> words(spirv);
  words.resize(spirv.size() + padding);
  return words;
}

} // namespace

AccessRanges::AccessRanges(const std::vector<uint32_t> &spirv)
    : words(padded(spirv)), edit(words.data(), words.size() - padding), blocks(edit) {
  readConstants();
  for (const SpirvInstruction &in : edit.instructions())
    if (in.opcode() == op::entryPoint && in.length() > 3 && blocks.functions.count(in[2]))
      know(blocks.functions.at(in[2]), spirvText(in.at + 3, in.at + in.length()));
}

void AccessRanges::readConstants() {
  for (const SpirvInstruction &in : edit.instructions()) {
    unsigned opcode = in.opcode(), length = in.length();
    unsigned bits = length > 2 && edit.lanesOf(in[1]) == 1 ? edit.intBitsOf(in[1]) : 0;
    if (opcode == op::constant && bits && (length == 4 || length == 5))
      constants[in[2]] = Range::extended(in[3] | (length == 5 ? uint64_t(in[4]) << 32 : 0), bits);
    else if (opcode == op::constantNull && bits)
      constants[in[2]] = 0;
    else if ((opcode == constantTrue || opcode == constantFalse) && length > 2)
      truths[in[2]] = opcode == constantTrue;
  }
}

/// True for what accesses no arrays but as a load or a store, and goes on elsewhere in a known way.
bool AccessRanges::isUnderstood(const SpirvInstruction &in) const {
  unsigned opcode = in.opcode();
  switch (opcode) {
  case op::undef:
  case op::line:
  case op::noLine:
  case op::variable:
  case op::load:
  case op::store:
  case op::phi:
  case op::loopMerge:
  case op::selectionMerge:
  case op::branchConditional:
  case op::returnVoid:
  case op::lifetimeStart:
  case op::lifetimeStop:
  case op::controlBarrier:
  case memoryBarrier:
  case branch:
    return true;
  case op::functionCall:
    if (blocks.calledBy(in).empty())
      return false;
    break;
  case op::extInst:
    break;
  default:
    return isIn(opcode, op::accessChain, op::inBoundsPtrAccessChain) ||
           isIn(opcode, op::vectorExtractDynamic, transpose) ||
           isIn(opcode, op::convertFToU, op::bitCount) || isIn(opcode, firstGroup, lastGroup) ||
           isIn(opcode, firstNonUniform, lastNonUniform) ||
           isIn(opcode, op::shuffle, op::shuffleXor);
  }
  for (unsigned i = 4; i < in.length(); ++i)
    if (edit.storageOf(edit.typeOf(in[i])))
      return false;
  return true;
}

void AccessRanges::know(const SpirvFunction &function, const std::string &name) {
  Known known{&function, {}, {}};
  size_t count = 0;
  for (const SpirvBlock &block : function.blocks) {
    for (const SpirvInstruction &in : block.instructions)
      if (!isUnderstood(in) || ++count > mostInstructions)
        return;
    const SpirvInstruction *end = block.end();
    if (!end)
      return;
    if (end->opcode() == branch)
      known.predecessors[(*end)[1]].insert(block.label);
    else if (end->opcode() == op::branchConditional)
      for (unsigned i : {2, 3})
        known.predecessors[(*end)[i]].insert(block.label);
    else if (end->opcode() != op::returnVoid)
      return;
  }
  if (!function.blocks.empty() && findDominators(known))
    kernels.emplace(name, std::move(known));
}

bool AccessRanges::findDominators(Known &known) {
  const std::vector<SpirvBlock> &all = known.function->blocks;
  std::map<uint32_t, size_t> order;
  for (size_t i = 0; i < all.size(); ++i)
    if (!order.insert({all[i].label, i}).second)
      return false;
  // In SPIR-V a block stands behind those that dominate it.
  auto common = [&](uint32_t one, uint32_t other) {
    while (one != other)
      (order[one] > order[other] ? one : other) =
          known.dominators[order[one] > order[other] ? one : other];
    return one;
  };
  known.dominators[all[0].label] = all[0].label;
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t i = 1; i < all.size(); ++i) {
      uint32_t before = 0;
      for (uint32_t from : known.predecessors[all[i].label])
        if (known.dominators.count(from))
          before = before ? common(before, from) : from;
      if (!before || order[before] >= i)
        return false;
      changes |= known.dominators[all[i].label] != before;
      known.dominators[all[i].label] = before;
    }
  }
  return true;
}

/// Of one launch.
class RangeSearch {
public:
  RangeSearch(const AccessRanges &of, const AccessRanges::Known &known, const LaunchNumbers &launch)
      : edit(of.edit), blocks(of.blocks), of(of), known(known), launch(launch) {
    const std::vector<uint32_t> &parameters = known.function->parameters;
    for (size_t i = 0; i < parameters.size() && i < launch.arguments.size(); ++i)
      arguments[parameters[i]] = &launch.arguments[i];
  }

  bool within() {
    for (const SpirvBlock &block : known.function->blocks)
      for (const SpirvInstruction &in : block.instructions) {
        bool loads = in.opcode() == op::load;
        if (!loads && in.opcode() != op::store)
          continue;
        uint32_t pointer = in[loads ? 3 : 1];
        if (!isWithin(pointer, block.label))
          return false;
      }
    return true;
  }

private:
  struct Facts {
    std::map<uint32_t, Range> ranges;
    /// No work-item comes there.
    bool never = false;
  };
  struct Place {
    const LaunchArgument *array;
    Wide least, greatest;
  };

  bool isWithin(uint32_t pointer, uint32_t block) {
    uint32_t type = edit.typeOf(pointer);
    std::optional<uint32_t> where = edit.storageOf(type);
    // Others are none of the arrays.
    if (edit.builtinOf(pointer) || where == storage::workgroup || where == storage::function ||
        where == storage::input)
      return true;
    uint64_t bytes = edit.bytesOf(edit.pointeeOf(type));
    if (!where || *where == storage::generic || !bytes)
      return false;
    // Where no work-item should come, the driver has some come that compares numbers beyond their
    // bits: a run tells.
    if (factsOf(block).never)
      return false;
    std::optional<Place> place = placeOf(pointer, block);
    return place && place->array->offset + place->least >= 0 &&
           place->array->offset + place->greatest + bytes <= place->array->bytes;
  }

  std::optional<Place> placeOf(uint32_t pointer, uint32_t block) {
    auto argument = arguments.find(pointer);
    if (argument != arguments.end())
      return argument->second->bytes && !argument->second->number
                 ? std::optional(Place{argument->second, 0, 0})
                 : std::nullopt;
    const SpirvInstruction *in = blocks.definition(pointer);
    if (!in)
      return std::nullopt;
    unsigned opcode = in->opcode(), length = in->length();
    if (opcode == op::bitcast &&
        edit.storageOf(edit.typeOf((*in)[3])) == edit.storageOf(edit.typeOf(pointer)))
      return placeOf((*in)[3], block);
    if ((opcode != op::ptrAccessChain && opcode != op::inBoundsPtrAccessChain) || length != 5)
      return std::nullopt;
    std::optional<Place> base = placeOf((*in)[3], block);
    std::optional<Range> element = rangeOf((*in)[4], block);
    uint64_t stride = edit.bytesOf(edit.pointeeOf(edit.typeOf((*in)[3])));
    if (!base || !element || !stride)
      return std::nullopt;
    return Place{base->array, base->least + Wide(element->least) * stride,
                 base->greatest + Wide(element->greatest) * stride};
  }

  const Facts &factsOf(uint32_t block) {
    auto found = facts.find(block);
    if (found != facts.end())
      return found->second;
    uint32_t before = known.dominators.at(block);
    if (before == block)
      return facts[block];
    Facts own = factsOf(before);
    const SpirvInstruction &end = *known.function->block(before)->end();
    // Behind a branch both of whose ways lead there, or another block, nothing is told.
    if (known.predecessors.at(block).size() == 1 && end.opcode() == op::branchConditional &&
        end[2] != end[3])
      learn(own, end[1], end[2] == block, before);
    return facts[block] = std::move(own);
  }

  /// Learns from a condition that is `holds`.
  void learn(Facts &to, uint32_t condition, bool holds, uint32_t block) {
    const SpirvInstruction *in = blocks.definition(condition);
    if (!in || in->length() < 4)
      return;
    unsigned opcode = in->opcode();
    auto isTruth = [&](uint32_t id, bool truth) {
      auto found = of.truths.find(id);
      return found != of.truths.end() && found->second == truth;
    };
    if ((opcode == logicalAnd && holds) || (opcode == logicalOr && !holds)) {
      learn(to, (*in)[3], holds, block);
      learn(to, (*in)[4], holds, block);
    } else if (opcode == op::select && isTruth((*in)[holds ? 5 : 4], !holds)) {
      learn(to, (*in)[3], holds, block);
      learn(to, (*in)[holds ? 4 : 5], holds, block);
    } else if (opcode == logicalNot) {
      learn(to, (*in)[3], !holds, block);
    } else if (opcode == op::equal && holds) {
      compare(to, (*in)[3], (*in)[4], 0, true, block);
      compare(to, (*in)[4], (*in)[3], 0, true, block);
    } else if (isIn(opcode, op::greaterUnsigned, op::lessEqualSigned)) {
      // The lower one comes first.
      bool greater = opcode <= op::greaterEqualSigned;
      bool strict = opcode == op::greaterUnsigned || opcode == op::greaterSigned ||
                    opcode == op::lessUnsigned || opcode == op::lessSigned;
      bool isSigned = opcode == op::greaterSigned || opcode == op::greaterEqualSigned ||
                      opcode == op::lessSigned || opcode == op::lessEqualSigned;
      bool turned = greater == holds;
      compare(to, (*in)[turned ? 4 : 3], (*in)[turned ? 3 : 4], strict == holds ? 1 : 0, isSigned,
              block);
    }
  }

  /// `lower + apart <= upper` is true.
  void compare(Facts &to, uint32_t lower, uint32_t upper, int apart, bool isSigned,
               uint32_t block) {
    std::optional<Range> low = rangeOf(lower, block), high = rangeOf(upper, block);
    if (!low || !high)
      return;
    // Of unsigned numbers with a highest bit the driver itself takes some for negative ones.
    if (!isSigned && (low->least < 0 || high->least < 0))
      return;
    if (high->greatest == INT64_MIN && apart)
      to.never = true;
    else
      meet(to, lower, {INT64_MIN, high->greatest - apart}, block);
    if (low->least < INT64_MAX)
      meet(to, upper, {low->least + apart, INT64_MAX}, block);
  }

  void meet(Facts &to, uint32_t id, const Range &range, uint32_t block) {
    std::optional<Range> before = rangeOf(id, block);
    if (!before)
      return;
    Range now = before->with(range);
    auto [place, isNew] = to.ranges.insert({id, now});
    if (!isNew)
      place->second = place->second.with(now);
    to.never |= place->second.empty();
    // So is what it was made of without a change of its value.
    const SpirvInstruction *in = blocks.definition(id);
    if (in && keepsValue(*in, block))
      meet(to, (*in)[3], now, block);
    else if (const SpirvInstruction *left = in ? shiftBefore(*in) : nullptr)
      if (unchanged((*left)[3], id, block))
        meet(to, (*left)[3], now, block);
  }

  bool unchanged(uint32_t from, uint32_t to, uint32_t block) {
    std::optional<Range> range = rangeOf(from, block);
    unsigned bits = edit.intBitsOf(edit.typeOf(to));
    const SpirvInstruction *in = blocks.definition(to);
    if (in->opcode() == op::shiftRightSigned)
      bits -= static_cast<unsigned>(of.constants.at((*in)[4]));
    return range && Range::all(bits).holds(*range);
  }

  bool keepsValue(const SpirvInstruction &in, uint32_t block) {
    if (in.opcode() != op::convertU && in.opcode() != op::convertS)
      return false;
    std::optional<Range> range = rangeOf(in[3], block);
    bool fits = range && unchanged(in[3], in[2], block);
    return fits && (in.opcode() == op::convertS || range->least >= 0);
  }

  /// The shift to the left that a shift to the right by as much undoes, with the sign.
  const SpirvInstruction *shiftBefore(const SpirvInstruction &in) const {
    if (in.opcode() != op::shiftRightSigned || in.length() != 5 || !of.constants.count(in[4]))
      return nullptr;
    const SpirvInstruction *left = blocks.definition(in[3]);
    bool pair =
        left && left->opcode() == op::shiftLeft && left->length() == 5 && (*left)[4] == in[4];
    int64_t by = of.constants.at(in[4]);
    return pair && by >= 0 && by < edit.intBitsOf(in[1]) ? left : nullptr;
  }

  /// Of an integer, in a block; none for other values.
  std::optional<Range> rangeOf(uint32_t id, uint32_t block) {
    uint32_t type = edit.typeOf(id);
    unsigned bits = edit.lanesOf(type) == 1 ? edit.intBitsOf(type) : 0;
    if (!bits || bits > 64)
      return std::nullopt;
    if (auto constant = of.constants.find(id); constant != of.constants.end())
      return Range{constant->second, constant->second};
    auto [place, isNew] = ranges.insert({{block, id}, Range::all(bits)});
    // Where it comes from itself it may be anything.
    if (!isNew)
      return place->second;
    Range range = computed(id, bits, block);
    if (!Range::all(bits).holds(range))
      range = Range::all(bits);
    if (auto known = factsOf(block).ranges.find(id); known != factsOf(block).ranges.end())
      range = range.with(known->second);
    return ranges[{block, id}] = range;
  }

  Range computed(uint32_t id, unsigned bits, uint32_t block) {
    Range all = Range::all(bits);
    if (auto argument = arguments.find(id); argument != arguments.end())
      return numberOf(*argument->second, bits).value_or(all);
    const SpirvInstruction *in = blocks.definition(id);
    if (!in || in->length() < 4)
      return all;
    if (in->opcode() == op::phi)
      return merged(*in).value_or(all);
    if (in->opcode() == op::load)
      return all;
    if (in->opcode() == op::compositeExtract)
      return in->length() == 5 ? ofBuiltin((*in)[3], (*in)[4]).value_or(all) : all;
    if (const SpirvInstruction *left = shiftBefore(*in))
      return unchanged((*left)[3], id, block) ? *rangeOf((*left)[3], block) : shifted(all, *in);
    if (in->opcode() == op::select && in->length() == 6) {
      std::optional<Range> one = rangeOf((*in)[4], block), other = rangeOf((*in)[5], block);
      return one && other ? one->either(*other) : all;
    }
    std::optional<Range> one = rangeOf((*in)[3], block);
    if (!one || one->empty())
      return one.value_or(all);
    if (in->length() == 4)
      return Range::ofOne(in->opcode(), *one, edit.intBitsOf(edit.typeOf((*in)[3])), bits);
    std::optional<Range> other = in->length() == 5 ? rangeOf((*in)[4], block) : std::nullopt;
    if (!other || other->empty())
      return other.value_or(all);
    return Range::ofTwo(in->opcode(), *one, *other, bits);
  }

  Range shifted(const Range &range, const SpirvInstruction &in) const {
    int64_t by = of.constants.at(in[4]);
    return {range.least >> by, range.greatest >> by};
  }

  static std::optional<Range> numberOf(const LaunchArgument &argument, unsigned bits) {
    if (!argument.number || argument.bytes * 8 != bits)
      return std::nullopt;
    uint64_t value = 0;
    std::memcpy(&value, argument.number, bits / 8);
    return Range{Range::extended(value, bits), Range::extended(value, bits)};
  }

  std::optional<Range> ofBuiltin(uint32_t vector, uint32_t axis) const {
    const SpirvInstruction *in = blocks.definition(vector);
    std::optional<uint32_t> which =
        in && in->opcode() == op::load ? edit.builtinOf((*in)[3]) : std::nullopt;
    if (!which || axis > 2)
      return std::nullopt;
    int64_t grid = launch.grid[axis], block = launch.block[axis];
    switch (*which) {
    case builtin::numWorkgroups:
      return Range{grid, grid};
    case builtin::workgroupSize:
    case builtin::enqueuedSize:
      return Range{block, block};
    case builtin::workgroupId:
      return Range{0, grid - 1};
    case builtin::localId:
      return Range{0, block - 1};
    case builtin::globalId:
      return Range{0, grid * block - 1};
    case builtin::globalSize:
      return Range{grid * block, grid * block};
    case builtin::globalOffset:
      return Range{0, 0};
    default:
      return std::nullopt;
    }
  }

  /// Each value in the block that it comes from.
  std::optional<Range> merged(const SpirvInstruction &phi) {
    std::optional<Range> all;
    for (unsigned i = 3; i + 1 < phi.length(); i += 2) {
      std::optional<Range> one = rangeOf(phi[i], phi[i + 1]);
      if (!one)
        return std::nullopt;
      all = all ? all->either(*one) : *one;
    }
    return all;
  }

  const SpirvEdit &edit;
  const KernelBlocks &blocks;
  const AccessRanges &of;
  const AccessRanges::Known &known;
  const LaunchNumbers &launch;
  std::map<uint32_t, const LaunchArgument *> arguments;
  std::map<uint32_t, Facts> facts;
  /// By block and value.
  std::map<std::pair<uint32_t, uint32_t>, Range> ranges;
};

bool AccessRanges::within(const std::string &kernel, const LaunchNumbers &launch) const {
  auto found = kernels.find(kernel);
  return found != kernels.end() && RangeSearch(*this, found->second, launch).within();
}

} // namespace xetile::runtime
