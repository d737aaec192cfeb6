//===- SplitKeys.cpp - transform.xetile.split_keys ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function with an attention on tensors, a number of parts or none. Out: maxima, sums and
// products of parts of the keys, and what these give together. Refused, where parts are asked for:
// products of other forms, more parts than there are blocks of keys.
#include "xetile/Facts/MachineFacts.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Schedule/OnlineIn.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/Programs/KernelOps.h"
#include "xetile/Schedule/Tiles/TilePlan.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

/// Keys that a part is a multiple of: rows of the matrix unit's operand.
constexpr int64_t kUnit = 16;

/// The number of parts where the schedule leaves it open, 1 for none: see the op's description.
static int64_t chooseParts(const ProductSizes &sizes, int64_t keys, StringRef target) {
  // Targets with tiles of their own have no rule for parts.
  if (findTilingTarget(target))
    return 1;
  constexpr int64_t kLeastKeys = 256, kKeysOfRow = 16, kMostParts = 64;
  const TargetInfo &device = *lookupTarget(target);
  const MachineFacts *machine = lookupMachineFacts(target);
  TilePlan plan = planAttention(sizes.rows, sizes.columns);
  int64_t workgroups = saturatingProduct(
      sizes.others, saturatingProduct(llvm::divideCeil(sizes.rows, plan.tile[kRows]),
                                      llvm::divideCeil(sizes.columns, plan.tile[kColumns])));
  int64_t inCore = device.maxSubgroups(/*largeRegisterFile=*/true) / plan.layout[kRows];
  int64_t places = (machine ? machine->cores : 0) * std::max<int64_t>(1, inCore);
  int64_t least = std::max(kLeastKeys, kKeysOfRow * std::min(sizes.rows, plan.tile[kRows]));
  int64_t parts = std::min({places / workgroups, keys / least, kMostParts});
  if (parts < 2)
    return 1;
  // Parts of one size need no mask.
  for (int64_t even = parts; even * 4 >= parts * 3; --even)
    if (keys % even == 0 && keys / even % kUnit == 0)
      return even;
  constexpr int64_t kBlock = 64;
  return llvm::divideCeil(keys, llvm::alignTo(llvm::divideCeil(keys, parts), kBlock));
}

/// The keys of a part, 0 to leave them together; or what is wrong with the number of parts.
static Result<int64_t> choosePart(const Online &online, int64_t given, StringRef target) {
  if (Problem why = whyNotSplitProducts(online))
    return given < 2 ? Result<int64_t>(0) : Result<int64_t>(Error("split_keys: " + *why));
  int64_t keys = online.extent;
  ProductSizes sizes = sizesOfProduct(online);
  int64_t parts = given == 0 ? chooseParts(sizes, keys, target) : given;
  // All keys are a part of one query: its products have rows there.
  if (parts < 2)
    return sizes.hasRows ? 0 : keys;
  int64_t size = llvm::alignTo(llvm::divideCeil(keys, parts), kUnit);
  int64_t made = llvm::divideCeil(keys, size);
  if (made == parts || given == 0)
    return made >= 2 ? size : sizes.hasRows ? 0 : keys;
  return Error("split_keys = " + Twine(parts) + ": " + Twine(keys) + " keys in parts of " +
               Twine(size) + ", ceil(keys / " + Twine(parts) + ") as a multiple of " +
               Twine(kUnit) + ", are " + Twine(made) + "; expected split_keys = " + Twine(made));
}

static void number(ArrayRef<Operation *> ops, int64_t kernel, StringRef schedule) {
  for (Operation *op : ops)
    if (belongsToKernel(op)) {
      Builder b(op->getContext());
      op->setAttr(kKernelAttr, b.getI64IntegerAttr(kernel));
      op->setAttr(kScheduleAttr, b.getStringAttr(schedule));
    }
}

/// Ops that are computed of numbered ones: reductions over parts, and what follows element by
/// element.
static SmallVector<Operation *> findBehind(func::FuncOp func) {
  llvm::SetVector<Operation *> behind;
  for (Operation &op : func.getBody().front().without_terminator()) {
    bool reads = llvm::any_of(op.getOperands(), [&](Value operand) {
      Operation *by = operand.getDefiningOp();
      return by && (by->hasAttr(kKernelAttr) || behind.contains(by));
    });
    if (reads && !op.hasAttr(kKernelAttr))
      behind.insert(&op);
  }
  return behind.takeVector();
}

DiagnosedSilenceableFailure SplitKeysOp::apply(TransformRewriter &rewriter, TransformResults &,
                                               TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  int64_t given = 0;
  StringRef chip;
  if (auto diag = readInteger(op, state, getParts(), "split_keys", 0, given); !diag.succeeded())
    return diag;
  if (given > kMaxTileSize)
    return op.emitDefiniteFailure()
           << "split_keys = " << given << ": expected at most " << kMaxTileSize;
  if (auto diag = readString(op, state, getChip(), "target", chip); !diag.succeeded())
    return diag;
  if (std::optional<std::string> why = checkChip(chip); why && !findTilingTarget(chip))
    return op.emitDefiniteFailure() << "target: " << *why;
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getTarget()))) {
    auto func = dyn_cast<func::FuncOp>(target);
    if (!func)
      return wrongTarget(op, target, "func.func");
    Operation *where = nullptr;
    std::string text;
    // Without an attention there is nothing to split: the step that makes the loop says why.
    std::optional<Online> online;
    if (func.getBody().hasOneBlock())
      online = findOnlineIn(func, where, text);
    if (!online)
      continue;
    Operation *last = online->reductions.back().op;
    Result<int64_t> size = choosePart(*online, given, chip);
    if (!size) {
      DiagnosedDefiniteFailure diag = ::emitDefiniteFailure(last->getLoc(), size.error().message);
      diag.attachNote(op->getLoc()) << "required by this step of the schedule";
      return diag;
    }
    if (*size == 0)
      continue;
    number(splitProducts(rewriter, *online, *size), 0, "attention");
    number(findBehind(func), 1, "rows");
  }
  return DiagnosedSilenceableFailure::success();
}

void SplitKeysOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
