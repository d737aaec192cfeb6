//===- RankConfigs.h - configurations worth measuring ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_CONFIG_RANKCONFIGS_H
#define XETILE_TARGET_CPU_MATMUL_CONFIG_RANKCONFIGS_H

#include "xetile/Target/Cpu/Matmul/Config/Request.h"

namespace xetile {

/// A legal configuration, with the packing that is asked for beside it and what the model says that
/// the slowest thread takes.
struct RankedConfig {
  MatmulConfig config;
  DeepTileRequest::Pack pack;
  /// True where A and B are packed, and B transposed, in effect.
  std::array<bool, 3> copies;
  double cycles;
};

/// Up to `count` different configurations for `matmul`: first the one that the cost model chooses,
/// then the best with other copies, then others, those with the fewest cycles first. They differ in
/// packing, in the block that registers hold, in blocks of k, in threads and in the order of loops.
/// `request` gives no field of a configuration: all are varied.
/// Emits an error and fails where decideConfig does.
mlir::FailureOr<llvm::SmallVector<RankedConfig>>
rankConfigs(const Contraction &matmul, const DeepTileRequest &request, unsigned count);

/// The key of a matmul's measurements: its sizes, indexing maps and types, as text.
std::string describeMatmul(const Contraction &matmul);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_CONFIG_RANKCONFIGS_H
