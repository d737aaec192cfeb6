//===- ErrorTest.cpp - what is refused, and how it is said --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: requests with one thing wrong. Out: checks that the error names it and what is legal.
// Refused: nothing.
#include "Test.h"
#include "xetile/Layout/LayoutView.h"
#include "xetile/Layout/PlanProof.h"
#include "xetile/Layout/TileMessages.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace xetile;
using namespace xetile::test;

void xetile::test::testErrors(Checks &checks) {
  auto refused = [&](llvm::StringRef part, llvm::function_ref<void(PlanRequest &)> spoil) {
    PlanRequest request;
    request.target = lookupTarget("pvc");
    request.shape = {64, 32};
    spoil(request);
    checks.fails(planBlockAccess(request), part, part);
  };
  using Request = PlanRequest &;
  refused("no target; expected one of pvc, bmg, lnl", [](Request r) { r.target = nullptr; });
  refused("'dg2' (Arc A-Series (Alchemist)) has no 2D block messages",
          [](Request r) { r.target = lookupTarget("dg2"); });
  refused("repeatCount is 3, expected 1, 2, 4 or 8", [](Request r) { r.dpas.repeatCount = 3; });
  refused("repeatCount is 16, expected", [](Request r) { r.dpas.repeatCount = 16; });
  refused("repeatCount is 0, expected", [](Request r) { r.dpas.repeatCount = 0; });
  refused("systolicDepth is 4, expected 8", [](Request r) { r.dpas.systolicDepth = 4; });
  refused("executionSize is 12, expected 8 or 16", [](Request r) { r.dpas.executionSize = 12; });
  refused("opsPerChannel is 0, expected 1, 2, 4 or 8", [](Request r) { r.dpas.opsPerChannel = 0; });
  refused("opsPerChannel is 2, expected 4 for elements of 8 bits",
          [](Request r) { r.elemBits = 8; });
  refused("threadsPerWarp is 32, expected executionSize, which is 16",
          [](Request r) { r.dpas.threadsPerWarp = 32; });
  refused("n of a dpas is 8, expected 16",
          [](Request r) { r.dpas.executionSize = r.dpas.threadsPerWarp = 8; });
  refused("warpsPerCTA[0], subgroups along m, is 3, expected a power of two from 1 to 128",
          [](Request r) { r.dpas.warpsPerCTA = {3, 1}; });
  refused("warpsPerCTA[1], subgroups along n, is 0, expected",
          [](Request r) { r.dpas.warpsPerCTA = {1, 0}; });
  refused("warpsPerCTA[0] * warpsPerCTA[1], subgroups of a workgroup, is 256",
          [](Request r) { r.dpas.warpsPerCTA = {16, 16}; });
  refused("repCluster[1] is 6, expected", [](Request r) { r.dpas.repCluster = {1, 6}; });
  refused("repCluster[0] is 16, expected at most 8 for shape[0] = 64 of A",
          [](Request r) { r.dpas.repCluster = {16, 1}; });
  refused("shape[0] of A is 0, expected a power of two from 8",
          [](Request r) { r.shape = {0, 32}; });
  refused("shape[1] of A is 48, expected a power of two", [](Request r) { r.shape = {64, 48}; });
  refused("shape[1] of A is 8, expected at least the 16 of one DPAS instruction (8x16)",
          [](Request r) { r.shape = {64, 8}; });
  refused("element size of A is 64, expected 4, 8, 16 or 32", [](Request r) { r.elemBits = 64; });
  refused("element size of C is 4, expected 8, 16 or 32", [](Request r) {
    r.operand = DpasOperand::C;
    r.elemBits = 4;
  });
  refused("element size of C is 64, expected 8, 16 or 32", [](Request r) {
    r.operand = DpasOperand::C;
    r.elemBits = 64;
  });
  refused("repeatCount is 1, expected at least 2 for elements of 32 bits", [](Request r) {
    r.dpas.repeatCount = 1;
    r.dpas.opsPerChannel = 1;
    r.elemBits = 32;
  });
  refused("contiguousDim is 2, expected 1", [](Request r) { r.contiguousDim = 2; });
  refused("expected at most the 16384 of its registers", [](Request r) { r.shape = {1024, 256}; });

  refused("alignment of the surface's base is 32 bytes",
          [](Request r) { r.surface.baseAlign = 32; });
  refused("pitch of the surface is 2002 bytes", [](Request r) {
    r.surface.width = 2000;
    r.surface.pitch = 2002;
  });
  refused("width of the surface is 2002 bytes, expected a multiple of 4",
          [](Request r) { r.surface.width = 2002; });
  refused("width of the surface is 32 bytes", [](Request r) { r.surface.width = 32; });
  refused("height of the surface is 0", [](Request r) { r.surface.height = 0; });
  refused("x offset of a 16-bit block is 1", [](Request r) { r.surface.xMultiple = 1; });
  refused("expected multiples of 2", [](Request r) {
    r.contiguousDim = 0;
    r.surface.xMultiple = 1;
  });

  refused("8-bit A with columns contiguous in memory cannot be loaded: a transposing load moves "
          "32-bit words, so that lane l gets neighbours of memory row l, where DPAS wants elements "
          "of 2 memory rows",
          [](Request r) {
            r.elemBits = 8;
            r.dpas.opsPerChannel = 4;
            r.contiguousDim = 0;
          });
  refused("4-bit B with rows contiguous in memory cannot be loaded: transforming loads pack "
          "elements of 8 and 16 bits only",
          [](Request r) {
            r.operand = DpasOperand::B;
            r.elemBits = 4;
            r.dpas.opsPerChannel = 8;
            r.shape = {64, 32};
          });
  refused("2D block stores do not transpose; expected rows contiguous", [](Request r) {
    r.operand = DpasOperand::C;
    r.contiguousDim = 0;
    r.access = BlockAccess::Store;
  });
  refused("the subgroup has only 1 in one message", [](Request r) {
    r.dpas.repeatCount = 1;
    r.shape = {1, 16};
    r.contiguousDim = 0;
  });

  // Tiles of any size, and prefetches of no operand.
  auto tileRefused = [&](llvm::StringRef part, Shape2D shape, BlockAccess access,
                         unsigned elemBits = 16) {
    PlanRequest request;
    request.target = lookupTarget("bmg");
    request.shape = shape;
    request.access = access;
    request.elemBits = elemBits;
    checks.fails(planTile(request), part, part);
  };
  tileRefused("shape[1] of the tile is 0", {8, 0}, BlockAccess::Load);
  tileRefused("shape[0] of A is 4, expected at least the 8 of one DPAS instruction", {12, 16},
              BlockAccess::Load);
  tileRefused("width of a 16-bit 2D block prefetch is 8 elements, expected 16", {8, 8},
              BlockAccess::Prefetch);
  tileRefused("width of a 8-bit 2D block prefetch is 2 elements, expected 16 or 32", {8, 4},
              BlockAccess::Prefetch, 4);
  tileRefused("element size of a prefetch is 24 bits", {8, 16}, BlockAccess::Prefetch, 24);
  tileRefused("shape[0] of a prefetch is 16777216, expected a power of two from 1 to 262144",
              {1 << 24, 32}, BlockAccess::Prefetch);
  tileRefused("messages, expected at most 4096", {1 << 18, 32}, BlockAccess::Prefetch);
  tileRefused("elements take 16777215 times 1 messages, expected at most 1024 in all",
              {(1 << 24) - 1, 32}, BlockAccess::Prefetch);
  PlanRequest unsupported;
  unsupported.target = lookupTarget("dg2");
  unsupported.shape = {8, 32};
  unsupported.access = BlockAccess::Prefetch;
  checks.fails(planTile(unsupported), "has no 2D block messages", "prefetches of dg2");
  unsupported.target = nullptr;
  checks.fails(planTile(unsupported), "no target; expected one of", "no target");

  LinearLayout flat = *LinearLayout::identity(8, "lane", "dim0");
  checks.fails(hardwareView(flat), "expected a layout from register, lane and subgroup", "view");
  checks.fails(tensorView(flat), "expected a layout from register, lane and subgroup", "view");

  PlanRequest request;
  request.target = lookupTarget("pvc");
  request.shape = {8, 16};
  Result<BlockLoadPlan> plan = planBlockAccess(request);
  checks.check(provePlan(request, *plan, {0, 4}).has_value(), "a surface without rows is refused");
  checks.check(provePlan(request, *plan, {8, 16, 0, 0, 1}).has_value(), "subgroup 1 of 1");
  // A wrong plan must not be proven.
  BlockLoadPlan wrong = *plan;
  std::swap(wrong.registers[1], wrong.registers[2]);
  checks.check(provePlan(request, wrong, {64, 64}).has_value(), "swapped registers are found");
  wrong = *plan;
  wrong.messages[0].col = 16;
  checks.check(provePlan(request, wrong, {64, 64}).has_value(), "a shifted message is found");
  wrong = *plan;
  wrong.registers[3] = {1, 0};
  checks.check(provePlan(request, wrong, {64, 64}).has_value(), "a missing message is found");
}
