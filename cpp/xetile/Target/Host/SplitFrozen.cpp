//===- SplitFrozen.cpp - what depends on frozen arguments, as a function -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors, some arguments marked as frozen. Out: a second function that computes
// what depends on these alone; the first takes that function's results instead, for devices also
// the arguments themselves. Refused: a module that has a function of the second one's name. Left
// whole: functions with sizes of run time.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "xetile/Target/Host/EntryPoints.h"
#include "xetile/Target/Host/Frozen.h"
#include "xetile/Target/Host/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace xetile {
#define GEN_PASS_DEF_SPLITFROZEN
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

static SetVector<Value> readBy(Operation &op) {
  SetVector<Value> values;
  values.insert_range(op.getOperands());
  getUsedValuesDefinedAbove(op.getRegions(), values);
  return values;
}

/// Costs nothing, unless it is kept.
static bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp,
             tensor::ReshapeOp>(op);
}

/// True if kernels alone read it, or copies: a device's memory is not the host's to read.
static bool isReadByKernels(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isView(user))
      return isReadByKernels(user->getResult(0));
    return isa<linalg::LinalgOp, linalg::SoftmaxOp, tensor::PadOp, tensor::ConcatOp,
               tensor::InsertSliceOp, func::ReturnOp>(user) ||
           (isa<tensor::ExtractOp>(user) && isa<linalg::LinalgOp>(user->getParentOp()));
  });
}

namespace {
class Split {
public:
  explicit Split(func::FuncOp function) : function(function), block(function.getBody().front()) {}

  /// Finds what depends on frozen arguments only, and is worth keeping.
  void find();
  /// Frozen arguments that others than what was found read: they are kept on a device.
  void findArguments();
  bool isEmpty() const { return kept.empty(); }
  /// Makes it a function of that name.
  void move(const Twine &name, bool onDevice);

private:
  bool isFrozenArgument(unsigned number) { return bool(function.getArgAttr(number, kFrozenAttr)); }
  /// True if an op that stays uses it.
  bool isKept(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !frozen.contains(block.findAncestorOpInBlock(*user));
    });
  }
  /// Adds what `op` is computed from, before it.
  static void addWithInputs(Operation *op, llvm::SetVector<Operation *> &all);
  /// The function that gives what is kept.
  func::FuncOp create(const Twine &name);
  /// The first one takes what that gives.
  void takeResults();

  func::FuncOp function;
  mlir::Block &block;
  /// Without arguments, and of frozen ones.
  llvm::SetVector<Operation *> constants, frozen;
  SmallVector<Value> kept;
};
} // namespace

void Split::find() {
  for (Operation &op : block.without_terminator()) {
    bool isConstant = true, isKnown = isMemoryEffectFree(&op);
    for (Value value : readBy(op)) {
      Operation *before = value.getDefiningOp();
      bool ofFrozen = before ? frozen.contains(before)
                             : isFrozenArgument(cast<BlockArgument>(value).getArgNumber());
      isConstant &= !ofFrozen;
      isKnown &= ofFrozen || constants.contains(before);
    }
    if (isKnown)
      (isConstant ? constants : frozen).insert(&op);
  }
  // The last ones first: what is not worth keeping is computed from what is.
  SmallVector<Operation *> found(frozen.getArrayRef());
  for (Operation *op : llvm::reverse(found))
    for (Value result : op->getResults())
      if (isKept(result) && (isView(op) || !isFrozen(result))) {
        frozen.remove(op);
        break;
      }
  for (Operation *op : frozen)
    llvm::copy_if(op->getResults(), std::back_inserter(kept),
                  [&](Value result) { return isKept(result); });
}

void Split::findArguments() {
  for (BlockArgument argument : block.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && type.getNumElements() > 0 && isFrozenArgument(argument.getArgNumber()) &&
        isKept(argument) && isReadByKernels(argument))
      kept.push_back(argument);
  }
}

void Split::addWithInputs(Operation *op, llvm::SetVector<Operation *> &all) {
  if (all.contains(op))
    return;
  for (Value value : readBy(*op))
    if (Operation *before = value.getDefiningOp())
      addWithInputs(before, all);
  all.insert(op);
}

func::FuncOp Split::create(const Twine &name) {
  // Ops that both functions need are cloned.
  llvm::SetVector<Operation *> all;
  llvm::SetVector<Value> read;
  for (Value value : kept) {
    if (Operation *op = value.getDefiningOp())
      addWithInputs(op, all);
    else
      read.insert(value);
  }
  for (Operation *op : all)
    for (Value value : readBy(*op))
      if (isa<BlockArgument>(value))
        read.insert(value);
  OpBuilder builder(function.getContext());
  Location loc = function.getLoc();
  auto typeOf = [](Value value) { return value.getType(); };
  builder.setInsertionPointAfter(function);
  auto made = func::FuncOp::create(builder, loc, name.str(),
                                   builder.getFunctionType(llvm::map_to_vector(read, typeOf),
                                                           llvm::map_to_vector(kept, typeOf)));
  mlir::Block *into = made.addEntryBlock();
  IRMapping map;
  for (auto [place, value] : llvm::enumerate(read)) {
    made.setArgAttr(place, kArgumentAttr,
                    builder.getI64IntegerAttr(cast<BlockArgument>(value).getArgNumber()));
    map.map(value, into->getArgument(place));
  }
  builder.setInsertionPointToStart(into);
  for (Operation *op : all)
    builder.clone(*op, map);
  func::ReturnOp::create(builder, loc,
                         llvm::map_to_vector(kept, [&](Value value) { return map.lookup(value); }));
  return made;
}

void Split::takeResults() {
  Builder builder(function.getContext());
  auto numbered = [&](StringRef attribute, int64_t number) {
    return builder.getDictionaryAttr(
        builder.getNamedAttr(attribute, builder.getI64IntegerAttr(number)));
  };
  unsigned count = block.getNumArguments();
  llvm::BitVector unused(count + kept.size());
  for (unsigned number = 0; number < count; ++number) {
    bool wasFrozen = isFrozenArgument(number);
    function.setArgAttrs(number, numbered(kArgumentAttr, number));
    unused[number] = wasFrozen;
  }
  for (auto [number, value] : llvm::enumerate(kept)) {
    // It has no attributes that could refuse an argument more.
    (void)function.insertArgument(count + number, value.getType(), numbered(kPackedAttr, number),
                                  function.getLoc());
    value.replaceAllUsesWith(block.getArgument(count + number));
  }
  for (Operation *op : llvm::reverse(frozen))
    op->erase();
  for (Operation *op : llvm::reverse(constants))
    if (op->use_empty())
      op->erase();
  for (unsigned number = 0; number < count; ++number)
    unused[number] = unused[number] && block.getArgument(number).use_empty();
  (void)function.eraseArguments(unused);
}

void Split::move(const Twine &name, bool onDevice) {
  func::FuncOp made = create(name);
  takeResults();
  if (!onDevice)
    return;
  auto unit = UnitAttr::get(function.getContext());
  for (unsigned number : llvm::seq(made.getNumResults()))
    made.setResultAttr(number, kOnDeviceAttr, unit);
  for (unsigned number : llvm::seq(function.getNumArguments()))
    if (function.getArgAttr(number, kPackedAttr))
      function.setArgAttr(number, kOnDeviceAttr, unit);
}

namespace {
struct SplitFrozen : xetile::impl::SplitFrozenBase<SplitFrozen> {
  using SplitFrozenBase::SplitFrozenBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (func::FuncOp function : getEntryPoints(getOperation())) {
      if (!function.getBody().hasOneBlock() || !hasFrozen(function) || !hasStaticSizes(function))
        continue;
      // Slices that nothing reads would keep arguments.
      IRRewriter rewriter(&getContext());
      (void)runRegionDCE(rewriter, function->getRegions());
      Split split(function);
      split.find();
      if (onDevice)
        split.findArguments();
      if (split.isEmpty())
        continue;
      std::string name = (function.getName() + kFreezeSuffix).str();
      if (Operation *other = symbols.lookup(name)) {
        other->emitOpError() << "has the name of what is computed from frozen arguments of @"
                             << function.getName() << ": expected another";
        return signalPassFailure();
      }
      split.move(name, onDevice);
    }
  }

private:
  static bool hasFrozen(func::FuncOp function) {
    return llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned number) {
      return bool(function.getArgAttr(number, kFrozenAttr));
    });
  }

  static bool hasStaticSizes(func::FuncOp function) {
    return llvm::all_of(function.getArgumentTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    });
  }
};
} // namespace
