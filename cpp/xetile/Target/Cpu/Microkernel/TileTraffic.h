//===- TileTraffic.h - how tiles come through the caches ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MICROKERNEL_TILETRAFFIC_H
#define XETILE_TARGET_CPU_MICROKERNEL_TILETRAFFIC_H

#include "xetile/IR/DialectAttrs.h"
#include "xetile/Target/Cpu/Microkernel/KernelBuilder.h"

namespace xetile {

/// Cache traffic of consecutive calls of a kernel.
struct TileTraffic {
  /// The operand whose tiles are read once while those of the other one are read again.
  unsigned streamed = 1;
  /// Null, or whether this call goes through k from its end. Calls do in turns where the operand
  /// that is read again does not fit the first level: its end is still there.
  mlir::Value backwards;
  /// C is only written to, and is not near.
  bool fetchesC = false;
};

TileTraffic planTraffic(const KernelBuilder &kernel, const SumStart &start);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_TILETRAFFIC_H
