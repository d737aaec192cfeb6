//===- DeepTileMatmul.cpp - configure and tile the matmuls of a module -------===//
// In: contractions on tensors, requests. Out: loops around batch-reduce matmuls, or remarks.
// Refused: configurations that are not legal, with the field, its value and the legal range;
// element types that are neither float nor integer.
//===----------------------------------------------------------------------===//
#include "xetile/IR/XeTileAttrs.h"
#include "xetile/Target/Cpu/Config/ConfigAnalysis.h"
#include "xetile/Target/Cpu/LoopNest/DeepTile.h"
#include "xetile/Target/Cpu/LoopNest/Fusion.h"
#include "xetile/Target/Cpu/Packing/Packing.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace xetile {
#define GEN_PASS_DEF_DEEPTILEMATMUL
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

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

FailureOr<ConfigChoice> xetile::decideConfig(const Contraction &matmul,
                                             const DeepTileRequest &request) {
  Operation *op = matmul.op;
  if (failed(checkTypes(matmul)))
    return failure();
  FailureOr<Machine> machine = describeMachine(op, request.requireDescription);
  if (failed(machine))
    return failure();
  if (request.threads < 0 || request.threads > INT32_MAX)
    return op->emitOpError() << "threads = " << request.threads << ": expected 0 to " << INT32_MAX
                             << ", 0 for the machine's cores";
  if (request.threads > 0)
    machine->cores = request.threads;

  PartialConfig given;
  if (Attribute attribute = op->getAttr(kConfigAttr)) {
    auto config = dyn_cast<MatmulConfigAttr>(attribute);
    if (!config)
      return op->emitOpError() << "expected " << kConfigAttr
                               << " to be a #xetile.matmul_config, got " << attribute;
    for (auto [field, value] : llvm::enumerate(config.getValues()))
      if (value != MatmulConfigAttr::kUnset)
        given[field] = value;
  }
  for (unsigned field = 0; field < MatmulConfig::kNumFields; ++field)
    if (request.given[field])
      given[field] = request.given[field];
  auto names = MatmulConfig::fieldNames();
  // The cost model divides by these and counts up to them.
  int64_t threads = 1;
  for (unsigned field = 0; field < 9; ++field) {
    int64_t value = given[field].value_or(1);
    if (value < 1 || value > INT32_MAX)
      return op->emitOpError() << names[field] << " = " << value << ": expected 1 to " << INT32_MAX;
    if (field < 3 && (threads *= value) > machine->cores)
      return op->emitOpError() << names[field] << " = " << value << ": expected at most "
                               << machine->cores / (threads / value)
                               << ", as MThreads * NThreads * KThreads may be " << machine->cores
                               << " at most, the number of cores (" << machine->source
                               << "); ask for more with the option threads";
  }
  if (given[9] && (*given[9] < 0 || *given[9] >= MatmulConfig::kNumLoopOrders))
    return op->emitOpError() << "loopOrder = " << *given[9] << ": expected 0 to "
                             << MatmulConfig::kNumLoopOrders - 1;

  ConfigChoice choice = chooseConfig(matmul, *machine, given);
  if (std::string wrong = checkConfig(matmul, choice.config); !wrong.empty())
    return op->emitOpError() << wrong;
  if (request.pack != DeepTileRequest::Pack::Auto)
    choice.packA = choice.packB = request.pack == DeepTileRequest::Pack::Always;
  // A constant is packed by the compiler, which costs no time.
  if (request.pack == DeepTileRequest::Pack::Auto)
    choice.packB |= isConstantMatrix(op->getOperand(1));
  int64_t bits = std::max<int64_t>(matmul.elementType(2).getIntOrFloatBitWidth(), 32);
  choice.vectorLength = machine->vectorBits / bits;
  // Panels are rows of whole vectors.
  choice.packB &= choice.config.innermost[kN] % choice.vectorLength == 0;
  // Groups of k are read from rows of A: these are copied to run along k and to be whole
  // groups, or do both where they are.
  bool isPlain = llvm::all_of(ArrayRef<unsigned>{0, 1, 2}, [&](unsigned operand) {
    return matmul.map(operand).getNumResults() == matmul.batch.size() + 2;
  });
  AffineMap aMap = matmul.map(0);
  int64_t group = dotGroup(matmul, *machine);
  bool inPlace = aMap.getDimPosition(aMap.getNumResults() - 1) == matmul.tiled(kK) &&
                 hasWholeGroups(matmul, choice.config, group);
  if (choice.packB && isPlain && (choice.packA || inPlace))
    choice.group = group;
  choice.offsetA = choice.group > 1 && choice.packA && offsetsBytes(matmul, *machine);
  if (choice.group > 1) {
    std::string note = llvm::formatv("k in groups of {0}: an instruction adds {0} products of {1}",
                                     choice.group, matmul.elementType(0));
    if (machine->amx)
      note += " in each element of tiles of 16 x 16";
    if (choice.offsetA)
      note += std::string("; A is offset by 128, as both inputs are ") +
              (matmul.isUnsigned(0) ? "unsigned" : "signed");
    choice.reasons.push_back(note);
  }
  return choice;
}

FailureOr<Value> xetile::deepTile(RewriterBase &rewriter, const Contraction &matmul,
                                  const DeepTileRequest &request) {
  FailureOr<ConfigChoice> choice = decideConfig(matmul, request);
  if (failed(choice))
    return failure();
  // Nothing to multiply: such ops lower to loops that do not run.
  if (llvm::is_contained(matmul.sizes, 0))
    return matmul.op->getResult(0);
  DeepTileOptions options;
  options.packA = choice->packA;
  options.packB = choice->packB;
  options.vectorLength = choice->vectorLength;
  options.group = choice->group;
  options.offsetA = choice->offsetA;
  Fusion fusion = request.fuse ? mergeNeighbours(rewriter, matmul) : Fusion();
  return deepTile(rewriter, matmul, choice->config, options, fusion);
}

namespace {
struct DeepTileMatmul : xetile::impl::DeepTileMatmulBase<DeepTileMatmul> {
  using DeepTileMatmulBase::DeepTileMatmulBase;

  void runOnOperation() override {
    DeepTileRequest request;
    if (failed(readOptions(request)))
      return signalPassFailure();
    // All of them first: other ops may be gone once their neighbour is tiled.
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    std::vector<Contraction> matmuls;
    SmallVector<Operation *> standIns;
    for (linalg::LinalgOp op : ops) {
      std::string why;
      Operation *standIn;
      FailureOr<Contraction> matmul = matchOrUnfold(rewriter, op, why, standIn);
      if (succeeded(matmul)) {
        matmuls.push_back(*matmul);
      } else if (op->hasAttr(kConfigAttr)) {
        op->emitOpError() << "has a " << kConfigAttr << " but cannot be tiled: " << why;
        return signalPassFailure();
      }
      if (standIn && explain)
        standIns.push_back(standIn);
      else if (standIn)
        rewriter.replaceOp(op, standIn);
    }
    for (const Contraction &matmul : matmuls)
      if (failed(explain ? remark(matmul, request) : deepTile(rewriter, matmul, request)))
        return signalPassFailure();
    for (Operation *standIn : standIns)
      eraseStandIn(rewriter, standIn);
  }

private:
  LogicalResult readOptions(DeepTileRequest &request) {
    auto wrong = [&](const Twine &message) {
      return emitError(getOperation()->getLoc()) << message;
    };
    if (std::string error = readConfig(config, request.given); !error.empty())
      return wrong(error);
    if (machine != "auto" && machine != "dlti")
      return wrong("machine: expected 'auto' or 'dlti', got '" + Twine(machine.getValue()) + "'");
    if (pack != "auto" && pack != "always" && pack != "never")
      return wrong("pack: expected 'auto', 'always' or 'never', got '" + Twine(pack.getValue()) +
                   "'");
    request.threads = threads;
    request.fuse = fuse;
    request.requireDescription = machine == "dlti";
    using Pack = DeepTileRequest::Pack;
    request.pack = pack == "auto" ? Pack::Auto : pack == "always" ? Pack::Always : Pack::Never;
    return success();
  }

  FailureOr<Value> remark(const Contraction &matmul, const DeepTileRequest &request) {
    FailureOr<ConfigChoice> choice = decideConfig(matmul, request);
    if (failed(choice))
      return failure();
    InFlightDiagnostic diagnostic = matmul.op->emitRemark() << writeConfig(choice->config);
    for (const std::string &reason : choice->reasons)
      diagnostic.attachNote() << reason;
    return Value();
  }
};
} // namespace
