#include "fuzz.h"
#include "wafer/machine/decode.h"
#include "wafer/machine/load.h"
#include "wafer/machine/numbers.h"
#include "wafer/machine/print.h"

namespace machine = wafer::machine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const machine::Machine base = machine::load("wse2");
  return fuzz_reader(data, size, [](std::string_view text) {
    const machine::Source source{.text = text, .file = "fuzz.toml", .name = "fuzz"};
    const machine::Machine read = machine::decode(source, [](const std::string&) { return base; });
    // What is taken for a machine is one: each number could be set to itself.
    for (const machine::Number& number : machine::numbers(read)) {
      WAFER_CHECK(!number.source.empty() && !number.value.empty());
      if (!number.is_list) machine::overridden(read, number.key, number.value.front());
    }
    WAFER_CHECK(!machine::print_text(read).empty());
    WAFER_CHECK(!machine::print_json(read).empty());
  });
}
