//===- LaneScratch.cpp - moves through shared local memory ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: elements that change lanes in a way that takes many shuffles. Out: stores of each lane to
// memory of its subgroup, and loads. Refused: nothing; where a workgroup's size is not known, or
// its memory is full, elements are shuffled.
#include "xetile/Target/Xe/Lanes/LaneScratch.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Xe/Lanes/LaneAccess.h"
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LaneShuffle.h"
#include "xetile/Target/Xe/SpaceNumber.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// Bytes of an element, or 0 if lanes do not store such elements.
static unsigned bytesOf(Type element) {
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8)
    return 0;
  return element.getIntOrFloatBitWidth() / 8;
}

/// Elements lie in the order of the source's numbers.
static int64_t numberOf(int64_t element, unsigned) { return element; }

int64_t LaneScratch::limit() {
  if (function.subgroups)
    return function.limit;
  function.subgroups = 1;
  auto kernel = dyn_cast<gpu::GPUFuncOp>(b.top->getParentOp());
  std::optional<ArrayRef<int32_t>> block = kernel ? kernel.getKnownBlockSize() : std::nullopt;
  if (!block)
    return 0;
  function.subgroups = llvm::divideCeil(llvm::product_of(*block), int64_t(target.subgroupSize));
  int64_t left = target.slmBytes;
  for (auto global : module.getOps<memref::GlobalOp>())
    if (spaceNumber(global.getType()) == sharedSpace)
      left -= global.getType().getNumElements() *
              llvm::divideCeil(memoryBits(global.getType().getElementType()), 8);
  return function.limit = std::max<int64_t>(left, 0) / function.subgroups;
}

bool xetile::isCheaperInMemory(LaneContext &lanes, unsigned cost, VectorType piece,
                               const LaneTable &result, LaneSource source, ElementMap map) {
  unsigned bytes = bytesOf(piece.getElementType());
  constexpr unsigned barriers = 2;
  if (!bytes || cost <= barriers * messageCost)
    return false;
  // Whole matrices in order: how many neighbours one message takes.
  LaneMatrix matrix;
  matrix.strides = {lanes.b.index(1)};
  unsigned messages = barriers;
  auto count = [&](const LaneTable &table, Coordinate coordinate) {
    for (unsigned flat = 0; flat < table.flatRegisters() && messages * messageCost < cost;
         flat += runLength(table, flat, matrix, coordinate))
      ++messages;
  };
  count(source.table, numberOf);
  count(result, [&](int64_t element, unsigned) { return map(element).second; });
  return messages * messageCost < cost &&
         int64_t(source.table.numElements()) * bytes <= lanes.scratch.limit();
}

Value LaneScratch::address(int64_t bytes) {
  constexpr int64_t alignment = 64;
  function.bytes = std::max<int64_t>(function.bytes, llvm::alignTo(bytes, alignment));
  if (function.address)
    return function.address;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto array = LLVM::LLVMArrayType::get(b.getI8Type(), function.bytes);
  function.global = LLVM::GlobalOp::create(b, array, /*isConstant=*/false, LLVM::Linkage::Private,
                                           "scratch", Attribute(), alignment, sharedSpace);
  SymbolTable symbols(module);
  function.global->remove();
  symbols.insert(function.global, module.getBody()->begin());
  b.setInsertionPoint(b.top);
  Type i64 = b.getI64Type();
  Value start = LLVM::AddressOfOp::create(b, function.global);
  start = LLVM::PtrToIntOp::create(b, i64, start);
  Value number = gpu::SubgroupIdOp::create(b, /*upper_bound=*/IntegerAttr());
  number = arith::IndexCastOp::create(b, i64, number);
  function.size = arith::ConstantOp::create(b, b.getI64IntegerAttr(function.bytes));
  return function.address =
             arith::AddIOp::create(b, start, arith::MulIOp::create(b, number, function.size));
}

void LaneScratch::finish() {
  if (function.address) {
    function.size.setValueAttr(b.getI64IntegerAttr(function.bytes));
    function.global.setGlobalType(
        LLVM::LLVMArrayType::get(b.getI8Type(), function.bytes * function.subgroups));
  }
  function = {};
}

static void subgroupBarrier(LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  // As SPIR-V numbers them; LLVM knows OpenCL's name for a workgroup's barrier only.
  constexpr int64_t subgroupScope = 3, acquireRelease = 0x8, workgroupMemory = 0x100;
  Value scope = b.constant(b.getI32Type(), subgroupScope);
  callBuiltin(lanes, "_Z22__spirv_ControlBarrierjjj", {},
              {scope, scope, b.constant(b.getI32Type(), acquireRelease | workgroupMemory)});
}

Values xetile::moveThroughMemory(LaneContext &lanes, VectorType piece, const LaneTable &result,
                                 LaneSource source, ElementMap map) {
  LaneBuilder &b = lanes.b;
  Type element = piece.getElementType();
  LaneMatrix matrix;
  matrix.space = sharedSpace;
  matrix.address = lanes.scratch.address(int64_t(source.table.numElements()) * bytesOf(element));
  matrix.strides = {b.index(1)};
  // Nobody reads what an earlier move left there.
  subgroupBarrier(lanes);
  storeLanes(lanes, source.pieces, element, source.table, matrix, numberOf);
  subgroupBarrier(lanes);
  return loadLanes(lanes, piece, result, matrix,
                   [&](int64_t number, unsigned) { return map(number).second; });
}
