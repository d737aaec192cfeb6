// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ProgramCache.h: linked programs on disk.
// Input: a key and a device binary; output: the binary of an earlier process.
// Refused: nothing; an entry that is missing, torn, foreign or no file is a miss, and a directory
// that cannot be written means no cache.
#ifndef XETILE_RUNTIME_PROGRAMCACHE_H
#define XETILE_RUNTIME_PROGRAMCACHE_H

#include "Device.h"

#include <optional>
#include <string>
#include <vector>

namespace xetile::runtime {

/// `programs` in the cache (common/CacheDirectory.h), or "" if there is no cache.
std::string programCacheDirectory();

/// Names the program that linking `builtins` to `spirv` gives on this device: device, driver, the
/// processor's instruction sets and the driver's own settings go into it.
std::string programKey(const DeviceInfo &device, const void *spirv, size_t size,
                       const std::string &builtins);

std::optional<std::vector<unsigned char>> loadProgram(const std::string &key);

/// Two processes may store the same key at once: each writes its own file and renames it.
void storeProgram(const std::string &key, const std::vector<unsigned char> &binary);

/// For an entry that the driver refused.
void dropProgram(const std::string &key);

} // namespace xetile::runtime
#endif
