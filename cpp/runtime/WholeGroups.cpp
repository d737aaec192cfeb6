// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WholeGroups.cpp: kernels whose workgroups are all within bounds, without masks.
// Input: a module with reversed ids; output: one that computes the same. Refused: nothing.
//
// `if (get_global_id(0) < n)` around a kernel becomes the bounds of the driver's loop over a
// workgroup, but not of ids that the driver cannot follow: of these it makes masks, and a store
// with a mask takes AMD's CPUs twelve times as long as one without, beyond caches a load three
// times. Here a workgroup asks once: its ids are numbers one after another, so if a comparison with
// what is the same for all holds for the least and for the greatest one, it holds for all, and the
// workgroup takes a copy of the body that asks nothing.
#include "WholeGroups.h"

#include "KernelBlocks.h"
#include "SpirvEdit.h"
#include "SpirvNumbers.h"

#include <map>
#include <optional>
#include <string>

namespace xetile::runtime {
namespace {

/// Of a body that is made twice: more would take the driver longer than masks cost.
constexpr size_t mostInstructions = 1000;

constexpr unsigned logicalOr = 166, logicalAnd = 167, logicalNot = 168, memoryBarrier = 225,
                   branch = 249;
constexpr uint32_t ofInvocation = 4, orderOfGlobalMemory = 0x208;
// Builtins that a workgroup has in common.
constexpr uint32_t numWorkgroups = 24, workgroupSize = 25, workgroupId = 26, globalSize = 31,
                   enqueuedSize = 32, globalOffset = 33;

bool within(unsigned opcode, unsigned first, unsigned last) {
  return opcode >= first && opcode <= last;
}

bool begins(const std::string &text, const char *start) { return text.rfind(start, 0) == 0; }

bool isLine(const SpirvInstruction &in) {
  return in.opcode() == op::line || in.opcode() == op::noLine;
}

/// Instructions without side effects that make numbers of numbers.
bool computes(unsigned opcode) {
  return within(opcode, op::convertU, op::convertS) || opcode == op::bitcast ||
         within(opcode, op::negate, op::multiply) ||
         within(opcode, op::shiftRight, op::bitwiseNot) || opcode == op::compositeExtract ||
         opcode == op::compositeConstruct;
}

/// An instruction on the way from an id to what is compared, and which of its operands is on it.
struct Step {
  SpirvInstruction instruction;
  unsigned operand;
};

/// A kernel's body that is made twice.
struct Split {
  const SpirvFunction *function;
  std::vector<const SpirvBlock *> copied;
  /// Ids of the copy by those of the body.
  std::map<uint32_t, uint32_t> ids;
  /// Where the body begins, and the end of the first block moves to.
  uint32_t target = 0, behind = 0;
  /// Of the condition, where it leads to the body.
  bool wanted = true;

  const SpirvBlock &first() const { return function->blocks.front(); }
  uint32_t inCopy(uint32_t id) const {
    auto found = ids.find(id);
    return found == ids.end() ? id : found->second;
  }
};

class Splitter {
public:
  /// Behind the module's `count` words there are others: of an instruction that is too short, they
  /// are read.
  Splitter(const std::vector<uint32_t> &words, size_t count)
      : edit(words.data(), count), blocks(edit) {
    for (uint32_t kernel : blocks.kernels)
      if (blocks.functions.count(kernel) && blocks.boolean && !blocks.waits(kernel))
        plan(blocks.functions.at(kernel));
  }

  bool changes() const { return !splits.empty(); }

  std::vector<uint32_t> run() {
    const Split *split = nullptr;
    uint32_t block = 0;
    bool inCapabilities = true;
    for (const SpirvInstruction &in : edit.instructions()) {
      unsigned opcode = in.opcode();
      if (inCapabilities && opcode != op::capability) {
        edit.endCapabilities();
        inCapabilities = false;
      }
      edit.reach(in);
      if (opcode == op::label) {
        block = in[1];
        if (auto found = splits.find(block); found != splits.end())
          split = &found->second;
      } else if (opcode == op::functionEnd) {
        if (split)
          copyBody(*split);
        split = nullptr;
      } else if (opcode == op::decorate) {
        decorate(in);
      }
      if (!split || !rewrite(*split, block, in))
        edit.copy(in);
    }
    return edit.finish();
  }

private:
  bool hasResult(const SpirvInstruction &in) const {
    return in.length() > 2 && edit.typeOf(in[2]) == in[1];
  }

  void plan(const SpirvFunction &function) {
    if (function.blocks.empty())
      return;
    const SpirvBlock &first = function.blocks.front();
    size_t count = first.instructions.size();
    if (count < 2 || first.end()->opcode() != op::branchConditional || first.end()->length() < 4 ||
        first.instructions[count - 2].opcode() == op::selectionMerge)
      return;
    const SpirvInstruction &end = *first.end();
    const SpirvBlock *yes = function.block(end[2]), *no = function.block(end[3]);
    if (!yes || !no || yes == no || (!no->leaves() && !yes->leaves()))
      return;
    Split split{&function, {}, {}, 0, 0, no->leaves()};
    split.target = split.wanted ? end[2] : end[3];
    if (!canAsk(end[1], split.wanted) || !collect(split))
      return;
    split.behind = edit.newId();
    for (auto &[id, copy] : split.ids)
      copy = edit.newId();
    splits.emplace(first.label, std::move(split));
  }

  /// Blocks and results of the copy; false where something in it is not understood.
  bool collect(Split &split) const {
    std::vector<uint32_t> next{split.target};
    split.ids[split.target] = 0;
    size_t count = 0;
    while (!next.empty()) {
      const SpirvBlock *block = split.function->block(next.back());
      next.pop_back();
      if (!block || !block->end())
        return false;
      split.copied.push_back(block);
      for (const SpirvInstruction &in : block->instructions) {
        if (isLine(in))
          continue;
        if (!idOperands(in) || ++count > mostInstructions)
          return false;
        if (hasResult(in))
          split.ids[in[2]] = 0;
      }
      const SpirvInstruction &end = *block->end();
      unsigned opcode = end.opcode();
      if (opcode != branch && opcode != op::branchConditional && opcode != op::returnVoid)
        return false;
      unsigned begin = opcode == branch ? 1 : 2, behind = opcode == branch ? 2 : 4;
      for (unsigned i = begin; opcode != op::returnVoid && i < std::min(behind, end.length()); ++i)
        if (split.ids.insert({end[i], 0}).second)
          next.push_back(end[i]);
    }
    return true;
  }

  /// True for numbers that a workgroup has in common.
  bool isCommon(uint32_t id) const {
    const SpirvInstruction *in = blocks.definition(id);
    if (!in)
      return !blocks.isResult(id) && edit.typeOf(id) && !edit.storageOf(edit.typeOf(id));
    unsigned opcode = in->opcode();
    if (opcode == op::functionCall)
      return begins(blocks.calledBy(*in), "xt_reversed_group_");
    if (opcode == op::load) {
      uint32_t which = edit.builtinOf((*in)[3]).value_or(0);
      return which == numWorkgroups || which == workgroupSize || which == workgroupId ||
             which == globalSize || which == enqueuedSize || which == globalOffset;
    }
    if (!computes(opcode))
      return false;
    IdOperands operands = *idOperands(*in);
    for (unsigned i = 3; i < in->length(); ++i)
      if (operands.has(i) && !isCommon((*in)[i]))
        return false;
    return true;
  }

  bool masksLowerBits(const SpirvInstruction &in) const {
    uint32_t mask = in.opcode() == op::bitwiseAnd ? edit.constantOf(in[4]).value_or(0) : 0;
    return mask && !(mask & (mask + 1));
  }

  /// A shift to the right by what the number was shifted to the left; the shift to the left then.
  const SpirvInstruction *shiftBefore(const SpirvInstruction &in) const {
    if (in.opcode() != op::shiftRight && in.opcode() != op::shiftRightSigned)
      return nullptr;
    const SpirvInstruction *left = blocks.definition(in[3]);
    bool pair = left && left->opcode() == op::shiftLeft && left->length() == 5 &&
                (*left)[4] == in[4] && isCommon(in[4]);
    return pair ? left : nullptr;
  }

  /// How a value comes from an id of work-items: the call that tells it, and each step behind.
  /// Empty for other values. Steps leave numbers one after another, up to the greatest of their
  /// type.
  std::vector<Step> stepsTo(uint32_t id) const {
    const SpirvInstruction *in = blocks.definition(id);
    if (!in || !edit.intBitsOf(in->at[1]) || edit.lanesOf(in->at[1]) != 1)
      return {};
    std::string name = blocks.calledBy(*in);
    if (begins(name, "xt_reversed_global_id_") || begins(name, "xt_reversed_local_id_"))
      return {{*in, 0}};
    unsigned opcode = in->opcode(), length = in->length();
    if (opcode == op::compositeExtract && length == 5) {
      const SpirvInstruction *whole = blocks.definition((*in)[3]);
      unsigned part = (*in)[4] + 3;
      bool known = whole && whole->opcode() == op::compositeConstruct && part < whole->length() &&
                   whole->length() - 3 == edit.lanesOf((*whole)[1]);
      return known ? stepsTo((*whole)[part]) : std::vector<Step>();
    }
    unsigned operand = 0;
    if (opcode == op::add && length == 5)
      operand = isCommon((*in)[3]) ? 4 : isCommon((*in)[4]) ? 3 : 0;
    else if (opcode == op::convertU || opcode == op::convertS || opcode == op::bitcast ||
             (length == 5 &&
              (masksLowerBits(*in) || (opcode == op::subtract && isCommon((*in)[4])))))
      operand = 3;
    const SpirvInstruction *left = length == 5 ? shiftBefore(*in) : nullptr;
    std::vector<Step> steps = left      ? stepsTo((*left)[3])
                              : operand ? stepsTo((*in)[operand])
                                        : std::vector<Step>();
    if (!steps.empty() && left)
      steps.push_back({*left, 3});
    if (!steps.empty())
      steps.push_back({*in, left ? 3 : operand});
    return steps;
  }

  /// True if ask() can tell whether the condition is `wanted` for all work-items of a workgroup.
  bool canAsk(uint32_t condition, bool wanted) const {
    const SpirvInstruction *in = blocks.definition(condition);
    if (!in || in->length() < 4)
      return false;
    unsigned opcode = in->opcode();
    if ((opcode == logicalAnd && wanted) || (opcode == logicalOr && !wanted))
      return canAsk((*in)[3], wanted) && canAsk((*in)[4], wanted);
    if (opcode == op::select)
      return edit.typeOf(condition) == blocks.boolean && canAsk((*in)[3], wanted) &&
             canAsk((*in)[wanted ? 4 : 5], wanted);
    if (opcode == logicalNot)
      return canAsk((*in)[3], !wanted);
    return within(opcode, op::greaterUnsigned, op::lessEqualSigned) &&
           ((isCommon((*in)[3]) && !stepsTo((*in)[4]).empty()) ||
            (isCommon((*in)[4]) && !stepsTo((*in)[3]).empty()));
  }

  uint32_t emit(unsigned opcode, uint32_t type, const std::vector<uint32_t> &operands) {
    std::vector<uint32_t> all{type, edit.newId()};
    all.insert(all.end(), operands.begin(), operands.end());
    edit.emit(opcode, all);
    edit.declareType(all[1], type);
    return all[1];
  }

  uint32_t both(uint32_t one, uint32_t other) {
    return emit(logicalAnd, blocks.boolean, {one, other});
  }

  /// The value for the work-item whose id is `value`.
  uint32_t follow(const std::vector<Step> &steps, uint32_t value) {
    for (size_t i = 1; i < steps.size(); ++i) {
      const SpirvInstruction &in = steps[i].instruction;
      std::vector<uint32_t> operands(in.at + 3, in.at + in.length());
      operands[steps[i].operand - 3] = value;
      value = emit(in.opcode(), in[1], operands);
    }
    return value;
  }

  /// True, at run time, if the condition is `wanted` for all of the workgroup. `a ? b : false` asks
  /// for both, and so does `a ? true : b` where neither is wanted.
  uint32_t ask(uint32_t condition, bool wanted) {
    const SpirvInstruction &in = *blocks.definition(condition);
    unsigned opcode = in.opcode();
    if (opcode == logicalAnd || opcode == logicalOr)
      return both(ask(in[3], wanted), ask(in[4], wanted));
    if (opcode == op::select)
      return both(ask(in[3], wanted), ask(in[wanted ? 4 : 5], wanted));
    if (opcode == logicalNot)
      return ask(in[3], !wanted);
    unsigned own = isCommon(in[3]) ? 4 : 3;
    auto [least, greatest, all] =
        ends(stepsTo(in[own]), edit.typeOf(in[own]),
             opcode == op::greaterSigned || opcode == op::lessSigned ||
                 opcode == op::greaterEqualSigned || opcode == op::lessEqualSigned);
    for (uint32_t end : {least, greatest}) {
      uint32_t holds =
          emit(opcode, blocks.boolean, {own == 3 ? end : in[3], own == 3 ? in[4] : end});
      all = both(all, wanted ? holds : emit(logicalNot, blocks.boolean, {holds}));
    }
    return all;
  }

  struct Ends {
    /// True if all values lie between them.
    uint32_t least, greatest, known;
  };

  Ends ends(const std::vector<Step> &steps, uint32_t type, bool isSigned) {
    const SpirvInstruction &call = steps.front().instruction;
    std::string name = blocks.calledBy(call), axis = name.substr(name.size() - 2);
    bool global = begins(name, "xt_reversed_global_id_");
    uint32_t begin =
        edit.call((global ? "xt_reversed_begin" : "xt_reversed_zero") + axis, call[1], {});
    uint32_t far = edit.call("xt_reversed_far" + axis, call[1], {});
    uint32_t least = follow(steps, begin);
    uint32_t greatest = follow(steps, emit(op::add, call[1], {begin, far}));
    uint32_t ordered = emit(isSigned ? op::lessEqualSigned : op::lessEqualUnsigned, blocks.boolean,
                            {least, greatest});
    // As far from each other as the ids: none was too large on the way.
    uint32_t apart = emit(op::subtract, type, {greatest, least});
    unsigned bits = edit.intBitsOf(type), idBits = edit.intBitsOf(call[1]);
    if (bits > idBits)
      far = emit(op::convertU, type, {far});
    else if (type != call[1])
      apart = emit(bits < idBits ? op::convertU : op::bitcast, call[1], {apart});
    return {least, greatest, both(ordered, emit(op::equal, blocks.boolean, {apart, far}))};
  }

  /// Decorations of what is copied: some change results.
  void decorate(const SpirvInstruction &in) {
    for (const auto &[label, split] : splits)
      if (auto found = split.ids.find(in[1]); found != split.ids.end()) {
        std::vector<uint32_t> operands(in.at + 1, in.at + in.length());
        operands[0] = found->second;
        edit.emit(op::decorate, operands);
      }
  }

  /// In the body that stays. True if the instruction is replaced.
  bool rewrite(const Split &split, uint32_t block, const SpirvInstruction &in) {
    if (block == split.first().label && in.at == split.first().end()->at) {
      uint32_t all = ask(in[1], split.wanted);
      edit.emit(op::branchConditional, {all, split.inCopy(split.target), split.behind});
      edit.emit(op::label, {split.behind});
    } else if (in.opcode() == op::phi) {
      std::vector<uint32_t> operands(in.at + 1, in.at + in.length());
      for (size_t i = 3; i < operands.size(); i += 2)
        if (operands[i] == split.first().label)
          operands[i] = split.behind;
      edit.emit(op::phi, operands);
      return true;
    } else if (in.opcode() == op::returnVoid) {
      // Where both bodies end alike, the driver makes one store of two, with a mask.
      edit.emit(memoryBarrier,
                {edit.uintConstant(ofInvocation), edit.uintConstant(orderOfGlobalMemory)});
    }
    return false;
  }

  void copyBody(const Split &split) {
    for (const SpirvBlock *block : split.copied) {
      edit.emit(op::label, {split.inCopy(block->label)});
      for (const SpirvInstruction &in : block->instructions) {
        if (isLine(in))
          continue;
        if (in.opcode() == op::phi) {
          edit.emit(op::phi, entered(split, *block, in));
          continue;
        }
        std::vector<uint32_t> operands(in.at + 1, in.at + in.length());
        IdOperands ids = *idOperands(in);
        for (unsigned i = 1; i < in.length(); ++i)
          if (ids.has(i) || (i == 2 && hasResult(in)))
            operands[i - 1] = split.inCopy(operands[i - 1]);
        edit.emit(in.opcode(), operands);
      }
    }
  }

  /// A phi of the copy, which is entered from the first block, or from inside.
  static std::vector<uint32_t> entered(const Split &split, const SpirvBlock &block,
                                       const SpirvInstruction &in) {
    std::vector<uint32_t> operands{in[1], split.inCopy(in[2])};
    for (unsigned i = 3; i + 1 < in.length(); i += 2)
      if (split.ids.count(in[i + 1]) ||
          (in[i + 1] == split.first().label && block.label == split.target)) {
        operands.push_back(split.inCopy(in[i]));
        operands.push_back(split.inCopy(in[i + 1]));
      }
    return operands;
  }

  SpirvEdit edit;
  KernelBlocks blocks;
  /// By the label of the function's first block.
  std::map<uint32_t, Split> splits;
};

} // namespace

std::vector<uint32_t> splitWholeGroups(const std::vector<uint32_t> &spirv) {
  std::vector<uint32_t> padded(spirv);
  padded.resize(spirv.size() + 8);
  Splitter splitter(padded, spirv.size());
  return splitter.changes() ? splitter.run() : spirv;
}

} // namespace xetile::runtime
