//===- LayoutView.cpp - layouts as tables ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a layout from register, lane and subgroup to rows and columns. Out: the hardware's view and
// the tensor's as text. Refused: layouts of other dimensions, tensors too large to print.
#include "xetile/Layout/LayoutView.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

using namespace xetile;
using llvm::Twine;

namespace {

// A table of this many places has 60 MB and takes seconds.
constexpr unsigned maxBits = 22;

std::optional<Error> checkDims(const LinearLayout &layout) {
  auto ins = layout.ins();
  if (ins.size() != 3 || ins[0].name != "register" || ins[1].name != "lane" ||
      ins[2].name != "subgroup" || layout.outs().size() != 2)
    return Error("expected a layout from register, lane and subgroup to two dimensions");
  if (layout.inBits() > maxBits)
    return Error("the layout has 2^" + Twine(layout.inBits()) + " indices, expected at most 2^" +
                 Twine(maxBits) + " to print; use a smaller shape");
  return std::nullopt;
}

/// Digits of the largest index.
unsigned digits(uint64_t size) { return llvm::utostr(size - 1).size(); }

} // namespace

Result<std::string> xetile::hardwareView(const LinearLayout &layout,
                                         std::optional<unsigned> subgroup) {
  if (auto error = checkDims(layout))
    return *error;
  uint64_t registers = layout.ins()[0].size(), lanes = layout.ins()[1].size(),
           subgroups = layout.ins()[2].size();
  if (subgroup && *subgroup >= subgroups)
    return Error("subgroup is " + Twine(*subgroup) + ", expected 0 to " + Twine(subgroups - 1));
  unsigned rowWidth = digits(layout.outs()[0].size()), colWidth = digits(layout.outs()[1].size());
  std::string text;
  llvm::raw_string_ostream os(text);
  for (uint64_t id = subgroup.value_or(0); id <= subgroup.value_or(subgroups - 1); ++id) {
    os << "Warp" << id << ":\n";
    for (uint64_t reg = 0; reg < registers; ++reg) {
      for (uint64_t lane = 0; lane < lanes; ++lane) {
        auto at = layout.unpackOut(layout.apply(reg + registers * (lane + lanes * id)));
        os << (lane ? ", (" : "(") << llvm::format_decimal(at[0], rowWidth) << ','
           << llvm::format_decimal(at[1], colWidth) << ')';
      }
      os << '\n';
    }
  }
  return text;
}

Result<std::string> xetile::tensorView(const LinearLayout &layout) {
  if (auto error = checkDims(layout))
    return *error;
  uint64_t registers = layout.ins()[0].size(), lanes = layout.ins()[1].size(),
           subgroups = layout.ins()[2].size();
  uint64_t rows = layout.outs()[0].size(), cols = layout.outs()[1].size();
  // A layout that is not surjective may name a tensor of any size.
  if (unsigned bits = layout.outs()[0].bits + layout.outs()[1].bits; bits > maxBits)
    return Error("the tensor has 2^" + Twine(bits) + " elements, expected at most 2^" +
                 Twine(maxBits) + " to print; use a smaller shape");
  // Runs of subgroups that hold an element in the same lane and register, in the order of their
  // ids.
  struct Holder {
    uint64_t first, last, lane, reg;
  };
  std::vector<llvm::SmallVector<Holder, 1>> holders(rows * cols);
  for (uint64_t id = 0; id < subgroups; ++id)
    for (uint64_t lane = 0; lane < lanes; ++lane)
      for (uint64_t reg = 0; reg < registers; ++reg) {
        auto at = layout.unpackOut(layout.apply(reg + registers * (lane + lanes * id)));
        auto &list = holders[at[0] * cols + at[1]];
        auto *run = llvm::find_if(list, [&](const Holder &holder) {
          return holder.last + 1 == id && holder.lane == lane && holder.reg == reg;
        });
        if (run != list.end())
          run->last = id;
        else
          list.push_back({id, id, lane, reg});
      }
  std::string text;
  llvm::raw_string_ostream os(text);
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t col = 0; col < cols; ++col) {
      os << (col ? ", " : "");
      llvm::interleave(
          holders[row * cols + col], os,
          [&](const Holder &holder) {
            os << 'S' << holder.first;
            if (holder.last != holder.first)
              os << '-' << holder.last;
            os << ":L" << llvm::format_decimal(holder.lane, digits(lanes)) << ":R"
               << llvm::format_decimal(holder.reg, digits(registers));
          },
          "|");
    }
    os << '\n';
  }
  return text;
}
