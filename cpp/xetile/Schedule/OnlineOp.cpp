//===- OnlineOp.cpp - transform.xetile.online ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a sum of powers exp(x - max x) or squares (x - mean)^2 on tensors, or, where the op says so,
// a product of what other products make; or a function with one.
// Out: one loop over blocks of what it sums, with all reductions that it depends on. Refused,
// silenceably: elements of other forms, loops of blocks of less than one.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/IR/LazyAttr.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Schedule/DescribeAttention.h"
#include "xetile/Schedule/OnlineIn.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

/// Elements of n at once, where the schedule leaves it open: as many as make what is done once a
/// row and block little beside the products, and whose scores fit the registers with a row of
/// outputs. Powers of bf16 are registers of their own, where those of f16 take the place of scores;
/// with lazy maxima scores are needed until the sums are known to be small enough. Of what is
/// computed in each step, a few: what it is computed of is in registers, too. Of a `target` with
/// tiles of its own, as many as it says.
static int64_t chooseBlock(Online &online, bool isLazy, const Target *target) {
  constexpr int64_t kUsual = 64, kLong = 128, kComputed = 16;
  if (hasComputedFactors(online.reductions.front().op->getParentOp()))
    return kComputed;
  if (std::optional<AttentionProblem> problem = describeAttention(online);
      target && target->chooseAttention && problem)
    return target->chooseAttention(*problem).keys;
  for (OnlineReduction &reduction : online.reductions)
    if (isContraction(reduction.op)) {
      int64_t columns =
          cast<RankedTensorType>(reduction.op.getResult(0).getType()).getShape().back();
      bool isBf16 = llvm::any_of(reduction.op.getDpsInputs(), [](Value input) {
        return getElementTypeOrSelf(input.getType()).isBF16();
      });
      return columns > kUsual && columns <= kLong && !isBf16 && !isLazy ? kLong : kUsual;
    }
  return kUsual;
}

/// Why 2^lazy is no sum of powers that a block of `block` elements may be added to with maxima of
/// earlier ones; an empty string where it is.
static std::string whyNotLazy(Online &online, int64_t lazy, int64_t block) {
  // Of f32, and of the sums that products of powers and values are.
  constexpr int64_t kLargestExponent = 127, kExponentOfF16 = 16, kDigits = 24;
  bool isF16 = true;
  for (OnlineReduction &reduction : online.reductions)
    if (reduction.power && isContraction(reduction.op))
      for (Value input : reduction.op.getDpsInputs())
        isF16 &= getElementTypeOrSelf(input.getType()).isF16();
  int64_t most = isF16 ? kLargestExponent - kExponentOfF16 : kLargestExponent / 2;
  int64_t least = kDigits + 2 + llvm::Log2_64_Ceil(static_cast<uint64_t>(block));
  if (lazy > most)
    return ("sums up to 2^" + Twine(lazy) + " of powers times values of " +
            (isF16 ? "f16" : "as many binary digits") + " could overflow f32; expected at most " +
            Twine(most))
        .str();
  if (lazy < least)
    return ("a step of " + Twine(block) + " powers of one could pass 2^" + Twine(lazy) +
            " again with any maximum; expected at least " + Twine(least))
        .str();
  return {};
}

std::optional<Online> findOnlineIn(func::FuncOp func, Operation *&where, std::string &why,
                                   bool products) {
  where = func;
  why = products
            ? "expected a product of what other products make, got no reduction"
            : "expected a sum of powers exp(x - m), m = max x, or of squares, got no reduction";
  for (Operation &op : llvm::reverse(func.getBody().front())) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumReductionLoops() == 0)
      continue;
    Operation *at = nullptr;
    std::string text;
    if (std::optional<Online> found = findOnline(generic, at, text, products))
      return found;
    // The last one tells most.
    if (where == func) {
      where = at;
      why = text;
    }
  }
  return std::nullopt;
}

DiagnosedSilenceableFailure OnlineOp::apply(TransformRewriter &rewriter, TransformResults &results,
                                            TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  int64_t block = 0;
  if (auto diag = readInteger(op, state, getBlock(), "block", 0, block); !diag.succeeded())
    return diag;
  if (block > kMaxTileSize)
    return op.emitDefiniteFailure() << "block = " << block << ": expected at most " << kMaxTileSize;
  int64_t lazy = 0;
  if (getLazy())
    if (auto diag = readInteger(op, state, getLazy(), "lazy", 0, lazy); !diag.succeeded())
      return diag;
  // Steps of one size, the last one masked.
  const Target *other = nullptr;
  if (getChip()) {
    StringRef chip;
    if (auto diag = readString(op, state, getChip(), "target", chip); !diag.succeeded())
      return diag;
    other = findTilingTarget(chip);
    if (std::optional<std::string> why = checkChip(chip); why && !other)
      return op.emitDefiniteFailure() << "target: " << *why;
  }
  SmallVector<Operation *> loops;
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getTarget()))) {
    Operation *where = target;
    std::string why;
    std::optional<Online> found;
    auto func = dyn_cast<func::FuncOp>(target);
    if (func && func.getBody().hasOneBlock())
      found = findOnlineIn(func, where, why, getProducts());
    else if (auto generic = dyn_cast<linalg::GenericOp>(target))
      found = findOnline(generic, where, why, getProducts());
    else
      why = "expected a linalg.generic that reduces, or a func.func with a body of one block";
    if (!found) {
      DiagnosedSilenceableFailure diag = emitSilenceableFailure(where->getLoc(), why);
      diag.attachNote(op->getLoc()) << "required by this step of the schedule";
      return diag;
    }
    bool isMasked = other && mayMask(*found);
    int64_t size = block == 0 ? chooseBlock(*found, lazy != 0, other) : block;
    if (!isMasked)
      size = std::min(size, found->extent);
    if (lazy != 0 && !found->binary) {
      DiagnosedSilenceableFailure diag = emitSilenceableFailure(
          found->reductions.back().op.getLoc(), "lazy: expected scores that are products of f16 or "
                                                "bf16, and maxima that only powers use");
      diag.attachNote(op->getLoc()) << "required by this step of the schedule";
      return diag;
    }
    if (std::string why = lazy == 0 ? "" : whyNotLazy(*found, lazy, size); !why.empty())
      return op.emitDefiniteFailure() << "lazy = " << lazy << ": " << why;
    scf::ForOp loop = makeOnline(rewriter, *found, size, isMasked);
    if (lazy != 0)
      loop->setAttr(kLazyAttr, rewriter.getF32FloatAttr(std::ldexp(1.0f, static_cast<int>(lazy))));
    loops.push_back(loop);
  }
  results.set(cast<OpResult>(getLoops()), loops);
  return DiagnosedSilenceableFailure::success();
}

void OnlineOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
