// What all kernels share. A C++ compiler gets the same names from the emulator of the tests.
#ifdef __CUDACC_RTC__
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned char u8;
#define KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__)
#define COOPERATIVE(name, ...) extern "C" __global__ void name(__VA_ARGS__)
#define DEVICE __device__ __forceinline__
#define SHARED __shared__
// Threads of a block.
#define BLOCK 256
#define isfinite_(x) isfinite(x)
DEVICE void add_atomic(float *into, float x) { atomicAdd(into, x); }
DEVICE u64 high64(u64 a, u64 b) { return __umul64hi(a, b); }
// The sum, and the largest, over eight neighbouring threads, which all of them get. All threads of a block call it together.
DEVICE double lanes_sum(double x) {
    for (int by = 4; by > 0; by /= 2) x += __shfl_xor_sync(0xffffffffu, x, by);
    return x;
}
// The sum over the threads of a block, which all of them get.
DEVICE double block_sum(double x) {
    SHARED double parts[32];
    for (int by = 16; by > 0; by /= 2) x += __shfl_xor_sync(0xffffffffu, x, by);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    double sum = 0.0;
    for (u32 i = 0; i < blockDim.x / 32; i++) sum += parts[i];
    __syncthreads();
    return sum;
}
DEVICE float lanes_most(float x) {
    for (int by = 4; by > 0; by /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, by));
    return x;
}
#endif
#define SHARERS 8

// a/b and a mod b of numbers that are not negative; division of small ones is much faster.
DEVICE i64 quotient(i64 a, i64 b) { return ((u64)(a | b)) >> 32 ? a / b : (i64)((u32)a / (u32)b); }
DEVICE i64 remainder_of(i64 a, i64 b) { return ((u64)(a | b)) >> 32 ? a % b : (i64)((u32)a % (u32)b); }

// All numbers i below n that belong to this thread.
#define EACH(i, n) \
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (i64)gridDim.x * blockDim.x)

DEVICE float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }
