//===- AttentionTiling.h - tiles of an attention, where a target has its own --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_ATTENTIONTILING_H
#define XETILE_TARGET_ATTENTIONTILING_H

#include <cstdint>

namespace xetile {

/// Queries that are multiplied with keys, and what is computed of these scores with values, of f16
/// or bf16.
struct AttentionProblem {
  /// Elements of a query and a key, and of a value; below zero if that is not known.
  int64_t inner = -1, columns = -1;
  /// Rows of queries, keys and values in memory begin multiples of so many elements apart.
  int64_t unit = 1;
  /// True if queries, keys or values are computed in the kernel rather than loaded.
  bool isComputed = false;
  /// True if the elements of a query are adjacent in memory.
  bool hasRowsOfQueries = true;
};

/// A workgroup computes `rows` queries by `columns` elements of values by `subgroups` subgroups,
/// which share its rows, in steps of `keys` keys.
struct AttentionTiling {
  int64_t rows = 0, columns = 0, subgroups = 0, keys = 0;
};

} // namespace xetile

#endif // XETILE_TARGET_ATTENTIONTILING_H
