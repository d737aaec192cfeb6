//===- Microkernel.cpp - contractions on memrefs to vector code --------------===//
// In: contractions (batch_reduce_matmul, ...) on memrefs whose n is contiguous in B and C.
// Out: loops over register tiles; the tile of C stays in vector registers through all of k.
// Refused: nothing; other contractions are left for the lowering to scalar loops.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/DeepTile/ConfigAnalysis.h"
#include "xetile/DeepTile/DeepTile.h"
#include "xetile/DeepTile/LoopNest.h"
#include "xetile/DeepTile/Passes.h"
#include "xetile/DeepTile/ScalarKernel.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {
#define GEN_PASS_DEF_LOWERMICROKERNELS
#include "xetile/DeepTile/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

class Emitter {
public:
  Emitter(RewriterBase &rewriter, const Contraction &kernel, int64_t vectorBits, int64_t registers,
          bool bf16Dot)
      : b(rewriter), loc(kernel.op.getLoc()), kernel(kernel), registers(registers),
        bf16Dot(bf16Dot) {
    for (unsigned i = 0; i < 3; ++i) {
      operands[i] = kernel.op->getOperand(i);
      maps[i] = kernel.map(i);
      roles[i] = kernel.roles[i];
    }
    element = cast<MemRefType>(operands[2].getType()).getElementType();
    sumType = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 ? Type(b.getF32Type())
                                                                              : element;
    length = vectorBits / sumType.getIntOrFloatBitWidth();
  }

  /// Checks that the kernel has a form that vectors can be read from.
  bool prepare();
  void emit();

private:
  using Indices = SmallVector<Value>;

  bool isContiguous(unsigned operand) const {
    SmallVector<int64_t> strides;
    int64_t offset;
    auto type = cast<MemRefType>(operands[operand].getType());
    return succeeded(type.getStridesAndOffset(strides, offset)) && strides.back() == 1;
  }
  unsigned lastDim(unsigned operand) const {
    return maps[operand].getDimPosition(maps[operand].getNumResults() - 1);
  }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  /// The operand and its dimension that `dim` indexes, if any.
  std::optional<std::pair<unsigned, unsigned>> indexedBy(unsigned dim);
  Index extentOf(unsigned dim);
  SmallVector<Value> at(unsigned operand, const Indices &place) {
    SmallVector<Value> result;
    for (AffineExpr expr : maps[operand].getResults())
      result.push_back(place[cast<AffineDimExpr>(expr).getPosition()]);
    return result;
  }
  void overDims(ArrayRef<unsigned> dims, Indices &place, function_ref<void()> body);
  void loop(Index low, Index high, int64_t step, function_ref<void(Value)> body);
  void emitColumns(Indices &place, Index firstRow, int64_t rows, bool clampRows);
  void emitTile(Indices place, Value firstRow, int64_t rows, bool clampRows, Value firstColumn,
                bool masked);
  SmallVector<Value> emitSteps(ArrayRef<unsigned> dims, Indices &place, ArrayRef<Value> rowsAt,
                               ArrayRef<Value> columnsAt, ArrayRef<Value> masks,
                               SmallVector<Value> sums);
  SmallVector<Value> emitProducts(Indices &place, ArrayRef<Value> rowsAt, ArrayRef<Value> columnsAt,
                                  ArrayRef<Value> masks, ArrayRef<Value> sums);
  Value load(unsigned operand, ArrayRef<Value> indices, int64_t count, Value mask);
  Value widen(Value value, unsigned operand);
  linalg::FillOp findFill();
  bool isUnsigned(unsigned operand) {
    mlir::Block &body = kernel.op->getRegion(0).front();
    return llvm::any_of(body.getArgument(operand).getUsers(),
                        [](Operation *user) { return isa<arith::ExtUIOp>(user); });
  }

  RewriterBase &b;
  Location loc;
  const Contraction &kernel;
  int64_t registers;
  bool bf16Dot;
  std::array<Value, 3> operands;
  std::array<AffineMap, 3> maps;
  std::array<SmallVector<unsigned>, 3> roles;
  bool swapped = false;
  Type element, sumType;
  int64_t length;
  unsigned rowDim, columnDim;
  /// The pair dimension of k if B is interleaved for dot products.
  std::optional<unsigned> pairDim;
  RegisterTile tile;
  Value initial;
};

} // namespace

bool Emitter::prepare() {
  for (unsigned dim = 0; dim < kernel.sizes.size(); ++dim)
    if (!indexedBy(dim))
      return false;
  if (!kernel.batch.empty() || !isContiguous(2))
    return false;
  if (llvm::is_contained(roles[kM], lastDim(2))) {
    // C is column-major: compute its transpose.
    std::swap(operands[0], operands[1]);
    std::swap(maps[0], maps[1]);
    std::swap(roles[kM], roles[kN]);
    swapped = true;
  }
  columnDim = lastDim(2);
  rowDim = roles[kM].back();
  if (!isContiguous(1))
    return false;
  unsigned last = lastDim(1);
  if (last == columnDim)
    return true;
  unsigned results = maps[1].getNumResults();
  auto isPair = [&](unsigned operand) { return isContiguous(operand) && lastDim(operand) == last; };
  if (bf16Dot && kernel.sizes[last] == 2 && sumType.isF32() && results > 1 &&
      maps[1].getDimPosition(results - 2) == columnDim && isPair(0) &&
      llvm::all_of(ArrayRef(operands).take_front(2), [](Value operand) {
        return cast<MemRefType>(operand.getType()).getElementType().isBF16();
      })) {
    SmallVector<int64_t> strides;
    int64_t offset;
    auto type = cast<MemRefType>(operands[1].getType());
    if (failed(type.getStridesAndOffset(strides, offset)) || strides[results - 2] != 2)
      return false;
    pairDim = last;
    return true;
  }
  return false;
}

std::optional<std::pair<unsigned, unsigned>> Emitter::indexedBy(unsigned dim) {
  for (unsigned operand = 0; operand < 3; ++operand)
    if (std::optional<unsigned> place = maps[operand].getResultPosition(b.getAffineDimExpr(dim)))
      return std::pair(operand, *place);
  return std::nullopt;
}

Index Emitter::extentOf(unsigned dim) {
  if (!ShapedType::isDynamic(kernel.sizes[dim]))
    return b.getIndexAttr(kernel.sizes[dim]);
  auto [operand, place] = *indexedBy(dim); // prepare() has checked
  return memref::DimOp::create(b, loc, operands[operand], place).getResult();
}

void Emitter::loop(Index low, Index high, int64_t step, function_ref<void(Value)> body) {
  std::optional<int64_t> first = getConstantIntValue(low), last = getConstantIntValue(high);
  if (first && last && *first >= *last)
    return;
  if (first && last && *first + step >= *last)
    return body(constant(*first));
  auto loop =
      scf::ForOp::create(b, loc, asValue(b, loc, low), asValue(b, loc, high), constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void Emitter::overDims(ArrayRef<unsigned> dims, Indices &place, function_ref<void()> body) {
  if (dims.empty())
    return body();
  loop(b.getIndexAttr(0), extentOf(dims[0]), 1, [&](Value index) {
    place[dims[0]] = index;
    overDims(dims.drop_front(), place, body);
  });
}

/// A fill of C right before the kernel: its value starts the sums, and the fill itself is not
/// needed.
linalg::FillOp Emitter::findFill() {
  for (Operation *op = kernel.op->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(op))
      return fill.getOutputs()[0] == operands[2] ? fill : linalg::FillOp();
    if (!isMemoryEffectFree(op))
      return {};
  }
  return {};
}

void Emitter::emit() {
  b.setInsertionPoint(kernel.op);
  linalg::FillOp fill = findFill();
  if (fill)
    initial = fill.getInputs()[0];
  int64_t m = kernel.sizes[rowDim], n = kernel.sizes[columnDim];
  auto limits = kernel.op->getAttrOfType<DenseI64ArrayAttr>(kMicrokernelAttr);
  constexpr int64_t kUnknown = 24 * 64;
  if (ShapedType::isDynamic(m))
    m = limits && limits.size() == 2 ? limits[swapped ? 1 : 0] : kUnknown;
  if (ShapedType::isDynamic(n))
    n = limits && limits.size() == 2 ? limits[swapped ? 0 : 1] : kUnknown;
  tile = chooseRegisterTile(m, n, length, registers);

  Indices place(kernel.sizes.size());
  SmallVector<unsigned> outer(ArrayRef(roles[kM]).drop_back());
  for (unsigned dim : roles[kN])
    if (dim != columnDim)
      outer.push_back(dim);
  overDims(outer, place, [&] {
    Index rows = extentOf(rowDim);
    Index whole = mulIndex(b, loc, floorDivIndex(b, loc, rows, tile.rows), tile.rows);
    loop(b.getIndexAttr(0), whole, tile.rows,
         [&](Value row) { emitColumns(place, row, tile.rows, false); });
    std::optional<int64_t> known = getConstantIntValue(rows);
    int64_t rest = known ? *known % tile.rows : tile.rows;
    if (rest)
      loop(whole, rows, tile.rows, [&](Value row) { emitColumns(place, row, rest, !known); });
  });
  if (fill)
    b.eraseOp(fill);
  b.eraseOp(kernel.op);
}

void Emitter::emitColumns(Indices &place, Index firstRow, int64_t rows, bool clampRows) {
  int64_t width = tile.vectors * length;
  Index columns = extentOf(columnDim);
  Index whole = mulIndex(b, loc, floorDivIndex(b, loc, columns, width), width);
  Value row = asValue(b, loc, firstRow);
  loop(b.getIndexAttr(0), whole, width,
       [&](Value column) { emitTile(place, row, rows, clampRows, column, false); });
  loop(whole, columns, width,
       [&](Value column) { emitTile(place, row, rows, clampRows, column, true); });
}

Value Emitter::load(unsigned operand, ArrayRef<Value> indices, int64_t count, Value mask) {
  Type kind = cast<MemRefType>(operands[operand].getType()).getElementType();
  auto type = VectorType::get({count}, kind);
  if (!mask)
    return vector::LoadOp::create(b, loc, type, operands[operand], indices);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, loc, type, operands[operand], indices, mask, zero);
}

/// A scalar or vector of an operand in the type of the sums.
Value Emitter::widen(Value value, unsigned operand) {
  Type type = sumType;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), sumType);
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(sumType))
    return arith::ExtFOp::create(b, loc, type, value);
  if (operand < 2 && isUnsigned(swapped ? 1 - operand : operand))
    return arith::ExtUIOp::create(b, loc, type, value);
  return arith::ExtSIOp::create(b, loc, type, value);
}

void Emitter::emitTile(Indices place, Value firstRow, int64_t rows, bool clampRows,
                       Value firstColumn, bool masked) {
  // Rows past the end repeat the last one and write the same values to it.
  SmallVector<Value> rowsAt, columnsAt, masks;
  Index rowEnd = extentOf(rowDim), columnEnd = extentOf(columnDim);
  for (int64_t row = 0; row < rows; ++row) {
    Index index = addIndex(b, loc, firstRow, b.getIndexAttr(row));
    if (clampRows && row > 0)
      index = minIndex(b, loc, index, subIndex(b, loc, rowEnd, b.getIndexAttr(1)));
    rowsAt.push_back(asValue(b, loc, index));
  }
  for (int64_t vector = 0; vector < tile.vectors; ++vector) {
    Index column = addIndex(b, loc, firstColumn, b.getIndexAttr(vector * length));
    columnsAt.push_back(asValue(b, loc, column));
    Value mask;
    if (masked) {
      Value left = asValue(b, loc, subIndex(b, loc, columnEnd, column));
      mask = vector::CreateMaskOp::create(b, loc, VectorType::get({length}, b.getI1Type()), left);
    }
    masks.push_back(mask);
  }
  auto sumVector = VectorType::get({length}, sumType);
  SmallVector<Value> sums;
  for (Value row : rowsAt)
    for (auto [column, mask] : llvm::zip_equal(columnsAt, masks)) {
      place[rowDim] = row;
      place[columnDim] = column;
      if (initial)
        sums.push_back(vector::BroadcastOp::create(b, loc, sumVector, widen(initial, 2)));
      else
        sums.push_back(widen(load(2, at(2, place), length, mask), 2));
    }
  sums = emitSteps(roles[kK], place, rowsAt, columnsAt, masks, sums);
  unsigned next = 0;
  for (Value row : rowsAt)
    for (auto [column, mask] : llvm::zip_equal(columnsAt, masks)) {
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

SmallVector<Value> Emitter::emitSteps(ArrayRef<unsigned> dims, Indices &place,
                                      ArrayRef<Value> rowsAt, ArrayRef<Value> columnsAt,
                                      ArrayRef<Value> masks, SmallVector<Value> sums) {
  if (!dims.empty() && dims[0] == pairDim) {
    place[dims[0]] = constant(0);
    return emitSteps(dims.drop_front(), place, rowsAt, columnsAt, masks, sums);
  }
  if (dims.empty())
    return emitProducts(place, rowsAt, columnsAt, masks, sums);
  Index extent = extentOf(dims[0]);
  if (getConstantIntValue(extent) == 1) {
    place[dims[0]] = constant(0);
    return emitSteps(dims.drop_front(), place, rowsAt, columnsAt, masks, sums);
  }
  auto loop = scf::ForOp::create(b, loc, constant(0), asValue(b, loc, extent), constant(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  place[dims[0]] = loop.getInductionVar();
  SmallVector<Value> carried(loop.getRegionIterArgs());
  SmallVector<Value> results =
      emitSteps(dims.drop_front(), place, rowsAt, columnsAt, masks, carried);
  scf::YieldOp::create(b, loc, results);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> Emitter::emitProducts(Indices &place, ArrayRef<Value> rowsAt,
                                         ArrayRef<Value> columnsAt, ArrayRef<Value> masks,
                                         ArrayRef<Value> sums) {
  auto sumVector = VectorType::get({length}, sumType);
  auto pairVector = VectorType::get({2 * length}, b.getBF16Type());
  SmallVector<Value> columns;
  for (auto [column, mask] : llvm::zip_equal(columnsAt, masks)) {
    place[columnDim] = column;
    if (!pairDim) {
      columns.push_back(widen(load(1, at(1, place), length, mask), 1));
      continue;
    }
    // n and the pair are contiguous: as one dimension they fill a vector.
    auto type = cast<MemRefType>(operands[1].getType());
    SmallVector<ReassociationIndices> groups;
    for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
      groups.push_back({dim});
    groups.back().push_back(type.getRank() - 1);
    Value flat = memref::CollapseShapeOp::create(b, loc, operands[1], groups);
    SmallVector<Value> indices = at(1, place);
    indices.pop_back();
    indices.back() = asValue(b, loc, mulIndex(b, loc, indices.back(), 2));
    if (!mask) {
      columns.push_back(vector::LoadOp::create(b, loc, pairVector, flat, indices));
      continue;
    }
    Value both = vector::InterleaveOp::create(b, loc, mask, mask);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(pairVector));
    columns.push_back(vector::MaskedLoadOp::create(b, loc, pairVector, flat, indices, both, zero));
  }
  SmallVector<Value> results;
  for (auto [number, row] : llvm::enumerate(rowsAt)) {
    place[rowDim] = row;
    Value factor;
    if (pairDim) {
      auto pair = VectorType::get({2}, b.getBF16Type());
      Value both = vector::LoadOp::create(b, loc, pair, operands[0], at(0, place));
      Value bits = vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()), both);
      Value word = vector::ExtractOp::create(b, loc, bits, ArrayRef<int64_t>{0});
      Value words =
          vector::BroadcastOp::create(b, loc, VectorType::get({length}, b.getI32Type()), word);
      factor = vector::BitCastOp::create(b, loc, pairVector, words);
    } else {
      Value scalar = memref::LoadOp::create(b, loc, operands[0], at(0, place));
      factor = vector::BroadcastOp::create(b, loc, sumVector, widen(scalar, 0));
    }
    for (auto [vector, column] : llvm::enumerate(columns)) {
      Value sum = sums[number * columns.size() + vector];
      if (pairDim)
        sum = x86vector::DotBF16Op::create(b, loc, sumVector, sum, factor, column);
      else if (isa<FloatType>(sumType))
        sum = vector::FMAOp::create(b, loc, factor, column, sum);
      else
        sum = arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, factor, column));
      results.push_back(sum);
    }
  }
  return results;
}

namespace {
struct LowerMicrokernels : xetile::impl::LowerMicrokernelsBase<LowerMicrokernels> {
  using LowerMicrokernelsBase::LowerMicrokernelsBase;

  void runOnOperation() override {
    if (vectorBits < 128 || !llvm::isPowerOf2_64(vectorBits) || registers < 8) {
      emitError(UnknownLoc::get(&getContext()))
          << "vector-bits = " << int64_t(vectorBits) << ", registers = " << int64_t(registers)
          << ": expected a power of two from 128 and at least 8 registers";
      return signalPassFailure();
    }
    SmallVector<linalg::LinalgOp> kernels;
    getOperation()->walk([&](linalg::LinalgOp op) { kernels.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : kernels) {
      std::string why;
      FailureOr<Contraction> kernel = matchContraction(op, /*onTensors=*/false, why);
      if (failed(kernel))
        continue;
      Emitter emitter(rewriter, *kernel, vectorBits, registers, bf16Dot);
      if (emitter.prepare())
        emitter.emit();
      else if (kernel->batch.empty() && roundsEverySum(*kernel))
        emitScalarKernel(rewriter, *kernel);
    }
    // MLIR copies strided memory by a call of its own runtime library; loops need none.
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) { copies.push_back(op); });
    for (memref::CopyOp op : copies) {
      auto isPlain = [](Value value) {
        auto type = dyn_cast<MemRefType>(value.getType());
        return type && type.getLayout().isIdentity();
      };
      if (isPlain(op.getSource()) && isPlain(op.getTarget()))
        continue;
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<linalg::CopyOp>(op, op.getSource(), op.getTarget());
    }
  }
};
} // namespace
