//===- LaunchByCuda.cpp - launches as calls of the runtime library --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: host code with gpu.launch_func, gpu.binaries of PTX. Out: calls of cpp/runtime/cuda, PTX as
// constants. Refused: kernels without PTX, arguments of other kinds, launches that wait for others.
//===----------------------------------------------------------------------===//
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "xetile/Target/Nvidia/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_LAUNCHBYCUDA
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

constexpr int64_t kMaxRank = 8, kUsualRank = 5; // of arrays

/// Elements of a tensor map, as the driver numbers them (CUtensorMapDataType). f32 that wgmma reads
/// is rounded to tf32 on its way, else it would be cut; `isExact` is f32 that stays as it is.
int64_t kindOf(Type type, bool isExact) {
  if (type.isInteger(8))
    return 0;
  if (type.isInteger(32))
    return 3;
  if (type.isF32())
    return isExact ? 7 : 11;
  return type.isF16() ? 6 : 9;
}

/// Facts of a kernel that its launch needs.
struct Kernel {
  StringAttr ptx;
  DictionaryAttr ring;
  ArrayAttr maps;
};

struct LaunchByCuda : xetile::impl::LaunchByCudaBase<LaunchByCuda> {
  using LaunchByCudaBase::LaunchByCudaBase;

  void runOnOperation() override {
    SmallVector<gpu::LaunchFuncOp> launches;
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](Operation *op) {
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
        launches.push_back(launch);
      if (auto copy = dyn_cast<memref::CopyOp>(op))
        copies.push_back(copy);
    });
    for (gpu::LaunchFuncOp launch : launches)
      if (failed(lower(launch)))
        return signalPassFailure();
    for (memref::CopyOp copy : copies)
      lowerCopy(copy);
    getOperation().walk([&](gpu::MemcpyOp copy) { lowerCopy(copy, copy.getSrc(), copy.getDst()); });
    getOperation().walk([&](gpu::DeallocOp free) { lowerFree(free); });
    WalkResult allocated = getOperation().walk([&](gpu::AllocOp alloc) {
      return succeeded(lowerAlloc(alloc)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (allocated.wasInterrupted())
      return signalPassFailure();
    for (auto binary : llvm::make_early_inc_range(getOperation().getOps<gpu::BinaryOp>()))
      binary.erase();
  }

private:
  FailureOr<Kernel> find(gpu::LaunchFuncOp launch) {
    auto binary =
        getOperation().lookupSymbol<gpu::BinaryOp>(launch.getKernelModuleName().getValue());
    auto object = binary && binary.getObjects().size() == 1
                      ? dyn_cast<gpu::ObjectAttr>(binary.getObjects()[0])
                      : gpu::ObjectAttr();
    auto facts = object && object.getProperties()
                     ? object.getProperties().getAs<DictionaryAttr>(launch.getKernelName())
                     : DictionaryAttr();
    if (!facts || object.getFormat() != gpu::CompilationTarget::Assembly)
      return launch.emitOpError("launches a kernel without PTX: run xetile-emit-ptx before");
    Kernel kernel{object.getObject(), facts.getAs<DictionaryAttr>("ring"),
                  facts.getAs<ArrayAttr>("maps")};
    if (!isComplete(kernel, launch))
      return launch.emitOpError("launches a kernel whose gpu.binary lacks facts of its launch, or "
                                "has others than its arguments: expected those that "
                                "xetile-emit-ptx writes");
    return kernel;
  }

  /// True if the facts beside the PTX are those that a launch reads.
  static bool isComplete(const Kernel &kernel, gpu::LaunchFuncOp launch) {
    auto has = [&](StringRef name) { return bool(kernel.ring.getAs<IntegerAttr>(name)); };
    if (!kernel.ring || !kernel.maps || !has("shared_bytes") || !has("threads") ||
        !kernel.ring.getAs<DenseI64ArrayAttr>("written"))
      return false;
    return llvm::all_of(kernel.maps, [&](Attribute entry) {
      auto map = dyn_cast<DictionaryAttr>(entry);
      auto argument = map ? map.getAs<IntegerAttr>("argument") : IntegerAttr();
      auto box = map ? map.getAs<DenseI64ArrayAttr>("box") : DenseI64ArrayAttr();
      if (!argument || !box || box.size() != 2 || argument.getInt() < 0 ||
          argument.getInt() >= int64_t(launch.getNumKernelOperands()))
        return false;
      return isa<MemRefType>(launch.getKernelOperand(unsigned(argument.getInt())).getType());
    });
  }

  LogicalResult check(gpu::LaunchFuncOp launch) {
    if (!launch.getAsyncDependencies().empty() || launch.getAsyncToken() || launch.hasClusterSize())
      return launch.emitOpError("waits for others, gives a token or asks for clusters; expected a "
                                "launch without");
    for (Value operand : launch.getKernelOperands()) {
      auto memory = dyn_cast<MemRefType>(operand.getType());
      if (memory ? memory.getRank() > kMaxRank || !memory.getElementType().isIntOrFloat()
                 : !operand.getType().isIntOrIndexOrFloat())
        return launch.emitOpError("passes ")
               << operand.getType() << "; expected memrefs of at most " << kMaxRank
               << " dimensions, integers and floats";
    }
    return success();
  }

  /// A matrix of an image's windows has more elements than the image: who reads it as it is written
  /// down reads what is behind.
  static LogicalResult checkMatrices(gpu::LaunchFuncOp launch, const Kernel &kernel) {
    auto image = kernel.ring.getAs<IntegerAttr>("image");
    for (auto [at, operand] : llvm::enumerate(launch.getKernelOperands())) {
      auto view = operand.getDefiningOp<memref::ReinterpretCastOp>();
      auto source = view ? dyn_cast<MemRefType>(view.getSource().getType()) : MemRefType();
      if (!source || !source.hasStaticShape() || !view.getType().hasStaticShape() ||
          view.getType().getNumElements() <= source.getNumElements() ||
          (image && image.getInt() == int64_t(at)))
        continue;
      return launch.emitOpError("passes ")
             << source << " as argument " << at << ", " << view.getType()
             << ": expected a kernel whose xetile.window says where these elements are, until "
                "xetile-plan-ring";
    }
    return success();
  }

  /// With all workgroups along x where the kernel numbers them so.
  void callLaunch(ImplicitLocOpBuilder &b, gpu::LaunchFuncOp launch, const Kernel &kernel,
                  Value handle) {
    gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
    };
    SmallVector<Value> facts = {handle};
    for (Value size : {grid.x, grid.y, grid.z})
      facts.push_back(size.getType().isIndex() ? arith::IndexCastOp::create(b, b.getI64Type(), size)
                                               : size);
    if (kernel.ring.get("flat")) {
      Value others = arith::MulIOp::create(b, facts[2], facts[3]);
      facts[1] = arith::MulIOp::create(b, facts[1], others);
      facts[2] = facts[3] = number(1);
    }
    facts.push_back(number(kernel.ring.getAs<IntegerAttr>("threads").getInt()));
    call(b, "xetileCudaLaunch", facts);
  }

  LogicalResult lower(gpu::LaunchFuncOp launch) {
    FailureOr<Kernel> kernel = find(launch);
    if (failed(check(launch)) || failed(kernel) || failed(checkMatrices(launch, *kernel)))
      return failure();
    ImplicitLocOpBuilder b(launch.getLoc(), launch);
    std::string name = launch.getKernelModuleName().getValue().str();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
    };
    auto ringNumber = [&](StringRef field) {
      return number(kernel->ring.getAs<IntegerAttr>(field).getInt());
    };
    Value ptx = addressOf(b, name + "_ptx", kernel->ptx.getValue());
    std::string own = name + "_" + launch.getKernelName().getValue().str();
    Value symbol = addressOf(b, own + "_name", launch.getKernelName().getValue());
    Value handle =
        call(b, "xetileCudaBegin", {slotOf(b, own), ptx, symbol, ringNumber("shared_bytes")}, true);
    ArrayRef<int64_t> written = kernel->ring.getAs<DenseI64ArrayAttr>("written");
    auto image = kernel->ring.getAs<IntegerAttr>("image");
    for (auto [at, operand] : llvm::enumerate(launch.getKernelOperands())) {
      if (!isa<MemRefType>(operand.getType())) {
        passNumber(b, handle, operand);
        continue;
      }
      SmallVector<Value> parts = {handle};
      Value memory = image && image.getInt() == int64_t(at) ? imageOf(b, operand) : operand;
      parts.append(describe(b, memory, llvm::is_contained(written, int64_t(at)) ? 3 : 1));
      bool isUsual = cast<MemRefType>(operand.getType()).getRank() <= kUsualRank;
      call(b, isUsual ? "xetileCudaMatrix" : "xetileCudaArray", parts);
    }
    for (Attribute entry : kernel->maps) {
      auto map = cast<DictionaryAttr>(entry);
      int64_t argument = map.getAs<IntegerAttr>("argument").getInt();
      ArrayRef<int64_t> box = map.getAs<DenseI64ArrayAttr>("box");
      auto type = cast<MemRefType>(launch.getKernelOperand(argument).getType());
      bool isExact = map.contains("exact") || llvm::is_contained(written, argument);
      SmallVector<Value> facts = {handle, number(argument),
                                  number(kindOf(type.getElementType(), isExact)), number(box[0]),
                                  number(box[1])};
      auto along = map.getAs<IntegerAttr>("outer_dim");
      if (along)
        facts.push_back(number(along.getInt()));
      call(b, along ? "xetileCudaMapAlong" : "xetileCudaMap", facts);
    }
    if (auto aligned = kernel->ring.getAs<DenseI64ArrayAttr>("aligned"))
      for (ArrayRef<int64_t> rest = aligned; rest.size() >= 2; rest = rest.drop_front(2))
        call(b, "xetileCudaAligned", {handle, number(rest[0]), number(rest[1])});
    auto pipeline = kernel->ring.getAs<StringAttr>("pipeline");
    auto counter = kernel->ring.getAs<BoolAttr>("counter");
    if (pipeline && pipeline == "specialized")
      call(b, counter && counter.getValue() ? "xetileCudaDraw" : "xetileCudaWalk", {handle});
    callLaunch(b, launch, *kernel, handle);
    launch.erase();
    return success();
  }

  /// The memory that a matrix of windows is in, in as many dimensions but not with its elements,
  /// which are others.
  static Value imageOf(ImplicitLocOpBuilder &b, Value matrix) {
    auto view = matrix.getDefiningOp<memref::ReinterpretCastOp>();
    if (!view)
      return matrix;
    auto image = cast<MemRefType>(view.getSource().getType());
    SmallVector<int64_t> sizes(size_t(view.getType().getRank()), 1), strides = sizes;
    sizes.back() = image.getNumElements();
    llvm::fill(MutableArrayRef(strides).drop_back(), image.getNumElements());
    return memref::ReinterpretCastOp::create(b, MemRefType::get(sizes, image.getElementType()),
                                             view.getSource(), /*offset=*/0, sizes, strides);
  }

  /// Address, offset, access (1 is read, 2 written), bytes of an element, rank, sizes, strides.
  static SmallVector<Value> describe(ImplicitLocOpBuilder &b, Value memory, int64_t access) {
    auto type = cast<MemRefType>(memory.getType());
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
    };
    auto wide = [&](Value index) -> Value {
      return arith::IndexCastOp::create(b, b.getI64Type(), index);
    };
    auto facts = memref::ExtractStridedMetadataOp::create(b, memory);
    int64_t bits = type.getElementTypeBitWidth();
    SmallVector<Value> parts = {wide(memref::ExtractAlignedPointerAsIndexOp::create(b, memory)),
                                wide(facts.getOffset()), number(access),
                                number(std::max<int64_t>(bits / 8, 1)), number(type.getRank())};
    for (ValueRange values : {ValueRange(facts.getSizes()), ValueRange(facts.getStrides())}) {
      for (Value value : values)
        parts.push_back(wide(value));
      int64_t rank = type.getRank() <= kUsualRank ? kUsualRank : kMaxRank;
      parts.append(size_t(rank) - values.size(), number(1));
    }
    return parts;
  }

  void passNumber(ImplicitLocOpBuilder &b, Value handle, Value value) {
    Type type = value.getType();
    unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    Value whole = value;
    if (isa<FloatType>(type))
      whole = arith::BitcastOp::create(b, b.getIntegerType(bits), value);
    if (type.isIndex())
      whole = arith::IndexCastOp::create(b, b.getI64Type(), value);
    else if (bits < 64)
      whole = arith::ExtUIOp::create(b, b.getI64Type(), whole);
    Value bytes = arith::ConstantOp::create(b, b.getI64IntegerAttr((bits + 7) / 8));
    call(b, "xetileCudaNumber", {handle, whole, bytes});
  }

  /// Arrays that are on the device are copied there.
  void lowerCopy(memref::CopyOp copy) { lowerCopy(copy, copy.getSource(), copy.getTarget()); }

  void lowerCopy(Operation *copy, Value source, Value target) {
    auto from = dyn_cast<MemRefType>(source.getType());
    auto to = dyn_cast<MemRefType>(target.getType());
    if (!from || !to || !from.getLayout().isIdentity() || !to.getLayout().isIdentity())
      return;
    ImplicitLocOpBuilder b(copy->getLoc(), copy);
    auto address = [&](Value memory) -> Value {
      return arith::IndexCastOp::create(b, b.getI64Type(),
                                        memref::ExtractAlignedPointerAsIndexOp::create(b, memory));
    };
    auto facts = memref::ExtractStridedMetadataOp::create(b, source);
    Value bytes =
        arith::ConstantOp::create(b, b.getIndexAttr((from.getElementTypeBitWidth() + 7) / 8));
    for (Value size : facts.getSizes())
      bytes = arith::MulIOp::create(b, bytes, size);
    call(b, "xetileCudaCopy",
         {address(target), address(source), arith::IndexCastOp::create(b, b.getI64Type(), bytes)});
    copy->erase();
  }

  /// Memory of the device as the descriptor that a memref becomes.
  LogicalResult lowerAlloc(gpu::AllocOp alloc) {
    MemRefType type = alloc.getType();
    if (!type.getLayout().isIdentity())
      return alloc.emitOpError("allocates ") << type << "; expected contiguous memory";
    ImplicitLocOpBuilder b(alloc.getLoc(), alloc);
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
    };
    SmallVector<Value> sizes, strides(size_t(type.getRank()));
    ValueRange given = alloc.getDynamicSizes();
    for (int64_t size : type.getShape()) {
      bool isOpen = ShapedType::isDynamic(size);
      sizes.push_back(isOpen ? arith::IndexCastOp::create(b, b.getI64Type(), given.front())
                             : number(size));
      given = isOpen ? given.drop_front() : given;
    }
    Value elements = number(1);
    for (size_t dim = sizes.size(); dim-- > 0;) {
      strides[dim] = elements;
      elements = b.createOrFold<arith::MulIOp>(elements, sizes[dim]);
    }
    Value bytes =
        b.createOrFold<arith::MulIOp>(elements, number((type.getElementTypeBitWidth() + 7) / 8));
    Value memory = call(b, "xetileCudaAllocate", {bytes}, true);
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    SmallVector<Type> fields = {pointer, pointer, b.getI64Type()};
    if (type.getRank() != 0)
      fields.append(2, LLVM::LLVMArrayType::get(b.getI64Type(), unsigned(type.getRank())));
    Value descriptor =
        LLVM::UndefOp::create(b, LLVM::LLVMStructType::getLiteral(b.getContext(), fields));
    auto insert = [&](Value value, ArrayRef<int64_t> at) {
      descriptor = LLVM::InsertValueOp::create(b, descriptor, value, at);
    };
    insert(memory, {0});
    insert(memory, {1});
    insert(number(0), {2});
    for (auto [dim, size, stride] : llvm::enumerate(sizes, strides)) {
      insert(size, {3, int64_t(dim)});
      insert(stride, {4, int64_t(dim)});
    }
    Value made = UnrealizedConversionCastOp::create(b, type, descriptor).getResult(0);
    alloc.getMemref().replaceAllUsesWith(made);
    alloc.erase();
    return success();
  }

  void lowerFree(gpu::DeallocOp free) {
    ImplicitLocOpBuilder b(free.getLoc(), free);
    Value index = memref::ExtractAlignedPointerAsIndexOp::create(b, free.getMemref());
    Value address = arith::IndexCastOp::create(b, b.getI64Type(), index);
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    call(b, "xetileCudaFree", {LLVM::IntToPtrOp::create(b, pointer, address)});
    free.erase();
  }

  Value call(ImplicitLocOpBuilder &b, StringRef name, ArrayRef<Value> arguments,
             bool givesPointer = false) {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto type = b.getFunctionType(TypeRange(ValueRange(arguments)),
                                  givesPointer ? TypeRange(pointer) : TypeRange());
    if (!getOperation().lookupSymbol(name)) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(getOperation().getBody());
      func::FuncOp::create(b, name, type).setPrivate();
    }
    auto made = func::CallOp::create(b, name, type.getResults(), arguments);
    return givesPointer ? made.getResult(0) : Value();
  }

  /// A constant text with a null at its end, once for each name.
  Value addressOf(ImplicitLocOpBuilder &b, StringRef name, StringRef text) {
    std::string ended = text.str();
    ended.push_back('\0');
    if (!getOperation().lookupSymbol(name)) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(getOperation().getBody());
      auto type = LLVM::LLVMArrayType::get(b.getI8Type(), ended.size());
      LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                             b.getStringAttr(ended));
    }
    return LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), name);
  }

  /// Where the runtime keeps the kernel that the driver made.
  Value slotOf(ImplicitLocOpBuilder &b, StringRef module) {
    std::string name = (module + "_slot").str();
    if (!getOperation().lookupSymbol(name)) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(getOperation().getBody());
      LLVM::GlobalOp::create(b, b.getI64Type(), /*isConstant=*/false, LLVM::Linkage::Internal, name,
                             b.getI64IntegerAttr(0));
    }
    return LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), name);
  }
};
} // namespace
