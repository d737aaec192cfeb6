//===- TargetInfoTest.cpp - print what the device table says ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: questions on stdin, one a line, as in target-info.mlir. Out: an answer for each.
// Refused: questions it does not know, with status 1.
#include "xetile/Facts/TargetInfo.h"
#include <iostream>
#include <sstream>

using namespace xetile;

namespace {

/// The answer to one question, or nothing if it is none.
std::optional<std::string> answer(std::istream &line) {
  std::string what, chip;
  line >> what;
  if (what == "list")
    return listTargets();
  line >> chip;
  if (what == "chip")
    return checkChip(chip).value_or("ok");
  const TargetInfo *target = lookupTarget(chip);
  if (!target)
    return std::nullopt;
  uint64_t n[4] = {};
  std::string flag;
  for (uint64_t &number : n)
    line >> number;
  line.clear();
  line >> flag;
  if (what == "load")
    return target
        ->check2DBlockLoad(n[0], n[1], n[2], n[3], flag == "transpose" || flag == "both",
                           flag == "transform" || flag == "both")
        .value_or("ok");
  if (what == "prefetch")
    return target->check2DBlockPrefetch(n[0], n[1], n[2], n[3]).value_or("ok");
  if (what == "store")
    return target->check2DBlockStore(n[0], n[1], n[2]).value_or("ok");
  if (what == "surface") // width, height, pitch, element bits
    return target->checkSurface(n[0], n[1], n[2], n[3]).value_or("ok");
  if (what == "base")
    return target->checkBaseAlign(n[0]).value_or("ok");
  if (what == "x")
    return target->checkXOffset(n[0], n[1]).value_or("ok");
  if (what == "dpas")
    return target->checkDpas(n[0], n[1], n[2], n[3]).value_or("ok");
  if (what == "subgroups")
    return std::to_string(target->maxSubgroups(/*largeRegisterFile=*/false)) + " " +
           std::to_string(target->maxSubgroups(/*largeRegisterFile=*/true));
  return std::nullopt;
}

} // namespace

int main() {
  std::string text;
  while (std::getline(std::cin, text)) {
    if (text.rfind("// ASK: ", 0) != 0)
      continue;
    std::istringstream line(text.substr(8));
    std::optional<std::string> reply = answer(line);
    if (!reply) {
      std::cerr << "not a question: " << text << "\n";
      return 1;
    }
    std::cout << text.substr(8) << " -> " << *reply << "\n";
  }
}
