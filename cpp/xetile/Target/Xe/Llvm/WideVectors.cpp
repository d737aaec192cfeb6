//===- WideVectors.cpp - split vectors that SPIR-V has no type for ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: LLVM IR with vectors of any fixed length. Out: vectors of 2, 3, 4, 8 and 16 elements and
// scalars only. Refused: such vectors in signatures and calls, insertions at variable indices,
// reductions of them.
#include "xetile/Target/Xe/Llvm/WideVectors.h"
#include "xetile/Target/Xe/Llvm/VectorPieces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace xetile;

namespace {

class Splitter {
public:
  explicit Splitter(Function &function) : function(function), builder(function.getContext()) {}

  std::optional<std::string> run();

private:
  using Pieces = SmallVector<Value *>;

  bool isInvolved(Instruction &inst) const;
  /// Rewrites one instruction, false if there is no rule for it.
  bool rewrite(Instruction &inst);
  bool rewriteElementwise(Instruction &inst);
  bool rewriteIntrinsic(CallInst &call);
  bool rewriteShuffle(ShuffleVectorInst &shuffle);
  bool rewriteBitcast(BitCastInst &cast);
  bool rewriteInsert(InsertElementInst &insert);
  void rewriteLoad(LoadInst &load);
  void rewriteStore(StoreInst &store);
  void rewritePhi(PHINode &phi);
  bool finishPhis();

  /// The pieces of a value, in the order of cut(); a legal value is its own only piece. Empty if
  /// there is no rule.
  Pieces piecesOf(Value *value);
  Value *element(Value *value, unsigned index);
  /// The same of an index that only a run knows: of all pieces, the right one is selected.
  Value *elementAt(Value *value, Value *index);
  /// A legal vector or scalar of the given elements of `source`; a negative index is poison.
  Value *gather(Value *first, Value *second, ArrayRef<int> mask);
  Value *addressAt(Value *pointer, uint64_t offset) {
    return offset ? builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), pointer, offset)
                  : pointer;
  }
  void define(Instruction &inst, Pieces pieces) {
    split[&inst] = std::move(pieces);
    dead.push_back(&inst);
  }
  void replace(Instruction &inst, Value *value) {
    inst.replaceAllUsesWith(value);
    dead.push_back(&inst);
  }

  Function &function;
  IRBuilder<> builder;
  DenseMap<Value *, Pieces> split;
  SmallVector<PHINode *> phis;
  SmallVector<Instruction *> dead;
};

Value *Splitter::element(Value *value, unsigned index) {
  Pieces pieces = piecesOf(value);
  auto *type = cast<FixedVectorType>(value->getType());
  if (!illegalVector(type))
    return builder.CreateExtractElement(value, index);
  for (auto [range, piece] : zip_equal(cut(type->getNumElements()), pieces))
    if (index >= range.begin && index < range.begin + range.size)
      return range.size == 1 ? piece : builder.CreateExtractElement(piece, index - range.begin);
  return PoisonValue::get(type->getElementType());
}

Value *Splitter::elementAt(Value *value, Value *index) {
  Value *result = nullptr;
  auto *type = cast<FixedVectorType>(value->getType());
  for (auto [range, piece] : zip_equal(cut(type->getNumElements()), piecesOf(value))) {
    Value *begin = ConstantInt::get(index->getType(), range.begin);
    Value *isHere = builder.CreateICmpUGE(index, begin);
    Value *elem = piece;
    if (range.size > 1) {
      // No piece is read past its end, whichever is the right one.
      Value *size = ConstantInt::get(index->getType(), range.size);
      Value *own = builder.CreateSub(index, begin);
      Value *fits = builder.CreateICmpULT(own, size);
      own = builder.CreateSelect(fits, own, Constant::getNullValue(index->getType()));
      elem = builder.CreateExtractElement(piece, own);
    }
    result = result ? builder.CreateSelect(isHere, elem, result) : elem;
  }
  return result;
}

Value *Splitter::gather(Value *first, Value *second, ArrayRef<int> mask) {
  auto *type = cast<FixedVectorType>(first->getType());
  unsigned n = type->getNumElements();
  // An element of the first vector is none of the second, which would be poison there.
  SmallVector<int> fromSecond;
  for (int index : mask)
    fromSecond.push_back(index < 0             ? -1
                         : unsigned(index) < n ? int(n)
                                               : index - static_cast<int>(n));
  if (std::optional<unsigned> begin = consecutive(mask, n))
    return slice(builder, piecesOf(first), type->getElementType(), *begin, mask.size());
  if (std::optional<unsigned> begin = consecutive(fromSecond, n))
    return slice(builder, piecesOf(second), type->getElementType(), *begin, mask.size());
  Value *result = PoisonValue::get(pieceType(type->getElementType(), mask.size()));
  for (auto [i, index] : enumerate(mask)) {
    if (index < 0)
      continue;
    unsigned source = static_cast<unsigned>(index);
    Value *elem = source < n ? element(first, source) : element(second, source - n);
    result = mask.size() == 1 ? elem : builder.CreateInsertElement(result, elem, i);
  }
  return result;
}

Splitter::Pieces Splitter::piecesOf(Value *value) {
  auto *type = illegalVector(value->getType());
  if (!type)
    return {value};
  if (auto found = split.find(value); found != split.end())
    return found->second;
  auto *constant = dyn_cast<Constant>(value);
  if (!constant || isa<ConstantExpr>(constant))
    return {};
  Pieces pieces;
  for (Range range : cut(type->getNumElements())) {
    SmallVector<Constant *> elems;
    for (unsigned i = 0; i < range.size; ++i)
      elems.push_back(constant->getAggregateElement(range.begin + i));
    if (is_contained(elems, nullptr))
      return {};
    pieces.push_back(range.size == 1 ? elems.front() : ConstantVector::get(elems));
  }
  return pieces;
}

void Splitter::rewriteLoad(LoadInst &load) {
  auto *type = cast<FixedVectorType>(load.getType());
  uint64_t elemBytes = type->getElementType()->getPrimitiveSizeInBits().getFixedValue() / 8;
  Pieces pieces;
  for (Range range : cut(type->getNumElements())) {
    uint64_t offset = range.begin * elemBytes;
    Value *address = addressAt(load.getPointerOperand(), offset);
    LoadInst *piece = builder.CreateAlignedLoad(pieceType(type->getElementType(), range.size),
                                                address, commonAlignment(load.getAlign(), offset));
    piece->setVolatile(load.isVolatile());
    pieces.push_back(piece);
  }
  define(load, std::move(pieces));
}

void Splitter::rewriteStore(StoreInst &store) {
  auto *type = cast<FixedVectorType>(store.getValueOperand()->getType());
  uint64_t elemBytes = type->getElementType()->getPrimitiveSizeInBits().getFixedValue() / 8;
  Pieces pieces = piecesOf(store.getValueOperand());
  for (auto [range, piece] : zip_equal(cut(type->getNumElements()), pieces)) {
    uint64_t offset = range.begin * elemBytes;
    Value *address = addressAt(store.getPointerOperand(), offset);
    builder.CreateAlignedStore(piece, address, commonAlignment(store.getAlign(), offset))
        ->setVolatile(store.isVolatile());
  }
  dead.push_back(&store);
}

void Splitter::rewritePhi(PHINode &phi) {
  auto *type = cast<FixedVectorType>(phi.getType());
  Pieces pieces;
  for (Range range : cut(type->getNumElements()))
    pieces.push_back(builder.CreatePHI(pieceType(type->getElementType(), range.size),
                                       phi.getNumIncomingValues(), phi.getName()));
  phis.push_back(&phi);
  define(phi, std::move(pieces));
}

bool Splitter::finishPhis() {
  for (PHINode *phi : phis) {
    Pieces pieces = split[phi];
    for (auto [value, block] : zip_equal(phi->incoming_values(), phi->blocks())) {
      Pieces incoming = piecesOf(value);
      if (incoming.empty())
        return false;
      for (auto [piece, part] : zip_equal(pieces, incoming))
        cast<PHINode>(piece)->addIncoming(part, block);
    }
  }
  return true;
}

bool Splitter::rewriteElementwise(Instruction &inst) {
  SmallVector<Pieces> operands;
  unsigned count = 0;
  for (Value *operand : inst.operands()) {
    operands.push_back(piecesOf(operand));
    if (operands.back().empty())
      return false;
    if (illegalVector(operand->getType()))
      count = operands.back().size();
  }
  auto *type = cast<FixedVectorType>(inst.getType());
  Pieces pieces;
  for (auto [k, range] : enumerate(cut(type->getNumElements()))) {
    auto at = [&, k = k](unsigned i) {
      return operands[i].size() == count ? operands[i][k] : operands[i].front();
    };
    Type *result = pieceType(type->getElementType(), range.size);
    Value *piece = nullptr;
    if (auto *binary = dyn_cast<BinaryOperator>(&inst))
      piece = builder.CreateBinOp(binary->getOpcode(), at(0), at(1));
    else if (auto *unary = dyn_cast<UnaryOperator>(&inst))
      piece = builder.CreateUnOp(unary->getOpcode(), at(0));
    else if (auto *cast = dyn_cast<CastInst>(&inst))
      piece = builder.CreateCast(cast->getOpcode(), at(0), result);
    else if (auto *compare = dyn_cast<CmpInst>(&inst))
      piece = builder.CreateCmp(compare->getPredicate(), at(0), at(1));
    else if (isa<SelectInst>(inst))
      piece = builder.CreateSelect(at(0), at(1), at(2));
    else if (isa<FreezeInst>(inst))
      piece = builder.CreateFreeze(at(0));
    else
      return false;
    if (auto *made = dyn_cast<Instruction>(piece))
      made->copyIRFlags(&inst);
    pieces.push_back(piece);
  }
  define(inst, std::move(pieces));
  return true;
}

bool Splitter::rewriteIntrinsic(CallInst &call) {
  Intrinsic::ID id = call.getIntrinsicID();
  auto *type = dyn_cast<FixedVectorType>(call.getType());
  if (id == Intrinsic::not_intrinsic || !type || !isTriviallyVectorizable(id))
    return false;
  SmallVector<Pieces> operands;
  for (Value *operand : call.args()) {
    operands.push_back(piecesOf(operand));
    if (operands.back().empty())
      return false;
  }
  Pieces pieces;
  for (auto [k, range] : enumerate(cut(type->getNumElements()))) {
    Type *result = pieceType(type->getElementType(), range.size);
    SmallVector<Value *> args;
    SmallVector<Type *> overloads;
    if (isVectorIntrinsicWithOverloadTypeAtArg(id, -1, /*TTI=*/nullptr))
      overloads.push_back(result);
    for (auto [i, operand] : enumerate(operands)) {
      bool scalar = isVectorIntrinsicWithScalarOpAtArg(id, unsigned(i), /*TTI=*/nullptr);
      args.push_back(scalar ? operand.front() : operand[k]);
      if (isVectorIntrinsicWithOverloadTypeAtArg(id, int(i), /*TTI=*/nullptr))
        overloads.push_back(args.back()->getType());
    }
    Function *callee = Intrinsic::getOrInsertDeclaration(function.getParent(), id, overloads);
    CallInst *piece = builder.CreateCall(callee, args);
    piece->copyIRFlags(&call);
    pieces.push_back(piece);
  }
  define(call, std::move(pieces));
  return true;
}

bool Splitter::rewriteShuffle(ShuffleVectorInst &shuffle) {
  Value *first = shuffle.getOperand(0), *second = shuffle.getOperand(1);
  if (piecesOf(first).empty() || piecesOf(second).empty())
    return false;
  ArrayRef<int> mask = shuffle.getShuffleMask();
  auto *type = illegalVector(shuffle.getType());
  if (!type) {
    replace(shuffle, gather(first, second, mask));
    return true;
  }
  Pieces pieces;
  for (Range range : cut(type->getNumElements()))
    pieces.push_back(gather(first, second, mask.slice(range.begin, range.size)));
  define(shuffle, std::move(pieces));
  return true;
}

bool Splitter::rewriteInsert(InsertElementInst &insert) {
  auto *index = dyn_cast<ConstantInt>(insert.getOperand(2));
  auto *type = cast<FixedVectorType>(insert.getType());
  Pieces pieces = piecesOf(insert.getOperand(0));
  if (!index || pieces.empty() || index->getValue().uge(type->getNumElements()))
    return false;
  unsigned at = index->getZExtValue();
  for (auto [range, piece] : zip_equal(cut(type->getNumElements()), pieces))
    if (at >= range.begin && at < range.begin + range.size)
      piece = range.size == 1
                  ? insert.getOperand(1)
                  : builder.CreateInsertElement(piece, insert.getOperand(1), at - range.begin);
  define(insert, std::move(pieces));
  return true;
}

bool Splitter::rewriteBitcast(BitCastInst &cast) {
  // A scalar is a vector of one element here: casts go between both.
  auto count = [](Type *type) -> unsigned {
    auto *vector = dyn_cast<FixedVectorType>(type);
    return vector ? vector->getNumElements() : 1;
  };
  Type *from = cast.getSrcTy()->getScalarType(), *to = cast.getDestTy()->getScalarType();
  unsigned fromCount = count(cast.getSrcTy()), toCount = count(cast.getDestTy());
  unsigned fromBits = from->getPrimitiveSizeInBits(), toBits = to->getPrimitiveSizeInBits();
  Pieces source = piecesOf(cast.getOperand(0));
  if (!fromBits || !toBits || source.empty())
    return false;
  auto finish = [&](ArrayRef<Value *> units) {
    if (!illegalVector(cast.getDestTy())) {
      replace(cast, slice(builder, units, to, 0, toCount));
      return true;
    }
    Pieces pieces;
    for (Range range : cut(toCount))
      pieces.push_back(slice(builder, units, to, range.begin, range.size));
    define(cast, std::move(pieces));
    return true;
  };
  if (fromCount == 1 && toCount == 1)
    return finish({builder.CreateBitCast(source.front(), to)});
  if (fromCount == toCount)
    return rewriteElementwise(cast);
  unsigned total = fromBits * fromCount;
  // Cast in units that are whole elements and legal vectors on both sides.
  unsigned unit = std::max(fromBits, toBits);
  if (unit % fromBits || unit % toBits)
    return false;
  unsigned ratio = unit / std::min(fromBits, toBits);
  if (ratio != 1 && !isLegalCount(ratio))
    return false;
  while (ratio * 2 <= maxElements && total % (unit * 2) == 0) {
    unit *= 2;
    ratio *= 2;
  }
  Pieces units;
  for (unsigned bit = 0; bit < total; bit += unit) {
    Value *part = slice(builder, source, from, bit / fromBits, unit / fromBits);
    units.push_back(builder.CreateBitCast(part, pieceType(to, unit / toBits)));
  }
  return finish(units);
}

bool Splitter::isInvolved(Instruction &inst) const {
  if (auto *alloca = dyn_cast<AllocaInst>(&inst))
    return illegalVector(alloca->getAllocatedType());
  return illegalVector(inst.getType()) ||
         any_of(inst.operands(), [](Value *operand) { return illegalVector(operand->getType()); });
}

bool Splitter::rewrite(Instruction &inst) {
  builder.SetInsertPoint(&inst);
  if (auto *phi = dyn_cast<PHINode>(&inst)) {
    rewritePhi(*phi);
    return true;
  }
  if (auto *alloca = dyn_cast<AllocaInst>(&inst)) {
    auto *type = cast<FixedVectorType>(alloca->getAllocatedType());
    alloca->setAllocatedType(ArrayType::get(type->getElementType(), type->getNumElements()));
    return true;
  }
  bool bytes = true; // loads and stores address pieces by bytes
  for (Type *type :
       {inst.getType(), inst.getNumOperands() ? inst.getOperand(0)->getType() : nullptr})
    if (auto *vector = type ? dyn_cast<FixedVectorType>(type) : nullptr)
      bytes &= vector->getScalarSizeInBits() % 8 == 0;
  if (auto *load = dyn_cast<LoadInst>(&inst)) {
    if (load->isAtomic() || !bytes)
      return false;
    rewriteLoad(*load);
    return true;
  }
  if (auto *store = dyn_cast<StoreInst>(&inst)) {
    if (store->isAtomic() || !bytes || piecesOf(store->getValueOperand()).empty())
      return false;
    rewriteStore(*store);
    return true;
  }
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&inst))
    return rewriteShuffle(*shuffle);
  if (auto *insert = dyn_cast<InsertElementInst>(&inst))
    return rewriteInsert(*insert);
  if (auto *extract = dyn_cast<ExtractElementInst>(&inst)) {
    auto *index = dyn_cast<ConstantInt>(extract->getIndexOperand());
    if (piecesOf(extract->getVectorOperand()).empty())
      return false;
    replace(inst, index ? element(extract->getVectorOperand(), index->getZExtValue())
                        : elementAt(extract->getVectorOperand(), extract->getIndexOperand()));
    return true;
  }
  if (auto *cast = dyn_cast<BitCastInst>(&inst))
    return rewriteBitcast(*cast);
  if (auto *call = dyn_cast<CallInst>(&inst))
    return rewriteIntrinsic(*call);
  return illegalVector(inst.getType()) && rewriteElementwise(inst);
}

std::optional<std::string> Splitter::run() {
  auto refuse = [](const Twine &where, Type *type) {
    std::string text;
    raw_string_ostream stream(text);
    stream << where << " uses the vector " << *type
           << "; SPIR-V has vectors of 2, 3, 4, 8 and 16 elements";
    return text;
  };
  for (Argument &argument : function.args())
    if (illegalVector(argument.getType()))
      return refuse("the signature of '" + function.getName() + "'", argument.getType());
  if (illegalVector(function.getReturnType()))
    return refuse("the signature of '" + function.getName() + "'", function.getReturnType());
  if (function.isDeclaration())
    return std::nullopt;

  SmallVector<Instruction *> order; // definitions before uses, phis aside
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    for (Instruction &inst : *block) {
      if (isa<ScalableVectorType>(inst.getType()))
        return refuse("'" + function.getName() + "': " + inst.getOpcodeName(), inst.getType());
      if (isInvolved(inst))
        order.push_back(&inst);
    }
  auto refuseInst = [&](Instruction &inst) {
    Type *type = inst.getType();
    for (Value *operand : inst.operands())
      if (illegalVector(operand->getType()))
        type = operand->getType();
    std::string what = inst.getOpcodeName();
    if (auto *call = dyn_cast<CallInst>(&inst); call && call->getCalledFunction())
      what += " of " + call->getCalledFunction()->getName().str();
    return refuse("'" + function.getName() + "': " + what, type);
  };
  for (Instruction *inst : order)
    if (!rewrite(*inst))
      return refuseInst(*inst);
  if (!finishPhis())
    return refuseInst(*phis.front());
  for (Instruction *inst : reverse(dead)) {
    inst->replaceAllUsesWith(PoisonValue::get(inst->getType()));
    inst->eraseFromParent();
  }
  // Pieces that nobody took.
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(reverse(block)))
      if (isInstructionTriviallyDead(&inst))
        inst.eraseFromParent();
  return std::nullopt;
}

} // namespace

std::optional<std::string> xetile::splitWideVectors(Module &module) {
  // Unreachable blocks have no order.
  for (Function &function : module)
    if (!function.isDeclaration())
      EliminateUnreachableBlocks(function);
  for (Function &function : module) {
    if (function.isIntrinsic()) // left by rewritten calls
      continue;
    narrowWideLoads(function);
    if (std::optional<std::string> why = Splitter(function).run())
      return why;
  }
  SmallVector<Function *> unused;
  for (Function &function : module)
    if (function.isIntrinsic() && function.use_empty())
      unused.push_back(&function);
  for (Function *function : unused)
    function->eraseFromParent();
  return std::nullopt;
}
