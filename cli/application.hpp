#pragma once

namespace conebench::cli {

/// The whole program: parses, runs one command, maps every failure to one line on standard error and an exit code.
int run_application(int argc, char** argv);

}  // namespace conebench::cli
