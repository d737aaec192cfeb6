//===- CheckMemory.cpp - a function that checks descriptors before a call ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: public functions on memory in C order; arguments that are results, or written, say so. Out:
// beside each @f @f_check_memory, which looks at descriptors of the same arguments: static sizes,
// offsets, strides, memory that is written apart from all other. Refused: nothing; functions on
// other memory stay alone.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Host/EntryPoints.h"
#include "xetile/Target/Host/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKMEMORY
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// A value and what a message calls it.
struct Side {
  Value value;
  std::string text;
};

/// Writes the body of @f_check_memory.
class Writer {
public:
  Writer(func::FuncOp function, func::FuncOp check)
      : function(function), check(check), b(OpBuilder::atBlockBegin(check.addEntryBlock())),
        loc(function.getLoc()), status(3, constant(0)) {}

  void write();

private:
  struct Range {
    std::string name;
    Value begin, end;
    bool isWritten = false;
  };

  Range writeArgument(unsigned number, const std::string &name);
  void writeApart(const Range &one, const Range &other);
  void emit(Value holds, const Side &left, StringRef sign, const Side &right, StringRef reason);

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value compare(arith::CmpIPredicate predicate, Value left, Value right) {
    return arith::CmpIOp::create(b, loc, predicate, left, right);
  }
  Value either(Value left, Value right) { return arith::OrIOp::create(b, loc, left, right); }

  func::FuncOp function, check;
  OpBuilder b;
  Location loc;
  /// The number of the first condition that does not hold, 0 for none, and its two sides.
  SmallVector<Value> status;
  SmallVector<Attribute> conditions;
};

void Writer::emit(Value holds, const Side &left, StringRef sign, const Side &right,
                  StringRef reason) {
  conditions.push_back(b.getStrArrayAttr({left.text, sign, right.text, reason}));
  Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
  Value first = compare(arith::CmpIPredicate::eq, status[0], constant(0));
  Value fails = arith::AndIOp::create(b, loc, compare(arith::CmpIPredicate::eq, holds, no), first);
  SmallVector<Value> told = {constant(conditions.size()), left.value, right.value};
  for (auto [old, next] : llvm::zip(status, told))
    old = arith::SelectOp::create(b, loc, fails, next, old);
}

Writer::Range Writer::writeArgument(unsigned number, const std::string &name) {
  auto type = cast<MemRefType>(function.getArgumentTypes()[number]);
  Value memory = check.getArgument(number);
  auto parts = memref::ExtractStridedMetadataOp::create(b, loc, memory);
  auto equal = [&](Value got, const std::string &what, const Side &expected, StringRef reason,
                   Value unless = {}) {
    Value holds = compare(arith::CmpIPredicate::eq, got, expected.value);
    emit(unless ? either(holds, unless) : holds, {got, name + ", " + what}, "==", expected, reason);
  };
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (int64_t size = type.getDimSize(dim); !type.isDynamicDim(dim))
      equal(parts.getSizes()[dim], "dimension " + std::to_string(dim),
            {constant(size), std::to_string(size)}, "its type");
  equal(parts.getOffset(), "offset", {constant(0), "0"}, "elements start at the aligned address");
  // Strides of empty arrays, and of dimensions of one, may be anything.
  Value all = constant(1);
  for (Value size : parts.getSizes())
    all = arith::MulIOp::create(b, loc, all, size);
  Value isEmpty = compare(arith::CmpIPredicate::eq, all, constant(0));
  Value elements = constant(1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    Value size = parts.getSizes()[dim];
    Value any = either(compare(arith::CmpIPredicate::sle, size, constant(1)), isEmpty);
    equal(parts.getStrides()[dim], "stride of dimension " + std::to_string(dim),
          {elements, "product of later dimensions"}, "arrays are in C order", any);
    elements = arith::MulIOp::create(b, loc, elements, size);
  }
  Type element = type.getElementType();
  int64_t bytes = llvm::divideCeil(memoryBits(element), 8);
  Value begin = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  Value length = arith::MulIOp::create(b, loc, elements, constant(bytes));
  return {name, begin, arith::AddIOp::create(b, loc, begin, length)};
}

void Writer::writeApart(const Range &one, const Range &other) {
  auto ends = [&](Value first, Value second) {
    return compare(arith::CmpIPredicate::ule, first, second);
  };
  Value apart = either(ends(one.end, other.begin), ends(other.end, one.begin));
  Value empty = either(ends(one.end, one.begin), ends(other.end, other.begin));
  emit(either(apart, empty), {one.begin, one.name}, "apart from", {other.begin, other.name},
       "results share no memory");
}

void Writer::write() {
  SmallVector<Range> ranges;
  unsigned results = 0;
  for (unsigned number = 0; number < function.getNumArguments(); ++number) {
    bool isResult = bool(function.getArgAttr(number, kResultAttr));
    std::string name =
        isResult ? "result " + std::to_string(results++) : "argument " + std::to_string(number);
    Range range = writeArgument(number, name);
    range.isWritten = isResult || function.getArgAttr(number, kWrittenAttr);
    for (const Range &other : ranges)
      if (range.isWritten || other.isWritten)
        writeApart(range, other);
    ranges.push_back(range);
  }
  SmallVector<Value> returned;
  for (Value value : status)
    returned.push_back(arith::IndexCastOp::create(b, loc, b.getI64Type(), value));
  func::ReturnOp::create(b, loc, returned);
  check->setAttr(kConditionsAttr, b.getArrayAttr(conditions));
  check->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr());
}

/// Memory of any sizes and strides: what the descriptor says can be looked at.
MemRefType descriptorOf(Type type) {
  auto memory = dyn_cast<MemRefType>(type);
  if (!memory || !memory.getLayout().isIdentity() || memory.getMemorySpace())
    return {};
  MLIRContext *context = type.getContext();
  SmallVector<int64_t> open(memory.getRank(), ShapedType::kDynamic);
  Type element = memory.getElementType();
  if (element.isInteger(1))
    element = IntegerType::get(context, 8);
  return MemRefType::get(open, element,
                         StridedLayoutAttr::get(context, ShapedType::kDynamic, open));
}

struct CheckMemory : xetile::impl::CheckMemoryBase<CheckMemory> {
  void runOnOperation() override {
    for (func::FuncOp function : getEntryPoints(getOperation()))
      if (failed(addCheck(function)))
        return signalPassFailure();
  }

private:
  LogicalResult addCheck(func::FuncOp function) {
    SmallVector<Type> descriptors = llvm::map_to_vector(
        function.getArgumentTypes(), [](Type type) -> Type { return descriptorOf(type); });
    if (!descriptors.empty() && !llvm::is_contained(descriptors, Type())) {
      std::string name = function.getName().str();
      for (StringRef suffix : {kCheckMemorySuffix, kCheckedSuffix})
        if (getOperation().lookupSymbol(name + suffix.str()))
          return function.emitOpError() << "needs the name @" << name << suffix
                                        << " for a function that checks memory: expected it to be "
                                           "free, rename what has it";
      OpBuilder b(&getContext());
      b.setInsertionPointAfter(function);
      auto type = b.getFunctionType(descriptors, SmallVector<Type>(3, b.getI64Type()));
      auto check =
          func::FuncOp::create(b, function.getLoc(), name + kCheckMemorySuffix.str(), type);
      Writer(function, check).write();
    }
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      for (StringRef attribute : {kResultAttr, kWrittenAttr})
        function.removeArgAttr(number, attribute);
    return success();
  }
};
} // namespace
