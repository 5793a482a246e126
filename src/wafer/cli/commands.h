#pragma once

namespace CLI {
class App;
}

namespace wafer::cli {

// Each adds one command with its options; the command runs while CLI11 parses it.
void add_estimate(CLI::App& app);
void add_compare(CLI::App& app);
void add_sweep(CLI::App& app);
void add_report(CLI::App& app);
void add_validate(CLI::App& app);
void add_show(CLI::App& app);
void add_models(CLI::App& app);
void add_machines(CLI::App& app);
void add_compile(CLI::App& app);
void add_map(CLI::App& app);
void add_fit(CLI::App& app);
void add_completion(CLI::App& app);
void add_man(CLI::App& app);

}  // namespace wafer::cli
