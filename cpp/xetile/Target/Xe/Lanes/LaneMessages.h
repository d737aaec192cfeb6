//===- LaneMessages.h - 2D block messages between memory and lanes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANEMESSAGES_H
#define XETILE_TARGET_XE_LANES_LANEMESSAGES_H

#include "xetile/Facts/TargetInfo.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Layout/BlockMessage.h"
#include "xetile/Target/Xe/Lanes/LaneRules.h"
#include <map>
#include <memory>

namespace xetile {

/// Messages of one shape that bring (take) a vector in the lanes of its map: only registers are
/// renamed.
struct LaneMessages {
  BlockShape shape;
  /// Row and column, in elements of the tile, where each message starts.
  llvm::SmallVector<std::array<int64_t, 2>> corners;
  /// Elements of the tile in a lane's array of one message.
  unsigned perLane = 0;
  /// A load: for each register of all pieces its place in the messages' arrays, one after the
  /// other. A store: for each place in these arrays the register.
  llvm::SmallVector<unsigned, 0> source;
};

/// The access to plan messages for.
struct MessageRequest {
  mlir::VectorType vector;
  mlir::xegpu::TensorDescType tile;
  LaneLayoutAttr lanes;
  BlockAccess access = BlockAccess::Load;
  bool transpose = false, packed = false; // of load_nd
  bool inDwords = false;                  // its user wants registers of 32 bits: VNNI transform

  auto key() const {
    return std::tuple(vector.getAsOpaquePointer(), tile.getAsOpaquePointer(),
                      lanes.getAsOpaquePointer(), access, transpose, packed, inDwords);
  }
};

/// Finds the fewest messages, and remembers.
class MessagePlanner {
public:
  explicit MessagePlanner(const TargetInfo &target) : target(target) {}

  /// Null where no message has the lanes, or the device none of the sizes.
  const LaneMessages *plan(const MessageRequest &request);
  /// Messages that cover a tile, for a prefetch.
  std::optional<LaneMessages> planPrefetch(mlir::xegpu::TensorDescType tile) const;

private:
  using Key = decltype(std::declval<MessageRequest>().key());

  std::optional<LaneMessages> find(const MessageRequest &request) const;

  const TargetInfo &target;
  std::map<Key, std::optional<LaneMessages>> known;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANEMESSAGES_H
