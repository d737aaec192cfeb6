//===- Main.cpp - xetile-layout-test SECTION [--inputs DIR] [--cases N] [--seed N] -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a section's name. Out: how many checks ran; status 1 if one failed, with the seed to repeat
// it. Refused: unknown sections and options.
#include "Test.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdlib>

using namespace xetile::test;
using llvm::StringRef;

std::string xetile::test::readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    llvm::errs() << "cannot read " << path << '\n';
    std::exit(2);
  }
  return (*buffer)->getBuffer().str();
}

int main(int count, char **arguments) {
  StringRef section = count > 1 ? arguments[1] : "", inputs;
  uint64_t cases = 20000, seed = std::random_device{}();
  for (int i = 2; i + 1 < count; i += 2) {
    StringRef option = arguments[i], value = arguments[i + 1];
    if (option == "--inputs")
      inputs = value;
    else if ((option != "--cases" || value.getAsInteger(10, cases)) &&
             (option != "--seed" || value.getAsInteger(10, seed)))
      section = "";
  }
  Checks checks;
  std::mt19937_64 random(seed);
  if (section == "algebra") {
    testAlgebra(checks, random);
  } else if (section == "dpas") {
    testDpas(checks);
  } else if (section == "document") {
    testDocument(checks, inputs);
  } else if (section == "conformance") {
    testConformance(checks, inputs);
  } else if (section == "errors") {
    testErrors(checks);
  } else if (section == "properties") {
    testProperties(checks, random, cases);
  } else {
    llvm::errs() << "usage: xetile-layout-test "
                    "algebra|dpas|document|conformance|errors|properties [--inputs DIR] "
                    "[--cases N] [--seed N]\n";
    return 2;
  }
  llvm::outs() << section << ": " << checks.run << " checks, " << checks.failed << " failed, seed "
               << seed << '\n';
  return checks.failed || !checks.run ? 1 : 0;
}
