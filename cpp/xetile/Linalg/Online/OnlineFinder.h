//===- OnlineFinder.h - how scalars depend on reductions -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_ONLINE_ONLINEFINDER_H
#define XETILE_LINALG_ONLINE_ONLINEFINDER_H

#include "xetile/Linalg/Online/Online.h"

namespace xetile {

/// How a scalar depends on the reductions along n.
struct OnlineForm {
  /// Not at all; being the same for all n; by the difference of what does not and what is, or of
  /// what is and what does not; by a power of the first; by a square of one; in another way.
  enum Kind : uint8_t { Free, Row, Difference, Opposite, Power, Square, Other } kind = Free;
  /// Of `Free`: whether it differs along n.
  bool varies = false;
  OnlinePower power;
  OnlineSquare square;
  /// Of `Other`: what makes it so.
  mlir::Operation *by = nullptr;
};

/// Finds reductions along one dimension that depend on one another.
class OnlineFinder {
public:
  bool find(mlir::linalg::GenericOp last, bool products);
  bool findAlone(mlir::linalg::GenericOp op, unsigned loop);

  Online found;
  mlir::Operation *where = nullptr;
  std::string why;

private:
  bool no(mlir::Operation *op, const llvm::Twine &reason) {
    if (!where) {
      where = op;
      why = reason.str();
    }
    return false;
  }
  bool collect(mlir::linalg::GenericOp last);
  void join(mlir::linalg::GenericOp op);
  bool checkAxes();
  bool reducesProducts();
  void addBeside(mlir::linalg::GenericOp last);
  bool describe(mlir::linalg::GenericOp op, OnlineReduction &reduction);
  bool checkPower(OnlineReduction &reduction);
  bool checkSquare(OnlineReduction &reduction);
  bool checkRows(OnlineReduction &reduction, llvm::ArrayRef<mlir::Operation *> rowSteps,
                 llvm::SmallVector<OnlineLeaf> &leaves);
  bool knowsPlaces(mlir::linalg::GenericOp op, mlir::Value scalar);
  bool isSame(mlir::linalg::GenericOp x, mlir::Value a, mlir::linalg::GenericOp y, mlir::Value b);
  OnlineForm formOf(mlir::Value tensor);
  OnlineForm formOf(mlir::linalg::GenericOp op, mlir::Value scalar);
  OnlineForm combine(mlir::Operation *op, llvm::ArrayRef<OnlineForm> forms);
  bool combineSquare(mlir::Operation *op, llvm::ArrayRef<OnlineForm> forms, OnlineForm &result);

  llvm::DenseMap<mlir::Value, OnlineForm> known;
};

} // namespace xetile

#endif // XETILE_LINALG_ONLINE_ONLINEFINDER_H
