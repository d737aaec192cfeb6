//===- Request.h - what is asked of a deep-tiled matmul ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_CONFIG_REQUEST_H
#define XETILE_TARGET_CPU_MATMUL_CONFIG_REQUEST_H

#include "xetile/IR/DialectAttrs.h"
#include "xetile/Target/Cpu/Matmul/Config/ConfigAnalysis.h"

namespace xetile {

/// The request of a pass or a schedule.
struct DeepTileRequest {
  /// Fields that are not to be chosen. They win over the op's own `xetile.matmul_config`.
  PartialConfig given;
  /// Threads to use; 0 for all cores of the machine.
  int64_t threads = 0;
  /// The machine must be described by DLTI attributes.
  bool requireDescription = false;
  enum class Pack { Auto, Always, Never } pack = Pack::Auto;
  /// Compute elementwise ops before and after a matmul block by block, inside its loops.
  bool fuse = true;

  /// Reads 'auto', 'always' or 'never'. Returns what is wrong with `text`.
  Problem readPack(llvm::StringRef text);
  static llvm::StringRef writePack(Pack pack);
};

/// The configuration for `matmul`, checked; emits an error and fails where it is not legal.
mlir::FailureOr<ConfigChoice> decideConfig(const Contraction &matmul,
                                           const DeepTileRequest &request);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_CONFIG_REQUEST_H
