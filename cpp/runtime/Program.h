// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Program.h: SPIR-V modules as programs of a device.
// Input: SPIR-V binaries; output: built programs and their kernels, shared by everyone who loads
// the same module. Refused: SPIR-V that the device or the parser rejects (with the build log),
// unknown imports, unknown kernel names.
#ifndef XETILE_RUNTIME_PROGRAM_H
#define XETILE_RUNTIME_PROGRAM_H

#include "AccessFlow.h"
#include "AccessRanges.h"
#include "CompileTime.h"
#include "Device.h"
#include "SpirvModule.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace xetile::runtime {

class Program;
struct BrokenMessage;
/// Where a 2D block message stands in the source, " at FILE:LINE"; "" if that is not known.
using Whereabouts = std::function<std::string(const BrokenMessage &)>;

/// Of launches that access the same bytes of their arrays: one had no error; or a proof has shown
/// that they lie within.
enum class Known { Nothing, Seen, Proven };

class LaunchKinds {
public:
  Known operator[](const std::string &kind);
  void set(const std::string &kind, Known known);

private:
  std::mutex mutex;
  std::map<std::string, Known> kinds;
};

/// A kernel of a program; lives as long as the program.
struct Kernel {
  Program *program;
  const SpirvKernel *declaration;
  cl_kernel handle;
  AccessFlow flow{};
  /// Of checked launches: it did not write all of an array that it only writes to.
  std::atomic<bool> leavesSome{false};
  LaunchKinds kinds{};
  /// Of the last checked launch: a run takes less time than copies of what it reads.
  std::atomic<bool> copiesTakeLonger{false};
};

/// The use that a module is built for.
struct ProgramForm {
  bool checksPrefetches = false, checksLaunches = false;
  /// Accesses tell their lines.
  bool tellsLines = false;
  SubgroupOrder order = SubgroupOrder::AsDriven;
  Subgroups subgroups = Subgroups::Whole;
};

class Program {
public:
  Program(Device &device, std::shared_ptr<const SpirvModule> module, cl_program handle,
          const std::string &builtins, const ProgramForm &form)
      : target(device), parsed(std::move(module)), clProgram(handle), form(form),
        checksPrefetches(has(builtins, "xt_take_record")),
        hasAssertions(has(builtins, "xt_take_assertion")),
        checksSurfaces(has(builtins, "xt_take_surfaces")) {}
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  Device &device() { return target; }
  /// Throws an Error that lists the kernels there are.
  Kernel *kernel(const std::string &name);
  /// After a launch: throws an Error if an assertion failed, if prefetches are checked and one
  /// points nowhere, or if 2D block messages are checked and one breaks a rule.
  void examine(cl_command_queue queue, const std::string &kernel, const Whereabouts &where = {});
  /// True if 2D block messages are checked, and there are some.
  bool examinesSurfaces() const { return checksSurfaces; }

  /// The same with workgroups and their subgroups in the other order, built when it is asked for,
  /// as a kernel with an error may never need it; null unless launches are checked.
  Program *reversed();
  bool hasReversed() const { return checked != nullptr; }
  /// The module, if launches are checked.
  void setChecked(std::shared_ptr<const std::vector<unsigned char>> binary) {
    checked = std::move(binary);
  }
  /// The same with calls that look for the line of an access (AccessLines.h), built when it is
  /// asked for; null if the module has no lines, or launches are not checked.
  Program *locator();
  /// The same for workgroups whose subgroups are not all whole, built when it is asked for; this
  /// one where the device takes the module as it is.
  Program &partial();
  /// The module that the other forms are built from; none where it is taken as it is.
  void setSource(std::shared_ptr<const std::vector<unsigned char>> binary) {
    source = std::move(binary);
  }
  void setFlows(std::map<std::string, AccessFlow> kernelFlows) { flows = std::move(kernelFlows); }
  /// Null unless launches are checked.
  const AccessRanges *ranges() const { return accessRanges.get(); }
  void setRanges(std::unique_ptr<AccessRanges> ranges) { accessRanges = std::move(ranges); }
  const std::vector<std::string> &lines() const { return sourceLines; }
  void setLines(std::vector<std::string> texts) { sourceLines = std::move(texts); }
  cl_program handle() const { return clProgram; }

private:
  static bool has(const std::string &builtins, const char *kernel) {
    return builtins.find(kernel) != std::string::npos;
  }

  Device &target;
  std::shared_ptr<const SpirvModule> parsed;
  cl_program clProgram;
  ProgramForm form;
  bool checksPrefetches, hasAssertions, checksSurfaces;
  std::shared_ptr<Program> mirror, located, general;
  bool wasLocated = false;
  std::shared_ptr<const std::vector<unsigned char>> source, checked;
  std::vector<std::string> sourceLines;
  /// If launches are checked.
  std::map<std::string, AccessFlow> flows;
  std::unique_ptr<AccessRanges> accessRanges;
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
};

/// The handle of mgpuModuleLoad: the binary, and its program on each device that it was used on.
class Module {
public:
  Module(const void *data, size_t size);
  /// Builds it, or finds it in this process or on disk.
  Program &programFor(Device &device);

private:
  std::shared_ptr<const std::vector<unsigned char>> spirv;
  std::string hash;
  std::shared_ptr<const SpirvModule> parsed;
  std::map<Device *, std::shared_ptr<Program>> programs;
};

/// The Flavour that XETILE_BUILTINS=portable|lockstep asks for, else the one that suits the device.
enum class Flavour;
Flavour flavourFor(const DeviceInfo &device);

struct BuildCounters {
  uint64_t built = 0, diskHits = 0, memoryHits = 0, lastNanoseconds = 0;
};
BuildCounters buildCounters();

/// A program of OpenCL C of this runtime's own, kept on disk as others are. The caller's to
/// release.
cl_program buildFromSource(Device &device, const std::string &text);

} // namespace xetile::runtime
#endif
