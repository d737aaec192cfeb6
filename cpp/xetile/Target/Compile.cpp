//===- Compile.cpp - xetile-compile: one walk for all targets -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the name of a target, levels, the target's options, as text. Out: the passes between the
// levels. Refused: unknown targets, levels and options, with the list of those there are; a walk
// back; schedules where none is applied, or none where only a schedule leads on.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Compile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "xetile/Target/Passes.h"
#include "xetile/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xetile;

namespace {

constexpr StringLiteral kPipeline = "xetile-compile";

/// Options of the walk itself.
struct WalkOptions : TargetOptions {
  Option<std::string> target{*this, "target", llvm::cl::desc("What to compile for"),
                             llvm::cl::init("pvc")};
  Option<std::string> from{
      *this, "from",
      llvm::cl::desc("Level of the input (default: the first one that needs no schedule)")};
  Option<std::string> to{*this, "to", llvm::cl::desc("Level to reach (default: the last)")};
  ListOption<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc(
          "Files and folders of transform ops that lead from level 0 to level 1; the "
          "folder `parts` and files of declared sequences beside a file are among them")};
  ListOption<std::string> set{
      *this, "set", llvm::cl::desc("Values of the schedule's parameters, each name=value")};
};

struct Walk {
  WalkOptions own;
  std::unique_ptr<TargetOptions> options;
  const Target *target = nullptr;
  unsigned from = 0, to = 0;

  Problem read(StringRef text);
  void addPasses(OpPassManager &pm) const;

private:
  Problem readParts(ArrayRef<StringRef> parts);
  Problem readLevels();
  Problem readLevel(StringRef option, StringRef name, unsigned &level) const;
  bool hasSchedule() const { return !own.schedule.empty(); }
};

/// `a=1 b={x y} c` in its parts, as upstream's options do it: quotes and braces hold them together.
SmallVector<StringRef> splitOptions(StringRef text) {
  SmallVector<StringRef> parts;
  size_t begin = 0, depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ' ' && depth == 0)) {
      if (StringRef part = text.slice(begin, i).trim(); !part.empty())
        parts.push_back(part);
      begin = i + 1;
    } else if (text[i] == '\'' || text[i] == '"') {
      size_t end = text.find(text[i], i + 1);
      i = end == StringRef::npos ? i : end;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && depth > 0) {
      --depth;
    }
  }
  return parts;
}

StringRef nameOf(StringRef part) { return part.split('=').first.trim(); }

/// Reads one option.
Problem readOption(TargetOptions &options, StringRef part) {
  std::string said;
  llvm::raw_string_ostream stream(said);
  if (succeeded(options.parseFromString(part, stream)))
    return std::nullopt;
  auto [name, value] = part.split('=');
  return ("option " + name + " does not take '" + value + "': " + options.describe(name)).str();
}

std::string listLevels(const Target &target) {
  return llvm::join(llvm::map_range(target.levels, [](const Level &level) { return level.name; }),
                    ", ");
}

Problem Walk::readParts(ArrayRef<StringRef> parts) {
  auto isOwn = [&](StringRef part) { return llvm::is_contained(own.names(), nameOf(part)); };
  for (StringRef part : llvm::make_filter_range(parts, isOwn))
    if (Problem why = readOption(own, part))
      return why;
  Result<const Target *> found = findTarget(own.target);
  if (!found)
    return found.error().message;
  target = *found;
  options = target->makeOptions();
  for (StringRef part : parts) {
    if (isOwn(part))
      continue;
    if (!llvm::is_contained(options->names(), nameOf(part))) {
      std::vector<StringRef> known = options->names();
      llvm::append_range(known, own.names());
      return ("target '" + target->name + "' has no option '" + nameOf(part) +
              "', expected one of " + llvm::join(known, ", "))
          .str();
    }
    if (hasSchedule() && llvm::is_contained(target->tilingOptions, nameOf(part)))
      return ("option " + part +
              " is for the passes that the option schedule replaces: expected "
              "one of the two, or a parameter of the schedule (set=name=value)")
          .str();
    if (Problem why = readOption(*options, part))
      return why;
  }
  // Levels after a schedule's share loops that it left among as many threads.
  for (const std::string &value : own.set)
    if (StringRef(value).starts_with("threads=") && llvm::is_contained(options->names(), "threads"))
      if (Problem why = readOption(*options, value))
        return why;
  return std::nullopt;
}

Problem Walk::readLevel(StringRef option, StringRef name, unsigned &level) const {
  if (std::optional<unsigned> found = target->findLevel(name)) {
    level = *found;
    return std::nullopt;
  }
  return ("option " + option + ": target '" + target->name + "' has no level '" + name +
          "', expected one of " + listLevels(*target))
      .str();
}

Problem Walk::readLevels() {
  from = target->needsSchedule() && !hasSchedule() ? 1 : 0;
  to = target->levels.size() - 1;
  if (!own.from.empty())
    if (Problem why = readLevel("from", own.from, from))
      return why;
  if (!own.to.empty())
    if (Problem why = readLevel("to", own.to, to))
      return why;
  const std::vector<Level> &levels = target->levels;
  if (from > to)
    return ("level " + levels[from].name + " is behind " + levels[to].name +
            ": expected from and to in the order " + listLevels(*target))
        .str();
  if (hasSchedule() && (from > 0 || to < 1))
    return ("option schedule leads from " + levels[0].name + " to " + levels[1].name +
            ", which are not on the way from " + levels[from].name + " to " + levels[to].name)
        .str();
  if (!hasSchedule() && from == 0 && to > 0 && target->needsSchedule())
    return ("only a schedule leads from " + levels[0].name + " to " + levels[1].name +
            " of target '" + target->name + "': expected schedule=FILE, or from=" + levels[1].name)
        .str();
  for (const std::string &value : own.set)
    if (!hasSchedule() || nameOf(value) == "target")
      return "option set=" + value + ": expected " +
             (hasSchedule() ? "the option target instead" : "it beside schedule=FILE");
  return std::nullopt;
}

Problem Walk::read(StringRef text) {
  if (Problem why = readParts(splitOptions(text)))
    return why;
  return readLevels();
}

void Walk::addPasses(OpPassManager &pm) const {
  bool begun = !target->begin;
  for (unsigned level = from == 0 ? 0 : from + 1; level <= to; ++level) {
    if (level == 1 && hasSchedule()) {
      ApplyScheduleOptions schedule;
      schedule.files.assign(own.schedule.begin(), own.schedule.end());
      schedule.values.assign(own.set.begin(), own.set.end());
      schedule.target = target->name;
      pm.addPass(createApplySchedule(schedule));
      continue;
    }
    if (level > 1 && !begun) {
      target->begin(pm, *options);
      begun = true;
    }
    if (const AddPasses &add = target->levels[level].addPasses)
      add(pm, *options);
  }
}

/// The value as part of a pipeline's text, or nothing if it would end elsewhere.
std::optional<std::string> quote(StringRef value) {
  if (!value.empty() && value.find_first_of(" {}'\"") == StringRef::npos)
    return value.str();
  std::string quoted = ("{" + value + "}").str();
  SmallVector<StringRef> parts = splitOptions("x=" + quoted + " y");
  return parts.size() == 2 && parts[1] == "y" ? std::optional(quoted) : std::nullopt;
}

/// For help: the walk's options and those of all targets, alike ones once.
void showOptions(function_ref<void(const mlir::detail::PassOptions &)> show) {
  std::vector<std::unique_ptr<TargetOptions>> groups;
  groups.push_back(std::make_unique<WalkOptions>());
  for (const Target *target : registeredTargets()) {
    std::unique_ptr<TargetOptions> group = target->makeOptions();
    if (llvm::none_of(groups, [&](auto &other) { return other->names() == group->names(); }))
      groups.push_back(std::move(group));
  }
  // The last group sets the width of the column: the widest comes last.
  llvm::sort(groups, [](auto &left, auto &right) {
    return left->getOptionWidth() < right->getOptionWidth();
  });
  for (const auto &group : groups)
    show(*group);
}

} // namespace

std::optional<std::string>
xetile::describeLevels(StringRef target, ArrayRef<std::pair<std::string, std::string>> options,
                       std::vector<LevelStep> &steps) {
  // Options of the schedule concern level 1 alone.
  std::string common, scheduling;
  for (const auto &[name, value] : options) {
    if (llvm::is_contained({"target", "from", "to"}, name))
      return "option " + name + ": expected options of the levels, all of which are described";
    std::optional<std::string> quoted = quote(value);
    if (!quoted || name.find_first_of(" ={}'\"") != std::string::npos)
      return "option " + name + "=" + value + ": expected braces and quotes in pairs";
    bool isScheduling = name == "schedule" || name == "set";
    (isScheduling ? scheduling : common) += " " + name + "=" + *quoted;
  }
  Walk walk;
  if (Problem why = walk.read(("target=" + target + common + scheduling).str()))
    return why;
  const std::vector<Level> &levels = walk.target->levels;
  for (auto [number, level] : llvm::enumerate(levels)) {
    std::string pipeline;
    if (number != 1 || level.addPasses || !scheduling.empty())
      pipeline = (kPipeline + "{target=" + walk.target->name +
                  " from=" + levels[number == 0 ? 0 : number - 1].name + " to=" + level.name +
                  common + (number == 1 ? scheduling : std::string()) + "}")
                     .str();
    steps.push_back({level.name, level.action, pipeline});
  }
  return std::nullopt;
}

void xetile::registerCompilePipeline() {
  registerPassPipeline(
      kPipeline, "Take a module through the levels of a target, by default to its last one",
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const Twine &)> errorHandler) -> LogicalResult {
        Walk walk;
        if (Problem why = walk.read(text))
          return errorHandler(kPipeline + Twine(": ") + *why);
        walk.addPasses(pm);
        return success();
      },
      showOptions);
}
