//===- MicrokernelSteps.cpp - sums in vector registers -----------------------===//
// In: rows and columns of C. Out: vectors of sums carried through k: multiply-adds, or dot products
// of groups of k. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "xetile/Target/Cpu/Microkernel/MicrokernelEmitter.h"

using namespace mlir;
using namespace xetile;

Value MicrokernelEmitter::load(unsigned operand, ValueRange indices, int64_t count, Value mask) {
  auto type = VectorType::get({count}, elementOf(operand));
  if (!mask)
    return vector::LoadOp::create(b, loc, type, operands[operand], indices);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, loc, type, operands[operand], indices, mask, zero);
}

/// A scalar or vector of an operand in the type of the sums.
Value MicrokernelEmitter::widen(Value value, unsigned operand) {
  Type type = sumType;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), sumType);
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(sumType))
    return arith::ExtFOp::create(b, loc, type, value);
  if (operand < 2 && isUnsigned(operand))
    return arith::ExtUIOp::create(b, loc, type, value);
  return arith::ExtSIOp::create(b, loc, type, value);
}

void MicrokernelEmitter::emitTile(Indices place, const Region &region, Value firstRow, int64_t rows,
                                  bool clampRows, Value firstColumn, bool masked) {
  // Rows past the end repeat the last one and write the same values to it.
  Tile part;
  for (int64_t row = 0; row < rows; ++row) {
    Index index = addIndex(b, loc, firstRow, b.getIndexAttr(row));
    if (clampRows && row > 0)
      index = minIndex(b, loc, index, subIndex(b, loc, region.rowHigh, b.getIndexAttr(1)));
    part.rows.push_back(asValue(b, loc, index));
  }
  for (int64_t vector = 0; vector < tile.vectors; ++vector) {
    Index column = addIndex(b, loc, firstColumn, b.getIndexAttr(vector * length));
    part.columns.push_back(asValue(b, loc, column));
    Value mask;
    if (masked) {
      Value left = asValue(b, loc, subIndex(b, loc, region.columnHigh, column));
      mask = vector::CreateMaskOp::create(b, loc, VectorType::get({length}, b.getI1Type()), left);
    }
    part.masks.push_back(mask);
  }
  Values sums = startSums(place, part);
  if (offsetsA)
    correctOffset(place, part, sums);
  SmallVector<unsigned> dims = stepDims();
  Index last = dims.empty() ? Index(b.getIndexAttr(1)) : extentOf(dims.back());
  sums = carry(dims, place, sums, last, 1,
               [&](Values carried) { return emitProducts(place, part, carried); });
  unsigned next = 0;
  for (Value row : part.rows)
    for (auto [column, mask] : llvm::zip_equal(part.columns, part.masks)) {
      place[rowDim] = row;
      place[columnDim] = column;
      Value sum = sums[next++];
      if (element != sumType)
        sum = arith::TruncFOp::create(b, loc, VectorType::get({length}, element), sum);
      if (mask)
        vector::MaskedStoreOp::create(b, loc, operands[2], at(2, place), mask, sum);
      else
        vector::StoreOp::create(b, loc, sum, operands[2], at(2, place));
    }
}

SmallVector<Value> MicrokernelEmitter::startSums(Indices &place, const Tile &part) {
  auto sumVector = VectorType::get({length}, sumType);
  Values sums, columnBias;
  for (auto [column, mask] : llvm::zip_equal(part.columns, part.masks)) {
    if (!bias)
      break;
    auto zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(sumVector));
    columnBias.push_back(
        mask ? vector::MaskedLoadOp::create(b, loc, sumVector, bias, column, mask, zero).getResult()
             : vector::LoadOp::create(b, loc, sumVector, bias, column).getResult());
  }
  for (Value row : part.rows)
    for (auto [number, column, mask] : llvm::enumerate(part.columns, part.masks)) {
      place[rowDim] = row;
      place[columnDim] = column;
      Value sum;
      if (initial)
        sum = vector::BroadcastOp::create(b, loc, sumVector, widen(initial, 2));
      else
        sum = widen(load(2, at(2, place), length, mask), 2);
      sums.push_back(bias ? arith::AddIOp::create(b, loc, sum, columnBias[number]).getResult()
                          : sum);
    }
  return sums;
}

SmallVector<unsigned> MicrokernelEmitter::stepDims() const {
  SmallVector<unsigned> dims;
  for (unsigned dim : roles[kK])
    if (dim != groupDim)
      dims.push_back(dim);
  return dims;
}

SmallVector<Value> MicrokernelEmitter::carry(ArrayRef<unsigned> dims, Indices &place, Values sums,
                                             Index last, int64_t step,
                                             function_ref<Values(Values)> body) {
  if (groupDim)
    place[*groupDim] = constant(0);
  if (dims.empty())
    return body(sums);
  bool innermost = dims.size() == 1;
  Index low = innermost ? firstStep : b.getIndexAttr(0);
  Index high = innermost ? last : extentOf(dims[0]);
  int64_t stride = innermost ? step : 1;
  std::optional<int64_t> first = getConstantIntValue(low), end = getConstantIntValue(high);
  if (first && end && *first < *end && *first + stride >= *end) {
    place[dims[0]] = constant(*first);
    return carry(dims.drop_front(), place, sums, last, step, body);
  }
  auto loop = scf::ForOp::create(b, loc, asValue(b, loc, low), asValue(b, loc, high),
                                 constant(stride), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  place[dims[0]] = loop.getInductionVar();
  Values results =
      carry(dims.drop_front(), place, Values(loop.getRegionIterArgs()), last, step, body);
  scf::YieldOp::create(b, loc, results);
  return Values(loop.getResults());
}

Value MicrokernelEmitter::flatten(unsigned operand) {
  auto type = cast<MemRefType>(operands[operand].getType());
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    groups.push_back({dim});
  groups.back().push_back(type.getRank() - 1);
  return memref::CollapseShapeOp::create(b, loc, operands[operand], groups);
}

/// The columns of one step: all of their groups in one vector where a dot product reads them, else
/// for each element of a group the vectors of n, widened.
SmallVector<SmallVector<Value>> MicrokernelEmitter::loadColumns(Indices &place, const Tile &part) {
  SmallVector<Values> parts(usesDot ? 1 : group);
  auto vector = VectorType::get({group * length}, elementOf(1));
  Value flat = groupDim ? flatten(1) : Value();
  for (auto [column, mask] : llvm::zip_equal(part.columns, part.masks)) {
    place[columnDim] = column;
    if (!groupDim) {
      parts[0].push_back(widen(load(1, at(1, place), length, mask), 1));
      continue;
    }
    Values indices = at(1, place);
    indices.pop_back();
    indices.back() = asValue(b, loc, mulIndex(b, loc, indices.back(), group));
    Value loaded;
    if (mask) {
      Value wide = mask;
      for (int64_t width = 1; width < group; width *= 2)
        wide = vector::InterleaveOp::create(b, loc, wide, wide);
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
      loaded = vector::MaskedLoadOp::create(b, loc, vector, flat, indices, wide, zero);
    } else {
      loaded = vector::LoadOp::create(b, loc, vector, flat, indices);
    }
    Values split = {loaded};
    // Even elements to the front, odd ones to the back: in the end vector i has element i of
    // groups.
    while (!usesDot && split.size() < size_t(group)) {
      Values even, odd;
      for (Value value : split) {
        auto halves = vector::DeinterleaveOp::create(b, loc, value);
        even.push_back(halves.getRes1());
        odd.push_back(halves.getRes2());
      }
      split = even;
      llvm::append_range(split, odd);
    }
    for (auto [number, value] : llvm::enumerate(split))
      parts[number].push_back(usesDot ? value : widen(value, 1));
  }
  return parts;
}

/// An element of A, or a group of them, in all lanes.
Value MicrokernelEmitter::loadFactor(Indices &place, Value row, unsigned part) {
  place[rowDim] = row;
  if (!usesDot) {
    if (groupDim)
      place[*groupDim] = constant(part);
    Value scalar = memref::LoadOp::create(b, loc, operands[0], at(0, place));
    return vector::BroadcastOp::create(b, loc, VectorType::get({length}, sumType),
                                       widen(scalar, 0));
  }
  auto words = VectorType::get({length}, b.getI32Type());
  auto few = VectorType::get({group}, elementOf(0));
  Value elements = vector::LoadOp::create(b, loc, few, operands[0], at(0, place));
  Value bits = vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()), elements);
  Value word = vector::ExtractOp::create(b, loc, bits, ArrayRef<int64_t>{0});
  Value factor = vector::BroadcastOp::create(b, loc, words, word);
  if (offsetsA) {
    Value flip =
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(words, APInt(32, 0x80808080u)));
    factor = arith::XOrIOp::create(b, loc, factor, flip);
  }
  return vector::BitCastOp::create(b, loc, VectorType::get({group * length}, elementOf(0)), factor);
}

/// Sums of four products of bytes; they wrap around as products and sums of i32 do.
Value MicrokernelEmitter::dotBytes(Value unsignedBytes, Value signedBytes, Value sum) {
  // x86vector has the byte products of later instruction sets only.
  auto name = b.getStringAttr("llvm.x86.avx512.vpdpbusd." + Twine(target.vectorBits));
  return LLVM::CallIntrinsicOp::create(b, loc, sum.getType(), name,
                                       ValueRange{sum, unsignedBytes, signedBytes})
      .getResult(0);
}

Value MicrokernelEmitter::multiplyAdd(Value factor, Value column, Value sum) {
  if (usesDot && isa<FloatType>(sumType))
    return x86vector::DotBF16Op::create(b, loc, sum.getType(), sum, factor, column);
  if (usesDot)
    return isUnsigned(1) ? dotBytes(column, factor, sum) : dotBytes(factor, column, sum);
  if (isa<FloatType>(sumType))
    return vector::FMAOp::create(b, loc, factor, column, sum);
  return arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, factor, column));
}

SmallVector<Value> MicrokernelEmitter::emitProducts(Indices &place, const Tile &part,
                                                    ValueRange sums) {
  SmallVector<Values> columns = loadColumns(place, part);
  Values results(sums);
  for (auto [number, vectors] : llvm::enumerate(columns))
    for (auto [rowNumber, row] : llvm::enumerate(part.rows)) {
      Value factor = loadFactor(place, row, number);
      for (auto [column, vector] : llvm::enumerate(vectors)) {
        Value &sum = results[rowNumber * vectors.size() + column];
        sum = multiplyAdd(factor, vector, sum);
      }
    }
  return results;
}

/// The instruction multiplies unsigned by signed bytes. A with its top bits flipped is A + 128 as
/// unsigned or A - 128 as signed bytes: the sums are off by 128 times a column's sum of B, which a
/// loop of its own finds, as registers for it would be missing in the main one.
void MicrokernelEmitter::correctOffset(Indices &place, const Tile &part, Values &sums) {
  auto sumVector = VectorType::get({length}, sumType);
  auto bytes = VectorType::get({group * length}, elementOf(0));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(sumVector));
  Value offset = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(bytes, APInt(8, 0x80)));
  SmallVector<unsigned> dims = stepDims();
  Index last = dims.empty() ? Index(b.getIndexAttr(1)) : extentOf(dims.back());
  Values excess = carry(dims, place, Values(part.columns.size(), zero), last, 1, [&](Values sum) {
    SmallVector<Values> columns = loadColumns(place, part);
    for (auto [total, column] : llvm::zip_equal(sum, columns[0]))
      total = multiplyAdd(offset, column, total);
    return sum;
  });
  for (auto [number, sum] : llvm::enumerate(sums))
    sum = arith::SubIOp::create(b, loc, sum, excess[number % excess.size()]);
}
