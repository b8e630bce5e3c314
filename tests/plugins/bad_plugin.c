/* A plug-in that goes wrong on request: at run time by its option `mode`, while it is loaded by what it is compiled
 * with. */
#include <conebench/solver_plugin.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef THIRD
#define THIRD "loud"
#endif

static const char* const modes[] = {"none", "crash",    "hang",   "leak",   "print", "lie",
                                    "nan",  "nonsense", "refuse", "tamper", NULL};
static const conebench_option options[] = {
    {.name = "mode", .doc = "what goes wrong", .type = CONEBENCH_TEXT, .default_text = "none", .choices = modes},
    {.name = "count", .doc = "an integer", .type = CONEBENCH_INTEGER, .default_number = 3, .minimum = 1, .maximum = 9},
    {.name = THIRD, .doc = "a flag", .type = CONEBENCH_FLAG, .default_number = 1}};

typedef struct state {
  const conebench_problem* problem;
  char mode[16];
} state;

static void* prepare(const conebench_problem* problem, const conebench_value* values,
                     char message[CONEBENCH_MESSAGE_BYTES]) {
  state* made = calloc(1, sizeof *made);
  if (strcmp(values[0].text, "refuse") == 0) {
    snprintf(message, CONEBENCH_MESSAGE_BYTES, "refused with count %d and loud %d", (int)values[1].integer,
             values[2].flag);
    free(made);
    return NULL;
  }
  made->problem = problem;
  snprintf(made->mode, sizeof made->mode, "%s", values[0].text);
  return made;
}

static void solve(void* given, const double* guess, const conebench_stop* stop, conebench_monitor* monitor,
                  double* impulse, conebench_summary* summary) {
  const state* s = given;
  volatile double sink = 0.0;
  (void)stop;
  (void)monitor;
  for (int64_t i = 0; i < s->problem->rows; ++i) impulse[i] = guess[i];
  if (strcmp(s->mode, "crash") == 0) abort();
  while (strcmp(s->mode, "hang") == 0) sink = sink + 1.0;
  while (strcmp(s->mode, "leak") == 0) {
    char* block = malloc(8 << 20);
    if (block != NULL) memset(block, 1, 8 << 20);
  }
  if (strcmp(s->mode, "print") == 0) {
    for (int i = 0; i < 1000; ++i) printf("{\"a line\": %d}\n", i);
    fflush(stdout);
  }
  /* Nothing pushes the bodies together, so that no impulse is the answer. */
  if (strcmp(s->mode, "tamper") == 0) {
    for (int64_t i = 0; i < s->problem->rows; ++i) ((double*)(uintptr_t)s->problem->free_term)[i] = 0.0;
  }
  if (strcmp(s->mode, "nan") == 0) impulse[0] = NAN;
  summary->status = strcmp(s->mode, "nonsense") == 0 ? (enum conebench_status)77 : CONEBENCH_CONVERGED;
  summary->own_residual = 0.0;
}

static void release(void* given) { free(given); }

#ifndef ID
#define ID "BAD"
#endif
#ifndef VERSION
#define VERSION CONEBENCH_PLUGIN_VERSION
#endif

static const conebench_solver solvers[] __attribute__((unused)) = {{.id = ID,
                                                                    .name = "Goes wrong on request",
                                                                    .version = 1,
                                                                    .takes = CONEBENCH_JOINTS | CONEBENCH_LIMITS,
                                                                    .uses = CONEBENCH_DENSE | CONEBENCH_PRIMAL,
                                                                    .options = options,
                                                                    .option_count = sizeof options / sizeof *options,
                                                                    .prepare = prepare,
                                                                    .solve = solve,
                                                                    .release = release}};

#ifdef CRASH
static void __attribute__((constructor)) crash(void) {
  fprintf(stderr, "about to crash\n");
  abort();
}
#endif

#ifndef NO_ENTRY
const conebench_plugin* conebench_plugin_entry(void) {
  static const conebench_plugin plugin = {VERSION, 1, solvers};
  return &plugin;
}
#endif
