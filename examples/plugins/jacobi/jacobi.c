#include "jacobi.h"

#include <math.h>
#include <stdlib.h>

struct jacobi {
  const conebench_problem* problem;
  double* step;     /* omega r, one a block */
  double* velocity; /* sigma + Gamma(sigma) */
};

jacobi* jacobi_new(const conebench_problem* problem, double omega) {
  const conebench_blocks* g = problem->blocks;
  jacobi* solver = calloc(1, sizeof *solver);
  if (solver == NULL) return NULL;
  solver->problem = problem;
  solver->step = calloc((size_t)g->count + 1, sizeof(double));
  solver->velocity = calloc((size_t)problem->rows + 1, sizeof(double));
  if (solver->step == NULL || solver->velocity == NULL) {
    jacobi_delete(solver);
    return NULL;
  }
  for (int64_t b = 0; b < g->count; ++b) {
    const int64_t row = g->first_row[b], size = g->first_row[b + 1] - row;
    const double* block = g->values + g->first_value[g->diagonal[b]];
    double trace = 0.0;
    for (int64_t i = 0; i < size; ++i) trace += block[i * size + i] + problem->compliance[row + i];
    solver->step[b] = trace > 0.0 ? omega * (double)size / trace : 0.0;
  }
  return solver;
}

void jacobi_delete(jacobi* solver) {
  if (solver == NULL) return;
  free(solver->step);
  free(solver->velocity);
  free(solver);
}

/* sigma = (G + R) impulse + g. */
static void sweep(const conebench_problem* p, const double* impulse, double* sigma) {
  const conebench_blocks* g = p->blocks;
  for (int64_t i = 0; i < p->rows; ++i) sigma[i] = p->free_term[i] + p->compliance[i] * impulse[i];
  for (int64_t b = 0; b < g->count; ++b) {
    const int64_t row = g->first_row[b], size = g->first_row[b + 1] - row;
    for (int32_t k = g->begin[b]; k < g->begin[b + 1]; ++k) {
      const int64_t column = g->first_row[g->column[k]], width = g->first_row[g->column[k] + 1] - column;
      const double* value = g->values + g->first_value[k];
      for (int64_t j = 0; j < width; ++j) {
        for (int64_t i = 0; i < size; ++i) sigma[row + i] += *value++ * impulse[column + j];
      }
    }
  }
}

static double norm(const double* x, int64_t count) {
  double sum = 0.0;
  for (int64_t i = 0; i < count; ++i) sum += x[i] * x[i];
  return sqrt(sum);
}

/* Onto {|x_T| <= mu x_N}, the normal last. */
static void project(double* x, int64_t size, double mu) {
  const double tangential = norm(x, size - 1), normal = x[size - 1];
  /* First the polar cone: with mu = 0 a negative normal alone is within the other bound, too. */
  if (mu * tangential <= -normal) {
    for (int64_t i = 0; i < size; ++i) x[i] = 0.0;
    return;
  }
  if (tangential <= mu * normal) return;
  x[size - 1] = (mu * tangential + normal) / (1.0 + mu * mu);
  for (int64_t i = 0; i < size - 1; ++i) x[i] *= mu * x[size - 1] / tangential;
}

void jacobi_solve(jacobi* solver, const double* guess, const conebench_stop* stop, conebench_monitor* monitor,
                  double* impulse, conebench_summary* summary) {
  const conebench_problem* p = solver->problem;
  const int64_t first_contact = p->joints + p->limits + p->intervals;
  double* v = solver->velocity;
  for (int64_t i = 0; i < p->rows; ++i) impulse[i] = guess[i];
  summary->status = CONEBENCH_MAX_ITERATIONS;
  summary->factorizations = 0;
  for (int64_t k = 1; k <= stop->max_iterations; ++k) {
    double moved = 0.0;
    sweep(p, impulse, v);
    for (int64_t b = 0; b < p->blocks->count; ++b) {
      const int64_t row = p->blocks->first_row[b], size = p->blocks->first_row[b + 1] - row;
      double old[3];
      if (b >= first_contact) v[row + size - 1] += p->friction[b - first_contact] * norm(v + row, size - 1);
      for (int64_t i = 0; i < size; ++i) {
        old[i] = impulse[row + i];
        impulse[row + i] -= solver->step[b] * v[row + i];
      }
      if (b >= first_contact) {
        project(impulse + row, size, p->friction[b - first_contact]);
      } else {
        impulse[row] = fmin(p->cones->upper[row], fmax(p->cones->lower[row], impulse[row]));
      }
      for (int64_t i = 0; i < size; ++i) moved = fmax(moved, fabs(impulse[row + i] - old[i]));
    }
    summary->iterations = summary->operator_products = k;
    summary->own_residual = moved;
    if (!isfinite(impulse[0] + moved)) {
      summary->status = CONEBENCH_DIVERGED;
      return;
    }
    const enum conebench_status status = conebench_after(stop, monitor, k, impulse, moved);
    if (status != CONEBENCH_GO_ON) {
      summary->status = status;
      return;
    }
  }
}
