#include <stdio.h>

#include "jacobi.h"

static const conebench_option options[] = {{.name = "relaxation",
                                            .doc = "omega: share of the full step that is taken",
                                            .type = CONEBENCH_REAL,
                                            .default_number = 0.2,
                                            .minimum = 0.0,
                                            .maximum = 2.0}};

static void* prepare(const conebench_problem* problem, const conebench_value* values,
                     char message[CONEBENCH_MESSAGE_BYTES]) {
  jacobi* solver = jacobi_new(problem, values[0].real);
  if (solver == NULL) snprintf(message, CONEBENCH_MESSAGE_BYTES, "out of memory");
  return solver;
}

static void solve(void* state, const double* guess, const conebench_stop* stop, conebench_monitor* monitor,
                  double* impulse, conebench_summary* summary) {
  jacobi_solve(state, guess, stop, monitor, impulse, summary);
}

static void release(void* state) { jacobi_delete(state); }

static const conebench_solver solvers[] = {
    {.id = "JACOBI",
     .name = "Projected Jacobi",
     .citation = "textbook",
     .summary = "Converges only where contacts are weakly coupled; here to show how a solver is added.",
     .version = 1,
     .formulation = CONEBENCH_NCP,
     .takes = CONEBENCH_JOINTS | CONEBENCH_LIMITS | CONEBENCH_INTERVALS | CONEBENCH_COMPLIANCE | CONEBENCH_PLANE,
     .uses = CONEBENCH_BLOCKS,
     .traits = CONEBENCH_TURNS_WITH_FRAMES | CONEBENCH_SCALES_WITH_UNITS,
     .options = options,
     .option_count = sizeof options / sizeof *options,
     .prepare = prepare,
     .solve = solve,
     .release = release}};

const conebench_plugin* conebench_plugin_entry(void) {
  static const conebench_plugin plugin = {CONEBENCH_PLUGIN_VERSION, sizeof solvers / sizeof *solvers, solvers};
  return &plugin;
}
