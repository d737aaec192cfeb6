//===- DiagnosticCollector.h - what the compiler says, as bytes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_BINDINGS_DIAGNOSTICCOLLECTOR_H
#define XETILE_BINDINGS_DIAGNOSTICCOLLECTOR_H

#include "mlir-c/Diagnostics.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include <mutex>
#include <string>
#include <vector>

/// Hears all diagnostics of a context from its construction until it is detached. Upstream's own
/// handlers make Python strings while they run, where an exception cannot pass: names in a message
/// that are not UTF-8 end the process. This one keeps bytes, needs no Python and no lock of it.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(MlirContext context)
      : context(context), id(mlirContextAttachDiagnosticHandler(context, handle, this, nullptr)) {}
  ~DiagnosticCollector() { detach(); }
  DiagnosticCollector(const DiagnosticCollector &) = delete;
  DiagnosticCollector &operator=(const DiagnosticCollector &) = delete;

  void detach() {
    if (attached)
      mlirContextDetachDiagnosticHandler(context, id);
    attached = false;
  }

  /// A list of (severity, location, message, notes) with the notes of the same form.
  nanobind::list said() {
    std::lock_guard<std::mutex> lock(mutex);
    return toPython(messages);
  }

private:
  struct Message {
    int severity;
    std::string location, text;
    std::vector<Message> notes;
  };

  static void append(MlirStringRef text, void *to) {
    static_cast<std::string *>(to)->append(text.data, text.length);
  }

  static Message copy(MlirDiagnostic diagnostic) {
    Message message;
    message.severity = static_cast<int>(mlirDiagnosticGetSeverity(diagnostic));
    mlirLocationPrint(mlirDiagnosticGetLocation(diagnostic), append, &message.location);
    mlirDiagnosticPrint(diagnostic, append, &message.text);
    for (intptr_t note = 0; note < mlirDiagnosticGetNumNotes(diagnostic); ++note)
      message.notes.push_back(copy(mlirDiagnosticGetNote(diagnostic, note)));
    return message;
  }

  static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *self) {
    auto *collector = static_cast<DiagnosticCollector *>(self);
    Message message = copy(diagnostic);
    std::lock_guard<std::mutex> lock(collector->mutex);
    collector->messages.push_back(std::move(message));
    return mlirLogicalResultSuccess();
  }

  static nanobind::list toPython(const std::vector<Message> &messages) {
    auto bytes = [](const std::string &text) { return nanobind::bytes(text.data(), text.size()); };
    nanobind::list result;
    for (const Message &message : messages)
      result.append(nanobind::make_tuple(message.severity, bytes(message.location),
                                         bytes(message.text), toPython(message.notes)));
    return result;
  }

  MlirContext context;
  std::mutex mutex;
  std::vector<Message> messages;
  MlirDiagnosticHandlerID id;
  bool attached = true;
};

#endif // XETILE_BINDINGS_DIAGNOSTICCOLLECTOR_H
