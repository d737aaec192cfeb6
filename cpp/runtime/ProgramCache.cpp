// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ProgramCache.cpp: linked programs on disk.
// Input: a key and a device binary; output: the binary of an earlier process.
// Refused: nothing; entries that are torn, corrupt, of another format or another user, or no files
// at all, are misses with a note on stderr, and replaced where that is possible.
#include "ProgramCache.h"

#include "Sha256.h"
#include "common/CacheDirectory.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
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
constexpr off_t maxEntrySize = 1 << 30;

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

class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return number; }

private:
  int number;
};

void note(const fs::path &path, const std::string &what) {
  std::fprintf(stderr, "xetile runtime: note: the cache entry %s %s; the kernel is built anew\n",
               path.c_str(), what.c_str());
}

bool readAll(int file, void *data, size_t size) {
  auto *to = static_cast<char *>(data);
  while (size) {
    ssize_t count = read(file, to, size);
    if (count == 0 || (count < 0 && errno != EINTR))
      return false;
    if (count > 0) {
      to += count;
      size -= static_cast<size_t>(count);
    }
  }
  return true;
}

bool writeAll(int file, const void *data, size_t size) {
  auto *from = static_cast<const char *>(data);
  while (size) {
    ssize_t count = write(file, from, size);
    if (count < 0 && errno != EINTR)
      return false;
    if (count > 0) {
      from += count;
      size -= static_cast<size_t>(count);
    }
  }
  return true;
}

std::optional<std::vector<unsigned char>> readEntry(int file, off_t size) {
  constexpr size_t start = headerSize + hashSize + 1;
  char head[start];
  if (size <= off_t(start) || size > maxEntrySize || !readAll(file, head, start) ||
      std::memcmp(head, header, headerSize) != 0)
    return std::nullopt;
  std::vector<unsigned char> binary(static_cast<size_t>(size) - start);
  if (!readAll(file, binary.data(), binary.size()) ||
      sha256(binary.data(), binary.size()) != std::string(head + headerSize, hashSize))
    return std::nullopt;
  return binary;
}

fs::path entryPath(const std::string &key) {
  std::string directory = programCacheDirectory();
  return directory.empty() ? fs::path() : fs::path(directory) / (key + ".bin");
}

} // namespace

std::string programCacheDirectory() {
  std::string cache = cacheDirectory();
  return cache.empty() ? cache : cache + "/programs";
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
  if (path.empty())
    return std::nullopt;
  // Neither waits for a FIFO's writer nor follows links out of the cache.
  Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno != ENOENT && errno != ENOTDIR)
      note(path, errno == ELOOP ? "is a symbolic link" : std::strerror(errno));
    return std::nullopt;
  }
  struct stat status;
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    note(path, S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file");
    return std::nullopt;
  }
  // Its files are executed: only our own, and the administrator's.
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    note(path, "belongs to another user");
    return std::nullopt;
  }
  std::optional<std::vector<unsigned char>> program = readEntry(file.get(), status.st_size);
  if (!program)
    note(path, "is damaged");
  return program;
}

void storeProgram(const std::string &key, const std::vector<unsigned char> &binary) {
  fs::path path = entryPath(key);
  std::error_code failed;
  if (path.empty() || (fs::create_directories(path.parent_path(), failed), failed))
    return;
  static std::atomic<unsigned> serial{0};
  fs::path temporary = path;
  temporary += "." + std::to_string(getpid()) + "." + std::to_string(serial++) + ".tmp";
  // A process of the same number may have left one.
  unlink(temporary.c_str());
  std::string head = header + sha256(binary.data(), binary.size()) + "\n";
  bool written = false;
  {
    Descriptor file(
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (file.get() < 0)
      return;
    written = writeAll(file.get(), head.data(), head.size()) &&
              writeAll(file.get(), binary.data(), binary.size());
  }
  if (written && rename(temporary.c_str(), path.c_str()) == 0)
    return;
  // An empty directory may go; one with files in it is somebody's, and has been noted.
  if (written && (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST) &&
      rmdir(path.c_str()) == 0 && rename(temporary.c_str(), path.c_str()) == 0)
    return;
  unlink(temporary.c_str());
}

void dropProgram(const std::string &key) {
  std::error_code ignored;
  if (fs::path path = entryPath(key); !path.empty())
    fs::remove(path, ignored);
}

} // namespace xetile::runtime
