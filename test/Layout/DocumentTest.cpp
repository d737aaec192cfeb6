//===- DocumentTest.cpp - the published example, number by number -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the tables of the Intel Triton backend's "Using Linear Layout for Intel 2D Block Loads".
// Out: checks that views and layouts print the same, with three errors of that text put right.
// Refused: nothing.
#include "Test.h"
#include "xetile/Layout/LayoutView.h"

using namespace xetile;
using namespace xetile::test;

namespace {

PlanRequest documentRequest(DpasOperand operand, unsigned contiguousDim) {
  PlanRequest request;
  request.target = lookupTarget("pvc");
  request.dpas.warpsPerCTA = {8, 4};
  request.dpas.repCluster = {4, 2};
  request.operand = operand;
  request.shape = operand == DpasOperand::A ? Shape2D{256, 32} : Shape2D{32, 256};
  request.contiguousDim = contiguousDim;
  return request;
}

void testLayouts(Checks &checks, const PlanRequest &request, const char *name, const char *tile,
                 const char *iterations, const char *loads) {
  Result<BlockLoadPlan> plan = planBlockAccess(request);
  if (!checks.ok(plan, name))
    return;
  Result<BlockLayouts> layouts = blockLayouts(request, *plan);
  if (!checks.ok(layouts, name))
    return;
  checks.same(layouts->tile.str(), tile, name);
  checks.same(layouts->iterations.str(), iterations, name);
  checks.same(layouts->loads.str(), loads, name);
}

#define OFFSETS_8X16                                                                               \
  " - offset=1 -> (0, 1)\n   offset=2 -> (0, 2)\n   offset=4 -> (0, 4)\n   offset=8 -> (0, 8)\n"   \
  "   offset=16 -> (1, 0)\n   offset=32 -> (2, 0)\n   offset=64 -> (4, 0)\n"
#define OFFSETS_16X8                                                                               \
  " - offset=1 -> (0, 1)\n   offset=2 -> (0, 2)\n   offset=4 -> (0, 4)\n   offset=8 -> (1, 0)\n"   \
  "   offset=16 -> (2, 0)\n   offset=32 -> (4, 0)\n   offset=64 -> (8, 0)\n"
#define OUT_DIMS(ROWS, COLS) "where out dims are: [dim0 (size " #ROWS "), dim1 (size " #COLS ")]\n"
#define A_ITERATIONS                                                                               \
  " - iteration=1 -> (8, 0)\n   iteration=2 -> (16, 0)\n   iteration=4 -> (0, 16)\n"
#define B_ITERATIONS " - iteration=1 -> (0, 16)\n   iteration=2 -> (8, 0)\n"
#define BT_ITERATIONS " - iteration=1 -> (16, 0)\n"

} // namespace

void xetile::test::testDocument(Checks &checks, llvm::StringRef inputs) {
  PlanRequest a = documentRequest(DpasOperand::A, 1), b = documentRequest(DpasOperand::B, 1),
              bt = documentRequest(DpasOperand::B, 0);
  for (auto [request, file] : {std::pair(a, "/warp0-a.txt"), std::pair(b, "/warp0-b.txt")}) {
    Result<LinearLayout> layout =
        dpasLayout(request.dpas, request.operand, request.elemBits, request.shape);
    if (!checks.ok(layout, file))
      continue;
    Result<std::string> view = hardwareView(*layout, 0);
    if (checks.ok(view, file))
      checks.same(*view, readFile((inputs + file).str()), file);
  }
  testLayouts(checks, a, "A", OFFSETS_8X16 OUT_DIMS(8, 16),
              OFFSETS_8X16 A_ITERATIONS OUT_DIMS(32, 32),
              OFFSETS_8X16 A_ITERATIONS " - load is a size 1 dimension\n" OUT_DIMS(32, 32));
  // The text repeats A's iterations for B, and swaps the axes of B's loads.
  testLayouts(checks, b, "B", OFFSETS_8X16 OUT_DIMS(8, 16),
              OFFSETS_8X16 B_ITERATIONS OUT_DIMS(16, 32),
              OFFSETS_8X16 B_ITERATIONS " - load=1 -> (0, 128)\n" OUT_DIMS(16, 256));
  // The text counts BT's first load step in 16-bit elements, all else in 32-bit ones.
  testLayouts(
      checks, bt, "BT", OFFSETS_16X8 OUT_DIMS(16, 8), OFFSETS_16X8 BT_ITERATIONS OUT_DIMS(32, 8),
      OFFSETS_16X8 BT_ITERATIONS " - load=1 -> (0, 8)\n   load=2 -> (128, 0)\n" OUT_DIMS(256, 16));
}
