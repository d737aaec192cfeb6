//===- XeTileModule.cpp - the Python extension module _xetile ----------------===//
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "xetile-c/XeTile.h"
#include <optional>
#include <string>

namespace nb = nanobind;

namespace {

std::string toString(MlirStringRef text) { return {text.data, text.length}; }

nb::list targets() {
  nb::list result;
  auto append = [](const MlirXeTileTarget *target, void *list) {
    nb::dict entry;
    entry["chip"] = toString(target->chip);
    entry["description"] = toString(target->description);
    entry["ocloc_device"] = toString(target->oclocDevice);
    entry["subgroup_size"] = target->subgroupSize;
    entry["max_work_items"] = target->maxWorkItems;
    entry["register_bytes"] = target->registerBytes;
    entry["registers"] = target->registersPerThread;
    entry["large_registers"] = target->largeRegisters;
    static_cast<nb::list *>(list)->append(entry);
  };
  mlirXeTileForEachTarget(append, &result);
  return result;
}

std::optional<std::string> checkChip(const std::string &chip) {
  std::string reason;
  auto keep = [](MlirStringRef text, void *out) {
    *static_cast<std::string *>(out) = toString(text);
  };
  if (mlirXeTileCheckChip(mlirStringRefCreate(chip.data(), chip.size()), keep, &reason))
    return std::nullopt;
  return reason;
}

} // namespace

NB_MODULE(_xetile, m) {
  m.doc() =
      "Registration of the XeTile dialect, its transform ops and its passes; the device table.";
  m.def("register_dialects", mlirXeTileRegisterDialects, nb::arg("registry"),
        "Adds the XeTile dialect and the transform ops that schedules call to a DialectRegistry.");
  m.def("targets", targets,
        "The chips that kernels can be compiled for, as dicts, ordered by name.");
  m.def("check_chip", checkChip, nb::arg("chip"),
        "Why kernels cannot be compiled for `chip`, or None if they can.");
  mlirXeTileRegisterPasses();
}
