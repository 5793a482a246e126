#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "wafer/base/error.h"
#include "wafer/ir/attr_reader.h"
#include "wafer/ir/text.h"
#include "wafer/ir/verify.h"

namespace wafer::ir {
namespace {

/// After so many problems the rest of the file is not read.
constexpr size_t MostProblems = 20;

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : in_(text), file_(file) {}

  Graph parse() {
    guarded([this] { header(); });
    for (; !in_.at_end() && problems_.all().size() < MostProblems; in_.next_line()) {
      guarded([this] { line(); });
    }
    guarded([this] { finish(); });
    throw_problems();
    for (const Problem& problem : problems_of(graph_)) add(place_of(problem), problem.text);
    throw_problems();
    return std::move(graph_);
  }

 private:
  /// Thrown to leave a line that builds on a broken one: its problem has been told.
  struct Consequence {};

  template <typename Step>
  void guarded(Step step) {
    try {
      step();
    } catch (const SyntaxError& e) {
      add(e.place, e.message);
    } catch (const Consequence&) {
      return;  // told where it began
    } catch (const InputError& e) {
      add(in_.place(), e.what());
    }
  }

  void add(Place place, const std::string& message) {
    problems_.add(fmt::format("{}:{}:{}: {}", file_, place.line, place.column, message));
  }
  void throw_problems() const { problems_.throw_if_any("cannot read " + file_, MostProblems); }

  Place place_of(const Problem& problem) const {
    if (!problem.function.valid()) return {};
    if (!problem.op.valid()) return function_places_[problem.function.index];
    return op_places_[problem.function.index][problem.op.index];
  }

  void header() {
    while (in_.at_line_end() && !in_.at_end()) in_.next_line();
    if (!in_.take_word("graph")) in_.fail("a graph begins with: graph \"name\"");
    graph_.name = in_.string();
    in_.expect_line_end();
    in_.next_line();
  }

  void line() {
    if (in_.at_line_end()) return;
    if (!inside_) {
      function_line();
    } else if (in_.take('}')) {
      inside_ = false;
    } else if (in_.take_word("input")) {
      input_line();
    } else if (in_.take_word("output")) {
      output_line();
    } else {
      op_line();
    }
    in_.expect_line_end();
  }

  void function_line() {
    const Place place = in_.place();
    const bool entry = in_.take_word("entry");
    if (!in_.take_word("func")) in_.fail("expected func @name {");
    const FunctionId id = graph_.add_function({});
    function_places_.push_back(place);
    op_places_.emplace_back();
    values_.clear();
    broken_.clear();
    inside_ = true;
    function().name = attrs_.function_name();
    if (entry && graph_.main.valid()) Scanner::fail(place, "the graph has an entry already");
    if (entry) graph_.main = id;
    if (!defined_.emplace(function().name, id).second) {
      Scanner::fail(place, fmt::format("there is a function @{} already", function().name));
    }
    in_.expect('{');
  }

  Function& function() { return graph_.functions.back(); }

  void input_line() {
    const Place place = in_.place();
    const std::string_view name = value_name();
    Input input;
    input.name = in_.string();
    in_.expect(':');
    const TensorType type = tensor_type();
    while (!in_.at_line_end()) input_mark(input);
    if (!function().ops.empty()) Scanner::fail(place, "inputs stand before the ops");
    input.value = function().add_value(type, OpId());
    define(name, input.value, place);
    function().inputs.push_back(std::move(input));
  }

  void input_mark(Input& input) {
    if (in_.take_word("frozen")) {
      input.frozen = true;
    } else if (in_.take_word("donates")) {
      in_.expect('(');
      const int64_t output = in_.integer();
      if (output < 0 || output > INT32_MAX) in_.fail("donates names an output by its number");
      input.donated_output = static_cast<int>(output);
      in_.expect(')');
    } else if (in_.take_word("role")) {
      input.role = named_in_parentheses<Role>(
          {Role::Parameter, Role::OptimizerState, Role::Data, Role::Constant}, "a role");
    } else {
      in_.fail("expected role(..), frozen or donates(..)");
    }
  }

  template <typename Enum>
  Enum named_in_parentheses(std::initializer_list<Enum> all, const char* what) {
    in_.expect('(');
    const Place place = in_.place();
    const std::string_view name = in_.word(what);
    in_.expect(')');
    for (Enum one : all) {
      if (name_of(one) == name) return one;
    }
    Scanner::fail(place, fmt::format("\"{}\" is not {}", name, what));
  }

  void output_line() {
    std::string name = in_.string();
    function().outputs.push_back({std::move(name), operand()});
  }

  void op_line() {
    const Place place = in_.place();
    std::vector<std::string_view> names;
    if (in_.peek() == '%') {
      do names.push_back(value_name());
      while (in_.take(','));
      in_.expect('=');
    }
    try {
      op_after_results(names, place);
    } catch (...) {
      broken_.insert(names.begin(), names.end());
      throw;
    }
  }

  void op_after_results(const std::vector<std::string_view>& names, Place place) {
    Op op;
    kind(op);
    if (in_.peek() == '%') {
      do op.operands.push_back(operand());
      while (in_.take(','));
    }
    RawLiteral literal;
    if (in_.take('{')) attrs_.read(op.attrs, literal);
    std::vector<TensorType> types;
    if (in_.take(':')) {
      do types.push_back(tensor_type());
      while (in_.take(','));
    }
    while (!in_.at_line_end()) op_mark(op);
    if (types.size() != names.size()) {
      Scanner::fail(place, fmt::format("{} results, but {} types", names.size(), types.size()));
    }
    if (literal.present) {
      if (types.empty()) Scanner::fail(literal.place, "a value needs a result type");
      op.attrs.set(AttrKey::Value, literal_of(literal, types[0]));
    }
    const OpId id = function().append(std::move(op), types);
    op_places_.back().push_back(place);
    for (size_t i = 0; i < names.size(); ++i) define(names[i], function().op(id).results[i], place);
  }

  void kind(Op& op) {
    const Place place = in_.place();
    const std::string_view name = in_.word("an op");
    if (const auto found = op_kind_named(name)) {
      op.kind = *found;
    } else if (const auto fn = element_fn_named(name)) {
      op.kind = OpKind::Elementwise;
      op.attrs.set(AttrKey::Fn, *fn);
    } else {
      Scanner::fail(place, fmt::format("there is no op \"{}\"", name));
    }
  }

  void op_mark(Op& op) {
    if (in_.take_word("phase")) {
      op.phase = named_in_parentheses<Phase>({Phase::Forward, Phase::Backward, Phase::Optimizer},
                                             "a phase");
    } else if (in_.take_word("layer")) {
      op.layer = string_in_parentheses();
    } else if (in_.take_word("scope")) {
      op.scope = string_in_parentheses();
    } else if (in_.take_word("loc")) {
      op.location = string_in_parentheses();
    } else {
      in_.fail("expected phase(..), layer(..), scope(..) or loc(..)");
    }
  }

  std::string string_in_parentheses() {
    in_.expect('(');
    std::string text = in_.string();
    in_.expect(')');
    return text;
  }

  FunctionId resolved(FunctionId reference) {
    const auto& [name, place] = attrs_.references()[reference.index];
    const auto found = defined_.find(name);
    if (found != defined_.end()) return found->second;
    add(place, "there is no function @" + name);
    return {};
  }

  void resolve(Op& op) {
    for (AttrKey key : {AttrKey::Body, AttrKey::Condition}) {
      if (op.attrs.has(key)) op.attrs.set(key, resolved(op.attrs.get<FunctionId>(key)));
    }
    if (!op.attrs.has(AttrKey::Branches)) return;
    auto branches = op.attrs.get<std::vector<FunctionId>>(AttrKey::Branches);
    for (FunctionId& id : branches) id = resolved(id);
    op.attrs.set(AttrKey::Branches, std::move(branches));
  }

  void finish() {
    if (!problems_.empty()) return;
    if (inside_) in_.fail("the last function has no closing }");
    if (!graph_.main.valid()) in_.fail("no function is marked entry");
    for (Function& f : graph_.functions) {
      for (Op& op : f.ops) resolve(op);
    }
  }

  std::string_view value_name() {
    in_.expect('%');
    return in_.word("a value's name");
  }

  void define(std::string_view name, ValueId value, Place place) {
    if (!values_.emplace(name, value).second) {
      Scanner::fail(place, fmt::format("there is a value %{} already", name));
    }
  }

  ValueId operand() {
    const Place place = in_.place();
    const std::string_view name = value_name();
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    if (broken_.contains(name)) throw Consequence{};
    Scanner::fail(place, fmt::format("no value %{} is defined before this line", name));
  }

  TensorType tensor_type() {
    const Place place = in_.place();
    const std::string_view text = in_.through_bracket("a type such as f32[2,3]");
    const auto type = TensorType::parse(text);
    if (!type) Scanner::fail(place, fmt::format("\"{}\" is not a type such as f32[2,3]", text));
    return *type;
  }

  Scanner in_;
  AttrReader attrs_{in_};
  const std::string& file_;
  Problems problems_;
  Graph graph_;
  bool inside_ = false;                                   ///< between func { and }
  std::unordered_map<std::string_view, ValueId> values_;  ///< of the open function
  std::unordered_set<std::string_view> broken_;           ///< results of lines with problems
  std::unordered_map<std::string, FunctionId> defined_;
  std::vector<Place> function_places_;
  std::vector<std::vector<Place>> op_places_;
};

}  // namespace

Graph parse_text(std::string_view text, const std::string& file) {
  return Parser(text, file).parse();
}

}  // namespace wafer::ir
