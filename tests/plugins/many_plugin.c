/* Takes many problems in one call, and gives back each guess as its answer. Its residual is the guess's largest entry
 * as it sees it; its count of iterations the number of problems in the call. */
#include <math.h>
#include <stdlib.h>

#include "conebench/solver_plugin.h"

typedef struct echo {
  size_t count;
  int64_t rows[]; /* of each problem */
} echo;

static void* prepare_many(size_t count, const conebench_problem* const* problems, const conebench_value* options,
                          char message[CONEBENCH_MESSAGE_BYTES]) {
  (void)options, (void)message;
  echo* state = malloc(sizeof(echo) + count * sizeof(int64_t));
  if (state == NULL) return NULL;
  state->count = count;
  for (size_t k = 0; k < count; ++k) state->rows[k] = problems[k]->rows;
  return state;
}

static void solve_many(void* given, const double* const* guesses, const conebench_stop* stop, double* const* impulses,
                       conebench_summary* summaries) {
  const echo* state = given;
  for (size_t k = 0; k < state->count; ++k) {
    summaries[k].own_residual = 0.0;
    for (int64_t i = 0; i < state->rows[k]; ++i) {
      impulses[k][i] = guesses[k][i];
      summaries[k].own_residual = fmax(summaries[k].own_residual, fabs(guesses[k][i]));
    }
    summaries[k].iterations = (int64_t)state->count;
    summaries[k].status = stop->stop_by == CONEBENCH_STOP_BY_SOLVER ? CONEBENCH_CONVERGED : CONEBENCH_BREAKDOWN;
  }
}

static void* prepare(const conebench_problem* problem, const conebench_value* options,
                     char message[CONEBENCH_MESSAGE_BYTES]) {
  return prepare_many(1, &problem, options, message);
}

static void solve(void* state, const double* guess, const conebench_stop* stop, conebench_monitor* monitor,
                  double* impulse, conebench_summary* summary) {
  const conebench_stop own = {stop->tolerance, stop->max_iterations, CONEBENCH_STOP_BY_SOLVER};
  (void)monitor;
  solve_many(state, &guess, &own, &impulse, summary);
}

static const conebench_solver solvers[] = {{.id = "ECHO",
                                            .name = "Gives back the guess",
                                            .version = 1,
                                            .formulation = CONEBENCH_NCP,
                                            .takes = CONEBENCH_FRICTION_CONES,
                                            .prepare = prepare,
                                            .solve = solve,
                                            .release = free}};

const conebench_plugin* conebench_plugin_entry(void) {
  static const conebench_plugin plugin = {CONEBENCH_PLUGIN_VERSION, 1, solvers};
  return &plugin;
}

const conebench_many* conebench_plugin_many(size_t solver) {
  static const conebench_many many = {prepare_many, solve_many, free};
  return solver == 0 ? &many : NULL;
}
