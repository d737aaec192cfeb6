//===- XeGPUWgPlan.cpp - how each operation of a workgroup is distributed -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function whose vectors have owners. Out: what goes through shared local memory, and in
// which shapes tiles are accessed. Refused: operations without a rule, chunks and packed rows that
// pieces cut, too many pieces, exchanges where not all subgroups meet or for which memory lacks.
#include "xetile/Target/Xe/Workgroup/XeGPUWgPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "xetile/Transforms/Uniformity.h"
#include "xetile/Transforms/WgMapInference.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xetile;

/// Pieces of one value that a subgroup may own, and elements of a workgroup's value.
static constexpr int64_t kMaxPieces = 1024, kMaxElements = int64_t(1) << 21;

static bool isBlockDescriptor(Type type) {
  auto tile = dyn_cast<xegpu::TensorDescType>(type);
  return tile && !tile.isScattered();
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

void DescriptorShapes::unite(Value a, Value b) { groups.unionSets(a, b); }

void DescriptorShapes::add(Value descriptor, ArrayRef<int64_t> shape) {
  groups.insert(descriptor);
  auto &known = shapes[groups.getLeaderValue(descriptor)];
  if (!llvm::is_contained(known, shape))
    known.push_back(SmallVector<int64_t>(shape));
}

const SmallVector<SmallVector<int64_t>> &DescriptorShapes::getShapes(Value descriptor) const {
  static const SmallVector<SmallVector<int64_t>> none;
  auto found = shapes.find(groups.getLeaderValue(descriptor));
  return found == shapes.end() ? none : found->second;
}

SmallVector<Type> DescriptorShapes::getTypes(Value descriptor) const {
  auto tile = cast<xegpu::TensorDescType>(descriptor.getType());
  SmallVector<Type> types;
  // The remaining layouts move to the accesses.
  for (ArrayRef<int64_t> shape : getShapes(descriptor))
    types.push_back(xegpu::TensorDescType::get(tile.getContext(), shape, tile.getElementType(),
                                               tile.getEncoding(), Attribute()));
  return types;
}

unsigned DescriptorShapes::getNumber(Value descriptor, ArrayRef<int64_t> shape) const {
  return llvm::find(getShapes(descriptor), shape) - getShapes(descriptor).begin();
}

std::optional<Ownership> xetile::getTileOfAccess(Operation *op, const LayoutInference &layouts) {
  auto copy = [](const Ownership *known) { return known ? std::optional(*known) : std::nullopt; };
  if (auto load = dyn_cast<xegpu::LoadNdOp>(op)) {
    const Ownership *vector = layouts.lookup(load.getValue());
    return vector ? std::optional(tileOfLoad(load, *vector)) : std::nullopt;
  }
  if (auto store = dyn_cast<xegpu::StoreNdOp>(op))
    return copy(layouts.lookup(store.getValue()));
  if (isa<xegpu::PrefetchNdOp>(op))
    return copy(layouts.lookupAccess(op));
  return std::nullopt;
}

void XeGPUWgPlan::collectDescriptors(Operation *op) {
  auto unite = [&](Value a, Value b) {
    if (isBlockDescriptor(a.getType()) && isBlockDescriptor(b.getType()))
      descriptors.unite(a, b);
  };
  for (Value result : op->getResults())
    if (isBlockDescriptor(result.getType()))
      unite(result, result);
  if (isa<xegpu::UpdateNdOffsetOp>(op)) {
    unite(op->getOperand(0), op->getResult(0));
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [result, init, argument, yielded] :
         llvm::zip_equal(loop.getResults(), loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues())) {
      unite(init, argument);
      unite(init, yielded);
      unite(init, result);
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument, yielded] : llvm::zip_equal(
             loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands())) {
      unite(init, argument);
      unite(init, yielded);
    }
    for (auto [result, argument, passed] : llvm::zip_equal(
             loop.getResults(), loop.getAfterArguments(), loop.getConditionOp().getArgs())) {
      unite(passed, argument);
      unite(passed, result);
    }
  } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    for (OpResult result : op->getResults())
      for (Region &region : op->getRegions())
        if (!region.empty())
          unite(result, region.front().getTerminator()->getOperand(result.getResultNumber()));
  } else if (isa<arith::SelectOp>(op)) {
    unite(op->getOperand(1), op->getResult(0));
    unite(op->getOperand(2), op->getResult(0));
  }
}

bool XeGPUWgPlan::isKept(Value value) const {
  if (const Ownership *ownership = layouts.lookup(value))
    return ownership->numPieces() == 1 &&
           getPieceType(*ownership, value.getType()) == value.getType();
  if (!descriptors.contains(value))
    return true;
  SmallVector<Type> types = descriptors.getTypes(value);
  return types.size() == 1 && types.front() == value.getType();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult XeGPUWgPlan::checkBlock(Operation *op, xegpu::TensorDescType tile) {
  if (tile.getArrayLength() != 1)
    return op->emitOpError("has a tile of ")
           << tile.getArrayLength()
           << " blocks side by side for a workgroup; expected one block of that width, which is "
              "cut for each subgroup";
  return success();
}

/// Elements that a lane moves together stay together.
LogicalResult XeGPUWgPlan::checkChunk(Operation *op, Value value, Value like) {
  const Ownership *ownership = layouts.lookup(value);
  if (!ownership || !like)
    return success();
  auto shape = getSharedShape(like.getType());
  if (!shape)
    return op->emitOpError("has one offset for a value of ")
           << value.getType() << "; expected a vector of offsets to share out";
  for (const OwnedDim &dim : ArrayRef(ownership->dims).drop_front(shape->size()))
    if (!dim.isWhole())
      return op->emitOpError("has a layout that shares the ")
             << dim.size << " elements of a chunk out in pieces of " << dim.pieceSize
             << "; expected sg_data of " << dim.size << " in the last dimension";
  return success();
}

LogicalResult XeGPUWgPlan::checkDpas(xegpu::DpasOp op) {
  const Ownership *result = layouts.lookup(op.getResult());
  for (auto [number, name, layout] : {std::tuple(0u, "layout_a", op.getLayoutAAttr()),
                                      std::tuple(1u, "layout_b", op.getLayoutBAttr())}) {
    OpOperand &operand = op->getOpOperand(number);
    std::optional<Ownership> wanted = ownershipOfOperand(operand, *result);
    if (!wanted || result->rank() != 2)
      return op.emitOpError("multiplies vectors of ")
             << operand.get().getType() << ", expected those of a workgroup, of two dimensions";
    if (!isWorkgroupLayout(layout))
      continue;
    Result<Ownership> given =
        ownershipOfLayout(layout, cast<VectorType>(operand.get().getType()).getShape());
    if (!given)
      return op.emitOpError() << given.error().message << ", in " << name;
    if (!(given->dims[number] == wanted->dims[number]))
      return op.emitOpError("has a ")
             << name << " whose pieces along dimension " << number << " are not those of "
             << "the result: expected sg_data = " << wanted->dims[number].pieceSize << " for "
             << wanted->dims[number].owners << " subgroups there, got "
             << given->dims[number].pieceSize << " for " << given->dims[number].owners;
  }
  return success();
}

LogicalResult XeGPUWgPlan::checkTransfer(VectorTransferOpInterface op) {
  if (!isa<MemRefType>(op.getShapedType()))
    return op->emitOpError("accesses a tensor, expected memory");
  if (op.getMask() && !op.getPermutationMap().isMinorIdentity())
    return op->emitOpError("has a mask and a permutation of dimensions; expected one of them, or "
                           "vector.transpose beside it");
  return success();
}

FailureOr<bool> XeGPUWgPlan::checkShares(Operation *op) {
  bool isShared = false;
  auto values = llvm::to_vector(llvm::concat<Value>(llvm::to_vector_of<Value>(op->getOperands()),
                                                    llvm::to_vector_of<Value>(op->getResults())));
  for (Value value : values) {
    if (isBlockDescriptor(value.getType())) {
      isShared = true;
      if (failed(checkBlock(op, cast<xegpu::TensorDescType>(value.getType()))))
        return failure();
    }
    const Ownership *ownership = layouts.lookup(value);
    if (!ownership)
      continue;
    isShared = true;
    int64_t elements = 1;
    for (const OwnedDim &dim : ownership->dims)
      if (llvm::MulOverflow(elements, dim.size, elements) || elements > kMaxElements)
        return op->emitOpError("has a value of type ")
               << value.getType() << ", expected at most " << kMaxElements
               << " elements: the registers of a workgroup hold no more";
    if (ownership->numPieces() > kMaxPieces)
      return op->emitOpError("has a layout that gives each subgroup ")
             << ownership->numPieces() << " pieces of " << value.getType() << "; expected at most "
             << kMaxPieces << ": make sg_data or sg_layout larger";
  }
  return isShared;
}

LogicalResult XeGPUWgPlan::checkOp(Operation *op) {
  FailureOr<bool> isShared = checkShares(op);
  if (failed(isShared) || !*isShared)
    return isShared;
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp, scf::YieldOp, scf::ConditionOp,
          xegpu::CreateNdDescOp, xegpu::UpdateNdOffsetOp, xegpu::LoadNdOp, xegpu::StoreNdOp,
          xegpu::ConvertLayoutOp, vector::TransposeOp, vector::BroadcastOp, xegpu::LoadMatrixOp,
          xegpu::StoreMatrixOp, xegpu::UpdateOffsetOp, vector::ExtractOp, vector::InsertOp,
          vector::ExtractStridedSliceOp, vector::InsertStridedSliceOp>(op) ||
      isElementwiseOnVectors(op) || getReducedDims(op))
    return success();
  if (auto dpas = dyn_cast<xegpu::DpasOp>(op))
    return checkDpas(dpas);
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op))
    return checkTransfer(transfer);
  if (isa<vector::ShapeCastOp, vector::BitCastOp>(op)) {
    if (ownershipOfOperand(op->getOpOperand(0), *layouts.lookup(op->getResult(0))))
      return success();
    return op->emitOpError("has a result whose layout gives no layout of ")
           << op->getOperand(0).getType()
           << " under which each subgroup keeps its elements; expected pieces that are whole runs "
              "of the dimensions that are joined or split";
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (isa<DenseElementsAttr>(constant.getValue()))
      return success();
    return op->emitOpError("cannot be distributed: expected dense<..>, got ")
           << constant.getValue();
  }
  if (isFreelyDistributed(op))
    return success();
  if (isa<xegpu::PrefetchNdOp>(op)) {
    if (layouts.lookupAccess(op))
      return success();
    return op->emitOpError("has no layout beside layouts for subgroups; expected one with "
                           "sg_layout, on it or on its descriptor");
  }
  if (auto create = dyn_cast<xegpu::CreateDescOp>(op))
    return checkChunk(op, create.getResult(), create.getOffsets());
  if (auto load = dyn_cast<xegpu::LoadGatherOp>(op))
    return checkChunk(op, load.getValue(), load.getMask());
  if (auto store = dyn_cast<xegpu::StoreScatterOp>(op))
    return checkChunk(op, store.getValue(), store.getMask());
  if (isa<xegpu::PrefetchOp>(op))
    return success();
  if (auto atomic = dyn_cast<xegpu::AtomicRMWOp>(op))
    return checkChunk(op, atomic.getResult(), atomic.getMask());
  return op->emitOpError(
      "has no rule to distribute it over subgroups; expected operations of XeGPU, elementwise "
      "ones, vector.broadcast, transpose, shape_cast, bitcast, multi_reduction, reduction, slices, "
      "insertions and transfers, masks, constants, or scf on a workgroup's values");
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

std::optional<ReducedDims> xetile::getReducedDims(Operation *op) {
  if (auto reduction = dyn_cast<vector::MultiDimReductionOp>(op))
    return ReducedDims{reduction.getSource(), SmallVector<int64_t>(reduction.getReductionDims()),
                       reduction.getKind(), reduction.getAcc()};
  if (auto reduction = dyn_cast<vector::ReductionOp>(op))
    return ReducedDims{reduction.getVector(), {0}, reduction.getKind(), reduction.getAcc()};
  return std::nullopt;
}

LogicalResult XeGPUWgPlan::decideReduction(Operation *op, int64_t slmBytes, bool &isExchange) {
  ReducedDims reduced = *getReducedDims(op);
  const Ownership &from = *layouts.lookup(reduced.source);
  const Ownership *to = layouts.lookup(op->getResult(0));
  CrossReduction decision{from, from};
  bool isLocal = true;
  unsigned kept = 0;
  for (unsigned dim = 0; dim < from.rank(); ++dim) {
    if (llvm::is_contained(reduced.dims, dim)) {
      const OwnedDim &along = from.dims[dim];
      isLocal &= along.owners == 1;
      decision.partial.dims[dim] = {along.owners, 1, along.owners, along.idStride};
      decision.all.dims[dim] = OwnedDim::whole(along.owners);
    } else {
      decision.all.dims[dim] = to->dims[kept++];
      isLocal &= from.dims[dim] == decision.all.dims[dim];
    }
  }
  if (isLocal)
    return success();
  isExchange = true;
  Type element =
      getReductionType(reduced.kind, cast<VectorType>(reduced.source.getType()).getElementType(),
                       reduced.dims, from);
  if (failed(checkCrossReduction(op, decision, element, slmBytes)))
    return failure();
  reductions.insert({op, decision});
  return success();
}

LogicalResult XeGPUWgPlan::decide(Operation *op, int64_t slmBytes, bool &isExchange) {
  if (auto convert = dyn_cast<xegpu::ConvertLayoutOp>(op)) {
    const Ownership *from = layouts.lookup(convert.getSource()),
                    *to = layouts.lookup(convert.getResult());
    FailureOr<Move> move = planMove(op, cast<VectorType>(convert.getType()), *from, *to,
                                    llvm::to_vector(llvm::seq<int64_t>(0, from->rank())), slmBytes);
    if (failed(move))
      return failure();
    isExchange = !move->local;
    moves.insert({op, *move});
    return success();
  }
  if (getReducedDims(op))
    return decideReduction(op, slmBytes, isExchange);
  auto atomic = dyn_cast<xegpu::AtomicRMWOp>(op);
  if (!atomic || !layouts.lookup(atomic.getResult())->isShared())
    return success();
  guarded.insert(op);
  if (op->use_empty())
    return success();
  isExchange = true;
  auto type = cast<VectorType>(atomic.getResult().getType());
  if (!getStorageType(type.getElementType()))
    return op->emitOpError("has a result of elements ")
           << type.getElementType() << " that several subgroups own; expected a layout under which "
           << "each piece has one owner";
  int64_t bytes = getBufferBytes(type.getShape(), getStorageType(type.getElementType()));
  return bytes > slmBytes ? LogicalResult(emitSlmOverflow(op, bytes, slmBytes)) : success();
}

LogicalResult XeGPUWgPlan::make(Operation *scope) {
  int64_t slmBytes = int64_t(target.slmBytes) - getOtherSharedBytes(scope);
  auto check = [&](Operation *op) -> WalkResult {
    if (op == scope)
      return success();
    if (std::optional<Ownership> tile = getTileOfAccess(op, layouts))
      for (Value operand : op->getOperands())
        if (isBlockDescriptor(operand.getType()))
          descriptors.add(operand, tile->pieceShape());
    return checkOp(op);
  };
  scope->walk([&](Operation *op) { collectDescriptors(op); });
  if (scope->walk<WalkOrder::PreOrder>(check).wasInterrupted())
    return failure();
  std::optional<Uniformity> uniformity;
  auto visit = [&](Operation *op) -> WalkResult {
    bool isExchange = false;
    if (!isa<xegpu::ConvertLayoutOp, vector::MultiDimReductionOp, vector::ReductionOp,
             xegpu::AtomicRMWOp>(op))
      return success();
    if (failed(decide(op, slmBytes, isExchange)))
      return failure();
    if (!isExchange)
      return success();
    if (!uniformity)
      uniformity.emplace(findUniformityOfSubgroups(scope));
    return checkAllMeet(op, *uniformity, "layouts");
  };
  return failure(scope->walk(visit).wasInterrupted());
}
