//===- NarrowLoads.cpp - load slices instead of cutting a wide load ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a load of a vector that SPIR-V has no type for, with slices, elements and bitcasts of it.
// Out: a load for each, vloadn for slices of 8- and 16-bit elements. Refused: nothing; other uses
// keep the wide load, which is split later.
#include "xetile/Target/Xe/Llvm/VectorPieces.h"
#include "xetile/Target/Xe/Llvm/WideVectors.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

uint64_t bytesOf(Type *type) {
  uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  return bits % 8 ? 0 : bits / 8;
}

// A block read leaves a wide vector in a private buffer; its users take slices. A load per slice
// keeps every slice in registers of its own, where pieces of the wide vector would need shuffles to
// cut.
class Narrower {
public:
  explicit Narrower(LoadInst *wide) : wide(wide), builder(wide) {}

  void run() {
    worklist.push_back({wide, 0});
    while (!worklist.empty()) {
      auto [load, offset] = worklist.pop_back_val();
      for (User *user : make_early_inc_range(load->users()))
        if (Value *narrow = loadFor(cast<Instruction>(user), load, offset)) {
          user->replaceAllUsesWith(narrow);
          cast<Instruction>(user)->eraseFromParent();
        }
    }
    for (LoadInst *load : reverse(made)) {
      if (!load->use_empty())
        replaceByVload(load);
      if (load->use_empty())
        load->eraseFromParent();
    }
    if (wide->use_empty())
      wide->eraseFromParent();
  }

private:
  /// A load of what `user` takes of `load`, which starts `offset` bytes into the wide one. Null for
  /// other uses.
  Value *loadFor(Instruction *user, LoadInst *load, uint64_t offset) {
    Type *type = user->getType();
    if (isa<BitCastInst>(user))
      return bytesOf(type->getScalarType()) ? loadAt(offset, type) : nullptr;
    auto *from = dyn_cast<FixedVectorType>(load->getType());
    uint64_t elemBytes = from ? bytesOf(from->getElementType()) : 0;
    if (!elemBytes)
      return nullptr;
    if (auto *extract = dyn_cast<ExtractElementInst>(user)) {
      auto *index = dyn_cast<ConstantInt>(extract->getIndexOperand());
      if (!index || index->getValue().uge(from->getNumElements()))
        return nullptr;
      return loadAt(offset + index->getZExtValue() * elemBytes, type);
    }
    auto *shuffle = dyn_cast<ShuffleVectorInst>(user);
    if (!shuffle || shuffle->getOperand(0) != load)
      return nullptr;
    ArrayRef<int> mask = shuffle->getShuffleMask();
    std::optional<unsigned> begin = xetile::consecutive(mask, from->getNumElements());
    if (!begin || !xetile::isLegalCount(mask.size()))
      return nullptr;
    return loadAt(offset + *begin * elemBytes, type);
  }

  // Where the wide load stands no store can come between them.
  LoadInst *loadAt(uint64_t offset, Type *type) {
    LoadInst *&load = loads[{offset, type}];
    if (!load) {
      Value *address = wide->getPointerOperand();
      if (offset)
        address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address, offset);
      load = builder.CreateAlignedLoad(type, address, commonAlignment(wide->getAlign(), offset));
      made.push_back(load);
      worklist.push_back({load, offset});
    }
    return load;
  }

  /// A CPU's driver runs a subgroup as vectors: a load of a slice becomes a gather over the lanes'
  /// buffers, and one of 8- or 16-bit elements scalar code, the most of what linking a kernel
  /// takes. Its vloadn is cut by whole slices. GPU drivers treat both alike.
  static void replaceByVload(LoadInst *load) {
    auto *type = dyn_cast<FixedVectorType>(load->getType());
    if (!type || load->getPointerAddressSpace() != 0)
      return;
    unsigned bits = type->getScalarSizeInBits(), count = type->getNumElements();
    // OpenCL C has no others; wider ones are cut with all wide vectors.
    if ((bits != 8 && bits != 16) || !xetile::isLegalCount(count))
      return;
    IRBuilder<> builder(load);
    auto *integers = FixedVectorType::get(builder.getIntNTy(bits), count);
    // Of OpenCL C: gentypen vloadn(size_t offset, const gentype *p).
    std::string name = "vload" + std::to_string(count);
    name = "_Z" + std::to_string(name.size()) + name + "mPK" + (bits == 8 ? "h" : "t");
    FunctionCallee vload = load->getModule()->getOrInsertFunction(
        name, integers, builder.getInt64Ty(), load->getPointerOperandType());
    CallInst *slice = builder.CreateCall(vload, {builder.getInt64(0), load->getPointerOperand()});
    slice->setCallingConv(CallingConv::SPIR_FUNC);
    load->replaceAllUsesWith(builder.CreateBitCast(slice, type));
  }

  LoadInst *wide;
  IRBuilder<> builder;
  SmallDenseMap<std::pair<uint64_t, Type *>, LoadInst *> loads;
  SmallVector<LoadInst *> made;
  SmallVector<std::pair<LoadInst *, uint64_t>> worklist;
};

} // namespace

void xetile::narrowWideLoads(Function &function) {
  SmallVector<LoadInst *> wide;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *load = dyn_cast<LoadInst>(&inst))
        if (FixedVectorType *type = illegalVector(load->getType()))
          if (load->isSimple() && bytesOf(type->getElementType()))
            wide.push_back(load);
  for (LoadInst *load : wide)
    Narrower(load).run();
}
