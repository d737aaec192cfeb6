//===- XeTileOps.h - the XeTile operations --------------------------------===//
#ifndef XETILE_IR_XETILEOPS_H
#define XETILE_IR_XETILEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/IR/XeTileTypes.h"

#define GET_OP_CLASSES
#include "xetile/IR/XeTileOps.h.inc"

#endif // XETILE_IR_XETILEOPS_H
