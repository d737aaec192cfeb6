//===- WindowedMatrix.cpp - an image as a matrix of its windows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: where elements of a matrix of windows are. Out: the same as an attribute, and back.
// Refused: nothing; of another attribute there is none.
#include "xetile/IR/WindowedMatrix.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace xetile;

constexpr int64_t kOfDigit = 4, kOfAxis = 3; // numbers

DictionaryAttr WindowedMatrix::toAttr(MLIRContext *context) const {
  Builder b(context);
  auto digits = [&](ArrayRef<Digit> from) {
    SmallVector<int64_t> numbers;
    for (const Digit &digit : from)
      numbers.append({digit.size, digit.stride, digit.axis, digit.step});
    return b.getDenseI64ArrayAttr(numbers);
  };
  SmallVector<int64_t> sides;
  for (const Axis &axis : axes)
    sides.append({axis.size, axis.low, axis.stride});
  return b.getDictionaryAttr({b.getNamedAttr("axes", b.getDenseI64ArrayAttr(sides)),
                              b.getNamedAttr("batches", b.getDenseI64ArrayAttr(batches)),
                              b.getNamedAttr("k", digits(k)),
                              b.getNamedAttr("operand", b.getI64IntegerAttr(operand)),
                              b.getNamedAttr("pixels", digits(pixels))});
}

std::optional<WindowedMatrix> WindowedMatrix::from(Attribute attr) {
  auto fields = dyn_cast_or_null<DictionaryAttr>(attr);
  auto numbers = [&](StringRef name) {
    return fields ? fields.getAs<DenseI64ArrayAttr>(name) : DenseI64ArrayAttr();
  };
  DenseI64ArrayAttr sides = numbers("axes"), far = numbers("batches"), k = numbers("k"),
                    pixels = numbers("pixels");
  auto operand = fields ? fields.getAs<IntegerAttr>("operand") : IntegerAttr();
  if (!sides || !far || !k || !pixels || !operand || sides.size() % kOfAxis ||
      k.size() % kOfDigit || pixels.size() % kOfDigit)
    return std::nullopt;
  WindowedMatrix found;
  found.operand = operand.getInt();
  llvm::append_range(found.batches, far.asArrayRef());
  for (int64_t at = 0; at < sides.size(); at += kOfAxis)
    found.axes.push_back({sides[at], sides[at + 1], sides[at + 2]});
  auto read = [&](ArrayRef<int64_t> from, SmallVectorImpl<Digit> &to) {
    for (; !from.empty(); from = from.drop_front(kOfDigit)) {
      int64_t axis = from[2];
      if (from[0] < 1 || axis < -1 || axis >= int64_t(found.axes.size()))
        return false;
      to.push_back({from[0], from[1], axis, from[3]});
    }
    return true;
  };
  if (!read(k, found.k) || !read(pixels, found.pixels) || found.operand < 0 || found.operand > 1)
    return std::nullopt;
  return found;
}

int64_t WindowedMatrix::count(ArrayRef<Digit> digits) {
  int64_t all = 1;
  for (const Digit &digit : digits)
    all *= digit.size;
  return all;
}
