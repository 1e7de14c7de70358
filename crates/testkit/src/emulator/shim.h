// CUDA's words for a C++ compiler: blocks one after the other, the threads of a block as fibers that take turns at __syncthreads().
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <csetjmp>
#include <cstring>
#include <ucontext.h>

typedef uint32_t u32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned char u8;

struct Three {
    u32 x, y, z;
};
static Three threadIdx, blockIdx, blockDim, gridDim;

static const u32 MOST_THREADS = 256;
#define BLOCK 8
static const size_t STACK = 1 << 16;
static ucontext_t first;
static jmp_buf home, fibers[MOST_THREADS];
static char stacks[MOST_THREADS][STACK];
static bool is_done[MOST_THREADS], is_begun[MOST_THREADS];

static inline void __syncthreads() {
    u32 own = threadIdx.x;
    if (!_setjmp(fibers[own])) _longjmp(home, 1);
    threadIdx.x = own;
}

struct Entry {
    const char *name;
    void (*call)(void **);
    bool takes_turns;
    Entry *next;
};
static Entry *entries;

template <class T> static T &argument(void *p) { return *static_cast<T *>(p); }
template <class... A> struct Call;
template <> struct Call<> {
    template <class F, class... B> static void with(F f, void **, B... before) { f(before...); }
};
template <class A, class... Rest> struct Call<A, Rest...> {
    template <class F, class... B> static void with(F f, void **p, B... before) {
        Call<Rest...>::with(f, p + 1, before..., argument<A>(*p));
    }
};
template <class... A> static void call(void (*f)(A...), void **p) { Call<A...>::with(f, p); }

struct Registered {
    Entry entry;
    Registered(const char *name, void (*call)(void **), bool takes_turns) : entry{name, call, takes_turns, entries} {
        entries = &entry;
    }
};

#define DECLARED(name, turns, ...)                                \
    static void name(__VA_ARGS__);                                \
    static void call_##name(void **p) { call(name, p); }          \
    static Registered entry_##name(#name, call_##name, turns);    \
    static void name(__VA_ARGS__)
#define KERNEL(name, ...) DECLARED(name, false, __VA_ARGS__)
#define COOPERATIVE(name, ...) DECLARED(name, true, __VA_ARGS__)
#define DEVICE static inline
#define SHARED static
#define isfinite_(x) std::isfinite(x)
static inline void add_atomic(float *into, float x) { *into += x; }
static inline u64 high64(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }

static double block_sum(double x) {
    static double parts[MOST_THREADS];
    parts[threadIdx.x] = x;
    __syncthreads();
    double sum = 0.0;
    for (u32 i = 0; i < blockDim.x; i++) sum += parts[i];
    __syncthreads();
    return sum;
}
static double lanes_sum(double x) {
    static double parts[MOST_THREADS];
    parts[threadIdx.x] = x;
    __syncthreads();
    double sum = 0.0;
    for (u32 i = 0; i < 8; i++) sum += parts[threadIdx.x / 8 * 8 + i];
    __syncthreads();
    return sum;
}
static float lanes_most(float x) {
    static float parts[MOST_THREADS];
    parts[threadIdx.x] = x;
    __syncthreads();
    float most = parts[threadIdx.x / 8 * 8];
    for (u32 i = 1; i < 8; i++) most = fmaxf(most, parts[threadIdx.x / 8 * 8 + i]);
    __syncthreads();
    return most;
}

static void (*running)(void **);
static void **given;
static void fiber() {
    u32 own = threadIdx.x;
    running(given);
    is_done[own] = true;
    _longjmp(home, 1);
}

// Runs a kernel; 1 if there is none of that name.
extern "C" int emulator_launch(const char *name, u32 blocks, u32 threads, void **arguments) {
    static Entry *entry;
    entry = entries;
    while (entry && strcmp(entry->name, name) != 0) entry = entry->next;
    if (!entry || threads > MOST_THREADS) return 1;
    gridDim = {blocks, 1, 1};
    blockDim = {threads, 1, 1};
    static u32 block;
    for (block = 0; block < blocks; block++) {
        blockIdx = {block, 0, 0};
        if (!entry->takes_turns) {
            for (u32 thread = 0; thread < threads; thread++) {
                threadIdx = {thread, 0, 0};
                entry->call(arguments);
            }
            continue;
        }
        running = entry->call;
        given = arguments;
        for (u32 thread = 0; thread < threads; thread++) is_done[thread] = is_begun[thread] = false;
        // Kept out of registers, which a jump restores.
        static bool is_left;
        static u32 thread;
        for (is_left = true; is_left;) {
            is_left = false;
            for (thread = 0; thread < threads; thread++) {
                if (is_done[thread]) continue;
                threadIdx = {thread, 0, 0};
                if (!_setjmp(home)) {
                    if (is_begun[thread]) _longjmp(fibers[thread], 1);
                    is_begun[thread] = true;
                    getcontext(&first);
                    first.uc_stack.ss_sp = stacks[thread];
                    first.uc_stack.ss_size = STACK;
                    makecontext(&first, fiber, 0);
                    setcontext(&first);
                }
                is_left |= !is_done[thread];
            }
        }
    }
    return 0;
}
