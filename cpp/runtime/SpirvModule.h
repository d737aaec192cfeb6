// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SpirvModule.h: what the runtime needs to know about a SPIR-V binary.
// Input: the words of a module; output: its kernels with argument sizes, its imported functions
// with their types. Refused: text, a truncated or malformed module, one for Vulkan, one without
// kernels.
#ifndef XETILE_RUNTIME_SPIRVMODULE_H
#define XETILE_RUNTIME_SPIRVMODULE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xetile::runtime {

/// A type as far as argument passing and builtin signatures need it.
struct SpirvType {
  enum Kind { Void, Bool, Int, Float, Pointer, Other };
  Kind kind = Other;
  /// Of one component; 64 for pointers.
  unsigned bits = 0;
  /// Components, 1 for a scalar.
  unsigned lanes = 1;
  /// SPIR-V's storage class of a pointer.
  unsigned storage = 0;

  /// As OpenCL lays it out: a vector of 3 is as large as one of 4. 0 if it cannot be passed by
  /// value.
  size_t bytes() const;
  /// In OpenCL C, signed integers; "" if it has no name there.
  std::string openclName() const;
  bool operator==(const SpirvType &other) const {
    return kind == other.kind && bits == other.bits && lanes == other.lanes &&
           storage == other.storage;
  }
};

namespace storage {
constexpr unsigned uniformConstant = 0, input = 1, workgroup = 4, crossWorkgroup = 5, function = 7,
                   generic = 8;
}

struct SpirvKernel {
  std::string name;
  std::vector<SpirvType> parameters;
  /// As the source has them; "" where the module does not tell.
  std::vector<std::string> parameterNames;
  /// Bytes of a parameter that is a struct, whose type is a private pointer; 0 for others.
  std::vector<size_t> structBytes;
  /// Pointers that the kernel only reads through, as its compiler says.
  std::vector<bool> onlyRead;
  /// 0 if the module does not require one.
  unsigned subgroupSize = 0;
  /// All 0 if the module does not require one.
  std::array<unsigned, 3> localSize{};
  /// Of integers or floats, whose order is open, in the kernel or what it calls.
  bool hasAtomics = false;
  /// Imported functions that the kernel may call, directly or not.
  std::vector<std::string> reachableImports;
};

struct SpirvImport {
  std::string name;
  SpirvType result;
  std::vector<SpirvType> parameters;
};

struct SpirvModule {
  std::vector<SpirvKernel> kernels;
  std::vector<SpirvImport> imports;

  const SpirvKernel *findKernel(const std::string &name) const;
  std::string kernelNames() const;

  /// Throws an Error that says what is wrong with `data`.
  static SpirvModule parse(const void *data, size_t size);
};

/// The words of a SPIR-V module. Throws an Error for what is none.
std::vector<uint32_t> spirvWords(const void *data, size_t size);

} // namespace xetile::runtime
#endif
