/* A solver of Conebench in a shared library of its own: the whole interface, in C99, without any other header of
 * Conebench. docs/plugin_interface.md explains it, examples/plugins/jacobi is a whole one.
 *
 *     find lambda in K:  sigma = (G + R) lambda + g,   K contains lambda, orthogonal to sigma + Gamma(sigma) in K*
 *
 * The library exports conebench_plugin_entry(). Rows stand in the order joints, limits, intervals, contacts; a
 * contact's are its first group of tangential rows, the normal, the other groups: (t1, t2, n), in the plane (t, n),
 * with rolling friction (t1, t2, n, m1, m2). Impulses are in N s, velocities in m/s, in scaled rows: all rows of a
 * group have one coefficient, so that a group is a ball, and moments are in units of impulses. Nothing that the library
 * gets may be written to, but for `impulse` and `summary`. */
#ifndef CONEBENCH_SOLVER_PLUGIN_H
#define CONEBENCH_SOLVER_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A library that is built with the header of version 1 gets the problems that version 1 can hold: no intervals,
 * Coulomb's friction or FCLIB's rolling friction, contacts of one size. */
#define CONEBENCH_PLUGIN_VERSION 2
#define CONEBENCH_MESSAGE_BYTES 256

/* What it solves: the problem above, the cone problem without Gamma, the linear one, or a model of its own. */
enum conebench_formulation { CONEBENCH_NCP, CONEBENCH_CCP, CONEBENCH_LCP, CONEBENCH_MODEL };

enum conebench_status {
  CONEBENCH_GO_ON = -1, /* never in a summary */
  CONEBENCH_CONVERGED,
  CONEBENCH_MAX_ITERATIONS,
  CONEBENCH_TIME_LIMIT,
  CONEBENCH_STALLED,
  CONEBENCH_DIVERGED,
  CONEBENCH_BREAKDOWN
};

/* Of CONEBENCH_BREAKDOWN: why. */
enum conebench_breakdown {
  CONEBENCH_NO_BREAKDOWN,
  CONEBENCH_SINGULAR,
  CONEBENCH_CYCLE,
  CONEBENCH_NO_SOLUTION,
  CONEBENCH_ERROR,
  CONEBENCH_QUEUE_EXHAUSTED
};

/* Which problems a solver takes, besides contacts in space: flags of conebench_solver::takes. */
enum conebench_takes {
  CONEBENCH_JOINTS = 1,     /* bilateral rows */
  CONEBENCH_LIMITS = 2,     /* unilateral rows without friction */
  CONEBENCH_COMPLIANCE = 4, /* R that is not 0 */
  CONEBENCH_PLANE = 8,      /* contacts of 2 rows */
  CONEBENCH_ROLLING = 16,   /* contacts of 5 rows, two groups of two rows each */
  CONEBENCH_INTERVALS = 32, /* rows with bounds */
  /* Any law of friction, rolling included, and contacts of several laws in one problem; supports() may still refuse. */
  CONEBENCH_FRICTION_CONES = 64
};

/* What of a problem a solver works on: flags of conebench_solver::uses. Products are there in any case. */
enum conebench_uses {
  CONEBENCH_BLOCKS = 1, /* conebench_problem::blocks: G */
  CONEBENCH_DENSE = 2,  /* conebench_problem::dense */
  CONEBENCH_PRIMAL = 4  /* conebench_problem::mass, jacobian and free_velocity, where they are known */
};

/* Properties: flags of conebench_solver::traits. */
enum conebench_traits {
  CONEBENCH_NEEDS_SYMMETRY = 1,       /* solves the symmetrised problem where G is not symmetric */
  CONEBENCH_TURNS_WITH_FRAMES = 2,    /* the answer turns with the tangent frames */
  CONEBENCH_SCALES_WITH_UNITS = 4,    /* the iterates scale with the units of impulse and velocity */
  CONEBENCH_OBSERVED_IN_STEPS = 8,    /* the monitor is asked now and then, not after every iteration */
  CONEBENCH_ALLOCATES_TO_FACTOR = 16, /* solve() allocates where it factors */
  CONEBENCH_ALLOCATES = 32            /* solve() allocates in its iterations */
};

enum conebench_option_type {
  CONEBENCH_REAL,
  CONEBENCH_INTEGER,
  CONEBENCH_FLAG,
  CONEBENCH_TEXT /* one of `choices` where there are any */
};

/* One option, usable at once in suites, grids, `--set`, lists and reports. */
typedef struct conebench_option {
  const char* name; /* letters, digits, _ */
  const char* doc;  /* a line: meaning and source */
  enum conebench_option_type type;
  double default_number;      /* but for texts; 0 or 1 for a flag */
  const char* default_text;   /* of a text */
  double minimum, maximum;    /* of a number; both 0: any */
  const char* unit;           /* or NULL */
  int logarithmic;            /* grids and tuning step by factors */
  const char* const* choices; /* of a text, ended by NULL; or NULL */
} conebench_option;

typedef union conebench_value {
  double real;
  int64_t integer;
  int flag;
  const char* text;
} conebench_value;

/* G in block rows. A row of a joint, limit or interval is a block of its own. In each block row the columns ascend, and
 * the diagonal block is there; a block's values are contiguous, column by column. */
typedef struct conebench_blocks {
  int64_t count;              /* of block rows: joints + limits + intervals + contacts */
  const int64_t* first_row;   /* count + 1: rows of block i are first_row[i] ... first_row[i + 1] - 1 */
  const int32_t* begin;       /* count + 1: the blocks of block row i are begin[i] ... begin[i + 1] - 1 */
  const int32_t* column;      /* of a block: its block column */
  const int32_t* diagonal;    /* count: which block of block row i is the diagonal one */
  const int64_t* first_value; /* of a block: where its values begin */
  const double* values;
} conebench_blocks;

/* Compressed columns. */
typedef struct conebench_sparse {
  int64_t rows, columns;
  const int32_t* begin; /* columns + 1 */
  const int32_t* row;
  const double* values;
} conebench_sparse;

/* The set of a block, with x_g the part of group g and mu_g its coefficient. */
enum conebench_cone {
  CONEBENCH_BOUNDS,    /* lower <= x <= upper */
  CONEBENCH_DISCS,     /* |x_g| <= mu_g x_n for every group: their bounds apart */
  CONEBENCH_ELLIPSOID, /* the same with one group, which scaled is a ball: a second-order cone */
  CONEBENCH_PYRAMID    /* one group: sum |x_k| <= mu x_n */
};

/* K, block by block. Gamma of a cone is sum mu_g |sigma_g| on the normal, of a pyramid mu max |sigma_k|. */
typedef struct conebench_cones {
  int64_t count;             /* of blocks: joints + limits + intervals + contacts */
  const int64_t* first_row;  /* count + 1: rows of block i are first_row[i] ... first_row[i + 1] - 1 */
  const int64_t* normal_row; /* count: the row of a contact's normal; of another block its only row */
  const uint8_t* cone;       /* count: conebench_cone */
  const double* lower;       /* rows [N s]: joint -INFINITY, limit 0; NAN on the rows of a contact */
  const double* upper;       /* rows [N s]: joint and limit INFINITY; NAN on the rows of a contact */
  const double* coefficient; /* rows: mu of tangential rows, one in a group; 0 on other rows */
  const int32_t* group;      /* rows: of tangential rows the number of their group, from 1; 0 on other rows */
} conebench_cones;

typedef struct conebench_problem {
  int64_t rows, joints, limits, contacts;
  int contact_size;                 /* rows of every contact; 0 where they differ */
  const double* friction;           /* mu of the first group, one a contact */
  const double* rolling_friction;   /* mu_r, one a contact, where each has two groups of two rows; else NULL */
  const double* free_term;          /* g, rows */
  const double* compliance;         /* the diagonal of R, rows; zeros where rigid */
  const conebench_blocks* blocks;   /* NULL unless it is used */
  const double* dense;              /* G, column by column; NULL unless it is used */
  const conebench_sparse* mass;     /* M; with J and v_free NULL unless they are used and known */
  const conebench_sparse* jacobian; /* J: G = J M^-1 J^T */
  const double* free_velocity;      /* v_free, one a column of J */
  const double* contact_frames;     /* axes t1, t2, n of each contact in the world's frame, 9 (4) numbers; or NULL.
                                     * Scaled components are along them, but longer or shorter. */
  const double* gaps;               /* one a contact [m]; or NULL */
  double time_step;                 /* [s]; 0 where it is not known */
  void (*multiply)(const struct conebench_problem* problem, const double* x, double* product); /* product = G x */
  const void* harness;
  /* Since version 2. */
  int64_t intervals;            /* rows with bounds, behind the limits */
  const conebench_cones* cones; /* never NULL */
} conebench_problem;

enum conebench_stop_by {
  CONEBENCH_STOP_BY_SOLVER, /* the solver's own residual decides: below `tolerance` */
  CONEBENCH_STOP_BY_JUDGE   /* the monitor alone decides */
};

typedef struct conebench_stop {
  double tolerance;
  int64_t max_iterations;
  enum conebench_stop_by stop_by;
} conebench_stop;

enum conebench_decision { CONEBENCH_KEEP_GOING, CONEBENCH_ACCEPT, CONEBENCH_OUT_OF_TIME };

/* Watches a solve: the official residual and the clock. A solver reads no clock itself. */
typedef struct conebench_monitor {
  /* Whether it wants to see the iterate of this iteration (1, 2, ...). Cheap enough for every one. */
  int (*should_check)(const struct conebench_monitor* monitor, int64_t iteration);
  /* Shows it the impulse that the solver would return now, and the solver's own residual of it (NAN: none). */
  enum conebench_decision (*observe)(struct conebench_monitor* monitor, int64_t iteration, const double* impulse,
                                     double own_residual);
  /* The same off the schedule, for a solver that believes its iterate to be good. */
  enum conebench_decision (*propose)(struct conebench_monitor* monitor, int64_t iteration, const double* impulse,
                                     double own_residual);
  /* For a solver around a library that can't be asked while it runs: it proposes what that ended with, calls this and
   * starts anew with a tighter tolerance. All that it did so far is thrown away, its time, too. */
  void (*start_over)(struct conebench_monitor* monitor);
  void* harness;
} conebench_monitor;

/* What a solver says of its answer. It comes with -1 (not counted) in both counters and NAN as the residual. */
typedef struct conebench_summary {
  enum conebench_status status;
  enum conebench_breakdown breakdown;
  int64_t iterations;
  int64_t factorizations;    /* every numeric one, those of prepare() included */
  int64_t operator_products; /* products with G, or sweeps over all its blocks */
  double own_residual;
  int solved_symmetrised;                /* the answer is that of the problem with (G + G^T)/2 */
  char message[CONEBENCH_MESSAGE_BYTES]; /* a line of detail, often empty */
} conebench_summary;

typedef struct conebench_solver {
  const char* id;       /* as papers write it: letters, digits, - . _ */
  const char* name;     /* as text */
  const char* citation; /* or NULL */
  const char* summary;  /* when it is good and when it fails, in a sentence; or NULL */
  int version;          /* 1 or more; raised whenever an answer may differ */
  enum conebench_formulation formulation;
  unsigned takes, uses, traits;
  const conebench_option* options;
  size_t option_count;
  /* NULL, or: 1 where it takes the problem, else 0 and the reason. G, M and J are not given yet. */
  int (*supports)(const conebench_problem* problem, const conebench_value* options,
                  char reason[CONEBENCH_MESSAGE_BYTES]);
  /* Set-up, which is timed: allocates, factors. `options` in the order in which they are declared. The problem stays
   * until release(). NULL and a message where it can't. */
  void* (*prepare)(const conebench_problem* problem, const conebench_value* options,
                   char message[CONEBENCH_MESSAGE_BYTES]);
  /* From `guess` (zeros for a cold start) to `impulse`, rows long: always the last iterate. The same input gives the
   * same bits. */
  void (*solve)(void* state, const double* guess, const conebench_stop* stop, conebench_monitor* monitor,
                double* impulse, conebench_summary* summary);
  void (*release)(void* state);
} conebench_solver;

typedef struct conebench_plugin {
  uint32_t interface_version; /* CONEBENCH_PLUGIN_VERSION of the header that it is built with */
  size_t solver_count;
  const conebench_solver* solvers;
} conebench_plugin;

#if defined(_WIN32)
#define CONEBENCH_EXPORT __declspec(dllexport)
#else
#define CONEBENCH_EXPORT __attribute__((visibility("default")))
#endif

/* Exported by the library; what it points to stays as long as the library does. */
CONEBENCH_EXPORT const conebench_plugin* conebench_plugin_entry(void);

/* What a loop asks after iteration k: CONEBENCH_GO_ON, or the status to end with. `own_residual`: NAN where the solver
 * has none. */
static inline enum conebench_status conebench_after(const conebench_stop* stop, conebench_monitor* monitor, int64_t k,
                                                    const double* impulse, double own_residual) {
  enum conebench_decision decision;
  if (stop->stop_by == CONEBENCH_STOP_BY_SOLVER && own_residual <= stop->tolerance) return CONEBENCH_CONVERGED;
  if (!monitor->should_check(monitor, k)) return CONEBENCH_GO_ON;
  decision = monitor->observe(monitor, k, impulse, own_residual);
  if (decision == CONEBENCH_ACCEPT) return CONEBENCH_CONVERGED;
  return decision == CONEBENCH_OUT_OF_TIME ? CONEBENCH_TIME_LIMIT : CONEBENCH_GO_ON;
}

/* Optional: whose code the solver with this index wraps. NULL: none's. Each text may be NULL. */
typedef struct conebench_peer {
  const char* version;
  const char* released; /* the date of that version, as 2026-01-31 */
  const char* build;    /* how it was compiled */
} conebench_peer;
CONEBENCH_EXPORT const conebench_peer* conebench_plugin_peer(size_t solver);

/* Optional: the solver with this index also takes many problems in one call, since that is faster for it: by its own
 * threads, on a GPU. A batch uses it. NULL: it does not. */
typedef struct conebench_many {
  /* As conebench_solver::prepare, for `count` problems of any sizes. The problems stay until release(). */
  void* (*prepare)(size_t count, const conebench_problem* const* problems, const conebench_value* options,
                   char message[CONEBENCH_MESSAGE_BYTES]);
  /* From guesses[k] to impulses[k] and summaries[k], for each problem k. The solver's own test ends each: there is no
   * monitor. The same input gives the same bits. */
  void (*solve)(void* state, const double* const* guesses, const conebench_stop* stop, double* const* impulses,
                conebench_summary* summaries);
  void (*release)(void* state);
} conebench_many;
CONEBENCH_EXPORT const conebench_many* conebench_plugin_many(size_t solver);

#ifdef __cplusplus
}
#endif

#endif
