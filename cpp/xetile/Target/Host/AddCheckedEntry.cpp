//===- AddCheckedEntry.cpp - C functions that check sizes and call -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the LLVM dialect, C interfaces of @f and of its checks. Out: besides, @f_checked, which calls
// these and, where all is well, @f; it returns null or a text that says what is wrong, with what @f
// was called with or with what it found in data.
// Refused: nothing; functions without both interfaces, or whose checks take other arguments, stay
// alone.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xetile/Target/Host/Expectations.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_ADDCHECKEDENTRY
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct AddCheckedEntry : xetile::impl::AddCheckedEntryBase<AddCheckedEntry> {
  void runOnOperation() override {
    SmallVector<LLVM::LLVMFuncOp> functions(getOperation().getOps<LLVM::LLVMFuncOp>());
    for (LLVM::LLVMFuncOp function : functions) {
      std::string name = function.getName().str();
      LLVM::LLVMFuncOp call = find(kInterface.str() + name);
      if (!call || find(name + kCheckedSuffix.str()))
        continue;
      SmallVector<Check> checks;
      for (StringRef suffix : {kCheckMemorySuffix, kCheckSuffix}) {
        LLVM::LLVMFuncOp check = find(name + suffix.str());
        auto conditions = check ? check->getAttrOfType<ArrayAttr>(kConditionsAttr) : ArrayAttr();
        LLVM::LLVMFuncOp checkCall = find(kInterface.str() + name + suffix.str());
        if (conditions && checkCall && isCheckOf(checkCall, call))
          checks.push_back({checkCall, conditions});
      }
      auto expectations = function->getAttrOfType<ArrayAttr>(kExpectationsAttr);
      if (!tells(function))
        expectations = {};
      if (!checks.empty() || expectations)
        addEntry(function, call, checks, expectations);
    }
  }

private:
  static constexpr StringLiteral kInterface = "_mlir_ciface_";
  /// Numbers that tell what did not hold, the last results of a function.
  static constexpr size_t kTold = 3;

  struct Check {
    LLVM::LLVMFuncOp function;
    ArrayAttr conditions;
  };

  /// True if a check takes a place for what it tells, and arguments of the function.
  static bool isCheckOf(LLVM::LLVMFuncOp check, LLVM::LLVMFuncOp call) {
    ArrayRef<Type> taken = check.getFunctionType().getParams();
    ArrayRef<Type> given = call.getFunctionType().getParams();
    return !taken.empty() && taken.size() - 1 <= given.size() &&
           taken.drop_front() == given.take_back(taken.size() - 1);
  }

  /// True if the last results of a function tell which expectation did not hold.
  static bool tells(LLVM::LLVMFuncOp function) {
    auto returned = dyn_cast<LLVM::LLVMStructType>(function.getFunctionType().getReturnType());
    return returned && !returned.isOpaque() && returned.getBody().size() >= kTold;
  }

  LLVM::LLVMFuncOp find(const std::string &name) {
    return getOperation().lookupSymbol<LLVM::LLVMFuncOp>(name);
  }

  /// Of a condition on arguments, or of an expectation of data.
  static std::string textOf(const std::string &name, Attribute attribute) {
    auto parts = llvm::to_vector(cast<ArrayAttr>(attribute).getAsValueRange<StringAttr>());
    if (parts.size() == 2)
      return ("@" + name + ": " + parts[0] + ": " + parts[1]).str();
    return ("@" + name + ": expected " + parts[0] + " " + parts[1] + " " + parts[2] + " (" +
            parts[3] + ")")
        .str();
  }

  /// Texts of equal length, one after the other.
  LLVM::GlobalOp addTexts(OpBuilder &b, const std::string &name, const Check &check,
                          int64_t &length) {
    SmallVector<std::string> texts;
    size_t longest = 0;
    for (Attribute attribute : check.conditions) {
      texts.push_back(textOf(name, attribute));
      longest = std::max(longest, texts.back().size());
    }
    length = longest + 1;
    std::string all;
    for (std::string &text : texts) {
      text.resize(length, '\0');
      all += text;
    }
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), all.size());
    return LLVM::GlobalOp::create(
        b, getOperation().getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
        (LLVM::LLVMFuncOp(check.function).getName() + ".conditions").str(), b.getStringAttr(all));
  }

  void addEntry(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp call, ArrayRef<Check> checks,
                ArrayAttr expectations) {
    Location loc = call.getLoc();
    std::string name = function.getName().str();
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    ArrayRef<Type> parameters = call.getFunctionType().getParams();
    // A status that the function returns for its expectations alone is read by this entry.
    auto returned = dyn_cast<LLVM::LLVMStructType>(function.getFunctionType().getReturnType());
    bool ownStatus = expectations && returned.getBody().size() == kTold;
    if (ownStatus)
      parameters = parameters.drop_front();
    auto entry = LLVM::LLVMFuncOp::create(b, loc, name + kCheckedSuffix.str(),
                                          LLVM::LLVMFunctionType::get(pointer, parameters));
    mlir::Block *start = entry.addEntryBlock(b);
    b.setInsertionPointToStart(start);
    auto i64 = b.getI64Type();
    Value one = LLVM::ConstantOp::create(b, loc, i64, 1);
    auto told = LLVM::LLVMStructType::getLiteral(b.getContext(), {i64, i64, i64});
    Value status = LLVM::AllocaOp::create(b, loc, pointer, told, one);
    if (auto refusal = getOperation().lookupSymbol<LLVM::GlobalOp>(kRefusal))
      returnRefusal(b, loc, refusal, entry);
    for (const Check &check : checks) {
      // A first parameter for results that are returned is not the check's.
      SmallVector<Value> forwarded = {status};
      size_t own = LLVM::LLVMFuncOp(check.function).getFunctionType().getNumParams() - 1;
      llvm::append_range(forwarded, entry.getArguments().take_back(own));
      LLVM::CallOp::create(b, loc, check.function, forwarded);
      returnUnlessZero(b, loc, entry, status, name, check);
    }
    SmallVector<Value> forwarded;
    if (ownStatus)
      forwarded.push_back(status);
    llvm::append_range(forwarded, entry.getArguments());
    LLVM::CallOp::create(b, loc, call, forwarded);
    if (expectations) {
      Value told = status;
      if (!ownStatus)
        told = LLVM::GEPOp::create(
            b, loc, pointer, returned, forwarded.front(),
            ArrayRef<LLVM::GEPArg>{0, int32_t(returned.getBody().size() - kTold)});
      returnUnlessZero(b, loc, entry, told, name, {function, expectations});
    }
    Value null = LLVM::ZeroOp::create(b, loc, pointer);
    LLVM::ReturnOp::create(b, loc, null);
  }

  /// Returns the text of the number at `status`, unless that is 0.
  void returnUnlessZero(OpBuilder &b, Location loc, LLVM::LLVMFuncOp entry, Value status,
                        const std::string &name, const Check &check) {
    Type i64 = b.getI64Type();
    Value one = LLVM::ConstantOp::create(b, loc, i64, 1);
    Value zero = LLVM::ConstantOp::create(b, loc, i64, 0);
    Value number = LLVM::LoadOp::create(b, loc, i64, status);
    Value holds = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, number, zero);
    mlir::Block *before = b.getInsertionBlock();
    mlir::Block *wrong = b.createBlock(&entry.getBody());
    returnText(b, loc, name, check, LLVM::SubOp::create(b, loc, number, one));
    mlir::Block *next = b.createBlock(&entry.getBody());
    b.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(b, loc, holds, next, wrong);
    b.setInsertionPointToEnd(next);
  }

  /// Returns what `refusal` points to, unless that is null.
  static void returnRefusal(OpBuilder &b, Location loc, LLVM::GlobalOp refusal,
                            LLVM::LLVMFuncOp entry) {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value text = LLVM::LoadOp::create(b, loc, pointer, LLVM::AddressOfOp::create(b, loc, refusal));
    Value null = LLVM::ZeroOp::create(b, loc, pointer);
    Value lent = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, text, null);
    mlir::Block *before = b.getInsertionBlock();
    mlir::Block *refused = b.createBlock(&entry.getBody());
    LLVM::ReturnOp::create(b, loc, text);
    mlir::Block *next = b.createBlock(&entry.getBody());
    b.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(b, loc, lent, next, refused);
    b.setInsertionPointToEnd(next);
  }

  void returnText(OpBuilder &b, Location loc, const std::string &name, const Check &check,
                  Value number) {
    int64_t length = 0;
    OpBuilder atEnd = OpBuilder::atBlockEnd(getOperation().getBody());
    LLVM::GlobalOp texts = addTexts(atEnd, name, check, length);
    Value base = LLVM::AddressOfOp::create(b, loc, texts);
    Value width = LLVM::ConstantOp::create(b, loc, b.getI64Type(), length);
    Value place = LLVM::MulOp::create(b, loc, number, width);
    Value text =
        LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base, ValueRange(place));
    LLVM::ReturnOp::create(b, loc, text);
  }
};
} // namespace
