//===- CallModule.cpp - the Python extension module xetile._call -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the addresses of a compiled function's C interface and of that of what checks sizes (0 for
// none), NumPy arrays. Out: the function's call, about a microsecond after Python's. Refused:
// nothing; arrays that do not fit, or too many, are left to the caller, who says why. Knows nothing
// of MLIR. Calls with tensors: TensorCall.cpp.
//===----------------------------------------------------------------------===//
#include "Callers.h"
#include "TensorCall.h"
#include <cstdint>
#include <nanobind/nanobind.h>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace {

/// NumPy's array interface, of which this is the fixed layout, as objects give it by
/// `__array_struct__`.
struct ArrayInterface {
  int two;
  int rank;
  char kind;
  int itemBytes;
  int flags;
  Py_intptr_t *shape;
  Py_intptr_t *strides;
  void *data;
  PyObject *description;
};
enum : int { kContiguous = 0x1, kAligned = 0x100, kNative = 0x200, kWriteable = 0x400 };

/// One argument or result: NumPy's type, sizes (-1 for any).
struct Parameter {
  nb::object dtype;
  std::vector<int64_t> shape;
};

struct Memory {
  const char *begin, *end;
  bool overlaps(const Memory &other) const { return begin < other.end && other.begin < end; }
};

class Function {
public:
  Function(uintptr_t address, nb::sequence arguments, nb::sequence results, nb::object arrayType,
           uintptr_t check, bool reports)
      : address(address), check(check), reports(reports), arrayType(std::move(arrayType)) {
    for (const nb::sequence &list : {arguments, results})
      for (nb::handle item : list) {
        Parameter parameter{nb::borrow(item[0]), {}};
        for (nb::handle size : item[1])
          parameter.shape.push_back(nb::cast<int64_t>(size));
        words += 3 + 2 * parameter.shape.size();
        parameters.push_back(std::move(parameter));
      }
    numArguments = nb::len(arguments);
  }

  /// Calls the function. False, without a call, for arrays that are not exactly as declared, in C
  /// order, where a result shares memory with another array, or where sizes do not fit together.
  /// False after a call that did not find in its data what it expects: the caller calls again, and
  /// tells.
  bool call(nb::tuple arguments, nb::tuple results) const {
    if (arguments.size() != numArguments || results.size() != parameters.size() - numArguments ||
        !xetile::hasCaller(1 + parameters.size()))
      return false;
    // Memref descriptors: allocated and aligned address, offset, sizes, strides. Each parameter is
    // the address of one. The check takes memory for its answer before the same parameters.
    std::vector<int64_t> descriptors(words);
    int64_t status[3] = {0, 0, 0};
    std::vector<void *> addresses(1 + xetile::paddedCount(1 + parameters.size()));
    addresses[0] = status;
    std::vector<Memory> memories;
    memories.reserve(parameters.size());
    int64_t *next = descriptors.data();
    for (size_t number = 0; number < parameters.size(); ++number) {
      bool isResult = number >= numArguments;
      nb::handle array = isResult ? results[number - numArguments] : arguments[number];
      addresses[1 + number] = next;
      if (!describe(parameters[number], array, isResult, next, memories))
        return false;
    }
    if (check) {
      xetile::callWith(check, addresses.data(), 1 + parameters.size());
      if (status[0] != 0)
        return false;
    }
    // The tuples keep the arrays while other Python threads run.
    nb::gil_scoped_release release;
    status[0] = 0;
    xetile::callWith(address, addresses.data() + !reports, parameters.size() + reports);
    return status[0] == 0;
  }

private:
  bool describe(const Parameter &parameter, nb::handle array, bool isResult, int64_t *&next,
                std::vector<Memory> &memories) const {
    if (reinterpret_cast<PyObject *>(Py_TYPE(array.ptr())) != arrayType.ptr())
      return false;
    nb::object dtype = array.attr("dtype");
    if (!dtype.is(parameter.dtype))
      return false;
    nb::object capsule = array.attr("__array_struct__");
    auto *info = static_cast<ArrayInterface *>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
    if (!info) {
      PyErr_Clear();
      return false;
    }
    int needed = kContiguous | kAligned | kNative | (isResult ? kWriteable : 0);
    if (info->two != 2 || (info->flags & needed) != needed ||
        size_t(info->rank) != parameter.shape.size())
      return false;
    int64_t elements = 1;
    *next++ = reinterpret_cast<int64_t>(info->data);
    *next++ = reinterpret_cast<int64_t>(info->data);
    *next++ = 0;
    for (int dim = 0; dim < info->rank; ++dim) {
      if (parameter.shape[dim] != info->shape[dim] && parameter.shape[dim] != -1)
        return false;
      *next++ = info->shape[dim];
    }
    // C order; NumPy leaves strides of dimensions of one open.
    for (int dim = info->rank - 1; dim >= 0; --dim) {
      next[dim] = elements;
      elements *= info->shape[dim];
    }
    next += info->rank;
    auto *begin = static_cast<const char *>(info->data);
    Memory memory{begin, begin + elements * info->itemBytes};
    if (isResult)
      for (const Memory &other : memories)
        if (memory.overlaps(other))
          return false;
    memories.push_back(memory);
    return true;
  }

  uintptr_t address, check;
  bool reports;
  nb::object arrayType;
  std::vector<Parameter> parameters;
  size_t numArguments = 0, words = 0;
};

} // namespace

NB_MODULE(_call, module) {
  // Whoever keeps a function until the interpreter ends (torch.compile's caches do) leaks nothing.
  nb::set_leak_warnings(false);
  nb::class_<Function>(module, "Function")
      .def(nb::init<uintptr_t, nb::sequence, nb::sequence, nb::object, uintptr_t, bool>(),
           nb::sig(
               "def __init__(self, address: int, "
               "arguments: collections.abc.Sequence[tuple[object, collections.abc.Sequence[int]]], "
               "results: collections.abc.Sequence[tuple[object, collections.abc.Sequence[int]]], "
               "array_type: type, check: int, reports: bool) -> None"),
           nb::arg("address"), nb::arg("arguments"), nb::arg("results"), nb::arg("array_type"),
           nb::arg("check"), nb::arg("reports"))
      .def("__call__", &Function::call,
           nb::sig("def __call__(self, arguments: tuple[object, ...], "
                   "results: tuple[object, ...]) -> bool"),
           nb::arg("arguments"), nb::arg("results"));
  xetile::addTensorCall(module);
}
