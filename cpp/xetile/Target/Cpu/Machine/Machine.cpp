//===- Machine.cpp - what the heuristic knows about a CPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: DLTI attributes. Out: cores, caches, vectors, rates: those of the device "CPU", where what is
// not told is that of any x86-64; without such a device the host's, with rates of a device "host".
// Refused: entries that are no positive numbers, absent entries where they are required.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Machine/Machine.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xetile/Target/Host/HostFeatures.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

LogicalResult xetile::checkThreads(Operation *op, int64_t threads) {
  if (threads >= 0)
    return success();
  return emitError(op->getLoc()) << "threads = " << threads
                                 << ": expected 0 (the machine's cores) or more";
}

/// An entry of a device, or null.
static Attribute findEntry(Operation *op, StringRef device, StringRef name) {
  MLIRContext *context = op->getContext();
  SmallVector<DataLayoutEntryKey> keys = {StringAttr::get(context, device),
                                          StringAttr::get(context, name)};
  FailureOr<Attribute> found = dlti::query(op, keys);
  return succeeded(found) ? *found : Attribute();
}

/// Sizes and numbers of a machine that is described; with `require` all but what may lack.
static LogicalResult readSizes(Operation *op, bool isDescribed, bool require, Machine &machine) {
  struct Entry {
    StringRef name;
    int64_t *value;
    bool mayLack = false;
  };
  Entry entries[] = {
      {"num_threads", &machine.cores},           {"L1_cache_size_in_bytes", &machine.l1},
      {"L2_cache_size_in_bytes", &machine.l2},   {"L3_cache_size_in_bytes", &machine.l3},
      {"max_vector_width", &machine.vectorBits}, {"L1_cache_ways", &machine.l1Ways, true},
      {"L2_cache_ways", &machine.l2Ways, true}};
  for (Entry entry : entries) {
    Attribute found = isDescribed ? findEntry(op, "CPU", entry.name) : Attribute();
    if (!found) {
      if (!require || entry.mayLack)
        continue;
      return op->emitOpError() << "expected a machine description: no DLTI entry \"CPU\", \""
                               << entry.name << "\" is around it";
    }
    auto integer = dyn_cast<IntegerAttr>(found);
    if (!integer || integer.getValue().getActiveBits() > 62 || integer.getInt() < 1)
      return op->emitOpError() << "DLTI entry \"CPU\", \"" << entry.name
                               << "\": expected a positive integer, got " << found;
    if (entry.value == &machine.cores && integer.getInt() > INT32_MAX)
      return op->emitOpError() << "DLTI entry \"CPU\", \"num_threads\" = " << integer.getInt()
                               << ": expected 1 to " << INT32_MAX;
    *entry.value = integer.getInt();
    if (entry.value == &machine.vectorBits) {
      if (!llvm::isPowerOf2_64(machine.vectorBits) || machine.vectorBits < 128 ||
          machine.vectorBits > 512)
        return op->emitOpError() << "DLTI entry \"CPU\", \"max_vector_width\" = "
                                 << machine.vectorBits << ": expected 128, 256 or 512";
      machine.registers = machine.vectorBits == 512 ? 32 : 16;
    }
  }
  return success();
}

/// The CPU that a description names, whose rates the table has.
static LogicalResult readName(Operation *op, Machine &machine) {
  Attribute found = findEntry(op, "CPU", "name");
  if (!found)
    return success();
  auto name = dyn_cast<StringAttr>(found);
  std::optional<Rates> rates = name ? findRates(name) : std::nullopt;
  if (!rates)
    return op->emitOpError() << "DLTI entry \"CPU\", \"name\": expected one of " << joinKnownCpus()
                             << ", got " << found << "; leave it out and give rates";
  machine.rates = *rates;
  machine.ratesSource = "known of " + name.str();
  machine.known = machine.usual = rates;
  machine.medians = findMedians(name);
  return success();
}

/// How uncertain rates are that were measured.
static LogicalResult readUncertainty(Operation *op, StringRef device, Machine &machine) {
  Attribute found = findEntry(op, device, "uncertainty");
  if (!found)
    return success();
  auto number = dyn_cast<FloatAttr>(found);
  double value = number ? number.getValueAsDouble() : -1;
  if (!(value >= 0 && value <= 1))
    return op->emitOpError() << "DLTI entry \"" << device
                             << "\", \"uncertainty\": expected a part of a rate, a float from 0 to "
                                "1, got "
                             << found;
  machine.uncertainty = value;
  return success();
}

static LogicalResult readRates(Operation *op, StringRef device, Machine &machine) {
  for (const RateField &rate : allRateFields()) {
    Attribute found = findEntry(op, device, rate.name);
    if (!found)
      continue;
    auto number = dyn_cast<FloatAttr>(found);
    double value = number ? number.getValueAsDouble() : 0;
    // No instruction is faster, no system slower; the model divides by these numbers.
    constexpr double kLeast = 1e-3, kMost = 1e9;
    if (!(value >= kLeast && value <= kMost))
      return op->emitOpError() << "DLTI entry \"" << device << "\", \"" << rate.name
                               << "\": expected nanoseconds, a float from 0.001 to 1e9, got "
                               << found;
    machine.rates.*rate.value = value;
    machine.ratesSource = "DLTI";
  }
  if (machine.ratesSource != "DLTI")
    machine.known = machine.usual = std::nullopt;
  if (machine.known)
    machine.notes = limitRates(machine.rates, *machine.known, machine.medians);
  return readUncertainty(op, device, machine);
}

/// Instructions of a machine that is described.
static LogicalResult readFlags(Operation *op, Machine &machine) {
  std::pair<StringRef, bool *> flags[] = {
      {"bf16_dot", &machine.bf16Dot}, {"int8_dot", &machine.int8Dot}, {"amx", &machine.amx}};
  for (auto [name, flag] : flags) {
    Attribute found = findEntry(op, "CPU", name);
    if (!found)
      continue;
    auto value = dyn_cast<IntegerAttr>(found);
    if (!value || (!value.getValue().isZero() && !value.getValue().isOne()))
      return op->emitOpError() << "DLTI entry \"CPU\", \"" << name << "\": expected 0 or 1, got "
                               << found;
    *flag = value.getValue().isOne();
  }
  return success();
}

FailureOr<Machine> xetile::describeMachine(Operation *op, bool require) {
  auto device = StringAttr::get(op->getContext(), "CPU");
  // A machine that is described is that, and nothing of the one below.
  bool isDescribed = succeeded(dlti::query(op, DataLayoutEntryKey(device)));
  if (!isDescribed && !wrongHostFeatures().empty())
    return op->emitOpError() << wrongHostFeatures();
  Machine machine;
  if (isDescribed) {
    machine.source = "DLTI";
    machine.rates = lookupRates("", machine.ratesSource);
  } else {
    machine = detectHost();
  }
  if (failed(readSizes(op, isDescribed, require, machine)) ||
      (isDescribed && failed(readName(op, machine))) ||
      failed(readRates(op, isDescribed ? "CPU" : "host", machine)) ||
      (isDescribed && failed(readFlags(op, machine))))
    return failure();
  machine.allCores = machine.cores;
  // These instructions have 512-bit forms here; tiles come with both kinds of dot products.
  machine.amx &= machine.vectorBits == 512;
  // Multiply-adds of widened elements, which are half as many, may be faster.
  if (!isDescribed)
    machine.bf16Dot &= machine.rates.bf16Dot < 2 * machine.rates.multiplyAdd;
  machine.bf16Dot = machine.vectorBits == 512 && (machine.bf16Dot || machine.amx);
  machine.int8Dot |= machine.amx;
  return machine;
}
