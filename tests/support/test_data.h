#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

/// Path of a file of the public test data (CMake variable WAFER_TEST_DATA), such as
/// "graphs/onnx/light_resnet50.onnx".
inline std::filesystem::path test_data(const std::string& relative) {
  return std::filesystem::path(WAFER_TEST_DATA) / relative;
}

/// First line of a test that reads public test data: skips it, naming the file, where it is absent.
#define SKIP_WITHOUT_TEST_DATA(relative)                                         \
  do {                                                                           \
    if (!std::filesystem::exists(test_data(relative))) {                         \
      GTEST_SKIP() << test_data(relative) << " is absent (see WAFER_TEST_DATA)"; \
    }                                                                            \
  } while (false)
