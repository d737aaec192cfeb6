//===- LaneScratch.cpp - moves through shared local memory ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: elements that change lanes in a way that takes many shuffles. Out: stores of each lane to
// memory of its subgroup, and loads. Refused: nothing; where a workgroup's size is not known, or
// its memory is full, elements are shuffled.
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

static constexpr unsigned sharedSpace = 3;

/// Bytes of an element, or 0 if lanes do not store such elements.
static unsigned bytesOf(Type element) {
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8)
    return 0;
  return element.getIntOrFloatBitWidth() / 8;
}

/// Elements lie in the order of the source's numbers.
static int64_t numberOf(int64_t element, unsigned) { return element; }

int64_t LaneLowering::scratchLimit() {
  if (scratch.subgroups)
    return scratch.limit;
  scratch.subgroups = 1;
  auto function = dyn_cast<gpu::GPUFuncOp>(top->getParentOp());
  std::optional<ArrayRef<int32_t>> block = function ? function.getKnownBlockSize() : std::nullopt;
  if (!block)
    return 0;
  scratch.subgroups = llvm::divideCeil(llvm::product_of(*block), int64_t(lanes));
  int64_t left = target.slmBytes;
  for (auto global : module.getOps<memref::GlobalOp>())
    if (global.getType().getMemorySpaceAsInt() == sharedSpace)
      left -= global.getType().getNumElements() *
              llvm::divideCeil(memoryBits(global.getType().getElementType()), 8);
  return scratch.limit = std::max<int64_t>(left, 0) / scratch.subgroups;
}

bool LaneLowering::isCheaperInMemory(unsigned cost, VectorType piece, const LaneTable &result,
                                     Source source, ElementMap map) {
  unsigned bytes = bytesOf(piece.getElementType());
  constexpr unsigned barriers = 2;
  if (!bytes || cost <= barriers * messageCost)
    return false;
  // Whole matrices in order: how many neighbours one message takes.
  Matrix matrix;
  matrix.strides = {index(1)};
  unsigned messages = barriers;
  auto count = [&](const LaneTable &table, Coordinate coordinate) {
    for (unsigned flat = 0; flat < table.flatRegisters() && messages * messageCost < cost;
         flat += runLength(table, flat, matrix, coordinate))
      ++messages;
  };
  count(source.table, numberOf);
  count(result, [&](int64_t element, unsigned) { return map(element).second; });
  return messages * messageCost < cost &&
         int64_t(source.table.numElements()) * bytes <= scratchLimit();
}

Value LaneLowering::scratchAddress(int64_t bytes) {
  constexpr int64_t alignment = 64;
  scratch.bytes = std::max<int64_t>(scratch.bytes, llvm::alignTo(bytes, alignment));
  if (scratch.address)
    return scratch.address;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto array = LLVM::LLVMArrayType::get(b.getI8Type(), scratch.bytes);
  scratch.global =
      LLVM::GlobalOp::create(b, loc, array, /*isConstant=*/false, LLVM::Linkage::Private, "scratch",
                             Attribute(), alignment, sharedSpace);
  SymbolTable symbols(module);
  scratch.global->remove();
  symbols.insert(scratch.global, module.getBody()->begin());
  b.setInsertionPoint(top);
  Type i64 = b.getI64Type();
  Value start = LLVM::AddressOfOp::create(b, loc, scratch.global);
  start = LLVM::PtrToIntOp::create(b, loc, i64, start);
  Value number = gpu::SubgroupIdOp::create(b, loc, /*upper_bound=*/IntegerAttr());
  number = arith::IndexCastOp::create(b, loc, i64, number);
  scratch.size = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(scratch.bytes));
  return scratch.address = arith::AddIOp::create(
             b, loc, start, arith::MulIOp::create(b, loc, number, scratch.size));
}

void LaneLowering::finishScratch() {
  if (scratch.address) {
    scratch.size.setValueAttr(b.getI64IntegerAttr(scratch.bytes));
    scratch.global.setGlobalType(
        LLVM::LLVMArrayType::get(b.getI8Type(), scratch.bytes * scratch.subgroups));
  }
  scratch = {};
}

void LaneLowering::subgroupBarrier() {
  // As SPIR-V numbers them; LLVM knows OpenCL's name for a workgroup's barrier only.
  constexpr int64_t subgroupScope = 3, acquireRelease = 0x8, workgroupMemory = 0x100;
  Value scope = constant(b.getI32Type(), subgroupScope);
  callBuiltin("_Z22__spirv_ControlBarrierjjj", {},
              {scope, scope, constant(b.getI32Type(), acquireRelease | workgroupMemory)});
}

LaneLowering::Values LaneLowering::moveThroughMemory(VectorType piece, const LaneTable &result,
                                                     Source source, ElementMap map) {
  Type element = piece.getElementType();
  Matrix matrix;
  matrix.space = sharedSpace;
  matrix.address = scratchAddress(int64_t(source.table.numElements()) * bytesOf(element));
  matrix.strides = {index(1)};
  // Nobody reads what an earlier move left there.
  subgroupBarrier();
  storeLanes(source.pieces, element, source.table, matrix, numberOf, /*maskOf=*/nullptr);
  subgroupBarrier();
  return loadLanes(
      piece, result, matrix, [&](int64_t number, unsigned) { return map(number).second; },
      /*maskOf=*/nullptr, /*otherwise=*/nullptr);
}
