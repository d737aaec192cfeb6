//===- Registration.h - everything that a tool registers ---------------------===//
#ifndef XETILE_REGISTRATION_H
#define XETILE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace xetile {
/// The XeTile dialect and the transform ops that schedules call.
void registerDialects(mlir::DialectRegistry &registry);
/// All passes and pipelines, those of levels 1 to 6 included.
void registerPasses();
} // namespace xetile

#endif // XETILE_REGISTRATION_H
