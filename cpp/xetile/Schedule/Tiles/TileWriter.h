//===- TileWriter.h - values of tensors as vectors of a workgroup ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The writer is asked for results, not for ops: `value(tensor, places)` is the vector of the
// elements of `tensor` at `places`, one place a dimension. What an op reads follows from its
// indexing maps; slices, pads, concatenations and reshapes only change places. Each value is R x C,
// with 1 where it runs along neither rows nor columns, and is repeated where it meets others.
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_SCHEDULE_TILES_TILEWRITER_H
#define XETILE_SCHEDULE_TILES_TILEWRITER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Linalg/Scan.h"
#include "xetile/Linalg/Scatter.h"
#include "xetile/Schedule/Tiles/Place.h"
#include "xetile/Schedule/Tiles/TilePlan.h"
#include "xetile/Schedule/Tiles/TileSizes.h"
#include <map>
#include <string>

namespace xetile::transform_ops {

/// True if `tensor` is an argument, a constant of different elements, or a buffer.
bool isOwnMemory(mlir::Value tensor);

/// True if kernels load the elements of `tensor` from memory, maybe of another shape, rather than
/// compute them.
bool isInMemory(mlir::Value tensor);

/// True if tiles in memory may have elements of `type`; and the list of such types in words.
bool isTileElement(mlir::Type type);
inline constexpr llvm::StringLiteral kTileElements =
    "expected tensors of f16, bf16, f32, f64 or integers of 8, 16, 32 or 64 bits in memory";

/// The remedy that is named where a part of a program would be recomputed again and again.
inline constexpr llvm::StringLiteral kSeveralKernels =
    "compile the program without a schedule by name, which makes several kernels of it "
    "(gpu_model.mlir), or for the target cpu";

/// The constant that all elements of a tensor or number have; null if there is none.
mlir::TypedAttr getSplat(mlir::Value value);

/// Where elements of a collapsed tensor were: for each dimension of its source, a quotient and a
/// remainder of the dimensions of the result.
llvm::SmallVector<mlir::AffineExpr> delinearize(mlir::tensor::CollapseShapeOp op,
                                                llvm::ArrayRef<int64_t> shape);

/// True if a part of `expr` may be negative although all dimensions are not.
bool mayBeNegative(mlir::AffineExpr expr);

/// True if of each group of dimensions of a reshape, the first alone may be known to a run only.
bool hasKnownInnerSizes(llvm::ArrayRef<int64_t> wide,
                        llvm::ArrayRef<mlir::ReassociationIndices> groups);

/// The tile for the updates of a scatter, of `extents` without its result's rows: the dimensions
/// that reduce are those of updates.
TilePlan planScatter(llvm::ArrayRef<Extent> extents,
                     llvm::ArrayRef<mlir::utils::IteratorType> kinds);

class TileWriter {
public:
  /// Writes at the insertion point of `b`, in `workgroups`; memory is asked for before it.
  TileWriter(mlir::OpBuilder &b, mlir::Operation *workgroups, const TilePlan &plan,
             TileSizes &extents);

  /// The elements of `tensor` at `places`. `padding` is what memory gives out of bounds (zero by
  /// default).
  mlir::FailureOr<mlir::Value> value(mlir::Value tensor, llvm::ArrayRef<Place> places,
                                     mlir::TypedAttr padding = {});

  /// Stores `vector` to `memory`, where `tensor` is, at `places`; elements out of bounds are
  /// dropped.
  void store(mlir::Value vector, mlir::Value tensor, mlir::Value memory,
             llvm::ArrayRef<Place> places);

  /// Runs `write` in a loop over `[0, extent)` with its variable. Nothing is carried.
  mlir::LogicalResult inLoop(Extent extent, int64_t step,
                             llvm::function_ref<mlir::LogicalResult(mlir::Value)> write);

  /// Runs `write` for each place of a scan's loop, one after the other, where the scan's result is
  /// known then. `placesAt` gives the places of that result for an index along the loop.
  mlir::LogicalResult
  inScan(Scan scan, llvm::function_ref<llvm::SmallVector<Place>(mlir::Value, int64_t)> placesAt,
         llvm::function_ref<mlir::LogicalResult()> write);

  /// The same for each tile of places along columns, which is scanned as a whole.
  mlir::LogicalResult
  inTileScan(Scan scan, llvm::function_ref<llvm::SmallVector<Place>(mlir::Value, int64_t)> placesAt,
             llvm::function_ref<mlir::LogicalResult()> write);

  /// Updates `memory`, where the scatter's result is, by what it has at the places of its loops;
  /// that of the result's rows is open.
  mlir::LogicalResult scatter(Scatter &scatter, mlir::Value memory, llvm::ArrayRef<Place> loops);

  /// Says that an index is never above `most`.
  void setHighest(mlir::Value index, int64_t most) { highest[index] = most; }

  /// Says that an index is below the size `extent` of a run.
  void setBelow(mlir::Value index, Extent extent) { below[index] = extent.value; }

  /// Sums of products that were written as such, and contractions that were asked for.
  unsigned products = 0, contractions = 0;

  /// Where, and why it cannot be written.
  mlir::Operation *where = nullptr;
  std::string why;

private:
  using Key = std::vector<int64_t>;
  /// Elements of a tensor that a loop carries, by its number.
  struct Carried {
    unsigned number;
    llvm::SmallVector<Place> places;
    mlir::Value argument;
  };
  /// The values known at one depth of loops; the outermost has no loop.
  struct Scope {
    mlir::scf::ForOp loop;
    /// The loop on tensors that is written as this one, and what is carried of its tensors.
    mlir::scf::ForOp source;
    llvm::SmallVector<Carried> carried;
    /// True if the loop reduces rather than stores results.
    bool reduces = false;
    /// True if comparisons that a mask makes are known: all of its steps are seen by all rows.
    bool seen = false;
    std::map<Key, mlir::Value> known;
  };
  /// Writes at a lower depth, before the loops further in, while it lives.
  class AtDepth;
  /// Tiles have other sizes while it lives.
  class WithSizes;
  /// A 2D matrix in memory, and where a tile of it starts.
  struct View {
    mlir::Value memory;
    std::array<mlir::OpFoldResult, 2> offsets;
    /// Rows and columns of the matrix, and how far apart they are.
    std::array<Extent, 2> sides, strides;
    /// True if a dimension of which the matrix is one element may have none in a run.
    bool mayBeEmpty = false;
    std::array<int64_t, 2> shape;
    bool columnMajor = false;
  };
  /// A reduction on its way: its op and result, the places of its loops, those that are reduced.
  struct Reduction;

  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &reason);

  // Depths of loops.
  size_t depthOf(mlir::Value value) const;
  size_t depthOfTensor(mlir::Value tensor) const;
  size_t depthOf(llvm::ArrayRef<Place> places) const;
  mlir::Value *find(const Key &key);
  void append(Key &key, llvm::ArrayRef<Place> places) const;
  mlir::FailureOr<mlir::Value>
  carry(Extent extent, int64_t step, mlir::Value init,
        llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value, mlir::Value)> body);

  // Indices.
  mlir::Value number(int64_t value);
  mlir::Value addIndices(mlir::Value a, mlir::Value b);
  mlir::Value scaleIndex(mlir::Value a, int64_t by);
  mlir::Value multiplyIndices(mlir::Value a, mlir::Value b);
  mlir::Value divideIndex(mlir::Value a, Extent by, bool remainder);
  Place add(const Place &a, const Place &b);
  Place scale(const Place &a, int64_t by);
  mlir::FailureOr<Place> scale(const Place &a, Extent by);
  Extent product(Extent a, Extent b);
  bool isKnownBefore(mlir::OpFoldResult index) const;
  /// Sizes of a tensor, open ones of a run.
  llvm::SmallVector<int64_t> numbersOf(mlir::Value tensor);
  /// `place` less an index.
  Place subtract(const Place &place, mlir::OpFoldResult index);
  /// An extent as an index in the kernel.
  mlir::Value asIndex(Extent extent) { return extent.value ? extent.value : number(extent.number); }
  mlir::OpFoldResult start(const Place &place);
  /// The index by which `by` is multiplied to give `index`; false where it is not known.
  bool divideExactly(mlir::Value index, int64_t by, mlir::Value &quotient);
  /// The least and the greatest index of `place`; nothing where these are not known.
  std::optional<std::pair<int64_t, int64_t>> rangeOf(const Place &place) const;
  /// True if all elements at `place` are in bounds of a dimension of `extent`.
  bool isInside(const Place &place, Extent extent) const;
  /// True if none is, as far as that is known.
  bool isOutside(const Place &place, Extent extent) const;
  /// `place`, but that of the last element for a number outside of a dimension of `extent`
  /// elements: what is read there is dropped, and must exist.
  Place inBounds(const Place &place, Extent extent);
  /// The place of an affine expression; failure where it is none (quotients along a tile).
  mlir::FailureOr<Place> placeOf(mlir::AffineExpr expr, llvm::ArrayRef<Place> dims);
  mlir::FailureOr<Place> placeOf(mlir::OpFoldResult index);

  // Vectors.
  int64_t size(Role role) const { return sizes[role]; }
  llvm::SmallVector<int64_t> shapeFor(llvm::ArrayRef<Place> places) const;
  mlir::Value splat(mlir::TypedAttr value, llvm::ArrayRef<int64_t> shape = {1, 1});
  mlir::Value indexSplat(int64_t value, llvm::ArrayRef<int64_t> shape);
  mlir::Value repeat(mlir::Value vector, llvm::ArrayRef<int64_t> shape);
  /// Repeats all of them to their common shape, which it returns.
  llvm::SmallVector<int64_t> meet(llvm::MutableArrayRef<mlir::Value> vectors);
  mlir::Value indices(const Place &place);
  mlir::Value addVectors(mlir::Value a, mlir::Value b);
  mlir::FailureOr<mlir::Value> indices(mlir::AffineExpr expr, unsigned numDims,
                                       llvm::ArrayRef<mlir::Value> operands);
  mlir::Value isBelow(mlir::Value indices, Extent bound);
  /// An extent as a vector of indices.
  mlir::Value extentSplat(Extent extent, llvm::ArrayRef<int64_t> shape);
  /// Where both masks are true; `mask` may be null.
  mlir::Value both(mlir::Value mask, mlir::Value other);
  mlir::Value select(mlir::Value mask, mlir::Value yes, mlir::Value no);
  WgMapAttr mapOf(llvm::ArrayRef<int64_t> shape) const;

  // Memory.
  mlir::Value memoryOf(mlir::Value tensor);
  /// A tensor in memory, and the sizes of its dimensions.
  struct Memory {
    mlir::Value buffer;
    llvm::SmallVector<Extent> extents;
    /// Elements between neighbours along a dimension.
    llvm::SmallVector<Extent> strides;
  };
  Memory describe(mlir::Value tensor, mlir::Value buffer);
  std::optional<View> view(const Memory &memory, llvm::ArrayRef<Place> places);
  std::optional<View> unfold(const Memory &memory, llvm::ArrayRef<Place> places, unsigned folded);
  std::optional<View> viewOf(const Memory &memory, llvm::SmallVector<Place> places);
  View viewLine(const Memory &memory, const Place &place, bool isRow, View result);
  TileType tileType(const View &view, mlir::Type element, bool mapped) const;
  mlir::Value tileOf(const View &view, mlir::Type element, bool mapped);
  mlir::FailureOr<mlir::Value> load(mlir::Value tensor, llvm::ArrayRef<Place> places,
                                    mlir::TypedAttr padding);
  mlir::Value gather(mlir::Value tensor, llvm::ArrayRef<mlir::Value> indices,
                     mlir::TypedAttr padding);
  mlir::Value scattered(const Memory &memory, llvm::ArrayRef<mlir::Value> indices,
                        mlir::Value &mask);
  /// The same at places: what all elements have in common is part of the address.
  mlir::Value scatteredAt(const Memory &memory, llvm::ArrayRef<Place> places, mlir::Value &mask);
  mlir::Value tileAt(mlir::Value memory, mlir::Value start, mlir::Value indices);
  mlir::Value loadFrom(mlir::Value tile, mlir::Value mask, mlir::TypedAttr padding);

  // Values.
  /// Counts a value of `op` that is about to be written, one level deeper; an error for too many.
  mlir::LogicalResult enter(mlir::Operation *op);
  mlir::FailureOr<mlir::Value> compute(mlir::Value tensor, llvm::ArrayRef<Place> places,
                                       mlir::TypedAttr padding);
  mlir::FailureOr<mlir::Value> move(mlir::Value tensor, llvm::ArrayRef<Place> places,
                                    mlir::TypedAttr padding);
  mlir::FailureOr<mlir::Value> ofSlice(mlir::tensor::ExtractSliceOp op,
                                       llvm::ArrayRef<Place> places, mlir::TypedAttr padding);
  mlir::FailureOr<mlir::SmallVector<Place>> inSlice(mlir::OffsetSizeAndStrideOpInterface op,
                                                    const llvm::SmallBitVector &dropped,
                                                    llvm::ArrayRef<Place> places);
  mlir::FailureOr<mlir::Value> ofInsertion(mlir::tensor::InsertSliceOp op,
                                           llvm::ArrayRef<Place> places);
  mlir::FailureOr<mlir::Value> ofSteppedInsertion(mlir::tensor::InsertSliceOp op,
                                                  llvm::ArrayRef<Place> places);
  Place inPieces(mlir::tensor::ConcatOp op, const Place &place, llvm::ArrayRef<int64_t> starts);
  mlir::FailureOr<mlir::Value> ofConcat(mlir::tensor::ConcatOp op, llvm::ArrayRef<Place> places);
  mlir::FailureOr<mlir::Value> ofPad(mlir::tensor::PadOp op, llvm::ArrayRef<Place> places);
  mlir::FailureOr<mlir::Value> ofExpansion(mlir::tensor::ExpandShapeOp op,
                                           llvm::ArrayRef<Place> places);
  mlir::FailureOr<mlir::Value> ofCollapse(mlir::tensor::CollapseShapeOp op,
                                          llvm::ArrayRef<Place> places);
  mlir::Value collapseOperands(mlir::tensor::CollapseShapeOp op);
  mlir::FailureOr<mlir::Value> ofLinalg(mlir::linalg::LinalgOp op, unsigned result,
                                        llvm::ArrayRef<Place> places);

  // Loops on tensors.
  mlir::FailureOr<mlir::Value> ofLoop(mlir::scf::ForOp op, unsigned number,
                                      llvm::ArrayRef<Place> places);
  mlir::FailureOr<mlir::Value> ofCarried(mlir::BlockArgument tensor, llvm::ArrayRef<Place> places);
  /// Bounds of a loop on tensors.
  struct Bounds {
    mlir::Value from, to, by;
    bool seen = false;
  };
  llvm::SmallVector<Bounds> boundsOf(mlir::scf::ForOp source, unsigned number,
                                     llvm::ArrayRef<Place> places, int64_t to, int64_t by);
  mlir::FailureOr<std::unique_ptr<Scope>> writeLoop(mlir::scf::ForOp source, unsigned number,
                                                    llvm::ArrayRef<Place> places,
                                                    const Bounds &bounds, const Scope *before);
  mlir::Value carriedBefore(const Scope &before, const Carried &carried) const;
  mlir::LogicalResult writeCarried(Scope &scope, size_t outside, const Scope *before,
                                   llvm::SmallVector<mlir::Value> &inits,
                                   llvm::SmallVector<mlir::Value> &yields);
  bool sumsStayInLanes(int64_t rows) const;
  bool isSummedInLanes(Scope &scope, unsigned number, llvm::ArrayRef<Place> places);
  mlir::Value carriedOf(Scope &scope, unsigned number, llvm::ArrayRef<Place> places);

  // Products of matrices.
  /// c[rows, columns] += a[rows, k] * b[k, columns]; `a` is the number of that input.
  struct Product {
    mlir::linalg::LinalgOp op;
    unsigned k = 0, a = 0;
    int64_t extent = 0;
  };
  /// Elements of k that are multiplied at a time: from `first` on, `extent` of them exist.
  struct KPart {
    int64_t first = 0, extent = 0, steps = 0;
  };
  std::optional<Product> matchProduct(mlir::linalg::LinalgOp op, llvm::ArrayRef<Place> loops,
                                      llvm::ArrayRef<unsigned> reduced);
  mlir::FailureOr<mlir::Value> multiply(Product &product, llvm::ArrayRef<Place> loops);
  mlir::FailureOr<mlir::Value> factor(Product &product, const KPart &part, unsigned operand,
                                      llvm::SmallVector<Place> loops);
  llvm::SmallVector<KPart> partsOf(const Product &product) const;

  mlir::Value power(mlir::Value exponent);
  mlir::Value binaryPower(mlir::Value exponent);
  mlir::Value product(mlir::Value vector, mlir::Value factor);
  mlir::Value withoutPositiveFactor(mlir::Value vector, mlir::TypedAttr &factor);

  // Bodies.
  mlir::FailureOr<mlir::Value> numberOfRun(mlir::Operation *op, mlir::Value scalar);
  mlir::FailureOr<mlir::Value> read(mlir::linalg::LinalgOp op, mlir::OpOperand &operand,
                                    llvm::ArrayRef<Place> loops, mlir::TypedAttr padding = {});
  mlir::FailureOr<mlir::Value> scalarCode(mlir::linalg::LinalgOp op, llvm::ArrayRef<Place> loops,
                                          mlir::Value wanted, mlir::TypedAttr padding = {});
  /// The same where `readOperand` and `indexOf` say what operands and indices of loops are.
  mlir::FailureOr<mlir::Value>
  scalarCode(mlir::linalg::LinalgOp op, mlir::Value wanted,
             llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::OpOperand &)> readOperand,
             llvm::function_ref<mlir::Value(unsigned)> indexOf);
  mlir::FailureOr<mlir::Value>
  inner(mlir::Operation *op, llvm::function_ref<mlir::Value(unsigned)> indexOf,
        llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value)> get);

  // By indices.
  /// The elements of `tensor` at `indices`, one vector a dimension, for `reader`: gathered from
  /// memory, or computed of what is.
  mlir::FailureOr<mlir::Value> valueAt(mlir::Operation *reader, mlir::Value tensor,
                                       llvm::ArrayRef<mlir::Value> indices);
  mlir::FailureOr<mlir::Value> movedAt(mlir::Operation *reader, mlir::Operation *op,
                                       llvm::ArrayRef<mlir::Value> indices);
  mlir::FailureOr<mlir::Value> paddedAt(mlir::tensor::PadOp op,
                                        llvm::ArrayRef<mlir::Value> indices);
  mlir::FailureOr<mlir::Value> computedAt(mlir::linalg::LinalgOp op, unsigned result,
                                          llvm::ArrayRef<mlir::Value> indices);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> throughMap(mlir::linalg::LinalgOp op,
                                                             mlir::OpOperand &operand,
                                                             llvm::ArrayRef<mlir::Value> loops);
  mlir::FailureOr<mlir::Value> readByIndices(mlir::linalg::LinalgOp op, mlir::OpOperand &operand,
                                             llvm::ArrayRef<Place> loops, mlir::TypedAttr padding);

  // Reductions.
  mlir::FailureOr<mlir::Value> reduce(mlir::linalg::LinalgOp op, unsigned result,
                                      llvm::SmallVector<Place> loops,
                                      llvm::ArrayRef<unsigned> reduced);
  void readCombiner(Reduction &reduction);
  void unroll(Reduction &reduction, llvm::SmallVector<unsigned> serial);
  mlir::FailureOr<mlir::Value> accumulate(Reduction &reduction, unsigned next, mlir::Value total);
  std::optional<mlir::FailureOr<mlir::Value>> wideProduct(Reduction &reduction);
  mlir::FailureOr<mlir::Value> element(Reduction &reduction);
  mlir::FailureOr<mlir::Value> finish(Reduction &reduction, mlir::Value total);
  mlir::Value combine(Reduction &reduction, mlir::Value a, mlir::Value b);
  mlir::Value sumByProduct(mlir::Value powers, mlir::Value sums);
  mlir::Value sumInLanes(mlir::Value powers, mlir::Value sums);

  mlir::Value rounded(Scan &scan, mlir::Value combined);
  mlir::LogicalResult readInputs(mlir::linalg::GenericOp op, llvm::ArrayRef<Place> loops);

  // Reductions element by element.
  struct Fold;
  static bool isCarried(Fold &fold, mlir::OpOperand &init);
  mlir::FailureOr<mlir::Value> fold(mlir::linalg::LinalgOp op, unsigned result,
                                    llvm::SmallVector<Place> loops,
                                    llvm::ArrayRef<unsigned> reduced);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> foldLoops(Fold &fold, unsigned next,
                                                            llvm::ArrayRef<mlir::Value> before);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> foldOne(Fold &fold,
                                                          llvm::ArrayRef<mlir::Value> before);

  // Sums of products.
  struct ProductSum;
  /// The sum of an op that the matrix unit takes; nothing for others.
  std::optional<mlir::FailureOr<mlir::Value>> sumOfProducts(mlir::linalg::LinalgOp op,
                                                            llvm::ArrayRef<Place> loops,
                                                            llvm::ArrayRef<unsigned> reduced);
  bool takesProductSum(ProductSum &sum);
  mlir::FailureOr<mlir::Value> addProducts(ProductSum &sum, unsigned next, mlir::Value total);
  mlir::FailureOr<mlir::Value>
  addParts(Extent extent, int64_t step, mlir::Value total,
           llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value, mlir::Value)> add);
  mlir::FailureOr<mlir::Value>
  addBlock(mlir::Value total, llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value)> sum);
  mlir::Value multiplyExactly(mlir::Value left, mlir::Value right, mlir::Value total);
  std::optional<mlir::Value> loadBlock(ProductSum &sum, unsigned number);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Operation *workgroups;
  const TilePlan &plan;
  TileSizes &extents;
  /// Of tiles at the moment, and whether subgroups share their rows as those of the result.
  std::array<int64_t, 2> sizes;
  bool shares = true;
  /// The greatest number that an index is, where it is known.
  llvm::DenseMap<mlir::Value, int64_t> highest;
  /// The size of a run that an index is below.
  llvm::DenseMap<mlir::Value, mlir::Value> below;
  llvm::SmallVector<std::unique_ptr<Scope>> scopes;
  /// Variables of loops on tensors, as those of the loops that are written.
  llvm::DenseMap<mlir::Value, mlir::Value> variables;
  std::map<void *, mlir::Value> memories;
  /// The values that replace reshapes of computed tensors, by the reshape.
  std::map<void *, mlir::Value> reshaped;
  /// Ops that ask for each other's results; bounded, as the stack is.
  unsigned depth = 0;
  /// Values that were written; bounded, as programs of several kernels may be written over and
  /// over.
  unsigned written = 0;
};

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_TILEWRITER_H
