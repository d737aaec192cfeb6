//===- HostFeatures.cpp - what of this CPU code may use ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: this CPU's features, a list of the environment. Out: the features without those. Refused, by
// a text: names of the list that LLVM does not know. Nothing is ever added.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/HostFeatures.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

namespace {
struct Found {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::string wrong;
};
} // namespace

static Found findFeatures() {
  Found found;
  std::string list = llvm::sys::Process::GetEnv(xetile::kWithoutVariable).value_or("");
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(list).split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef name : names) {
    name = name.trim();
    if (!found.features.contains(name)) {
      found.wrong = (llvm::Twine(xetile::kWithoutVariable) + "=" + list + ": '" + name +
                     "' is no feature of a CPU; expected LLVM's names with commas between, as "
                     "'avx512f' or 'amx-tile'")
                        .str();
      return found;
    }
    found.features[name] = false;
    llvm::X86::updateImpliedFeatures(name, /*Enabled=*/false, found.features);
  }
  return found;
}

static const Found &found() {
  static const Found result = findFeatures();
  return result;
}

const llvm::StringMap<bool> &xetile::hostFeatures() { return found().features; }

llvm::StringRef xetile::wrongHostFeatures() { return found().wrong; }
