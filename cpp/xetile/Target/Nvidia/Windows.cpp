//===- Windows.cpp - tiles of images in the ring ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tile of a matrix whose columns, or rows, are windows of an image. Out: copies of its
// elements by the threads of the warpgroup that loads. Refused: nothing; RingPlan.cpp has.
//
// The place of an element is the sum of what its number of k and that of its pixel say. A thread
// copies several elements of each row: what these say of one side serves all rows, and what a row
// says of the other side all elements of it.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

constexpr int64_t kElement = 4, kRowBytes = kSwizzleBytes;
constexpr int64_t kCopies = 8; // of a thread in a step of its loop

/// The part that a number of one side has; it is within that side or `isThere` is false.
KernelWriter::InWindow KernelWriter::placeInWindow(const WindowedMatrix &window, bool isK,
                                                   Value at) {
  ArrayRef<WindowedMatrix::Digit> digits = isK ? window.k : window.pixels;
  InWindow place{number(0), isBelow(at, number(WindowedMatrix::count(digits))),
                 SmallVector<Value>(window.axes.size())};
  Value rest = at;
  int64_t left = WindowedMatrix::count(digits);
  for (const WindowedMatrix::Digit &digit : llvm::reverse(digits)) {
    if (digit.size == 1)
      continue;
    left /= digit.size;
    Value own = left == 1 ? rest : arith::RemUIOp::create(b, rest, number(digit.size));
    if (left != 1)
      rest = arith::DivUIOp::create(b, rest, number(digit.size));
    place.offset = add(place.offset, mul(own, digit.stride));
    if (digit.axis < 0)
      continue;
    Value &along = place.along[size_t(digit.axis)];
    Value moved = mul(own, digit.step);
    along = along ? add(along, moved) : moved;
  }
  return place;
}

/// Copies a unit, whose place is the sum of what its column and its row say.
void KernelWriter::copyWindow(const TilePlace &place, Value base, Value start,
                              const InWindow &inner, const InWindow &outer, Value target) {
  const WindowedMatrix &window = *place.window;
  Value isThere = arith::AndIOp::create(b, inner.isThere, outer.isThere);
  for (auto [dim, axis] : llvm::enumerate(window.axes)) {
    Value along = inner.along[dim], other = outer.along[dim];
    along = along && other ? add(along, other) : along ? along : other;
    if (!along)
      along = number(0);
    isThere = arith::AndIOp::create(b, isThere, isBelow(add(along, -axis.low), number(axis.size)));
  }
  Value element = select(isThere, add(start, add(inner.offset, outer.offset)), number(0));
  Value pointer = LLVM::GEPOp::create(
      b, base.getType(), b.getF32Type(), base,
      ArrayRef<LLVM::GEPArg>{arith::ExtUIOp::create(b, b.getI64Type(), element).getResult()});
  auto kind =
      place.unitBytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(b, target, pointer, uint32_t(place.unitBytes), kind,
                          select(isThere, number(place.unitBytes), number(0)));
}

void KernelWriter::copyWindows(const TilePlace &place, Value to, Value k) {
  const WindowedMatrix &window = *place.window;
  bool kIsInner = window.operand ? place.isTransposed : !place.isTransposed;
  Value outerOffset = offsetAt(place.outerOffset, k), innerOffset = offsetAt(place.innerOffset, k);
  Value start = number(0);
  for (auto [at, stride] : llvm::zip_equal(place.batch, window.batches))
    start = add(start, mul(offsetAt(at, k), stride));
  for (const WindowedMatrix::Axis &axis : window.axes)
    start = add(start, -axis.low * axis.stride);
  Value base = arith::IndexCastOp::create(
      b, b.getI64Type(), memref::ExtractAlignedPointerAsIndexOp::create(b, place.matrix));
  base = LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 1), base);

  // Threads side by side have units side by side, at most a row of 128 bytes. Those on in the same
  // row are other columns of the ring.
  int64_t elements = place.unitBytes / kElement;
  int64_t across = std::min(kRowBytes / place.unitBytes, place.inner / elements);
  int64_t groups = place.inner / elements / across, down = kWarpgroup / across;
  int64_t each = place.outer / down, atOnce = std::clamp<int64_t>(kCopies / groups, 1, each);
  Value unit = bitAnd(lane, across - 1);
  Value row = shiftRight(lane, llvm::Log2_64(uint64_t(across)));
  SmallVector<InWindow> columns;
  for (int64_t group = 0; group < groups; ++group)
    columns.push_back(placeInWindow(
        window, kIsInner, add(add(innerOffset, mul(unit, elements)), group * across * elements)));
  auto loop = scf::ForOp::create(b, number(0), number(each), number(atOnce));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  for (int64_t i = 0; i < atOnce; ++i) {
    Value own = add(mul(add(loop.getInductionVar(), i), down), row);
    InWindow outer = placeInWindow(window, !kIsInner, add(outerOffset, own));
    Value target = unitInRing(place, own, unit);
    for (auto [group, inner] : llvm::enumerate(columns))
      copyWindow(place, base, start, inner, outer,
                 at(to, add(target, int64_t(group) * place.outerInRing() * kRowBytes)));
  }
}
