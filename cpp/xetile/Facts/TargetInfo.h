//===- TargetInfo.h - what each Intel GPU can do ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device facts as data: passes ask this table and never compare chip names.
#ifndef XETILE_FACTS_TARGETINFO_H
#define XETILE_FACTS_TARGETINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace xetile {

/// Bounds of the 2D block messages. Widths are in elements, `maxRowBytes` counts all blocks of one
/// row.
struct Block2DLimits {
  unsigned minRowBytes;   // of one block
  unsigned maxRowBytes;   // of all blocks together
  unsigned maxLoadHeight; // rows of a load or prefetch
  unsigned maxStoreHeight;
  unsigned maxLoadBytes;
  unsigned maxStoreBytes;
  unsigned transformWidth; // the only width of a load with VNNI transform
};

/// The 2D unit's limits of a surface (the whole matrix in memory).
struct SurfaceLimits {
  uint64_t baseAlign;
  uint64_t minWidthBytes;
  uint64_t maxExtent; // of width in bytes, pitch in bytes and height in rows
  uint64_t pitchMultiple;
};

/// The matrix unit: D[m,n] = A[m,k] * B[k,n] + C[m,n].
struct DpasLimits {
  unsigned maxM; // repeat count, 1 to maxM
  unsigned n;
  unsigned kBits; // k * bits of one element
};

struct TargetInfo {
  llvm::StringRef chip;        // the name users write
  llvm::StringRef description; // marketing names
  llvm::StringRef mlirChip;    // the chip that stands for it in upstream's XeGPU passes
  llvm::StringRef oclocDevice; // `ocloc compile -device`
  unsigned subgroupSize;
  unsigned maxWorkItems;       // per workgroup
  unsigned threadsPerCore;     // hardware threads that one workgroup can use
  unsigned registerBytes;      // of one GRF
  unsigned registersPerThread; // in the default mode
  unsigned largeRegisters;     // in large-register mode, at half the threads
  unsigned slmBytes;           // shared local memory of one workgroup
  bool has2DBlock;
  Block2DLimits block;
  SurfaceLimits surface;
  DpasLimits dpas;

  /// Subgroups that one workgroup may have.
  unsigned maxSubgroups(bool largeRegisterFile) const;
  /// k of a dpas on elements of that size, 0 if there is none.
  unsigned dpasK(unsigned elemBits) const;
  /// The largest part of k, a multiple of `step` that divides it, whose operands of `bytesPerK` fit
  /// the large register file beside `residentBytes`; 0 if none does.
  int64_t fitKSlice(int64_t k, int64_t step, int64_t residentBytes, int64_t bytesPerK) const;

  // Every check returns what is wrong ("... , expected ..."), or nothing.
  std::optional<std::string> checkSupported() const;
  std::optional<std::string> check2DBlockLoad(unsigned elemBits, unsigned width, unsigned height,
                                              unsigned blocks, bool transpose,
                                              bool transform) const;
  std::optional<std::string> check2DBlockPrefetch(unsigned elemBits, unsigned width,
                                                  unsigned height, unsigned blocks) const;
  std::optional<std::string> check2DBlockStore(unsigned elemBits, unsigned width,
                                               unsigned height) const;
  /// Width and pitch in bytes, height in rows.
  std::optional<std::string> checkSurface(uint64_t widthBytes, uint64_t height, uint64_t pitchBytes,
                                          unsigned elemBits) const;
  std::optional<std::string> checkBaseAlign(uint64_t alignBytes) const;
  std::optional<std::string> checkDpas(unsigned elemBits, unsigned m, unsigned n, unsigned k) const;
  /// The x offset of a block, in elements.
  std::optional<std::string> checkXOffset(unsigned elemBits, uint64_t x) const;
};

/// The entry of `chip`, or null. Names are lower case.
const TargetInfo *lookupTarget(llvm::StringRef chip);
llvm::ArrayRef<TargetInfo> allTargets();
/// "bmg, lnl, pvc": the chips that can be compiled for.
std::string listTargets();
/// "unknown chip 'x'; known: ...", or why a known one is refused.
std::optional<std::string> checkChip(llvm::StringRef chip);

} // namespace xetile

#endif // XETILE_FACTS_TARGETINFO_H
