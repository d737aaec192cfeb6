//===- PlanBench.cpp - how long planning takes --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: nothing. Out: one line of JSON per operand: its name, nanoseconds per plan.
// Refused: nothing.
#include "xetile/Layout/BlockLoadPlan.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace xetile;

int main() {
  struct Case {
    const char *name;
    DpasOperand operand;
    unsigned elemBits, contiguousDim;
    Shape2D shape;
    BlockAccess access;
  };
  const Case cases[] = {
      {"A f16 256x32", DpasOperand::A, 16, 1, {256, 32}, BlockAccess::Load},
      {"B f16 32x256", DpasOperand::B, 16, 1, {32, 256}, BlockAccess::Load},
      {"B transposed f16 32x256", DpasOperand::B, 16, 0, {32, 256}, BlockAccess::Load},
      {"A transposed f16 256x32", DpasOperand::A, 16, 0, {256, 32}, BlockAccess::Load},
      {"A i8 256x64", DpasOperand::A, 8, 1, {256, 64}, BlockAccess::Load},
      {"C f32 256x256", DpasOperand::C, 32, 1, {256, 256}, BlockAccess::Store},
      {"A f16 256x32 prefetch", DpasOperand::A, 16, 1, {256, 32}, BlockAccess::Prefetch},
  };
  for (const Case &test : cases) {
    PlanRequest request;
    request.target = lookupTarget("pvc");
    request.dpas.warpsPerCTA = {8, 4};
    request.dpas.repCluster = {4, 2};
    if (test.operand != DpasOperand::C)
      request.dpas.opsPerChannel = 32 / test.elemBits;
    request.operand = test.operand;
    request.elemBits = test.elemBits;
    request.shape = test.shape;
    request.contiguousDim = test.contiguousDim;
    request.access = test.access;
    constexpr unsigned runs = 2000;
    uint64_t messages = 0;
    auto start = std::chrono::steady_clock::now();
    for (unsigned run = 0; run < runs; ++run) {
      Result<BlockLoadPlan> plan = planBlockAccess(request);
      if (!plan) {
        llvm::errs() << test.name << ": " << plan.error().message << '\n';
        return 1;
      }
      messages += plan->messages.size();
    }
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    llvm::outs() << "{\"operand\": \"" << test.name << "\", \"messages\": " << messages / runs
                 << ", \"ns_per_plan\": " << uint64_t(time.count() / runs) << "}\n";
  }
  return 0;
}
