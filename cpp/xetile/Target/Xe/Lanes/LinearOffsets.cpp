//===- LinearOffsets.cpp - offsets that grow by steps ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: integers, or vectors of them, of the index type. Out: a sum of a constant, multiples of
// numbers and of coordinates. Refused: other elements, for which nothing is returned.
#include "xetile/Target/Xe/Lanes/LinearOffsets.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/Xe/KnownMultiple.h"

using namespace mlir;
using namespace xetile;

void LinearOffsets::add(const LinearOffsets &other, int64_t by) {
  constant += by * other.constant;
  for (auto [value, factor] : other.terms)
    if ((terms[value] += by * factor) == 0)
      terms.erase(value);
  for (auto [step, more] : llvm::zip_equal(steps, other.steps))
    step += by * more;
}

void LinearOffsets::scale(int64_t by) {
  LinearOffsets before = *this;
  add(before, by - 1);
}

std::optional<int64_t> LinearOffsets::minus(const LinearOffsets &other) const {
  if (steps != other.steps)
    return std::nullopt;
  LinearOffsets difference = *this;
  difference.add(other, -1);
  return difference.terms.empty() ? std::optional(difference.constant) : std::nullopt;
}

bool LinearOffsets::termsAreMultiplesOf(int64_t number) const {
  return llvm::all_of(terms, [&](const auto &term) {
    return getKnownMultiple(term.first) * uint64_t(term.second) % uint64_t(number) == 0;
  });
}

namespace {

/// Sums, products and casts nest as deep as the code that computes addresses does.
constexpr unsigned kMaxDepth = 24;

std::optional<LinearOffsets> read(Value value, unsigned depth);

unsigned rankOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getRank() : 0;
}

LinearOffsets constantOf(Type type, int64_t constant) {
  LinearOffsets result;
  result.constant = constant;
  result.steps.assign(rankOf(type), 0);
  return result;
}

/// Between numbers of 64 bits.
bool isWideCast(Operation *op) {
  auto isWide = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isIndex() || element.isInteger(64);
  };
  return isa<arith::IndexCastOp>(op) && isWide(op->getOperand(0).getType()) &&
         isWide(op->getResult(0).getType());
}

/// Of elements that grow by a step along each dimension.
std::optional<LinearOffsets> readElements(DenseIntElementsAttr elements) {
  auto type = cast<ShapedType>(elements.getType());
  SmallVector<int64_t> numbers;
  for (const APInt &element : elements.getValues<APInt>())
    numbers.push_back(element.getSExtValue());
  LinearOffsets result;
  result.steps.assign(type.getRank(), 0);
  if (numbers.empty())
    return std::nullopt;
  result.constant = numbers[0];
  int64_t apart = 1;
  for (int64_t dim = type.getRank(); dim-- > 0; apart *= type.getDimSize(dim))
    if (type.getDimSize(dim) > 1)
      result.steps[dim] = numbers[apart] - numbers[0];
  for (auto [at, number] : llvm::enumerate(numbers)) {
    int64_t expected = numbers[0], rest = static_cast<int64_t>(at);
    for (int64_t dim = type.getRank(); dim-- > 0; rest /= type.getDimSize(dim))
      expected += rest % type.getDimSize(dim) * result.steps[dim];
    if (number != expected)
      return std::nullopt;
  }
  return result;
}

std::optional<LinearOffsets> readProduct(arith::MulIOp op, unsigned depth) {
  for (auto [factor, other] :
       {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    APInt by;
    if (!matchPattern(factor, m_ConstantInt(&by)))
      continue;
    std::optional<LinearOffsets> result = read(other, depth);
    if (result)
      result->scale(by.getSExtValue());
    return result;
  }
  return std::nullopt;
}

std::optional<LinearOffsets> readBroadcast(vector::BroadcastOp op, unsigned depth) {
  std::optional<LinearOffsets> result = read(op.getSource(), depth);
  if (!result)
    return result;
  auto source = dyn_cast<VectorType>(op.getSourceType());
  unsigned added = op.getResultVectorType().getRank() - rankOf(op.getSourceType());
  for (unsigned dim = 0; source && dim < unsigned(source.getRank()); ++dim)
    if (source.getDimSize(dim) == 1)
      result->steps[dim] = 0;
  result->steps.insert(result->steps.begin(), added, 0);
  return result;
}

/// Dimensions of one element come and go.
std::optional<LinearOffsets> readShapeCast(vector::ShapeCastOp op, unsigned depth) {
  std::optional<LinearOffsets> result = read(op.getSource(), depth);
  if (!result)
    return result;
  SmallVector<int64_t> sizes, steps;
  for (auto [size, step] : llvm::zip_equal(op.getSourceVectorType().getShape(), result->steps))
    if (size != 1) {
      sizes.push_back(size);
      steps.push_back(step);
    }
  SmallVector<int64_t> wanted;
  unsigned next = 0;
  for (int64_t size : op.getResultVectorType().getShape()) {
    if (size != 1 && (next == sizes.size() || sizes[next] != size))
      return std::nullopt;
    wanted.push_back(size == 1 ? 0 : steps[next++]);
  }
  result->steps = wanted;
  return result;
}

std::optional<LinearOffsets> read(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return constantOf(value.getType(), number.getSExtValue());
  if (op && depth < kMaxDepth) {
    ++depth;
    if (isa<arith::AddIOp, arith::SubIOp>(op)) {
      std::optional<LinearOffsets> left = read(op->getOperand(0), depth),
                                   right = read(op->getOperand(1), depth);
      if (left && right) {
        left->add(*right, isa<arith::AddIOp>(op) ? 1 : -1);
        return left;
      }
    } else if (auto product = dyn_cast<arith::MulIOp>(op)) {
      if (std::optional<LinearOffsets> result = readProduct(product, depth))
        return result;
    } else if (isa<ConvertLanesOp>(op) || isWideCast(op)) {
      if (std::optional<LinearOffsets> result = read(op->getOperand(0), depth))
        return result;
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue()))
        return readElements(elements);
    } else if (isa<vector::StepOp>(op)) {
      LinearOffsets result = constantOf(value.getType(), 0);
      result.steps[0] = 1;
      return result;
    } else if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
      return readBroadcast(broadcast, depth);
    } else if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
      return readShapeCast(cast, depth);
    }
  }
  if (isa<VectorType>(value.getType()))
    return std::nullopt;
  LinearOffsets result;
  result.terms[value] = 1;
  return result;
}

} // namespace

std::optional<LinearOffsets> xetile::linearOffsets(Value value) { return read(value, 0); }

std::optional<LinearOffsets> xetile::linearAddresses(Value address, Value offsets, int64_t bytes) {
  std::optional<LinearOffsets> result = linearOffsets(offsets), start = linearOffsets(address);
  if (!result || !start || !start->steps.empty())
    return std::nullopt;
  result->scale(bytes);
  start->steps.assign(result->steps.size(), 0);
  result->add(*start, 1);
  return result;
}
