//===- AttentionPlan.cpp - which dimensions are tiled, and how far ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function of an attention's ops, a machine. Out: what their loops go through, rows of a
// block, shares of threads. Refused: ops that mix rows or heads, scores that stay in a cache as
// they are, and contractions so large that scores are no matter.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Blocks/Attention/AttentionPlan.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/Attention/AttentionOps.h"
#include "xetile/Linalg/Contraction.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace xetile;

/// A loop of an op.
using OpLoop = std::pair<Operation *, unsigned>;

namespace {
class Planner {
public:
  bool findOps(func::FuncOp function);
  bool nameLoops();
  void chooseRows(const Machine &machine);
  void chooseParts(int64_t threads);
  Problem refuse(const Machine &machine) const;

  AttentionPlan plan;
  std::string why;

private:
  void joinLoops();
  bool name(OpLoop loop, AttentionDim dim, unsigned head = 0);
  bool nameContractions();
  bool no(const Twine &reason) {
    why = reason.str();
    return false;
  }

  llvm::EquivalenceClasses<OpLoop> same;
  llvm::DenseMap<OpLoop, AttentionPlan::Loop> names;
};
} // namespace

/// Takes apart what `function` computes; all has to be of the forms that can be emitted.
bool Planner::findOps(func::FuncOp function) {
  llvm::SmallPtrSet<Operation *, 4> reshaped;
  for (Operation &op : function.front().without_terminator()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      for (Value operand : op.getOperands())
        if (operand.getDefiningOp<linalg::GenericOp>())
          reshaped.insert(operand.getDefiningOp());
      continue;
    }
    if (generic->getNumResults() != 1 || generic.hasIndexSemantics() ||
        !llvm::all_of(generic.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); }))
      return no("an op of it has several results or indices that are no dimensions");
    OpOperand *init = generic.getDpsInitOperand(0);
    if (generic.payloadUsesValueFromOperand(init) && !init->get().getDefiningOp<linalg::FillOp>())
      return no("a sum of it starts from a tensor");
    plan.ops.push_back(generic);
    if (isContraction(generic)) {
      if (plan.scores && plan.output)
        return no("it has more than two matmuls");
      (plan.scores ? plan.output : plan.scores) = generic;
    }
  }
  if (!plan.output)
    return no("it has no rows of queries or no elements of values, of which there are two or more");
  plan.last = plan.ops.back();
  if (plan.last != plan.output &&
      (plan.last.getNumReductionLoops() != 0 ||
       !llvm::is_contained(plan.last.getOperands(), plan.output->getResult(0))))
    return no("what follows its second matmul is no elementwise op");
  reshaped.erase(plan.last);
  if (!reshaped.empty())
    return no("a reshape is between its ops");
  return true;
}

/// Unifies loops of producers and consumers through their indexing maps.
void Planner::joinLoops() {
  for (linalg::GenericOp op : plan.ops) {
    for (unsigned loop : llvm::seq(op.getNumLoops()))
      same.insert({op, loop});
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto producer = input->get().getDefiningOp<linalg::GenericOp>();
      if (!producer)
        continue;
      AffineMap written = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
      for (auto [use, place] :
           llvm::zip_equal(op.getMatchingIndexingMap(input).getResults(), written.getResults()))
        same.unionSets({op, cast<AffineDimExpr>(use).getPosition()},
                       {producer, cast<AffineDimExpr>(place).getPosition()});
    }
  }
}

bool Planner::name(OpLoop loop, AttentionDim dim, unsigned head) {
  auto [known, isNew] =
      names.try_emplace(same.getLeaderValue(loop), AttentionPlan::Loop{dim, head});
  return isNew || (known->second.dim == dim && known->second.head == head);
}

/// Names the unified loops by the roles of the two contractions' dimensions.
bool Planner::nameContractions() {
  Result<Contraction> output = matchContraction(plan.output, /*onTensors=*/true);
  Result<Contraction> scores = matchContraction(plan.scores, /*onTensors=*/true);
  if (!output || !scores || output->roles[kK].size() != 1 || output->roles[kN].size() != 1 ||
      scores->roles[kK].size() != 1)
    return no("its keys or values have several dimensions");
  // Rows are the last dimension of queries alone, others of theirs are heads that share keys.
  SmallVector<unsigned> heads = output->batch;
  llvm::append_range(heads, ArrayRef(output->roles[kM]).drop_back());
  OpLoop row = {plan.output, output->roles[kM].back()}, key = {plan.output, output->roles[kK][0]};
  bool distinct = name(row, AttentionDim::Row) && name(key, AttentionDim::Key) &&
                  name({plan.output, output->roles[kN][0]}, AttentionDim::Value) &&
                  name({plan.scores, scores->roles[kK][0]}, AttentionDim::Inner);
  for (unsigned loop : heads) {
    distinct &= name({plan.output, loop}, AttentionDim::Head, plan.heads.size());
    plan.heads.push_back(output->sizes[loop]);
  }
  if (!distinct)
    return no("its dimensions are not those of queries, keys and values");
  plan.rows = output->sizes[row.second];
  plan.keys = output->sizes[key.second];
  plan.values = output->sizes[output->roles[kN][0]];
  plan.inner = scores->sizes[scores->roles[kK][0]];
  return true;
}

/// Names all loops, and looks whether blocks of rows of each op are all that those of others need.
bool Planner::nameLoops() {
  joinLoops();
  if (!nameContractions())
    return false;
  for (linalg::GenericOp op : plan.ops) {
    SmallVector<AttentionPlan::Loop> &loops = plan.loops[op];
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (unsigned loop : llvm::seq(op.getNumLoops())) {
      auto found = names.find(same.getLeaderValue({op, loop}));
      if (found == names.end())
        return no("an op of it has a dimension that is none of queries, keys or values");
      AttentionPlan::Loop here = found->second;
      if (linalg::isReductionIterator(kinds[loop]) &&
          (here.dim == AttentionDim::Head || here.dim == AttentionDim::Row))
        return no("an op of it reduces rows of queries or heads");
      loops.push_back(here);
    }
    for (unsigned i : llvm::seq(loops.size()))
      for (unsigned j : llvm::seq(i))
        if (loops[i].dim == loops[j].dim && loops[i].head == loops[j].head)
          return no("an op of it has one dimension twice");
  }
  auto has = [&](linalg::GenericOp op, unsigned operand, AttentionDim dim) {
    AffineMap map = op.getIndexingMapsArray()[operand];
    return llvm::any_of(llvm::enumerate(plan.loops[op]), [&, map](auto entry) {
      return entry.value().dim == dim && map.isFunctionOfDim(entry.index());
    });
  };
  // Queries are the left operand of the scores, or can become it.
  for (unsigned operand : {0, 1})
    if (!has(plan.scores, operand, operand == 0 ? AttentionDim::Row : AttentionDim::Key) ||
        has(plan.scores, operand, operand == 0 ? AttentionDim::Key : AttentionDim::Row))
      return no("its scores are not those of queries by keys");
  if (has(plan.output, 1, AttentionDim::Row))
    return no("its values depend on the rows of queries");
  return true;
}

void Planner::chooseRows(const Machine &machine) {
  // Rows of microkernels, of which 64 pay for packed keys and values that are read again, and tasks
  // enough for some threads where there are few heads.
  constexpr int64_t kStep = 8, kFewest = 64, kTasks = 8;
  int64_t element = std::max<int64_t>(
      getElementTypeOrSelf(plan.scores->getResult(0).getType()).getIntOrFloatBitWidth() / 8, 1);
  int64_t row = plan.keys * element;
  int64_t most = std::max(machine.l2 / 2 / row / kStep * kStep, kFewest);
  int64_t heads =
      std::accumulate(plan.heads.begin(), plan.heads.end(), int64_t(1), std::multiplies<int64_t>());
  int64_t blocks = std::max<int64_t>(llvm::divideCeil(plan.rows, most),
                                     std::min<int64_t>(kTasks / heads, plan.rows / kFewest));
  plan.blockRows = plan.rows;
  if (blocks > 1) {
    int64_t even = llvm::divideCeil(plan.rows, blocks);
    plan.blockRows = plan.rows % blocks == 0 ? even : int64_t(llvm::alignTo(even, kStep));
  }
  plan.blockBytes = plan.blockRows * row;
  plan.allBytes = heads * plan.rows * row;
}

void Planner::chooseParts(int64_t threads) {
  int64_t heads =
      std::accumulate(plan.heads.begin(), plan.heads.end(), int64_t(1), std::multiplies<int64_t>());
  int64_t blocks = llvm::divideCeil(plan.rows, plan.blockRows);
  // Parts read keys and values again: none where a head more or less for a thread is no matter.
  constexpr int64_t kMany = 8;
  int64_t parts = heads % threads == 0 || heads >= kMany * threads
                      ? 1
                      : std::min(threads / std::gcd(heads, threads), blocks);
  // The last part has room for a block.
  for (;; --parts) {
    plan.partRows = llvm::divideCeil(blocks, parts) * plan.blockRows;
    plan.parts = llvm::divideCeil(plan.rows, plan.partRows);
    if (plan.parts == 1 || plan.rows - (plan.parts - 1) * plan.partRows >= plan.blockRows)
      break;
  }
  plan.partRows = std::min(plan.partRows, plan.rows);
}

Problem Planner::refuse(const Machine &machine) const {
  if (plan.allBytes <= machine.l1)
    return "all of its scores, " + std::to_string(plan.allBytes) +
           " bytes, stay in the first-level cache";
  // A block reads all keys and values again, from nearer memory than scores would come from.
  constexpr int64_t kWorth = 8;
  if (plan.blockRows < plan.rows && plan.inner + plan.values > kWorth * plan.blockRows)
    return "a block has " + std::to_string(plan.blockRows) +
           " rows of scores for keys and values of " + std::to_string(plan.inner) + " and " +
           std::to_string(plan.values) + " elements, which it would read again";
  return {};
}

Result<AttentionPlan> xetile::planAttention(func::FuncOp function, const Machine &machine,
                                            int64_t threads) {
  Planner planner;
  if (!planner.findOps(function) || !planner.nameLoops())
    return Error(planner.why);
  planner.chooseRows(machine);
  if (Problem why = planner.refuse(machine))
    return Error(*why);
  planner.chooseParts(std::max<int64_t>(threads, 1));
  return planner.plan;
}
