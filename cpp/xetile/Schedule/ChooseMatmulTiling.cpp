//===- ChooseMatmulTiling.cpp - transform.xetile.choose_matmul_tiling --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a matmul, the sizes that a schedule was told. Out: all sizes, as parameters and written at
// the function. Refused: negative sizes, unknown chips, f32 without leave to multiply it as tf32,
// but where the target multiplies it exactly.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Schedule/KParts.h"
#include "xetile/Schedule/MatmulLoops.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

static MatmulTiling choose(const MatmulLoops &contraction, const MatmulTiling &given,
                           StringRef target, bool isExact) {
  if (const Target *other = findTilingTarget(target)) {
    MatmulProblem problem = describeMatmul(contraction, nullptr);
    problem.isExact = isExact;
    return other->chooseTiling(problem, given);
  }
  const TargetInfo &device = *lookupTarget(target);
  return chooseMatmulTiling(describeMatmul(contraction, &device), given, device);
}

/// For whoever reads the result of the schedule.
static void writeDown(RewriterBase &rewriter, Operation *matmul, const MatmulTiling &tiling) {
  auto func = matmul->getParentOfType<func::FuncOp>();
  if (!func)
    return;
  Builder b(matmul->getContext());
  DictionaryAttr chosen = b.getDictionaryAttr({
      b.getNamedAttr("k_step", b.getI64IntegerAttr(tiling.kStep)),
      b.getNamedAttr("prefetch", b.getI64IntegerAttr(tiling.prefetch)),
      b.getNamedAttr("subgroups", b.getDenseI64ArrayAttr({tiling.subgroupsM, tiling.subgroupsN})),
      b.getNamedAttr("workgroup", b.getDenseI64ArrayAttr({tiling.workgroupM, tiling.workgroupN})),
  });
  rewriter.modifyOpInPlace(func, [&] { func->setDiscardableAttr(kTilingAttr, chosen); });
}

/// One size for each loop.
static SmallVector<int64_t> getTileSizes(const MatmulLoops &contraction,
                                         const MatmulTiling &tiling) {
  SmallVector<int64_t> sizes{tiling.workgroupM, tiling.workgroupN, 0};
  sizes.append(contraction.outer.size(), 1);
  return sizes;
}

/// Parts of the tiling that the schedule gives.
static DiagnosedSilenceableFailure readGiven(ChooseMatmulTilingOp choose, TransformState &state,
                                             MatmulTiling &given) {
  auto op = cast<TransformOpInterface>(choose.getOperation());
  struct Field {
    Value param;
    StringLiteral name;
    int64_t least;
    int64_t &value;
  };
  for (auto [param, name, least, value] :
       {Field{choose.getWorkgroupM(), "workgroup_m", 0, given.workgroupM},
        Field{choose.getWorkgroupN(), "workgroup_n", 0, given.workgroupN},
        Field{choose.getSubgroupsM(), "subgroups_m", 0, given.subgroupsM},
        Field{choose.getSubgroupsN(), "subgroups_n", 0, given.subgroupsN},
        Field{choose.getKStep(), "k_step", 0, given.kStep},
        Field{choose.getPrefetch(), "prefetch", MatmulTiling::kOpenPrefetch, given.prefetch}}) {
    if (auto diag = readInteger(op, state, param, name, least, value); !diag.succeeded())
      return diag;
    if (value > kMaxTileSize)
      return op.emitDefiniteFailure()
             << name << " = " << value << ": expected at most " << kMaxTileSize;
  }
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure ChooseMatmulTilingOp::apply(TransformRewriter &rewriter,
                                                        TransformResults &results,
                                                        TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  MatmulTiling given;
  StringRef target;
  bool isTf32 = false;
  if (auto diag = readGiven(*this, state, given); !diag.succeeded())
    return diag;
  if (auto diag = readPrecision(op, state, getPrecision(), isTf32); !diag.succeeded())
    return diag;
  if (auto diag = readString(op, state, getTarget(), "target", target); !diag.succeeded())
    return diag;
  const Target *other = findTilingTarget(target);
  if (std::optional<std::string> why = other ? std::nullopt : checkChip(target))
    return op.emitDefiniteFailure() << "target: " << *why;

  auto targets = state.getPayloadOps(getMatmul());
  if (!llvm::hasSingleElement(targets))
    return op.emitDefiniteFailure() << "expected one matmul, got " << llvm::range_size(targets);
  Operation *matmul = *targets.begin();
  Result<MatmulLoops> contraction = matchMatmul(matmul);
  Problem mistake;
  if (!contraction)
    mistake = contraction.error().message;
  else if (!contraction->isNormalized())
    mistake = "expected the loops in the order m, n, k, batches; run normalize_matmul before";
  else if (contraction->elementType(0).isF32() && !isTf32 && !(other && other->multipliesF32))
    mistake = "the matrix unit multiplies f32 as tf32, with 10 bits of mantissa; allow it with "
              "precision=tf32, or make the inputs f16 or bf16";
  if (mistake) {
    DiagnosedDefiniteFailure diag = ::emitDefiniteFailure(matmul->getLoc(), *mistake);
    diag.attachNote(op->getLoc()) << "required by this step of the schedule";
    return diag;
  }

  bool isExact = contraction->elementType(0).isF32() && !isTf32;
  MatmulTiling tiling = choose(*contraction, given, target, isExact);
  writeDown(rewriter, matmul, tiling);
  Builder b(getContext());
  auto set = [&](Value result, ArrayRef<int64_t> values) {
    results.setParams(cast<OpResult>(result),
                      llvm::map_to_vector(values, [&](int64_t value) -> Attribute {
                        return b.getI64IntegerAttr(value);
                      }));
  };
  set(getChosenM(), tiling.workgroupM);
  set(getChosenN(), tiling.workgroupN);
  set(getChosenSubgroupsM(), tiling.subgroupsM);
  set(getChosenSubgroupsN(), tiling.subgroupsN);
  set(getChosenKStep(), tiling.kStep);
  set(getChosenPrefetch(), tiling.prefetch);
  set(getTileSizes(), xetile::transform_ops::getTileSizes(*contraction, tiling));
  return DiagnosedSilenceableFailure::success();
}

void ChooseMatmulTilingOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
