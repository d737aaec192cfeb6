//===- ScansToLoops.cpp - scans on tensors as loops --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg.generic that combines each element with those before. Out: scf.for around a
// combination of elements, or of rows of them. Refused: nothing; scans of several tensors, or of
// transposed ones, stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/Scan.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_SCANSTOLOOPS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// Writes one scan as loops.
class LoopWriter {
public:
  LoopWriter(OpBuilder &b, Scan scan)
      : b(b), loc(scan.op.getLoc()), scan(scan), input(scan.op.getInputs()[0]), type(scan.type()),
        dim(scan.loop) {
    if (dim != type.getRank() - 1)
      row = type.getRank() - 1;
  }

  Value write() {
    SmallVector<int64_t> outer;
    for (int64_t each = 0; each < type.getRank(); ++each)
      if (each != dim && each != row)
        outer.push_back(each);
    offsets.assign(type.getRank(), b.getIndexAttr(0));
    Value out = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, input),
                                        type.getElementType());
    return writeLoops(outer, out);
  }

private:
  Value size(int64_t which) { return b.createOrFold<tensor::DimOp>(loc, input, which); }
  /// The loops around the scan's own, one for each of `dims`, with the places in `offsets`.
  Value writeLoops(ArrayRef<int64_t> dims, Value out);
  Value writeScan(Value out);
  std::pair<Value, Value> writeElement(OpBuilder &b, Value element, Value before);
  void writeRow(Value place, ValueRange carried);

  OpBuilder &b;
  Location loc;
  Scan scan;
  Value input;
  RankedTensorType type;
  int64_t dim;
  /// Where rows are combined, not elements: the last dimension. Else none.
  std::optional<int64_t> row;
  /// Where the loops around are, along each dimension.
  SmallVector<OpFoldResult> offsets;
  SmallVector<OpFoldResult> sizes, ones;
  RankedTensorType rowType;
};

} // namespace

Value LoopWriter::writeLoops(ArrayRef<int64_t> dims, Value out) {
  if (dims.empty())
    return writeScan(out);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, zero, size(dims.front()), one, out);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  offsets[dims.front()] = loop.getInductionVar();
  scf::YieldOp::create(b, loc, writeLoops(dims.drop_front(), loop.getRegionIterArg(0)));
  return loop.getResult(0);
}

/// The scan's body: the value that is written, and the one that is carried.
std::pair<Value, Value> LoopWriter::writeElement(OpBuilder &b, Value element, Value before) {
  IRMapping mapping;
  mapping.map(scan.op.getBody()->getArgument(0), element);
  mapping.map(scan.last(), before);
  for (Operation &op : scan.op.getBody()->without_terminator())
    b.clone(op, mapping);
  Operation *yield = scan.op.getBody()->getTerminator();
  return {mapping.lookupOrDefault(yield->getOperand(0)),
          mapping.lookupOrDefault(yield->getOperand(1))};
}

void LoopWriter::writeRow(Value place, ValueRange carried) {
  offsets[dim] = place;
  Value read = tensor::ExtractSliceOp::create(b, loc, rowType, input, offsets, sizes, ones);
  auto written = RankedTensorType::get(rowType.getShape(), type.getElementType());
  Value rounded = tensor::ExtractSliceOp::create(b, loc, written, carried[0], offsets, sizes, ones);
  AffineMap map = b.getMultiDimIdentityMap(1);
  auto sums = linalg::GenericOp::create(
      b, loc, TypeRange{written, carried[1].getType()}, read, ValueRange{rounded, carried[1]},
      {map, map, map}, {utils::IteratorType::parallel},
      [&](OpBuilder &inside, Location, ValueRange values) {
        auto [result, sum] = writeElement(inside, values[0], values[2]);
        linalg::YieldOp::create(inside, loc, ValueRange{result, sum});
      });
  Value all =
      tensor::InsertSliceOp::create(b, loc, sums.getResult(0), carried[0], offsets, sizes, ones);
  scf::YieldOp::create(b, loc, ValueRange{all, sums.getResult(1)});
}

Value LoopWriter::writeScan(Value out) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value first = arith::ConstantOp::create(b, loc, scan.neutral);
  if (row) {
    sizes.assign(type.getRank(), b.getIndexAttr(1));
    ones = sizes;
    sizes[*row] = tensor::getMixedSize(b, loc, input, *row);
    rowType = RankedTensorType::get({type.getDimSize(*row)},
                                    cast<RankedTensorType>(input.getType()).getElementType());
    Value values = tensor::EmptyOp::create(b, loc, {sizes[*row]}, scan.neutral.getType());
    first = linalg::FillOp::create(b, loc, first, values).getResult(0);
  }
  auto loop = scf::ForOp::create(b, loc, zero, size(dim), one, ValueRange{out, first});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value place = loop.getInductionVar();
  ValueRange carried = loop.getRegionIterArgs();
  if (row) {
    writeRow(place, carried);
    return loop.getResult(0);
  }
  offsets[dim] = place;
  SmallVector<Value> places = getValueOrCreateConstantIndexOp(b, loc, offsets);
  Value read = tensor::ExtractOp::create(b, loc, input, places);
  auto [result, sum] = writeElement(b, read, carried[1]);
  Value all = tensor::InsertOp::create(b, loc, result, carried[0], places);
  scf::YieldOp::create(b, loc, ValueRange{all, sum});
  return loop.getResult(0);
}

/// True if the scan's init is its neutral element, and its only input is unmodified.
static bool isPlain(Scan scan) {
  if (!scan.startsFromNeutral())
    return false;
  SmallVector<AffineMap> maps = scan.op.getIndexingMapsArray();
  return scan.op.getNumDpsInputs() == 1 && maps[0].isIdentity() && maps[1].isIdentity() &&
         maps[2] == maps[0].dropResult(scan.loop) && !scan.op.hasIndexSemantics();
}

namespace {
struct ScansToLoops : xetile::impl::ScansToLoopsBase<ScansToLoops> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      std::optional<Scan> scan = Scan::match(op);
      if (!scan || !isPlain(*scan))
        continue;
      rewriter.setInsertionPoint(op);
      rewriter.replaceAllUsesWith(op.getResult(0), LoopWriter(rewriter, *scan).write());
      rewriter.eraseOp(op);
    }
  }
};
} // namespace
