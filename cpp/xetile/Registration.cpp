//===- Registration.cpp - everything that a tool registers -------------------===//
#include "xetile/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "xetile/Binary/Passes.h"
#include "xetile/Conversion/Passes.h"
#include "xetile/Conversion/XeGPUToBinaryPipeline.h"
#include "xetile/Conversion/XeTileToXeGPUPipeline.h"
#include "xetile/DeepTile/CpuPipeline.h"
#include "xetile/DeepTile/DeepTileTransformOps.h"
#include "xetile/DeepTile/Passes.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/TransformOps/TransformOps.h"
#include "xetile/Transforms/Passes.h"

void xetile::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<XeTileDialect>();
  registerTransformExtension(registry);
  registerDeepTileTransformExtension(registry);
}

void xetile::registerPasses() {
  registerXeTileTransformsPasses();
  registerXeTileConversionPasses();
  registerBinaryPasses();
  registerXeTileDeepTilePasses();
  registerCpuPipelines();
  registerXeTilePipelines();
  registerXeGPUToBinaryPipelines();
}
