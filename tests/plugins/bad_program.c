/* A program that goes wrong on request, by its option `mode`: once with a request file, or with `-` line by line. Its
   first argument names an answer for the modes that have one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef SERVES
#define SERVE "true"
#define ID "BAD-SERVER"
#else
#define SERVE "false"
#define ID "BAD-PROGRAM"
#endif

static const char description[] =
    "\"id\": \"" ID "\", \"name\": \"Goes wrong on request\", \"serve\": " SERVE
    ", \"options\": [{\"name\": \"mode\", \"type\": \"text\", \"default\": \"lie\", \"choices\": [\"lie\", \"crash\", "
    "\"hang\", \"leak\", \"print\", \"silent\", \"late\", \"nonsense\", \"other\", \"exit\", \"nan\", \"long\", "
    "\"write\", \"keep\", \"warm\", \"where\", \"restore\", \"lease\", \"pipe\", \"dots\", \"diverge\", \"count\"], "
    "\"doc\": \"what goes wrong\"}]";

static const char* given_answer;
static pid_t child;

static void work(double seconds) {
  const clock_t begin = clock();
  while ((double)(clock() - begin) < seconds * CLOCKS_PER_SEC) continue;
}

/* Whether it is the first request for this file, and remembers it. */
static int is_new(const char* file) {
  static char seen[64][4096];
  static int count;
  for (int i = 0; i < count; ++i) {
    if (strcmp(seen[i], file) == 0) return 0;
  }
  if (count < 64) strcpy(seen[count++], file);
  return 1;
}

static int processors_of(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(process, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

/* Changes a byte in the middle of a file that is read-only, and sets back its time and its mode. */
static void change(const char* file) {
  struct stat before;
  if (stat(file, &before) != 0) return;
  chmod(file, 0600);
  const int opened = open(file, O_RDWR);
  char byte = 0;
  if (pread(opened, &byte, 1, before.st_size / 2) == 1) {
    ++byte;
    if (pwrite(opened, &byte, 1, before.st_size / 2) != 1) exit(4);
  }
  const struct timespec times[2] = {before.st_atim, before.st_mtim};
  futimens(opened, times);
  close(opened);
  chmod(file, before.st_mode);
}

static void copy(const char* from, const char* to) {
  char bytes[1 << 16];
  FILE* in = fopen(from, "rb");
  FILE* out = fopen(to, "wb");
  if (in != NULL && out != NULL) fwrite(bytes, 1, fread(bytes, 1, sizeof bytes, in), out);
  if (in != NULL) fclose(in);
  if (out != NULL) fclose(out);
}

static void text_of(const char* request, const char* key, char* out, size_t size) {
  char quoted[64];
  const char* from;
  snprintf(quoted, sizeof quoted, "\"%s\":\"", key);
  from = strstr(request, quoted);
  out[0] = '\0';
  if (from == NULL) return;
  from += strlen(quoted);
  snprintf(out, size, "%.*s", (int)strcspn(from, "\""), from);
}

static void answer(const char* request, FILE* reply, long number) {
  char mode[32], file[4096], zeros[96] = {0};
  const unsigned char header[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
  volatile double sink = 0.0;
  volatile int* nowhere = NULL;
  if (strstr(request, "\"request\":\"describe\"") != NULL) {
    fprintf(reply, "{\"number\": %ld, %s}\n", number, description);
    return;
  }
  text_of(request, "mode", mode, sizeof mode);
  if (strcmp(mode, "crash") == 0) {
    fprintf(stderr, "last words\n");
    *nowhere = 1;
  }
  if (strcmp(mode, "exit") == 0) exit(3);
  while (strcmp(mode, "hang") == 0) sink = sink + 1.0;
  while (strcmp(mode, "leak") == 0) {
    char* block = malloc(8 << 20);
    if (block != NULL) memset(block, 1, 8 << 20);
  }
  if (strcmp(mode, "print") == 0) {
    for (int i = 0; i < 100000; ++i) printf("{\"number\": 0, \"a line\": %d}\n", i);
    fflush(stdout);
  }
  if (strcmp(mode, "write") == 0) {
    text_of(request, "problem", file, sizeof file);
    chmod(file, 0600);
    FILE* const problem = fopen(file, "ab");
    if (problem != NULL) fclose((fputc(0, problem), problem));
  }
  if (strcmp(mode, "restore") == 0) {
    text_of(request, "problem", file, sizeof file);
    change(file);
  }
  if (strcmp(mode, "dots") == 0) printf("..");
  if (strcmp(mode, "keep") == 0 || strcmp(mode, "warm") == 0) {
    text_of(request, "problem", file, sizeof file);
    if (is_new(strcmp(mode, "keep") == 0 ? file : "started")) work(0.03);
  }
  if (given_answer != NULL) {
    text_of(request, "answer", file, sizeof file - 8);
    copy(given_answer, strcat(file, ".hdf5"));
  } else if (strcmp(mode, "silent") != 0) {
    FILE* out;
    if (strcmp(mode, "nan") == 0) memset(zeros, 0xff, sizeof zeros);
    text_of(request, "answer", file, sizeof file);
    strcat(file, ".npy");
    out = fopen(file, "wb");
    fwrite(header, 1, sizeof header, out);
    fprintf(out, "%-117s\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (12,), }");
    fwrite(zeros, 1, sizeof zeros, out);
    fclose(out);
  }
  text_of(request, "answer", file, sizeof file - 8);
  strcat(file, ".npy");
  if (strcmp(mode, "lease") == 0) {
    /* It would hold up whoever opens the file, and go on working. */
    signal(SIGIO, SIG_IGN);
    fcntl(open(file, O_RDWR | O_CLOEXEC), F_SETLEASE, F_WRLCK);
  }
  if (strcmp(mode, "pipe") == 0) {
    remove(file);
    if (mkfifo(file, 0600) != 0) exit(4);
  }
  if (strcmp(mode, "diverge") == 0)
    fprintf(reply, "{\"number\": %ld, \"status\": \"diverged\", \"own_residual\": -Infinity, \"solve_s\": NaN}\n",
            number);
  else if (strcmp(mode, "count") == 0)
    fprintf(reply, "{\"number\": %ld, \"status\": \"stalled\", \"iterations\": 9200000000000000000}\n", number);
  else if (strcmp(mode, "nonsense") == 0)
    fprintf(reply, "{\"number\": %ld, \"status\": [\"converged\"]}\n", number);
  else if (strcmp(mode, "long") == 0)
    fprintf(reply, "{\"number\": %ld, \"status\": \"converged\", \"message\": \"%0100000d\"}\n", number, 7);
  else if (strcmp(mode, "where") == 0)
    fprintf(reply, "{\"number\": %ld, \"status\": \"stalled\", \"message\": \"%d and %d\"}\n", number, processors_of(0),
            processors_of(child));
  else if (strcmp(mode, "other") == 0)
    fprintf(reply, "{\"number\": %ld, \"status\": \"happy\"}\n", number);
  else if (strcmp(mode, "late") == 0)
    fprintf(reply, "{\"number\": %ld, \"status\": \"converged\", \"solve_s\": 1000}\n", number);
  else
    fprintf(reply, "{\"number\": %ld, \"status\": \"converged\", \"iterations\": 1}\n", number);
}

int main(int argc, char** argv) {
  static char request[1 << 16];
  char file[4096];
  if (argc > 2 && strcmp(argv[1], "child") == 0) {
    child = fork();
    for (; child == 0;) pause();
  } else if (argc > 2) {
    given_answer = argv[1];
  }
  if (argc > 1 && strcmp(argv[argc - 1], "-") == 0) {
    while (fgets(request, sizeof request, stdin) != NULL) {
      answer(request, stdout, strtol(strstr(request, "\"number\":") + 9, NULL, 10));
      fflush(stdout);
    }
    return 0;
  }
  FILE* in = argc > 1 ? fopen(argv[argc - 1], "r") : NULL;
  if (in == NULL || fgets(request, sizeof request, in) == NULL) return 2;
  fclose(in);
  text_of(request, "reply", file, sizeof file);
  FILE* reply = fopen(file, "w");
  answer(request, reply, 0);
  return fclose(reply);
}
