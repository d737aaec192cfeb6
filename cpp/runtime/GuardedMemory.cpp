// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GuardedMemory.cpp: memory between pages that nobody may touch, for XETILE_CHECK.
// Input: sizes; output: poisoned memory, and the first access outside of it. Refused: nothing; an
// access to a guard is recorded, the guard is opened, and the kernel goes on.
//
// The handler of SIGSEGV runs on the driver's threads: it takes no lock, allocates nothing, and
// reads a table whose entries are complete before they can be seen.
#include "GuardedMemory.h"

#include "Errors.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <ucontext.h>
#endif

namespace xetile::runtime {
namespace {

constexpr size_t alignment = 64;
constexpr unsigned char poison = 0xff;
constexpr size_t hugePage = size_t(2) << 20;

struct Region {
  std::atomic<bool> used{false}, opened{false};
  /// One that is not used may be kept; else it is null.
  unsigned char *mapping = nullptr, *pages = nullptr, *data = nullptr;
  /// True if the pages can be accessed; the guards on both sides cannot.
  bool accessible = false;
  Fill fill = Fill::All;
  size_t mapped = 0, pageBytes = 0, size = 0;
  unsigned char front = poison;
};
constexpr size_t maxRegions = 1024;
Region regions[maxRegions];
/// Those behind were never used.
std::atomic<size_t> regionCount{0};
struct Regions {
  Region *begin() const { return regions; }
  Region *end() const { return regions + regionCount.load(std::memory_order_acquire); }
};
std::mutex &tableMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

/// Bytes of regions that are kept: pages of a new mapping cost more than a kernel that reads them.
size_t keptBytes = 0;
constexpr size_t mostKept = size_t(1) << 30;

/// True if nobody asks for the content.
bool isShadow(Fill fill) { return fill == Fill::ToRead || fill == Fill::ToWrite; }

/// Its own memory: of a shadow, entries of 8 bytes that map pages of 4 KiB.
size_t ownBytes(const Region &region) {
  return isShadow(region.fill) ? region.pageBytes / 512 : region.pageBytes;
}

struct Fault {
  std::atomic<int> state{0}; // 1 while it is written, 2 when it is complete
  size_t region = 0;
  uintptr_t address = 0;
  bool isWrite = false;
};
Fault fault;

struct sigaction previous;
size_t watches = 0;
std::atomic<const char *> running{nullptr};

size_t roundUp(size_t value, size_t to) { return (value + to - 1) / to * to; }

/// Calls it with the begin and the bytes of each of the two.
template <typename Call> void forGuards(const Region &region, Call call) {
  unsigned char *end = region.pages + region.pageBytes;
  call(region.mapping, static_cast<size_t>(region.pages - region.mapping));
  call(end, static_cast<size_t>(region.mapping + region.mapped - end));
}

void openGuards(Region &region) {
  region.opened = true;
  forGuards(region, [](unsigned char *guard, size_t bytes) {
    mprotect(guard, bytes, PROT_READ | PROT_WRITE);
  });
}

void closeGuards(Region &region) {
  forGuards(region, [](unsigned char *guard, size_t bytes) {
    mprotect(guard, bytes, PROT_NONE);
    madvise(guard, bytes, MADV_DONTNEED);
  });
  region.opened = false;
}

/// Of all arrays whose content nobody asks for and that are written: so little stays in caches. No
/// power of two, as threads that are at halves or quarters of an array would share lines.
constexpr size_t scratchBytes = size_t(320) << 10;
/// Mappings that an array may take of those that the system gives a process, 65530.
constexpr size_t mostScratchMappings = 2048;

/// A file in memory; -1 if the system has none.
int scratchFile() {
  static const int file = [] {
    int made = memfd_create("xetile-scratch", MFD_CLOEXEC);
    return made >= 0 && ftruncate(made, scratchBytes) == 0 ? made : -1;
  }();
  return file;
}

/// A wish, which stays undone if it fails.
void spareMemory(Region &region, Fill fill) {
#ifdef MADV_POPULATE_READ
  // Of pages that nobody wrote to the system has one for all, of 4 KiB.
  if (fill == Fill::ToRead) {
    madvise(region.pages, region.pageBytes, MADV_NOHUGEPAGE);
    mprotect(region.pages, region.pageBytes, PROT_READ | PROT_WRITE);
    madvise(region.pages, region.pageBytes, MADV_POPULATE_READ);
    region.accessible = true;
  }
#endif
  // The first and the last page have bytes that are looked at.
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (fill != Fill::ToWrite || region.pageBytes < 2 * scratchBytes ||
      region.pageBytes / scratchBytes > mostScratchMappings || scratchFile() < 0)
    return;
  unsigned char *end = region.pages + region.pageBytes - page;
  for (unsigned char *at = region.pages + page; at < end; at += scratchBytes)
    if (mmap(at, std::min(scratchBytes, static_cast<size_t>(end - at)), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED | MAP_POPULATE, scratchFile(), 0) == MAP_FAILED) {
      mmap(at, static_cast<size_t>(end - at), PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
      return;
    }
}

bool map(Region &region, size_t pageBytes, Fill fill) {
  // A wish: opening and closing thousands of small pages costs more than filling them.
  bool huge = pageBytes >= hugePage && !isShadow(fill);
  size_t mapped = pageBytes + 2 * guardBytes + (huge ? hugePage : 0);
  void *mapping =
      mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return false;
  region.mapping = static_cast<unsigned char *>(mapping);
  region.mapped = mapped;
  region.pages = region.mapping + guardBytes;
  region.pageBytes = pageBytes;
  if (huge) {
    auto begin = reinterpret_cast<uintptr_t>(region.pages);
    region.pages += roundUp(begin, hugePage) - begin;
    madvise(region.pages, pageBytes, MADV_HUGEPAGE);
  }
  region.opened = region.accessible = false;
  region.fill = fill;
  spareMemory(region, fill);
  return true;
}

void setAccessible(Region &region, bool accessible) {
  if (region.accessible != accessible)
    mprotect(region.pages, region.pageBytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
  region.accessible = accessible;
}

void unmap(Region &region) {
  munmap(region.mapping, region.mapped);
  region.mapping = nullptr;
}

/// True if memory that was mapped for one does for the other.
bool alike(Fill one, Fill other) { return one == other || (!isShadow(one) && !isShadow(other)); }

/// One that is not used: kept with so many bytes, else one without a mapping, else another kept one
/// without what it had. Null if all are used.
Region *regionOf(size_t pageBytes, Fill fill) {
  Region *empty = nullptr, *other = nullptr;
  for (Region &region : Regions()) {
    if (region.used)
      continue;
    if (region.mapping && region.pageBytes == pageBytes && alike(region.fill, fill)) {
      keptBytes -= ownBytes(region);
      return &region;
    }
    (region.mapping ? other : empty) = &region;
  }
  if (!empty && regionCount < maxRegions)
    return &regions[regionCount++];
  if (empty || !other)
    return empty;
  keptBytes -= ownBytes(*other);
  unmap(*other);
  return other;
}

void sayAndFall(int number, siginfo_t *info) {
  char text[512];
  const char *kernel = running;
  int length = std::snprintf(
      text, sizeof text,
      "xetile runtime: error: the kernel '%.200s' accessed memory at %p, which is none of its "
      "arrays; XETILE_CHECK=1 tells which array it went out of\n",
      kernel ? kernel : "", info->si_addr);
  if (length > 0 && write(STDERR_FILENO, text, std::min<size_t>(size_t(length), sizeof text)) < 0) {
    // There is nobody to tell.
  }
  // The handler before ours takes the access, which is made again.
  sigaction(number, &previous, nullptr);
}

void handle(int number, siginfo_t *info, void *context) {
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Region &region : Regions()) {
    if (!region.used.load(std::memory_order_acquire))
      continue;
    auto begin = reinterpret_cast<uintptr_t>(region.mapping);
    if (address < begin || address >= begin + region.mapped)
      continue;
    int none = 0;
    if (fault.state.compare_exchange_strong(none, 1)) {
      fault.region = static_cast<size_t>(&region - regions);
      fault.address = address;
#if defined(__x86_64__)
      constexpr long long writeBit = 2; // of the page fault's error code
      fault.isWrite = static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & writeBit;
#else
      (void)context;
#endif
      fault.state.store(2, std::memory_order_release);
    }
    openGuards(region);
    return;
  }
  sayAndFall(number, info);
}

/// The first byte that was written between an allocation and its guards.
std::optional<OutsideAccess> writtenOutside(const Region &region) {
  auto found = [&](const unsigned char *at) {
    return OutsideAccess{reinterpret_cast<uintptr_t>(region.data), region.size, at - region.data,
                         true};
  };
  const unsigned char *end = region.data + region.size;
  for (const unsigned char *at = end; at != region.pages + region.pageBytes; ++at)
    if (*at != poison)
      return found(at);
  for (const unsigned char *at = region.data; at != region.pages; --at)
    if (at[-1] != region.front) {
      // The first of those that were written together.
      while (at != region.pages && at[-1] != region.front)
        --at;
      return found(at);
    }
  return std::nullopt;
}

} // namespace

bool checksLaunches() {
  const char *chosen = std::getenv("XETILE_CHECK");
  std::string value = chosen ? chosen : "";
  if (value.empty() || value == "0")
    return false;
  if (value == "1")
    return true;
  throw Error("XETILE_CHECK='" + value + "' is neither '0' nor '1'");
}

void *allocateGuarded(size_t size, Against against, Fill fill) {
  std::lock_guard<std::mutex> lock(tableMutex());
  size_t pageBytes = roundUp(size, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  Region *region = regionOf(pageBytes, fill);
  if (!region)
    throw Error("XETILE_CHECK=1 keeps at most " + std::to_string(maxRegions) +
                " allocations at a time. Free some, or check a smaller part of the program");
  if (!region->mapping && !map(*region, pageBytes, fill))
    throw Error("allocating " + std::to_string(size) +
                " bytes with guards failed. Free memory or use a smaller problem");
  setAccessible(*region, true);
  region->size = size;
  region->fill = fill;
  region->front = poison;
  region->data = region->pages;
  if (against == Against::End)
    region->data += pageBytes - roundUp(size, alignment);
  std::memset(region->pages, poison,
              fill == Fill::All ? pageBytes : static_cast<size_t>(region->data - region->pages));
  unsigned char *end = region->data + size;
  std::memset(end, poison, static_cast<size_t>(region->pages + pageBytes - end));
  region->used.store(true, std::memory_order_release);
  return region->data;
}

void fillFront(void *pointer, Front front) {
  std::lock_guard<std::mutex> lock(tableMutex());
  for (Region &region : Regions())
    if (region.used && region.data == pointer) {
      region.front = front == Front::Zero ? 0 : poison;
      std::memset(region.pages, region.front, static_cast<size_t>(region.data - region.pages));
      return;
    }
}

bool fillsPages(size_t size) { return size % static_cast<size_t>(sysconf(_SC_PAGESIZE)) == 0; }

void releaseGuarded(void *pointer) {
  std::lock_guard<std::mutex> lock(tableMutex());
  for (Region &region : Regions())
    if (region.used && region.data == pointer) {
      region.used = false;
      if (region.opened)
        closeGuards(region);
      if (keptBytes + ownBytes(region) > mostKept)
        return unmap(region);
      // Who still has the pointer is to fail. Nobody has one to a launch's own memory, and to close
      // and open pages takes as long as some kernels.
      if (region.fill == Fill::All)
        setAccessible(region, false);
      keptBytes += ownBytes(region);
      return;
    }
}

FaultWatch::FaultWatch(const char *kernel) {
  std::lock_guard<std::mutex> lock(tableMutex());
  running = kernel;
  // Of several threads the first one installs the handler, the last one takes it away.
  if (watches++)
    return;
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous);
}

FaultWatch::~FaultWatch() {
  std::lock_guard<std::mutex> lock(tableMutex());
  if (--watches)
    return;
  sigaction(SIGSEGV, &previous, nullptr);
  running = nullptr;
}

std::optional<OutsideAccess> FaultWatch::take() {
  std::lock_guard<std::mutex> lock(tableMutex());
  std::optional<OutsideAccess> first;
  if (fault.state.load(std::memory_order_acquire) == 2) {
    const Region &region = regions[fault.region];
    auto data = reinterpret_cast<uintptr_t>(region.data);
    first =
        OutsideAccess{data, region.size, static_cast<int64_t>(fault.address - data), fault.isWrite};
    fault.state = 0;
  }
  for (Region &region : Regions()) {
    if (!region.used)
      continue;
    if (region.opened)
      closeGuards(region);
    if (std::optional<OutsideAccess> written = writtenOutside(region)) {
      if (!first)
        first = written;
      std::memset(region.pages, region.front, static_cast<size_t>(region.data - region.pages));
      unsigned char *end = region.data + region.size;
      std::memset(end, poison, static_cast<size_t>(region.pages + region.pageBytes - end));
    }
  }
  return first;
}

} // namespace xetile::runtime
