// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launch.cpp: arguments, tensor maps and the launch itself.
// Input: arrays on the host or the device. Output: the kernel's work in them.
// Refused: arrays that the copy engine does not take; grids that the device does not.
#include "Launch.h"
#include "Scratch.h"

#include "../Errors.h"

#include <algorithm>

namespace xetile::runtime::cuda {
namespace {

constexpr int kMemoryType = 2, kManaged = 8, kDeviceMemory = 2; // CUpointer_attribute, CUmemorytype
constexpr int kSwizzle128 = 3, kPromote256 = 3;                 // of tensor maps
constexpr int64_t kAlign = 16;                                  // of what the copy engine reads
constexpr int64_t kMaxSide = int64_t(1) << 32, kMaxPitch = int64_t(1) << 40;
constexpr int64_t kMaxX = 0x7fffffff, kMaxYZ = 65535;
constexpr int kMultiprocessors = 16; // CUdevice_attribute
constexpr size_t kLeastBytes = 256;  // an array without elements has an address, too

bool isEmpty(const Matrix &matrix) {
  return std::any_of(matrix.sizes.begin(), matrix.sizes.begin() + matrix.rank,
                     [](int64_t size) { return size == 0; });
}

/// First and last element, counted from the one at the address.
std::array<int64_t, 2> reach(const Matrix &matrix) {
  int64_t first = matrix.offset, last = matrix.offset;
  for (int64_t i = 0; i < matrix.rank; ++i)
    (matrix.strides[i] < 0 ? first : last) += (matrix.sizes[i] - 1) * matrix.strides[i];
  return {first, last};
}

/// Bytes between elements that are neighbours along a dimension, but the last one.
template <typename Name> uint64_t pitchOf(const Matrix &matrix, size_t dim, const Name &which) {
  int64_t bytes = matrix.strides[dim] * matrix.bytes;
  // That of a single row is never used.
  if (isEmpty(matrix) || matrix.sizes[dim] == 1)
    bytes = (std::max<int64_t>(matrix.sizes[matrix.rank - 1], 1) * matrix.bytes + kAlign - 1) /
            kAlign * kAlign;
  if (bytes % kAlign)
    throw Error(
        which() + " has rows " + std::to_string(bytes) +
        " bytes apart; expected a multiple of 16: pad the rows of the array, or compile with "
        "loads=plain");
  if (bytes < 0 || bytes >= kMaxPitch)
    throw Error(which() + " has rows " + std::to_string(bytes) +
                " bytes apart; expected less than 2^40");
  return static_cast<uint64_t>(bytes);
}

int64_t multiprocessors(const Driver &driver) {
  static thread_local int asked = -1, count = 0;
  int device = 0;
  check(driver, driver.ctxGetDevice(&device), "asking for the current GPU");
  if (device != asked)
    check(driver, driver.deviceGetAttribute(&count, kMultiprocessors, device),
          "asking for its multiprocessors");
  asked = device;
  return std::max(count, 1);
}

/// All that a tensor map is made of.
struct MapFacts {
  DevicePointer start = 0;
  int64_t kind = 0, inner = 0, outer = 0, outerDim = 0, rank = 0;
  std::array<uint64_t, kMaxRank> sizes{}, strides{};

  bool operator==(const MapFacts &other) const {
    return start == other.start && kind == other.kind && inner == other.inner &&
           outer == other.outer && outerDim == other.outerDim && rank == other.rank &&
           sizes == other.sizes && strides == other.strides;
  }
};

/// The maps of this thread's last launches, which are often on the same arrays.
struct KnownMap {
  MapFacts facts;
  TensorMap map;
};

/// The place of a map, maybe one that is another's by now: of a few that its facts lead to.
KnownMap &placeOf(const MapFacts &facts) {
  constexpr size_t kSets = 32, kWays = 4, kShift = 59;
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15; // its high bits depend on all bits
  struct Set {
    std::array<KnownMap, kWays> maps;
    size_t next;
  };
  static thread_local std::array<Set, kSets> known{};
  uint64_t hash = facts.start / kAlign + static_cast<uint64_t>(facts.outer * 7 + facts.inner * 3);
  Set &set = known[hash * kOdd >> kShift];
  for (KnownMap &map : set.maps)
    if (map.facts == facts)
      return map;
  return set.maps[set.next++ % kWays];
}

} // namespace

bool isOnDevice(const Driver &driver, int64_t address) {
  unsigned type = 0, managed = 0;
  auto pointer = static_cast<DevicePointer>(address);
  if (isScratch(pointer))
    return true;
  // Memory that the driver does not know is the host's.
  if (driver.pointerGetAttribute(&type, kMemoryType, pointer))
    return false;
  return type == kDeviceMemory ||
         (!driver.pointerGetAttribute(&managed, kManaged, pointer) && managed);
}

/// Of this thread, between launches.
static std::unique_ptr<Launch> &spare() {
  static thread_local std::unique_ptr<Launch> launch;
  return launch;
}

std::unique_ptr<Launch> Launch::begin(const Driver &driver, void *function, const char *name,
                                      int64_t sharedBytes) {
  std::unique_ptr<Launch> launch = std::move(spare());
  if (!launch)
    launch.reset(new Launch(driver));
  launch->function = function;
  launch->name = name;
  launch->sharedBytes = sharedBytes;
  launch->walks = launch->draws = false;
  launch->arguments.clear();
  launch->values.clear();
  launch->maps.clear();
  launch->parameters.clear();
  return launch;
}

void Launch::end(std::unique_ptr<Launch> launch) {
  launch->freeCopies();
  spare() = std::move(launch);
}

Launch::~Launch() { freeCopies(); }

void Launch::freeCopies() {
  for (const Copy &copy : copies)
    driver.memFree(copy.device);
  copies.clear();
}

DevicePointer Launch::onDevice(const Matrix &matrix) {
  if (!isEmpty(matrix) && isOnDevice(driver, matrix.address))
    return static_cast<DevicePointer>(matrix.address);
  auto [first, last] = reach(matrix);
  size_t bytes = isEmpty(matrix) ? 0 : static_cast<size_t>((last - first + 1) * matrix.bytes);
  Copy copy{reinterpret_cast<void *>(matrix.address + first * matrix.bytes), 0, bytes,
            (matrix.access & 2) != 0};
  check(driver, driver.memAlloc(&copy.device, std::max(bytes, kLeastBytes)),
        "allocating " + std::to_string(bytes) + " bytes on the GPU for an argument of " + quoted());
  copies.push_back(copy);
  if (bytes)
    check(driver, driver.memcpyToDevice(copy.device, copy.host, bytes),
          "copying an argument of " + quoted() + " to the GPU");
  return copy.device - static_cast<DevicePointer>(isEmpty(matrix) ? 0 : first * matrix.bytes);
}

void Launch::addMatrix(const Matrix &matrix) {
  DevicePointer base = onDevice(matrix);
  arguments.push_back({matrix, base});
  auto address = static_cast<int64_t>(base);
  // Allocated and aligned pointer, offset, sizes, strides.
  for (int64_t value : {address, address, matrix.offset})
    values.push_back(value);
  for (const auto &parts : {matrix.sizes, matrix.strides})
    values.insert(values.end(), parts.begin(), parts.begin() + matrix.rank);
}

void Launch::addNumber(int64_t value) {
  arguments.push_back({});
  values.push_back(value);
}

void Launch::addMap(int64_t argument, int64_t kind, int64_t inner, int64_t outer,
                    int64_t outerDim) {
  if (argument < 0 || argument >= static_cast<int64_t>(arguments.size()) || outerDim < 1 ||
      arguments[argument].matrix.rank <= outerDim)
    throw Error("a tensor map of the kernel " + quoted() + " is of argument " +
                std::to_string(argument) +
                ", which is no matrix. Host code and kernel must come "
                "from one compilation");
  const Matrix &matrix = arguments[argument].matrix;
  auto which = [&] {
    return "argument " + std::to_string(argument) + " of the kernel " + quoted();
  };
  DevicePointer start = arguments[argument].base + matrix.offset * matrix.bytes;
  auto last = static_cast<size_t>(matrix.rank - 1);
  if (matrix.strides[last] != 1 && matrix.sizes[last] > 1)
    throw Error(which() + " has columns " + std::to_string(matrix.strides[last]) +
                " elements apart; expected contiguous rows");
  if (start % kAlign)
    throw Error(which() + " begins " + std::to_string(start % kAlign) +
                " bytes behind a multiple of 16; expected such a multiple: copy the array");
  MapFacts facts{start, kind, inner, outer, outerDim, matrix.rank, {}, {}};
  // The adjacent dimension comes first, and its stride is none.
  for (size_t i = 0; i <= last; ++i) {
    int64_t size = isEmpty(matrix) ? 1 : matrix.sizes[last - i];
    if (size > kMaxSide)
      throw Error(which() + " has a side of " + std::to_string(size) + "; expected at most 2^32");
    facts.sizes[i] = static_cast<uint64_t>(size);
    if (i)
      facts.strides[i - 1] = pitchOf(matrix, last - i, which);
  }
  KnownMap &known = placeOf(facts);
  if (!(known.facts == facts)) {
    std::array<uint32_t, kMaxRank> box{}, steps{};
    box.fill(1);
    steps.fill(1);
    box[0] = static_cast<uint32_t>(inner);
    box[static_cast<size_t>(outerDim)] = static_cast<uint32_t>(outer);
    known.facts = {};
    Result result = driver.tensorMapEncodeTiled(
        &known.map, static_cast<int>(kind), static_cast<uint32_t>(matrix.rank),
        reinterpret_cast<void *>(start), facts.sizes.data(), facts.strides.data(), box.data(),
        steps.data(), /*interleave=*/0, kSwizzle128, kPromote256, /*fill=*/0);
    if (result)
      fail(driver, result, "describing " + which() + " to the copy engine");
    known.facts = facts;
  }
  maps.push_back(known.map);
}

void Launch::checkAligned(int64_t argument, int64_t bytes) const {
  if (argument < 0 || argument >= static_cast<int64_t>(arguments.size()) || bytes <= 0)
    throw Error("the kernel " + quoted() + " has no argument " + std::to_string(argument));
  const Argument &found = arguments[argument];
  auto start = static_cast<int64_t>(found.base) + found.matrix.offset * found.matrix.bytes;
  if (start % bytes)
    throw Error("argument " + std::to_string(argument) + " of the kernel " + quoted() + " begins " +
                std::to_string(start % bytes) + " bytes behind a multiple of " +
                std::to_string(bytes) + "; expected such a multiple: copy the array");
}

void Launch::run(int64_t x, int64_t y, int64_t z, int64_t threads) {
  if (x == 0 || y == 0 || z == 0)
    return;
  if (x < 0 || x > kMaxX || y < 0 || y > kMaxYZ || z < 0 || z > kMaxYZ)
    throw Error("the kernel " + quoted() + " was launched on a grid of " + std::to_string(x) +
                " x " + std::to_string(y) + " x " + std::to_string(z) +
                " workgroups; expected at most 2147483647 x 65535 x 65535: use larger tiles");
  for (int64_t &value : values)
    parameters.push_back(&value);
  for (TensorMap &map : maps)
    parameters.push_back(&map);
  struct {
    int32_t sizes[4];
    DevicePointer counter;
  } grid = {{static_cast<int32_t>(x), static_cast<int32_t>(y), static_cast<int32_t>(z), 0}, 0};
  if (walks) {
    if (x * y > kMaxX / z)
      throw Error("the kernel " + quoted() + " walks over " + std::to_string(x) + " x " +
                  std::to_string(y) + " x " + std::to_string(z) +
                  " tiles; expected at most 2147483647: use larger tiles");
    if (draws)
      grid.counter = streamCounter(driver);
    parameters.push_back(&grid);
    x = std::min(x * y * z, multiprocessors(driver));
    y = z = 1;
  }
  Result result = driver.launchKernel(function, static_cast<unsigned>(x), static_cast<unsigned>(y),
                                      static_cast<unsigned>(z), static_cast<unsigned>(threads), 1,
                                      1, static_cast<unsigned>(sharedBytes), currentStream(),
                                      parameters.data(), nullptr);
  if (result)
    fail(driver, result, "launching the kernel " + quoted());
  copyBack();
}

void Launch::copyBack() {
  if (copies.empty())
    return;
  check(driver, driver.ctxSynchronize(), "running the kernel " + quoted());
  for (const Copy &copy : copies)
    if (copy.isWritten && copy.bytes)
      check(driver, driver.memcpyToHost(copy.host, copy.device, copy.bytes),
            "copying a result of " + quoted() + " from the GPU");
}

} // namespace xetile::runtime::cuda
