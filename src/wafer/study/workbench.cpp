#include "wafer/study/workbench.h"

#include <fmt/format.h>

#include "wafer/base/error.h"
#include "wafer/machine/load.h"
#include "wafer/study/benches.h"
#include "wafer/study/cost.h"

namespace wafer::study {
namespace {

void check_resident(const Question& q) {
  Problems problems;
  for (const std::string& reason : against_resident(q)) problems.add(reason);
  problems.throw_if_any("--mode resident does not suit the question:");
}

[[noreturn]] void refuse_mode(Mode mode) {
  throw InputError(fmt::format("mode {}: not modelled in this version", name_of(mode)));
}

}  // namespace

Workbench::Workbench() : kept_(std::make_unique<Kept>()) {}
Workbench::~Workbench() = default;

const machine::Machine& Workbench::machine(const std::string& name_or_path) {
  const auto found = kept_->machines.find(name_or_path);
  if (found != kept_->machines.end()) return found->second;
  return kept_->machines.emplace(name_or_path, machine::load(name_or_path)).first->second;
}

const machine::Wafer& Workbench::wafer(const std::string& name_or_path) {
  return wafer_of(machine(name_or_path), "weight streaming");
}

uint64_t Workbench::networks_made() const {
  return kept_->streamed.made() + kept_->pipelined.made() + kept_->resident.made() +
         kept_->clusters.made();
}

Result Workbench::answer(const Question& question) {
  check(question);
  return std::visit([&](const auto& kind) { return answer(question, kind); },
                    machine(question.machine));
}

// Weight streaming runs every network. One that generates is read token by token, for which weights
// that stay are the faster, where they fit.
Mode Workbench::mode_on(const Question& q, const machine::Wafer& machine, std::string& reason) {
  if (q.mode == Mode::Resident) check_resident(q);
  if (q.mode != Mode::Auto) return q.mode;
  if (q.cores) {  // it says what is meant
    check_resident(q);
    return Mode::Resident;
  }
  if (q.phase == Phase::Train) return Mode::Streamed;
  if (const std::vector<std::string> against = against_resident(q); !against.empty()) {
    reason = "not resident: " + against.front();
    return Mode::Streamed;
  }
  try {
    const ResidentBench& bench = kept_->resident.of(q);
    if (!bench.compiler.profile().generates) {
      reason = "the network does not generate; --mode resident may still suit it";
      return Mode::Streamed;
    }
    bench.compiler.plan(machine, resident_question(q));
    reason = "the network generates and its weights fit";
    return Mode::Resident;
  } catch (const CapacityError& error) {
    reason = fmt::format("resident weights do not fit: {}", error.what());
  } catch (const InputError& error) {
    reason = fmt::format("not resident: {}", error.what());
  }
  return Mode::Streamed;
}

void Workbench::set_trust(Result& result, const machine::Machine& machine) const {
  Trust known = trust(kept_->coverage, result.situation, machine);
  result.expected_error = known.expected_error;
  result.extrapolated.insert(result.extrapolated.end(), known.extrapolated.begin(),
                             known.extrapolated.end());
}

Result Workbench::answer(const Question& question, const machine::GpuCluster& cluster) {
  check(question);
  check_cluster_question(question);
  Result result = answer_cluster(question, kept_->clusters.of(question), cluster);
  set_trust(result, cluster);
  return result;
}

Result Workbench::answer(const Question& question, const machine::Wafer& machine) {
  check(question);
  check_wafer_question(question);
  std::string reason;
  Result result = [&] {
    switch (const Mode mode = mode_on(question, machine, reason)) {
      case Mode::Resident:
        return answer_resident(question, kept_->resident.of(question), machine);
      case Mode::Streamed:
        return answer_streamed(question, kept_->streamed.of(question), machine);
      case Mode::Pipelined:
        check_pipelined_question(question);
        return answer_pipelined(question, kept_->pipelined.of(question), machine);
      default:
        refuse_mode(mode);
    }
  }();
  result.mode_reason = std::move(reason);
  set_trust(result, machine);
  return result;
}

plan::Plan Workbench::plan(const Question& question) {
  check(question);
  const machine::Machine& any = this->machine(question.machine);
  if (const auto* cluster = std::get_if<machine::GpuCluster>(&any)) {
    check_cluster_question(question);
    return kept_->clusters.of(question).compiler.plan(*cluster, cluster_request(question));
  }
  check_wafer_question(question);
  std::string reason;
  const machine::Wafer& machine = wafer(question.machine);
  switch (const Mode mode = mode_on(question, machine, reason)) {
    case Mode::Resident:
      return kept_->resident.of(question).compiler.plan(machine, resident_question(question));
    case Mode::Streamed:
      return kept_->streamed.of(question).compiler.plan(machine, streamed_request(question));
    case Mode::Pipelined:
      check_pipelined_question(question);
      return kept_->pipelined.of(question).compiler.plan(machine, pipelined_request(question));
    default:
      refuse_mode(mode);
  }
}

plan::Plan Workbench::skeleton(const Question& question, const machine::Wafer& machine) {
  check_wafer_question(question);
  return kept_->streamed.of(question).compiler.skeleton(machine, streamed_request(question));
}

Planned Workbench::planned(const Question& q, const machine::Machine& machine) {
  if (const auto* cluster = std::get_if<machine::GpuCluster>(&machine)) {
    check_cluster_question(q);
    return planned_cluster(q, kept_->clusters.of(q), *cluster);
  }
  check_wafer_question(q);
  std::string reason;
  const auto& wafer = std::get<machine::Wafer>(machine);
  switch (const Mode mode = mode_on(q, wafer, reason)) {
    case Mode::Resident:
      return planned_resident(q, kept_->resident.of(q), wafer);
    case Mode::Streamed:
      return planned_streamed(q, kept_->streamed.of(q), wafer);
    case Mode::Pipelined:
      check_pipelined_question(q);
      return planned_pipelined(q, kept_->pipelined.of(q), wafer);
    default:
      refuse_mode(mode);
  }
}

Result answer(const Question& question) {
  check_prices(question.prices, {question.machine});
  return Workbench().answer(question);
}

}  // namespace wafer::study
