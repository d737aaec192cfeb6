// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Program.cpp: SPIR-V modules as programs of a device.
// Input: SPIR-V binaries; output: programs with our versions of Intel's builtins linked in where
// the device lacks them. Refused: SPIR-V that the device or the parser rejects (with the build
// log), unknown imports, unknown kernel names.
#include "Program.h"

#include "AccessLines.h"
#include "BuiltinAssert.h"
#include "BuiltinText.h"
#include "Errors.h"
#include "GuardedMemory.h"
#include "PortableSpirv.h"
#include "PrefetchCheck.h"
#include "ProgramCache.h"
#include "Sha256.h"
#include "SurfaceCheck.h"

#include <chrono>
#include <cstdlib>
#include <list>
#include <mutex>
#include <sstream>

namespace xetile::runtime {
namespace {

// Without the vectoriser's remarks, one or more for each function.
std::string buildLog(cl_program program, cl_device_id device) {
  size_t size = 0;
  if (!program ||
      clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
          CL_SUCCESS ||
      !size)
    return "(empty)";
  std::string log(size, '\0');
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) !=
      CL_SUCCESS)
    return "(empty)";
  std::istringstream lines(log.c_str());
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (line.compare(0, 7, "remark:") != 0)
      text += line + "\n";
  return text.empty() ? "(empty)" : text;
}

class OwnedProgram {
public:
  explicit OwnedProgram(cl_program program = nullptr) : program(program) {}
  ~OwnedProgram() {
    if (program)
      clReleaseProgram(program);
  }
  OwnedProgram(const OwnedProgram &) = delete;
  OwnedProgram &operator=(const OwnedProgram &) = delete;
  cl_program get() const { return program; }
  cl_program release() {
    cl_program result = program;
    program = nullptr;
    return result;
  }

private:
  cl_program program;
};

void checkBuild(cl_int status, cl_program program, const DeviceInfo &device,
                const std::string &what) {
  if (status != CL_SUCCESS)
    throw Error(what + " for '" + device.name + "' failed: " + statusName(status) +
                    ". Check the kernel with spirv-val; if it is valid, choose another device with "
                    "XETILE_DEVICE",
                buildLog(program, device.id));
}

cl_program buildFromSpirv(Device &device, const unsigned char *spirv, size_t size,
                          const std::string &builtins) {
  const DeviceInfo &info = device.info();
  if (!info.spirv)
    throw Error("the device '" + info.name +
                "' takes no SPIR-V. Choose another device with XETILE_DEVICE");
  cl_int status = CL_SUCCESS;
  OwnedProgram kernel(clCreateProgramWithIL(device.context(), spirv, size, &status));
  check(status, "reading the kernel's SPIR-V on '" + info.name + "'",
        "Check it with spirv-val; the device takes " + deviceText(info.id, CL_DEVICE_IL_VERSION));
  if (builtins.empty()) {
    checkBuild(clBuildProgram(kernel.get(), 1, &info.id, "", nullptr, nullptr), kernel.get(), info,
               "building the kernel");
    return kernel.release();
  }
  checkBuild(clCompileProgram(kernel.get(), 1, &info.id, "", 0, nullptr, nullptr, nullptr, nullptr),
             kernel.get(), info, "compiling the kernel's SPIR-V");
  const char *text = builtins.c_str();
  OwnedProgram ours(clCreateProgramWithSource(device.context(), 1, &text, nullptr, &status));
  check(status, "reading the builtins on '" + info.name + "'");
  checkBuild(clCompileProgram(ours.get(), 1, &info.id, "-cl-std=CL3.0", 0, nullptr, nullptr,
                              nullptr, nullptr),
             ours.get(), info, "compiling the runtime's versions of Intel's builtins");
  cl_program inputs[] = {kernel.get(), ours.get()};
  OwnedProgram linked(
      clLinkProgram(device.context(), 1, &info.id, "", 2, inputs, nullptr, nullptr, &status));
  checkBuild(status, linked.get(), info,
             "linking the kernel with the runtime's versions of Intel's builtins");
  return linked.release();
}

std::vector<unsigned char> binaryOf(cl_program program) {
  size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) !=
          CL_SUCCESS ||
      !size)
    return {};
  std::vector<unsigned char> binary(size);
  unsigned char *pointer = binary.data();
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr) !=
      CL_SUCCESS)
    return {};
  return binary;
}

// Null if the driver does not take the binary: then it is of another driver, whatever its key says.
cl_program buildFromBinary(Device &device, const std::vector<unsigned char> &binary) {
  const unsigned char *data = binary.data();
  size_t size = binary.size();
  cl_int status = CL_SUCCESS, binaryStatus = CL_SUCCESS;
  OwnedProgram program(clCreateProgramWithBinary(device.context(), 1, &device.info().id, &size,
                                                 &data, &binaryStatus, &status));
  if (status != CL_SUCCESS || binaryStatus != CL_SUCCESS ||
      clBuildProgram(program.get(), 1, &device.info().id, "", nullptr, nullptr) != CL_SUCCESS)
    return nullptr;
  return program.release();
}

struct Shared {
  std::mutex mutex;
  BuildCounters counters;
  /// By device and hash. Also keeps the most recently used programs alive when no module uses them:
  /// host code unloads and loads the same module again and again.
  std::map<std::pair<Device *, std::string>, std::weak_ptr<Program>> programs;
  std::list<std::shared_ptr<Program>> recent;
};
constexpr size_t maxRecent = 32;

Shared &shared() {
  static auto *state = new Shared;
  return *state;
}

void touch(Shared &state, const std::shared_ptr<Program> &program) {
  state.recent.remove(program);
  state.recent.push_front(program);
  if (state.recent.size() > maxRecent)
    state.recent.pop_back();
}

/// From the disk, if it is there.
cl_program load(Device &device, const unsigned char *code, size_t size, const std::string &builtins,
                BuildCounters &counters) {
  std::string key = programKey(device.info(), code, size, builtins);
  cl_program handle = nullptr;
  if (std::optional<std::vector<unsigned char>> binary = loadProgram(key)) {
    handle = buildFromBinary(device, *binary);
    if (handle)
      ++counters.diskHits;
    else
      dropProgram(key);
  }
  if (!handle) {
    handle = buildFromSpirv(device, code, size, builtins);
    ++counters.built;
    if (std::vector<unsigned char> binary = binaryOf(handle); !binary.empty())
      storeProgram(key, binary);
  }
  return handle;
}

/// Null for a module without lines, if these are asked for.
std::shared_ptr<Program> build(Device &device,
                               const std::shared_ptr<const std::vector<unsigned char>> &spirv,
                               const std::shared_ptr<const SpirvModule> &module,
                               const ProgramForm &form, BuildCounters &counters) {
  auto start = std::chrono::steady_clock::now();
  const DeviceInfo &info = device.info();
  PortableSpirv portable;
  std::vector<std::string> lines;
  std::map<std::string, AccessFlow> flows;
  std::unique_ptr<AccessRanges> ranges;
  std::shared_ptr<const SpirvModule> taken = module;
  const unsigned char *code = spirv->data();
  size_t size = spirv->size();
  // Drivers of GPUs take what GPUs have; without 2D blocks, those of payloads need another form.
  bool rewritten = !info.isGpu() || !info.nativeBlockIo;
  if (rewritten) {
    portable = makePortable(code, size, form.order);
    if (form.tellsLines) {
      LinedSpirv lined = noteAccesses(portable.words);
      portable.words = std::move(lined.words);
      lines = std::move(lined.lines);
    }
    if (form.checksLaunches) {
      flows = accessFlows(portable.words);
      ranges = std::make_unique<AccessRanges>(portable.words);
    }
    portable = shortenCompilation(portable.words, form.subgroups);
    code = reinterpret_cast<const unsigned char *>(portable.words.data());
    size = portable.words.size() * sizeof(uint32_t);
    taken = std::make_shared<const SpirvModule>(SpirvModule::parse(code, size));
  }
  if (form.tellsLines && lines.empty())
    return nullptr;
  // In both orders the same messages are sent.
  std::string builtins = generateBuiltins(
      *taken, {info.nativeBlockIo, info.nativeDpas}, flavourFor(info), form.checksPrefetches,
      form.checksLaunches && form.order == SubgroupOrder::AsDriven);
  cl_program handle = load(device, code, size, builtins, counters);
  std::chrono::nanoseconds duration = std::chrono::steady_clock::now() - start;
  counters.lastNanoseconds = static_cast<uint64_t>(duration.count());
  auto program = std::make_shared<Program>(device, module, handle, builtins, form);
  program->setLines(std::move(lines));
  program->setFlows(std::move(flows));
  program->setRanges(std::move(ranges));
  if (rewritten)
    program->setSource(spirv);
  if (form.checksLaunches && form.order == SubgroupOrder::AsDriven)
    program->setChecked(spirv);
  return program;
}

} // namespace

cl_program buildFromSource(Device &device, const std::string &text) {
  const DeviceInfo &info = device.info();
  std::string key = programKey(info, text.data(), text.size(), "");
  if (std::optional<std::vector<unsigned char>> binary = loadProgram(key)) {
    if (cl_program program = buildFromBinary(device, *binary))
      return program;
    dropProgram(key);
  }
  cl_int status = CL_SUCCESS;
  const char *source = text.c_str();
  OwnedProgram program(clCreateProgramWithSource(device.context(), 1, &source, nullptr, &status));
  check(status, "reading a kernel of the runtime's own on '" + info.name + "'");
  checkBuild(clBuildProgram(program.get(), 1, &info.id, "-cl-std=CL3.0", nullptr, nullptr),
             program.get(), info, "building a kernel of the runtime's own");
  if (std::vector<unsigned char> binary = binaryOf(program.get()); !binary.empty())
    storeProgram(key, binary);
  return program.release();
}

Flavour flavourFor(const DeviceInfo &device) {
  const char *chosen = std::getenv("XETILE_BUILTINS");
  std::string name = chosen ? chosen : "";
  if (name == "portable")
    return Flavour::Portable;
  if (name == "lockstep" || name.empty()) {
    if (!name.empty() && !device.runsLockstep())
      throw Error("XETILE_BUILTINS=lockstep needs Intel's OpenCL CPU runtime; unset it for '" +
                  device.name + "'");
    return device.runsLockstep() ? Flavour::Lockstep : Flavour::Portable;
  }
  throw Error("XETILE_BUILTINS='" + name + "' is neither 'portable' nor 'lockstep'");
}

Known LaunchKinds::operator[](const std::string &kind) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = kinds.find(kind);
  return found == kinds.end() ? Known::Nothing : found->second;
}

void LaunchKinds::set(const std::string &kind, Known known) {
  constexpr size_t most = 1024;
  std::lock_guard<std::mutex> lock(mutex);
  if (kinds.size() >= most)
    kinds.clear();
  kinds[kind] = known;
}

Program::~Program() {
  for (auto &[name, kernel] : kernels)
    clReleaseKernel(kernel->handle);
  clReleaseProgram(clProgram);
}

Program *Program::locator() {
  std::lock_guard<std::mutex> lock(shared().mutex);
  if (source && !wasLocated) {
    ProgramForm lined;
    lined.tellsLines = true;
    lined.subgroups = form.subgroups;
    located = build(target, source, parsed, lined, shared().counters);
    wasLocated = true;
  }
  return located.get();
}

Program *Program::reversed() {
  std::lock_guard<std::mutex> lock(shared().mutex);
  if (checked && !mirror) {
    ProgramForm other = form;
    other.order = SubgroupOrder::Reversed;
    mirror = build(target, checked, parsed, other, shared().counters);
  }
  return mirror.get();
}

Program &Program::partial() {
  std::lock_guard<std::mutex> lock(shared().mutex);
  if (!source || form.subgroups == Subgroups::Any)
    return *this;
  if (!general) {
    ProgramForm any = form;
    any.subgroups = Subgroups::Any;
    general = build(target, source, parsed, any, shared().counters);
  }
  return *general;
}

void Program::examine(cl_command_queue queue, const std::string &kernel, const Whereabouts &where) {
  if (hasAssertions)
    examineAssertions(target.context(), clProgram, queue, kernel);
  if (checksSurfaces)
    if (std::optional<BrokenMessage> broken = examineSurfaces(target.context(), clProgram, queue))
      throw Error("XETILE_CHECK: the kernel '" + kernel + "' accesses " + broken->what +
                  (where ? where(*broken) : "") + ": " + broken->advice);
  if (checksPrefetches)
    examinePrefetches(target.context(), clProgram, queue, kernel);
}

Kernel *Program::kernel(const std::string &name) {
  std::lock_guard<std::mutex> lock(shared().mutex);
  if (auto found = kernels.find(name); found != kernels.end())
    return found->second.get();
  const SpirvKernel *declaration = parsed->findKernel(name);
  if (!declaration)
    throw Error("the module has no kernel '" + name + "'; it has " + parsed->kernelNames() +
                ". Host code and binary must come from one compilation");
  cl_int status = CL_SUCCESS;
  cl_kernel handle = clCreateKernel(clProgram, name.c_str(), &status);
  check(status, "making the kernel '" + name + "'");
  auto flow = flows.find(name);
  std::unique_ptr<Kernel> &kernel = kernels[name];
  kernel.reset(
      new Kernel{this, declaration, handle, flow == flows.end() ? AccessFlow() : flow->second});
  return kernel.get();
}

Module::Module(const void *data, size_t size) {
  parsed = std::make_shared<const SpirvModule>(SpirvModule::parse(data, size));
  const auto *bytes = static_cast<const unsigned char *>(data);
  spirv = std::make_shared<const std::vector<unsigned char>>(bytes, bytes + size);
  hash = sha256(data, size);
}

Program &Module::programFor(Device &device) {
  Shared &state = shared();
  std::lock_guard<std::mutex> lock(state.mutex);
  std::shared_ptr<Program> &own = programs[&device];
  if (own)
    return *own;
  ProgramForm form;
  form.checksPrefetches = checksPrefetches();
  form.checksLaunches = checksLaunches();
  if (form.checksPrefetches && device.info().nativeBlockIo)
    throw Error("XETILE_CHECK_PREFETCHES=1 needs a device on which this runtime brings Intel's "
                "builtins; unset it for '" +
                device.info().name + "', or choose a CPU with XETILE_DEVICE");
  // Another flavour is another program, and so are other definitions of prefetches.
  auto key = std::make_pair(
      &device, hash + (flavourFor(device.info()) == Flavour::Portable ? "p" : "l") +
                   (form.checksPrefetches ? "c" : "") + (form.checksLaunches ? "g" : ""));
  own = state.programs[key].lock();
  if (own) {
    ++state.counters.memoryHits;
  } else {
    own = build(device, spirv, parsed, form, state.counters);
    state.programs[key] = own;
  }
  touch(state, own);
  return *own;
}

BuildCounters buildCounters() {
  std::lock_guard<std::mutex> lock(shared().mutex);
  return shared().counters;
}

} // namespace xetile::runtime
