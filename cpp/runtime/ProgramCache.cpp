// ProgramCache.cpp: linked programs on disk.
// Input: a key and a device binary; output: the binary of an earlier process.
// Refused: nothing; entries that are torn, corrupt or of another format are misses.
#include "ProgramCache.h"

#include "Sha256.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

extern char **environ;

namespace xetile::runtime {
namespace fs = std::filesystem;
namespace {

// An entry is this line, the SHA-256 of the binary in hexadecimal, a newline, the binary.
constexpr const char header[] = "xetile program 1\n";
constexpr size_t headerSize = sizeof header - 1, hashSize = 64;

std::string fromEnvironment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

// A home directory may be shared by machines that report the same device name and have different
// instruction sets.
std::string processorFeatures() {
  std::string text;
#if defined(__x86_64__)
  for (unsigned leaf : {1u, 7u}) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(leaf, 0, &a, &b, &c, &d))
      continue;
    // EBX of leaf 1 holds the number of the processor that happens to run this.
    text += std::to_string(leaf == 1 ? a : 0) + "," + std::to_string(leaf == 1 ? 0 : b) + "," +
            std::to_string(c) + "," + std::to_string(d) + ";";
  }
#endif
  return text;
}

// CL_CONFIG_* steer Intel's CPU compiler.
std::string driverSettings() {
  std::vector<std::string> settings;
  for (char **entry = environ; entry && *entry; ++entry)
    if (std::strncmp(*entry, "CL_CONFIG_", 10) == 0)
      settings.push_back(*entry);
  std::sort(settings.begin(), settings.end());
  std::string text;
  for (const std::string &setting : settings)
    text += setting + "\n";
  return text;
}

fs::path entryPath(const std::string &key) {
  std::string directory = programCacheDirectory();
  return directory.empty() ? fs::path() : fs::path(directory) / (key + ".bin");
}

} // namespace

std::string programCacheDirectory() {
  if (std::string chosen = fromEnvironment("XETILE_CACHE"); !chosen.empty())
    return (fs::path(chosen) / "programs").string();
  if (std::string base = fromEnvironment("XDG_CACHE_HOME"); !base.empty())
    return (fs::path(base) / "xetile" / "programs").string();
  if (std::string home = fromEnvironment("HOME"); !home.empty())
    return (fs::path(home) / ".cache" / "xetile" / "programs").string();
  return {};
}

std::string programKey(const DeviceInfo &device, const void *spirv, size_t size,
                       const std::string &builtins) {
  std::string parts = std::string(header) + device.name + "\n" + device.platformName + "\n" +
                      device.driver + "\n" + device.version + "\n" +
                      (device.isCpu() ? processorFeatures() : "") + "\n" + driverSettings() + "\n" +
                      sha256(builtins.data(), builtins.size()) + "\n" + sha256(spirv, size);
  return sha256(parts.data(), parts.size());
}

std::optional<std::vector<unsigned char>> loadProgram(const std::string &key) {
  fs::path path = entryPath(key);
  std::ifstream file(path, std::ios::binary);
  if (path.empty() || !file)
    return std::nullopt;
  std::vector<char> entry((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  size_t start = headerSize + hashSize + 1;
  if (entry.size() <= start || std::memcmp(entry.data(), header, headerSize) != 0)
    return std::nullopt;
  std::string expected(entry.data() + headerSize, hashSize);
  if (sha256(entry.data() + start, entry.size() - start) != expected)
    return std::nullopt;
  return std::vector<unsigned char>(entry.begin() + static_cast<std::ptrdiff_t>(start),
                                    entry.end());
}

void storeProgram(const std::string &key, const std::vector<unsigned char> &binary) {
  fs::path path = entryPath(key);
  std::error_code failed;
  if (path.empty() || (fs::create_directories(path.parent_path(), failed), failed))
    return;
  static std::atomic<unsigned> serial{0};
  fs::path temporary = path;
  temporary += "." + std::to_string(getpid()) + "." + std::to_string(serial++) + ".tmp";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << header << sha256(binary.data(), binary.size()) << '\n';
    file.write(reinterpret_cast<const char *>(binary.data()),
               static_cast<std::streamsize>(binary.size()));
    file.close();
    if (!file) {
      fs::remove(temporary, failed);
      return;
    }
  }
  fs::rename(temporary, path, failed);
  if (failed)
    fs::remove(temporary, failed);
}

void dropProgram(const std::string &key) {
  std::error_code ignored;
  if (fs::path path = entryPath(key); !path.empty())
    fs::remove(path, ignored);
}

} // namespace xetile::runtime
