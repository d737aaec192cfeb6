//===- DecideConfig.cpp - from a request to a configuration ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction, what the pass or the schedule asks for. Out: a legal configuration, what is
// packed and why. Refused: element types that are neither float nor integer; values that do not fit
// the problem, the machine or each other, with the field, its value and the legal range.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/IR/XeTileAttrs.h"
#include "xetile/Target/Cpu/Matmul/Config/CostModel.h"
#include "xetile/Target/Cpu/Matmul/Config/DotProducts.h"
#include "xetile/Target/Cpu/Matmul/Config/Request.h"
#include "xetile/Target/Cpu/Matmul/Packing/Packing.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "deep-tile-matmul"

using namespace mlir;
using namespace xetile;

Problem DeepTileRequest::readPack(StringRef text) {
  if (text != "auto" && text != "always" && text != "never")
    return "pack: expected 'auto', 'always' or 'never', got '" + text.str() + "'";
  pack = text == "auto" ? Pack::Auto : text == "always" ? Pack::Always : Pack::Never;
  return {};
}

StringRef DeepTileRequest::writePack(Pack pack) {
  return pack == Pack::Auto ? "auto" : pack == Pack::Always ? "always" : "never";
}

/// The field of the request, or else of the op's attribute.
static DeepTileRequest::Pack wantedPack(Operation *op, const DeepTileRequest &request) {
  DeepTileRequest own;
  if (auto text = op->getAttrOfType<StringAttr>(kPackAttr))
    (void)own.readPack(text); // verified
  return request.pack == DeepTileRequest::Pack::Auto ? own.pack : request.pack;
}

static LogicalResult checkTypes(const Contraction &matmul) {
  Type a = matmul.elementType(0), b = matmul.elementType(1), c = matmul.elementType(2);
  auto wrong = [&](const Twine &expected) {
    return matmul.op->emitOpError()
           << "element types " << a << ", " << b << " -> " << c << ": expected " << expected;
  };
  bool floats = isa<FloatType>(a) && isa<FloatType>(b) && isa<FloatType>(c);
  bool integers = a.isSignlessInteger() && b.isSignlessInteger() && c.isSignlessInteger();
  if (!floats && !integers)
    return wrong("all of them floats or all of them signless integers");
  for (Type type : {a, b, c})
    if (floats && !type.isF16() && !type.isBF16() && !type.isF32() && !type.isF64())
      return wrong("f16, bf16, f32 or f64");
  for (Type type : {a, b, c})
    if (integers && (type.getIntOrFloatBitWidth() < 8 || type.getIntOrFloatBitWidth() > 64))
      return wrong("integers of 8 to 64 bits");
  if (std::max(a.getIntOrFloatBitWidth(), b.getIntOrFloatBitWidth()) > c.getIntOrFloatBitWidth())
    return wrong("a result at least as wide as the operands");
  return success();
}

static FailureOr<Machine> machineFor(Operation *op, const DeepTileRequest &request) {
  FailureOr<Machine> machine = describeMachine(op, request.requireDescription);
  if (failed(machine))
    return failure();
  if (request.threads < 0 || request.threads > INT32_MAX)
    return op->emitOpError() << "threads = " << request.threads << ": expected 0 to " << INT32_MAX
                             << ", 0 for the machine's cores";
  if (request.threads > 0)
    machine->cores = request.threads;
  return machine;
}

/// Threads share the iterations of a parallel loop, not the matmul of one.
static bool isOnThread(Operation *op) { return op->getParentOfType<scf::ForallOp>() != nullptr; }

/// The fields of the op's attribute, under those of the request.
static PartialConfig givenFields(Operation *op, const DeepTileRequest &request) {
  PartialConfig given;
  if (auto config = op->getAttrOfType<MatmulConfigAttr>(kConfigAttr))
    given = config.getFields();
  given.overrideBy(request.given);
  if (isOnThread(op))
    given.threads = {1, 1, 1};
  return given;
}

/// The cost model divides by these values and counts up to them.
static LogicalResult checkGiven(Operation *op, const PartialConfig &given, const Machine &machine) {
  auto wrong = [&](const std::optional<int64_t> &field) {
    return op->emitOpError() << fieldName(given, field) << " = " << *field << ": expected ";
  };
  int64_t threads = 1;
  for (const auto *group : {&given.threads, &given.block, &given.innermost})
    for (const std::optional<int64_t> &field : *group) {
      if (!field)
        continue;
      if (*field < 1 || *field > INT32_MAX)
        return wrong(field) << "1 to " << INT32_MAX;
      if (group == &given.threads && (threads *= *field) > machine.cores)
        return wrong(field) << "at most " << machine.cores / (threads / *field)
                            << ", as MThreads * NThreads * KThreads may be " << machine.cores
                            << " at most, the number of cores (" << machine.source
                            << "); ask for more with the option threads";
    }
  if (given.loopOrder && !isLoopOrder(*given.loopOrder))
    return wrong(given.loopOrder) << describeLoopOrders();
  return success();
}

/// True if there are as many products as one of tile registers has: fewer are not worth copies that
/// fill tiles up. True if a size is not known.
static bool fillsATile(const Contraction &matmul, int64_t group) {
  auto products = uint64_t(1);
  for (MatmulDim dim : {kM, kN, kK}) {
    if (ShapedType::isDynamic(matmul.extent(dim)))
      return true;
    products = llvm::SaturatingMultiply<uint64_t>(products, uint64_t(matmul.extent(dim)));
  }
  return products >= uint64_t(kTileSide * kTileSide * kTileSide * group);
}

/// Settles what is packed, and in groups of how many elements of k.
static void decidePacking(const Contraction &matmul, const Machine &machine, ConfigChoice &choice) {
  int64_t bits = std::max<int64_t>(matmul.elementType(2).getIntOrFloatBitWidth(), 32);
  choice.vectorLength = machine.vectorBits / bits;
  // Panels are rows of whole vectors.
  choice.packB &= choice.config.innermost[kN] % choice.vectorLength == 0;
  // Groups of k are read from rows of A: these are copied to run along k and to be whole
  // groups, or do both where they are.
  bool isPlain = llvm::all_of(ArrayRef<unsigned>{0, 1, 2}, [&](unsigned operand) {
    return matmul.map(operand).getNumResults() == matmul.batch.size() + 2;
  });
  AffineMap aMap = matmul.map(0);
  int64_t group = dotGroup(matmul, machine);
  bool inPlace = aMap.getDimPosition(aMap.getNumResults() - 1) == matmul.tiled(kK) &&
                 hasWholeGroups(matmul, choice.config, group);
  if (choice.packB && isPlain && (choice.packA || inPlace))
    choice.group = group;
  choice.offsetA = choice.group > 1 && choice.packA && offsetsBytes(matmul, machine);
  choice.usesTiles =
      choice.group > 1 && machine.amx && matmul.extent(kN) != 1 && fillsATile(matmul, choice.group);
  int64_t k = matmul.extent(kK);
  int64_t steps = kTileSide * choice.group;
  bool isKnown = !ShapedType::isDynamic(k);
  // Blocks of k that a configuration asks for may begin within a tile.
  bool wholeBlocks = choice.config.innermost[kK] % steps == 0 ||
                     (isKnown && choice.config.threads[kK] == 1 && choice.config.block[kK] >= k);
  choice.fillsTiles =
      choice.usesTiles && wholeBlocks && (choice.packA || (isKnown && k % steps == 0));
  if (choice.group == 1)
    return;
  std::string note = llvm::formatv("k in groups of {0}: an instruction adds {0} products of {1}",
                                   choice.group, matmul.elementType(0));
  if (machine.amx)
    note += " in each element of tiles of 16 x 16";
  if (choice.offsetA)
    note += std::string("; A is offset by 128, as both inputs are ") +
            (matmul.isUnsigned(0) ? "unsigned" : "signed");
  choice.reasons.push_back(note);
}

/// `machine` with the rates that those measured on it are weighed against.
static Machine withUsualRates(const Machine &machine) {
  Machine usual = machine;
  usual.rates = *machine.usual;
  usual.ratesSource =
      machine.ratesSource + (machine.known ? ", those of the table chose" : ", typical ones chose");
  return usual;
}

/// True if vectors run along n by all rates that may choose.
static bool runsAlongColumns(const Contraction &matmul, const Machine &machine) {
  auto isAlongN = [&](const Machine &rated) {
    return CostModel(matmul, rated, PackingWish()).vectorDim == kN;
  };
  return isAlongN(machine) && (!machine.usual || isAlongN(withUsualRates(machine)));
}

/// The choice by measured rates, unless that by rates of the table, or typical ones, is predicted
/// to take as long: then it stays, as that was tried.
static ConfigChoice chooseByRates(const Contraction &matmul, const Machine &machine,
                                  const PartialConfig &given, const PackingWish &packing) {
  ConfigChoice choice = chooseConfig(matmul, machine, given, packing);
  llvm::append_range(choice.reasons, machine.notes);
  if (!machine.usual)
    return choice;
  ConfigChoice other = chooseConfig(matmul, withUsualRates(machine), given, packing);
  if (other.config == choice.config && other.packA == choice.packA && other.packB == choice.packB &&
      other.turnB == choice.turnB)
    return choice;
  PartialConfig fixed;
  for (MatmulDim dim : {kM, kN, kK}) {
    fixed.threads[dim] = other.config.threads[dim];
    fixed.block[dim] = other.config.block[dim];
    fixed.innermost[dim] = other.config.innermost[dim];
  }
  fixed.loopOrder = other.config.loopOrder;
  PackingWish wish = packing;
  wish.a = other.packA;
  wish.b = other.packB;
  double cycles = chooseConfig(matmul, machine, fixed, wish).cycles;
  // No rounds agree better than this.
  constexpr double kLeast = 0.05;
  double most = std::max(machine.uncertainty, kLeast), win = 1 - choice.cycles / cycles;
  std::string text =
      llvm::formatv("measured rates promise {0:f0} % less time than {1}, which "
                    "{4} choose: {2} than "
                    "their uncertainty of {3:f0} %",
                    100 * win, writeConfig(other.config), win > most ? "more" : "no more",
                    100 * most, machine.known ? "those of the table" : "typical ones");
  ConfigChoice &chosen = win > most ? choice : other;
  chosen.reasons.push_back(text);
  return chosen;
}

/// The prediction, and how far off it may be: by the rates, or by what the model leaves out.
static std::string tellTime(const Machine &machine, double cycles) {
  // The mean over the rows of test/bench/deep_tile.py, which prints it beside what was measured.
  constexpr double kModel = 0.3;
  double us = cycles * machine.rates.multiplyAdd / 1000;
  double most = 1 + std::max(machine.uncertainty, kModel);
  return llvm::formatv(
      "predicted: {0:f2} us of the busiest thread, {1:f2} to {2:f2}; not counted: "
      "pages that are new, misses of the TLB, ops that are fused, what runs beside",
      us, us / most, us * most);
}

FailureOr<ConfigChoice> xetile::decideConfig(const Contraction &matmul,
                                             const DeepTileRequest &request) {
  Operation *op = matmul.op;
  if (failed(checkTypes(matmul)))
    return failure();
  FailureOr<Machine> machine = machineFor(op, request);
  if (failed(machine))
    return failure();
  PartialConfig given = givenFields(op, request);
  if (failed(checkGiven(op, given, *machine)))
    return failure();
  DeepTileRequest::Pack pack = wantedPack(op, request);
  PackingWish packing;
  if (pack != DeepTileRequest::Pack::Auto)
    packing.a = packing.b = pack == DeepTileRequest::Pack::Always;
  // A constant is packed by the compiler, what is frozen once for all calls: it costs no time.
  else if (matmul.extent(kN) != 1 && isKnownMatrix(matmul.op->getOperand(1)))
    packing.b = packing.aheadB = true;
  // The cost of packing is amortized over many steps. Where vectors run along k they do with and
  // without a loop: the order of sums is the same however many steps a thread has.
  else if (op->hasAttr(kPackBeforeLoopAttr) && runsAlongColumns(matmul, *machine))
    packing.b = true;
  ConfigChoice choice = chooseByRates(matmul, *machine, given, packing);
  if (Problem wrong = checkConfig(matmul, choice.config))
    return op->emitOpError() << *wrong;
  decidePacking(matmul, *machine, choice);
  if (isOnThread(op))
    choice.reasons.push_back("one thread: a parallel loop is around it");
  choice.reasons.push_back(tellTime(*machine, choice.cycles));
  LDBG() << *op << ": " << writeConfig(choice.config);
  for (const std::string &reason : choice.reasons)
    LDBG() << "  " << reason;
  return choice;
}
