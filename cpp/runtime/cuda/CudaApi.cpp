// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CudaApi.cpp: the functions of XeTileCudaRuntime.h.
// Input: C calls of lowered host code. Output: launches. Refused: by Error, which no call lets out.
#include "XeTileCudaRuntime.h"

#include "../Errors.h"
#include "Launch.h"
#include "Scratch.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace xetile::runtime;
using namespace xetile::runtime::cuda;

namespace {

size_t copyText(const std::string &text, char *out, size_t size) {
  if (out && size) {
    size_t count = std::min(size - 1, text.size());
    std::memcpy(out, text.data(), count);
    out[count] = '\0';
  }
  return text.size();
}

Launch *launchOf(void *launch) { return static_cast<Launch *>(launch); }

} // namespace

extern "C" {

void *xetileCudaBegin(int64_t *slot, const char *ptx, const char *name, int64_t sharedBytes) {
  if (errorPending())
    return nullptr;
  return guarded<void *>(nullptr, [&]() -> void * {
    const Driver &found = driver();
    void *function = findFunction(found, slot, ptx, name, sharedBytes);
    return Launch::begin(found, function, name, sharedBytes).release();
  });
}

void xetileCudaMatrix(void *launch, int64_t address, int64_t offset, int64_t access, int64_t bytes,
                      int64_t rank, int64_t size0, int64_t size1, int64_t size2, int64_t size3,
                      int64_t size4, int64_t stride0, int64_t stride1, int64_t stride2,
                      int64_t stride3, int64_t stride4) {
  xetileCudaArray(launch, address, offset, access, bytes, rank, size0, size1, size2, size3, size4,
                  1, 1, 1, stride0, stride1, stride2, stride3, stride4, 1, 1, 1);
}

void xetileCudaArray(void *launch, int64_t address, int64_t offset, int64_t access, int64_t bytes,
                     int64_t rank, int64_t size0, int64_t size1, int64_t size2, int64_t size3,
                     int64_t size4, int64_t size5, int64_t size6, int64_t size7, int64_t stride0,
                     int64_t stride1, int64_t stride2, int64_t stride3, int64_t stride4,
                     int64_t stride5, int64_t stride6, int64_t stride7) {
  if (launch && !errorPending())
    guarded([&] {
      launchOf(launch)->addMatrix(
          {address,
           offset,
           access,
           bytes,
           rank,
           {size0, size1, size2, size3, size4, size5, size6, size7},
           {stride0, stride1, stride2, stride3, stride4, stride5, stride6, stride7}});
    });
}

void xetileCudaNumber(void *launch, int64_t value, int64_t /*bytes*/) {
  if (launch && !errorPending())
    guarded([&] { launchOf(launch)->addNumber(value); });
}

void xetileCudaMap(void *launch, int64_t argument, int64_t kind, int64_t inner, int64_t outer) {
  if (launch && !errorPending())
    guarded([&] { launchOf(launch)->addMap(argument, kind, inner, outer, /*outerDim=*/1); });
}

void xetileCudaMapAlong(void *launch, int64_t argument, int64_t kind, int64_t inner, int64_t outer,
                        int64_t outerDim) {
  if (launch && !errorPending())
    guarded([&] { launchOf(launch)->addMap(argument, kind, inner, outer, outerDim); });
}

void xetileCudaAligned(void *launch, int64_t argument, int64_t bytes) {
  if (launch && !errorPending())
    guarded([&] { launchOf(launch)->checkAligned(argument, bytes); });
}

void xetileCudaWalk(void *launch) {
  if (launch && !errorPending())
    launchOf(launch)->walk(/*byCounter=*/false);
}

void xetileCudaDraw(void *launch) {
  if (launch && !errorPending())
    launchOf(launch)->walk(/*byCounter=*/true);
}

void xetileCudaLaunch(void *launch, int64_t x, int64_t y, int64_t z, int64_t threads) {
  if (!launch)
    return;
  std::unique_ptr<Launch> owned(launchOf(launch));
  if (!errorPending())
    guarded([&] { owned->run(x, y, z, threads); });
  Launch::end(std::move(owned));
}

void *xetileCudaSetStream(void *stream) {
  void *before = currentStream();
  currentStream() = stream;
  return before;
}

void xetileCudaCopy(int64_t to, int64_t from, int64_t bytes) {
  if (errorPending() || bytes <= 0)
    return;
  guarded([&] {
    const Driver &found = driver();
    bool isTo = isOnDevice(found, to), isFrom = isOnDevice(found, from);
    if (isTo && isFrom)
      check(found,
            found.memcpyOnDevice(static_cast<DevicePointer>(to), static_cast<DevicePointer>(from),
                                 static_cast<size_t>(bytes), currentStream()),
            "copying an array");
    else if (isTo || isFrom) {
      // The host's side has to wait for what the stream still computes.
      check(found, found.streamSynchronize(currentStream()), "waiting for kernels before a copy");
      check(found,
            found.memcpyAny(static_cast<DevicePointer>(to), static_cast<DevicePointer>(from),
                            static_cast<size_t>(bytes)),
            "copying an array");
    } else
      std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
                  static_cast<size_t>(bytes));
  });
}

void *xetileCudaAllocate(int64_t bytes) {
  if (errorPending())
    return nullptr;
  return guarded<void *>(nullptr, [&]() -> void * {
    auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    return reinterpret_cast<void *>(takeScratch(driver(), size));
  });
}

void xetileCudaFree(void *memory) {
  if (memory)
    guarded([&] { giveScratch(driver(), reinterpret_cast<DevicePointer>(memory)); });
}

int xetileCudaSetErrorMode(int mode) { return setErrorMode(mode); }

size_t xetileCudaTakeError(char *out, size_t size) {
  if (!errorPending())
    return 0;
  return copyText(out ? takeError() : peekError(), out, size);
}

size_t xetileCudaDescribeDevice(char *out, size_t size) {
  if (errorPending())
    return 0;
  return guarded<size_t>(0, [&] { return copyText(describeDevice(), out, size); });
}

} // extern "C"
