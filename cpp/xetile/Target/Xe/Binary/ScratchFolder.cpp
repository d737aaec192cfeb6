//===- ScratchFolder.cpp - a temporary folder, removed in any case ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the beginning of its name. Out: a folder of our own.
// Refused: a place for temporary files that cannot be written.
#include "xetile/Target/Xe/Binary/ScratchFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace xetile;

namespace {

/// A folder is locked right after it was made; one that is younger may be about to be.
constexpr time_t kSettledSeconds = 60;

/// The folder's descriptor with its lock, -1 if another process has it or it is not ours.
int lockFolder(const char *path) {
  int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

void removeLeftovers(StringRef place, StringRef prefix) {
  std::error_code code;
  for (sys::fs::directory_iterator entry(place, code, /*follow_symlinks=*/false), end;
       !code && entry != end; entry.increment(code)) {
    if (!sys::path::filename(entry->path()).starts_with(prefix))
      continue;
    struct stat status;
    if (lstat(entry->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid() || time(nullptr) - status.st_mtime < kSettledSeconds)
      continue;
    int lock = lockFolder(entry->path().c_str());
    if (lock < 0)
      continue;
    sys::fs::remove_directories(entry->path());
    close(lock);
  }
}

} // namespace

ScratchFolder::ScratchFolder(StringRef prefix) {
  SmallString<128> place, model;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, place);
  sys::fs::make_absolute(place);
  static std::once_flag once;
  std::call_once(once, [&] { removeLeftovers(place, (prefix + "-").str()); });
  model = place;
  sys::path::append(model, prefix + "-%%%%%%%%");
  int failed = EEXIST;
  for (int attempt = 0; attempt < 100 && failed == EEXIST; ++attempt) {
    SmallString<128> path;
    sys::fs::createUniquePath(model, path, /*MakeAbsolute=*/false);
    if (mkdir(path.c_str(), 0700) == 0) {
      directory = path.str();
      lock = lockFolder(path.c_str());
      return;
    }
    failed = errno;
  }
  error = ("cannot make a temporary folder in " + place +
           " (TMPDIR): " + std::error_code(failed, std::generic_category()).message())
              .str();
}

ScratchFolder::~ScratchFolder() {
  if (!directory.empty())
    sys::fs::remove_directories(directory);
  if (lock >= 0)
    close(lock);
}

std::string ScratchFolder::file(StringRef name) const { return directory + "/" + name.str(); }
