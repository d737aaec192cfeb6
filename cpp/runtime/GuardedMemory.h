// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GuardedMemory.h: memory between pages that nobody may touch, for XETILE_CHECK.
// Input: sizes; output: poisoned memory, and the first access outside of it. Refused: nothing; an
// access to a guard is recorded, the guard is opened, and the kernel goes on.
#ifndef XETILE_RUNTIME_GUARDEDMEMORY_H
#define XETILE_RUNTIME_GUARDEDMEMORY_H

#include <cstddef>
#include <cstdint>
#include <optional>

namespace xetile::runtime {

/// True if XETILE_CHECK=1 asks for checks. Throws an Error for other values than 0, 1 and none.
bool checksLaunches();

/// On each side, virtual memory only: an access may miss by that much and still be told from which
/// array.
constexpr size_t guardBytes = size_t(16) << 20;

/// Which guard the memory touches: what lies on the other side is found up to a page's end only, by
/// what is written there.
enum class Against { End, Start };

/// All bits of the memory are set, which are NaN as floats; or only those around it, for memory of
/// one launch: one to all of which the caller writes, or one whose content nobody asks for, to be
/// read alone or written, too, which takes next to no place in memory and caches.
enum class Fill { All, Around, ToRead, ToWrite };

/// Aligned to 64 bytes.
void *allocateGuarded(size_t size, Against against, Fill fill);
void releaseGuarded(void *pointer);

/// True for memory of such a size whose guards touch it on both sides.
bool fillsPages(size_t size);

/// Two values that the bytes between an allocation and the guard in front of it have.
enum class Front { Poisoned, Zero };
void fillFront(void *pointer, Front front);

/// An access outside of a guarded allocation.
struct OutsideAccess {
  uintptr_t allocation;
  size_t size;
  /// From the allocation's first byte; negative in front of it.
  int64_t offset;
  bool isWrite;
};

/// Accesses to guards are recorded while it lives, on all threads; `kernel` is named if the process
/// ends by an access to other memory.
class FaultWatch {
public:
  explicit FaultWatch(const char *kernel);
  ~FaultWatch();
  FaultWatch(const FaultWatch &) = delete;
  FaultWatch &operator=(const FaultWatch &) = delete;

  /// The first one since the last call; closes guards that were opened. Also looks at the bytes
  /// between allocations and their guards.
  std::optional<OutsideAccess> take();
};

} // namespace xetile::runtime
#endif
