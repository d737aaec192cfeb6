//===- HoverDocuments.cpp - What definitions say, in hovers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input: messages of MLIR's language server, each behind a line `Content-Length: N`. Output: the
// same, but a hover on an operation has the text of its definition below upstream's.
// Nothing is refused: what is no message goes on as it is.
#include "HoverDocuments.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <sys/types.h>
#include <system_error>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <utility>

using llvm::StringRef;

static constexpr StringRef kHead = "Content-Length: ";
static constexpr StringRef kBlank = "\r\n\r\n";

xetile::HoverDocuments::HoverDocuments(StringRef folder) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator page(folder, error), end; page != end && !error;
       page.increment(error))
    if (llvm::sys::path::extension(page->path()) == ".md")
      read(page->path());
}

void xetile::HoverDocuments::read(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return;
  StringRef rest = (*file)->getBuffer();
  while (!rest.empty()) {
    // `### `xetile.load_tile` (xetile::LoadTileOp)`, up to the next heading of as many # or less.
    StringRef part;
    std::tie(part, rest) = rest.split("\n### `");
    auto [name, behind] = part.split('`');
    StringRef text = behind.split('\n').second.split("\n## ").first.trim();
    if (name.contains('.') && !name.contains(' ') && !text.empty())
      parts[name] = text.str();
  }
}

StringRef xetile::HoverDocuments::of(StringRef operation) const {
  auto found = parts.find(operation);
  return found == parts.end() ? StringRef() : StringRef(found->second);
}

std::string xetile::HoverDocuments::complete(StringRef message) const {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(message);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return message.str();
  }
  llvm::json::Object *whole = parsed->getAsObject();
  llvm::json::Object *result = whole ? whole->getObject("result") : nullptr;
  llvm::json::Object *contents = result ? result->getObject("contents") : nullptr;
  std::optional<StringRef> value = contents ? contents->getString("value") : std::nullopt;
  if (!value || !value->starts_with("\""))
    return message.str();
  StringRef text = of(value->split('"').second.split('"').first);
  if (text.empty())
    return message.str();
  (*contents)["value"] = (*value + "\n***\n" + text).str();
  std::string changed;
  llvm::raw_string_ostream(changed) << *parsed;
  return changed;
}

/// Writes the messages that `taken` has as a whole, and keeps the rest.
static void forward(std::string &taken, const xetile::HoverDocuments &documents,
                    llvm::raw_ostream &out) {
  StringRef rest = taken;
  while (!rest.empty()) {
    if (!rest.starts_with(kHead)) {
      if (kHead.starts_with(rest))
        break;
      size_t text = std::min(rest.find(kHead), rest.size());
      out << rest.take_front(text);
      rest = rest.drop_front(text);
      continue;
    }
    size_t length = 0;
    size_t head = rest.find(kBlank);
    if (head == StringRef::npos)
      break;
    if (rest.slice(kHead.size(), head).getAsInteger(10, length)) {
      out << rest.take_front(head);
      rest = rest.drop_front(head);
      continue;
    }
    size_t begin = head + kBlank.size();
    if (rest.size() - begin < length)
      break;
    std::string message = documents.complete(rest.substr(begin, length));
    out << kHead << message.size() << kBlank << message;
    rest = rest.drop_front(begin + length);
  }
  out.flush();
  taken = rest.str();
}

xetile::HoverFilter::HoverFilter(StringRef folder) : documents(folder) {
  std::array<int, 2> ends = {};
  int out = dup(STDOUT_FILENO);
  // Without them the server answers as upstream's does.
  if (out < 0 || pipe(ends.data()) || dup2(ends[1], STDOUT_FILENO) < 0)
    return;
  close(ends[1]);
  pump = std::thread([this, from = ends[0], out] {
    llvm::raw_fd_ostream stream(out, /*shouldClose=*/true);
    std::string taken;
    std::array<char, 65536> bytes = {};
    while (true) {
      ssize_t count = ::read(from, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        break;
      taken.append(bytes.data(), static_cast<size_t>(count));
      forward(taken, documents, stream);
    }
    stream << taken;
  });
}

xetile::HoverFilter::~HoverFilter() {
  if (!pump.joinable())
    return;
  llvm::outs().flush();
  close(STDOUT_FILENO);
  pump.join();
}
