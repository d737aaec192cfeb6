//===- ScalarKernel.h - contractions that vectors cannot be read from --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MICROKERNEL_SCALARKERNEL_H
#define XETILE_TARGET_CPU_MICROKERNEL_SCALARKERNEL_H

#include "xetile/Linalg/Contraction.h"

namespace xetile {

/// True if `kernel`, on memrefs, would round its sums to a narrow float after every product.
bool roundsEverySum(const Contraction &kernel);

/// Replaces `kernel`, on memrefs, by scalar loops whose sums stay in f32 through all of k.
void emitScalarKernel(mlir::RewriterBase &rewriter, const Contraction &kernel);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_SCALARKERNEL_H
