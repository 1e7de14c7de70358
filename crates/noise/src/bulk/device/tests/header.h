// What a plain C++ compiler needs before the kernels.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

typedef unsigned u32;
typedef unsigned long long u64;
typedef long long i64;

struct Place {
    unsigned x;
};

// An odd number of blocks: threads take several groups, and not equally many.
static Place blockIdx, threadIdx, blockDim = {8}, gridDim = {5};

#define KERNEL(name, ...) static void name(__VA_ARGS__)
#define DEVICE static inline

DEVICE u64 high64(u64 a, u64 b) {
    return (u64)(((unsigned __int128)a * b) >> 64);
}

DEVICE bool isfinite_(float x) {
    return __builtin_isfinite(x);
}

