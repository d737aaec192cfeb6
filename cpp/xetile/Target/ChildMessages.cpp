//===- ChildMessages.cpp - what a child process tells its parent ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: modules and diagnostics of one process. Out: the same in another.
// Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Target/ChildMessages.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <unistd.h>

using namespace mlir;

std::string xetile::detail::toBytecode(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(module, stream)))
    return std::string();
  return bytes;
}

OwningOpRef<ModuleOp> xetile::detail::fromBytecode(StringRef bytes, MLIRContext *context,
                                                   bool verify) {
  return parseSourceString<ModuleOp>(bytes, ParserConfig(context, verify));
}

void xetile::detail::record(OpBuilder &builder, Diagnostic &diagnostic) {
  auto severity = Twine(int(diagnostic.getSeverity()));
  auto name = builder.getStringAttr(severity + ":" + diagnostic.str());
  auto said = ModuleOp::create(builder, NameLoc::get(name, diagnostic.getLocation()));
  OpBuilder inner = OpBuilder::atBlockEnd(said.getBody());
  for (Diagnostic &note : diagnostic.getNotes())
    record(inner, note);
}

static std::pair<StringRef, Location> textOf(ModuleOp said) {
  auto named = cast<NameLoc>(said.getLoc());
  return {named.getName().getValue(), named.getChildLoc()};
}

void xetile::detail::repeat(ModuleOp said) {
  auto [text, place] = textOf(said);
  auto [severity, message] = text.split(':');
  int number = 0;
  severity.getAsInteger(10, number);
  Diagnostic diagnostic(place, DiagnosticSeverity(number));
  diagnostic << message;
  for (auto note : said.getOps<ModuleOp>()) {
    auto [noteText, notePlace] = textOf(note);
    diagnostic.attachNote(notePlace) << noteText.split(':').second;
  }
  place.getContext()->getDiagEngine().emit(std::move(diagnostic));
}

void xetile::detail::writeAll(int file, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      _exit(1);
    bytes = bytes.drop_front(std::max<ssize_t>(written, 0));
  }
}

std::string xetile::detail::readAll(int file) {
  std::string bytes(std::max<off_t>(lseek(file, 0, SEEK_END), 0), '\0');
  for (size_t begin = 0; begin < bytes.size();) {
    ssize_t got = pread(file, bytes.data() + begin, bytes.size() - begin, off_t(begin));
    if (got <= 0)
      return std::string();
    begin += got;
  }
  return bytes;
}
