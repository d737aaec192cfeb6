//===- LayoutModule.cpp - the Python extension module xetile._layout ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: layouts, DPAS parameters and plan requests as Python values. Out: the C++ library's answers.
// Refused: what the library refuses, as xetile.XeTileError. Knows nothing of MLIR.
#include "xetile/Layout/BlockLoadPlan.h"
#include "xetile/Layout/LaneLayout.h"
#include "xetile/Layout/LayoutView.h"
#include "xetile/Layout/PlanProof.h"
#include "xetile/Layout/TileMessages.h"
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace xetile;

namespace {

[[noreturn]] void raise(const Error &error) {
  nb::object type = nb::module_::import_("xetile.errors").attr("XeTileError");
  PyErr_SetObject(type.ptr(), nb::str(error.message.c_str()).ptr());
  throw nb::python_error();
}

template <typename T> T unwrap(Result<T> result) {
  if (!result)
    raise(result.error());
  return *std::move(result);
}

DpasOperand operandOf(const std::string &name) {
  if (name == "A")
    return DpasOperand::A;
  if (name == "B")
    return DpasOperand::B;
  if (name == "C")
    return DpasOperand::C;
  raise(Error("operand is '" + llvm::Twine(name) + "', expected A, B or C"));
}

BlockAccess accessOf(const std::string &name) {
  if (name == "load")
    return BlockAccess::Load;
  if (name == "store")
    return BlockAccess::Store;
  if (name == "prefetch")
    return BlockAccess::Prefetch;
  raise(Error("access is '" + llvm::Twine(name) + "', expected load, store or prefetch"));
}

using Bases = std::vector<std::pair<std::string, std::vector<std::vector<uint64_t>>>>;
using Sizes = std::vector<std::pair<std::string, uint64_t>>;

LinearLayout create(const Bases &ins, const Sizes &outs, bool surjective) {
  std::vector<LinearLayout::Input> inputs;
  for (const auto &[name, bases] : ins) {
    LinearLayout::Input input = {name, {}};
    for (const std::vector<uint64_t> &basis : bases)
      input.bases.emplace_back(basis.begin(), basis.end());
    inputs.push_back(std::move(input));
  }
  std::vector<std::pair<llvm::StringRef, uint64_t>> outputs(outs.begin(), outs.end());
  return unwrap(LinearLayout::create(inputs, outputs, surjective));
}

Bases basesOf(const LinearLayout &layout) {
  Bases result;
  for (const LinearLayout::Dim &dim : layout.ins()) {
    std::vector<std::vector<uint64_t>> bases;
    for (unsigned bit = 0; bit < dim.bits; ++bit) {
      LinearLayout::Coordinates basis = layout.basis(dim.name, bit);
      bases.emplace_back(basis.begin(), basis.end());
    }
    result.emplace_back(dim.name, std::move(bases));
  }
  return result;
}

Sizes sizesOf(llvm::ArrayRef<LinearLayout::Dim> dims) {
  Sizes sizes;
  for (const LinearLayout::Dim &dim : dims)
    sizes.emplace_back(dim.name, dim.size());
  return sizes;
}

std::vector<uint64_t> apply(const LinearLayout &layout, const Sizes &index) {
  std::vector<std::pair<llvm::StringRef, uint64_t>> named(index.begin(), index.end());
  LinearLayout::Coordinates place = unwrap(layout.apply(named));
  return {place.begin(), place.end()};
}

LinearLayout sublayout(const LinearLayout &layout, const std::vector<std::string> &ins,
                       const std::vector<std::string> &outs) {
  std::vector<llvm::StringRef> keepIns(ins.begin(), ins.end()), keepOuts(outs.begin(), outs.end());
  return unwrap(layout.sublayout(keepIns, keepOuts));
}

/// A plan together with what was asked for.
struct NativePlan {
  PlanRequest request;
  BlockLoadPlan plan;
};

const TargetInfo *targetOf(const std::string &chip) {
  if (auto why = checkChip(chip))
    raise(Error("target: " + llvm::Twine(*why)));
  return lookupTarget(chip);
}

NativePlan planAccess(const std::string &chip, const DpasParams &dpas, const std::string &operand,
                      unsigned elemBits, Shape2D shape, unsigned contiguousDim, bool oneMatrix,
                      const std::string &access, const SurfaceFacts &surface) {
  PlanRequest request;
  request.target = targetOf(chip);
  request.dpas = dpas;
  request.operand = operandOf(operand);
  request.elemBits = elemBits;
  request.shape = shape;
  request.contiguousDim = contiguousDim;
  request.oneMatrixPerLoad = oneMatrix;
  request.access = accessOf(access);
  request.surface = surface;
  BlockLoadPlan plan = unwrap(planBlockAccess(request));
  return {request, std::move(plan)};
}

void bindLinearLayout(nb::module_ &m) {
  nb::class_<LinearLayout>(m, "LinearLayout",
                           "A linear map over the bits of named indices, from inputs (register, "
                           "lane, subgroup, ...) to outputs. Sizes are powers of two.")
      .def_static("_create", create, "ins"_a, "outs"_a, "surjective"_a)
      .def_static(
          "identity",
          [](uint64_t size, const std::string &in, const std::string &out) {
            return unwrap(LinearLayout::identity(size, in, out));
          },
          "size"_a, "input"_a, "output"_a, "i -> i for i in range(size).")
      .def_static(
          "zeros",
          [](uint64_t size, const std::string &in, const std::string &out) {
            return unwrap(LinearLayout::zeros(size, in, out));
          },
          "size"_a, "input"_a, "output"_a, "i -> 0 for i in range(size): all hold the same.")
      .def("_bases", basesOf)
      .def("_ins", [](const LinearLayout &layout) { return sizesOf(layout.ins()); })
      .def("_outs", [](const LinearLayout &layout) { return sizesOf(layout.outs()); })
      .def("_apply", apply, "index"_a)
      .def(
          "product",
          [](const LinearLayout &low, const LinearLayout &high) {
            return unwrap(low.product(high));
          },
          "other"_a, "This layout in the low bits of dimensions that both have, `other` above.")
      .def(
          "compose",
          [](const LinearLayout &inner, const LinearLayout &outer) {
            return unwrap(inner.compose(outer));
          },
          "outer"_a, "`outer` after this layout.")
      .def(
          "invert_and_compose",
          [](const LinearLayout &inner, const LinearLayout &outer) {
            return unwrap(inner.invertAndCompose(outer));
          },
          "outer"_a, "The layout X with outer(X(i)) = self(i).")
      .def("sublayout", sublayout, "inputs"_a, "outputs"_a,
           "Only these dimensions: other inputs are 0, other outputs are dropped.")
      .def("is_surjective", &LinearLayout::isSurjective)
      .def("is_injective", &LinearLayout::isInjective)
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const LinearLayout &layout) { return std::hash<std::string>()(layout.str()); })
      .def("__str__", &LinearLayout::str)
      .def("__repr__", &LinearLayout::str);
  m.def(
      "hardware_view",
      [](const LinearLayout &layout, std::optional<unsigned> subgroup) {
        return unwrap(hardwareView(layout, subgroup));
      },
      "layout"_a, "subgroup"_a.none());
  m.def(
      "tensor_view", [](const LinearLayout &layout) { return unwrap(tensorView(layout)); },
      "layout"_a);
}

/// Lane layout and lane data, as tuples: an array would be a list of any length in Python.
using Lanes = std::pair<std::pair<unsigned, unsigned>, std::pair<unsigned, unsigned>>;

Lanes lanesOf(const LaneLayout &lanes) {
  return {{lanes.laneLayout[0], lanes.laneLayout[1]}, {lanes.laneData[0], lanes.laneData[1]}};
}

void bindDpas(nb::module_ &m) {
  nb::class_<DpasParams>(m, "DpasParams")
      .def(
          "__init__",
          [](DpasParams *self, unsigned repeatCount, unsigned systolicDepth, unsigned executionSize,
             unsigned opsPerChannel, unsigned threadsPerWarp, std::array<unsigned, 2> warpsPerCTA,
             std::array<unsigned, 2> repCluster) {
            new (self) DpasParams{repeatCount,    systolicDepth, executionSize, opsPerChannel,
                                  threadsPerWarp, warpsPerCTA,   repCluster};
          },
          "repeat_count"_a, "systolic_depth"_a, "execution_size"_a, "ops_per_channel"_a,
          "threads_per_warp"_a, "warps_per_cta"_a, "rep_cluster"_a);
  m.def(
      "dpas_layout",
      [](const DpasParams &dpas, const std::string &operand, unsigned elemBits, Shape2D shape) {
        return unwrap(dpasLayout(dpas, operandOf(operand), elemBits, shape));
      },
      "dpas"_a, "operand"_a, "element_bits"_a, "shape"_a);
  m.def(
      "lane_layout",
      [](const std::string &operand, unsigned elemBits, unsigned subgroupSize) {
        return lanesOf(unwrap(xegpuLaneLayout(operandOf(operand), elemBits, subgroupSize)));
      },
      "operand"_a, "element_bits"_a, "subgroup_size"_a);
  m.def(
      "from_lanes",
      [](std::array<unsigned, 2> laneLayout, std::array<unsigned, 2> laneData, Shape2D shape) {
        return unwrap(toLinearLayout({laneLayout, laneData}, shape));
      },
      "lane_layout"_a, "lane_data"_a, "shape"_a);
  m.def(
      "to_lanes",
      [](const LinearLayout &layout, unsigned packed) {
        return lanesOf(unwrap(toLaneLayout(layout, packed)));
      },
      "layout"_a, "packed"_a);
}

/// Bits of an element, width, height, blocks, transpose, transform.
using Shape = std::tuple<unsigned, unsigned, unsigned, unsigned, bool, bool>;

Shape shapeOf(const BlockShape &shape) {
  return {shape.elemBits, shape.width,     shape.height,
          shape.blocks,   shape.transpose, shape.transform};
}

using Places = std::vector<std::pair<uint64_t, uint64_t>>;

Places placesOf(llvm::ArrayRef<BlockMessage> messages) {
  Places places;
  for (const BlockMessage &message : messages)
    places.emplace_back(message.row, message.col);
  return places;
}

/// The shape and places of the messages that the compiler makes for a subgroup's tile.
std::pair<Shape, Places> tileMessages(const std::string &chip, const std::string &operand,
                                      unsigned inputBits, unsigned elemBits, Shape2D shape,
                                      const std::string &access) {
  PlanRequest request;
  request.target = targetOf(chip);
  request.dpas = largestDpas(*request.target, inputBits);
  request.operand = operandOf(operand);
  request.elemBits = elemBits;
  request.shape = shape;
  request.access = accessOf(access);
  TileMessages tile = unwrap(planTile(request));
  return {shapeOf(tile.shape), placesOf(tile.messages)};
}

// Long: a table of bindings.
void bindPlan(nb::module_ &m) {
  nb::class_<SurfaceFacts>(m, "SurfaceFacts")
      .def(
          "__init__",
          [](SurfaceFacts *self, std::optional<uint64_t> baseAlign, std::optional<uint64_t> width,
             std::optional<uint64_t> height, std::optional<uint64_t> pitch,
             std::optional<uint64_t> xMultiple) {
            new (self) SurfaceFacts{baseAlign, width, height, pitch, xMultiple};
          },
          "base_align"_a.none(), "width"_a.none(), "height"_a.none(), "pitch"_a.none(),
          "x_multiple"_a.none());
  nb::class_<NativePlan>(m, "NativePlan")
      .def_prop_ro("operand", [](const NativePlan &self) { return self.plan.operand; })
      .def_prop_ro("shape", [](const NativePlan &self) { return shapeOf(self.plan.shape); })
      .def_prop_ro("places", [](const NativePlan &self) { return placesOf(self.plan.messages); })
      .def_prop_ro("registers",
                   [](const NativePlan &self) {
                     std::vector<std::pair<unsigned, unsigned>> registers;
                     for (const RegisterSource &source : self.plan.registers)
                       registers.emplace_back(source.message, source.reg);
                     return registers;
                   })
      .def_prop_ro("cost",
                   [](const NativePlan &self) {
                     const PlanCost &cost = self.plan.cost;
                     return std::tuple(cost.messages, cost.bytes, cost.shuffles);
                   })
      .def_prop_ro("register_bits",
                   [](const NativePlan &self) {
                     return std::pair(self.plan.messageRegisterBits, self.plan.operandRegisterBits);
                   })
      .def_prop_ro("tiles", [](const NativePlan &self) { return self.plan.tiles(); })
      .def(
          "slices",
          [](const NativePlan &self, unsigned tile) {
            if (tile >= self.plan.tiles())
              raise(Error("DPAS operand is " + llvm::Twine(tile) + ", expected 0 to " +
                          llvm::Twine(int(self.plan.tiles()) - 1)));
            std::vector<std::tuple<unsigned, unsigned, unsigned, unsigned>> slices;
            for (const RegisterSlice &slice : self.plan.slices(tile))
              slices.emplace_back(slice.reg, slice.message, slice.source, slice.count);
            return slices;
          },
          "tile"_a)
      .def(
          "subgroup_origin",
          [](const NativePlan &self, unsigned subgroup) {
            if (subgroup >= self.plan.operand.inSize("subgroup"))
              raise(Error("subgroup is " + llvm::Twine(subgroup) + ", expected 0 to " +
                          llvm::Twine(self.plan.operand.inSize("subgroup") - 1)));
            auto [row, column] = self.plan.subgroupOrigin(subgroup);
            return std::pair(row, column);
          },
          "subgroup"_a)
      .def("layouts",
           [](const NativePlan &self) {
             BlockLayouts layouts = unwrap(blockLayouts(self.request, self.plan));
             return std::tuple(layouts.tile, layouts.iterations, layouts.loads);
           })
      .def("assumptions",
           [](const NativePlan &self) {
             auto list = surfaceAssumptions(self.request, self.plan);
             return std::vector<std::string>(list.begin(), list.end());
           })
      .def(
          "prove",
          [](const NativePlan &self, int64_t height, int64_t width, int64_t y, int64_t x,
             unsigned subgroup) {
            if (auto error = provePlan(self.request, self.plan, {height, width, y, x, subgroup}))
              raise(*error);
          },
          "height"_a, "width"_a, "y"_a, "x"_a, "subgroup"_a);
  m.def("plan", planAccess, "target"_a, "dpas"_a, "operand"_a, "element_bits"_a, "shape"_a,
        "contiguous_dim"_a, "one_matrix"_a, "access"_a, "surface"_a);
  m.def("tile_messages", tileMessages, "target"_a, "operand"_a, "input_bits"_a, "element_bits"_a,
        "shape"_a, "access"_a);
}

} // namespace

NB_MODULE(_layout, m) {
  m.doc() = "Linear layouts, DPAS operands and the block-load planner; xetile.layout is its face.";
  bindLinearLayout(m);
  bindDpas(m);
  bindPlan(m);
}
