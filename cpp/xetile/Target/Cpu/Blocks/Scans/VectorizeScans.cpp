//===- VectorizeScans.cpp - scans along rows by vectors ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: loops on tensors that combine each element with those before it. Out: the same a vector at a
// time; loops around that do nothing else give threads their rows. Refused: nothing; other loops
// stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/IR/BytesOf.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Target/Cpu/Blocks/Rows/RowPlan.h"
#include "xetile/Target/Cpu/Blocks/Scans/ScanLoop.h"
#include "xetile/Target/Cpu/Machine/Machine.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_VECTORIZESCANS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// Writes a scan as loops over vectors of `lanes` elements.
class Vectorizer {
public:
  Vectorizer(RewriterBase &rewriter, ScanLoop scan, int64_t lanes)
      : b(rewriter), loc(scan.loop.getLoc()), scan(scan), lanes(lanes) {}

  void run();

private:
  VectorType vectorOf(Type element) { return VectorType::get({lanes}, element); }
  Value splat(Value element) {
    return vector::BroadcastOp::create(b, loc, vectorOf(element.getType()), element);
  }
  Value combine(Value left, Value right) {
    OperationState state(loc, scan.combine->getName(), {left, right}, {left.getType()},
                         scan.combine->getAttrs());
    return b.create(state)->getResult(0);
  }
  Value convert(Operation *conversion, Value value) {
    if (!conversion)
      return value;
    Type type = vectorOf(conversion->getResult(0).getType());
    OperationState state(loc, conversion->getName(), {value}, {type}, conversion->getAttrs());
    return b.create(state)->getResult(0);
  }
  /// In each lane, what all lanes up to it give together.
  Value scanLanes(Value vector);
  /// The loop over vectors in [low, high), whole ones, or one of which the first lanes count.
  scf::ForOp emitLoop(Value low, Value high, Value output, Value sums, bool isWhole);

  RewriterBase &b;
  Location loc;
  ScanLoop scan;
  int64_t lanes;
};

} // namespace

Value Vectorizer::scanLanes(Value vector) {
  Value neutral = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(cast<VectorType>(vector.getType()), Attribute(scan.neutral)));
  // Of two neighbouring groups the last lane of the first goes to all of the second: such lanes
  // stay within quarters of a register at first, and do not wait for other quarters.
  for (int64_t size = 1; size < lanes; size *= 2) {
    SmallVector<int64_t> from(lanes);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t group = lane / size;
      from[lane] = group % 2 == 0 ? lane : lanes + group * size - 1;
    }
    Value before = vector::ShuffleOp::create(b, loc, neutral, vector, from);
    vector = combine(before, vector);
  }
  return vector;
}

scf::ForOp Vectorizer::emitLoop(Value low, Value high, Value output, Value sums, bool isWhole) {
  Value step = arith::ConstantIndexOp::create(b, loc, lanes);
  Value pad = arith::ConstantOp::create(b, loc, scan.padding);
  auto loop = scf::ForOp::create(b, loc, low, high, step, {output, sums});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto placesOf = [&](ValueRange indices) {
    SmallVector<Value> places(indices);
    places.back() = loop.getInductionVar();
    return places;
  };
  auto read =
      vector::TransferReadOp::create(b, loc, vectorOf(scan.read.getType()), scan.read.getTensor(),
                                     placesOf(scan.read.getIndices()), pad, ArrayRef{true});
  Value own = scanLanes(convert(scan.widen, read));
  Value all = combine(loop.getRegionIterArg(1), own);
  auto write =
      vector::TransferWriteOp::create(b, loc, convert(scan.narrow, all), loop.getRegionIterArg(0),
                                      placesOf(scan.write.getIndices()), ArrayRef{true});
  if (!isWhole) {
    b.setInsertionPoint(read);
    Value count = arith::SubIOp::create(b, loc, high, loop.getInductionVar());
    Value mask = vector::CreateMaskOp::create(b, loc, vectorOf(b.getI1Type()), count);
    read.getMaskMutable().assign(mask);
    write.getMaskMutable().assign(mask);
    b.setInsertionPointAfter(write);
  }
  // Not the last lane of `all`: what the next vector waits for is this one op.
  Value last = splat(vector::ExtractOp::create(b, loc, own, lanes - 1));
  Value next = combine(loop.getRegionIterArg(1), last);
  scf::YieldOp::create(b, loc, ValueRange{write.getResult(), next});
  return loop;
}

void Vectorizer::run() {
  b.setInsertionPoint(scan.loop);
  Value low = scan.loop.getLowerBound(), high = scan.loop.getUpperBound();
  Value count = arith::ConstantIndexOp::create(b, loc, lanes);
  Value extent = b.createOrFold<arith::SubIOp>(loc, high, low);
  Value rest = b.createOrFold<arith::RemSIOp>(loc, extent, count);
  Value end = b.createOrFold<arith::SubIOp>(loc, high, rest);
  Value sums = splat(scan.loop.getInitArgs()[scan.sumNumber]);
  scf::ForOp whole =
      emitLoop(low, end, scan.loop.getInitArgs()[scan.outputNumber], sums, /*isWhole=*/true);
  scf::ForOp part = emitLoop(end, high, whole.getResult(0), whole.getResult(1), /*isWhole=*/false);
  SmallVector<Value> results(2);
  results[scan.outputNumber] = part.getResult(0);
  results[scan.sumNumber] = vector::ExtractOp::create(b, loc, part.getResult(1), 0);
  b.replaceOp(scan.loop, results);
}

/// The memory traffic of a scan; kDynamic if that is not known.
static int64_t bytesOf(ScanLoop &scan) {
  int64_t bytes = 0;
  for (Type type : {scan.read.getTensor().getType(), scan.write.getType()}) {
    auto tensor = cast<RankedTensorType>(type);
    std::optional<int64_t> ofTensor = xetile::bytesOf(tensor);
    std::optional<int64_t> sum = ofTensor ? llvm::checkedAdd(bytes, *ofTensor) : std::nullopt;
    if (!sum)
      return ShapedType::kDynamic;
    bytes = *sum;
  }
  return bytes;
}

namespace {
struct VectorizeScans : xetile::impl::VectorizeScansBase<VectorizeScans> {
  using VectorizeScansBase::VectorizeScansBase;

  void runOnOperation() override {
    if (failed(checkThreads(getOperation(), threads)))
      return signalPassFailure();
    SmallVector<ScanLoop> scans;
    getOperation()->walk([&](scf::ForOp loop) {
      if (std::optional<ScanLoop> scan = ScanLoop::match(loop))
        scans.push_back(*scan);
    });
    IRRewriter rewriter(&getContext());
    for (ScanLoop &scan : scans) {
      FailureOr<Machine> machine = describeMachine(scan.loop, /*require=*/false);
      if (failed(machine))
        return signalPassFailure();
      int64_t bytes = bytesOf(scan);
      if (threads != 1 && (ShapedType::isDynamic(bytes) || bytes > machine->l2 / 2))
        shareRows(rewriter, scan);
      Type widest = scan.combine->getResult(0).getType();
      int64_t lanes = machine->vectorBits / std::max(8u, widest.getIntOrFloatBitWidth());
      if (lanes > 1 && llvm::isPowerOf2_64(lanes))
        Vectorizer(rewriter, scan, lanes).run();
    }
  }
};
} // namespace
