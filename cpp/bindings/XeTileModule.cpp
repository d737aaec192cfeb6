//===- XeTileModule.cpp - the Python extension module _xetile ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DiagnosticCollector.h"
#include "mlir-c/Bindings/Python/Interop.h"
#include "mlir-c/ExecutionEngine.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "xetile-c/XeTile.h"
#include <map>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <vector>

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

nb::list rates() {
  nb::list result;
  auto append = [](const MlirXeTileRates *rates, void *list) {
    nb::dict entry;
    entry["chip"] = toString(rates->chip);
    entry["product"] = toString(rates->product);
    entry["cores"] = rates->cores;
    entry["operations_cycle"] = rates->operationsCycle;
    entry["megahertz"] = rates->megahertz;
    entry["memory_gbs"] = rates->memoryGBs;
    static_cast<nb::list *>(list)->append(entry);
  };
  mlirXeTileForEachRates(append, &result);
  return result;
}

nb::list describeTargets() {
  nb::list result;
  auto append = [](const MlirXeTileTargetEntry *target, void *list) {
    nb::dict entry, options;
    nb::list levels;
    for (intptr_t level = 0; level < target->numLevels; ++level)
      levels.append(toString(target->levels[level]));
    for (intptr_t option = 0; option < target->numOptions; ++option)
      options[toString(target->options[option]).c_str()] = toString(target->optionHelps[option]);
    entry["name"] = toString(target->name);
    entry["description"] = toString(target->description);
    entry["binary"] = toString(target->binary);
    entry["levels"] = levels;
    entry["options"] = options;
    static_cast<nb::list *>(list)->append(entry);
  };
  mlirXeTileForEachTargetEntry(append, &result);
  return result;
}

nb::list levels(const std::string &target, const std::map<std::string, std::string> &options) {
  struct {
    nb::list levels;
    std::string why;
  } told;
  std::vector<MlirStringRef> names, values;
  for (const auto &[name, value] : options) {
    names.push_back(mlirStringRefCreate(name.data(), name.size()));
    values.push_back(mlirStringRefCreate(value.data(), value.size()));
  }
  auto append = [](const MlirXeTileLevel *level, void *out) {
    static_cast<decltype(told) *>(out)->levels.append(
        nb::make_tuple(toString(level->name), toString(level->action), toString(level->pipeline)));
  };
  auto explain = [](MlirStringRef text, void *out) {
    static_cast<decltype(told) *>(out)->why = toString(text);
  };
  if (!mlirXeTileForEachLevel(mlirStringRefCreate(target.data(), target.size()),
                              intptr_t(names.size()), names.data(), values.data(), append, explain,
                              &told))
    throw nb::value_error(told.why.c_str());
  return told.levels;
}

std::vector<std::pair<std::string, std::string>> matmulFields() {
  std::vector<std::pair<std::string, std::string>> fields;
  auto append = [](MlirStringRef name, MlirStringRef doc, void *list) {
    static_cast<decltype(fields) *>(list)->emplace_back(toString(name), toString(doc));
  };
  mlirXeTileForEachMatmulField(append, &fields);
  return fields;
}

std::vector<std::string> loopOrders() {
  std::vector<std::string> names;
  auto append = [](MlirStringRef name, void *list) {
    static_cast<decltype(names) *>(list)->push_back(toString(name));
  };
  mlirXeTileForEachLoopOrder(append, &names);
  return names;
}

std::vector<std::string> absentCpuFeatures() {
  struct {
    std::vector<std::string> names;
    std::string why;
  } told;
  auto append = [](MlirStringRef name, void *out) {
    static_cast<decltype(told) *>(out)->names.push_back(toString(name));
  };
  auto explain = [](MlirStringRef text, void *out) {
    static_cast<decltype(told) *>(out)->why = toString(text);
  };
  if (!mlirXeTileForEachAbsentCpuFeature(append, explain, &told))
    throw nb::value_error(told.why.c_str());
  return told.names;
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

void keepText(MlirStringRef text, void *out) { *static_cast<std::string *>(out) = toString(text); }

/// Paths have any bytes; Python has its own way to put them into strings.
nb::object toPath(const std::string &bytes) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(bytes.data(), Py_ssize_t(bytes.size())));
}

std::pair<bool, nb::object> findOcloc() {
  std::string text;
  bool found = mlirXeTileFindOcloc(keepText, &text);
  return {found, toPath(text)};
}

MlirModule cloneModule(MlirOperation op) {
  MlirOperation copy = mlirOperationClone(op);
  MlirModule module = mlirModuleFromOperation(copy);
  if (mlirModuleIsNull(module)) {
    std::string name = toString(mlirIdentifierStr(mlirOperationGetName(copy)));
    mlirOperationDestroy(copy);
    throw nb::value_error(("expected a builtin.module to clone, got " + name).c_str());
  }
  return module;
}

/// Upstream's binding has only the interface that takes an array of addresses.
uintptr_t lookUp(nb::object engine, const std::string &name) {
  nb::object capsule = engine.attr(MLIR_PYTHON_CAPI_PTR_ATTR);
  MlirExecutionEngine native = mlirPythonCapsuleToExecutionEngine(capsule.ptr());
  if (mlirExecutionEngineIsNull(native))
    throw nb::type_error("expected an ExecutionEngine");
  nb::gil_scoped_release others; // compiles
  return reinterpret_cast<uintptr_t>(
      mlirExecutionEngineLookup(native, mlirStringRefCreate(name.data(), name.size())));
}

MlirStringRef asRef(const std::string &text) {
  return mlirStringRefCreate(text.data(), text.size());
}

bool completeSchedule(MlirModule schedule, nb::bytes folder) {
  return mlirXeTileCompleteSchedule(schedule, mlirStringRefCreate(folder.c_str(), folder.size()));
}

bool probeSchedule(MlirContext context, nb::bytes file) {
  nb::gil_scoped_release others;
  return mlirXeTileProbeSchedule(context, mlirStringRefCreate(file.c_str(), file.size()));
}

bool isPackagedSchedule(nb::bytes file) {
  return mlirXeTileIsPackagedSchedule(mlirStringRefCreate(file.c_str(), file.size()));
}

std::string suggestSchedule(MlirModule payload, std::optional<MlirModule> prepared) {
  MlirStringRef name = mlirXeTileSuggestSchedule(payload, prepared.value_or(MlirModule{nullptr}));
  return {name.data, name.length};
}

nb::tuple explainKernels(MlirModule module) {
  struct {
    nb::list ops, kernels;
  } found;
  using Found = decltype(found);
  auto appendOp = [](const MlirXeTileOpInKernel *op, void *to) {
    static_cast<Found *>(to)->ops.append(
        nb::make_tuple(op->op, op->kernel, toString(op->schedule), toString(op->reason)));
  };
  auto appendKernel = [](const MlirXeTileKernelTraffic *kernel, void *to) {
    static_cast<Found *>(to)->kernels.append(
        nb::make_tuple(kernel->kernel, toString(kernel->schedule),
                       kernel->read < 0 ? nb::object(nb::none()) : nb::cast(kernel->read),
                       kernel->written < 0 ? nb::object(nb::none()) : nb::cast(kernel->written)));
  };
  mlirXeTileExplainKernels(module, appendOp, appendKernel, &found);
  return nb::make_tuple(found.ops, found.kernels);
}

bool applySchedule(MlirModule payload, MlirModule schedule, const std::string &entry,
                   bool trusted) {
  nb::gil_scoped_release others;
  return mlirXeTileApplySchedule(payload, schedule, asRef(entry), trusted);
}

/// None, with a diagnostic, if there is none.
std::optional<nb::bytes> makeObjectFile(MlirModule module, unsigned optLevel) {
  std::string bytes;
  if (!mlirXeTileMakeObjectFile(module, optLevel, keepText, &bytes))
    return std::nullopt;
  return nb::bytes(bytes.data(), bytes.size());
}

/// None, with a diagnostic, if there is none.
std::optional<std::string> makeAssembly(MlirModule module, unsigned optLevel) {
  std::string text;
  if (!mlirXeTileMakeAssembly(module, optLevel, keepText, &text))
    return std::nullopt;
  return text;
}

/// None, with a diagnostic, if there is none.
nb::object makeHostEngine(MlirModule module, unsigned optLevel,
                          const std::vector<std::string> &libraries) {
  std::vector<MlirStringRef> files;
  files.reserve(libraries.size());
  for (const std::string &library : libraries)
    files.push_back(asRef(library));
  MlirExecutionEngine engine = [&] {
    nb::gil_scoped_release others; // compiles
    return mlirXeTileMakeHostEngine(module, optLevel, files.size(), files.data());
  }();
  if (mlirExecutionEngineIsNull(engine))
    return nb::none();
  nb::object capsule = nb::steal(mlirPythonExecutionEngineToCapsule(engine));
  return nb::module_::import_(MAKE_MLIR_PYTHON_QUALNAME("execution_engine"))
      .attr("ExecutionEngine")
      .attr(MLIR_PYTHON_CAPI_FACTORY_ATTR)(capsule);
}

struct Compiled {
  std::string bytes, why;
  int64_t spillBytes = 0, registers = 0;
  std::vector<std::string> assembly;
};

/// A dict, or a string that says why not.
nb::object runOcloc(nb::bytes spirv, const std::string &device, std::optional<bool> largeRegisters,
                    bool lineTables) {
  MlirXeTileRegisterFile registers = !largeRegisters   ? MlirXeTileRegistersAuto
                                     : *largeRegisters ? MlirXeTileRegistersLarge
                                                       : MlirXeTileRegistersSmall;
  Compiled compiled;
  auto take = [](const MlirXeTileNative *native, void *out) {
    auto &into = *static_cast<Compiled *>(out);
    into.bytes = toString(native->bytes);
    into.spillBytes = native->spillBytes;
    into.registers = native->registers;
    for (intptr_t number = 0; number < native->numKernels; ++number)
      into.assembly.push_back(toString(native->assembly[number]));
  };
  auto explain = [](MlirStringRef text, void *out) {
    static_cast<Compiled *>(out)->why = toString(text);
  };
  bool succeeded;
  {
    nb::gil_scoped_release others;
    succeeded = mlirXeTileRunOcloc(mlirStringRefCreate(spirv.c_str(), spirv.size()),
                                   mlirStringRefCreate(device.data(), device.size()), registers,
                                   lineTables, take, explain, &compiled);
  }
  // Ctrl-C ends ocloc and is Python's business besides.
  if (PyErr_CheckSignals() != 0)
    throw nb::python_error();
  if (!succeeded)
    return toPath(compiled.why);
  nb::dict result;
  result["data"] = nb::bytes(compiled.bytes.data(), compiled.bytes.size());
  result["spill_bytes"] = compiled.spillBytes;
  result["registers"] = compiled.registers;
  result["assembly"] = compiled.assembly;
  return result;
}

} // namespace

// Long: a table of bindings.
NB_MODULE(_xetile, m) {
  m.doc() =
      "Registration of the XeTile dialect, its transform ops and its passes; the device table.";
  m.def("print_no_ops_in_diagnostics", mlirXeTileContextPrintNoOpsInDiagnostics, nb::arg("context"),
        "Diagnostics of a context come without the operation that they are about.");
  m.def("register_dialects", mlirXeTileRegisterDialects, nb::arg("registry"),
        "Adds the XeTile dialect and the transform ops that schedules call to a DialectRegistry.");
  m.def("targets", targets, nb::sig("def targets() -> list[_Target]"),
        "The chips that kernels can be compiled for, as dicts, ordered by name.");
  m.def("rates", rates, nb::sig("def rates() -> list[_Rates]"),
        "What rooflines are made of, for each chip of which it is known, as dicts.");
  m.def("describe_targets", describeTargets, nb::sig("def describe_targets() -> list[_Entry]"),
        "What modules can be compiled for, as dicts: name, description, binary, levels, options.");
  m.def("levels", levels,
        nb::sig("def levels(target: str, options: dict[str, str] = {}) "
                "-> list[tuple[str, str, str]]"),
        nb::arg("target"), nb::arg("options") = nb::dict(),
        "How each level of a target is reached from the one before: a list of (level, action, "
        "pipeline); the pipeline is empty where only a schedule leads there.");
  m.def("matmul_fields", matmulFields,
        "Name and meaning of each field of a matmul's configuration, in the order of printing.");
  m.def("matmul_loop_orders", loopOrders, "The names of the values of `loopOrder`, from 0 on.");
  m.def(
      "absent_cpu_features", absentCpuFeatures,
      "LLVM's names of the features that this CPU does not have, or that XETILE_CPU_WITHOUT takes "
      "from it. ValueError where that variable names none.");
  m.def("knows_cpu", mlirXeTileKnowsHostCpu,
        "Whether the table of rates has the CPU that this process runs on.");
  m.def("check_chip", checkChip, nb::arg("chip"),
        "Why kernels cannot be compiled for `chip`, or None if they can.");
  m.def("find_ocloc", findOcloc, nb::sig("def find_ocloc() -> tuple[bool, str]"),
        "Whether there is an ocloc, and its path or what to do without one.");
  m.def("run_ocloc", runOcloc,
        nb::sig("def run_ocloc(spirv: bytes, device: str, large_registers: bool | None, "
                "line_tables: bool = False) -> _Native | str"),
        nb::arg("spirv"), nb::arg("device"), nb::arg("large_registers").none(),
        nb::arg("line_tables") = false,
        "Machine code and assembly as a dict, or a string that says why there is none. None takes "
        "large registers where these make it spill less. With `line_tables` the lines that the "
        "SPIR-V names are in both.");
  m.def("clone_module", cloneModule, nb::arg("op"),
        "A copy of a builtin.module, given as an operation, with the locations of its ops.");
  m.def("complete_schedule", completeSchedule,
        nb::sig("def complete_schedule(schedule: xetile.mlir.ir.Module, folder: bytes) -> bool"),
        nb::arg("schedule"), nb::arg("folder"),
        "Adds what a schedule of that folder declares and does not define; False, with a "
        "diagnostic, if that fails.");
  m.def("probe_schedule", probeSchedule,
        nb::sig("def probe_schedule(context: xetile.mlir.ir.Context, file: bytes) -> bool"),
        nb::arg("context"), nb::arg("file"),
        "Whether a schedule's file can be read with its parts, in a child process; False, with "
        "diagnostics, if it cannot.");
  m.def("is_packaged_schedule", isPackagedSchedule,
        nb::sig("def is_packaged_schedule(file: bytes) -> bool"), nb::arg("file"),
        "Whether a file is one of the package's schedules.");
  m.def(
      "suggest_schedule", suggestSchedule,
      nb::sig("def suggest_schedule(payload: xetile.mlir.ir.Module, prepared: "
              "xetile.mlir.ir.Module | None) -> str"),
      nb::arg("payload"), nb::arg("prepared").none(),
      "The name of the packaged schedule for a program on a GPU where none was named. `prepared` "
      "is what the sequence @prepare of the schedule gpu_model made of a copy, None if it failed.");
  m.def("find_level", mlirXeTileFindLevel,
        nb::sig("def find_level(module: xetile.mlir.ir.Module) -> int"), nb::arg("module"),
        "The number of the level of an Intel GPU that a module is at, by what it holds; 0 without "
        "kernels, or where the host's code has tensors.");
  m.def("may_be_written", mlirXeTileMayBeWritten,
        nb::sig("def may_be_written(address: xetile.mlir.ir.Value) -> bool"), nb::arg("address"),
        "Whether an op, or a kernel that is launched with it, may write through a memref.");
  m.def("explain_kernels", explainKernels,
        nb::sig("def explain_kernels(module: xetile.mlir.ir.Module) -> "
                "tuple[list[tuple[xetile.mlir.ir.Operation, int, str, str]], "
                "list[tuple[int, str, int | None, int | None]]]"),
        nb::arg("module"),
        "The kernels that assign_kernels would make of a program: of each op its kernel, the "
        "schedule and the reason; of each kernel the schedule and the bytes that it reads from "
        "memory and writes if it moves each element once, None where sizes are those of a run.");
  m.def("apply_schedule", applySchedule,
        nb::sig("def apply_schedule(payload: xetile.mlir.ir.Module, schedule: "
                "xetile.mlir.ir.Module, entry: str, trusted: bool) -> bool"),
        nb::arg("payload"), nb::arg("schedule"), nb::arg("entry"), nb::arg("trusted"),
        "Applies a sequence of a schedule to a payload; False, with diagnostics, if it fails. One "
        "that is not trusted is checked and runs in a child process.");
  m.def("lookup", lookUp,
        nb::sig("def lookup(engine: xetile.mlir._mlir_libs._mlirExecutionEngine.ExecutionEngine, "
                "name: str) -> int"),
        nb::arg("engine"), nb::arg("name"),
        "The address of a function of an ExecutionEngine, 0 if it has none of that name.");
  m.def("make_object_file", makeObjectFile,
        nb::sig("def make_object_file(module: xetile.mlir.ir.Module, opt_level: int) "
                "-> bytes | None"),
        nb::arg("module"), nb::arg("opt_level"),
        "The object file of a module in the LLVM dialect, with code for this CPU; None, with a "
        "diagnostic, if there is none.");
  m.def("make_assembly", makeAssembly,
        nb::sig("def make_assembly(module: xetile.mlir.ir.Module, opt_level: int) -> str | None"),
        nb::arg("module"), nb::arg("opt_level"),
        "The same code as assembly, in which `.loc` names the lines of operations whose functions "
        "have debug scopes.");
  m.def("make_host_engine", makeHostEngine,
        nb::sig("def make_host_engine(module: xetile.mlir.ir.Module, opt_level: int, libraries: "
                "list[str]) -> xetile.mlir._mlir_libs._mlirExecutionEngine.ExecutionEngine | None"),
        nb::arg("module"), nb::arg("opt_level"), nb::arg("libraries"),
        "An engine with the code, for this CPU, of a module in the LLVM dialect, whose "
        "constructors have run, without tables for unwinding; None, with a diagnostic, if there is "
        "none.");
  nb::class_<DiagnosticCollector>(m, "DiagnosticCollector",
                                  "Hears the diagnostics of a context until it is detached.")
      .def(nb::init<MlirContext>(), nb::arg("context"))
      .def("detach", &DiagnosticCollector::detach)
      .def("said", &DiagnosticCollector::said, nb::sig("def said(self) -> list[_Said]"),
           "A list of (severity, location, message, notes), texts as bytes.");
  mlirXeTileRegisterPasses();
}
