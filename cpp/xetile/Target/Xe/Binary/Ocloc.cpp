//===- Ocloc.cpp - run Intel's offline compiler -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: SPIR-V and a device name. Out: the device's ELF file, its spills and registers.
// Refused: whatever ocloc refuses, with its log; results that no driver would load.
#include "xetile/Target/Xe/Binary/Ocloc.h"
#include "common/CacheDirectory.h"
#include "xetile/Target/Xe/Binary/ScratchFolder.h"
#include "xetile/Target/Xe/Binary/Supervise.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <variant>

using namespace llvm;
using namespace xetile;

namespace {

constexpr unsigned kDefaultSeconds = 600, kMostSeconds = 1000000;
constexpr uint64_t kMostLogBytes = 1 << 14;
constexpr const char kTimeout[] = "XETILE_OCLOC_TIMEOUT";

std::string readFile(const std::string &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file ? (*file)->getBuffer().str() : std::string();
}

/// Text that diagnostics can carry: what is not UTF-8, and control characters, as \xNN.
std::string toUtf8(StringRef bytes) {
  std::string text;
  raw_string_ostream os(text);
  while (!bytes.empty()) {
    auto *begin = reinterpret_cast<const UTF8 *>(bytes.data());
    unsigned length = getNumBytesForUTF8(*begin);
    bool isText = length <= bytes.size() && isLegalUTF8Sequence(begin, begin + length);
    if (!isText || (length == 1 && !isPrint(*begin) && *begin != '\n' && *begin != '\t')) {
      os << "\\x" << utohexstr(*begin, /*LowerCase=*/true, /*Width=*/2);
      length = 1;
    } else {
      os << bytes.take_front(length);
    }
    bytes = bytes.drop_front(length);
  }
  return text;
}

/// The end of the log.
std::string readLog(const std::string &path) {
  uint64_t size = 0;
  if (sys::fs::file_size(path, size))
    return {};
  uint64_t skipped = size > kMostLogBytes ? size - kMostLogBytes : 0;
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFileSlice(path, size - skipped, skipped);
  if (!file)
    return {};
  std::string text = toUtf8((*file)->getBuffer().trim());
  return skipped ? "... (" + utostr(skipped) + " bytes before)\n" + text : text;
}

/// The time limit, or what is wrong with it.
std::variant<unsigned, std::string> secondsAllowed() {
  std::string text = fromEnvironment(kTimeout);
  unsigned seconds = kDefaultSeconds;
  if (!text.empty() &&
      (StringRef(text).getAsInteger(10, seconds) || !seconds || seconds > kMostSeconds))
    return (kTimeout + Twine(" is '") + toUtf8(text) + "', expected seconds from 1 to " +
            Twine(kMostSeconds))
        .str();
  return seconds;
}

std::vector<std::string> readAssembly(const std::string &folder) {
  std::vector<std::string> files, texts;
  std::error_code code;
  for (sys::fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code))
    if (sys::path::extension(entry->path()) == ".asm")
      files.push_back(entry->path());
  llvm::sort(files);
  for (const std::string &file : files)
    texts.push_back(toUtf8(readFile(file)));
  return texts;
}

std::optional<std::string> ifExecutable(StringRef path) {
  SmallString<128> absolute(path);
  if (!sys::fs::can_execute(path) || sys::fs::make_absolute(absolute))
    return std::nullopt;
  return absolute.str().str();
}

} // namespace

std::optional<std::string> xetile::findOcloc(StringRef given) {
  if (!given.empty())
    return ifExecutable(given);
  if (std::string chosen = fromEnvironment("XETILE_OCLOC"); !chosen.empty())
    return ifExecutable(chosen);
  if (ErrorOr<std::string> path = sys::findProgramByName("ocloc"))
    return ifExecutable(*path);
  std::string cache = cacheDirectory();
  return cache.empty() ? cache : ifExecutable(cache + "/ocloc/ocloc");
}

std::string xetile::explainNoOcloc(StringRef given) {
  std::string place = given.str(), why;
  if (place.empty()) {
    place = fromEnvironment("XETILE_OCLOC");
    why = " (XETILE_OCLOC)";
  }
  return "ocloc was not found" + (place.empty() ? "" : " at '" + toUtf8(place) + "'" + why) +
         ": run scripts/install-ocloc, put ocloc on PATH, or name it in XETILE_OCLOC";
}

/// One run of ocloc.
static std::optional<std::string> compile(StringRef ocloc, const OclocJob &job, bool largeRegisters,
                                          NativeBinary &result) {
  std::variant<unsigned, std::string> limit = secondsAllowed();
  if (auto *why = std::get_if<std::string>(&limit))
    return *why;
  ScratchFolder folder("xetile-ocloc");
  if (!folder.failure().empty())
    return folder.failure();
  std::string input = folder.file("kernel.spv"), output = folder.file("kernel"),
              log = folder.file("log");
  std::error_code code;
  {
    raw_fd_ostream stream(input, code);
    if (!code) {
      stream << job.spirv;
      stream.close();
      code = stream.error();
      stream.clear_error();
    }
    if (code)
      return "cannot write " + input + ": " + code.message();
  }
  std::vector<std::string> arguments = {
      ocloc.str(), "compile",        "-spirv_input", "-file", input,
      "-device",   job.device.str(), "-output",      output,  "-output_no_suffix"};
  SmallVector<StringRef> options;
  if (largeRegisters)
    options.push_back("-ze-opt-large-register-file");
  if (job.lineTables)
    options.push_back("-g");
  if (!options.empty())
    arguments.insert(arguments.end(), {"-options", join(options, " ")});
  // The compiler writes what it made as assembly when it is asked to in this way.
  std::vector<std::string> settings;
  if (job.assembly)
    settings = {"IGC_ShaderDumpEnable=1", "IGC_DumpToCustomDir=" + folder.path()};
  Ending ending = runSupervised(arguments, settings, log, folder.path(), std::get<unsigned>(limit));
  auto failed = [&](const std::string &why) {
    std::string text =
        (toUtf8(ocloc) + " failed for device " + job.device + " (" + why + ")").str();
    if (ending.kind == Ending::TimedOut)
      text += std::string("; ") + kTimeout + " sets the limit";
    std::string said = readLog(log);
    return said.empty() ? text : text + "\n" + said;
  };
  if (!ending.succeeded())
    return failed(ending.str());
  result.bytes = readFile(output + ".bin");
  if (result.bytes.empty())
    return failed(ending.str() + ", but it wrote nothing");
  if (auto why = readNativeElf(result.bytes, job.kernels, result))
    return "machine code for device " + job.device.str() + " cannot be used: " + *why;
  if (job.assembly)
    result.assembly = readAssembly(folder.path());
  return std::nullopt;
}

std::optional<std::string> xetile::runOcloc(StringRef ocloc, const OclocJob &job,
                                            NativeBinary &result) {
  if (auto why = compile(ocloc, job, job.registers == RegisterFile::Large, result))
    return why;
  if (job.registers != RegisterFile::Auto || result.spillBytes == 0)
    return std::nullopt;
  NativeBinary large;
  if (auto why = compile(ocloc, job, /*largeRegisters=*/true, large))
    return why;
  if (large.spillBytes < result.spillBytes)
    result = std::move(large);
  return std::nullopt;
}
