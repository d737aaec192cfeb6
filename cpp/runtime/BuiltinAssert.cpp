// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltinAssert.cpp: assertions of kernels.
// Input: the imported function that a failed assertion calls; output: OpenCL C that keeps the first
// message, and that message after a launch. Refused: an assertion that failed.
//
// The kernel goes on behind a failed assertion, as no work-item of OpenCL can end a launch; the
// error comes when it has ended.
#include "BuiltinAssert.h"

#include "Errors.h"
#include "LaunchRecord.h"

namespace xetile::runtime {

const char *const takeAssertionKernel = "xt_take_assertion";

namespace {

constexpr unsigned textBytes = 256, texts = 3;
// The record, in words: that it is taken, the line, the work-item's and the group's ids, the texts.
enum Word { Taken, Line, Item, Group = Item + 3, Texts = Group + 3 };
constexpr unsigned recordWords = Texts + texts * textBytes / 4;

std::string recordText() {
  return expand(
      R"cl(
#ifndef XT_ASSERTION
#define XT_ASSERTION
__global uint xt_assertion[@words@];
void xt_keep_text(uint slot, __generic const char *text) {
  __global char *to = (__global char *)(xt_assertion + @texts@) + slot * @bytes@;
  int i = 0;
  if (text)
    for (; i < @bytes@ - 1 && text[i]; ++i)
      to[i] = text[i];
  to[i] = 0;
}
__kernel void xt_take_assertion(__global uint *out) {
  for (int i = 0; i < @words@; ++i) {
    out[i] = xt_assertion[i];
    xt_assertion[i] = 0;
  }
}
#endif
)cl",
      {{"words", number(recordWords)}, {"texts", number(Texts)}, {"bytes", number(textBytes)}});
}

} // namespace

bool isAssertion(const SpirvImport &import) {
  std::string name = unmangledName(import.name);
  return name == "__devicelib_assert_fail" || name == "__assert_fail" || name == "__assertfail";
}

void addAssertion(BuiltinText &out, const SpirvImport &import) {
  out.add(recordText() + "\nXT_FUNCTION void " + import.name + "(");
  // Expression, file and function are the pointers in their order, the line is the first integer.
  std::string keep, line = "0";
  unsigned pointers = 0, at = 0;
  for (const SpirvType &type : import.parameters) {
    std::string name = "p" + number(at);
    out.add((at++ ? ", " : "") + type.openclName() + " " + name);
    if (type.kind == SpirvType::Pointer && pointers < texts)
      keep += "  xt_keep_text(" + number(pointers++) + ", (__generic const char *)" + name + ");\n";
    else if (type.kind == SpirvType::Int && line == "0")
      line = name;
  }
  out.add(expand(R"() {
  if (atomic_cmpxchg(&xt_assertion[0], 0u, 1u) != 0u)
    return;
  xt_assertion[@line_word@] = (uint)@line@;
  for (int i = 0; i < 3; ++i) {
    xt_assertion[@item@ + i] = (uint)get_local_id(i);
    xt_assertion[@group@ + i] = (uint)get_group_id(i);
  }
@keep@}
)",
                 {{"line_word", number(Line)},
                  {"line", line},
                  {"item", number(Item)},
                  {"group", number(Group)},
                  {"keep", keep}}));
}

void examineAssertions(cl_context context, cl_program program, cl_command_queue queue,
                       const std::string &kernel) {
  std::vector<uint32_t> record = takeRecord(context, program, queue, takeAssertionKernel,
                                            recordWords, "reading a kernel's assertions");
  if (!record[Taken])
    return;
  auto text = [&](unsigned slot) {
    return std::string(reinterpret_cast<const char *>(&record[Texts]) + size_t(slot) * textBytes);
  };
  auto ids = [&](unsigned first) {
    return "(" + std::to_string(record[first]) + ", " + std::to_string(record[first + 1]) + ", " +
           std::to_string(record[first + 2]) + ")";
  };
  std::string file = text(1), function = text(2);
  throw Error("the kernel '" + kernel + "' failed an assertion: " + text(0) +
              (file.empty() ? "" : ", at " + file + ":" + std::to_string(record[Line])) +
              (function.empty() ? "" : " in " + function) + "; work-item " + ids(Item) +
              " of group " + ids(Group) + ". Its results are not to be used");
}

} // namespace xetile::runtime
