// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launch.h: a launch while its arguments are told.
// Input: arguments, one after the other. Output: a running kernel. Refused: by Error.
#ifndef XETILE_RUNTIME_CUDA_LAUNCH_H
#define XETILE_RUNTIME_CUDA_LAUNCH_H

#include "Driver.h"

#include <array>
#include <map>
#include <memory>
#include <vector>

namespace xetile::runtime::cuda {

/// A kernel that the driver compiled, in each context that launches it.
struct Kernel {
  std::map<void *, void *> functions;
};

constexpr size_t kMaxRank = 8;

/// An array as a memref describes it.
struct Matrix {
  int64_t address, offset, access, bytes, rank;
  std::array<int64_t, kMaxRank> sizes, strides;
};

class Launch {
public:
  /// The launch of a kernel whose name stays. A thread's launches are made in the memory of the one
  /// before: a call takes no other.
  static std::unique_ptr<Launch> begin(const Driver &driver, void *function, const char *name,
                                       int64_t sharedBytes);
  /// Frees copies on the device.
  static void end(std::unique_ptr<Launch> launch);
  ~Launch();
  Launch(const Launch &) = delete;
  Launch &operator=(const Launch &) = delete;

  void addMatrix(const Matrix &matrix);
  void addNumber(int64_t value);
  void addMap(int64_t argument, int64_t kind, int64_t inner, int64_t outer, int64_t outerDim);
  void checkAligned(int64_t argument, int64_t bytes) const;
  void walk(bool byCounter) {
    walks = true;
    draws = byCounter;
  }
  void run(int64_t x, int64_t y, int64_t z, int64_t threads);

private:
  struct Argument {
    Matrix matrix;
    DevicePointer base; // of the element 0, on the device
  };
  struct Copy {
    void *host;
    DevicePointer device;
    size_t bytes;
    bool isWritten;
  };
  explicit Launch(const Driver &driver) : driver(driver) {}
  DevicePointer onDevice(const Matrix &matrix);
  void copyBack();
  void freeCopies();
  /// 'name', for messages.
  std::string quoted() const { return "'" + std::string(name) + "'"; }

  const Driver &driver;
  void *function = nullptr;
  const char *name = nullptr;
  int64_t sharedBytes = 0;
  std::vector<Argument> arguments; // numbers have a place, too
  std::vector<int64_t> values;
  std::vector<TensorMap> maps;
  std::vector<void *> parameters;
  std::vector<Copy> copies;
  bool walks = false; // over the grid, by fewer workgroups
  bool draws = false;
};

/// The kernel of a PTX text, compiled at the first call for the current context.
void *findFunction(const Driver &driver, int64_t *slot, const char *ptx, const char *name,
                   int64_t sharedBytes);

/// True for memory that the device reads at its address.
bool isOnDevice(const Driver &driver, int64_t address);

} // namespace xetile::runtime::cuda
#endif
