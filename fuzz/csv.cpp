#include "wafer/study/csv.h"

#include "fuzz.h"
#include "wafer/study/measurement.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz_reader(data, size, [](std::string_view text) {
    const wafer::study::Csv table = wafer::study::Csv::parse(text, "fuzzed.csv");
    for (size_t row = 0; row < table.rows(); ++row) {
      WAFER_CHECK(row == 0 || table.line(row) > table.line(row - 1));
      table.cell(row, "id");
    }
    for (const wafer::study::Measurement& m : wafer::study::measurements(table)) {
      // What is taken for a quantity can be read off any answer.
      if (!wafer::study::refuse_quantity(m.predict).empty()) continue;
      wafer::study::predicted(m, {});
    }
  });
}
