//===- Ocloc.cpp - run Intel's offline compiler -----------------------------===//
// In: SPIR-V and a device name. Out: the device's ELF file, its spills and registers.
// Refused: whatever ocloc refuses, with its log.
#include "xetile/Binary/Ocloc.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace xetile;

namespace {

std::string cachedOcloc() {
  SmallString<128> path;
  if (std::optional<std::string> cache = sys::Process::GetEnv("XETILE_CACHE");
      cache && !cache->empty()) {
    path = *cache;
  } else {
    if (std::optional<std::string> xdg = sys::Process::GetEnv("XDG_CACHE_HOME");
        xdg && !xdg->empty())
      path = *xdg;
    else if (sys::path::home_directory(path))
      sys::path::append(path, ".cache");
    sys::path::append(path, "xetile");
  }
  sys::path::append(path, "ocloc", "ocloc");
  return path.str().str();
}

std::string readFile(const Twine &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file ? (*file)->getBuffer().str() : std::string();
}

/// The largest "key: number" in the YAML text of section .ze_info.
int64_t largest(StringRef info, StringRef key) {
  int64_t result = 0, value;
  for (; !info.empty(); info = info.split('\n').second) {
    StringRef line = info.split('\n').first.ltrim(" -");
    if (line.consume_front(key) && line.consume_front(":") && !line.trim().getAsInteger(10, value))
      result = std::max(result, value);
  }
  return result;
}

/// Functions that machine code calls and no one defines: ocloc leaves what it does not know to a
/// linking step that there is none of. Intel's own placeholders are filled by the driver.
SmallVector<std::string> undefinedFunctions(const object::ELF64LEFile &file,
                                            object::ELF64LE::ShdrRange sections) {
  SmallVector<std::string> undefined;
  for (const object::ELF64LE::Shdr &section : sections) {
    if (section.sh_type != ELF::SHT_SYMTAB)
      continue;
    Expected<object::ELF64LE::SymRange> symbols = file.symbols(&section);
    Expected<StringRef> names = file.getStringTableForSymtab(section);
    if (!symbols || !names) {
      consumeError(symbols.takeError());
      consumeError(names.takeError());
      continue;
    }
    for (const object::ELF64LE::Sym &symbol : *symbols) {
      Expected<StringRef> name = symbol.getName(*names);
      if (!name)
        consumeError(name.takeError());
      else if (symbol.isUndefined() && !name->empty() && !name->starts_with("__INTEL_"))
        undefined.push_back(name->str());
    }
  }
  return undefined;
}

/// Reads spills, registers and undefined functions. Unknown formats tell nothing.
SmallVector<std::string> readInfo(NativeBinary &native) {
  Expected<object::ELF64LEFile> file = object::ELF64LEFile::create(native.bytes);
  if (!file) {
    consumeError(file.takeError());
    return {};
  }
  Expected<object::ELF64LE::ShdrRange> sections = file->sections();
  if (!sections) {
    consumeError(sections.takeError());
    return {};
  }
  for (const object::ELF64LE::Shdr &section : *sections) {
    Expected<StringRef> name = file->getSectionName(section);
    if (!name) {
      consumeError(name.takeError());
      continue;
    }
    if (*name != ".ze_info")
      continue;
    Expected<ArrayRef<uint8_t>> content = file->getSectionContents(section);
    if (!content) {
      consumeError(content.takeError());
      continue;
    }
    StringRef text(reinterpret_cast<const char *>(content->data()), content->size());
    native.spillBytes = largest(text, "spill_size");
    native.registers = largest(text, "grf_count");
  }
  return undefinedFunctions(*file, *sections);
}

} // namespace

std::optional<std::string> xetile::findOcloc(StringRef given) {
  if (!given.empty())
    return sys::fs::can_execute(given) ? std::optional(given.str()) : std::nullopt;
  if (std::optional<std::string> path = sys::Process::GetEnv("XETILE_OCLOC");
      path && !path->empty())
    return sys::fs::can_execute(*path) ? path : std::nullopt;
  if (ErrorOr<std::string> path = sys::findProgramByName("ocloc"))
    return *path;
  std::string cached = cachedOcloc();
  return sys::fs::can_execute(cached) ? std::optional(cached) : std::nullopt;
}

std::optional<std::string> xetile::runOcloc(StringRef ocloc, StringRef spirv, StringRef device,
                                            StringRef options, NativeBinary &result) {
  SmallString<128> directory;
  if (std::error_code code = sys::fs::createUniqueDirectory("xetile-ocloc", directory))
    return "cannot make a temporary directory: " + code.message();
  scope_exit cleanup([&] { sys::fs::remove_directories(directory); });
  auto inDirectory = [&](StringRef name) {
    SmallString<128> path(directory);
    sys::path::append(path, name);
    return path.str().str();
  };
  std::string input = inDirectory("kernel.spv"), output = inDirectory("kernel"),
              log = inDirectory("log");
  std::error_code code;
  {
    raw_fd_ostream stream(input, code);
    if (!code)
      stream << spirv;
    if (code || stream.has_error())
      return "cannot write " + input;
  }
  SmallVector<StringRef> arguments = {ocloc,  "compile",          "-spirv_input", "-file",
                                      input,  "-device",          device,         "-output",
                                      output, "-output_no_suffix"};
  if (!options.empty())
    arguments.append({"-options", options});
  std::string message;
  const std::optional<StringRef> redirects[] = {StringRef(), StringRef(log), StringRef(log)};
  int status = sys::ExecuteAndWait(ocloc, arguments, std::nullopt, redirects, 0, 0, &message);
  result.bytes = readFile(output + ".bin");
  if (status != 0 || result.bytes.empty())
    return (ocloc + " failed for device " + device + " (status " + Twine(status) + ")").str() +
           (message.empty() ? "" : ": " + message) + "\n" + StringRef(readFile(log)).trim().str();
  SmallVector<std::string> undefined = readInfo(result);
  if (!undefined.empty())
    return ("machine code for device " + device +
            " calls functions that the driver does not have: ")
               .str() +
           llvm::join(undefined, ", ");
  return std::nullopt;
}
