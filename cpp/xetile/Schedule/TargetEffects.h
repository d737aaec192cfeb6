//===- TargetEffects.h - ops that consume their target -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TARGETEFFECTS_H
#define XETILE_SCHEDULE_TARGETEFFECTS_H

#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

namespace xetile::transform_ops {

/// The effects of an op that consumes the handle of its first operand, reads the others, gives
/// handles and changes the payload. Sequences ask for effects before their ops are verified: the op
/// may have any number of operands.
inline void consumesTarget(mlir::Operation *op,
                           llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects) {
  llvm::MutableArrayRef<mlir::OpOperand> operands = op->getOpOperands();
  mlir::transform::consumesHandle(operands.take_front(1), effects);
  mlir::transform::onlyReadsHandle(operands.drop_front(std::min<size_t>(1, operands.size())),
                                   effects);
  mlir::transform::producesHandle(op->getOpResults(), effects);
  mlir::transform::modifiesPayload(effects);
}

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TARGETEFFECTS_H
