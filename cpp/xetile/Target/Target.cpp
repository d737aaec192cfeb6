//===- Target.cpp - the registry of targets -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: targets, as their rooms register them. Out: one of them, by name.
// Refused: names that no target has; targets that nothing can be compiled for.
#include "xetile/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace xetile;
using llvm::StringRef;

static std::map<std::string, Target> &registry() {
  static std::map<std::string, Target> targets;
  return targets;
}

std::vector<StringRef> TargetOptions::names() const {
  std::vector<StringRef> names;
  for (const auto &entry : OptionsMap)
    names.push_back(entry.first);
  llvm::sort(names);
  return names;
}

StringRef TargetOptions::describe(StringRef name) const {
  auto found = OptionsMap.find(name);
  return found == OptionsMap.end() ? StringRef() : found->second->HelpStr;
}

std::optional<unsigned> Target::findLevel(StringRef level) const {
  for (auto [number, candidate] : llvm::enumerate(levels))
    if (candidate.name == level)
      return number;
  return std::nullopt;
}

void xetile::registerTarget(Target target) {
  std::string name = target.name;
  registry().try_emplace(std::move(name), std::move(target));
}

std::vector<const Target *> xetile::registeredTargets() {
  std::vector<const Target *> targets;
  for (const auto &entry : registry())
    targets.push_back(&entry.second);
  return targets;
}

const Target *xetile::findTilingTarget(StringRef name) {
  auto found = registry().find(name.str());
  bool hasRules = found != registry().end() && found->second.chooseTiling;
  return hasRules ? &found->second : nullptr;
}

const Target *xetile::findAttentionTarget(StringRef name) {
  const Target *target = findTilingTarget(name);
  return target && target->chooseAttention ? target : nullptr;
}

Result<const Target *> xetile::findTarget(StringRef name) {
  auto found = registry().find(name.str());
  if (found == registry().end()) {
    llvm::SmallVector<StringRef> known;
    for (const auto &entry : registry())
      if (entry.second.refusal.empty())
        known.push_back(entry.first);
    return Error("unknown target '" + name + "'; known: " + llvm::join(known, ", "));
  }
  if (!found->second.refusal.empty())
    return Error(found->second.refusal);
  return &found->second;
}
