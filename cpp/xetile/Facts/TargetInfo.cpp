//===- TargetInfo.cpp - the table of Intel GPUs -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a chip name, or the shape of a message. Out: its limits, or what is wrong with the message.
// Refused: unknown chips; known ones without 2D block messages.
#include "xetile/Facts/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace xetile;
using llvm::StringRef;
using llvm::Twine;

namespace {

// Intel's cl_intel_subgroup_2d_block_io, and the LSC "2D block" messages of Intel's PVC and Xe2
// programmer's reference manuals, volume "3D-Media-GPGPU": at most 64 bytes in a row of all blocks,
// 32 rows (8 for stores), 2 KB per load, 512 B per store.
constexpr Block2DLimits xe2DBlock = {/*minRowBytes=*/4,     /*maxRowBytes=*/64,
                                     /*maxLoadHeight=*/32,  /*maxStoreHeight=*/8,
                                     /*maxLoadBytes=*/2048, /*maxStoreBytes=*/512,
                                     /*transformWidth=*/16};
// The same sources: base on a 64-byte boundary, width and pitch from 64 bytes, fields of 24 bits,
// pitch in units of 16 bytes.
constexpr SurfaceLimits xeSurface = {/*baseAlign=*/64, /*minWidthBytes=*/64,
                                     /*maxExtent=*/uint64_t(1) << 24, /*pitchMultiple=*/16};
// cl_intel_subgroup_matrix_multiply_accumulate: repeat count 1 to 8, N is the execution size,
// systolic depth 8 with 32 bits of operand per step.
constexpr DpasLimits xeDpas = {/*maxM=*/8, /*n=*/16, /*kBits=*/256};
constexpr DpasLimits dg2Dpas = {/*maxM=*/8, /*n=*/8, /*kBits=*/256};

// - 1024 work-items per workgroup: CL_DEVICE_MAX_WORK_GROUP_SIZE of these devices.
// - 64 threads per core: 8 vector engines with 8 threads each (oneAPI GPU optimization guide,
// "Intel Xe GPU
//   architecture"). DG2: 16 engines with 8 threads.
// - 64-byte registers, 128 per thread, 256 in large-register mode at half the threads (same guide,
// "Registers").
//   DG2: 32-byte registers.
// - 128 KB of shared local memory per workgroup (CL_DEVICE_LOCAL_MEM_SIZE). DG2: 64 KB.
// - mlirChip: MLIR 22 knows pvc and bmg only, any other name is undefined behaviour in its XeGPU
// passes. Lunar Lake
//   has the same Xe2 core as Battlemage.
constexpr TargetInfo table[] = {
    {"pvc", "Data Center GPU Max (Ponte Vecchio)", "pvc", "pvc", 16, 1024, 64, 64, 128, 256,
     128 * 1024, true, xe2DBlock, xeSurface, xeDpas},
    {"bmg", "Arc B-Series (Battlemage)", "bmg", "bmg", 16, 1024, 64, 64, 128, 256, 128 * 1024, true,
     xe2DBlock, xeSurface, xeDpas},
    {"lnl", "Core Ultra 200V (Lunar Lake)", "bmg", "lnl", 16, 1024, 64, 64, 128, 256, 128 * 1024,
     true, xe2DBlock, xeSurface, xeDpas},
    {"dg2", "Arc A-Series (Alchemist)", "", "dg2", 8, 1024, 128, 32, 128, 256, 64 * 1024, false,
     xe2DBlock, xeSurface, dg2Dpas},
};

std::string expected(const Twine &what, const Twine &got, const Twine &range) {
  return (what + " is " + got + ", expected " + range).str();
}

bool isElemBits(unsigned bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

std::optional<std::string> checkPlain(const TargetInfo &target, const char *message,
                                      unsigned elemBits, unsigned width, unsigned height,
                                      unsigned blocks, unsigned maxHeight, unsigned maxBytes) {
  if (auto why = target.checkSupported())
    return why;
  if (!isElemBits(elemBits))
    return expected("element size", Twine(elemBits) + " bits", "8, 16, 32 or 64");
  const Block2DLimits &limits = target.block;
  uint64_t elemBytes = elemBits / 8, rowBytes = uint64_t(width) * elemBytes;
  if (rowBytes < limits.minRowBytes || rowBytes > limits.maxRowBytes ||
      rowBytes % limits.minRowBytes)
    return expected(Twine("width of a ") + Twine(elemBits) + "-bit 2D block " + message,
                    Twine(width) + " elements",
                    Twine((limits.minRowBytes + elemBytes - 1) / elemBytes) + " to " +
                        Twine(limits.maxRowBytes / elemBytes) + " in multiples of " +
                        Twine(limits.minRowBytes) + " bytes");
  if (height < 1 || height > maxHeight)
    return expected(Twine("height of a 2D block ") + message, Twine(height) + " rows",
                    Twine("1 to ") + Twine(maxHeight));
  if (blocks != 1 && blocks != 2 && blocks != 4)
    return expected(Twine("number of blocks of a 2D block ") + message, Twine(blocks), "1, 2 or 4");
  unsigned maxBlocks = elemBits == 64 ? 1 : elemBits == 32 ? 2 : 4;
  if (blocks > maxBlocks)
    return expected(Twine("number of blocks of a ") + Twine(elemBits) + "-bit 2D block " + message,
                    Twine(blocks), Twine("at most ") + Twine(maxBlocks));
  if (rowBytes * blocks > limits.maxRowBytes)
    return expected(Twine("width times blocks of a 2D block ") + message,
                    Twine(rowBytes * blocks) + " bytes",
                    Twine("at most ") + Twine(limits.maxRowBytes));
  if (rowBytes * blocks * height > maxBytes)
    return expected(Twine("size of a 2D block ") + message,
                    Twine(rowBytes * blocks * height) + " bytes",
                    Twine("at most ") + Twine(maxBytes));
  return std::nullopt;
}

} // namespace

unsigned TargetInfo::maxSubgroups(bool largeRegisterFile) const {
  unsigned threads = largeRegisterFile ? threadsPerCore / 2 : threadsPerCore;
  return std::min(threads, maxWorkItems / subgroupSize);
}

unsigned TargetInfo::dpasK(unsigned elemBits) const {
  return elemBits == 4 || elemBits == 8 || elemBits == 16 || elemBits == 32 ? dpas.kBits / elemBits
                                                                            : 0;
}

int64_t TargetInfo::fitKSlice(int64_t k, int64_t step, int64_t residentBytes,
                              int64_t bytesPerK) const {
  int64_t available = int64_t(largeRegisters) * registerBytes - residentBytes;
  for (int64_t slice = std::min(k, available / bytesPerK) / step * step; slice > 0; slice -= step)
    if (k % slice == 0)
      return slice;
  return 0;
}

std::optional<std::string> TargetInfo::checkSupported() const {
  if (has2DBlock)
    return std::nullopt;
  return ("chip '" + chip + "' (" + description + ") has no 2D block messages; supported: ").str() +
         listTargets();
}

std::optional<std::string> TargetInfo::check2DBlockLoad(unsigned elemBits, unsigned width,
                                                        unsigned height, unsigned blocks,
                                                        bool transpose, bool transform) const {
  if (auto why = checkPlain(*this, "load", elemBits, width, height, blocks, block.maxLoadHeight,
                            block.maxLoadBytes))
    return why;
  if (transpose && transform)
    return std::string("a 2D block load transposes or transforms, not both; expected one of them");
  if (transpose) {
    if (blocks != 1)
      return expected("number of blocks of a transposing 2D block load", Twine(blocks), "1");
    if (elemBits == 32 && width > 8)
      return expected("width of a 32-bit transposing 2D block load", Twine(width), "at most 8");
    if (elemBits == 64 && height != 8)
      return expected("height of a 64-bit transposing 2D block load", Twine(height), "8");
    if (elemBits == 64 && width != 1 && width != 2 && width != 4)
      return expected("width of a 64-bit transposing 2D block load", Twine(width), "1, 2 or 4");
    if (elemBits < 32)
      return expected("element size of a transposing 2D block load", Twine(elemBits) + " bits",
                      "32 or 64 (pack narrow elements into 32 bits)");
  }
  if (transform) {
    if (elemBits > 16)
      return expected("element size of a transforming 2D block load", Twine(elemBits) + " bits",
                      "8 or 16");
    unsigned pack = 32 / elemBits;
    if (height % pack)
      return expected(Twine("height of a ") + Twine(elemBits) + "-bit transforming 2D block load",
                      Twine(height), Twine("a multiple of ") + Twine(pack));
    if (width != block.transformWidth)
      return expected("width of a transforming 2D block load", Twine(width),
                      Twine(block.transformWidth));
  }
  return std::nullopt;
}

std::optional<std::string> TargetInfo::check2DBlockPrefetch(unsigned elemBits, unsigned width,
                                                            unsigned height,
                                                            unsigned blocks) const {
  // The hardware takes more, XeVM's operation and OpenCL's builtins do not.
  bool isWide = elemBits == 8 && width == 32, isNarrow = elemBits == 32 && width == 8;
  if (has2DBlock && elemBits == 64)
    return expected("element size of a 2D block prefetch", "64 bits", "8, 16 or 32");
  if (has2DBlock && isElemBits(elemBits) && width != 16 && !isWide && !isNarrow)
    return expected(Twine("width of a ") + Twine(elemBits) + "-bit 2D block prefetch",
                    Twine(width) + " elements",
                    elemBits == 8    ? "16 or 32"
                    : elemBits == 32 ? "8 or 16"
                                     : "16");
  return checkPlain(*this, "prefetch", elemBits, width, height, blocks, block.maxLoadHeight,
                    block.maxLoadBytes);
}

std::optional<std::string> TargetInfo::check2DBlockStore(unsigned elemBits, unsigned width,
                                                         unsigned height) const {
  return checkPlain(*this, "store", elemBits, width, height, /*blocks=*/1, block.maxStoreHeight,
                    block.maxStoreBytes);
}

std::optional<std::string> TargetInfo::checkSurface(uint64_t widthBytes, uint64_t height,
                                                    uint64_t pitchBytes, unsigned elemBits) const {
  if (auto why = checkSupported())
    return why;
  if (widthBytes < surface.minWidthBytes || widthBytes > surface.maxExtent)
    return expected("width of the surface", Twine(widthBytes) + " bytes",
                    Twine(surface.minWidthBytes) + " to " + Twine(surface.maxExtent));
  unsigned multiple = std::max(4u, elemBits / 8);
  if (widthBytes % multiple)
    return expected("width of the surface", Twine(widthBytes) + " bytes",
                    Twine("a multiple of ") + Twine(multiple));
  if (pitchBytes < widthBytes || pitchBytes > surface.maxExtent)
    return expected("pitch of the surface", Twine(pitchBytes) + " bytes",
                    Twine("its width (") + Twine(widthBytes) + ") to " + Twine(surface.maxExtent));
  if (pitchBytes % surface.pitchMultiple)
    return expected("pitch of the surface", Twine(pitchBytes) + " bytes",
                    Twine("a multiple of ") + Twine(surface.pitchMultiple));
  if (height < 1 || height > surface.maxExtent)
    return expected("height of the surface", Twine(height) + " rows",
                    Twine("1 to ") + Twine(surface.maxExtent));
  return std::nullopt;
}

std::optional<std::string> TargetInfo::checkBaseAlign(uint64_t alignBytes) const {
  if (alignBytes % surface.baseAlign == 0)
    return std::nullopt;
  return expected("alignment of the surface's base", Twine(alignBytes) + " bytes",
                  Twine("a multiple of ") + Twine(surface.baseAlign));
}

std::optional<std::string> TargetInfo::checkDpas(unsigned elemBits, unsigned m, unsigned n,
                                                 unsigned k) const {
  unsigned wantK = dpasK(elemBits);
  if (!wantK)
    return expected("element size of a dpas operand", Twine(elemBits) + " bits", "4, 8, 16 or 32");
  if (m < 1 || m > dpas.maxM)
    return expected("m of a dpas", Twine(m), Twine("1 to ") + Twine(dpas.maxM));
  if (n != dpas.n)
    return expected("n of a dpas", Twine(n), Twine(dpas.n));
  if (k != wantK)
    return expected(Twine("k of a dpas on ") + Twine(elemBits) + "-bit elements", Twine(k),
                    Twine(wantK));
  return std::nullopt;
}

std::optional<std::string> TargetInfo::checkXOffset(unsigned elemBits, uint64_t x) const {
  uint64_t multiple = elemBits == 8 ? 4 : elemBits == 16 ? 2 : 1;
  if (x % multiple == 0)
    return std::nullopt;
  return expected(Twine("x offset of a ") + Twine(elemBits) + "-bit block", Twine(x),
                  Twine("a multiple of ") + Twine(multiple));
}

llvm::ArrayRef<TargetInfo> xetile::allTargets() { return table; }

const TargetInfo *xetile::lookupTarget(StringRef chip) {
  const TargetInfo *found =
      llvm::find_if(table, [&](const TargetInfo &target) { return target.chip == chip; });
  return found == std::end(table) ? nullptr : found;
}

std::string xetile::listTargets() {
  llvm::SmallVector<StringRef> names;
  for (const TargetInfo &target : table)
    if (target.has2DBlock)
      names.push_back(target.chip);
  return llvm::join(names, ", ");
}

std::optional<std::string> xetile::checkChip(StringRef chip) {
  if (const TargetInfo *target = lookupTarget(chip))
    return target->checkSupported();
  return ("unknown chip '" + chip + "'; known: ").str() + listTargets();
}
