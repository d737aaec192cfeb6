//===- TensorCall.cpp - calls of compiled functions with tensors -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the addresses of a compiled function and of its check (0 for none), a framework's tensors, of
// the host or of a GPU with its runtime's functions. Out: the call, with new tensors for the
// results. Refused: nothing; tensors that are not exactly as declared are left to the caller. Knows
// the framework by DLPack's table of functions only.
//===----------------------------------------------------------------------===//
#include "TensorCall.h"
#include "Callers.h"
#include <algorithm>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace {

/// DLPack's view of a tensor: strides in elements, in any order.
struct TensorView {
  void *data;
  int32_t device;
  int32_t deviceNumber;
  int32_t rank;
  uint8_t kind;
  uint8_t bits;
  uint16_t lanes;
  int64_t *sizes;
  int64_t *strides;
  uint64_t byteOffset;
};

/// DLPack's functions of a framework, of version 1: the capsule `__dlpack_c_exchange_api__`.
struct Framework {
  uint32_t major, minor;
  Framework *older;
  void *allocate, *shareOwned, *makeOwned;
  int (*view)(void *object, TensorView *out);
  int (*stream)(int32_t device, int32_t deviceNumber, void **out);
};

constexpr int32_t kHost = 1;

/// Where tensors are, and how launches there are told their stream: two functions of a runtime
/// library, null for the host.
struct Place {
  int32_t device = kHost, number = 0;
  void *(*setStream)(void *stream) = nullptr;
  size_t (*takeError)(char *out, size_t size) = nullptr;
};

/// From this size on glibc maps and unmaps memory at each allocation, and NumPy asks for huge
/// pages: writing to fresh memory is mostly page faults.
constexpr int64_t kHugeBytes = 4 << 20;
constexpr uintptr_t kPage = 4096;
constexpr int kGpuAlign = 16;

/// One argument or result. Its descriptor of memory is complete but for the address, where all is
/// static.
struct Parameter {
  uint8_t kind, bits;
  /// Of the tensor; a size of -1 is any, of a tensor in C order then.
  std::vector<int64_t> sizes, strides;
  std::vector<int64_t> words;
  bool isStatic = true;
  int64_t bytes = 0;
};

class TensorFunction {
public:
  TensorFunction(uintptr_t address, uintptr_t check, bool reports, nb::sequence arguments,
                 nb::sequence results, nb::callable makeResult, nb::sequence types,
                 nb::object exchange, nb::sequence place)
      : address(address), check(check), reports(reports), makeResult(std::move(makeResult)) {
    this->place.device = nb::cast<int32_t>(place[0]);
    this->place.number = nb::cast<int32_t>(place[1]);
    this->place.setStream = reinterpret_cast<void *(*)(void *)>(nb::cast<uintptr_t>(place[2]));
    this->place.takeError =
        reinterpret_cast<size_t (*)(char *, size_t)>(nb::cast<uintptr_t>(place[3]));
    auto *framework =
        static_cast<Framework *>(PyCapsule_GetPointer(exchange.ptr(), "dlpack_exchange_api"));
    if (!framework)
      throw nb::python_error();
    view = framework->major == 1 ? framework->view : nullptr;
    askStream = framework->stream;
    for (nb::handle type : types)
      this->types.push_back(nb::borrow(type));
    for (nb::handle item : arguments)
      parameters.push_back(declare(item));
    numArguments = parameters.size();
    for (nb::handle item : results) {
      parameters.push_back(declare(item));
      const Parameter &result = parameters.back();
      resultArguments.push_back(nb::make_tuple(item[1], item[2], item[4]));
      isCallable &= result.isStatic;
    }
    isCallable &= view && xetile::hasCaller(1 + parameters.size());
    for (const Parameter &parameter : parameters)
      numWords += parameter.words.size();
  }

  /// The results, or None, without a call, for tensors that are not as declared, or new ones that
  /// are elsewhere. None, too, after a call that did not find in its data what it expects, or met
  /// an error of the runtime library, which keeps it: the caller calls again, and tells.
  nb::object call(nb::list arguments) const {
    if (!isCallable || arguments.size() != numArguments)
      return nb::none();
    std::vector<int64_t> descriptors(numWords);
    int64_t status[3] = {0, 0, 0};
    std::vector<void *> addresses(1 + xetile::paddedCount(1 + parameters.size()));
    addresses[0] = status;
    int64_t *next = descriptors.data();
    for (size_t number = 0; number < numArguments; ++number) {
      addresses[1 + number] = next;
      if (!describe(parameters[number], arguments[number], next))
        return nb::none();
    }
    nb::list results;
    for (size_t number = numArguments; number < parameters.size(); ++number) {
      int64_t *words = next;
      addresses[1 + number] = words;
      nb::object result = makeResult(*resultArguments[number - numArguments]);
      if (!describe(parameters[number], result, next))
        return nb::none();
      if (place.device == kHost)
        adviseHugePages(static_cast<uintptr_t>(words[0]), parameters[number].bytes);
      results.append(std::move(result));
    }
    if (check) {
      xetile::callWith(check, addresses.data(), 1 + parameters.size());
      if (status[0] != 0)
        return nb::none();
    }
    void *stream = nullptr;
    if (place.setStream && askStream && place.device != kHost &&
        askStream(place.device, place.number, &stream) != 0) {
      PyErr_Clear();
      return nb::none();
    }
    // The lists keep the tensors while other Python threads run.
    {
      nb::gil_scoped_release release;
      status[0] = 0;
      void *before = place.setStream ? place.setStream(stream) : nullptr;
      xetile::callWith(address, addresses.data() + !reports, parameters.size() + reports);
      if (place.setStream)
        place.setStream(before);
    }
    if (status[0] != 0 || (place.takeError && place.takeError(nullptr, 0) != 0))
      return nb::none();
    return std::move(results);
  }

private:
  /// (shape in memory, sizes, strides, (kind, bits), type).
  static Parameter declare(nb::handle item) {
    Parameter parameter;
    parameter.kind = nb::cast<uint8_t>(item[3][0]);
    parameter.bits = nb::cast<uint8_t>(item[3][1]);
    for (nb::handle size : item[1])
      parameter.sizes.push_back(nb::cast<int64_t>(size));
    for (nb::handle stride : item[2])
      parameter.strides.push_back(nb::cast<int64_t>(stride));
    std::vector<int64_t> shape;
    for (nb::handle size : item[0])
      shape.push_back(nb::cast<int64_t>(size));
    size_t rank = shape.size();
    parameter.words.resize(3 + 2 * rank);
    int64_t elements = 1;
    for (size_t dim = rank; dim-- > 0; elements *= shape[dim]) {
      parameter.words[3 + dim] = shape[dim];
      parameter.words[3 + rank + dim] = elements;
      parameter.isStatic &= shape[dim] >= 0;
    }
    parameter.bytes = parameter.isStatic ? elements * parameter.bits / 8 : 0;
    return parameter;
  }

  /// Writes the descriptor to `next`, and moves that behind it.
  bool describe(const Parameter &parameter, nb::handle tensor, int64_t *&next) const {
    bool known = false;
    for (const nb::object &type : types)
      known |= reinterpret_cast<PyObject *>(Py_TYPE(tensor.ptr())) == type.ptr();
    if (!known)
      return false;
    TensorView seen;
    if (view(tensor.ptr(), &seen) != 0) {
      PyErr_Clear();
      return false;
    }
    if (seen.device != place.device ||
        (seen.device != kHost && seen.deviceNumber != place.number) ||
        seen.kind != parameter.kind || seen.bits != parameter.bits || seen.lanes != 1 ||
        size_t(seen.rank) != parameter.sizes.size())
      return false;
    auto data = reinterpret_cast<uintptr_t>(seen.data) + seen.byteOffset;
    // DLPack's elements are bytes where types are narrower; GPUs load units of 16 bytes.
    if (data % std::max(place.device == kHost ? parameter.bits / 8 : kGpuAlign, 1) != 0)
      return false;
    // Views whose bits are those of other numbers.
    nb::object isNegated =
        nb::steal(PyObject_CallMethodObjArgs(tensor.ptr(), isNegatedName.ptr(), nullptr));
    if (!isNegated.is(nb::handle(Py_False))) {
      PyErr_Clear();
      return false;
    }
    size_t rank = parameter.sizes.size();
    int64_t elements = 1;
    for (size_t dim = 0; dim < rank; ++dim) {
      if (parameter.sizes[dim] != seen.sizes[dim] && parameter.sizes[dim] != -1)
        return false;
      elements *= seen.sizes[dim];
    }
    std::copy(parameter.words.begin(), parameter.words.end(), next);
    next[0] = next[1] = static_cast<int64_t>(data);
    next[2] = 0;
    if (parameter.isStatic) {
      for (size_t dim = 0; dim < rank; ++dim)
        if (seen.sizes[dim] != 1 && seen.strides[dim] != parameter.strides[dim] && elements != 0)
          return false;
    } else {
      int64_t stride = 1;
      for (size_t dim = rank; dim-- > 0; stride *= seen.sizes[dim]) {
        if (seen.sizes[dim] != 1 && seen.strides[dim] != stride && elements != 0)
          return false;
        next[3 + dim] = seen.sizes[dim];
        next[3 + rank + dim] = stride;
      }
    }
    next += parameter.words.size();
    return true;
  }

  static void adviseHugePages(uintptr_t address, int64_t bytes) {
    if (bytes < kHugeBytes)
      return;
    uintptr_t begin = (address + kPage - 1) & -kPage;
    uintptr_t end = (address + bytes) & -kPage;
    // Where the system has none nothing is lost.
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
  }

  uintptr_t address, check;
  bool reports;
  nb::callable makeResult;
  nb::str isNegatedName = nb::str("is_neg");
  std::vector<nb::object> types;
  std::vector<nb::tuple> resultArguments;
  std::vector<Parameter> parameters;
  int (*view)(void *object, TensorView *out) = nullptr;
  int (*askStream)(int32_t device, int32_t deviceNumber, void **out) = nullptr;
  Place place;
  size_t numArguments = 0, numWords = 0;
  bool isCallable = true;
};

} // namespace

void xetile::addTensorCall(nb::module_ &module) {
  nb::class_<TensorFunction>(module, "TensorFunction")
      .def(nb::init<uintptr_t, uintptr_t, bool, nb::sequence, nb::sequence, nb::callable,
                    nb::sequence, nb::object, nb::sequence>(),
           nb::sig("def __init__(self, address: int, check: int, reports: bool, "
                   "arguments: collections.abc.Sequence[tuple[object, ...]], "
                   "results: collections.abc.Sequence[tuple[object, ...]], "
                   "make_result: collections.abc.Callable[..., object], "
                   "types: collections.abc.Sequence[type], exchange: object, "
                   "place: collections.abc.Sequence[int]) -> None"),
           nb::arg("address"), nb::arg("check"), nb::arg("reports"), nb::arg("arguments"),
           nb::arg("results"), nb::arg("make_result"), nb::arg("types"), nb::arg("exchange"),
           nb::arg("place"))
      .def("__call__", &TensorFunction::call,
           nb::sig("def __call__(self, arguments: list[object]) -> list[object] | None"),
           nb::arg("arguments"));
}
