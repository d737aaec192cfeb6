//===- XeTile.cpp - C API of the XeTile dialect and its passes ---------------===//
#include "xetile-c/XeTile.h"
#include "mlir/CAPI/Registration.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/Registration.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(XeTile, xetile, xetile::XeTileDialect)

void mlirXeTileRegisterDialects(MlirDialectRegistry registry) {
  xetile::registerDialects(*unwrap(registry));
}

void mlirXeTileRegisterPasses() {
  // MLIR keeps one registry per process and refuses a name that comes twice with another pass.
  static const bool registered = [] {
    xetile::registerPasses();
    return true;
  }();
  (void)registered;
}
