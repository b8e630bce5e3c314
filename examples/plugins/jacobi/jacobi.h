/* Projected Jacobi for the contact NCP: lambda <- P_K(lambda - omega r (sigma + Gamma(sigma))), all rows at once, with
 * r = rows / trace of the diagonal block. The method itself, for the plug-in and for the program. */
#ifndef JACOBI_H
#define JACOBI_H

#include "conebench/solver_plugin.h"

typedef struct jacobi jacobi;

/* NULL where there is no memory. `omega`: share of the full step. */
jacobi* jacobi_new(const conebench_problem* problem, double omega);
void jacobi_solve(jacobi* solver, const double* guess, const conebench_stop* stop, conebench_monitor* monitor,
                  double* impulse, conebench_summary* summary);
void jacobi_delete(jacobi* solver);

#endif
