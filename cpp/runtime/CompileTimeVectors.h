// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CompileTimeVectors.h: vectors that kernels with barriers put together and take apart.
// Input: instructions of a module; output: calls in their place, which the OpenCL driver for CPUs
// compiles sooner. Refused: nothing; what is no vector of OpenCL stays.
#ifndef XETILE_RUNTIME_COMPILETIMEVECTORS_H
#define XETILE_RUNTIME_COMPILETIMEVECTORS_H

#include "BuiltinText.h"
#include "SpirvEdit.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace xetile::runtime {

/// Elements are followed through the instructions that put vectors together; each vector that is
/// used whole, and each element that is used alone, is one call.
class CompileTimeVectors {
public:
  explicit CompileTimeVectors(SpirvEdit &edit) : edit(edit) {}

  /// To be told of each instruction of the module, before the first one is rewritten.
  void find(const SpirvInstruction &in);
  void beginBlock() { bits.clear(); }
  /// Of an instruction of a function that is rewritten; false if it stays as it is.
  bool rewrite(const SpirvInstruction &in);

private:
  /// A part of a value: an element of a vector, a number, or a part of its bits.
  struct Element {
    /// 0 where any value will do.
    uint32_t value = 0;
    unsigned index = 0;
  };
  using Elements = std::vector<Element>;

  /// A vector of numbers, of any length.
  bool isFollowed(uint32_t type) const;
  /// One that a function of OpenCL C takes and returns.
  bool isVector(uint32_t type) const;
  static bool assembles(unsigned opcode);
  Elements elementsOf(uint32_t id) const;
  /// None if a part of it is nothing that can be followed.
  Elements assembled(const SpirvInstruction &in) const;
  Elements constructed(const SpirvInstruction &in) const;
  /// As an integer, or a vector of them.
  uint32_t bitsOf(uint32_t value);
  uint32_t bitsType(uint32_t type);
  /// Emits the call that has these elements as its result.
  bool mix(const SpirvInstruction &in, const Elements &elements);
  bool loadWide(const SpirvInstruction &in);
  bool pick(const SpirvInstruction &in);

  SpirvEdit &edit;
  bool inFunctions = false;
  /// Vectors that other instructions than those that are rewritten use.
  std::set<uint32_t> whole;
  /// Of vectors that were put together so far; undefined values and constants.
  std::map<uint32_t, Elements> parts;
  /// Of values, in the block that is emitted.
  std::map<uint32_t, uint32_t> bits;
};

/// The functions that it calls.
bool isVectorMix(const SpirvImport &import);
void addVectorMix(BuiltinText &out, const SpirvImport &import);

} // namespace xetile::runtime
#endif
