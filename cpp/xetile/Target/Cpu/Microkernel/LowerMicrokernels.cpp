//===- LowerMicrokernels.cpp - contractions on memrefs to vector code --------===//
// In: contractions (batch_reduce_matmul, ...) on memrefs whose n is contiguous in B and C.
// Out: loops over register tiles; the tile of C stays in registers through all of k.
// Refused: nothing; other contractions are left for the lowering to scalar loops.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Target/Cpu/Config/Machine.h"
#include "xetile/Target/Cpu/Microkernel/MicrokernelCall.h"
#include "xetile/Target/Cpu/Microkernel/MicrokernelEmitter.h"
#include "xetile/Target/Cpu/Microkernel/ScalarKernel.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {
#define GEN_PASS_DEF_LOWERMICROKERNELS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

MicrokernelEmitter::MicrokernelEmitter(RewriterBase &rewriter, const Contraction &kernel,
                                       const MicrokernelTarget &target)
    : b(rewriter), loc(kernel.op.getLoc()), kernel(kernel), target(target) {
  for (unsigned i = 0; i < 3; ++i) {
    operands[i] = kernel.op->getOperand(i);
    maps[i] = kernel.map(i);
    roles[i] = kernel.roles[i];
  }
  element = elementOf(2);
  sumType = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 ? Type(b.getF32Type())
                                                                            : element;
  length = target.vectorBits / sumType.getIntOrFloatBitWidth();
  firstStep = b.getIndexAttr(0);
}

int64_t MicrokernelEmitter::strideOf(unsigned operand, unsigned place) const {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(operands[operand].getType());
  return succeeded(type.getStridesAndOffset(strides, offset)) ? strides[place]
                                                              : ShapedType::kDynamic;
}

bool MicrokernelEmitter::isContiguous(unsigned operand) const {
  return strideOf(operand, maps[operand].getNumResults() - 1) == 1;
}

Value MicrokernelEmitter::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

SmallVector<Value> MicrokernelEmitter::at(unsigned operand, const Indices &place) {
  return llvm::map_to_vector(maps[operand].getResults(), [&](AffineExpr expr) {
    return place[cast<AffineDimExpr>(expr).getPosition()];
  });
}

bool MicrokernelEmitter::prepare() {
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
  return isContiguous(1) && (lastDim(1) == columnDim || prepareGroups());
}

/// B in groups of k: n and the group are as one dimension.
bool MicrokernelEmitter::prepareGroups() {
  unsigned last = lastDim(1);
  int64_t size = kernel.sizes[last];
  if (!llvm::is_contained(roles[kK], last) || maps[1].getNumResults() < 2 ||
      lastDim(1, 2) != columnDim || (size != 2 && size != 4) ||
      strideOf(1, maps[1].getNumResults() - 2) != size)
    return false;
  groupDim = last;
  group = size;
  // A dot product reads a group of A at once.
  Type a = elementOf(0), bType = elementOf(1);
  if (!isContiguous(0) || lastDim(0) != last)
    return true;
  bool bytes =
      target.int8Dot && group == 4 && sumType.isInteger(32) && a.isInteger(8) && bType.isInteger(8);
  usesDot =
      bytes || (target.bf16Dot && group == 2 && sumType.isF32() && a.isBF16() && bType.isBF16());
  offsetsA = bytes && isUnsigned(0) == isUnsigned(1);
  return true;
}

std::optional<std::pair<unsigned, unsigned>> MicrokernelEmitter::indexedBy(unsigned dim) {
  for (unsigned operand = 0; operand < 3; ++operand)
    if (std::optional<unsigned> place = maps[operand].getResultPosition(b.getAffineDimExpr(dim)))
      return std::pair(operand, *place);
  return std::nullopt;
}

Index MicrokernelEmitter::extentOf(unsigned dim) {
  if (!ShapedType::isDynamic(kernel.sizes[dim]))
    return b.getIndexAttr(kernel.sizes[dim]);
  auto [operand, place] = *indexedBy(dim); // prepare() has checked
  return memref::DimOp::create(b, loc, operands[operand], place).getResult();
}

void MicrokernelEmitter::loop(Index low, Index high, int64_t step, function_ref<void(Value)> body) {
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

void MicrokernelEmitter::overDims(ArrayRef<unsigned> dims, Indices &place,
                                  function_ref<void()> body) {
  if (dims.empty())
    return body();
  loop(b.getIndexAttr(0), extentOf(dims[0]), 1, [&](Value index) {
    place[dims[0]] = index;
    overDims(dims.drop_front(), place, body);
  });
}

/// Whether `op` adds a vector over n to every row of C.
static bool addsBias(linalg::GenericOp op, Value c) {
  auto type = dyn_cast<MemRefType>(c.getType());
  if (!type || type.getRank() != 2 || op->getNumOperands() != 2 || op.getOutputs()[0] != c)
    return false;
  AffineExpr row, column;
  bindDims(op.getContext(), row, column);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  mlir::Block &body = op.getRegion().front();
  auto add = dyn_cast<arith::AddIOp>(&body.front());
  return maps[0] == AffineMap::get(2, 0, {column}, op.getContext()) && maps[1].isIdentity() &&
         op.getNumReductionLoops() == 0 && add && add->getNextNode() == body.getTerminator() &&
         body.getTerminator()->getOperand(0) == add.getResult() && add.getLhs() != add.getRhs() &&
         isa<BlockArgument>(add.getLhs()) && isa<BlockArgument>(add.getRhs());
}

/// Ops right before the kernel that set C are not needed: the sums start with what they say.
void MicrokernelEmitter::findStart() {
  for (Operation *op = kernel.op->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      if (fill.getOutputs()[0] == operands[2]) {
        initial = fill.getInputs()[0];
        absorbed.push_back(fill);
      }
      return;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && !bias && lastDim(2, 2) == rowDim && addsBias(generic, operands[2])) {
      bias = generic.getInputs()[0];
      absorbed.push_back(generic);
    } else if (!isMemoryEffectFree(op)) {
      return;
    }
  }
}

void MicrokernelEmitter::emit() {
  b.setInsertionPoint(kernel.op);
  bool tiles = fitsTiles();
  findStart();
  // Tiles start from zeros or from C.
  if (tiles && (bias || (initial && !matchPattern(initial, m_AnyZeroFloat()) &&
                         !matchPattern(initial, m_Zero())))) {
    initial = bias = nullptr;
    absorbed.clear();
  }
  Indices place(kernel.sizes.size());
  SmallVector<unsigned> outer(ArrayRef(roles[kM]).drop_back());
  for (unsigned dim : roles[kN])
    if (dim != columnDim)
      outer.push_back(dim);
  overDims(outer, place, [&] {
    Index zero = b.getIndexAttr(0), rows = extentOf(rowDim), columns = extentOf(columnDim);
    if (!tiles)
      return emitRegion(place, {zero, rows, zero, columns});
    Region done = emitTiles(place);
    emitRegion(place, {zero, done.rowHigh, done.columnHigh, columns});
    emitRegion(place, {done.rowHigh, rows, zero, columns});
  });
  for (Operation *op : absorbed)
    b.eraseOp(op);
  b.eraseOp(kernel.op);
}

void MicrokernelEmitter::emitRegion(Indices &place, const Region &region) {
  Index rows = subIndex(b, loc, region.rowHigh, region.rowLow);
  Index columns = subIndex(b, loc, region.columnHigh, region.columnLow);
  std::optional<int64_t> knownRows = getConstantIntValue(rows);
  auto limits = kernel.op->getAttrOfType<DenseI64ArrayAttr>(kMicrokernelAttr);
  auto expected = [&](Index extent, unsigned limit) {
    constexpr int64_t kUnknown = 24 * 64;
    int64_t most = limits && limits.size() == 2 ? limits[limit] : kUnknown;
    return getConstantIntValue(extent).value_or(most);
  };
  tile = chooseRegisterTile(expected(rows, swapped ? 1 : 0), expected(columns, swapped ? 0 : 1),
                            length, target.registers);
  Index whole = addIndex(b, loc, region.rowLow,
                         mulIndex(b, loc, floorDivIndex(b, loc, rows, tile.rows), tile.rows));
  loop(region.rowLow, whole, tile.rows,
       [&](Value row) { emitColumns(place, region, row, tile.rows, false); });
  int64_t rest = knownRows ? *knownRows % tile.rows : tile.rows;
  if (rest)
    loop(whole, region.rowHigh, tile.rows,
         [&](Value row) { emitColumns(place, region, row, rest, !knownRows); });
}

void MicrokernelEmitter::emitColumns(Indices &place, const Region &region, Index firstRow,
                                     int64_t rows, bool clampRows) {
  int64_t width = tile.vectors * length;
  Index columns = subIndex(b, loc, region.columnHigh, region.columnLow);
  Index whole = addIndex(b, loc, region.columnLow,
                         mulIndex(b, loc, floorDivIndex(b, loc, columns, width), width));
  Value row = asValue(b, loc, firstRow);
  loop(region.columnLow, whole, width,
       [&](Value column) { emitTile(place, region, row, rows, clampRows, column, false); });
  loop(whole, region.columnHigh, width,
       [&](Value column) { emitTile(place, region, row, rows, clampRows, column, true); });
}

namespace {
struct LowerMicrokernels : xetile::impl::LowerMicrokernelsBase<LowerMicrokernels> {
  using LowerMicrokernelsBase::LowerMicrokernelsBase;

  void runOnOperation() override {
    if (vectorBits != 0 &&
        (vectorBits < 128 || !llvm::isPowerOf2_64(vectorBits) || registers < 8)) {
      emitError(UnknownLoc::get(&getContext()))
          << "vector-bits = " << int64_t(vectorBits) << ", registers = " << int64_t(registers)
          << ": expected 0 (the machine's) or a power of two from 128 and at least 8 registers";
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
      MicrokernelTarget target{vectorBits, registers, bf16Dot, int8Dot, amx};
      if (vectorBits == 0) {
        FailureOr<Machine> machine = describeMachine(op, /*require=*/false);
        if (failed(machine))
          return signalPassFailure();
        target = {machine->vectorBits, machine->registers, machine->bf16Dot, machine->int8Dot,
                  machine->amx};
      }
      MicrokernelEmitter emitter(rewriter, *kernel, target);
      if (emitter.prepare())
        emitter.emit();
      else if (kernel->batch.empty() && roundsEverySum(*kernel))
        emitScalarKernel(rewriter, *kernel);
    }
  }
};
} // namespace
