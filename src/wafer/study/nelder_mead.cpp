#include "wafer/study/nelder_mead.h"

#include <algorithm>
#include <cmath>

namespace wafer::study {
namespace {

using Point = std::vector<double>;

struct Vertex {
  Point at;
  double value = 0;
};

class Simplex {
 public:
  Simplex(const std::function<double(std::span<const double>)>& f, std::span<const double> start,
          const NelderMeadOptions& options)
      : f_(f), options_(options) {
    add(Point(start.begin(), start.end()));
    for (size_t i = 0; i < start.size(); ++i) {
      Point p(start.begin(), start.end());
      p[i] += options.first_step;
      add(std::move(p));
    }
    sort();
  }

  Minimum run() {
    while (!converged() && evaluations_ < options_.most_evaluations) {
      step();
      sort();
    }
    return {vertices_.front().at, vertices_.front().value, evaluations_};
  }

 private:
  // Replaces the worst vertex by a better one on the line through the centre of the others, or
  // draws all together around the best.
  void step() {
    const Point centre = centre_of_all_but_worst();
    const Vertex& worst = vertices_.back();
    Vertex reflected = on_line(centre, worst.at, -1);
    if (reflected.value < vertices_.front().value) {
      Vertex expanded = on_line(centre, worst.at, -2);
      replace_worst(expanded.value < reflected.value ? expanded : reflected);
      return;
    }
    if (reflected.value < vertices_[vertices_.size() - 2].value) return replace_worst(reflected);
    const bool outside = reflected.value < worst.value;
    Vertex contracted = on_line(centre, outside ? reflected.at : worst.at, 0.5);
    if (contracted.value < std::min(reflected.value, worst.value)) return replace_worst(contracted);
    shrink();
  }

  void shrink() {
    const Point best = vertices_.front().at;
    for (size_t i = 1; i < vertices_.size(); ++i)
      vertices_[i] = on_line(best, vertices_[i].at, 0.5);
  }

  Point centre_of_all_but_worst() const {
    const size_t n = vertices_.size() - 1;
    Point centre(n, 0.0);
    for (size_t v = 0; v < n; ++v) {
      for (size_t i = 0; i < n; ++i) centre[i] += vertices_[v].at[i] / static_cast<double>(n);
    }
    return centre;
  }

  // The vertex at centre + share * (p - centre).
  Vertex on_line(const Point& centre, const Point& p, double share) {
    Point at(centre);
    for (size_t i = 0; i < at.size(); ++i) at[i] += share * (p[i] - centre[i]);
    ++evaluations_;
    const double value = f_(at);
    return {std::move(at), value};
  }

  void add(Point at) {
    ++evaluations_;
    const double value = f_(at);
    vertices_.push_back({std::move(at), value});
  }

  void replace_worst(Vertex v) { vertices_.back() = std::move(v); }

  void sort() {
    std::stable_sort(vertices_.begin(), vertices_.end(),
                     [](const Vertex& a, const Vertex& b) { return a.value < b.value; });
  }

  bool converged() const {
    if (vertices_.back().value - vertices_.front().value > options_.tolerance) return false;
    for (const Vertex& v : vertices_) {
      for (size_t i = 0; i < v.at.size(); ++i) {
        if (std::abs(v.at[i] - vertices_.front().at[i]) > options_.tolerance) return false;
      }
    }
    return true;
  }

  const std::function<double(std::span<const double>)>& f_;
  const NelderMeadOptions& options_;
  std::vector<Vertex> vertices_;
  int evaluations_ = 0;
};

}  // namespace

Minimum nelder_mead(const std::function<double(std::span<const double>)>& f,
                    std::span<const double> start, const NelderMeadOptions& options) {
  return Simplex(f, start, options).run();
}

}  // namespace wafer::study
