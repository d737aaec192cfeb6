//===- WgMap.cpp - arithmetic of workgroup maps -----------------------------===//
#include "xetile/IR/WgMap.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace xetile {

static constexpr int64_t kCacheLineBytes = 64; // PVC and Xe2

LogicalResult verifyWgMap(WgMapAttr map, ArrayRef<int64_t> shape,
                          function_ref<InFlightDiagnostic()> emitError) {
  for (unsigned dim = 0; dim < 2; ++dim) {
    int64_t layout = map.getSgLayout()[dim], data = map.getSgData()[dim], size = shape[dim];
    if (size % data != 0)
      return emitError() << "expected sg_data to divide the tile in each dimension, got sg_data = "
                         << data << " for " << size << " elements in dimension " << dim;
    int64_t product;
    if (llvm::MulOverflow(layout, data, product))
      return emitError() << "sg_layout * sg_data overflows in dimension " << dim << ": " << layout
                         << " * " << data;
    if (size % product != 0 && product % size != 0)
      return emitError()
             << "expected sg_layout * sg_data to divide the tile or to be a multiple of it, got "
             << layout << " * " << data << " = " << product << " for " << size
             << " elements in dimension " << dim;
  }
  return success();
}

DimDistribution getDimDistribution(WgMapAttr map, unsigned dim, int64_t size) {
  int64_t data = map.getSgData()[dim], layout = map.getSgLayout()[dim];
  int64_t pieces = size / data;
  return {data, pieces, layout, std::max<int64_t>(1, pieces / layout)};
}

MmaOperandMaps deriveMmaOperandMaps(WgMapAttr result, int64_t k) {
  MLIRContext *context = result.getContext();
  ArrayRef<int64_t> data = result.getSgData();
  return {WgMapAttr::get(context, result.getSgLayout(), {data[0], k}),
          WgMapAttr::get(context, result.getSgLayout(), {k, data[1]}), result};
}

WgMapAttr getCooperativeMap(MLIRContext *context, ArrayRef<int64_t> shape, unsigned elementBits,
                            int64_t numSubgroups) {
  int64_t lineElements = kCacheLineBytes * 8 / elementBits;
  int64_t columns = std::min(shape[1], lineElements);
  if (shape[1] % columns != 0 || numSubgroups < 1)
    return {};
  int64_t gridColumns = std::min(shape[1] / columns, numSubgroups);
  if (numSubgroups % gridColumns != 0 || (shape[1] / columns) % gridColumns != 0)
    return {};
  int64_t gridRows = numSubgroups / gridColumns;
  if (shape[0] % gridRows != 0 && gridRows % shape[0] != 0)
    return {};
  int64_t rows = std::max<int64_t>(1, shape[0] / gridRows);
  return WgMapAttr::get(context, {gridRows, gridColumns}, {rows, columns});
}

} // namespace xetile
