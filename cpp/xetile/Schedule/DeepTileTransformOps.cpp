//===- DeepTileTransformOps.cpp - the deep-tiled matmul as a schedule's step --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: contractions on tensors. Out: loops around batch-reduce matmuls.
// Refused: other targets and configurations that are not legal, as definite failures.
//===----------------------------------------------------------------------===//
#include "xetile/Schedule/DeepTileTransformOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xetile/IR/XeTileAttrs.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/DeepTile.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::transform;

#define GET_OP_CLASSES
#include "xetile/Schedule/DeepTileTransformOps.cpp.inc"
#include "xetile/Schedule/TargetEffects.h"

namespace xetile {
namespace {
class DeepTileTransformExtension : public TransformDialectExtension<DeepTileTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeepTileTransformExtension)

  DeepTileTransformExtension() {
    declareGeneratedDialect<affine::AffineDialect>();
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<bufferization::BufferizationDialect>();
    declareGeneratedDialect<linalg::LinalgDialect>();
    declareGeneratedDialect<LLVM::LLVMDialect>();
    declareGeneratedDialect<memref::MemRefDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    declareGeneratedDialect<vector::VectorDialect>();
    declareDependentDialect<XeTileDialect>();
    registerStrictOps<
#define GET_OP_LIST
#include "xetile/Schedule/DeepTileTransformOps.cpp.inc"
        >();
  }

private:
  template <typename... Ops> void registerStrictOps() {
    registerTransformOps<xetile::Strict<Ops>...>();
  }
};
} // namespace

void registerDeepTileTransformExtension(DialectRegistry &registry) {
  registry.addExtensions<DeepTileTransformExtension>();
}

namespace transform_ops {

/// Reads the one configuration of `params`.
static Problem readParam(ArrayRef<Attribute> params, PartialConfig &given) {
  if (params.size() != 1)
    return "expected one configuration, got " + std::to_string(params.size());
  if (auto text = dyn_cast<StringAttr>(params[0]))
    return readConfig(text.getValue(), given);
  auto config = dyn_cast<MatmulConfigAttr>(params[0]);
  if (!config)
    return "expected the configuration to be a #xetile.matmul_config or a string of JSON";
  given.overrideBy(config.getFields());
  return {};
}

LogicalResult DeepTileMatmulOp::verify() {
  if (getFields().size() != getValues().size())
    return emitOpError() << "set: expected a value for each of " << getFields().size()
                         << " names, got " << getValues().size();
  return success();
}

/// Reads what `set` has, over what is in `request`.
static Problem readValues(DeepTileMatmulOp op, TransformState &state, DeepTileRequest &request) {
  for (auto [nameAttr, value] : llvm::zip_equal(op.getFields(), op.getValues())) {
    StringRef name = cast<StringAttr>(nameAttr).getValue();
    ArrayRef<Attribute> params = state.getParams(value);
    Attribute param = params.size() == 1 ? params[0] : Attribute();
    auto text = dyn_cast_or_null<StringAttr>(param);
    if (name == "pack") {
      if (!text)
        return "pack: expected one string";
      if (Problem error = request.readPack(text.getValue()))
        return error;
      continue;
    }
    std::optional<int64_t> *field = findField(request.given, name);
    if (!field && name != "threads")
      return "set: unknown name '" + name.str() + "': expected threads, pack or one of " +
             joinFieldNames();
    if (text && field == &request.given.loopOrder) {
      if (std::optional<int64_t> order = findLoopOrder(text.getValue())) {
        *field = order;
        continue;
      }
      return ("loopOrder = \"" + text.getValue() + "\": expected " + describeLoopOrders()).str();
    }
    auto number = dyn_cast_or_null<IntegerAttr>(param);
    if (!number || !number.getValue().isSignedIntN(64))
      return name.str() + ": expected one integer";
    int64_t chosen = number.getValue().getSExtValue();
    if (!field)
      request.threads = chosen;
    else if (chosen != openValueOf(name))
      *field = chosen;
  }
  return {};
}

DiagnosedSilenceableFailure DeepTileMatmulOp::apply(TransformRewriter &rewriter,
                                                    TransformResults &results,
                                                    TransformState &state) {
  DeepTileRequest request;
  if (Value config = getConfig())
    if (Problem error = readParam(state.getParams(config), request.given))
      return emitDefiniteFailure() << *error;
  request.threads = getThreads();
  if (Problem error = request.readPack(getPack()))
    return emitDefiniteFailure() << *error;
  if (Problem error = readValues(*this, state, request)) // deep_tile_c3
    return emitDefiniteFailure() << *error;
  request.fuse = getFuse();
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getTarget()))) {
    Operation *standIn;
    Result<Contraction> matmul = matchOrUnfold(rewriter, target, standIn);
    if (!matmul) { // deep_tile_c1
      DiagnosedDefiniteFailure failure = emitDefiniteFailure()
                                         << "cannot be tiled: " << matmul.error().message;
      failure.attachNote(target->getLoc()) << "target op";
      return failure;
    }
    if (standIn)
      rewriter.replaceOp(target, standIn);
    if (failed(deepTile(rewriter, *matmul, request))) // deep_tile_c2
      return DiagnosedSilenceableFailure::definiteFailure();
  }
  return DiagnosedSilenceableFailure::success();
}

void DeepTileMatmulOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesTarget(getOperation(), effects);
}

} // namespace transform_ops
} // namespace xetile
