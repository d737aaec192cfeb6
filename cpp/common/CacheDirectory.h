//===- CacheDirectory.h - where downloads and compiled programs are kept ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For the compiler and the runtime, which share nothing else: the standard library only.
// `cache_dir` of python/xetile/tools.py and `cache` of scripts/common.sh say the same;
// test/python/system/test_cache_dir.py compares them.
#ifndef XETILE_COMMON_CACHEDIRECTORY_H
#define XETILE_COMMON_CACHEDIRECTORY_H

#include <cstdlib>
#include <string>

namespace xetile {

/// The value of an environment variable, "" if it is not set.
inline std::string fromEnvironment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// ${XETILE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/xetile}, or "" if none of these is set. It need
/// not exist.
inline std::string cacheDirectory() {
  if (std::string chosen = fromEnvironment("XETILE_CACHE"); !chosen.empty())
    return chosen;
  if (std::string base = fromEnvironment("XDG_CACHE_HOME"); !base.empty())
    return base + "/xetile";
  if (std::string home = fromEnvironment("HOME"); !home.empty())
    return home + "/.cache/xetile";
  return {};
}

} // namespace xetile

#endif // XETILE_COMMON_CACHEDIRECTORY_H
