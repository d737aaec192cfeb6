//===- LlvmErrors.h - what LLVM's back ends say ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_LLVMERRORS_H
#define XETILE_TARGET_LLVMERRORS_H

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace xetile {

/// Collects the errors that LLVM would otherwise print before it ends the process, a line each.
struct ErrorCollector : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string &text) : text(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      stream << '\n';
    }
    return true;
  }
  std::string &text;
};

} // namespace xetile

#endif // XETILE_TARGET_LLVMERRORS_H
