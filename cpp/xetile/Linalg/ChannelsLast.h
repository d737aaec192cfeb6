//===- ChannelsLast.h - convolutions as the matrix unit reads them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_CHANNELSLAST_H
#define XETILE_LINALG_CHANNELSLAST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include <optional>

namespace xetile {

/// The last dimensions of a convolution's tensors as loops: channels of the image, filters, and
/// groups if there are some.
struct ChannelLoops {
  unsigned channel = 0, filter = 0;
  std::optional<unsigned> group;
};

/// These of a convolution of f16, bf16 or f32 on tensors whose products gain as tiles of matrices:
/// with channels of at least 32 bytes and filters of at least 64, a multiple of 16. Nothing for
/// others.
std::optional<ChannelLoops> matchTiledConvolution(mlir::Operation *op);

/// True if these are the last dimensions of its image, its filter and its result, as in NHWC and
/// HWCF, and channels are multiples of 64 bytes, the steps of k.
bool hasChannelsLast(mlir::linalg::LinalgOp convolution, const ChannelLoops &loops);

} // namespace xetile

#endif // XETILE_LINALG_CHANNELSLAST_H
