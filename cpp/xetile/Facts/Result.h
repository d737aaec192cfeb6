//===- Result.h - a value, or why there is none ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_FACTS_RESULT_H
#define XETILE_FACTS_RESULT_H

#include "llvm/ADT/Twine.h"
#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace xetile {

/// The outcome of a check: an error message, or none.
using Problem = std::optional<std::string>;

/// An error message for a person: expected, got, remedy.
struct Error {
  std::string message;

  explicit Error(const llvm::Twine &text) : message(text.str()) {}
};

/// A value or an `Error`. `llvm::Expected` would abort where nobody looks at the error, and
/// `llvm::FailureOr` would lose the text.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  /// Only of a result that has a value.
  const T &operator*() const & {
    assert(*this && "no value; look at error()");
    return *std::get_if<0>(&state);
  }
  T &&operator*() && {
    assert(*this && "no value; look at error()");
    return std::move(*std::get_if<0>(&state));
  }
  const T *operator->() const { return &**this; }
  /// Only of a result that has none.
  const Error &error() const {
    assert(!*this && "has a value");
    return *std::get_if<1>(&state);
  }

private:
  std::variant<T, Error> state;
};

} // namespace xetile

#endif // XETILE_FACTS_RESULT_H
