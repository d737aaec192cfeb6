//===- Registration.cpp - everything that a tool registers -------------------===//
#include "xetile/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "xetile/IR/XeTileDialect.h"

void xetile::registerDialects(mlir::DialectRegistry &registry) { registry.insert<XeTileDialect>(); }

void xetile::registerPasses() {}
