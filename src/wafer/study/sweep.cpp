#include "wafer/study/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "wafer/base/error.h"
#include "wafer/machine/load.h"
#include "wafer/study/cost.h"

namespace wafer::study {
namespace {

// Points that a thread takes at a time, at most: a network is then built seldom, and no thread
// waits long for another.
constexpr size_t MostTaken = 64;
constexpr size_t TurnsOfThread = 8;

size_t thread_count(int asked) {
  return asked > 0 ? static_cast<size_t>(asked)
                   : std::max<size_t>(1, std::thread::hardware_concurrency());
}

struct Point {
  uint64_t index = 0;
  Question question;
  std::vector<std::pair<const Axis*, uint64_t>> overrides;  ///< numbers of machines
};

Point point_at(const SweepRequest& request, uint64_t index) {
  Point point{.index = index, .question = request.question, .overrides = {}};
  const std::vector<uint64_t> at = places_of(request, index);
  for (size_t i = 0; i < at.size(); ++i) {
    const Axis& axis = request.axes[i];
    if (axis.is_override()) {
      point.overrides.emplace_back(&axis, at[i]);
    } else {
      axis.set(point.question, at[i]);
    }
  }
  return point;
}

// Costs are columns where there are prices.
bool is_column(const AnswerKey& key, const Question& question) {
  return !key.is_cost || !question.prices.empty();
}

/// Answers points, one after another.
class Asker {
 public:
  SweepRow row(const Point& point) {
    const Attempt a = ask(point);
    count(a);
    SweepRow row{.index = point.index, .values = {}};
    for (const auto& [axis, at] : point.overrides) row.values.emplace_back(axis->number(at));
    for (const AnswerKey& key : answer_keys()) {
      if (is_column(key, point.question)) row.values.push_back(key.of(a));
    }
    row.values.push_back(a.result ? Value() : Value(a.reason));
    return row;
  }

  SweepCounts counts() const {
    SweepCounts counts = counts_;
    counts.networks = bench_.networks_made();
    return counts;
  }

 private:
  Attempt ask(const Point& point) {
    Attempt refused{.question = point.question};
    try {
      return attempt(point.question, machine_of(point), bench_);
    } catch (const InputError& e) {  // of the machine
      refused.reason = e.what();
      return refused;
    }
  }

  // That of the point, with its own numbers.
  machine::Machine machine_of(const Point& point) {
    machine::Machine machine = bench_.machine(point.question.machine);
    for (const auto& [axis, at] : point.overrides) {
      if (!axis->machine().empty() && axis->machine() != point.question.machine) continue;
      machine = machine::overridden(std::move(machine), axis->key(), axis->number(at));
    }
    return machine;
  }

  void count(const Attempt& a) {
    ++counts_.points;
    if (a.result) ++counts_.answered;
    if (!a.result) ++(a.capacity ? counts_.no_room : counts_.refused);
  }

  Workbench bench_;
  SweepCounts counts_;
};

// What decides which network a point needs, and how it is analysed.
using Kind = std::pair<NetworkRequest, Mode>;

/// Answers a window of points, by several threads.
class Crew {
 public:
  explicit Crew(size_t threads) {
    for (size_t i = 0; i < threads; ++i) askers_.push_back(std::make_unique<Asker>());
  }

  /// The rows of `points`, in their order; `tell` gets how many are done.
  std::vector<SweepRow> rows(const std::vector<Point>& points,
                             const std::function<void(size_t)>& tell) {
    tasks_ = tasks_of(points);
    next_ = done_ = 0;
    std::vector<SweepRow> rows(points.size());
    std::vector<std::exception_ptr> faults(askers_.size());
    const auto work = [&](size_t who, const std::function<void(size_t)>& heard) {
      try {
        run(*askers_[who], points, rows, heard);
      } catch (...) {
        faults[who] = std::current_exception();
        next_ = tasks_.size();
      }
    };
    {
      std::vector<std::jthread> others;
      for (size_t i = 1; i < askers_.size(); ++i) {
        others.emplace_back([&work, i] { work(i, [](size_t) {}); });
      }
      work(0, tell);
    }
    for (const std::exception_ptr& fault : faults) {
      if (fault) std::rethrow_exception(fault);
    }
    return rows;
  }

  SweepCounts counts() const {
    SweepCounts sum;
    for (const auto& asker : askers_) {
      const SweepCounts part = asker->counts();
      sum.points += part.points;
      sum.answered += part.answered;
      sum.no_room += part.no_room;
      sum.refused += part.refused;
      sum.networks += part.networks;
    }
    return sum;
  }

 private:
  using Task = std::vector<size_t>;  ///< places in the window, of one network

  std::vector<Task> tasks_of(const std::vector<Point>& points) const {
    std::map<Kind, Task> groups;
    for (size_t i = 0; i < points.size(); ++i) {
      const Question& q = points[i].question;
      groups[{network_request(q), q.mode}].push_back(i);
    }
    const size_t fair = points.size() / (askers_.size() * TurnsOfThread);
    const size_t most = std::clamp<size_t>(fair, 1, MostTaken);
    std::vector<Task> tasks;
    for (const auto& [kind, group] : groups) {
      for (size_t begin = 0; begin < group.size(); begin += most) {
        const size_t end = std::min(begin + most, group.size());
        tasks.emplace_back(group.begin() + static_cast<std::ptrdiff_t>(begin),
                           group.begin() + static_cast<std::ptrdiff_t>(end));
      }
    }
    return tasks;
  }

  void run(Asker& asker, const std::vector<Point>& points, std::vector<SweepRow>& rows,
           const std::function<void(size_t)>& tell) {
    while (true) {
      const size_t mine = next_++;
      if (mine >= tasks_.size()) return;
      for (const size_t i : tasks_[mine]) rows[i] = asker.row(points[i]);
      tell(done_ += tasks_[mine].size());
    }
  }

  std::vector<std::unique_ptr<Asker>> askers_;
  std::vector<Task> tasks_;
  std::atomic<size_t> next_ = 0, done_ = 0;
};

// "a100-80gbx8" says what an axis of systems says as well; so do modes.
void check_contenders(const SweepRequest& request, const std::set<std::string>& names) {
  for (const Axis& axis : request.axes) {
    for (const Contender& c : axis.contenders()) {
      const char* twice = c.systems && names.contains("systems") ? "systems"
                          : c.mode && names.contains("mode")     ? "mode"
                                                                 : nullptr;
      if (twice == nullptr) continue;
      throw InputError(
          fmt::format("--axis {}: {} says the {} of the machine already", twice, c.text, twice));
    }
  }
}

void check_priced(const SweepRequest& request) {
  std::vector<std::string> machines;
  for (const Axis& axis : request.axes) {
    for (const Contender& c : axis.contenders()) machines.push_back(c.machine);
  }
  if (machines.empty()) machines.push_back(request.question.machine);
  check_prices(request.question.prices, machines);
}

}  // namespace

uint64_t points_of(const SweepRequest& request) {
  if (request.axes.empty()) {
    throw InputError("expected at least one axis, as in --axis batch=256,512,1024");
  }
  std::set<std::string> names;
  uint64_t points = 1;
  double all = 1;
  for (const Axis& axis : request.axes) {
    if (!names.insert(axis.name()).second) {
      throw InputError(
          fmt::format("--axis {}: given twice; one axis takes all its values, "
                      "separated by commas",
                      axis.name()));
    }
    all *= static_cast<double>(axis.size());
    if (all <= static_cast<double>(MostPoints)) points *= axis.size();
  }
  check_contenders(request, names);
  check_priced(request);
  if (all <= static_cast<double>(MostPoints)) return points;
  throw InputError(
      fmt::format("the axes make {:.4g} points, more than the {} of one sweep; take "
                  "larger steps, or sweep in parts",
                  all, MostPoints));
}

std::vector<uint64_t> places_of(const SweepRequest& request, uint64_t index) {
  std::vector<uint64_t> at(request.axes.size());
  for (size_t i = at.size(); i-- > 0;) {
    at[i] = index % request.axes[i].size();
    index /= request.axes[i].size();
  }
  return at;
}

std::vector<SweepColumn> columns_of(const SweepRequest& request) {
  std::vector<SweepColumn> columns;
  for (const Axis& axis : request.axes) {
    if (axis.is_override())
      columns.push_back({.name = axis.name(), .unit = {}, .of_machine = true});
  }
  for (const AnswerKey& key : answer_keys()) {
    if (!is_column(key, request.question)) continue;
    columns.push_back(
        {.name = std::string(key.name), .unit = std::string(key.unit), .better = key.better});
  }
  columns.push_back({.name = "reason", .unit = {}});
  return columns;
}

SweepCounts sweep(const SweepRequest& request, const std::function<void(SweepRow)>& take,
                  const std::function<void(size_t, size_t)>& progress) {
  const uint64_t points = points_of(request);
  Crew crew(std::min<uint64_t>(thread_count(request.threads), points));
  for (uint64_t begin = 0; begin < points; begin += MostHeld) {
    std::vector<Point> window;
    for (uint64_t i = begin; i < std::min(points, begin + MostHeld); ++i) {
      window.push_back(point_at(request, i));
    }
    const auto tell = [&](size_t done) {
      if (progress) progress(begin + done, points);
    };
    for (SweepRow& row : crew.rows(window, tell)) take(std::move(row));
  }
  return crew.counts();
}

}  // namespace wafer::study
