//===- KParts.h - operands of a matmul cut into parts of k ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_KPARTS_H
#define XETILE_SCHEDULE_KPARTS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Schedule/MatmulLoops.h"
#include "xetile/Target/MatmulTiling.h"

namespace xetile::transform_ops {

/// A tensor whose dimension `dim` is seen as parts of `size` elements; the last one is filled up
/// with zeros where they do not divide it. Behind such a view lies the tensor as it is in memory.
struct KParts {
  mlir::Value source;
  unsigned dim = 0;
  int64_t size = 0;
  bool isPadded = false;
};

/// The tensor that `tensor` shows in parts, as `split_k` cuts operands; none for others.
std::optional<KParts> partsOf(mlir::Value tensor);

/// True if `pad` only fills up the last of such parts.
bool fillsParts(mlir::tensor::PadOp pad);

/// The sizes of a matmul by which its tiles are chosen; `device` is null for other targets than
/// Intel's GPUs.
MatmulProblem describeMatmul(const MatmulLoops &contraction, const TargetInfo *device);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_KPARTS_H
