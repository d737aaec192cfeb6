//===- SupportedMatmul.h - the matmuls that schedules for GPUs take ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_SUPPORTEDMATMUL_H
#define XETILE_SCHEDULE_SUPPORTEDMATMUL_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <string>

namespace xetile::transform_ops {

/// The reason why a schedule cannot take `matmul`, or an empty string: it is on tensors of static
/// sizes, f16 or bf16 into f32, neither operand transposed.
std::string whyUnsupported(mlir::linalg::MatmulOp matmul);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_SUPPORTEDMATMUL_H
