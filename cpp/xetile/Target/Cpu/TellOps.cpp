//===- TellOps.cpp - what became of the linalg ops of a module --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: what passes made of linalg ops that NumberOps numbered. Out: remarks on the loops that
// compute each of them. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/Target/Cpu/Blocks/Rows/RowPlan.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/MicrokernelCall.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

namespace xetile {
#define GEN_PASS_DEF_TELLOPS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

using Numbers = std::set<int64_t>;

constexpr StringLiteral kDeepTiled = "deep-tiled";

void addNumbers(Location loc, Numbers &numbers) {
  loc->walk([&](Location part) {
    int64_t number;
    if (auto named = dyn_cast<NameLoc>(part))
      if (StringRef text = named.getName();
          text.consume_front("#") && !text.getAsInteger(10, number))
        numbers.insert(number);
    return WalkResult::advance();
  });
}

std::string list(const Numbers &numbers) {
  return llvm::join(llvm::map_range(numbers, [](int64_t n) { return llvm::utostr(n); }), ", ");
}

/// A top-level op of a function: a loop nest or one op.
struct Nest {
  Numbers matmuls, computed;
  /// Of linalg ops by themselves, those that are computed in one of them.
  SmallVector<Numbers> merged;
  bool isRows = false, isLoop = false;
};

Nest readNest(Operation *top) {
  Nest nest;
  nest.isRows = top->hasAttr(kRowsAttr);
  nest.isLoop = isa<LoopLikeOpInterface>(top);
  top->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<linalg::LinalgOp>(op)) {
      // Vector code of what a matmul's copies compute.
      if (!op->getResults().empty() && isa<VectorType>(op->getResult(0).getType()))
        addNumbers(op->getLoc(), nest.computed);
      return WalkResult::advance();
    }
    // The body's locations name its origin: the op may have been written in another one's place.
    Numbers own;
    for (Operation &inner : op->getRegion(0).front().without_terminator())
      addNumbers(inner.getLoc(), own);
    if (own.empty())
      addNumbers(op->getLoc(), own);
    if (op->hasAttr(kMicrokernelAttr))
      nest.matmuls.insert(own.begin(), own.end());
    nest.computed.insert(own.begin(), own.end());
    nest.merged.push_back(std::move(own));
    return WalkResult::skip();
  });
  return nest;
}

std::string tell(const Nest &nest, int64_t number) {
  Numbers others = nest.computed;
  others.erase(number);
  if (nest.matmuls.count(number) != 0)
    return kDeepTiled.str();
  if (!nest.matmuls.empty())
    return "in the loops of " + list(nest.matmuls);
  if (nest.isRows)
    return "in blocks of rows" + (others.empty() ? std::string() : " with " + list(others));
  if (!others.empty())
    return "in one loop nest with " + list(others);
  return "a loop nest of its own";
}

struct TellOps : xetile::impl::TellOpsBase<TellOps> {
  void runOnOperation() override {
    std::map<int64_t, std::set<std::string>> told;
    getOperation()->walk([&](func::FuncOp function) {
      if (function.isExternal())
        return;
      for (Operation &top : function.getBody().front()) {
        Nest nest = readNest(&top);
        for (int64_t number : nest.computed)
          told[number].insert(tell(nest, number));
      }
    });
    for (auto &[number, places] : told) {
      // Its copies and what its sums start from may stand elsewhere.
      if (places.count(kDeepTiled.str()))
        places = {kDeepTiled.str()};
      getOperation()->emitRemark() << number << ": " << llvm::join(places, "; ");
    }
  }
};

} // namespace
