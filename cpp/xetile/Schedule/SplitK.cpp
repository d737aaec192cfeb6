//===- SplitK.cpp - transform.xetile.split_k ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: matmuls on tensors, a number of parts or none. Out: products of parts of k, and their sums.
// Refused, where parts are asked for: sizes of a run, operands that are computed, sums other than
// of f32 and i32, more parts than k has steps.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "xetile/Facts/MachineFacts.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/IR/AnchorAttr.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Linalg/CutDimension.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Schedule/KParts.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/Programs/KernelOps.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

struct Given {
  int64_t parts = 0;
  MatmulTiling tiling;
  StringRef target;
  /// Products of f32 are rounded to tf32.
  bool isTf32 = false;
};

/// The op that computes `tensor` element by element on the way to the product, or null.
Operation *computedBy(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  while (isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && isElementwiseOnTensors(op) ? op : nullptr;
}

/// Why `loops` cannot be split, whatever the number of parts.
Problem whyWhole(const MatmulLoops &loops) {
  if (llvm::any_of(loops.sizes, ShapedType::isDynamic))
    return "split_k: expected sizes known when compiled";
  Type sum = loops.elementType(2);
  if (!sum.isF32() && !sum.isInteger(32))
    return "split_k: expected sums of f32 or i32: run xetile-widen-sums before";
  for (Value input : loops.op.getDpsInputs())
    if (computedBy(input))
      return "split_k: expected operands in memory, got one that is computed on the way to the "
             "product; compute it by itself, or set split_k = 1";
  return {};
}

int64_t tilesOf(const MatmulLoops &loops, const MatmulTiling &tiling) {
  if (tiling.workgroupM < 1 || tiling.workgroupN < 1)
    return 0;
  int64_t tiles = saturatingProduct(llvm::divideCeil(loops.sizes[loops.m], tiling.workgroupM),
                                    llvm::divideCeil(loops.sizes[loops.n], tiling.workgroupN));
  for (unsigned loop : loops.outer)
    tiles = saturatingProduct(tiles, loops.sizes[loop]);
  return tiles;
}

/// Splits one product.
class Splitter {
public:
  Splitter(RewriterBase &b, const MatmulLoops &loops, int64_t size)
      : b(b), loops(loops), loc(loops.op.getLoc()), k(loops.sizes[loops.k]), size(size),
        count(llvm::divideCeil(k, size)) {}

  void run(int64_t number);

private:
  Value products();
  Value sums(Value partial);

  RewriterBase &b;
  const MatmulLoops &loops;
  Location loc;
  int64_t k, size, count;
  /// The ops that are one kernel.
  SmallVector<Operation *> made;
};

/// The product of each part; its number is the last loop, and the first dimension of the result.
Value Splitter::products() {
  linalg::LinalgOp op = loops.op;
  unsigned numLoops = op.getNumLoops();
  AffineExpr part = b.getAffineDimExpr(numLoops), along = b.getAffineDimExpr(loops.k);
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs;
  auto add = [&](ArrayRef<AffineExpr> exprs) {
    maps.push_back(AffineMap::get(numLoops + 1, 0, exprs, b.getContext()));
  };
  for (OpOperand *input : op.getDpsInputOperands()) {
    SmallVector<AffineExpr> exprs;
    unsigned dim = 0;
    for (auto [number, expr] : llvm::enumerate(op.getMatchingIndexingMap(input).getResults())) {
      if (expr == along) {
        dim = number;
        exprs.push_back(part);
      }
      exprs.push_back(expr);
    }
    inputs.push_back(cutDimension(b, loc, input->get(), dim, count, size, made));
    add(exprs);
  }
  SmallVector<AffineExpr> exprs{part};
  llvm::append_range(exprs, loops.map(2).getResults());
  add(exprs);
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, result.getShape());
  Type element = result.getElementType();
  Value empty = tensor::EmptyOp::create(b, loc, shape, element);
  Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(element)));
  Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.push_back(utils::IteratorType::parallel);
  auto partial = linalg::GenericOp::create(b, loc, TypeRange(result.clone(shape)), inputs,
                                           ValueRange(init), maps, kinds);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&partial.getRegion(), mapping);
  made.push_back(partial);
  return partial.getResult(0);
}

/// The sums of all parts and what the product started from, one after the other.
Value Splitter::sums(Value partial) {
  linalg::LinalgOp op = loops.op;
  Value init = op.getDpsInitOperand(0)->get();
  auto type = cast<RankedTensorType>(init.getType());
  unsigned rank = type.getRank();
  SmallVector<AffineExpr> from{b.getAffineDimExpr(rank)}, to;
  for (unsigned dim = 0; dim < rank; ++dim)
    to.push_back(b.getAffineDimExpr(dim));
  llvm::append_range(from, to);
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> exprs : {ArrayRef(from), ArrayRef(to)})
    maps.push_back(AffineMap::get(rank + 1, 0, exprs, b.getContext()));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             b, loc, TypeRange(type), ValueRange(partial), ValueRange(init), maps, kinds,
             [](OpBuilder &inside, Location at, ValueRange arguments) {
               Value sum;
               if (isa<FloatType>(arguments[0].getType()))
                 sum = arith::AddFOp::create(inside, at, arguments[1], arguments[0]);
               else
                 sum = arith::AddIOp::create(inside, at, arguments[1], arguments[0]);
               linalg::YieldOp::create(inside, at, sum);
             })
      .getResult(0);
}

void Splitter::run(int64_t number) {
  Operation *op = loops.op;
  b.setInsertionPoint(op);
  Value partial = products();
  for (Operation *each : made) {
    each->setAttr(kKernelAttr, b.getI64IntegerAttr(number));
    each->setAttr(kScheduleAttr, b.getStringAttr("matmul"));
  }
  b.replaceOp(op, sums(partial));
}

/// A number that no kernel has.
int64_t nextNumber(Operation *target) {
  int64_t next = 0;
  target->walk([&](Operation *op) {
    if (auto number = op->getAttrOfType<IntegerAttr>(kKernelAttr))
      next = std::max(next, number.getInt() + 1);
  });
  return next;
}

/// Products that a step may split: those of kernels that were numbered stay. (Powers of an
/// attention are computed on the way to a product.)
SmallVector<Operation *> findProducts(Operation *target) {
  SmallVector<Operation *> products;
  target->walk([&](Operation *op) {
    if (looksLikeMatmul(op) && !op->hasAttr(kKernelAttr))
      products.push_back(op);
  });
  return products;
}

} // namespace

/// Reads all parameters.
static DiagnosedSilenceableFailure read(SplitKOp split, TransformState &state, Given &given) {
  auto op = cast<TransformOpInterface>(split.getOperation());
  struct Field {
    Value param;
    StringLiteral name;
    int64_t &value;
  };
  for (auto [param, name, value] :
       {Field{split.getParts(), "split_k", given.parts},
        Field{split.getWorkgroupM(), "workgroup_m", given.tiling.workgroupM},
        Field{split.getWorkgroupN(), "workgroup_n", given.tiling.workgroupN},
        Field{split.getSubgroupsM(), "subgroups_m", given.tiling.subgroupsM},
        Field{split.getSubgroupsN(), "subgroups_n", given.tiling.subgroupsN},
        Field{split.getKStep(), "k_step", given.tiling.kStep}}) {
    if (auto diag = readInteger(op, state, param, name, 0, value); !diag.succeeded())
      return diag;
    if (value > kMaxTileSize)
      return op.emitDefiniteFailure()
             << name << " = " << value << ": expected at most " << kMaxTileSize;
  }
  if (auto diag = readString(op, state, split.getTarget(), "target", given.target);
      !diag.succeeded())
    return diag;
  if (Value param = split.getPrecision())
    if (auto diag = readPrecision(op, state, param, given.isTf32); !diag.succeeded())
      return diag;
  if (const Target *other = findTilingTarget(given.target)) {
    if (other->chooseParts)
      return DiagnosedSilenceableFailure::success();
    if (given.parts > 1)
      return op.emitDefiniteFailure() << "split_k = " << given.parts << ": the target "
                                      << given.target << " has no kernels of sums; expected 0 or 1";
    given.parts = 1;
    return DiagnosedSilenceableFailure::success();
  }
  if (std::optional<std::string> why = checkChip(given.target))
    return op.emitDefiniteFailure() << "target: " << *why;
  return DiagnosedSilenceableFailure::success();
}

/// The same where the target has rules of its own: all parts are as long.
static Result<int64_t> choosePartFor(const Target &target, const MatmulLoops &loops,
                                     const Given &given) {
  MatmulProblem problem = describeMatmul(loops, nullptr);
  problem.isExact = loops.elementType(0).isF32() && target.multipliesF32 && !given.isTf32;
  MatmulTiling tiling = target.chooseTiling(problem, given.tiling);
  // Tiles of parts may be others.
  MatmulTiling open = given.tiling;
  open.kStep = tiling.kStep;
  int64_t parts = given.parts ? given.parts : target.chooseParts(problem, open);
  if (parts < 2)
    return 0;
  int64_t unit = std::max<int64_t>(tiling.kStep, 1);
  if (problem.k % (parts * unit) == 0)
    return problem.k / parts;
  return Error("split_k = " + Twine(parts) + ": k = " + Twine(problem.k) +
               " has no so many parts of whole steps (k_step = " + Twine(unit) +
               ") of one size; expected a divisor of k / " + Twine(unit));
}

/// True if a matrix unit of the target multiplies `loops`, as far as is known here.
static bool isForMatrixUnit(const MatmulLoops &loops, StringRef chip) {
  Operation *op = loops.op;
  if (scheduleOfAnchor(op) == "matmul")
    return true;
  // Of one matmul by itself nobody said that f32 is for vector units.
  const Target *target = findTilingTarget(chip);
  return target && target->multipliesF32 && !op->hasAttr(kAnchorAttr) && isProductInTiles(op) &&
         loops.elementType(0).isF32();
}

/// The elements of a part, or 0 to leave `loops` as they are; what is wrong with a number of parts
/// that was asked for.
static Result<int64_t> choosePart(const MatmulLoops &loops, const Given &given) {
  // Whoever asks for parts of f32 may allow to multiply it as tf32.
  if (given.parts == 1 || (given.parts == 0 && !isForMatrixUnit(loops, given.target)))
    return 0;
  if (Problem why = whyWhole(loops))
    return given.parts == 0 ? Result<int64_t>(0) : Result<int64_t>(Error(*why));
  if (const Target *other = findTilingTarget(given.target))
    return choosePartFor(*other, loops, given);
  const TargetInfo &device = *lookupTarget(given.target);
  MatmulProblem problem = describeMatmul(loops, &device);
  MatmulTiling tiling = chooseMatmulTiling(problem, given.tiling, device);
  int64_t unit = unitOfParts(problem, tiling), parts = given.parts;
  if (parts == 0) {
    const MachineFacts *machine = lookupMachineFacts(given.target);
    parts =
        chooseParts(problem, tilesOf(loops, tiling), tiling, device, machine ? machine->cores : 0);
    if (parts < 2)
      return 0;
  }
  int64_t size = llvm::alignTo(llvm::divideCeil(problem.k, parts), unit);
  int64_t made = llvm::divideCeil(problem.k, size);
  if (made == parts)
    return size;
  return Error("split_k = " + Twine(parts) + ": k = " + Twine(problem.k) + " in parts of " +
               Twine(size) + ", ceil(k / " + Twine(parts) + ") as a multiple of " + Twine(unit) +
               " (k_step = " + Twine(tiling.kStep) + " and cache lines), is " + Twine(made) +
               " parts; expected split_k = " + Twine(made) +
               (made == 1 ? ", which splits nothing" : ""));
}

DiagnosedSilenceableFailure SplitKOp::apply(TransformRewriter &rewriter, TransformResults &,
                                            TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  Given given;
  if (auto diag = read(*this, state, given); !diag.succeeded())
    return diag;
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getModule()))) {
    int64_t number = nextNumber(target);
    for (Operation *product : findProducts(target)) {
      Result<MatmulLoops> loops = matchMatmul(product);
      // A matmul that no schedule takes is refused by the steps that look for a matmul.
      if (!loops)
        continue;
      Result<int64_t> size = choosePart(*loops, given);
      if (!size) {
        DiagnosedDefiniteFailure diag =
            ::emitDefiniteFailure(product->getLoc(), size.error().message);
        diag.attachNote(op->getLoc()) << "required by this step of the schedule";
        return diag;
      }
      if (*size != 0)
        Splitter(rewriter, *loops, *size).run(number++);
    }
  }
  return DiagnosedSilenceableFailure::success();
}

void SplitKOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
