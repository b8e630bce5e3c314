#include "cli/application.hpp"

int main(int argc, char** argv) { return conebench::cli::run_application(argc, argv); }
