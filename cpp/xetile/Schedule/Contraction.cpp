//===- Contraction.cpp - the matmuls that schedules for GPUs take ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg op. Out: which of its loops are m, n and k, and which input has which.
// Refused: what is no product of matrices on tensors, or one that the matrix unit has no types for.
#include "xetile/Schedule/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// An input of the product, seen through the cast to the result's type.
struct Factor {
  BlockArgument argument;
  bool isUnsigned = false;
};

std::optional<Factor> readFactor(Value value) {
  Factor factor;
  if (Operation *cast = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(cast))
      return std::nullopt;
    factor.isUnsigned = isa<arith::ExtUIOp>(cast);
    value = cast->getOperand(0);
  }
  factor.argument = dyn_cast<BlockArgument>(value);
  return factor.argument ? std::optional(factor) : std::nullopt;
}

template <typename FloatOp, typename IntegerOp> Operation *getEither(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_present<FloatOp, IntegerOp>(op) ? op : nullptr;
}

/// The two factors of a body that yields `out + x * y`, in the order of the inputs.
std::optional<std::array<Factor, 2>> readBody(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Operation *add = getEither<arith::AddFOp, arith::AddIOp>(body->getTerminator()->getOperand(0));
  if (!add)
    return std::nullopt;
  Value out = body->getArgument(2);
  if (add->getOperand(0) != out && add->getOperand(1) != out)
    return std::nullopt;
  Operation *mul =
      getEither<arith::MulFOp, arith::MulIOp>(add->getOperand(add->getOperand(0) == out ? 1 : 0));
  if (!mul)
    return std::nullopt;
  std::optional<Factor> x = readFactor(mul->getOperand(0)), y = readFactor(mul->getOperand(1));
  if (!x || !y || x->argument == y->argument || x->argument == out || y->argument == out)
    return std::nullopt;
  if (x->argument.getArgNumber() == 0)
    return std::array<Factor, 2>{*x, *y};
  return std::array<Factor, 2>{*y, *x};
}

bool hasLoop(AffineMap map, unsigned loop) { return map.isFunctionOfDim(loop); }

/// Takes for m and n the last loops of the result that one input has and the other has not, for the
/// other input the same, and for k the one that is summed over.
std::string findLoops(Contraction &contraction) {
  linalg::LinalgOp op = contraction.op;
  AffineMap left = op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
            right = op.getMatchingIndexingMap(op.getDpsInputOperand(1)),
            result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  std::optional<unsigned> ofLeft, ofRight;
  SmallVector<unsigned> loops;
  for (AffineExpr expr : result.getResults())
    loops.push_back(cast<AffineDimExpr>(expr).getPosition());
  std::optional<unsigned> last; // of the two, the one that comes last in the result
  for (unsigned loop : llvm::reverse(loops)) {
    std::optional<unsigned> *found = nullptr;
    if (hasLoop(left, loop) && !hasLoop(right, loop))
      found = &ofLeft;
    else if (hasLoop(right, loop) && !hasLoop(left, loop))
      found = &ofRight;
    if (found && !*found) {
      *found = loop;
      if (!last)
        last = loop;
    }
  }
  SmallVector<unsigned> reductions;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      reductions.push_back(loop);
  if (!ofLeft || !ofRight || reductions.size() != 1 || !hasLoop(left, reductions[0]) ||
      !hasLoop(right, reductions[0]))
    return "expected a dimension of the result from each input and one to sum over, as in "
           "C[m, n] += A[m, k] * B[k, n]";
  contraction.k = reductions[0];
  contraction.a = *ofRight == *last ? 0 : 1;
  contraction.b = 1 - contraction.a;
  contraction.m = contraction.a == 0 ? *ofLeft : *ofRight;
  contraction.n = contraction.a == 0 ? *ofRight : *ofLeft;
  for (unsigned loop : loops)
    if (loop != contraction.m && loop != contraction.n)
      contraction.outer.push_back(loop);
  return {};
}

/// Whether `op` has the maps and loops of a contraction: two inputs and a result, of which each
/// takes some of the loops, each loop once.
bool hasContractionMaps(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return false;
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return map.isProjectedPermutation() && map.getNumSymbols() == 0;
  });
}

std::string checkTensors(linalg::LinalgOp op) {
  std::string reason;
  llvm::raw_string_ostream os(reason);
  if (!op.hasPureTensorSemantics()) {
    os << "expected " << op->getName().getStringRef()
       << " on tensors, got memrefs: schedules start before bufferisation";
    return reason;
  }
  for (Value operand : op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (llvm::is_contained(type.getShape(), 0)) {
      os << "expected sizes other than zero, got " << type;
      return reason;
    }
  }
  return reason;
}

/// Tiles lie in two dimensions of a matrix, one of which is contiguous.
std::string checkInnermost(const Contraction &contraction) {
  struct Operand {
    StringLiteral name;
    OpOperand *operand;
    std::array<unsigned, 2> loops;
  };
  linalg::LinalgOp op = contraction.op;
  auto [m, n, k] = std::array<unsigned, 3>{contraction.m, contraction.n, contraction.k};
  for (auto [name, operand, loops] : {Operand{"A", op.getDpsInputOperand(contraction.a), {m, k}},
                                      Operand{"B", op.getDpsInputOperand(contraction.b), {k, n}},
                                      Operand{"the result", op.getDpsInitOperand(0), {m, n}}}) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    unsigned last = cast<AffineDimExpr>(map.getResults().back()).getPosition();
    if (!llvm::is_contained(loops, last))
      return ("expected the last dimension of " + name +
              " to be one of the product's, got a batch; transpose before the matmul")
          .str();
  }
  return {};
}

} // namespace

std::array<int64_t, 3> Contraction::getSizes() const {
  linalg::LinalgOp linalgOp = op;
  SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
  return {ranges[m], ranges[n], ranges[k]};
}

bool Contraction::isNormalized() const {
  if (m != 0 || n != 1 || k != 2)
    return false;
  for (auto [index, loop] : llvm::enumerate(outer))
    if (loop != index + 3)
      return false;
  return true;
}

Type Contraction::getElementType(unsigned input) const {
  linalg::LinalgOp linalgOp = op;
  return getElementTypeOrSelf(linalgOp.getDpsInputOperand(input)->get());
}

Type Contraction::getResultElementType() const {
  linalg::LinalgOp linalgOp = op;
  return getElementTypeOrSelf(linalgOp.getDpsInitOperand(0)->get());
}

bool looksLikeMatmul(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return false;
  // A named one is meant as a matmul, whatever is wrong with it.
  if (isa<linalg::MatmulOp, linalg::BatchMatmulOp, linalg::ContractOp>(op))
    return true;
  Contraction contraction;
  contraction.op = linalgOp;
  return hasContractionMaps(linalgOp) && readBody(linalgOp) && findLoops(contraction).empty();
}

std::string matchContraction(Operation *op, Contraction &contraction) {
  std::string reason;
  llvm::raw_string_ostream os(reason);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp) {
    os << "expected a linalg op, got " << op->getName();
    return reason;
  }
  contraction = Contraction();
  contraction.op = linalgOp;
  if (reason = checkTensors(linalgOp); !reason.empty())
    return reason;
  if (!hasContractionMaps(linalgOp)) {
    os << "expected two inputs, each indexed by some of the loops in any order";
    return reason;
  }
  if (reason = findLoops(contraction); !reason.empty())
    return reason;
  if (reason = checkInnermost(contraction); !reason.empty())
    return reason;
  Type a = contraction.getElementType(contraction.a), b = contraction.getElementType(contraction.b),
       c = contraction.getResultElementType();
  std::optional<std::array<Factor, 2>> factors = readBody(linalgOp);
  if (!factors || !isMmaTypeCombination(a, b, c)) {
    os << "expected " << kMmaTypeCombinations << ", got " << a << " x " << b << " -> " << c;
    if (!factors && isMmaTypeCombination(a, b, c))
      os << " with another body than a sum of products in the result's type";
    return reason;
  }
  contraction.aIsUnsigned = (*factors)[contraction.a].isUnsigned;
  contraction.bIsUnsigned = (*factors)[contraction.b].isUnsigned;
  return reason;
}

} // namespace xetile::transform_ops
