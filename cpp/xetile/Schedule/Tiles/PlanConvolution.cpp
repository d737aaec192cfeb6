//===- PlanConvolution.cpp - tiles of convolutions that threads compute -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: results that are a convolution's, element by element. Out: filters as rows of a tile, a row
// of the image as columns: what a thread loads serves its elements of several filters. Refused:
// nothing; of others, and where a target has no such tiles, there is none.
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Schedule/Tiles/TilePlan.h"
#include "xetile/Schedule/Tiles/TileSizes.h"
#include "xetile/Target/Target.h"

using namespace mlir;

namespace xetile::transform_ops {

/// The filters' dimension of a convolution's result whose last one is of the image.
static std::optional<unsigned> filtersOf(Operation *op) {
  auto convolution = dyn_cast<linalg::LinalgOp>(op);
  if (!convolution || op->getNumResults() != 1)
    return std::nullopt;
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(convolution);
  if (failed(dims) || dims->outputChannel.size() != 1 || dims->outputImage.empty())
    return std::nullopt;
  AffineMap output = convolution.getMatchingIndexingMap(convolution.getDpsInitOperand(0));
  auto last = dyn_cast<AffineDimExpr>(output.getResults().back());
  if (!last || !llvm::is_contained(dims->outputImage, last.getPosition()))
    return std::nullopt;
  return output.getResultPosition(getAffineDimExpr(dims->outputChannel.front(), op->getContext()));
}

std::optional<TilePlan> planConvolution(ArrayRef<Value> results, TileSizes &sizes,
                                        const Target *target) {
  if (!target || !target->chooseConvolution)
    return std::nullopt;
  std::optional<unsigned> filters;
  auto isConvolution = [&](Operation *op) {
    filters = filtersOf(op);
    return filters.has_value();
  };
  SmallVector<int64_t> shape = sizes.planned(results.front());
  if (!comesElementwiseFrom(results.front(), isConvolution) || shape[*filters] == 1)
    return std::nullopt;
  TilePlan plan;
  plan.dims.assign(shape.size(), DimUse::Number);
  plan.dims[*filters] = DimUse::Rows;
  plan.dims.back() = DimUse::Columns;
  plan.multiplies = false;
  plan.tile = target->chooseConvolution(shape[*filters], shape.back());
  return plan;
}

} // namespace xetile::transform_ops
