//===- LinearLayout.cpp - linear maps over bits ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: images of index bits, or other layouts. Out: layouts as values, their images, their text.
// Refused: sizes that are no powers of two, unknown or repeated names, more than 63 bits.
#include "xetile/Layout/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace xetile;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace {

constexpr unsigned maxBits = 63;

uint64_t mask(unsigned bits) { return (uint64_t(1) << bits) - 1; }

unsigned totalBits(ArrayRef<LinearLayout::Dim> dims) {
  unsigned total = 0;
  for (const LinearLayout::Dim &dim : dims)
    total += dim.bits;
  return total;
}

const LinearLayout::Dim *findDim(ArrayRef<LinearLayout::Dim> dims, StringRef name) {
  const auto *found = llvm::find_if(dims, [&](const auto &dim) { return name == dim.name; });
  return found == dims.end() ? nullptr : found;
}

/// The lowest bit of the dimension in a packed index.
unsigned shiftOf(ArrayRef<LinearLayout::Dim> dims, const LinearLayout::Dim *which) {
  return totalBits(dims.take_front(which - dims.begin()));
}

Error unknownDim(StringRef kind, StringRef name, ArrayRef<LinearLayout::Dim> dims) {
  std::string known;
  for (const LinearLayout::Dim &dim : dims)
    known += (known.empty() ? "" : ", ") + dim.name;
  return Error(Twine("no ") + kind + " dimension '" + name + "'; there is " +
               (known.empty() ? "none" : known.c_str()));
}

std::optional<Error> checkNames(ArrayRef<LinearLayout::Dim> dims, StringRef kind) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (findDim(dims.take_front(i), dims[i].name))
      return Error(kind + Twine(" dimension '") + dims[i].name + "' comes twice; expected one");
  if (totalBits(dims) > maxBits)
    return Error(kind + Twine(" dimensions have ") + Twine(totalBits(dims)) +
                 " bits in all, expected at most " + Twine(maxBits));
  return std::nullopt;
}

/// Rows of a matrix over GF(2) in echelon form, each with the combination of inputs that made it.
struct Echelon {
  llvm::SmallVector<std::pair<uint64_t, uint64_t>, 32> rows;

  /// Reduces `value` by the rows: the remainder, and the inputs whose images were added.
  std::pair<uint64_t, uint64_t> reduce(uint64_t value) const {
    uint64_t inputs = 0;
    for (auto [row, from] : rows)
      if (value & llvm::bit_floor(row)) {
        value ^= row;
        inputs ^= from;
      }
    return {value, inputs};
  }

  bool insert(uint64_t value, uint64_t from) {
    auto [rest, inputs] = reduce(value);
    if (!rest)
      return false;
    // Descending leading bits: one pass of reduce() is enough.
    auto *at = llvm::find_if(rows, [rest = rest](const auto &row) { return row.first < rest; });
    rows.insert(at, {rest, inputs ^ from});
    return true;
  }
};

} // namespace

Result<unsigned> xetile::exactLog2(uint64_t value, const Twine &name) {
  if (!llvm::isPowerOf2_64(value))
    return Error(name + " is " + Twine(value) + ", expected a power of two: 1, 2, 4, 8, ...");
  return llvm::Log2_64(value);
}

Result<LinearLayout> LinearLayout::create(ArrayRef<Input> ins,
                                          ArrayRef<std::pair<StringRef, uint64_t>> outs,
                                          bool requireSurjective) {
  LinearLayout result;
  for (auto [name, size] : outs) {
    Result<unsigned> bits = exactLog2(size, "size of output dimension '" + name + "'");
    if (!bits)
      return bits.error();
    result.outDims.push_back({name.str(), *bits});
  }
  for (const Input &in : ins)
    result.inDims.push_back({in.name, unsigned(in.bases.size())});
  if (auto error = checkNames(result.inDims, "input"))
    return *error;
  if (auto error = checkNames(result.outDims, "output"))
    return *error;
  for (const Input &in : ins)
    for (const Coordinates &basis : in.bases) {
      if (basis.size() != outs.size())
        return Error(Twine("a basis of '") + in.name + "' has " + Twine(basis.size()) +
                     " coordinates, expected one per output dimension: " + Twine(outs.size()));
      uint64_t packed = 0;
      unsigned shift = 0;
      for (auto [coordinate, dim] : llvm::zip(basis, result.outDims)) {
        if (coordinate >= dim.size())
          return Error(Twine("a basis of '") + in.name + "' has coordinate " + Twine(coordinate) +
                       " in '" + dim.name + "', expected 0 to " + Twine(dim.size() - 1));
        packed |= coordinate << shift;
        shift += dim.bits;
      }
      result.bases.push_back(packed);
    }
  if (requireSurjective && !result.isSurjective())
    return Error("the bases reach only 2^" + Twine(result.rank()) + " of 2^" +
                 Twine(result.outBits()) +
                 " outputs; add bases, or say that the layout need not be surjective");
  return result;
}

Result<LinearLayout> LinearLayout::identity(uint64_t size, StringRef in, StringRef out) {
  Result<unsigned> bits = exactLog2(size, "size of '" + in + "'");
  if (!bits)
    return bits.error();
  LinearLayout result;
  result.inDims = {{in.str(), *bits}};
  result.outDims = {{out.str(), *bits}};
  for (unsigned bit = 0; bit < *bits; ++bit)
    result.bases.push_back(uint64_t(1) << bit);
  return result;
}

Result<LinearLayout> LinearLayout::zeros(uint64_t size, StringRef in, StringRef out) {
  Result<unsigned> bits = exactLog2(size, "size of '" + in + "'");
  if (!bits)
    return bits.error();
  LinearLayout result;
  result.inDims = {{in.str(), *bits}};
  result.outDims = {{out.str(), 0}};
  result.bases.assign(*bits, 0);
  return result;
}

uint64_t LinearLayout::inSize(StringRef name) const {
  const Dim *dim = findDim(inDims, name);
  return dim ? dim->size() : 0;
}

uint64_t LinearLayout::outSize(StringRef name) const {
  const Dim *dim = findDim(outDims, name);
  return dim ? dim->size() : 0;
}

unsigned LinearLayout::outBits() const { return totalBits(outDims); }

ArrayRef<uint64_t> LinearLayout::packedBases(StringRef in) const {
  const Dim *dim = findDim(inDims, in);
  if (!dim)
    return {};
  return ArrayRef<uint64_t>(bases).slice(shiftOf(inDims, dim), dim->bits);
}

LinearLayout::Coordinates LinearLayout::basis(StringRef in, unsigned bit) const {
  return unpackOut(packedBases(in)[bit]);
}

uint64_t LinearLayout::apply(uint64_t packedIn) const {
  uint64_t image = 0;
  for (uint64_t basis : bases) {
    image ^= packedIn & 1 ? basis : 0;
    packedIn >>= 1;
  }
  return image;
}

LinearLayout::Coordinates LinearLayout::unpackOut(uint64_t packedOut) const {
  Coordinates result;
  for (const Dim &dim : outDims) {
    result.push_back(packedOut & mask(dim.bits));
    packedOut >>= dim.bits;
  }
  return result;
}

Result<LinearLayout::Coordinates>
LinearLayout::apply(ArrayRef<std::pair<StringRef, uint64_t>> index) const {
  if (index.size() != inDims.size())
    return Error(Twine(index.size()) +
                 " indices given, expected one per input dimension: " + Twine(inDims.size()));
  uint64_t packed = 0;
  llvm::SmallVector<bool, 4> seen(inDims.size());
  for (auto [name, value] : index) {
    const Dim *dim = findDim(inDims, name);
    if (!dim)
      return unknownDim("input", name, inDims);
    if (value >= dim->size())
      return Error("index of '" + name + "' is " + Twine(value) + ", expected 0 to " +
                   Twine(dim->size() - 1));
    if (std::exchange(seen[dim - inDims.begin()], true))
      return Error("index of '" + name + "' comes twice; expected one");
    packed |= value << shiftOf(inDims, dim);
  }
  return unpackOut(apply(packed));
}

Result<LinearLayout> LinearLayout::product(const LinearLayout &other) const {
  LinearLayout result;
  auto merge = [](ArrayRef<Dim> low, ArrayRef<Dim> high) {
    llvm::SmallVector<Dim, 4> dims(low);
    for (const Dim &dim : high) {
      auto *same = llvm::find_if(dims, [&](const Dim &have) { return have.name == dim.name; });
      if (same == dims.end())
        dims.push_back(dim);
      else
        same->bits += dim.bits;
    }
    return dims;
  };
  result.inDims = merge(inDims, other.inDims);
  result.outDims = merge(outDims, other.outDims);
  if (auto error = checkNames(result.inDims, "input"))
    return *error;
  if (auto error = checkNames(result.outDims, "output"))
    return *error;
  // Of `from`'s packed outputs to the result's; the high factor's bits lie above the low one's.
  auto widen = [&](const LinearLayout &from, uint64_t packed, bool high) {
    uint64_t wide = 0;
    for (const Dim &dim : from.outDims) {
      const Dim *to = findDim(result.outDims, dim.name);
      const Dim *below = high ? findDim(outDims, dim.name) : nullptr;
      wide |= (packed & mask(dim.bits))
              << (shiftOf(result.outDims, to) + (below ? below->bits : 0));
      packed >>= dim.bits;
    }
    return wide;
  };
  for (const Dim &dim : result.inDims) {
    for (uint64_t basis : packedBases(dim.name))
      result.bases.push_back(widen(*this, basis, /*high=*/false));
    for (uint64_t basis : other.packedBases(dim.name))
      result.bases.push_back(widen(other, basis, /*high=*/true));
  }
  return result;
}

Result<LinearLayout> LinearLayout::compose(const LinearLayout &outer) const {
  if (outer.inDims.size() != outDims.size())
    return Error("the outer layout takes " + Twine(outer.inDims.size()) +
                 " dimensions, expected the " + Twine(outDims.size()) + " that this one gives");
  // Where each of our outputs lies in the packed inputs of `outer`.
  llvm::SmallVector<unsigned, 4> shifts;
  for (const Dim &dim : outDims) {
    const Dim *taken = findDim(outer.inDims, dim.name);
    if (!taken)
      return unknownDim("input", dim.name, outer.inDims);
    if (taken->bits < dim.bits)
      return Error("the outer layout's '" + dim.name + "' has size " + Twine(taken->size()) +
                   ", expected at least " + Twine(dim.size()));
    shifts.push_back(shiftOf(outer.inDims, taken));
  }
  LinearLayout result;
  result.inDims = inDims;
  result.outDims = outer.outDims;
  for (uint64_t basis : bases) {
    uint64_t packed = 0;
    for (auto [coordinate, shift] : llvm::zip(unpackOut(basis), shifts))
      packed |= coordinate << shift;
    result.bases.push_back(outer.apply(packed));
  }
  return result;
}

Result<LinearLayout> LinearLayout::invertAndCompose(const LinearLayout &outer) const {
  if (outer.outDims.size() != outDims.size())
    return Error("the layouts give " + Twine(outDims.size()) + " and " +
                 Twine(outer.outDims.size()) + " dimensions, expected the same");
  llvm::SmallVector<unsigned, 4> shifts;
  for (const Dim &dim : outDims) {
    const Dim *given = findDim(outer.outDims, dim.name);
    if (!given)
      return unknownDim("output", dim.name, outer.outDims);
    if (given->bits < dim.bits)
      return Error("the outer layout's '" + dim.name + "' has size " + Twine(given->size()) +
                   ", expected at least " + Twine(dim.size()));
    shifts.push_back(shiftOf(outer.outDims, given));
  }
  Echelon echelon;
  for (auto [bit, basis] : llvm::enumerate(outer.bases))
    echelon.insert(basis, uint64_t(1) << bit);
  LinearLayout result;
  result.inDims = inDims;
  result.outDims = outer.inDims;
  for (uint64_t basis : bases) {
    uint64_t packed = 0;
    for (auto [coordinate, shift] : llvm::zip(unpackOut(basis), shifts))
      packed |= coordinate << shift;
    auto [rest, inputs] = echelon.reduce(packed);
    if (rest)
      return Error("the outer layout does not reach all outputs of this one; expected one whose "
                   "image holds this one's");
    result.bases.push_back(inputs);
  }
  return result;
}

Result<LinearLayout> LinearLayout::sublayout(ArrayRef<StringRef> keepIns,
                                             ArrayRef<StringRef> keepOuts) const {
  LinearLayout result;
  llvm::SmallVector<unsigned, 4> shifts;
  for (StringRef name : keepOuts) {
    const Dim *dim = findDim(outDims, name);
    if (!dim)
      return unknownDim("output", name, outDims);
    result.outDims.push_back(*dim);
    shifts.push_back(shiftOf(outDims, dim));
  }
  for (StringRef name : keepIns) {
    const Dim *dim = findDim(inDims, name);
    if (!dim)
      return unknownDim("input", name, inDims);
    result.inDims.push_back(*dim);
    for (uint64_t basis : packedBases(name)) {
      uint64_t packed = 0;
      unsigned at = 0;
      for (auto [kept, shift] : llvm::zip(result.outDims, shifts)) {
        packed |= ((basis >> shift) & mask(kept.bits)) << at;
        at += kept.bits;
      }
      result.bases.push_back(packed);
    }
  }
  if (auto error = checkNames(result.inDims, "input"))
    return *error;
  if (auto error = checkNames(result.outDims, "output"))
    return *error;
  return result;
}

Result<LinearLayout> LinearLayout::withOutSize(StringRef out, uint64_t size) const {
  const Dim *dim = findDim(outDims, out);
  if (!dim)
    return unknownDim("output", out, outDims);
  Result<unsigned> bits = exactLog2(size, "size of output dimension '" + out + "'");
  if (!bits)
    return bits.error();
  if (*bits < dim->bits)
    return Error("size of output dimension '" + out + "' is " + Twine(size) +
                 ", expected at least " + Twine(dim->size()));
  LinearLayout result = *this;
  unsigned end = shiftOf(outDims, dim) + dim->bits, grown = *bits - dim->bits;
  for (uint64_t &basis : result.bases)
    basis = (basis & mask(end)) | ((basis & ~mask(end)) << grown);
  result.outDims[dim - outDims.begin()].bits = *bits;
  if (auto error = checkNames(result.outDims, "output"))
    return *error;
  return result;
}

unsigned LinearLayout::rank() const {
  Echelon echelon;
  for (uint64_t basis : bases)
    echelon.insert(basis, 0);
  return echelon.rows.size();
}

std::string LinearLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Dim &dim : inDims) {
    if (!dim.bits)
      os << " - " << dim.name << " is a size 1 dimension\n";
    for (unsigned bit = 0; bit < dim.bits; ++bit) {
      os << (bit ? "   " : " - ") << dim.name << '=' << (uint64_t(1) << bit) << " -> (";
      llvm::interleaveComma(basis(dim.name, bit), os);
      os << ")\n";
    }
  }
  os << "where out dims are: [";
  llvm::interleaveComma(outDims, os,
                        [&](const Dim &dim) { os << dim.name << " (size " << dim.size() << ')'; });
  os << "]\n";
  return text;
}
