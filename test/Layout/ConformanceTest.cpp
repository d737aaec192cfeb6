//===- ConformanceTest.cpp - the loads that another implementation chooses ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: Inputs/block_loads.json, DPAS operands and the loads of Triton's XPU backend for them.
// Out: checks that ours are the same, and that they deliver the right registers.
// Refused: a malformed file.
#include "Test.h"
#include "xetile/Layout/PlanProof.h"
#include "llvm/Support/JSON.h"
#include <cstdlib>

using namespace xetile;
using namespace xetile::test;
using llvm::Twine;

namespace {

unsigned number(const llvm::json::Object &object, llvm::StringRef key) {
  std::optional<int64_t> value = object.getInteger(key);
  if (!value) {
    llvm::errs() << "no number '" << key << "' in the conformance file\n";
    std::exit(2);
  }
  return *value;
}

std::array<unsigned, 2> numbers(const llvm::json::Object &object, llvm::StringRef key) {
  const llvm::json::Array *array = object.getArray(key);
  if (!array || array->size() != 2) {
    llvm::errs() << "no pair '" << key << "' in the conformance file\n";
    std::exit(2);
  }
  return {unsigned(*(*array)[0].getAsInteger()), unsigned(*(*array)[1].getAsInteger())};
}

} // namespace

void xetile::test::testConformance(Checks &checks, llvm::StringRef inputs) {
  llvm::Expected<llvm::json::Value> file =
      llvm::json::parse(readFile((inputs + "/block_loads.json").str()));
  if (!file) {
    checks.check(false, llvm::toString(file.takeError()));
    return;
  }
  for (const llvm::json::Value &entry : *file->getAsArray()) {
    const llvm::json::Object &object = *entry.getAsObject(), &dpas = *object.getObject("dpas"),
                             &expect = *object.getObject("expect");
    std::string name = object.getString("name")->str();
    PlanRequest request;
    request.target = lookupTarget("pvc");
    request.dpas.repeatCount = number(dpas, "repeatCount");
    request.dpas.systolicDepth = number(dpas, "systolicDepth");
    request.dpas.executionSize = number(dpas, "executionSize");
    request.dpas.opsPerChannel = number(dpas, "opsPerChannel");
    request.dpas.threadsPerWarp = number(dpas, "threadsPerWarp");
    request.dpas.warpsPerCTA = numbers(dpas, "warpsPerCTA");
    request.dpas.repCluster = numbers(dpas, "repCluster");
    llvm::StringRef operand = *object.getString("operand");
    request.operand = operand == "A"   ? DpasOperand::A
                      : operand == "B" ? DpasOperand::B
                                       : DpasOperand::C;
    request.elemBits = number(object, "element_bits");
    std::array<unsigned, 2> shape = numbers(object, "shape");
    request.shape = {shape[0], shape[1]};
    request.contiguousDim = number(object, "contiguous_dim");
    request.oneMatrixPerLoad = *object.getBoolean("one_matrix_per_load");
    Result<BlockLoadPlan> plan = planBlockAccess(request);
    if (!checks.ok(plan, name))
      continue;
    BlockShape want = {number(expect, "element_bits"),  number(expect, "width"),
                       number(expect, "height"),        number(expect, "blocks"),
                       *expect.getBoolean("transpose"), *expect.getBoolean("vnni")};
    const BlockShape &got = plan->shape;
    checks.check(got == want && plan->messages.size() == number(expect, "count"),
                 name + ": got " + Twine(plan->messages.size()) + " of d" + Twine(got.elemBits) +
                     " " + Twine(got.width) + "x" + Twine(got.height) + "x" + Twine(got.blocks) +
                     (got.transpose ? " transpose" : "") + (got.transform ? " transform" : ""));
    for (unsigned subgroup = 0; subgroup < request.dpas.subgroups(); ++subgroup)
      if (auto error = provePlan(request, *plan, {512, 512, 16, 32, subgroup}))
        checks.check(false, name + ": " + error->message);
      else
        checks.check(true, name);
  }
}
