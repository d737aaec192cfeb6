//===- CpuRates.cpp - how fast a core multiplies and moves -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: LLVM's name of a CPU. Out: its rates, as `xetile calibrate` measures them. Nothing is
// refused: CPUs that are not in the table have typical rates.
//===----------------------------------------------------------------------===//
#include "xetile/Facts/CpuRates.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace xetile;

llvm::ArrayRef<RateField> xetile::allRateFields() {
  static constexpr RateField fields[] = {
      {"multiply_add_ns", &Rates::multiplyAdd, "multiply-add of f32"},
      {"bf16_dot_ns", &Rates::bf16Dot, "bf16 dot product"},
      {"int8_dot_ns", &Rates::int8Dot, "byte dot product"},
      {"bf16_tiles_ns", &Rates::bf16Tiles, "product of tiles of bf16"},
      {"int8_tiles_ns", &Rates::int8Tiles, "product of tiles of bytes"},
      {"read_l2_ns", &Rates::readL2, "reading a KiB from L2"},
      {"read_l3_ns", &Rates::readL3, "from L3"},
      {"copy_l2_ns", &Rates::copyL2, "copying a KiB from L2"},
      {"copy_l3_ns", &Rates::copyL3, "from L3"},
      {"write_l2_ns", &Rates::writeL2, "writing a KiB to L2"},
      {"write_l3_ns", &Rates::writeL3, "to L3"},
      {"wait_l2_ns", &Rates::waitL2, "waiting for a KiB from L2"},
      {"wait_l3_ns", &Rates::waitL3, "multiply-adds waiting for a KiB from L3"},
      {"wait_unaligned_ns", &Rates::waitUnaligned, "not at a line"},
      {"wait_page_ns", &Rates::waitPage, "waiting for a page"},
      {"fork_ns", &Rates::fork, "starting and joining threads"},
  };
  return fields;
}

namespace {
struct KnownCpu {
  llvm::StringRef name;
  /// By which it decides.
  Rates rates;
  /// Of its calibrations.
  Rates medians = {};
};
} // namespace

// 0: there is no such instruction, or it was not measured.
// - znver4: this project's measurements of an EPYC (family 25, model 17), 512 bits at once.
// - znver5: medians of `xetile calibrate` on two cores of an EPYC (family 26, model 2), which waits
// for the second level for less than 0.12; its fork was not measured on a quiet machine, that of
// the other EPYC stands for it.
// - emeraldrapids: measurements of a Xeon (family 6, model 207, stepping 2; 2 cores of a virtual
// machine) with the same loops in C; its fork and what waits for the second level are inferred from
// rows of cpu_bench.py on 16 cores of such a machine, what waits for a page from 48 shapes of f32
// there, whose B of 0.5 to 1.5 MiB was read in place or copied. Its medians are those of four times
// `xetile calibrate` on those 16 cores, which share their caches and units with others. They
// predict as well (1.18 times off in the mean for 1.19), but for what streams, which waits less:
// with 42 for the third level 24 x 1024 x 2048 was packed, which takes twice as long, so they do
// not decide. Sapphire Rapids has the same cores.
// - amx: any other CPU with tile registers. Measured were, on a Xeon that calls itself family 6,
// model 167 (2 cores of a virtual machine, 480 MiB of third level): products of tiles, and what is
// read and copied from the third level, by one calibration; the rest is that of emeraldrapids.
static constexpr Rates kZen4 = {0.271, 0.271, 0.271, 0, 0,   8.7, 10.4, 23.6,
                                23.6,  13.0,  16,    0, 1.1, 5.0, 0,    2200};
static constexpr Rates kZen5 = {0.119, 0.13, 0.119, 0, 0,   7.5, 10.4, 15.7,
                                19.1,  7.7,  9.3,   0, 1.4, 4.0, 0,    2200};
static constexpr Rates kGoldenCove = {0.183, 0.727, 0.181, 7.0, 7.0,  8.0,  36.0, 43.0,
                                      80.0,  11.5,  60,    4.0, 18.0, 18.0, 0.3,  3600};
static constexpr Rates kOtherTiles = {0.183, 0.727, 0.181, 4.65, 4.65, 8.0,  39.3, 43.0,
                                      102.5, 11.5,  60,    4.0,  18.0, 18.0, 0.3,  3600};
static constexpr Rates kGoldenCoveMedians = {0.191, 0.78, 0.196, 7.8, 7.8,  9.4,  43.0, 53.0,
                                             97.0,  31.0, 53.0,  6.5, 42.0, 42.0, 0,    4250};
static constexpr Rates kOtherTilesMedians = {0,     0, 0, 4.65, 0, 0, 39.3, 0,
                                             102.5, 0, 0, 0,    0, 0, 0,    0};
static constexpr llvm::StringLiteral kAnyWithTiles = "amx";
static constexpr KnownCpu kTable[] = {{"znver4", kZen4},
                                      {"znver5", kZen5},
                                      {"emeraldrapids", kGoldenCove, kGoldenCoveMedians},
                                      {"sapphirerapids", kGoldenCove, kGoldenCoveMedians},
                                      {kAnyWithTiles, kOtherTiles, kOtherTilesMedians}};

static const KnownCpu *findCpu(llvm::StringRef name) {
  const KnownCpu *found =
      llvm::find_if(kTable, [&](const KnownCpu &cpu) { return cpu.name == name; });
  return found == std::end(kTable) ? nullptr : found;
}

std::optional<Rates> xetile::findRates(llvm::StringRef name) {
  const KnownCpu *cpu = findCpu(name);
  return cpu ? std::optional(cpu->rates) : std::nullopt;
}

Rates xetile::findMedians(llvm::StringRef name) {
  const KnownCpu *cpu = findCpu(name);
  return cpu ? cpu->medians : Rates();
}

llvm::StringRef xetile::nameInTable(llvm::StringRef name, bool hasTiles) {
  return hasTiles && !findRates(name) ? llvm::StringRef(kAnyWithTiles) : name;
}

Rates xetile::lookupRates(llvm::StringRef name, std::string &source) {
  std::optional<Rates> found = findRates(name);
  source = found ? "known of " + name.str() : "typical ones, not measured";
  return found.value_or(kZen4);
}

std::string xetile::joinKnownCpus() {
  std::string names;
  for (const KnownCpu &cpu : kTable)
    names += (names.empty() ? "" : ", ") + cpu.name.str();
  return names;
}

llvm::SmallVector<std::string> xetile::limitRates(Rates &measured, const Rates &known,
                                                  const Rates &medians) {
  constexpr double kMost = 2;
  llvm::SmallVector<std::string> notes;
  for (const RateField &rate : allRateFields()) {
    double &value = measured.*rate.value, usual = known.*rate.value;
    if (rate.value == &Rates::fork || usual == 0 || value == 0)
      continue;
    double limited = std::clamp(value, usual / kMost, usual * kMost);
    std::string median;
    if (medians.*rate.value != 0)
      median = llvm::formatv(" (median of its calibrations: {0:f2})", medians.*rate.value);
    if (limited != value)
      notes.push_back(llvm::formatv("{0}: {1:f2} ns were measured, {2:f2} are known of such a "
                                    "CPU{3}: {4:f2} count",
                                    rate.name, value, usual, median, limited));
    value = limited;
  }
  return notes;
}
