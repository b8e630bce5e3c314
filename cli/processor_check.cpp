#include <unistd.h>

#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

// Compiled for any x86-64, and run before static objects are made: nothing here may need what it looks for.
#define CONEBENCH_ANY_PROCESSOR __attribute__((target("arch=x86-64")))

CONEBENCH_ANY_PROCESSOR void say(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

CONEBENCH_ANY_PROCESSOR void need(bool present, const char* name) {
  if (present) return;
  constexpr int bad_input = 3;
  say("conebench: this build needs a processor with ");
  say(name);
  say(", which this one lacks; use a build for any (the Debian package, or CONEBENCH_NATIVE=OFF), or another "
      "machine\n");
  _exit(bad_input);
}

__attribute__((constructor(101))) CONEBENCH_ANY_PROCESSOR void check_processor() {
  __builtin_cpu_init();
#ifdef __SSE4_2__
  need(__builtin_cpu_supports("sse4.2"), "SSE4.2");
#endif
#ifdef __AVX__
  need(__builtin_cpu_supports("avx"), "AVX");
#endif
#ifdef __AVX2__
  need(__builtin_cpu_supports("avx2"), "AVX2");
#endif
#ifdef __BMI2__
  need(__builtin_cpu_supports("bmi2"), "BMI2");
#endif
#ifdef __FMA__
  need(__builtin_cpu_supports("fma"), "FMA");
#endif
#ifdef __FMA4__
  need(__builtin_cpu_supports("fma4"), "FMA4");
#endif
#ifdef __AVX512F__
  need(__builtin_cpu_supports("avx512f"), "AVX-512F");
#endif
#ifdef __AVX512BW__
  need(__builtin_cpu_supports("avx512bw"), "AVX-512BW");
#endif
#ifdef __AVX512DQ__
  need(__builtin_cpu_supports("avx512dq"), "AVX-512DQ");
#endif
#ifdef __AVX512VL__
  need(__builtin_cpu_supports("avx512vl"), "AVX-512VL");
#endif
#ifdef __AVX512VNNI__
  need(__builtin_cpu_supports("avx512vnni"), "AVX-512VNNI");
#endif
#ifdef __AVX512VBMI2__
  need(__builtin_cpu_supports("avx512vbmi2"), "AVX-512VBMI2");
#endif
}

}  // namespace

#endif
