//===- DeepTile.h - the nine-loop rewrite of a matmul ------------------------===//
#ifndef XETILE_TARGET_CPU_LOOPNEST_DEEPTILE_H
#define XETILE_TARGET_CPU_LOOPNEST_DEEPTILE_H

#include "mlir/IR/PatternMatch.h"
#include "xetile/Target/Cpu/LoopNest/Contraction.h"

namespace xetile {

/// On the batch-reduce matmul that the rewrite leaves: the largest m and n that it is called with.
constexpr llvm::StringLiteral kMicrokernelAttr = "xetile.microkernel";

/// The largest block of a dimension whose size is known at run time only.
constexpr int64_t kLargestDynamicBlock = 4096;

struct DeepTileOptions {
  /// Copy blocks of A and B to scratch memory in the order in which the microkernel reads them.
  bool packA = false, packB = false;
  /// Elements of one vector that packing moves.
  int64_t vectorLength = 16;
  /// Elements of k that lie side by side in packed operands, as dot-product instructions read them:
  /// 2 of bf16, 4 bytes, else 1.
  int64_t group = 1;
  /// Offset the bytes of A by 128, so that one operand is unsigned and the other one signed.
  bool offsetA = false;
};

/// Tells whether `config` is legal for `matmul`: an empty string, or what is wrong with which
/// field.
std::string checkConfig(const Contraction &matmul, const MatmulConfig &config);

struct Fusion;
/// Replaces `matmul`, on tensors, and what `fusion` has by loops around batch-reduce matmuls;
/// returns the value that took the last result's place. `config` must be legal.
mlir::Value deepTile(mlir::RewriterBase &rewriter, const Contraction &matmul,
                     const MatmulConfig &config, const DeepTileOptions &options,
                     const Fusion &fusion);

/// What a pass or a schedule asks for.
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
};

/// A discardable attribute of a contraction: the fields of its configuration that are given.
constexpr llvm::StringLiteral kConfigAttr = "xetile.matmul_config";

struct ConfigChoice;
/// The configuration for `matmul`, checked; emits an error and fails where it is not legal.
mlir::FailureOr<ConfigChoice> decideConfig(const Contraction &matmul,
                                           const DeepTileRequest &request);

/// Replaces `matmul` by loops, configured as `request` asks for; emits an error and fails where
/// that is not legal.
mlir::FailureOr<mlir::Value> deepTile(mlir::RewriterBase &rewriter, const Contraction &matmul,
                                      const DeepTileRequest &request);

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOOPNEST_DEEPTILE_H
