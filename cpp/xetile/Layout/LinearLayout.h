//===- LinearLayout.h - linear maps over bits --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts of registers and of messages are linear functions of index bits.
#ifndef XETILE_LAYOUT_LINEARLAYOUT_H
#define XETILE_LAYOUT_LINEARLAYOUT_H

#include "xetile/Facts/Result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace xetile {

/// A map over GF(2) from named input dimensions (register, lane, subgroup, offset, iteration, load)
/// to named output dimensions. Sizes are powers of two. The image of an index is the exclusive or
/// of the images of its bits, the bases.
///
/// An index of all inputs (outputs) together is packed: the first dimension has the lowest bits.
class LinearLayout {
public:
  struct Dim {
    std::string name;
    unsigned bits; // its size is 2^bits

    uint64_t size() const { return uint64_t(1) << bits; }
    friend bool operator==(const Dim &left, const Dim &right) {
      return left.name == right.name && left.bits == right.bits;
    }
  };
  using Coordinates = llvm::SmallVector<uint64_t, 4>;
  /// One input: its name and the image of each of its bits, a coordinate per output.
  struct Input {
    std::string name;
    llvm::SmallVector<Coordinates, 8> bases;
  };

  /// No dimensions; neutral in `product`.
  LinearLayout() = default;
  static Result<LinearLayout> create(llvm::ArrayRef<Input> ins,
                                     llvm::ArrayRef<std::pair<llvm::StringRef, uint64_t>> outs,
                                     bool requireSurjective = true);
  /// i -> i.
  static Result<LinearLayout> identity(uint64_t size, llvm::StringRef in, llvm::StringRef out);
  /// i -> 0: every i holds the same.
  static Result<LinearLayout> zeros(uint64_t size, llvm::StringRef in, llvm::StringRef out);

  llvm::ArrayRef<Dim> ins() const { return inDims; }
  llvm::ArrayRef<Dim> outs() const { return outDims; }
  /// The size of an input (output), 0 if there is none of that name.
  uint64_t inSize(llvm::StringRef name) const;
  uint64_t outSize(llvm::StringRef name) const;
  unsigned inBits() const { return bases.size(); }
  unsigned outBits() const;

  /// Images of single bits, as packed outputs.
  llvm::ArrayRef<uint64_t> packedBases() const { return bases; }
  llvm::ArrayRef<uint64_t> packedBases(llvm::StringRef in) const;
  /// The image of bit `bit` of `in`; the bit must exist.
  Coordinates basis(llvm::StringRef in, unsigned bit) const;

  uint64_t apply(uint64_t packedIn) const;
  Coordinates unpackOut(uint64_t packedOut) const;
  /// Each input is given once, and in range.
  Result<Coordinates> apply(llvm::ArrayRef<std::pair<llvm::StringRef, uint64_t>> index) const;

  /// `*this` in the low bits, `other` in the high bits of dimensions that both have.
  Result<LinearLayout> product(const LinearLayout &other) const;
  /// `outer` after `*this`: outer(this(i)). `outer` takes what this gives.
  Result<LinearLayout> compose(const LinearLayout &outer) const;
  /// The map X with outer(X(i)) = this(i), zero in what is free. An error where `outer` does not
  /// reach all that this gives.
  Result<LinearLayout> invertAndCompose(const LinearLayout &outer) const;
  /// Only some dimensions, in the order given; other inputs are 0, other outputs are dropped.
  Result<LinearLayout> sublayout(llvm::ArrayRef<llvm::StringRef> keepIns,
                                 llvm::ArrayRef<llvm::StringRef> keepOuts) const;
  /// The same map with a larger output dimension.
  Result<LinearLayout> withOutSize(llvm::StringRef out, uint64_t size) const;

  unsigned rank() const;
  bool isSurjective() const { return rank() == outBits(); }
  bool isInjective() const { return rank() == inBits(); }

  friend bool operator==(const LinearLayout &left, const LinearLayout &right) {
    return left.inDims == right.inDims && left.outDims == right.outDims &&
           left.bases == right.bases;
  }
  friend bool operator!=(const LinearLayout &left, const LinearLayout &right) {
    return !(left == right);
  }

  /// " - offset=1 -> (0, 1)" and so on, a line per basis, then the sizes of the outputs.
  std::string str() const;

private:
  llvm::SmallVector<Dim, 4> inDims, outDims;
  llvm::SmallVector<uint64_t, 16> bases; // of all inputs, one after the other
};

/// log2 of a power of two, or what is wrong with `value`, which the message calls `name`.
Result<unsigned> exactLog2(uint64_t value, const llvm::Twine &name);

} // namespace xetile

#endif // XETILE_LAYOUT_LINEARLAYOUT_H
