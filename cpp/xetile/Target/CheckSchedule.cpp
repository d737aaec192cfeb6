//===- CheckSchedule.cpp - a schedule, looked at before it runs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a schedule, complete. Out: the same.
// Refused: handles that are used after they were consumed; sequences that are called and not
// defined, or call themselves.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "xetile/Target/Schedule.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using transform::NamedSequenceOp;
using transform::TransformOpInterface;

namespace {

/// Handle -> the op that consumed it.
using Consumed = DenseMap<Value, Operation *>;

/// Ops run one after the other; regions of one op are ways of which one is taken, or none.
LogicalResult checkUses(Block &block, Consumed &consumed) {
  for (Operation &op : block) {
    for (OpOperand &operand : op.getOpOperands()) {
      auto found = consumed.find(operand.get());
      if (found == consumed.end())
        continue;
      InFlightDiagnostic error = op.emitError()
                                 << "operand #" << operand.getOperandNumber()
                                 << " is a handle that was consumed before; expected the handle "
                                    "that the consuming op gives, or a new match";
      error.attachNote(found->second->getLoc()) << "consumed by " << found->second->getName();
      return failure();
    }
    Consumed after = consumed;
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        Consumed way = consumed;
        if (failed(checkUses(inner, way)))
          return failure();
        after.insert(way.begin(), way.end());
      }
    consumed = std::move(after);
    if (auto transform = dyn_cast<TransformOpInterface>(op))
      for (Value handle : op.getOperands())
        if (transform::isHandleConsumed(handle, transform))
          consumed.insert({handle, &op});
  }
  return success();
}

struct Calls {
  ModuleOp schedule;
  llvm::SetVector<Operation *> path; // those that wait for the end of the last
  DenseSet<Operation *> done;

  LogicalResult follow(NamedSequenceOp sequence) {
    if (done.contains(sequence))
      return success();
    path.insert(sequence);
    WalkResult walked = sequence.walk([&](Operation *op) {
      SmallVector<SymbolRefAttr> callees;
      if (auto include = dyn_cast<transform::IncludeOp>(op))
        callees.push_back(include.getTarget());
      if (auto match = dyn_cast<transform::ForeachMatchOp>(op)) {
        llvm::append_range(callees, match.getMatchers().getAsRange<SymbolRefAttr>());
        llvm::append_range(callees, match.getActions().getAsRange<SymbolRefAttr>());
      }
      return WalkResult(success(llvm::all_of(
          callees, [&](SymbolRefAttr callee) { return succeeded(call(op, callee)); })));
    });
    path.pop_back();
    done.insert(sequence);
    return failure(walked.wasInterrupted());
  }

  LogicalResult call(Operation *op, SymbolRefAttr callee) {
    auto target = SymbolTable::lookupNearestSymbolFrom<NamedSequenceOp>(op, callee);
    if (!target || target.isExternal())
      return op->emitError() << "calls " << callee
                             << ", which is not defined; expected it in the schedule, in parts/ or "
                                "a file of its name beside it, or in the package";
    if (path.contains(target))
      return op->emitError() << "calls " << callee << ", which calls itself; expected no recursion";
    return follow(target);
  }
};

} // namespace

NamedSequenceOp xetile::findEntry(ModuleOp schedule, StringRef entry) {
  auto start = schedule.lookupSymbol<NamedSequenceOp>(entry);
  if (start && !start.isExternal())
    return start;
  // Not at the op: all of the schedule would be printed behind it.
  emitError(schedule.getLoc()) << "the schedule has no transform.named_sequence @" << entry
                               << " with a body";
  return {};
}

LogicalResult xetile::checkSchedule(ModuleOp schedule, StringRef entry) {
  Calls calls{schedule, {}, {}};
  NamedSequenceOp start = findEntry(schedule, entry);
  if (!start)
    return failure();
  if (start.getFunctionType().getNumInputs() != 1)
    return start.emitError() << "expected one argument, the handle of the module; got "
                             << start.getFunctionType().getNumInputs();
  if (failed(calls.follow(start)))
    return failure();
  for (auto sequence : schedule.getOps<NamedSequenceOp>())
    for (Block &block : sequence.getBody()) {
      Consumed none;
      if (calls.done.contains(sequence) && failed(checkUses(block, none)))
        return failure();
    }
  return success();
}
