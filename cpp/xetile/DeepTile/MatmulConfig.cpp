//===- MatmulConfig.cpp - the fields of a matmul configuration ---------------===//
// In: field numbers and values. Out: a MatmulConfig. Nothing is refused here: the attribute's
// verifier and the rewrite judge values.
//===----------------------------------------------------------------------===//
#include "xetile/DeepTile/MatmulConfig.h"

using namespace xetile;

llvm::ArrayRef<llvm::StringLiteral> MatmulConfig::fieldNames() {
  static constexpr llvm::StringLiteral names[kNumFields] = {
      "MThreads", "NThreads",        "KThreads",        "MBlock",          "NBlock",
      "KBlock",   "innermostMBlock", "innermostNBlock", "innermostKBlock", "loopOrder"};
  return names;
}

int64_t MatmulConfig::get(unsigned field) const {
  const std::array<int64_t, 3> *groups[] = {&threads, &block, &innermost};
  return field < 9 ? (*groups[field / 3])[field % 3] : loopOrder;
}

void MatmulConfig::set(unsigned field, int64_t value) {
  std::array<int64_t, 3> *groups[] = {&threads, &block, &innermost};
  (field < 9 ? (*groups[field / 3])[field % 3] : loopOrder) = value;
}

std::array<MatmulDim, 3> MatmulConfig::middleLoops() const {
  static constexpr std::array<MatmulDim, 3> orders[kNumLoopOrders] = {
      {kM, kN, kK}, {kM, kK, kN}, {kN, kM, kK}, {kN, kK, kM}, {kK, kM, kN}, {kK, kN, kM}};
  return orders[loopOrder];
}
