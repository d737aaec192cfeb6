//===- OddIntegers.cpp - integers that SPIR-V has no type for ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: LLVM IR with integers of any width. Out: integers of 1, 8, 16, 32 and 64 bits, none of 1 in
// memory; no llvm.bitreverse. Refused: more than 64 bits, such integers in signatures and calls,
// more than 64 bits of a vector in memory whose elements are no part of 64.
//
// LLVM's optimizer narrows to the bits that matter: a transposed 2x2 reverses two bits, a switch
// becomes a table in an i24. The backend gives such values the next type that SPIR-V has and leaves
// the bits above as they come, so that a compare of two i3 looks at eight bits.
#include "xetile/Target/Xe/Llvm/OddIntegers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

unsigned widthOf(Type *type) { return type->getScalarSizeInBits(); }

bool isOdd(Type *type) {
  if (!type->isIntOrIntVectorTy())
    return false;
  unsigned width = widthOf(type);
  return width != 1 && width != 8 && width != 16 && width != 32 && width != 64;
}

bool isBits(Type *type) { return type->isVectorTy() && type->isIntOrIntVectorTy(1); }

/// The type that an odd one is computed in; any other is its own.
Type *wideType(Type *type) {
  if (!isOdd(type))
    return type;
  unsigned width = std::max(8u, unsigned(PowerOf2Ceil(widthOf(type))));
  return type->getWithNewType(IntegerType::get(type->getContext(), width));
}

class Widener {
public:
  explicit Widener(Function &function) : function(function), builder(function.getContext()) {}

  std::optional<std::string> run();

private:
  std::string refuse(const Twine &what, Type *type) const;
  /// The instruction on wide integers; why not, if that cannot be.
  std::optional<std::string> replace(Instruction *inst);
  static bool isInvolved(const Instruction &inst);
  /// The new value of an instruction, null if there is no rule for it.
  Value *rewrite(Instruction &inst);
  Value *rewriteBinary(BinaryOperator &inst);
  Value *rewriteCast(CastInst &cast);
  Value *rewriteBitcast(Value *source, Type *to);
  Value *rewriteIntrinsic(IntrinsicInst &call);
  Value *loadNumber(const LoadInst &load, uint64_t byte, unsigned bits);
  void storeNumber(const StoreInst &store, uint64_t byte, Value *value, unsigned bits);
  Value *rewriteLoad(LoadInst &load);
  bool rewriteStore(StoreInst &store);
  Value *reversed(Value *value);

  /// The value in its wide type; the bits above its own are any.
  Value *any(Value *value) {
    if (!isOdd(value->getType()))
      return value;
    if (auto found = wide.find(value); found != wide.end())
      return found->second;
    return builder.CreateZExt(value, wideType(value->getType())); // a constant
  }
  /// The same with zeros above.
  Value *zeros(Value *value) {
    Value *result = any(value);
    if (result->getType() == value->getType())
      return result;
    APInt mask = APInt::getLowBitsSet(widthOf(result->getType()), widthOf(value->getType()));
    return builder.CreateAnd(result, ConstantInt::get(result->getType(), mask));
  }
  /// The same with the sign above.
  Value *signs(Value *value) {
    Value *result = any(value);
    unsigned more = widthOf(result->getType()) - widthOf(value->getType());
    return more ? builder.CreateAShr(builder.CreateShl(result, more), more) : result;
  }
  Value *number(Type *type, uint64_t value) { return ConstantInt::get(type, value); }

  Function &function;
  IRBuilder<> builder;
  DenseMap<Value *, Value *> wide;
  SmallVector<Instruction *> dead;
};

bool Widener::isInvolved(const Instruction &inst) {
  auto *call = dyn_cast<IntrinsicInst>(&inst);
  if (call && call->getIntrinsicID() == Intrinsic::bitreverse)
    return true;
  // Bits of a mask as one number, or the other way: no bitcast to SPIR-V, whose booleans have no
  // size.
  if (auto *cast = dyn_cast<BitCastInst>(&inst);
      cast && isBits(cast->getSrcTy()) != isBits(cast->getDestTy()))
    return true;
  // Nor have they one in memory.
  if (auto *load = dyn_cast<LoadInst>(&inst); load && load->getType()->isIntOrIntVectorTy(1))
    return true;
  if (auto *store = dyn_cast<StoreInst>(&inst);
      store && store->getValueOperand()->getType()->isIntOrIntVectorTy(1))
    return true;
  return isOdd(inst.getType()) ||
         any_of(inst.operands(), [](const Use &operand) { return isOdd(operand->getType()); });
}

Value *Widener::rewriteBinary(BinaryOperator &inst) {
  Value *left = inst.getOperand(0), *right = inst.getOperand(1);
  switch (inst.getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
    return builder.CreateBinOp(inst.getOpcode(), any(left), any(right));
  case Instruction::Shl:
    return builder.CreateShl(any(left), zeros(right));
  case Instruction::LShr:
  case Instruction::UDiv:
  case Instruction::URem:
    return builder.CreateBinOp(inst.getOpcode(), zeros(left), zeros(right));
  case Instruction::AShr:
    return builder.CreateAShr(signs(left), zeros(right));
  case Instruction::SDiv:
  case Instruction::SRem:
    return builder.CreateBinOp(inst.getOpcode(), signs(left), signs(right));
  default:
    return nullptr;
  }
}

/// Little-endian, as memory would have it: one type's elements are whole numbers of the other's.
Value *Widener::rewriteBitcast(Value *source, Type *to) {
  auto count = [](Type *type) -> unsigned {
    auto *vector = dyn_cast<FixedVectorType>(type);
    return vector ? vector->getNumElements() : 1;
  };
  Type *from = source->getType();
  unsigned fromBits = widthOf(from), toBits = widthOf(to), toCount = count(to);
  if (fromBits % toBits && toBits % fromBits)
    return nullptr;
  if (from->isFPOrFPVectorTy()) {
    Type *numbers = from->getWithNewType(builder.getIntNTy(fromBits));
    source = builder.CreateBitCast(source, numbers);
  }
  auto element = [&](unsigned i) {
    Value *value = zeros(source);
    return from->isVectorTy() ? builder.CreateExtractElement(value, i) : value;
  };
  Type *number = wideType(builder.getIntNTy(toBits));
  Value *result =
      to->isVectorTy() ? PoisonValue::get(FixedVectorType::get(number, toCount)) : nullptr;
  for (unsigned i = 0; i < toCount; ++i) {
    Value *value = nullptr;
    if (toBits <= fromBits) {
      unsigned bit = i * toBits;
      Value *whole = element(bit / fromBits);
      value = builder.CreateZExtOrTrunc(builder.CreateLShr(whole, bit % fromBits), number);
    } else {
      unsigned ratio = toBits / fromBits;
      value = Constant::getNullValue(number);
      for (unsigned k = 0; k < ratio; ++k) {
        Value *part = builder.CreateZExtOrTrunc(element(i * ratio + k), number);
        value = builder.CreateOr(value, builder.CreateShl(part, uint64_t(k) * fromBits));
      }
    }
    result = result ? builder.CreateInsertElement(result, value, i) : value;
  }
  return to->isFPOrFPVectorTy() ? builder.CreateBitCast(result, to) : result;
}

Value *Widener::rewriteCast(CastInst &cast) {
  Value *source = cast.getOperand(0);
  Type *to = cast.getType(), *wideTo = wideType(to);
  switch (cast.getOpcode()) {
  case Instruction::Trunc:
    return builder.CreateZExtOrTrunc(any(source), wideTo);
  case Instruction::ZExt:
    return builder.CreateZExt(zeros(source), wideTo);
  case Instruction::SExt:
    return builder.CreateSExt(signs(source), wideTo);
  case Instruction::UIToFP:
  case Instruction::IntToPtr:
    return builder.CreateCast(cast.getOpcode(), zeros(source), to);
  case Instruction::SIToFP:
    return builder.CreateSIToFP(signs(source), to);
  case Instruction::FPToUI:
  case Instruction::FPToSI:
  case Instruction::PtrToInt:
    return builder.CreateCast(cast.getOpcode(), source, wideTo);
  case Instruction::BitCast:
    return rewriteBitcast(source, to);
  default:
    return nullptr;
  }
}

Value *Widener::reversed(Value *value) {
  Type *type = value->getType();
  unsigned width = widthOf(type);
  for (unsigned step = 1; step < width; step *= 2) {
    APInt low = APInt::getSplat(width, APInt::getLowBitsSet(step * 2, step));
    Value *mask = ConstantInt::get(type, low);
    Value *up = builder.CreateShl(builder.CreateAnd(value, mask), step);
    Value *down = builder.CreateAnd(builder.CreateLShr(value, step), mask);
    value = builder.CreateOr(up, down);
  }
  return value;
}

Value *Widener::rewriteIntrinsic(IntrinsicInst &call) {
  Type *type = wideType(call.getType());
  if (!type->isIntOrIntVectorTy())
    return nullptr;
  unsigned width = widthOf(call.getType()), more = widthOf(type) - width;
  auto arg = [&](unsigned i) { return call.getArgOperand(i); };
  Intrinsic::ID id = call.getIntrinsicID();
  switch (id) {
  case Intrinsic::bitreverse:
    // Others of one bit are none.
    if (width == 1)
      return arg(0);
    return builder.CreateLShr(reversed(any(arg(0))), more);
  case Intrinsic::bswap:
    return builder.CreateLShr(builder.CreateUnaryIntrinsic(id, any(arg(0))), more);
  case Intrinsic::umin:
  case Intrinsic::umax:
  case Intrinsic::usub_sat:
    return builder.CreateBinaryIntrinsic(id, zeros(arg(0)), zeros(arg(1)));
  case Intrinsic::smin:
  case Intrinsic::smax:
    return builder.CreateBinaryIntrinsic(id, signs(arg(0)), signs(arg(1)));
  case Intrinsic::abs:
    return builder.CreateBinaryIntrinsic(id, signs(arg(0)), builder.getFalse());
  case Intrinsic::ctpop:
    return builder.CreateUnaryIntrinsic(id, zeros(arg(0)));
  case Intrinsic::ctlz: {
    Value *count = builder.CreateBinaryIntrinsic(id, zeros(arg(0)), builder.getFalse());
    return builder.CreateSub(count, number(type, more));
  }
  case Intrinsic::cttz: {
    Value *end = ConstantInt::get(type, APInt::getOneBitSet(widthOf(type), width));
    Value *value = builder.CreateOr(any(arg(0)), end);
    return builder.CreateBinaryIntrinsic(id, value, builder.getFalse());
  }
  case Intrinsic::fshl:
  case Intrinsic::fshr: {
    Value *by = builder.CreateURem(zeros(arg(2)), number(type, width));
    Value *rest = builder.CreateSub(number(type, width), by);
    bool left = id == Intrinsic::fshl;
    return builder.CreateOr(builder.CreateShl(any(arg(0)), left ? by : rest),
                            builder.CreateLShr(zeros(arg(1)), left ? rest : by));
  }
  default:
    return nullptr;
  }
}

/// Calls `access` with offset and type of each piece of `bytes` bytes in memory.
template <typename Access> void forPieces(IRBuilder<> &builder, unsigned bytes, Access access) {
  for (unsigned offset = 0; offset < bytes;) {
    unsigned size = unsigned(llvm::bit_floor(bytes - offset));
    access(uint64_t(offset), builder.getIntNTy(size * 8));
    offset += size;
  }
}

/// The number of `bits` bits, 64 at most, in memory from `at` on.
Value *Widener::loadNumber(const LoadInst &load, uint64_t byte, unsigned bits) {
  Value *result = Constant::getNullValue(wideType(builder.getIntNTy(std::max(bits, 2u))));
  forPieces(builder, divideCeil(bits, 8), [&](uint64_t offset, Type *piece) {
    Value *at = builder.CreateConstInBoundsGEP1_64(
        builder.getInt8Ty(), const_cast<Value *>(load.getPointerOperand()), byte + offset);
    Value *part = builder.CreateAlignedLoad(
        piece, at, commonAlignment(load.getAlign(), byte + offset), load.isVolatile());
    part = builder.CreateShl(builder.CreateZExt(part, result->getType()), offset * 8);
    result = builder.CreateOr(result, part);
  });
  return result;
}

void Widener::storeNumber(const StoreInst &store, uint64_t byte, Value *value, unsigned bits) {
  forPieces(builder, divideCeil(bits, 8), [&](uint64_t offset, Type *piece) {
    Value *at = builder.CreateConstInBoundsGEP1_64(
        builder.getInt8Ty(), const_cast<Value *>(store.getPointerOperand()), byte + offset);
    Value *part = builder.CreateZExtOrTrunc(builder.CreateLShr(value, offset * 8), piece);
    builder.CreateAlignedStore(part, at, commonAlignment(store.getAlign(), byte + offset),
                               store.isVolatile());
  });
}

/// Elements of a vector that are one number of memory together, whose bits lie side by side; 0 if
/// there is no such number.
static unsigned elementsOfNumber(const FixedVectorType *type) {
  unsigned width = type->getScalarSizeInBits(), all = width * type->getNumElements();
  return all <= 64 ? type->getNumElements() : 64 % width ? 0 : 64 / width;
}

Value *Widener::rewriteLoad(LoadInst &load) {
  Type *type = load.getType();
  auto *vector = dyn_cast<FixedVectorType>(type);
  unsigned width = widthOf(type);
  if (width > 64 || load.isAtomic() || (vector && !elementsOfNumber(vector)))
    return nullptr;
  if (!vector) {
    Value *value = loadNumber(load, 0, width);
    return width == 1 ? builder.CreateTrunc(value, type) : value;
  }
  unsigned together = elementsOfNumber(vector), count = vector->getNumElements();
  Type *element = wideType(vector->getElementType());
  Value *result = PoisonValue::get(FixedVectorType::get(element, count));
  for (unsigned first = 0; first < count; first += together) {
    unsigned some = std::min(together, count - first);
    Value *number = loadNumber(load, uint64_t(first) * width / 8, some * width);
    for (unsigned i = 0; i < some; ++i) {
      Value *value = builder.CreateLShr(number, uint64_t(i) * width);
      result = builder.CreateInsertElement(result, builder.CreateZExtOrTrunc(value, element),
                                           uint64_t(first) + i);
    }
  }
  return result;
}

bool Widener::rewriteStore(StoreInst &store) {
  Value *value = store.getValueOperand();
  auto *vector = dyn_cast<FixedVectorType>(value->getType());
  unsigned width = widthOf(value->getType());
  if (width > 64 || store.isAtomic() || (vector && !elementsOfNumber(vector)))
    return false;
  if (!vector) {
    value = width == 1 ? builder.CreateZExt(value, builder.getInt8Ty()) : zeros(value);
    storeNumber(store, 0, value, width);
    return true;
  }
  unsigned together = elementsOfNumber(vector), count = vector->getNumElements();
  for (unsigned first = 0; first < count; first += together) {
    unsigned some = std::min(together, count - first);
    Type *number = wideType(builder.getIntNTy(std::max(some * width, 2u)));
    Value *all = Constant::getNullValue(number);
    for (unsigned i = 0; i < some; ++i) {
      Value *part = builder.CreateExtractElement(zeros(value), uint64_t(first) + i);
      part = builder.CreateZExt(part, number);
      all = builder.CreateOr(all, builder.CreateShl(part, uint64_t(i) * width));
    }
    storeNumber(store, uint64_t(first) * width / 8, all, some * width);
  }
  return true;
}

Value *Widener::rewrite(Instruction &inst) {
  if (auto *binary = dyn_cast<BinaryOperator>(&inst))
    return rewriteBinary(*binary);
  if (auto *cast = dyn_cast<CastInst>(&inst))
    return rewriteCast(*cast);
  if (auto *call = dyn_cast<IntrinsicInst>(&inst))
    return rewriteIntrinsic(*call);
  if (auto *load = dyn_cast<LoadInst>(&inst))
    return rewriteLoad(*load);
  if (auto *compare = dyn_cast<ICmpInst>(&inst)) {
    bool sign = compare->isSigned();
    Value *left = compare->getOperand(0), *right = compare->getOperand(1);
    return builder.CreateICmp(compare->getPredicate(), sign ? signs(left) : zeros(left),
                              sign ? signs(right) : zeros(right));
  }
  if (auto *phi = dyn_cast<PHINode>(&inst))
    return builder.CreatePHI(wideType(phi->getType()), phi->getNumIncomingValues());
  if (auto *select = dyn_cast<SelectInst>(&inst))
    return builder.CreateSelect(select->getCondition(), any(select->getTrueValue()),
                                any(select->getFalseValue()));
  if (isa<FreezeInst>(inst))
    return builder.CreateFreeze(any(inst.getOperand(0)));
  if (isa<ExtractElementInst>(inst))
    return builder.CreateExtractElement(any(inst.getOperand(0)), zeros(inst.getOperand(1)));
  if (isa<InsertElementInst>(inst))
    return builder.CreateInsertElement(any(inst.getOperand(0)), any(inst.getOperand(1)),
                                       zeros(inst.getOperand(2)));
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&inst))
    return builder.CreateShuffleVector(any(inst.getOperand(0)), any(inst.getOperand(1)),
                                       shuffle->getShuffleMask());
  return nullptr;
}

std::string Widener::refuse(const Twine &what, Type *type) const {
  std::string text;
  raw_string_ostream stream(text);
  stream << "'" << function.getName() << "': " << what << " uses " << *type
         << "; SPIR-V has integers of 1, 8, 16, 32 and 64 bits";
  return text;
}

std::optional<std::string> Widener::replace(Instruction *inst) {
  Type *type = isOdd(inst->getType()) ? inst->getType() : nullptr;
  for (Value *operand : inst->operands())
    if (isOdd(operand->getType()) && (!type || widthOf(operand->getType()) > widthOf(type)))
      type = operand->getType();
  auto refuseInst = [&] {
    return refuse(inst->getOpcodeName(), type ? type : inst->getOperand(0)->getType());
  };
  if (type && widthOf(type) > 64)
    return refuseInst();
  builder.SetInsertPoint(inst);
  if (auto *table = dyn_cast<SwitchInst>(inst)) {
    Value *value = zeros(table->getCondition());
    for (auto choice : table->cases())
      choice.setValue(cast<ConstantInt>(zeros(choice.getCaseValue())));
    table->setCondition(value);
    return std::nullopt;
  }
  if (auto *store = dyn_cast<StoreInst>(inst)) {
    if (!rewriteStore(*store))
      return refuseInst();
  } else {
    Value *value = rewrite(*inst);
    if (!value)
      return refuseInst();
    if (isOdd(inst->getType()))
      wide[inst] = value;
    else
      inst->replaceAllUsesWith(value);
  }
  dead.push_back(inst);
  return std::nullopt;
}

std::optional<std::string> Widener::run() {
  for (Type *type : function.getFunctionType()->params())
    if (isOdd(type))
      return refuse("its signature", type);
  if (isOdd(function.getReturnType()))
    return refuse("its signature", function.getReturnType());
  SmallVector<Instruction *> order; // definitions before uses, phis aside
  if (!function.isDeclaration())
    for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
      for (Instruction &inst : *block)
        if (isInvolved(inst))
          order.push_back(&inst);
  for (Instruction *inst : order)
    if (std::optional<std::string> why = replace(inst))
      return why;
  for (Instruction *inst : order)
    if (auto *phi = dyn_cast<PHINode>(inst))
      for (auto [value, block] : zip_equal(phi->incoming_values(), phi->blocks())) {
        builder.SetInsertPoint(block->getTerminator());
        cast<PHINode>(wide[phi])->addIncoming(any(value), block);
      }
  for (Instruction *inst : reverse(dead)) {
    inst->replaceAllUsesWith(PoisonValue::get(inst->getType()));
    inst->eraseFromParent();
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> xetile::widenOddIntegers(Module &module) {
  for (Function &function : module) {
    if (function.isIntrinsic()) // left by rewritten calls
      continue;
    // Unreachable blocks have no order.
    if (!function.isDeclaration())
      EliminateUnreachableBlocks(function);
    if (std::optional<std::string> why = Widener(function).run())
      return why;
  }
  return std::nullopt;
}
