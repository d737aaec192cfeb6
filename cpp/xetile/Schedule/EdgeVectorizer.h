//===- EdgeVectorizer.h - a workgroup's share on whole tiles -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_EDGEVECTORIZER_H
#define XETILE_SCHEDULE_EDGEVECTORIZER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Schedule/MatmulLoops.h"

namespace xetile::transform_ops {

/// Writes the body of a loop over tiles of a matmul on vectors of whole tiles; see
/// `transform.xetile.hang_over_edges`.
class EdgeVectorizer {
public:
  /// `tile` has the sizes of m, n and k.
  EdgeVectorizer(mlir::RewriterBase &rewriter, mlir::scf::ForallOp loop,
                 std::array<int64_t, 3> tile)
      : rewriter(rewriter), loop(loop), tile(tile) {}

  /// Returns the loop as it is now. Failure leaves a reason in `why`, and an operation in `where`.
  mlir::FailureOr<mlir::scf::ForallOp> run();
  std::string why;
  mlir::Operation *where = nullptr;

private:
  /// The dimension of the vector that a dimension of a tensor maps to.
  enum Role { None = -1, Row = 0, Column = 1 };
  using Roles = llvm::SmallVector<int>;
  using Shape = std::array<int64_t, 2>;

  /// A part of a tensor, as a vector of `shape`: element (i, j) is at `offsets`, moved by i along
  /// the dimension that is the row and by j along the column. Without such a dimension the vector
  /// repeats itself.
  struct Request {
    mlir::Value tensor;
    llvm::SmallVector<mlir::OpFoldResult> offsets;
    Roles roles;
    Shape shape;
    llvm::SmallVector<bool> inside; // dimensions along which the vector is known to be in bounds

    bool startsAtZero() const;
  };
  /// A vector, and whether what is out of bounds along the column is zero in it.
  struct Part {
    mlir::Value vector;
    bool isZeroOutside = false;

    explicit operator bool() const { return bool(vector); }
  };

  Part fail(mlir::Operation *op, const llvm::Twine &reason);
  Request whole(mlir::Value tensor, llvm::ArrayRef<int> roles, Shape shape);
  Roles rolesOf(mlir::AffineMap map, unsigned row, unsigned column) const;
  Roles rolesOfResult(mlir::Value tensor) const;

  Part get(Request request);
  bool lookThrough(Request &request, mlir::tensor::ExtractSliceOp slice);
  bool lookThrough(Request &request, mlir::tensor::ExpandShapeOp expand);
  bool isEdgeOrWhole(mlir::tensor::ExtractSliceOp slice, unsigned dim, int64_t size,
                     bool startsAtZero);
  Part read(const Request &request);
  Part getKnown(const Request &request);
  Part computeElementwise(mlir::linalg::LinalgOp op, unsigned result, const Request &request);
  Part computeContraction();
  Part computeLoop(mlir::scf::ForOp forOp);
  mlir::Value maskBeyondK(Part part, mlir::Value tensor, unsigned dim, bool isColumn);
  mlir::Value zeros(mlir::Type element, Shape shape);
  mlir::LogicalResult write(mlir::tensor::ParallelInsertSliceOp insert);
  void dropUnreadInits();

  mlir::RewriterBase &rewriter;
  mlir::scf::ForallOp loop;
  std::array<int64_t, 3> tile;
  MatmulLoops contraction;
  Roles resultRoles; // of tiles of the matmul's result
  // Vectors of tiles, in the roles that they have.
  llvm::DenseMap<mlir::Value, std::pair<Part, Roles>> known;
  // Outputs of the loop whose first values are computed instead of read.
  llvm::SmallPtrSet<mlir::Value, 4> unread;
};

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_EDGEVECTORIZER_H
