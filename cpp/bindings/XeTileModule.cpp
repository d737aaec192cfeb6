//===- XeTileModule.cpp - the Python extension module _xetile ----------------===//
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "xetile-c/XeTile.h"

NB_MODULE(_xetile, m) {
  m.doc() = "Registration of the XeTile dialect, its transform ops and its passes.";
  m.def("register_dialects", mlirXeTileRegisterDialects, nanobind::arg("registry"),
        "Adds the XeTile dialect and the transform ops that schedules call to a DialectRegistry.");
  mlirXeTileRegisterPasses();
}
