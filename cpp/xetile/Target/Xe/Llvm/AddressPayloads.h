//===- AddressPayloads.h - what 2D block messages are sent with -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A payload is the register of a 2D block message: base, width, height, pitch, x, y, and the shape
// of the block. Its functions are those of Intel's library (IBiF), which ends without a message on
// an unknown one, a block of another shape than the payload's, and a cache control that is no
// constant.
#ifndef XETILE_TARGET_XE_LLVM_ADDRESSPAYLOADS_H
#define XETILE_TARGET_XE_LLVM_ADDRESSPAYLOADS_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassManager.h"
#include <optional>
#include <string>
#include <tuple>

namespace xetile {

struct BlockShape {
  unsigned bits = 0, rows = 0, columns = 0, blocks = 0;
  auto key() const { return std::make_tuple(bits, rows, columns, blocks); }
  /// As functions of payloads have it: u16_m8k16v2.
  std::string name() const;
};

/// Of a function of OpenCL's cl_intel_subgroup_2d_block_io of the kind: "prefetch", "read",
/// "write".
std::optional<BlockShape> shapeOfBlock(llvm::StringRef function, llvm::StringRef kind);

/// x (0) or y (1) of a block's place, a vector of two; null if that is not seen.
llvm::Value *placeOfBlock(llvm::Value *place, unsigned direction);

/// True if a message of a block carries `offset` elements (rows) along x (y).
bool isOffsetOfMessage(int64_t offset, unsigned direction, const BlockShape &shape);

/// A call of a function of payloads.
llvm::CallInst *callPayload(llvm::IRBuilder<> &builder, const llvm::Twine &name, llvm::Type *result,
                            llvm::ArrayRef<llvm::Value *> operands);

/// A payload with the matrix of `message`, a call of cl_intel_subgroup_2d_block_io, at x and y.
llvm::Value *createPayload(llvm::IRBuilder<> &builder, const llvm::CallInst &message,
                           const BlockShape &shape, llvm::ArrayRef<llvm::Value *> place);

/// Stores of blocks of one matrix at constant distances share a payload, and so do loads outside of
/// loops; with `immediates` messages carry these distances.
struct BlockPayloads : llvm::PassInfoMixin<BlockPayloads> {
  bool immediates;
  explicit BlockPayloads(bool immediates) : immediates(immediates) {}
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_ADDRESSPAYLOADS_H
