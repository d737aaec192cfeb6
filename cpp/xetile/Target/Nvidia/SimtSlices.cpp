//===- SimtSlices.cpp - rows and columns of tiles in shared memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tiles of any size, as those of A and B of a product on vector units, of which rows and
// columns are used. Out: copies of them in shared memory, element by element, and what each thread
// reads of these. Refused: nothing; SimtPlan.cpp has.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/SimtWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

static int64_t bytesOf(Type type) { return std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1); }

/// All threads, each every so many elements: no thread is behind the copy before the last one is.
void SimtWriter::copyToShared(LoadTileOp load) {
  auto type = cast<VectorType>(load.getValue().getType());
  auto init = load.getTile().getDefiningOp<InitTileOp>();
  Type element = type.getElementType();
  int64_t columns = type.getDimSize(1), bytes = bytesOf(element);
  Value base = at(shared, number(placeOfSliced(plan, load)));
  TypedAttr padding = load.getPaddingAttr() ? cast<TypedAttr>(load.getPaddingAttr())
                                            : cast<TypedAttr>(b.getZeroAttr(element));
  NVVM::Barrier0Op::create(b);
  auto loop = scf::ForOp::create(b, thread, number(type.getNumElements()), number(plan.threads));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value own = loop.getInductionVar();
    SmallVector<OpFoldResult> offsets = init.getMixedOffsets();
    auto place = [&](OpFoldResult from, Value more) -> Value {
      Value start = getConstantIntValue(from)
                        ? arith::ConstantIndexOp::create(b, *getConstantIntValue(from)).getResult()
                        : cast<Value>(from);
      return arith::AddIOp::create(b, start, toIndex(more));
    };
    Value row = place(offsets[0], arith::DivUIOp::create(b, own, number(columns)));
    Value column = place(offsets[1], arith::RemUIOp::create(b, own, number(columns)));
    Value value = choose(
        isInside(init.getSource(), row, column), element,
        [&]() -> Value {
          return LLVM::LoadOp::create(b, element, elementOf(init.getSource(), row, column),
                                      unsigned(bytes));
        },
        [&]() -> Value { return arith::ConstantOp::create(b, padding); });
    LLVM::StoreOp::create(b, value, at(base, mul(own, bytes)), unsigned(bytes));
  }
  NVVM::Barrier0Op::create(b);
}

SimtWriter::Chunks SimtWriter::fromShared(const Slice &slice, VectorType type) {
  auto whole = cast<VectorType>(LoadTileOp(slice.load).getValue().getType());
  Type element = whole.getElementType();
  int64_t columns = whole.getDimSize(1), bytes = bytesOf(element);
  int64_t first = placeOfSliced(plan, slice.load) + (slice.row * columns + slice.column) * bytes;
  Value base = at(shared, number(first));
  bool oneRow = type.getDimSize(0) == 1, oneColumn = type.getDimSize(1) == 1;
  Chunks made;
  for (size_t chunk = 0; chunk < rowOf.size(); ++chunk) {
    // Chunks beyond the last one read an element that is there.
    Value row = rowOf[chunk];
    if (!plan.isEven())
      row = arith::MinUIOp::create(b, row, number(plan.rows - 1));
    Value own = oneRow ? number(0) : mul(row, columns);
    own = oneColumn ? own : add(own, columnOf[chunk]);
    auto read = [&](int64_t more) -> Value {
      return LLVM::LoadOp::create(b, element, at(base, mul(add(own, more), bytes)),
                                  unsigned(bytes));
    };
    if (oneColumn) {
      made.push_back(splat(read(0)));
      continue;
    }
    SmallVector<Value> elements;
    for (int64_t at = 0; at < plan.width; ++at)
      elements.push_back(read(at));
    made.push_back(pack(elements));
  }
  return made;
}
