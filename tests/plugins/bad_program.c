/* A program that goes wrong on request, by its option `mode`: once with a request file, or with `-` line by line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    "\"hang\", \"leak\", \"print\", \"silent\", \"late\", \"nonsense\", \"other\", \"exit\", \"nan\"], \"doc\": \"what "
    "goes "
    "wrong\"}]";

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
  if (strcmp(mode, "silent") != 0) {
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
  if (strcmp(mode, "nonsense") == 0)
    fprintf(reply, "{\"number\": %ld, \"status\": [\"converged\"]}\n", number);
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
