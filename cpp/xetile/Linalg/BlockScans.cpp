//===- BlockScans.cpp - scans of long dimensions in blocks --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a scan on tensors (Scan.h) of sizes that are known. Out: sums of blocks, sums of those
// before, scans of each block. Refused: nothing; short scans and those of a run's sizes stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/Scan.h"

namespace xetile {
#define GEN_PASS_DEF_BLOCKSCANS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// Blocks whose sums are reduced for each block anew.
constexpr int64_t kMostBlocks = 512;

/// How long blocks are: at least and at most; how many of them, of all rows, fill a machine; scans
/// of so few elements are one block.
struct BlockSizes {
  int64_t least, most, enough, shortest;
};
/// As many elements at most are combined one after the other, in 16 lanes of some hundred
/// subgroups.
constexpr BlockSizes kOfLanes = {16, 256, 8192, 32};
/// All of a workgroup scan a row of any length, if each multiprocessor has one: those of blocks
/// would be read twice. A few steps take less time than two more kernels.
constexpr BlockSizes kOfWorkgroups = {4096, int64_t(1) << 40, 128, 32768};

/// Elements of a block: few where there are few rows, if possible a divisor of `extent`.
int64_t chooseBlock(int64_t extent, int64_t rows, const BlockSizes &sizes) {
  int64_t block = sizes.most;
  if (extent <= sizes.shortest)
    return extent;
  if (block > extent) {
    if (rows >= sizes.enough)
      return extent;
    block = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(extent)));
  }
  while (block > sizes.least && rows * (extent / block) < sizes.enough &&
         extent / (block / 2) <= kMostBlocks)
    block /= 2;
  if (block >= extent)
    return extent;
  // A whole number of blocks leaves nothing to cut off.
  for (int64_t divisor = block; divisor > block / 2; --divisor)
    if (extent % divisor == 0)
      return divisor;
  return block;
}

class BlockWriter {
public:
  BlockWriter(RewriterBase &b, Scan scan, const BlockSizes &sizes)
      : b(b), sizes(sizes), loc(scan.op.getLoc()), scan(scan), dim(scan.loop),
        sumType(scan.neutral.getType()) {}

  /// Null if one block is enough.
  Value write();

private:
  using Body = llvm::function_ref<Value(OpBuilder &, ValueRange)>;
  Value elements();
  Value inBlocks(Value input, int64_t block);
  Value reduce(Value input, unsigned reduced, bool before);
  Value scanOf(Value input, unsigned along);
  Value shifted(Value totals);
  Value generic(ValueRange inputs, ArrayRef<AffineMap> maps, Value init,
                ArrayRef<utils::IteratorType> kinds, Body body);
  Value filled(ArrayRef<int64_t> shape);
  Value convert(OpBuilder &inside, Value element);

  RewriterBase &b;
  const BlockSizes &sizes;
  Location loc;
  Scan scan;
  unsigned dim;
  Type sumType;
  /// Of an element before it is combined, or none.
  Operation *widen = nullptr;
};

} // namespace

Value BlockWriter::generic(ValueRange inputs, ArrayRef<AffineMap> maps, Value init,
                           ArrayRef<utils::IteratorType> kinds, Body body) {
  auto op = linalg::GenericOp::create(b, loc, init.getType(), inputs, init, maps, kinds,
                                      [&](OpBuilder &inside, Location, ValueRange values) {
                                        linalg::YieldOp::create(inside, loc, body(inside, values));
                                      });
  return op.getResult(0);
}

Value BlockWriter::filled(ArrayRef<int64_t> shape) {
  Value start = arith::ConstantOp::create(b, loc, scan.neutral);
  Value empty = tensor::EmptyOp::create(b, loc, shape, sumType);
  return linalg::FillOp::create(b, loc, start, empty).getResult(0);
}

Value BlockWriter::convert(OpBuilder &inside, Value element) {
  if (!widen || element.getType() == sumType)
    return element;
  OperationState state(loc, widen->getName(), {element}, {sumType}, widen->getAttrs());
  return inside.create(state)->getResult(0);
}

/// The tensor of what is combined: the input where the body does no more than to convert it.
Value BlockWriter::elements() {
  SmallVector<AffineMap> maps = scan.op.getIndexingMapsArray();
  AffineMap all = maps[scan.op.getNumDpsInputs()];
  Value first = scan.element;
  Operation *by = first.getDefiningOp();
  if (by && by->getNumOperands() == 1 && isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(by))
    first = by->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(first);
  if (argument && argument.getOwner() == scan.op.getBody() &&
      maps[argument.getArgNumber()] == all) {
    widen = first == scan.element ? nullptr : by;
    return scan.op.getInputs()[argument.getArgNumber()];
  }
  auto type = scan.type();
  Value init = tensor::EmptyOp::create(b, loc, type.getShape(), sumType);
  maps.resize(scan.op.getNumDpsInputs());
  maps.push_back(all);
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  return generic(scan.op.getInputs(), maps, init, kinds, [&](OpBuilder &inside, ValueRange values) {
    IRMapping mapping;
    Block *body = scan.op.getBody();
    mapping.map(body->getArguments().drop_back(2), values.drop_back(1));
    for (Operation &op : body->without_terminator())
      if (&op != scan.combine && !llvm::is_contained(scan.rounds, &op))
        inside.clone(op, mapping);
    return mapping.lookupOrDefault(scan.element);
  });
}

/// Dimension `dim` as two: blocks, and the elements of each.
Value BlockWriter::inBlocks(Value input, int64_t block) {
  auto type = cast<RankedTensorType>(input.getType());
  int64_t extent = type.getDimSize(dim), rest = llvm::divideCeil(extent, block) * block - extent;
  SmallVector<int64_t> shape(type.getShape());
  if (rest != 0) {
    SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
    high[dim] = b.getIndexAttr(rest);
    shape[dim] += rest;
    Value zero =
        arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
    input = tensor::PadOp::create(b, loc, type.clone(shape), input, low, high, zero);
  }
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> blocked;
  for (unsigned each = 0; each < shape.size(); ++each) {
    groups.push_back({static_cast<int64_t>(blocked.size())});
    if (each != dim) {
      blocked.push_back(shape[each]);
      continue;
    }
    groups.back().push_back(blocked.size() + 1);
    llvm::append_values(blocked, shape[each] / block, block);
  }
  return tensor::ExpandShapeOp::create(b, loc, type.clone(blocked), input, groups);
}

/// Combines the elements along `reduced`; or, for each element, those before it.
Value BlockWriter::reduce(Value input, unsigned reduced, bool before) {
  auto type = cast<RankedTensorType>(input.getType());
  unsigned rank = type.getRank();
  SmallVector<int64_t> kept(type.getShape());
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  AffineMap whole = b.getMultiDimIdentityMap(rank), in = whole, out;
  if (before) {
    // The last loop goes over those before.
    kinds.push_back(utils::IteratorType::reduction);
    SmallVector<AffineExpr> read;
    for (unsigned each = 0; each < rank; ++each)
      read.push_back(b.getAffineDimExpr(each == reduced ? rank : each));
    in = AffineMap::get(rank + 1, 0, read, b.getContext());
    out = AffineMap::get(rank + 1, 0, whole.getResults(), b.getContext());
  } else {
    kinds[reduced] = utils::IteratorType::reduction;
    kept.erase(kept.begin() + reduced);
    out = whole.dropResult(reduced);
  }
  return generic(input, {in, out}, filled(kept), kinds, [&](OpBuilder &inside, ValueRange values) {
    Value element = convert(inside, values[0]);
    if (before) {
      Value place = linalg::IndexOp::create(inside, loc, reduced);
      Value other = linalg::IndexOp::create(inside, loc, rank);
      Value isBefore = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::ult, other, place);
      Value none = arith::ConstantOp::create(inside, loc, scan.neutral);
      element = arith::SelectOp::create(inside, loc, isBefore, element, none);
    }
    return combineLike(inside, loc, scan.combine, values[1], element);
  });
}

Value BlockWriter::scanOf(Value input, unsigned along) {
  return createScan(b, loc, input, along, sumType, scan.neutral,
                    [&](OpBuilder &inside, Value element, Value last) {
                      Value sum =
                          combineLike(inside, loc, scan.combine, last, convert(inside, element));
                      return std::pair(sum, sum);
                    });
}

/// The exclusive prefix of the blocks' totals; of many blocks by a blocked scan of its own.
Value BlockWriter::shifted(Value totals) {
  Value scanned = scanOf(totals, dim);
  auto type = cast<RankedTensorType>(totals.getType());
  if (std::optional<Scan> inner = Scan::match(scanned.getDefiningOp())) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(inner->op);
    if (Value blocked = BlockWriter(b, *inner, sizes).write()) {
      b.eraseOp(inner->op);
      scanned = blocked;
    }
  }
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes,
      steps(type.getRank(), b.getIndexAttr(1)), low = offsets, high = offsets;
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  sizes[dim] = b.getIndexAttr(type.getDimSize(dim) - 1);
  low[dim] = b.getIndexAttr(1);
  Value cut = tensor::ExtractSliceOp::create(b, loc, scanned, offsets, sizes, steps);
  Value none = arith::ConstantOp::create(b, loc, scan.neutral);
  return tensor::PadOp::create(b, loc, type, cut, low, high, none);
}

Value BlockWriter::write() {
  RankedTensorType type = scan.type();
  int64_t extent = type.getDimSize(dim), rank = type.getRank();
  int64_t block = chooseBlock(extent, type.getNumElements() / extent, sizes);
  if (block == extent)
    return {};
  Value blocks = inBlocks(elements(), block);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(blocks.getType()).getShape();
  Value totals = reduce(blocks, dim + 1, /*before=*/false);
  Operation *converting = std::exchange(widen, nullptr);
  Value carry = shape[dim] > kMostBlocks ? shifted(totals) : reduce(totals, dim, /*before=*/true);
  widen = converting;
  Value own = scanOf(blocks, dim + 1);

  AffineMap whole = b.getMultiDimIdentityMap(rank + 1);
  SmallVector<utils::IteratorType> kinds(rank + 1, utils::IteratorType::parallel);
  Value init = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  Value result = generic({carry, own}, {whole.dropResult(dim + 1), whole, whole}, init, kinds,
                         [&](OpBuilder &inside, ValueRange values) {
                           Value sum = combineLike(inside, loc, scan.combine, values[0], values[1]);
                           for (Operation *round : scan.rounds) {
                             IRMapping mapping;
                             mapping.map(round->getOperand(0), sum);
                             sum = inside.clone(*round, mapping)->getResult(0);
                           }
                           return sum;
                         });
  SmallVector<ReassociationIndices> groups;
  for (int64_t each = 0, from = 0; each < rank; ++each) {
    groups.push_back({from++});
    if (each == static_cast<int64_t>(dim))
      groups.back().push_back(from++);
  }
  result = tensor::CollapseShapeOp::create(b, loc, result, groups);
  if (cast<RankedTensorType>(result.getType()) == type)
    return result;
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes, steps(rank, b.getIndexAttr(1));
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  return tensor::ExtractSliceOp::create(b, loc, type, result, offsets, sizes, steps);
}

namespace {
struct BlockScans : xetile::impl::BlockScansBase<BlockScans> {
  using BlockScansBase::BlockScansBase;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      std::optional<Scan> scan = Scan::match(op);
      if (!scan || op.hasDynamicShape() || op.hasIndexSemantics() || !scan->startsFromNeutral() ||
          !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
          scan->type().getNumElements() == 0)
        continue;
      rewriter.setInsertionPoint(op);
      bool isOfLanes =
          chip.empty() || lookupTarget(chip) || !scan->kind() || scan->loop + 1 != op.getNumLoops();
      if (Value blocked =
              BlockWriter(rewriter, *scan, isOfLanes ? kOfLanes : kOfWorkgroups).write()) {
        rewriter.replaceAllUsesWith(op.getResult(0), blocked);
        rewriter.eraseOp(op);
      }
    }
  }
};
} // namespace
