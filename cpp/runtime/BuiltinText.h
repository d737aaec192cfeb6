// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltinText.h: OpenCL C definitions of Intel's subgroup builtins, for devices that lack them.
// Input: a parsed SPIR-V module; output: one translation unit that defines the functions it
// imports. Refused: an import of no known family, an illegal shape, a kernel without the subgroup
// size that the builtins assume.
#ifndef XETILE_RUNTIME_BUILTINTEXT_H
#define XETILE_RUNTIME_BUILTINTEXT_H

#include "BuiltinName.h"

#include <initializer_list>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace xetile::runtime {

/// Capabilities of a device.
struct NativeBuiltins {
  bool blockIo = false, dpas = false;
};

/// How the definitions let lanes exchange data.
enum class Flavour {
  /// Through subgroup broadcasts alone: right on every device.
  Portable,
  /// For Intel's CPU runtime, where the 16 lanes of a subgroup are one thread: values that are the
  /// same in all lanes are
  /// computed once, a lane's private array can be read by the others, and vector values lie lane
  /// after lane (lane 0's
  /// vector, then lane 1's). Matrix products and transpositions then run on whole vectors; 7 times
  /// the speed of
  /// the portable definitions. Each function checks at run time that the lanes' arrays lie as it
  /// assumes.
  Lockstep,
};

/// Collects a translation unit.
class BuiltinText {
public:
  BuiltinText(Flavour flavour, bool checkPrefetches, bool checkBlocks = false)
      : flavour(flavour), checkPrefetches(checkPrefetches), checkBlocks(checkBlocks) {}
  const Flavour flavour;
  /// Prefetches record where they point (PrefetchCheck.h).
  const bool checkPrefetches;
  /// 2D block messages are checked against the rules of GPUs (SurfaceCheck.h).
  const bool checkBlocks;

  /// The name of a vector type of any length and of no alignment; `element` is an OpenCL C scalar
  /// type.
  std::string vectorType(const std::string &element, unsigned lanes);
  void add(const std::string &text) { body << text; }
  /// The function's head with the parameter names given, without the brace.
  void addHead(const SpirvImport &import, std::initializer_list<const char *> parameters);
  void requireFp16() { fp16 = true; }
  std::string text() const;

private:
  std::set<std::pair<std::string, unsigned>> vectors;
  std::ostringstream body;
  bool fp16 = false;
};

/// Replaces each @key@ of `text`.
std::string expand(std::string text,
                   std::initializer_list<std::pair<const char *, std::string>> values);
std::string number(unsigned value);

/// Integers of another type, without OpenCL's convert_*: the driver for CPUs makes a call of it for
/// each lane where there are masks.
std::string convertedText(const std::string &value, const std::string &type, unsigned lanes);

/// Defines xt_bf16_<lanes>, which rounds f32 to bf16: ties to even, NaN quiet with its sign and
/// upper bits. May be repeated.
std::string bf16RoundingText(unsigned lanes);

void addBlockIo(BuiltinText &out, const SpirvImport &import, const BlockIo &block);
void addBlockIoLockstep(BuiltinText &out, const SpirvImport &import, const BlockIo &block);
void addDpas(BuiltinText &out, const SpirvImport &import, const Dpas &dpas);
/// Functions that PortableSpirv.cpp calls in place of instructions.
bool isPortablePart(const SpirvImport &import);
void addPortablePart(BuiltinText &out, const SpirvImport &import);

/// Empty if the device has all that the module imports.
std::string generateBuiltins(const SpirvModule &module, const NativeBuiltins &native,
                             Flavour flavour, bool checkPrefetches, bool checkBlocks = false);

} // namespace xetile::runtime
#endif
