//===- AddressSums.cpp - addresses that differ by constants ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: inttoptr of sums of 64 bits. Out: those with the same terms as one common sum, made once, and
// a constant each, so that Intel's compiler adds once an access, and joins neighbours. What all
// lanes of a subgroup share is added first, as one number. LLVM writes sums of numbers without
// common bits as `or`, which takes two instructions of 64 bits.
// Refused: nothing; addresses that have nothing in common stay as they are.
#include "xetile/Target/Xe/Llvm/AddressSums.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"
#include <map>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// Numbers of values with their factors, and a constant. Arithmetic wraps around as that of
/// addresses does.
struct Terms {
  SmallVector<std::pair<unsigned, uint64_t>> values;
  uint64_t constant = 0;
  bool operator<(const Terms &other) const { return values < other.values; }
};

constexpr unsigned kMostTerms = 12;

/// The terms of addresses of one block.
class Collector {
public:
  explicit Collector(const BasicBlock *block) : block(block) {}

  /// Adds `factor * value` to `terms`; false where these become too many. What other blocks compute
  /// is a term: it may be there once for all turns of a loop.
  bool collect(Value *value, uint64_t factor, Terms &terms);

  SmallVector<Value *> values;

private:
  /// Of an element of a vector; false, too, where it is no value by itself.
  bool collectElement(Value *vector, uint64_t element, uint64_t factor, Terms &terms);
  bool addTerm(Value *value, uint64_t factor, Terms &terms);

  const BasicBlock *block;
  DenseMap<Value *, unsigned> numbers;
};

bool Collector::addTerm(Value *value, uint64_t factor, Terms &terms) {
  auto [entry, isNew] = numbers.insert({value, values.size()});
  if (isNew)
    values.push_back(value);
  for (auto &[known, by] : terms.values)
    if (known == entry->second) {
      by += factor;
      return true;
    }
  terms.values.push_back({entry->second, factor});
  return terms.values.size() <= kMostTerms;
}

bool Collector::collectElement(Value *vector, uint64_t element, uint64_t factor, Terms &terms) {
  auto constantOf = [&](Value *value) -> ConstantInt * {
    auto *constant = dyn_cast<Constant>(value);
    return constant ? dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(element))
                    : nullptr;
  };
  Value *left, *right;
  if (ConstantInt *number = constantOf(vector)) {
    terms.constant += factor * number->getZExtValue();
    return true;
  }
  if (match(vector, m_Add(m_Value(left), m_Value(right))) ||
      match(vector, m_DisjointOr(m_Value(left), m_Value(right))))
    return collectElement(left, element, factor, terms) &&
           collectElement(right, element, factor, terms);
  if (match(vector, m_Shl(m_Value(left), m_Value(right))))
    if (ConstantInt *number = constantOf(right); number && number->getZExtValue() < 64)
      return collectElement(left, element, factor << number->getZExtValue(), terms);
  if (match(vector, m_Mul(m_Value(left), m_Value(right))))
    if (ConstantInt *number = constantOf(right))
      return collectElement(left, element, factor * number->getZExtValue(), terms);
  if (auto *insert = dyn_cast<InsertElementInst>(vector))
    if (auto *at = dyn_cast<ConstantInt>(insert->getOperand(2)))
      return at->getZExtValue() == element
                 ? collect(insert->getOperand(1), factor, terms)
                 : collectElement(insert->getOperand(0), element, factor, terms);
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(vector)) {
    int from = shuffle->getMaskValue(unsigned(element));
    auto *source = dyn_cast<FixedVectorType>(shuffle->getOperand(0)->getType());
    if (from < 0 || !source)
      return false;
    unsigned count = source->getNumElements();
    return collectElement(shuffle->getOperand(unsigned(from) < count ? 0 : 1),
                          unsigned(from) % count, factor, terms);
  }
  return false;
}

bool Collector::collect(Value *value, uint64_t factor, Terms &terms) {
  Value *left, *right;
  ConstantInt *number;
  if (match(value, m_ConstantInt(number))) {
    terms.constant += factor * number->getZExtValue();
    return true;
  }
  if (auto *instruction = dyn_cast<Instruction>(value);
      instruction && instruction->getParent() == block) {
    if (match(value, m_Add(m_Value(left), m_Value(right))) ||
        match(value, m_DisjointOr(m_Value(left), m_Value(right))))
      return collect(left, factor, terms) && collect(right, factor, terms);
    if (match(value, m_Shl(m_Value(left), m_ConstantInt(number))) && number->getZExtValue() < 64)
      return collect(left, factor << number->getZExtValue(), terms);
    if (match(value, m_Mul(m_Value(left), m_ConstantInt(number))))
      return collect(left, factor * number->getZExtValue(), terms);
    if (match(value, m_ExtractElt(m_Value(left), m_ConstantInt(number)))) {
      Terms before = terms;
      if (collectElement(left, number->getZExtValue(), factor, terms))
        return true;
      terms = before;
    }
  }
  return addTerm(value, factor, terms);
}

/// The last of the values to be defined; null if none is an instruction.
Instruction *lastOf(const Terms &terms, ArrayRef<Value *> values, const DominatorTree &dominators) {
  Instruction *last = nullptr;
  for (auto [number, factor] : terms.values)
    if (auto *instruction = dyn_cast<Instruction>(values[number]))
      if (!last || dominators.dominates(last, instruction))
        last = instruction;
  return last;
}

/// True if all lanes of a subgroup are known to have the same value.
bool isOfSubgroup(Value *value, unsigned depth = 0) {
  constexpr unsigned kDeepest = 6;
  if (isa<Constant, Argument>(value))
    return true;
  if (auto *call = dyn_cast<CallInst>(value)) {
    Function *callee = call->getCalledFunction();
    return callee && (callee->getName().contains("get_group_id") ||
                      callee->getName().contains("get_sub_group_id"));
  }
  auto *instruction = dyn_cast<Instruction>(value);
  return instruction && isa<CastInst, BinaryOperator>(instruction) && depth < kDeepest &&
         all_of(
             instruction->operands(),
             [&](Value *operand) { return isOfSubgroup(operand, depth + 1); });
}

/// The sum without its constant, where all of its values are known: first what is one number for
/// all lanes.
Value *sumOf(const Terms &terms, ArrayRef<Value *> values, Function &function,
             const DominatorTree &dominators) {
  Instruction *last = lastOf(terms, values, dominators);
  std::optional<BasicBlock::iterator> at =
      last ? last->getInsertionPointAfterDef() : function.getEntryBlock().getFirstInsertionPt();
  if (!at)
    return nullptr;
  IRBuilder<> builder(&**at);
  Value *sum = nullptr;
  auto ordered = terms.values;
  auto isOne = [&](const auto &term) { return isOfSubgroup(values[term.first]); };
  // One alone is no sum.
  if (llvm::count_if(ordered, isOne) > 1) {
    ordered.clear();
    llvm::copy_if(terms.values, std::back_inserter(ordered), isOne);
    llvm::copy_if(terms.values, std::back_inserter(ordered), std::not_fn(isOne));
  }
  for (auto [number, factor] : ordered) {
    Value *value = values[number];
    if (factor == 0)
      continue;
    Value *part =
        factor == 1 ? value : builder.CreateMul(value, ConstantInt::get(value->getType(), factor));
    sum = sum ? builder.CreateAdd(sum, part) : part;
  }
  return sum;
}

/// Addresses of one block that have something in common.
bool shareSums(BasicBlock &block, const DominatorTree &dominators) {
  Collector collector(&block);
  std::map<Terms, SmallVector<std::pair<IntToPtrInst *, uint64_t>>> groups;
  for (Instruction &instruction : block) {
    auto *pointer = dyn_cast<IntToPtrInst>(&instruction);
    if (!pointer || !pointer->getOperand(0)->getType()->isIntegerTy(64))
      continue;
    Terms terms;
    if (!collector.collect(pointer->getOperand(0), 1, terms))
      continue;
    uint64_t constant = std::exchange(terms.constant, 0);
    llvm::sort(terms.values);
    groups[terms].push_back({pointer, constant});
  }
  bool changed = false;
  SmallVector<WeakTrackingVH> unused;
  for (auto &[terms, pointers] : groups) {
    if (pointers.size() < 2 || terms.values.size() < 2)
      continue;
    Value *sum = sumOf(terms, collector.values, *block.getParent(), dominators);
    if (!sum)
      continue;
    changed = true;
    for (auto [pointer, constant] : pointers) {
      IRBuilder<> builder(pointer);
      unused.push_back(pointer->getOperand(0));
      Value *number = ConstantInt::get(sum->getType(), constant);
      pointer->setOperand(0, constant == 0 ? sum : builder.CreateAdd(sum, number));
    }
  }
  for (WeakTrackingVH &value : unused)
    if (value)
      RecursivelyDeleteTriviallyDeadInstructions(value);
  return changed;
}

} // namespace

PreservedAnalyses xetile::AddressSums::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  bool changed = false;
  for (BasicBlock &block : function)
    if (dominators.isReachableFromEntry(&block))
      changed |= shareSums(block, dominators);
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
