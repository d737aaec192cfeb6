//===- WgToSg.cpp - distribute workgroup tiles over subgroups ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile whose tiles and operations carry wg_maps (as xetile-infer-wg-map completes them).
// Out: XeTile on the pieces of one subgroup, placed by gpu.subgroup_id; no wg_map is left. Refused:
// vectors without a map in kernels of several subgroups, unmapped values beside mapped ones,
// different numbers of subgroups, operations without a rule,
// more shared local memory than there is, exchanges where not all subgroups meet.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xetile/Transforms/Passes.h"
#include "xetile/Transforms/TiedValues.h"
#include "xetile/Transforms/WgToSgPlan.h"
#include "xetile/Transforms/WorkgroupSize.h"

namespace xetile {
#define GEN_PASS_DEF_WGTOSG
#include "xetile/Transforms/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Pieces of one value that a subgroup may own.
static constexpr int64_t kMaxPieces = 1024;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool isMapped(const WgMapInference &maps, ValueRange values) {
  return llvm::any_of(values, [&](Value value) { return bool(maps.lookup(value)); });
}

static bool isBlocked(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector && vector.getRank() == 4;
}

static LogicalResult checkXeTileOp(Operation *op, const WgMapInference &maps) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  for (Value value : values)
    if (isa<TileType, VectorType>(value.getType()) && !maps.lookup(value))
      return op->emitOpError("has a value of type ")
             << value.getType()
             << " without a wg_map, and none follows from the other maps of the kernel; set wg_map "
                "on its tile or tile_mma, or run xetile-infer-wg-map before";
  if (isa<TileMmaOp, TileTransposeOp, TileReduceOp, TileBroadcastOp, TileConvLayoutOp>(op) &&
      llvm::any_of(values, isBlocked))
    return op->emitOpError("has a blocked vector beside workgroup maps, and no rule to distribute "
                           "it; expected 2D vectors: blocks belong to one subgroup");
  return success();
}

/// Each of several subgroups would compute the same whole vector, or write it. What comes from
/// nothing distributed is a matter of its users; single elements are numbers.
static LogicalResult checkUnmapped(Operation *op, int64_t subgroups) {
  if (subgroups == 1 || isFreelyDistributed(op) || op->hasTrait<OpTrait::IsTerminator>())
    return success();
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (auto vector = dyn_cast<VectorType>(type);
        vector && (vector.isScalable() || vector.getNumElements() > 1))
      return op->emitOpError("has a value of type ")
             << type << " without a wg_map in a kernel of " << subgroups
             << " subgroups, each of which would do all of it; expected its elements to come from "
                "xetile.load_tile, or wg_map at an operation of xetile that it depends on";
  return success();
}

/// How many rows and columns the subgroups own before the first of them comes again, in words; 1
/// where each has all.
static std::string describeRounds(WgMapAttr map, VectorType type) {
  SmallVector<std::string, 2> strides;
  for (unsigned dim : {0u, 1u}) {
    DimDistribution along = getDimDistribution(map, dim, getMatrixShape(type)[dim]);
    strides.push_back(std::to_string(along.numPieces == 1 ? 1 : along.roundStride()));
  }
  return strides[0] + " and " + strides[1];
}

/// Each subgroup cuts its own elements.
static LogicalResult checkSlice(vector::ExtractStridedSliceOp op, const WgMapInference &maps) {
  WgMapAttr source = maps.lookup(op.getSource()), result = maps.lookup(op.getResult());
  if (isBlocked(op.getSource()))
    return op.emitOpError("slices blocks, which belong to one subgroup each; expected a 2D vector, "
                          "as tile_unpack makes");
  if (source && result && deriveResultMap(op->getOpOperand(0), source) == result)
    return success();
  WgMapAttr map = source ? source : result;
  return op.emitOpError("cuts what each subgroup has under ")
         << map << "; expected offsets and sizes of rows and columns that are multiples of "
         << describeRounds(map, op.getSourceVectorType())
         << ", or a tile_conv_layout before it to a map that does not share out what is sliced";
}

/// An element is a number that all subgroups have.
static LogicalResult checkElement(vector::ExtractOp op, const WgMapInference &maps) {
  VectorType type = op.getSourceVectorType();
  WgMapAttr map = maps.lookup(op.getSource());
  if (op.hasDynamicPosition() || op.getNumIndices() != type.getRank())
    return op.emitOpError("takes a row, or an element at a place that only a run knows, of what is "
                          "distributed over subgroups; expected a vector.extract_strided_slice, or "
                          "an element at a known place");
  for (unsigned dim : {0u, 1u})
    if (DimDistribution along = getDimDistribution(map, dim, getMatrixShape(type)[dim]);
        along.numOwners() != 1)
      return op.emitOpError("takes an element of ")
             << type << " that some subgroups do not have under " << map
             << "; expected a tile_reduce before it, or a map that gives each subgroup all "
                "elements";
  return success();
}

/// Checks what the rewrites rely on, in a kernel of so many subgroups.
static LogicalResult checkOp(Operation *op, const WgMapInference &maps, int64_t subgroups) {
  if (isa_and_present<XeTileDialect>(op->getDialect()))
    return checkXeTileOp(op, maps);
  if (!isMapped(maps, op->getOperands()) && !isMapped(maps, op->getResults()))
    return checkUnmapped(op, subgroups);
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp, scf::YieldOp, scf::ConditionOp>(
          op))
    return success();
  if (isa<vector::ShapeCastOp>(op)) {
    if (maps.lookup(op->getOperand(0)) && maps.lookup(op->getResult(0)))
      return success();
    return op->emitOpError("has no map for ")
           << (maps.lookup(op->getOperand(0)) ? op->getResult(0) : op->getOperand(0)).getType()
           << " under which each subgroup keeps its elements; expected a map with all subgroups "
              "along the rows or along the columns, which a tile_conv_layout before gives";
  }
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op))
    return checkSlice(slice, maps);
  if (auto element = dyn_cast<vector::ExtractOp>(op); element && !isBlocked(element.getSource()))
    return checkElement(element, maps);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (isa<SplatElementsAttr>(constant.getValue()))
      return success();
    if (!isa<DenseElementsAttr>(constant.getValue()))
      return op->emitOpError("cannot be distributed: expected dense<..>, got ")
             << constant.getValue();
    if (isBlocked(constant.getResult()))
      return op->emitOpError("cannot be distributed: expected a constant of one or two dimensions, "
                             "or one with equal elements, got ")
             << constant.getType();
    return success();
  }
  if (isFreelyDistributed(op)) {
    if (!isBlocked(op->getResult(0)) || isa<vector::BroadcastOp, ub::PoisonOp>(op))
      return success();
  } else if (isElementwiseOnVectors(op)) {
    for (Value operand : op->getOperands())
      if (isa<VectorType>(operand.getType()) && !maps.lookup(operand))
        return op->emitOpError("has an operand of type ")
               << operand.getType() << " without a wg_map beside others; expected vectors of "
               << op->getResult(0).getType() << "'s shape";
    return success();
  }
  return op->emitOpError(
      "has no rule to distribute it over subgroups; expected xetile operations, scf.for, scf.if, "
      "scf.while, elementwise operations, vector.shape_cast between a row and a column, "
      "vector.extract_strided_slice, vector.extract of an element, vector.broadcast of a scalar, "
      "masks or constants on workgroup-level values");
}

/// Only loops and branches hand pieces on, and code for so many pieces must stay of a size that can
/// be compiled.
static LogicalResult checkValue(Value value, WgMapAttr map) {
  auto type = cast<ShapedType>(value.getType());
  if (int64_t pieces = getOwnership(map, type).numPieces(); pieces > kMaxPieces)
    return emitError(value.getLoc()) << "wg_map " << map << " gives each subgroup " << pieces
                                     << " pieces of " << type << "; expected at most " << kMaxPieces
                                     << ": make sg_data or sg_layout larger, or the tile smaller";
  if (auto vector = dyn_cast<VectorType>(type); vector && vector.getRank() == 4)
    for (unsigned dim : {0, 1})
      if (int64_t block = vector.getDimSize(2 + dim); map.getSgData()[dim] % block != 0)
        return emitError(value.getLoc())
               << "wg_map " << map << " cuts the blocks of " << type
               << "; expected them to divide sg_data in each dimension, got " << block
               << " in dimension " << dim;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || getPieceType(map, type) == type)
    return success();
  Operation *owner = argument.getOwner()->getParentOp();
  if (isa<scf::ForOp, scf::WhileOp>(owner))
    return success();
  return owner->emitOpError("has argument #")
         << argument.getArgNumber() << " of type " << type << " with the workgroup map " << map
         << ", which cannot be distributed: expected a workgroup's tiles and vectors to be made "
            "where they are used, by init_tile and load_tile, or to be carried by scf.for or "
            "scf.while";
}

/// The same for functions without a body, whose types would keep their maps.
static LogicalResult checkSignature(FunctionOpInterface function) {
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (auto tile = dyn_cast<TileType>(type); tile && tile.getWgMap() && function.isExternal())
      return function.emitOpError("has a workgroup's tile in its signature, ")
             << tile << ", which cannot be distributed; expected memrefs or addresses";
  return success();
}

namespace {
struct WgToSg : xetile::impl::WgToSgBase<WgToSg> {
  using WgToSgBase::WgToSgBase;

  /// One kernel has one number of subgroups, and the launch as many.
  LogicalResult checkNumSubgroups(const WgMapInference &maps) {
    llvm::SmallDenseMap<Operation *, WgMapAttr> first;
    numSubgroups.clear();
    // Op results come first: a block argument's map is inferred from theirs.
    for (bool isArgument : {false, true})
      for (auto [value, map] : maps.getMaps()) {
        if (isa<BlockArgument>(value) != isArgument)
          continue;
        Operation *op = isArgument ? value.getParentBlock()->getParentOp() : value.getDefiningOp();
        Operation *scope = SubgroupPlace::getScope(op);
        auto [entry, inserted] = first.insert({scope, map});
        if (entry->second.getNumSubgroups() != map.getNumSubgroups())
          return op->emitOpError("has wg_map ")
                 << map << " for " << map.getNumSubgroups()
                 << " subgroups, but the kernel also has " << entry->second << " for "
                 << entry->second.getNumSubgroups();
        numSubgroups[scope] = map.getNumSubgroups();
        if (inserted && scope &&
            failed(checkWorkgroupSize(scope, map.getNumSubgroups(), subgroupSize,
                                      getSmallestTarget().maxWorkItems, "wg_maps")))
          return failure();
      }
    return success();
  }

  /// Of each kernel with maps, once checkNumSubgroups has found no two.
  llvm::SmallMapVector<Operation *, int64_t, 4> numSubgroups;

  LogicalResult check(const WgMapInference &maps) {
    if (failed(checkNumSubgroups(maps)))
      return failure();
    // Other kernels of the module may be those of one subgroup.
    auto checkOne = [&](Operation *op) -> WalkResult {
      auto *scope = numSubgroups.find(SubgroupPlace::getScope(op));
      return scope == numSubgroups.end() ? success() : checkOp(op, maps, scope->second);
    };
    if (getOperation()->walk(checkOne).wasInterrupted())
      return failure();
    for (auto [value, map] : maps.getMaps())
      if (failed(checkValue(value, map)))
        return failure();
    return success();
  }

  void runOnOperation() override {
    auto checkFunction = [&](FunctionOpInterface op) { return WalkResult(checkSignature(op)); };
    WgMapInference maps;
    if (getOperation()->walk(checkFunction).wasInterrupted() || failed(maps.run(getOperation())))
      return signalPassFailure();
    if (maps.empty())
      return;
    int64_t slm = slmBytes ? int64_t(slmBytes) : getSmallestTarget().slmBytes;
    WgToSgPlan plan(maps);
    if (failed(check(maps)) || failed(plan.make(getOperation(), slm)))
      return signalPassFailure();

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [&](Value value, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
          WgMapAttr map = maps.lookup(value);
          if (!map)
            return std::nullopt;
          types.append(getOwnership(map, cast<ShapedType>(value.getType())).numPieces(),
                       getPieceType(map, value.getType()));
          return success();
        });

    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    populateWgToSgPatterns(converter, patterns, plan);
    ConversionTarget target(*context);
    // A single subgroup owns whole vectors. Then the conversion keeps block arguments as they are,
    // and what uses them is distributed although their maps are still known.
    auto isDistributed = [&](Value value) {
      WgMapAttr map = maps.lookup(value);
      return !map || getPieceType(map, value.getType()) == value.getType();
    };
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      return !getResultWgMap(op) && !plan.guarded.contains(op) &&
             llvm::all_of(op->getOperands(), isDistributed) &&
             llvm::all_of(op->getResults(), isDistributed);
    });
    scf::populateSCFStructuralTypeConversions(converter, patterns);
    // A folded value would have no analysis results.
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      return signalPassFailure();
    plan.scratch.finish(slm);
    for (auto [scope, subgroups] : numSubgroups)
      if (isa_and_present<gpu::GPUFuncOp>(scope) && subgroups > 1)
        scope->setAttr(kSubgroupsAttr, Builder(context).getI64IntegerAttr(subgroups));
  }
};
} // namespace
