//===- KernelName.cpp - names that drivers and file systems take ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the name of a kernel. Out: the name of its files.
// Refused: names that are no identifiers, longer ones than a driver was seen to take.
#include "xetile/Target/Xe/Binary/KernelName.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

// 255 bytes is what file systems take; suffixes need some of them.
static constexpr size_t maxFileName = 200, maxName = 1024;

static bool isNameCharacter(char c) {
  return isAlnum(c) || c == '_' || c == '.' || c == '$' || c == '-';
}

std::optional<std::string> xetile::checkKernelName(StringRef name) {
  std::string shown;
  raw_string_ostream stream(shown);
  stream << '\'';
  printEscapedString(name.take_front(64), stream); // bytes of any kind
  stream << (name.size() > 64 ? "...'" : "'");
  if (name.size() > maxName)
    return "has the name " + shown + " of " + std::to_string(name.size()) +
           " bytes, expected at most " + std::to_string(maxName) + ": rename the function";
  if (!name.empty() && (isAlpha(name.front()) || name.front() == '_') &&
      all_of(name, isNameCharacter))
    return std::nullopt;
  return "has the name " + shown +
         ", which drivers do not take; expected a letter or '_', then letters, digits, '_', '-', "
         "'.' and '$': rename the function";
}

std::string xetile::fileNameOfKernel(StringRef name) {
  if (name.size() <= maxFileName)
    return name.str();
  return (name.take_front(maxFileName) + "-" + utohexstr(xxh3_64bits(name))).str();
}
