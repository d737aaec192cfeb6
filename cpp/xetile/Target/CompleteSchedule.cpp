//===- CompleteSchedule.cpp - the parts and libraries of a schedule ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a schedule that declares sequences. Out: the same with their definitions.
// Refused: files of parts that do not parse or merge.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/IR/Utils.h"
#include "mlir/Parser/Parser.h"
#include "xetile/Target/Schedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <set>

using namespace mlir;
using transform::NamedSequenceOp;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

std::string join(StringRef folder, StringRef name, StringRef last = "") {
  SmallString<128> place(folder);
  path::append(place, name, last);
  return place.str().str();
}

/// The package's schedules: beside what this code is part of, installed or in a build tree.
const std::string &packageFolder() {
  static const std::string folder = [] {
    Dl_info self;
    SmallString<128> binary;
    void *own = reinterpret_cast<void *>(&xetile::isPackagedSchedule);
    if (!dladdr(own, &self))
      return std::string();
    // A program has the name that it was called by, which PATH led to.
    bool isPath = StringRef(self.dli_fname).contains('/');
    if (fs::real_path(isPath ? self.dli_fname : fs::getMainExecutable(nullptr, own), binary))
      return std::string();
    StringRef near = path::parent_path(binary);
    for (StringRef way : {"../schedules", "../../schedules", "../python_packages/xetile/schedules"})
      if (std::string found = join(near, way); fs::is_directory(join(found, "parts")))
        return found;
    return std::string();
  }();
  return folder;
}

/// Where the first of `folders`, else the package, has a file.
std::string findFile(ArrayRef<std::string> folders, StringRef below, StringRef name) {
  auto found = [&](StringRef folder) {
    std::string file = join(folder, below, (name + ".mlir").str());
    return fs::is_regular_file(file) ? file : std::string();
  };
  for (const std::string &folder : folders)
    if (std::string file = found(folder); !file.empty())
      return file;
  return packageFolder().empty() ? std::string() : found(packageFolder());
}

void addNames(StringRef folder, std::set<std::string> &names) {
  std::error_code error;
  for (fs::directory_iterator entry(join(folder, "parts"), error), end; entry != end && !error;
       entry.increment(error))
    if (path::extension(entry->path()) == ".mlir")
      names.insert(path::stem(entry->path()).str());
}

LogicalResult merge(ModuleOp schedule, const std::string &file) {
  OwningOpRef<ModuleOp> part = parseSourceFile<ModuleOp>(file, ParserConfig(schedule.getContext()));
  if (!part)
    return emitError(FileLineColLoc::get(schedule.getContext(), file, 0, 0))
           << "cannot read this part of the schedule";
  InFlightDiagnostic merged =
      transform::detail::mergeSymbolsInto(schedule, OwningOpRef<Operation *>(part.release()));
  if (succeeded(LogicalResult(merged))) {
    merged.abandon();
    return success();
  }
  merged.attachNote(FileLineColLoc::get(schedule.getContext(), file, 0, 0))
      << "while this part was added";
  return failure();
}

} // namespace

SmallVector<std::string> xetile::foldersOf(ArrayRef<std::string> files) {
  SmallVector<std::string> folders;
  for (const std::string &file : files)
    if (fs::is_regular_file(file)) {
      StringRef folder = path::parent_path(file);
      folders.push_back(folder.empty() ? "." : folder.str());
    }
  return folders;
}

bool xetile::isPackagedSchedule(StringRef file) {
  SmallString<128> real, package;
  return !packageFolder().empty() && !fs::real_path(file, real) &&
         !fs::real_path(packageFolder(), package) && real.starts_with((package + "/").str());
}

LogicalResult xetile::completeSchedule(ModuleOp schedule, ArrayRef<std::string> folders) {
  llvm::StringSet<> own;
  for (auto sequence : schedule.getOps<NamedSequenceOp>())
    if (!sequence.isExternal())
      own.insert(sequence.getSymName());

  std::set<std::string> names; // in one order on every machine
  for (const std::string &folder : folders)
    addNames(folder, names);
  addNames(packageFolder(), names);
  for (const std::string &name : names)
    if (!own.contains(name))
      if (std::string file = findFile(folders, "parts", name); !file.empty())
        if (failed(merge(schedule, file)))
          return failure();

  // Merged sequences may declare more.
  llvm::StringSet<> tried;
  for (bool added = true; added;) {
    added = false;
    SmallVector<std::string> declared;
    for (auto sequence : schedule.getOps<NamedSequenceOp>())
      if (sequence.isExternal() && tried.insert(sequence.getSymName()).second)
        declared.push_back(sequence.getSymName().str());
    for (const std::string &name : declared)
      if (std::string file = findFile(folders, "", name); !file.empty()) {
        if (failed(merge(schedule, file)))
          return failure();
        added = true;
      }
  }
  return success();
}
