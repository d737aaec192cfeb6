//===- WgMapInference.cpp - the workgroup map of each value ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/WgMapInference.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Transforms/Distribution.h"
#include "xetile/Transforms/TiedValues.h"
#include "xetile/Transforms/WgMapChoice.h"
#include "llvm/ADT/IntEqClasses.h"
#include <deque>

using namespace mlir;

namespace xetile {

bool canHaveWgMap(Type type) {
  if (isa<TileType>(type))
    return true;
  auto vector = dyn_cast<VectorType>(type);
  return vector && !vector.isScalable() && llvm::is_contained({1, 2, 4}, vector.getRank()) &&
         isBoundedShape(vector.getShape());
}

bool isFreelyDistributed(Operation *op) {
  if (op->getNumResults() != 1 || !isa<VectorType>(op->getResult(0).getType()))
    return false;
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return !isa<VectorType>(broadcast.getSourceType());
  return isa<arith::ConstantOp, ub::PoisonOp, vector::StepOp, vector::CreateMaskOp,
             vector::ConstantMaskOp>(op);
}

/// Gives each use of a vector that comes from nothing distributed a definition of its own.
static void cloneFreeVectorsPerUse(Operation *root) {
  SmallVector<Operation *> definitions;
  root->walk([&](Operation *op) {
    if (isFreelyDistributed(op) && canHaveWgMap(op->getResult(0).getType()) && !op->use_empty() &&
        !op->hasOneUse())
      definitions.push_back(op);
  });
  for (Operation *op : definitions) {
    OpBuilder builder(op);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getUses())))
      use.set(builder.clone(*op)->getResult(0));
  }
}

/// An order of maps with the same pieces, so that all values of a group agree on one of them.
static bool precedes(WgMapAttr a, WgMapAttr b) { return a.getSgLayout()[0] < b.getSgLayout()[0]; }

/// The operation that defines `value` or owns its block.
static Operation *getOwner(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op : value.getParentBlock()->getParentOp();
}

namespace {

/// A map that an operation states for a value.
struct Statement {
  WgMapAttr map;
  Operation *op;
};

/// A use of a vector by an operation that owns it as it owns `user`: under the same map, or under
/// one that follows by the operation's rule.
struct Use {
  OpOperand *operand;
  Value user;
  bool isDerived;
  bool takesAnyMap; // the rule is only a suggestion
};

class Solver {
public:
  LogicalResult collect(Operation *root);
  /// Hands maps on until nothing changes.
  LogicalResult solve();
  /// Inserts conversions and tells the maps of all values.
  LogicalResult finish(llvm::MapVector<Value, WgMapAttr> &maps);

private:
  unsigned getNumber(Value value);
  unsigned getGroup(Value value) const { return groups.findLeader(numbers.lookup(value)); }
  void unite(Value a, Value b);
  void bind(OperandRange from, ValueRange to);
  LogicalResult state(Value value, WgMapAttr map, Operation *op);
  void collectRegions(Operation *op);
  void collectUses(Operation *op);
  LogicalResult collectStatements(Operation *op);
  /// The map that the use wants for its operand, and the one that the operand's suggests for the
  /// user.
  WgMapAttr getWanted(const Use &use, WgMapAttr map) const;
  WgMapAttr getSuggested(const Use &use, WgMapAttr map) const;
  LogicalResult assign(Value value, WgMapAttr map);
  LogicalResult handOn(const Use &use);
  LogicalResult handOnToCasts();

  SmallVector<Value> values;
  llvm::DenseMap<Value, unsigned> numbers;
  llvm::IntEqClasses groups;
  SmallVector<std::pair<Value, Statement>> stated;
  SmallVector<Use> uses;
  llvm::DenseMap<unsigned, Statement> maps; // of groups
  llvm::DenseMap<unsigned, SmallVector<unsigned>> usesOfGroup;
  std::deque<unsigned> worklist;
};

} // namespace

//===----------------------------------------------------------------------===//
// Groups, statements and uses
//===----------------------------------------------------------------------===//

unsigned Solver::getNumber(Value value) {
  auto [entry, inserted] = numbers.insert({value, values.size()});
  if (inserted) {
    values.push_back(value);
    groups.grow(values.size());
  }
  return entry->second;
}

void Solver::unite(Value a, Value b) {
  if (canHaveWgMap(a.getType()) && canHaveWgMap(b.getType()))
    groups.join(getNumber(a), getNumber(b));
}

void Solver::bind(OperandRange from, ValueRange to) {
  for (auto [a, b] : llvm::zip(from, to))
    unite(a, b);
}

/// Ties loop-carried and yielded values of scf's regions to their results.
void Solver::collectRegions(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    bind(loop.getInitArgs(), loop.getRegionIterArgs());
    bind(loop.getInitArgs(), loop.getResults());
    bind(loop.getBody()->getTerminator()->getOperands(), loop.getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    bind(loop.getInits(), loop.getBeforeArguments());
    bind(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    bind(loop.getConditionOp().getArgs(), loop.getResults());
    bind(loop.getYieldOp()->getOperands(), loop.getBeforeArguments());
  } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    for (Region &region : op->getRegions())
      if (!region.empty())
        bind(region.front().getTerminator()->getOperands(), op->getResults());
  }
}

void Solver::collectUses(Operation *op) {
  auto append = [&](OpOperand &operand, Value user, bool isDerived, bool takesAnyMap) {
    if (!canHaveWgMap(operand.get().getType()) || !canHaveWgMap(user.getType()))
      return;
    getNumber(operand.get());
    getNumber(user);
    uses.push_back({&operand, user, isDerived, takesAnyMap});
  };
  if (sharesOneMap(op)) {
    auto isTile = [](Value value) { return isa<TileType>(value.getType()); };
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    Value tile = *llvm::find_if(values, isTile);
    for (Value result : op->getResults())
      unite(tile, result);
    for (OpOperand &operand : op->getOpOperands())
      if (isTile(operand.get()))
        unite(tile, operand.get());
      else
        append(operand, tile, /*isDerived=*/false, /*takesAnyMap=*/false);
  } else if (isa<TileMmaOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      append(operand, op->getResult(0), operand.getOperandNumber() < 2, /*takesAnyMap=*/false);
  } else if (isa<TileBroadcastOp, vector::ShapeCastOp, vector::ExtractStridedSliceOp>(op)) {
    append(op->getOpOperand(0), op->getResult(0), /*isDerived=*/true, /*takesAnyMap=*/false);
  } else if (isa<TileTransposeOp, TileReduceOp>(op)) {
    append(op->getOpOperand(0), op->getResult(0), /*isDerived=*/true, /*takesAnyMap=*/true);
  } else if (isa<TileConvLayoutOp>(op)) {
    append(op->getOpOperand(0), op->getResult(0), /*isDerived=*/false, /*takesAnyMap=*/true);
  } else if (isa<TilePackOp, TileUnpackOp>(op)) {
    append(op->getOpOperand(0), op->getResult(0), /*isDerived=*/false, /*takesAnyMap=*/false);
  } else if (isElementwiseOnVectors(op)) {
    // Not the scalar condition of a select.
    for (OpOperand &operand : op->getOpOperands())
      if (auto vector = dyn_cast<VectorType>(operand.get().getType());
          vector && vector.getShape() == cast<VectorType>(op->getResult(0).getType()).getShape())
        append(operand, op->getResult(0), /*isDerived=*/false, /*takesAnyMap=*/false);
  }
}

LogicalResult Solver::collectStatements(Operation *op) {
  SmallVector<Value> defined(op->getResults());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(defined, block.getArguments());
  for (Value value : defined)
    if (canHaveWgMap(value.getType())) {
      getNumber(value);
      if (auto tile = dyn_cast<TileType>(value.getType()); tile && tile.getWgMap())
        stated.push_back({value, {tile.getWgMap(), op}});
    }
  if (WgMapAttr map = getResultWgMap(op))
    stated.push_back({op->getResult(0), {map, op}});
  // The operand's map need not follow from that of the result.
  if (auto convert = dyn_cast<TileConvLayoutOp>(op); convert && convert.getSourceWgMapAttr()) {
    getNumber(convert.getVector());
    stated.push_back({convert.getVector(), {convert.getSourceWgMapAttr(), op}});
  }
  // An operation that does not define a map would ignore it.
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (isa<WgMapAttr>(attr.getValue()) && !attr.getName().getValue().contains('.'))
      return op->emitOpError("has the workgroup map ")
             << attr.getName() << " = " << attr.getValue()
             << ", which only operations of XeTile take; set it on the tile_mma or the tile whose "
                "map this one's follows from";
  return success();
}

LogicalResult Solver::collect(Operation *root) {
  auto collectOne = [&](Operation *op) {
    collectRegions(op);
    collectUses(op);
    return WalkResult(collectStatements(op));
  };
  return failure(root->walk<WalkOrder::PreOrder>(collectOne).wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Maps of the groups
//===----------------------------------------------------------------------===//

LogicalResult Solver::state(Value value, WgMapAttr map, Operation *op) {
  auto type = cast<ShapedType>(value.getType());
  auto [entry, inserted] = maps.insert({getGroup(value), {map, op}});
  Statement &known = entry->second;
  if (inserted)
    return success();
  if (haveSamePieces(known.map, map, getMatrixShape(type))) {
    if (precedes(map, known.map))
      known = {map, op};
    return success();
  }
  InFlightDiagnostic error =
      op->emitOpError("needs two workgroup maps for one value of type ")
      << type << ": " << known.map << " and " << map
      << "; load it once for each, give its users one map, or put a tile_conv_layout between";
  error.attachNote(known.op->getLoc()) << "the first map is stated here";
  return error;
}

WgMapAttr Solver::getWanted(const Use &use, WgMapAttr map) const {
  Operation *op = use.operand->getOwner();
  if (auto transpose = dyn_cast<TileTransposeOp>(op))
    return getTransposedSource(transpose, map);
  if (auto unpack = dyn_cast<TileUnpackOp>(op))
    return getMapOfBlocks(map, unpack.getVector().getType());
  return use.isDerived ? deriveOperandMap(*use.operand, map) : map;
}

WgMapAttr Solver::getSuggested(const Use &use, WgMapAttr map) const {
  Operation *op = use.operand->getOwner();
  if (isa<TileConvLayoutOp>(op))
    return {};
  if (auto pack = dyn_cast<TilePackOp>(op))
    return getMapOfBlocks(map, pack.getResult().getType());
  return use.isDerived ? deriveResultMap(*use.operand, map) : map;
}

LogicalResult Solver::assign(Value value, WgMapAttr map) {
  auto type = cast<ShapedType>(value.getType());
  Operation *op = getOwner(value);
  if (failed(verifyWgMap(map, getMatrixShape(type), [&] {
        return emitError(value.getLoc()) << "wg_map " << map << " does not fit " << type << ": ";
      })))
    return failure();
  unsigned group = getGroup(value);
  maps[group] = {map, op};
  worklist.push_back(group);
  return success();
}

/// Hands a map across a use, from the side that has one to the side that has none.
LogicalResult Solver::handOn(const Use &use) {
  WgMapAttr operand = maps.lookup(getGroup(use.operand->get())).map,
            user = maps.lookup(getGroup(use.user)).map;
  if (bool(operand) == bool(user))
    return success();
  WgMapAttr map = user ? getWanted(use, user) : getSuggested(use, operand);
  Value value = user ? use.operand->get() : use.user;
  if (!map ||
      (use.takesAnyMap && !fitsWgMap(map, getMatrixShape(cast<ShapedType>(value.getType())))))
    return success();
  return assign(value, map);
}

LogicalResult Solver::solve() {
  for (auto &[value, statement] : stated)
    if (failed(state(value, statement.map, statement.op)))
      return failure();
  for (auto &[value, statement] : stated)
    worklist.push_back(getGroup(value));
  for (auto [number, use] : llvm::enumerate(uses))
    for (unsigned group : {getGroup(use.operand->get()), getGroup(use.user)})
      usesOfGroup[group].push_back(number);

  while (true) {
    while (!worklist.empty()) {
      unsigned group = worklist.front();
      worklist.pop_front();
      for (unsigned number : usesOfGroup.lookup(group))
        if (!uses[number].takesAnyMap && failed(handOn(uses[number])))
          return failure();
    }
    for (const Use &use : uses) {
      if (use.takesAnyMap && failed(handOn(use)))
        return failure();
      if (!worklist.empty())
        break;
    }
    if (worklist.empty() && failed(handOnToCasts()))
      return failure();
    if (worklist.empty())
      return success();
  }
}

/// A cast between a row and a column of which one side has a map that says nothing about the other.
LogicalResult Solver::handOnToCasts() {
  for (const Use &use : uses) {
    WgMapAttr operand = maps.lookup(getGroup(use.operand->get())).map,
              user = maps.lookup(getGroup(use.user)).map;
    if (!isa<vector::ShapeCastOp>(use.operand->getOwner()) || bool(operand) == bool(user))
      continue;
    Value value = use.operand->get();
    WgMapAttr along = getMapAlongVector(operand ? operand : user,
                                        getMatrixShape(cast<ShapedType>(value.getType())));
    if (operand) {
      value = use.user;
      along = getSuggested(use, along);
    }
    return along ? assign(value, along) : success();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// `value`, which its owners have under `map`, under `wanted`: blocks change their owners as the
/// matrix that they make.
static Value convert(OpBuilder &builder, Value value, WgMapAttr map, WgMapAttr wanted,
                     llvm::MapVector<Value, WgMapAttr> &maps) {
  Location loc = value.getLoc();
  auto type = cast<VectorType>(value.getType());
  ArrayRef<int64_t> blocks = type.getShape().drop_front(2);
  if (!blocks.empty()) {
    auto whole = VectorType::get(getMatrixShape(type), type.getElementType());
    value = TileUnpackOp::create(builder, loc, whole, value, blocks);
    maps[value] = map;
  }
  value = TileConvLayoutOp::create(builder, loc, value.getType(), value, wanted, map);
  maps[value] = wanted;
  if (!blocks.empty()) {
    value = TilePackOp::create(builder, loc, type, value, blocks);
    maps[value] = wanted;
  }
  return value;
}

/// A conversion from `own` behind the definition of `value`, whose users go on to see its map.
static void convertBehind(Value value, WgMapAttr own, llvm::MapVector<Value, WgMapAttr> &maps) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  WgMapAttr map = maps.lookup(value);
  Value converted =
      TileConvLayoutOp::create(builder, value.getLoc(), value.getType(), value, map, own);
  value.replaceAllUsesExcept(converted, converted.getDefiningOp());
  maps[converted] = map;
  maps[value] = own;
}

LogicalResult Solver::finish(llvm::MapVector<Value, WgMapAttr> &result) {
  for (Value value : values)
    if (WgMapAttr map = maps.lookup(getGroup(value)).map)
      result[value] = map;
  // One conversion serves all uses of a value that want the same map.
  llvm::DenseMap<std::pair<Value, Attribute>, Value> converted;
  for (const Use &use : uses) {
    Value value = use.operand->get();
    WgMapAttr map = result.lookup(value), user = result.lookup(use.user);
    if (!map || !user || use.takesAnyMap)
      continue;
    WgMapAttr wanted = getWanted(use, user);
    auto type = dyn_cast<VectorType>(value.getType());
    Operation *op = use.operand->getOwner();
    // Blocks do not change their owners, some maps of a row say nothing about a column, and some of
    // a slice nothing about the whole: then the result does.
    if (type && isa<TileUnpackOp, vector::ShapeCastOp, vector::ExtractStridedSliceOp>(op) &&
        map.getNumSubgroups() == user.getNumSubgroups()) {
      WgMapAttr before = wanted;
      if (isa<TileUnpackOp>(op))
        before = map;
      else if (!wanted)
        before = getSuggested(use, map) || isa<vector::ExtractStridedSliceOp>(op)
                     ? map
                     : getMapAlongVector(map, getMatrixShape(type));
      // A map that cuts blocks is never that of what is unpacked.
      WgMapAttr own =
          before == wanted && !isa<TileUnpackOp>(op) ? WgMapAttr() : getSuggested(use, before);
      if (own) {
        if (!haveSamePieces(own, user, getMatrixShape(cast<ShapedType>(use.user.getType()))))
          convertBehind(use.user, own, result);
        else
          result[use.user] = own;
        wanted = before;
      }
    }
    if (!type || !wanted || haveSamePieces(map, wanted, getMatrixShape(type)))
      continue;
    if (type.getRank() == 1 || map.getNumSubgroups() != wanted.getNumSubgroups()) {
      InFlightDiagnostic error =
          op->emitOpError("needs its operand of type ")
          << type << " under the workgroup map " << wanted << ", but its producer gives " << map
          << (type.getRank() == 1 ? "; vectors of one dimension cannot change their owners"
                                  : ", which is for another number of subgroups");
      error.attachNote(getOwner(value)->getLoc()) << "produced here";
      return error;
    }
    Value &replacement = converted[{value, wanted}];
    if (!replacement) {
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfterValue(value);
      replacement = convert(builder, value, map, wanted, result);
    }
    use.operand->set(replacement);
  }
  return success();
}

LogicalResult WgMapInference::run(Operation *root) {
  cloneFreeVectorsPerUse(root);
  Solver solver;
  return failure(failed(solver.collect(root)) || failed(solver.solve()) ||
                 failed(solver.finish(maps)));
}

} // namespace xetile
