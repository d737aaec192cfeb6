//===- CheckTypes.cpp - types that no lowering takes ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module before it becomes LLVM's. Out: the same. Refused: tensors, which have no memory yet,
// memory of tf32, which LLVM does not have, and vectors of more elements than can be written one by
// one. Upstream's passes fail on them without a word, or run out of memory.
//===----------------------------------------------------------------------===//
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xetile/IR/PlaceOf.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKTYPES
#include "xetile/Target/Passes.h.inc"
} // namespace xetile

using namespace mlir;

/// Elements of a vector that are not too many: what the largest workgroup tile holds, many times.
static constexpr int64_t kMaxVectorElements = int64_t(1) << 22;

namespace {
struct CheckTypes : xetile::impl::CheckTypesBase<CheckTypes> {
  void runOnOperation() override {
    bool clean = true;
    getOperation()->walk([&](Operation *op) { clean &= check(op); });
    if (!clean)
      signalPassFailure();
  }

private:
  static InFlightDiagnostic refuse(Operation *op) {
    return emitError(xetile::placeOf(op)) << "'" << op->getName() << "' op ";
  }

  /// One error an operation: its results, what its regions take, and what a declaration takes.
  static bool check(Operation *op) {
    SmallVector<Type> types(op->getResultTypes());
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      llvm::append_range(types, function.getArgumentTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    for (Type type : types) {
      if (isa<TensorType>(type)) {
        refuse(op) << "has a value of type " << type
                   << ", which has no memory: expected memref; bufferize before (for CPUs "
                      "xetile-bufferize-for-cpu)";
        return false;
      }
      auto memory = dyn_cast<MemRefType>(type);
      if (memory && isa<FloatTF32Type>(memory.getElementType())) {
        refuse(op) << "has a value of type " << type
                   << ", but LLVM has no tf32: expected f32, which products round to tf32";
        return false;
      }
      auto vector = dyn_cast<VectorType>(type);
      if (vector && !xetile::isBoundedShape(vector.getShape(), kMaxVectorElements)) {
        refuse(op) << "has a value of type " << type << ": expected vectors of at most "
                   << kMaxVectorElements << " elements, cut it in loops";
        return false;
      }
    }
    return true;
  }
};
} // namespace
