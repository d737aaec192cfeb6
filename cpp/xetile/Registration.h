//===- Registration.h - everything that a tool registers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_REGISTRATION_H
#define XETILE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace xetile {
/// The XeTile dialect and the transform ops that schedules call.
void registerDialects(mlir::DialectRegistry &registry);
/// All passes, pipelines and targets.
void registerPasses();
} // namespace xetile

#endif // XETILE_REGISTRATION_H
