//===- TensorCall.h - calls of compiled functions with tensors ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_BINDINGS_TENSORCALL_H
#define XETILE_BINDINGS_TENSORCALL_H

#include <nanobind/nanobind.h>

namespace xetile {

/// Adds the class TensorFunction.
void addTensorCall(nanobind::module_ &module);

} // namespace xetile

#endif // XETILE_BINDINGS_TENSORCALL_H
