/* The same solver as a program (docs/program_protocol.md). Reads FCLIB's local form; needs HDF5's C library.
 * `jacobi REQUEST.json` answers one request, `jacobi -` one a line until its input ends. */
#define _POSIX_C_SOURCE 199309L
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jacobi.h"

static const char description[] =
    "\"id\": \"JACOBI-PROGRAM\", \"name\": \"Projected Jacobi as a program\", \"version\": 1, \"serve\": true, "
    "\"formulation\": \"NCP\", \"joints\": false, \"compliance\": false, \"two_dimensional\": true, \"options\": "
    "[{\"name\": \"relaxation\", "
    "\"type\": \"real\", \"default\": 0.2, \"minimum\": 0, \"maximum\": 2, \"doc\": \"omega: share of the full "
    "step\"}]";

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* Conebench writes a request on one line, a blank behind no colon. */
static const char* value_of(const char* request, const char* key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char* found = strstr(request, quoted);
  if (found == NULL) fail(key);
  return found + strlen(quoted);
}

static void text_of(const char* request, const char* key, char* out, size_t size) {
  const char* from = value_of(request, key) + 1;
  size_t length = strcspn(from, "\"");
  if (length >= size) fail("a path is too long");
  memcpy(out, from, length);
  out[length] = '\0';
}

static void* read_all(hid_t file, const char* name, hid_t type, size_t bytes, size_t* count) {
  hid_t data = H5Dopen2(file, name, H5P_DEFAULT), space;
  void* values;
  if (data < 0) fail(name);
  space = H5Dget_space(data);
  *count = (size_t)H5Sget_simple_extent_npoints(space);
  values = calloc(*count + 1, bytes);
  if (values == NULL || H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) fail(name);
  H5Sclose(space);
  H5Dclose(data);
  return values;
}

static int* integers(hid_t file, const char* name, size_t* count) {
  return read_all(file, name, H5T_NATIVE_INT, sizeof(int), count);
}
static double* reals(hid_t file, const char* name, size_t* count) {
  return read_all(file, name, H5T_NATIVE_DOUBLE, sizeof(double), count);
}

/* Row of the file (normal first) to row of the solver (normal last), within a contact. */
static int64_t reordered(int64_t row, int64_t size) { return row - row % size + (row % size + size - 1) % size; }

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* `harness` points to the deadline. */
static int too_late(const conebench_monitor* monitor, int64_t iteration) {
  (void)iteration;
  return seconds_now() > *(const double*)monitor->harness;
}

static enum conebench_decision out_of_time(conebench_monitor* monitor, int64_t iteration, const double* impulse,
                                           double own_residual) {
  (void)monitor;
  (void)iteration;
  (void)impulse;
  (void)own_residual;
  return CONEBENCH_OUT_OF_TIME;
}

static void answer(const char* request, FILE* reply, long long number) {
  static char path[4096], name[4200];
  if (strstr(request, "\"request\":\"describe\"") != NULL) {
    fprintf(reply, "{\"number\": %lld, %s}\n", number, description);
    return;
  }

  double deadline = seconds_now() + strtod(value_of(request, "time_limit_s"), NULL);
  size_t count, contacts, rows, entries;
  text_of(request, "problem", path, sizeof path);
  hid_t problem_file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (problem_file < 0) fail(path);
  int* size_read = integers(problem_file, "fclib_local/spacedim", &count);
  const int64_t size = *size_read;
  double* mu = reals(problem_file, "fclib_local/vectors/mu", &contacts);
  double* q = reals(problem_file, "fclib_local/vectors/q", &rows);
  int* nz_read = integers(problem_file, "fclib_local/W/nz", &count);
  const int nz = *nz_read;
  int* p = integers(problem_file, "fclib_local/W/p", &count);
  int* i = integers(problem_file, "fclib_local/W/i", &count);
  double* x = reals(problem_file, "fclib_local/W/x", &entries);
  if (nz != -1 && nz != -2) fail("W must have compressed columns or rows");
  H5Fclose(problem_file);

  /* Blocks, by first counting which there are. */
  const int64_t n = (int64_t)contacts;
  char* stored = calloc((size_t)(n * n) + 1, 1);
  double* dense = calloc(rows * rows + 1, sizeof(double)); /* block after block, each column by column */
  double* g = calloc(rows + 1, sizeof(double));
  double* zeros = calloc(rows + 1, sizeof(double));
  int64_t* first_row = calloc((size_t)n + 1, sizeof(int64_t));
  int32_t* begin = calloc((size_t)n + 1, sizeof(int32_t));
  int32_t* column = calloc((size_t)(n * n) + 1, sizeof(int32_t));
  int32_t* diagonal = calloc((size_t)n + 1, sizeof(int32_t));
  int64_t* first_value = calloc((size_t)(n * n) + 1, sizeof(int64_t));
  double* impulse = calloc(rows + 1, sizeof(double));
  if (!stored || !dense || !g || !zeros || !first_row || !begin || !column || !diagonal || !first_value || !impulse) {
    fail("out of memory");
  }
  for (int64_t outer = 0; outer < (int64_t)rows; ++outer) {
    for (int k = p[outer]; k < p[outer + 1]; ++k) {
      const int64_t row = reordered(nz == -1 ? i[k] : outer, size), col = reordered(nz == -1 ? outer : i[k], size);
      const int64_t block = row / size * n + col / size;
      stored[block] = 1;
      dense[block * size * size + col % size * size + row % size] += x[k];
    }
  }
  int32_t blocks = 0;
  for (int64_t b = 0; b < n; ++b) {
    first_row[b + 1] = size * (b + 1);
    for (int64_t c = 0; c < n; ++c) {
      if (!stored[b * n + c] && b != c) continue;
      if (b == c) diagonal[b] = blocks;
      column[blocks] = (int32_t)c;
      first_value[blocks++] = (b * n + c) * size * size;
    }
    begin[b + 1] = blocks;
  }
  for (int64_t row = 0; row < (int64_t)rows; ++row) g[reordered(row, size)] = q[row];

  const conebench_blocks matrix = {n, first_row, begin, column, diagonal, first_value, dense};
  conebench_problem problem = {0};
  problem.rows = (int64_t)rows;
  problem.contacts = n;
  problem.contact_size = (int)size;
  problem.friction = mu;
  problem.free_term = g;
  problem.compliance = zeros;
  problem.blocks = &matrix;
  const conebench_stop stop = {strtod(value_of(request, "tolerance"), NULL),
                               strtoll(value_of(request, "max_iterations"), NULL, 10), CONEBENCH_STOP_BY_SOLVER};
  conebench_monitor monitor = {too_late, out_of_time, NULL, NULL, &deadline};
  conebench_summary summary = {0};
  jacobi* solver = jacobi_new(&problem, strtod(value_of(request, "relaxation"), NULL));
  if (solver == NULL) fail("out of memory");
  jacobi_solve(solver, zeros, &stop, &monitor, impulse, &summary);
  jacobi_delete(solver);

  for (int64_t row = 0; row < (int64_t)rows; ++row) q[row] = impulse[reordered(row, size)];
  text_of(request, "answer", path, sizeof path);
  snprintf(name, sizeof name, "%s.hdf5", path);
  const hsize_t length = rows;
  hid_t answer = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t group = H5Gcreate2(answer, "solution", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple(1, &length, NULL);
  hid_t data = H5Dcreate2(group, "r", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (data < 0 || H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, q) < 0) fail(name);
  H5Dclose(data);
  H5Sclose(space);
  H5Gclose(group);
  H5Fclose(answer);
  char residual[32] = "NaN"; /* which printf may spell otherwise */
  if (isfinite(summary.own_residual)) snprintf(residual, sizeof residual, "%.17g", summary.own_residual);
  fprintf(reply, "{\"number\": %lld, \"status\": \"%s\", \"iterations\": %lld, \"own_residual\": %s}\n", number,
          summary.status == CONEBENCH_CONVERGED    ? "converged"
          : summary.status == CONEBENCH_DIVERGED   ? "diverged"
          : summary.status == CONEBENCH_TIME_LIMIT ? "time_limit"
                                                   : "max_iterations",
          (long long)summary.iterations, residual);
  void* made[] = {size_read, mu,    q,         nz_read, p,      i,        x,           stored, dense,
                  g,         zeros, first_row, begin,   column, diagonal, first_value, impulse};
  for (size_t k = 0; k < sizeof made / sizeof *made; ++k) free(made[k]);
}

int main(int argc, char** argv) {
  static char request[1 << 16], path[4096];
  const char* from = argc > 1 ? argv[argc - 1] : "";
  if (strcmp(from, "-") == 0) {
    while (fgets(request, sizeof request, stdin) != NULL) {
      answer(request, stdout, strtoll(value_of(request, "number"), NULL, 10));
      fflush(stdout);
    }
    return 0;
  }
  FILE* file = fopen(from, "r");
  if (file == NULL || fgets(request, sizeof request, file) == NULL) fail("usage: jacobi REQUEST.json, or jacobi -");
  fclose(file);
  text_of(request, "reply", path, sizeof path);
  FILE* reply = fopen(path, "w");
  if (reply == NULL) fail(path);
  answer(request, reply, 0);
  return fclose(reply);
}
