//===- Packing.h - copies of operand blocks for the microkernel --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_PACKING_PACKING_H
#define XETILE_TARGET_CPU_MATMUL_PACKING_PACKING_H

#include "mlir/IR/Block.h"
#include "xetile/Linalg/TileLoops.h"

namespace xetile {

/// The matrix to pack: one tensor, or the result of `body` for elements of several inputs. `maps`
/// are indexing maps from its row and column to these; scalars have an empty one.
struct PackSource {
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
  mlir::Block *body = nullptr;
  Index columns;
  /// The type of copies, of narrower floats; null for that of the source.
  mlir::Type element;
};

/// Scratch for `rows` x `columns` of A: rows are apart by an odd number of cache lines, so that the
/// rows of one microkernel fall into different sets of the first-level cache.
mlir::Value createRowScratch(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type element,
                             int64_t rows, int64_t columns, int64_t vectorLength);

/// Copies `source` of `rows` x `columns` to the top left of `scratch`; `offset` flips the top bit
/// of each integer.
mlir::Value packRows(mlir::OpBuilder &builder, mlir::Location loc, const PackSource &source,
                     Index rows, Index columns, bool offset, mlir::Value scratch,
                     int64_t vectorLength);

/// Copies `source`, k x m, to rows of `scratch` that run along k, the last group of `group`
/// elements of k filled up with zeros; `offset` flips the top bit of each integer.
mlir::Value packRowsTransposed(mlir::OpBuilder &builder, mlir::Location loc,
                               const PackSource &source, Index m, Index k, int64_t group,
                               bool offset, mlir::Value scratch, int64_t vectorLength);

/// Scratch for B in panels: [n / panel][k / group][panel * group], `group` elements of k being side
/// by side.
mlir::Value createPanelScratch(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type element,
                               int64_t k, int64_t n, int64_t panel, int64_t group,
                               int64_t vectorLength);

/// Elements of k in panels.
struct PanelGroups {
  /// Elements that lie side by side.
  int64_t size = 1;
  /// Groups come in multiples of this, the last ones being zeros.
  int64_t multiple = 1;
};

/// Copies B, k x n or, if `transposed`, n x k, to `scratch`. The last panel and the last group are
/// filled up with zeros.
mlir::Value packPanels(mlir::OpBuilder &builder, mlir::Location loc, const PackSource &source,
                       Index k, Index n, bool transposed, const PanelGroups &groups,
                       mlir::Value scratch, int64_t vectorLength);

/// Scratch for what the sums of B's columns must be corrected by: [n / panel][panel] of i32.
mlir::Value createColumnScratch(mlir::OpBuilder &builder, mlir::Location loc, int64_t n,
                                int64_t panel);

/// Writes to `scratch` what undoes an offset of A's bytes by 128: -128 times the sum of each column
/// of the packed B if its bytes are signed (A + 128 took A's place), else 128 times (A - 128 did).
mlir::Value sumColumns(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value packed, Index k,
                       Index n, bool isUnsigned, mlir::Value scratch, int64_t vectorLength);

/// Elements that rows of A's scratch are apart.
int64_t rowScratchColumns(mlir::Type element, int64_t columns, int64_t vectorLength);

/// True if `value` is a constant matrix: it is packed at compile time.
bool isConstantMatrix(mlir::Value value);
/// True for a constant matrix, and for one of frozen arguments: packed once for all calls.
bool isKnownMatrix(mlir::Value value);
/// All of a constant matrix in rows as in `createRowScratch`, another constant, of `element`.
mlir::Value packConstantRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source,
                             mlir::Type element, int64_t vectorLength);
/// All of a constant B in panels as `packPanels` makes them, `group` elements of k side by side.
mlir::Value packConstantPanels(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source,
                               mlir::Type element, bool transposed, int64_t panel,
                               const PanelGroups &groups);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_PACKING_PACKING_H
