//===- RegisterEstimate.cpp - how many registers a kernel's vectors need ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a kernel on vectors of a subgroup, each of them a message or an operand of an instruction.
// Out: the registers of the vectors that live at once where these are most, and what they are.
// Refused: nothing; numbers of one lane, addresses and what the machine's compiler adds do not
// count.
#include "xetile/Target/Xe/Lanes/RegisterEstimate.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xetile;

namespace {

class Pressure {
public:
  explicit Pressure(const TargetInfo &target) : target(target) {}

  using Live = llvm::SetVector<Value, SmallVector<Value>, DenseSet<Value>>;

  /// Walks a region backwards; `live` holds what is used behind it.
  void visit(Region &region, const Live &behind);

  RegisterEstimate most;

  int64_t registersOf(Value value) const {
    auto type = dyn_cast<VectorType>(value.getType());
    if (!type || !type.getElementType().isIntOrFloat())
      return 0;
    int64_t bytes = llvm::divideCeil(type.getNumElements() * type.getElementTypeBitWidth(), 8);
    return llvm::divideCeil(bytes, target.registerBytes);
  }

private:
  /// A part of a vector lies in the registers of the whole one.
  static Value holderOf(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<vector::ExtractOp, vector::ExtractStridedSliceOp, vector::ShapeCastOp,
               vector::BitCastOp>(op))
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  void use(Value value, Live &live) {
    Value holder = holderOf(value);
    if (registersOf(holder))
      live.insert(holder);
  }

  void measure(const Live &live) {
    int64_t registers = 0;
    for (Value value : live)
      registers += registersOf(value);
    if (registers > most.registers) {
      most.registers = registers;
      most.values.assign(live.begin(), live.end());
    }
  }

  const TargetInfo &target;
};

void Pressure::visit(Region &region, const Live &behind) {
  // Kernels have structured control flow here: one block in each region.
  for (Block &block : region) {
    Live live = behind;
    for (Operation &op : llvm::reverse(block)) {
      // Constants are made where they are wanted.
      if (op.hasTrait<OpTrait::ConstantLike>()) {
        for (Value result : op.getResults())
          live.remove(result);
        continue;
      }
      for (Value result : op.getResults())
        live.remove(result);
      for (Region &inner : op.getRegions()) {
        // Live-ins of an inner loop are live through all of its steps.
        Live through = live;
        llvm::SetVector<Value> outside;
        getUsedValuesDefinedAbove(inner, outside);
        for (Value value : outside)
          use(value, through);
        visit(inner, through);
        for (Value value : outside)
          use(value, live);
      }
      for (Value operand : op.getOperands())
        use(operand, live);
      measure(live);
    }
  }
}

std::string describe(const RegisterEstimate &estimate, const Pressure &pressure) {
  // Values alike are told as one, "32 x vector<8x16xf32> (256 registers)".
  llvm::MapVector<Type, std::pair<int64_t, int64_t>> kinds;
  for (Value value : estimate.values) {
    auto &[count, registers] = kinds[value.getType()];
    ++count;
    registers += pressure.registersOf(value);
  }
  auto all = kinds.takeVector();
  auto order = llvm::to_vector(llvm::seq<size_t>(0, all.size()));
  // Of equal ones the first found comes first.
  llvm::sort(order, [&](size_t left, size_t right) {
    int64_t leftSum = all[left].second.second, rightSum = all[right].second.second;
    return leftSum != rightSum ? leftSum > rightSum : left < right;
  });
  std::string text;
  llvm::raw_string_ostream stream(text);
  constexpr size_t most = 5;
  for (size_t index : llvm::ArrayRef(order).take_front(most)) {
    auto &[type, sums] = all[index];
    stream << (text.empty() ? "" : ", ") << sums.first << " x " << type << " (" << sums.second
           << " registers)";
  }
  if (order.size() > most)
    stream << ", and " << order.size() - most << " other kinds";
  return text;
}

} // namespace

RegisterEstimate xetile::estimateRegisters(gpu::GPUFuncOp function, const TargetInfo &target) {
  Pressure pressure(target);
  pressure.visit(function.getBody(), {});
  return std::move(pressure.most);
}

void xetile::attachRegisterEstimates(gpu::GPUModuleOp module, const TargetInfo &target) {
  Builder builder(module.getContext());
  for (auto function : module.getOps<gpu::GPUFuncOp>()) {
    if (!function.isKernel() || !llvm::hasSingleElement(function.getBody()))
      continue;
    RegisterEstimate estimate = estimateRegisters(function, target);
    function->setAttr(
        registerEstimateAttr,
        builder.getDictionaryAttr(
            {builder.getNamedAttr("registers",
                                  builder.getI32IntegerAttr(int32_t(estimate.registers))),
             builder.getNamedAttr("values",
                                  builder.getStringAttr(describe(estimate, Pressure(target))))}));
  }
}
