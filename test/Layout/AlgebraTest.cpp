//===- AlgebraTest.cpp - the laws of linear layouts --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: random layouts. Out: checks that operations agree with applying maps index by index.
// Refused: nothing.
#include "Test.h"
#include "llvm/ADT/STLExtras.h"
#include <vector>

using namespace xetile;
using namespace xetile::test;

namespace {

LinearLayout randomLayout(std::mt19937_64 &random, llvm::ArrayRef<unsigned> inBits,
                          llvm::ArrayRef<std::pair<llvm::StringRef, uint64_t>> outs) {
  std::vector<LinearLayout::Input> ins;
  const char *names[] = {"register", "lane", "subgroup"};
  for (auto [index, bits] : llvm::enumerate(inBits)) {
    LinearLayout::Input in = {names[index], {}};
    for (unsigned bit = 0; bit < bits; ++bit) {
      LinearLayout::Coordinates basis;
      for (auto [name, size] : outs)
        basis.push_back(random() % size);
      in.bases.push_back(basis);
    }
    ins.push_back(in);
  }
  return *LinearLayout::create(ins, outs, /*requireSurjective=*/false);
}

void testOperations(Checks &checks, std::mt19937_64 &random) {
  using Outs = llvm::SmallVector<std::pair<llvm::StringRef, uint64_t>, 4>;
  Outs outs = {{"dim0", uint64_t(1) << random() % 4}, {"dim1", uint64_t(1) << random() % 4}};
  LinearLayout inner = randomLayout(random, {unsigned(random() % 4), unsigned(random() % 4)}, outs);
  LinearLayout outer = randomLayout(random, {3, 3}, {{"row", 16}, {"col", 8}});
  // As a map from what `inner` gives: rename by hand, through create.
  std::vector<LinearLayout::Input> ins = {{"dim0", {}}, {"dim1", {}}};
  for (unsigned bit = 0; bit < 3; ++bit) {
    ins[0].bases.push_back(outer.basis("register", bit));
    ins[1].bases.push_back(outer.basis("lane", bit));
  }
  LinearLayout map = *LinearLayout::create(ins, {{"row", 16}, {"col", 8}}, false);
  Result<LinearLayout> composed = inner.compose(map);
  checks.ok(composed, "compose");
  Result<LinearLayout> product = inner.product(outer);
  checks.ok(product, "product");

  uint64_t registers = inner.inSize("register"), lanes = inner.inSize("lane");
  for (uint64_t reg = 0; reg < registers; ++reg)
    for (uint64_t lane = 0; lane < lanes; ++lane) {
      auto at = inner.apply({{"register", reg}, {"lane", lane}});
      auto byName = map.apply({{"dim1", (*at)[1]}, {"dim0", (*at)[0]}});
      auto whole = composed->apply({{"lane", lane}, {"register", reg}});
      checks.check(byName && whole && *byName == *whole, "compose is application twice");
      // In a product the second factor has the high bits of shared inputs.
      uint64_t highReg = random() % 8, highLane = random() % 8;
      auto both = product->apply(
          {{"register", reg + registers * highReg}, {"lane", lane + lanes * highLane}});
      auto high = outer.apply({{"register", highReg}, {"lane", highLane}});
      LinearLayout::Coordinates want = *at;
      want.append(*high);
      checks.check(*both == want, "a product applies its factors to low and high bits");
    }

  // x -> inner(x) -> some y with target(y) = inner(x).
  LinearLayout target = randomLayout(random, {4, 4}, outs);
  Result<LinearLayout> solved = inner.invertAndCompose(target);
  if (solved) {
    Result<LinearLayout> back = solved->compose(target);
    checks.check(back && *back == inner, "invert-and-compose solves outer(X) = inner");
  } else {
    checks.check(!target.isSurjective(), "a surjective layout can always be inverted");
  }
  std::vector<bool> reached(uint64_t(1) << inner.outBits());
  uint64_t images = 0;
  for (uint64_t index = 0; index >> inner.inBits() == 0; ++index)
    if (!reached[inner.apply(index)]) {
      reached[inner.apply(index)] = true;
      ++images;
    }
  checks.check(images == uint64_t(1) << inner.rank(), "the image has 2^rank elements");
  checks.check(inner.isSurjective() == (images == reached.size()), "surjective");
  checks.check(inner.isInjective() == (images >> inner.inBits() == 1), "injective");

  Result<LinearLayout> part = inner.sublayout({"lane"}, {"dim1"});
  for (uint64_t lane = 0; lane < lanes; ++lane)
    checks.check((*part->apply({{"lane", lane}}))[0] ==
                     (*inner.apply({{"register", 0}, {"lane", lane}}))[1],
                 "a sublayout drops the rest");
  Result<LinearLayout> grown = inner.withOutSize("dim0", 64);
  for (uint64_t index = 0; index >> inner.inBits() == 0; ++index)
    checks.check(grown->unpackOut(grown->apply(index)) == inner.unpackOut(inner.apply(index)),
                 "a larger output dimension keeps the map");
}

} // namespace

void xetile::test::testAlgebra(Checks &checks, std::mt19937_64 &random) {
  for (unsigned i = 0; i < 500; ++i)
    testOperations(checks, random);

  LinearLayout nothing;
  LinearLayout id = *LinearLayout::identity(8, "lane", "dim0");
  checks.check(*nothing.product(id) == id && *id.product(nothing) == id, "neutral factor");
  LinearLayout copy = id;
  checks.check(copy == id && *id.withOutSize("dim0", 16) != id, "equality");
  checks.same(LinearLayout::zeros(2, "lane", "dim0")->str(),
              " - lane=1 -> (0)\nwhere out dims are: [dim0 (size 1)]\n", "zeros");
  checks.same(LinearLayout::identity(1, "load", "dim0")->str(),
              " - load is a size 1 dimension\nwhere out dims are: [dim0 (size 1)]\n", "size 1");

  checks.fails(LinearLayout::identity(6, "lane", "dim0"), "is 6, expected a power of two",
               "size 6");
  checks.fails(LinearLayout::identity(0, "lane", "dim0"), "is 0, expected a power of two",
               "size 0");
  checks.fails(LinearLayout::create({{"a", {{1}}}, {"a", {{2}}}}, {{"x", 4}}), "comes twice",
               "repeated input");
  checks.fails(LinearLayout::create({{"a", {{1}}}}, {{"x", 4}}), "reach only 2^1 of 2^2",
               "not surjective");
  checks.fails(LinearLayout::create({{"a", {{4}}}}, {{"x", 4}}), "expected 0 to 3", "range");
  checks.fails(LinearLayout::create({{"a", {{1, 0}}}}, {{"x", 2}}), "has 2 coordinates",
               "too many coordinates");
  checks.fails(LinearLayout::identity(uint64_t(1) << 40, "a", "x")
                   ->product(*LinearLayout::identity(uint64_t(1) << 40, "b", "y")),
               "bits in all", "more than 63 bits");
  checks.fails(id.apply({{"lane", 8}}), "expected 0 to 7", "index out of range");
  checks.fails(id.apply({{"warp", 1}}), "no input dimension 'warp'; there is lane", "unknown name");
  checks.fails(id.compose(id), "no input dimension 'dim0'", "compose with other names");
  checks.fails(id.sublayout({"lane"}, {"dim7"}), "no output dimension 'dim7'", "unknown output");
  checks.fails(id.withOutSize("dim0", 4), "expected at least 8", "shrinking");
  checks.fails(id.invertAndCompose(*LinearLayout::zeros(8, "r", "dim0")), "expected at least 8",
               "too small to invert");
}
