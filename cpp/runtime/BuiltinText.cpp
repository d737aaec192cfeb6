// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltinText.cpp: OpenCL C definitions of Intel's subgroup builtins, for devices that lack them.
// Input: a parsed SPIR-V module; output: one translation unit that defines exactly the functions it
// imports. Refused: an import of no known family, a kernel that reaches subgroup-of-16 builtins
// without requiring that size.
#include "BuiltinText.h"

#include "BuiltinAssert.h"
#include "Errors.h"
#include "PrefetchCheck.h"
#include "SurfaceCheck.h"

#include <algorithm>
#include <cctype>

namespace xetile::runtime {
namespace {

// noinline: a kernel with 256 calls links in a tenth of the time, at the same speed. The loop
// pragma keeps the paths for blocks over an edge, which are rare, from being unrolled into most of
// the code.
constexpr const char *prelude = R"cl(#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define XT_FUNCTION __attribute__((noinline))
#define XT_FIRST(value) sub_group_broadcast(value, 0)
#define XT_LAST(value) sub_group_broadcast(value, 15)
#define XT_LOOP _Pragma("clang loop unroll(disable) vectorize(disable)")
#define XT_FENCE() sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
)cl";

bool isIdentifier(const std::string &name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

void checkSubgroupSize(const SpirvModule &module, const SpirvImport &import) {
  for (const SpirvKernel &kernel : module.kernels) {
    const std::vector<std::string> &reached = kernel.reachableImports;
    if (std::find(reached.begin(), reached.end(), import.name) == reached.end() ||
        kernel.subgroupSize == 16)
      continue;
    throw Error(
        "the kernel '" + kernel.name + "' uses '" + unmangledName(import.name) +
        "', which works on subgroups of 16, but requires " +
        (kernel.subgroupSize ? "subgroups of " + number(kernel.subgroupSize) : "no subgroup size") +
        ". Put __attribute__((intel_reqd_sub_group_size(16))) on the kernel, or "
        "intel_reqd_sub_group_size = 16 : i32 on the gpu.func");
  }
}

// Inlined: it is as short as a call.
void addBf16Rounding(BuiltinText &out, const SpirvImport &import, const Bf16Rounding &rounding) {
  out.add(bf16RoundingText(rounding.lanes));
  out.add("\n__attribute__((always_inline)) " + import.result.openclName() + " " + import.name +
          "(" + import.parameters[0].openclName() + " x) { return xt_bf16_" +
          number(rounding.lanes) + "(x); }\n");
}

void addImport(BuiltinText &out, const SpirvModule &module, const NativeBuiltins &native,
               const SpirvImport &import) {
  if (!isIdentifier(import.name))
    throw Error("the kernel imports '" + import.name +
                "', which is no C identifier, so it cannot be defined");
  if (std::optional<BlockIo> block = asBlockIo(import)) {
    if (native.blockIo)
      return;
    if (block->kind != BlockIo::Prefetch)
      checkSubgroupSize(module, import);
    if (!out.checkBlocks)
      return addBlockIo(out, import, *block);
    SpirvImport unchecked = import;
    unchecked.name = "xt_unchecked" + import.name;
    addBlockIo(out, unchecked, *block);
    addCheckedBlockIo(out, import, *block, unchecked.name);
  } else if (std::optional<PayloadCall> call = asPayloadCall(import)) {
    if (!native.blockIo)
      addPayload(out, import, *call);
  } else if (std::optional<Dpas> dpas = asDpas(import)) {
    if (native.dpas)
      return;
    checkSubgroupSize(module, import);
    addDpas(out, import, *dpas);
  } else if (isAssertion(import)) {
    addAssertion(out, import);
  } else if (isPortablePart(import)) {
    addPortablePart(out, import);
  } else if (std::optional<Bf16Rounding> rounding = asBf16Rounding(import)) {
    if (!native.blockIo)
      addBf16Rounding(out, import, *rounding);
  } else if (unmangledName(import.name) == "prefetch") {
    std::string head = "XT_FUNCTION void " + import.name + "(";
    for (size_t i = 0; i < import.parameters.size(); ++i)
      head += (i ? ", " : "") + import.parameters[i].openclName() + " p" +
              number(static_cast<unsigned>(i));
    out.add(head + ") {}\n");
  } else {
    std::string name = unmangledName(import.name);
    bool instruction =
        name.rfind("intel_sub_group_block_", 0) == 0 || name.rfind("intel_convert_", 0) == 0;
    // Intel's CPU compiler has these, but takes functions of the same names for its own.
    if (instruction)
      throw Error(
          "the kernel imports '" + import.name +
          "', which must be an instruction. Generate the SPIR-V with the extension that has it: "
          "SPV_INTEL_subgroups for 1D blocks, SPV_INTEL_bfloat16_conversion, "
          "SPV_INTEL_tensor_float32_conversion");
    throw Error(
        "the kernel imports the function '" + import.name +
        "', which neither the device nor this runtime defines. Known are "
        "intel_sub_group_2d_block_{read,write,"
        "prefetch}*, intel_sub_group_*_matrix_mad_k*, prefetch, __builtin_IB_ftobf_*, and of "
        "__builtin_IB_subgroup_* address payloads and their prefetches. Lower the "
        "operation to one of these, or run "
        "on a device that has it");
  }
}

} // namespace

std::string number(unsigned value) { return std::to_string(value); }

std::string convertedText(const std::string &value, const std::string &type, unsigned lanes) {
  return lanes == 1 ? "(" + type + ")(" + value + ")"
                    : "__builtin_convertvector(" + value + ", " + type + number(lanes) + ")";
}

std::string bf16RoundingText(unsigned lanes) {
  return expand(R"(
#ifndef XT_BF16_@lanes@
#define XT_BF16_@lanes@
static __attribute__((always_inline)) short@n@ xt_bf16_@lanes@(float@n@ value) {
  uint@n@ bits = as_uint@n@(value);
  uint@n@ rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, nan = (bits >> 16) | 0x40u;
  return as_short@n@(@narrowed@);
}
#endif
)",
                {{"narrowed", convertedText("value != value ? nan : rounded", "ushort", lanes)},
                 {"lanes", number(lanes)},
                 {"n", lanes == 1 ? "" : number(lanes)}});
}

std::string expand(std::string text,
                   std::initializer_list<std::pair<const char *, std::string>> values) {
  for (const auto &[key, value] : values) {
    std::string mark = std::string("@") + key + "@";
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size())
      text.replace(at, mark.size(), value);
  }
  return text;
}

std::string BuiltinText::vectorType(const std::string &element, unsigned lanes) {
  if (lanes == 1)
    return element;
  vectors.insert({element, lanes});
  return "Xt_" + element + number(lanes);
}

void BuiltinText::addHead(const SpirvImport &import,
                          std::initializer_list<const char *> parameters) {
  add("\nXT_FUNCTION " + import.result.openclName() + " " + import.name + "(");
  size_t i = 0;
  for (const char *parameter : parameters) {
    add((i ? ", " : "") + import.parameters[i].openclName() + " " + parameter);
    ++i;
  }
  add(")");
}

std::string BuiltinText::text() const {
  std::string head = fp16 ? "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" : "";
  head += prelude;
  for (const auto &[element, lanes] : vectors)
    head += "typedef " + element + " Xt_" + element + number(lanes) +
            " __attribute__((ext_vector_type(" + number(lanes) + "), aligned(1)));\n";
  return head + body.str();
}

std::string generateBuiltins(const SpirvModule &module, const NativeBuiltins &native,
                             Flavour flavour, bool checkPrefetches, bool checkBlocks) {
  if (module.imports.empty() || (native.blockIo && native.dpas))
    return {};
  BuiltinText out(flavour, checkPrefetches && !native.blockIo, checkBlocks && !native.blockIo);
  if (out.checkPrefetches)
    out.add(prefetchRecordText());
  for (const SpirvImport &import : module.imports)
    addImport(out, module, native, import);
  return out.text();
}

} // namespace xetile::runtime
