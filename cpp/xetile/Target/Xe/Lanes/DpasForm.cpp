//===- DpasForm.cpp - multiplications as the matrix unit does them -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: dpas on vectors of a subgroup. Out: its instructions, and the lanes that these want of the
// operands. Refused: dpas that the device has no instruction for, layouts that contradict it.
#include "xetile/Layout/LaneLayout.h"
#include "xetile/Target/Xe/Lanes/LaneRules.h"

using namespace mlir;
using namespace xetile;

/// The bits of an element of A and B, 0 for types that no dpas multiplies.
static unsigned operandBits(Type type) {
  if (type.isF16() || type.isBF16())
    return 16;
  if (type.isF32() || isa<FloatTF32Type>(type))
    return 32;
  return type.isInteger(8) ? 8 : type.isInteger(4) ? 4 : 0;
}

static bool accumulates(Type operand, Type accumulator) {
  if (operand.isInteger())
    return accumulator.isInteger(32);
  return accumulator.isF32() || (accumulator == operand && (operand.isF16() || operand.isBF16()));
}

template <typename T> static std::string text(T value) {
  std::string result;
  llvm::raw_string_ostream(result) << value;
  return result;
}

/// The first violation by types and shapes, or nothing.
static std::optional<Error> checkDpasTypes(xegpu::DpasOp op) {
  auto a = cast<VectorType>(op.getLhs().getType()), b = cast<VectorType>(op.getRhs().getType());
  auto result = cast<VectorType>(op.getResult().getType());
  Type element = a.getElementType();
  unsigned bits = operandBits(element), pack = bits ? 32 / bits : 1;
  if (!bits || !accumulates(element, result.getElementType()))
    return Error(
        "multiplies " + text(element) + " and " + text(b.getElementType()) + " into " +
        text(result.getElementType()) +
        "; expected f16 into f32 or f16, bf16 into f32 or bf16, tf32 into f32, or i8 or i4 "
        "into i32");
  if (op.getAcc() && op.getAcc().getType() != result)
    return Error("adds " + text(op.getAcc().getType()) + " to " + text(result) +
                 ", expected the result's type");
  if (a.getRank() < 2 || b.getRank() < 2 || result.getRank() != 2)
    return Error("multiplies vectors of one dimension, what a lane holds; expected those of the "
                 "subgroup, or xegpu-op-level=lane");
  if ((a.getRank() == 3 && a.getDimSize(2) != pack) ||
      (b.getRank() == 3 && b.getDimSize(2) != pack))
    return Error("has a 3D operand whose last dimension is not the " + std::to_string(pack) +
                 " elements that 32 bits hold of " + text(element));
  return std::nullopt;
}

/// Of an operand in an instruction with `params`.
static Result<LaneMap> mapOfTile(DpasParams params, DpasOperand operand, unsigned elemBits) {
  // A single row of tf32 fills half of the lanes; the others hold the same.
  bool isHalf = operand == DpasOperand::A && elemBits == 32 && params.repeatCount == 1;
  if (isHalf)
    params.repeatCount = 2;
  Result<LinearLayout> layout = dpasTileLayout(params, operand);
  if (!layout)
    return layout.error();
  LaneMap map(*layout);
  return isHalf ? map.trimmed({1, int64_t(params.k())}) : map;
}

/// (k, n) is (k / pack, n, pack); (m, k) is (m, k / pack, pack).
static LaneMap packed3D(const LaneMap &map, int64_t pack, bool alongRows) {
  LaneMap packed;
  auto convert = [&](const LaneMap::Shape &step) {
    int64_t k = alongRows ? step[0] : step[1], other = alongRows ? step[1] : step[0];
    LaneMap::Shape result(3, 0);
    result[alongRows ? 0 : 1] = k / pack;
    result[2] = k % pack;
    result[alongRows ? 1 : 0] = other;
    return result;
  };
  packed.block = convert({map.block[0] - 1, map.block[1] - 1});
  for (int64_t &side : packed.block)
    ++side;
  for (const LaneMap::Shape &step : map.registers)
    packed.registers.push_back(convert(step));
  for (const LaneMap::Shape &step : map.lanes)
    packed.lanes.push_back(convert(step));
  return packed;
}

Result<DpasForm> xetile::dpasForm(xegpu::DpasOp op, const TargetInfo &target) {
  if (std::optional<Error> mistake = checkDpasTypes(op))
    return *mistake;
  auto a = cast<VectorType>(op.getLhs().getType()), b = cast<VectorType>(op.getRhs().getType());
  auto result = cast<VectorType>(op.getResult().getType());
  Type element = a.getElementType();
  DpasForm form;
  form.elemBits = operandBits(element);
  unsigned pack = 32 / form.elemBits;
  form.packedA = a.getRank() == 3;
  form.packedB = b.getRank() == 3;
  form.m = a.getDimSize(0);
  form.k = a.getDimSize(1) * (form.packedA ? pack : 1);
  form.n = b.getDimSize(1);
  int64_t rowsOfB = b.getDimSize(0) * (form.packedB ? pack : 1);
  form.params = largestDpas(target, form.elemBits);
  if (rowsOfB != form.k || result.getDimSize(0) != form.m || result.getDimSize(1) != form.n)
    return Error("multiplies " + text(a) + " and " + text(b) + " into " + text(result) +
                 ", whose m, n and k differ");
  if (form.params.opsPerChannel == 0 || form.k % form.params.k() || form.n % form.params.n())
    return Error("multiplies " + std::to_string(form.m) + "x" + std::to_string(form.k) + " and " +
                 std::to_string(form.k) + "x" + std::to_string(form.n) + " of " + text(element) +
                 "; expected n to be a multiple of " + std::to_string(form.params.n()) +
                 " and k of " + std::to_string(form.params.k()));
  form.params.repeatCount = std::min<int64_t>(form.params.repeatCount, form.m & -form.m);
  for (auto [operand, map] :
       {std::pair(DpasOperand::A, &form.a), std::pair(DpasOperand::B, &form.b),
        std::pair(DpasOperand::C, &form.c)}) {
    Result<LaneMap> made = mapOfTile(form.params, operand, form.elemBits);
    if (!made)
      return made.error();
    *map = *made;
  }
  if (form.packedA)
    form.a = packed3D(form.a, pack, /*alongRows=*/false);
  if (form.packedB)
    form.b = packed3D(form.b, pack, /*alongRows=*/true);
  return form;
}

LogicalResult xetile::checkDpasLayouts(xegpu::DpasOp op, const DpasForm &form,
                                       unsigned subgroupSize) {
  struct Part {
    StringRef name;
    Value value;
    const LaneMap &map;
    xegpu::DistributeLayoutAttr layout;
  } parts[] = {{"layout_a", op.getLhs(), form.a, op.getLayoutAAttr()},
               {"layout_b", op.getRhs(), form.b, op.getLayoutBAttr()},
               {"layout_cd", op.getResult(), form.c, op.getLayoutCdAttr()}};
  for (const Part &part : parts) {
    if (!part.layout || part.layout.getEffectiveLaneLayoutAsInt().empty())
      continue;
    Result<LaneMap> given = mapOfLayout(part.layout, shapeOf(part.value), subgroupSize);
    if (!given)
      return op.emitOpError() << given.error().message << ", in " << part.name;
    if (!haveSameLanes(*given, part.map, shapeOf(part.value), subgroupSize)) {
      LaneMap map = part.map;
      InFlightDiagnostic error = op.emitOpError("has a ")
                                 << part.name << " that contradicts the instruction: expected ";
      Result<LinearLayout> linear = map.linearLayout();
      Result<LaneLayout> rule =
          linear && map.rank() == 2
              ? toLaneLayout(*linear, part.name == "layout_a"
                                          ? std::max<int64_t>(1, map.block[1] / subgroupSize)
                                      : part.name == "layout_b" ? form.params.opsPerChannel
                                                                : 1)
              : Result<LaneLayout>(Error("a column to each lane"));
      if (rule)
        return error << rule->str() << ", or none";
      return error << "each lane to hold what " << map.attr(op.getContext()) << " says, or none";
    }
  }
  return success();
}
