// Gaussian noise in whole steps of a grid, and its addition to a vector of floats: the sampler of `sampler/normal.rs` and the
// rounding of `bulk/mod.rs`, function by function. `proof.md` has the argument, `table.rs` the layout of the table.
//
// A chunk of 256 coordinates takes 32 groups of 8 words. Word j of group g, of which the place in its chunk is p = g mod 32, is
// the first word of coordinate 256*(g / 32) + 32*j + p, so neighbouring threads write neighbouring floats.

namespace noise {

// Groups of a chunk; also the distance between the coordinates of a group.
enum { LANES = 32 };

// Words of 64 bits in a block of ChaCha; also the coordinates of a group.
enum { GROUP = 8 };

// Products and sums of their own: the compiler may not contract them into one rounding.
DEVICE double multiply(double a, double b) {
#ifdef __CUDACC_RTC__
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

DEVICE double add(double a, double b) {
#ifdef __CUDACC_RTC__
    return __dadd_rn(a, b);
#else
    return a + b;
#endif
}

// The double that a word of the table holds.
DEVICE double real(u64 bits) {
#ifdef __CUDACC_RTC__
    return __longlong_as_double((long long)bits);
#else
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

// ---- ChaCha12 ----

struct Key {
    u32 words[8];
};

DEVICE u32 rotate(u32 x, int bits) {
    return (x << bits) | (x >> (32 - bits));
}

DEVICE void quarter_round(u32 &a, u32 &b, u32 &c, u32 &d) {
    a += b;
    d = rotate(d ^ a, 16);
    c += d;
    b = rotate(b ^ c, 12);
    a += b;
    d = rotate(d ^ a, 8);
    c += d;
    b = rotate(b ^ c, 7);
}

// The block of the keystream with this counter and this nonce.
DEVICE void block(const Key &key, u64 counter, u64 nonce, u64 *words) {
    u32 start[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u};
    for (int i = 0; i < 8; i++) {
        start[4 + i] = key.words[i];
    }
    start[12] = (u32)counter;
    start[13] = (u32)(counter >> 32);
    start[14] = (u32)nonce;
    start[15] = (u32)(nonce >> 32);
    u32 x[16];
    for (int i = 0; i < 16; i++) {
        x[i] = start[i];
    }
    for (int round = 0; round < 6; round++) {
        quarter_round(x[0], x[4], x[8], x[12]);
        quarter_round(x[1], x[5], x[9], x[13]);
        quarter_round(x[2], x[6], x[10], x[14]);
        quarter_round(x[3], x[7], x[11], x[15]);
        quarter_round(x[0], x[5], x[10], x[15]);
        quarter_round(x[1], x[6], x[11], x[12]);
        quarter_round(x[2], x[7], x[8], x[13]);
        quarter_round(x[3], x[4], x[9], x[14]);
    }
    for (int i = 0; i < GROUP; i++) {
        u64 low = x[2 * i] + start[2 * i];
        u64 high = x[2 * i + 1] + start[2 * i + 1];
        words[i] = low | high << 32;
    }
}

// Further words of a group. Its first words are the block of nonce 0; these are the blocks of nonce 1, 2, ...
struct Stream {
    Key key;
    u64 group;
    u64 nonce;
    u64 words[GROUP];
    int next;
};

DEVICE void begin(Stream &stream, const Key &key, u64 group) {
    stream.key = key;
    stream.group = group;
    stream.nonce = 0;
    stream.next = GROUP;
}

NOISE_RARE u64 word_of(Stream &stream) {
    if (stream.next == GROUP) {
        stream.nonce++;
        block(stream.key, stream.group, stream.nonce, stream.words);
        stream.next = 0;
    }
    return stream.words[stream.next++];
}

// ---- The same comparisons in doubles ----

enum { NO = 0, YES = 1, OPEN = 2 };

DEVICE double unit(u64 word) {
    return (double)word * (1.0 / 18446744073709551616.0);
}

DEVICE double cells_to_units(double cells) {
    return cells * (1.0 / 16777216.0);
}

// Whether y < f, when the doubles are far enough apart to tell.
DEVICE int order(double y, double f, const u64 *table) {
    double clear = real(table[CLEAR]);
    return y < f * (1.0 - clear) ? YES : y > f * (1.0 + clear) ? NO : OPEN;
}

DEVICE int wedge_in_doubles(const u64 *table, u32 layer, u32 magnitude, u64 position, u64 height) {
    double x = cells_to_units((double)magnitude + unit(position));
    double width = cells_to_units((double)(u32)table[layer]);
    double y = real(table[AREA]) * (real(table[FLOORS + layer]) + unit(height) / width);
    return order(y, exp(-0.5 * x * x), table);
}

DEVICE int tail_in_doubles(const u64 *table, u64 steps, u64 height) {
    double start = cells_to_units((double)table[TAIL_START]), base = cells_to_units((double)table[BASE_WIDTH]);
    double beyond = (double)steps / 72057594037927936.0;
    double exponent = -0.5 * start * start - beyond * (start - 1.0 / (base - start)) - 0.5 * beyond * beyond;
    return order(unit(height) * real(table[AREA]) / base, exp(exponent), table);
}

// ---- Samplers in integers, as in uniform.rs, bernoulli.rs and laplace.rs ----

// Uniform on {0, ..., n - 1}.
NOISE_RARE u64 uniform_below(Stream &stream, u64 n) {
    for (;;) {
        u64 word = word_of(stream);
        u64 low = word * n;
        if (low >= n || low >= (0 - n) % n) {
            return high64(word, n);
        }
    }
}

// True with probability num/den.
NOISE_RARE bool bernoulli(Stream &stream, u64 num, u64 den) {
    for (;;) {
        u64 word = word_of(stream);
        u64 low = word * den, high = high64(word, den);
        if (high >= num) {
            return false;
        }
        // num*2^64 - word*den, positive.
        u64 rest_low = 0 - low, rest_high = num - high - (low != 0);
        if (rest_high != 0 || rest_low >= den) {
            return true;
        }
        num = rest_low;
    }
}

// True with probability e^{-num/den}, for num < den < 2^55: whether the number of the first failure is odd. As many as 500
// trials have probability below 1/500!.
NOISE_RARE bool bernoulli_exp(Stream &stream, u64 num, u64 den) {
    if (num == 0) {
        return true;
    }
    u64 k = 1;
    while (k < 500 && bernoulli(stream, num, den * k)) {
        k++;
    }
    return k % 2 == 1;
}

// True with probability 1/e: a uniform real is below it, digit by digit. Four equal digits have probability 2^-256.
NOISE_RARE bool bernoulli_exp_one(Stream &stream, const u64 *table) {
    for (int i = 0; i < 4; i++) {
        u64 word = word_of(stream), digit = table[INVERSE_E + i];
        if (word != digit) {
            return word < digit;
        }
    }
    return false;
}

// P(X = x) = (1 - e^{-1/t})*e^{-x/t}, cut at 2^60, for 2^54 <= t < 2^55.
NOISE_RARE u64 geometric(Stream &stream, u64 t, const u64 *table) {
    u64 start = uniform_below(stream, t);
    while (!bernoulli_exp(stream, start, t)) {
        start = uniform_below(stream, t);
    }
    u64 rounds = 0;
    while (bernoulli_exp_one(stream, table)) {
        rounds++;
    }
    const u64 most = 1ull << 60;
    u64 value = rounds < 64 ? start + t * rounds : most;
    return value < most ? value : most;
}

// ---- The ziggurat, as in normal.rs ----

// The cell that a word gives; whether it is left open is returned.
DEVICE bool cell_at_once(u64 word, const u64 *table, int &cell) {
    u32 low = (u32)word, high = (u32)(word >> 32);
    u64 layer = table[low & 255];
    u32 width = (u32)layer, sure = (u32)(layer >> 32);
    u64 cells = 2 * width;
    u64 product = high * cells + (((low >> 8) * cells) >> 24);
    cell = (int)(product >> 32) - (int)width;
    u32 magnitude = (u32)(cell ^ (cell >> 31));
    return (magnitude >= sure) | ((u32)product < 8);
}

DEVICE int from_magnitude(u32 magnitude, bool negative) {
    return negative ? -(int)magnitude - 1 : (int)magnitude;
}

// A cell that the layer covers only in part, or the tail; whether it is accepted.
NOISE_RARE bool unsure(Stream &stream, const u64 *table, u32 layer, u32 magnitude, bool negative, int &cell) {
    u32 start = (u32)table[TAIL_START];
    bool is_tail = layer == 0 && magnitude >= start;
    u64 steps = 0, position = 0, height[5];
    if (is_tail) {
        u64 scale = (u64)((u32)table[BASE_WIDTH] - start) << TAIL_BITS;
        steps = geometric(stream, scale, table);
        magnitude = start + (u32)(steps >> TAIL_BITS);
    }
    position = word_of(stream);
    height[0] = word_of(stream);
    int accept = is_tail ? tail_in_doubles(table, steps, height[0])
                         : wedge_in_doubles(table, layer, magnitude, position, height[0]);
    if (accept == OPEN) {
        for (int i = 1; i < 5; i++) {
            height[i] = word_of(stream);
        }
        bool under = is_tail ? tail_exactly(table, steps, (u32)position, height)
                             : wedge_exactly(table, layer, magnitude, position, height);
        accept = under ? YES : NO;
    }
    cell = from_magnitude(magnitude, negative);
    return accept == YES;
}

// An attempt whose first word is given; whether it is accepted.
NOISE_RARE bool attempt(u64 word, Stream &stream, const u64 *table, int &cell) {
    u32 layer = (u32)word & 255;
    u32 width = (u32)table[layer], sure = (u32)(table[layer] >> 32);
    u64 cells = 2 * width;
    u64 position = word & ~255ull;
    while (position * cells < cells << 8 && (position * cells) >> 8 < (1ull << 56) % cells) {
        position = word_of(stream) & ~255ull;
    }
    cell = (int)high64(position, cells) - (int)width;
    u32 magnitude = (u32)(cell ^ (cell >> 31));
    return magnitude < sure || unsure(stream, table, layer, magnitude, cell < 0, cell);
}

// The cell of a word that is left open, with as many further words as it takes.
NOISE_RARE int settle(u64 word, Stream &stream, const u64 *table) {
    int cell;
    while (!attempt(word, stream, table, cell)) {
        word = word_of(stream);
    }
    return cell;
}

// The first coordinate of a group.
DEVICE i64 first_of(i64 group) {
    return group / LANES * (LANES * GROUP) + group % LANES;
}

// The number of groups of n coordinates: whole chunks.
DEVICE i64 groups_of(i64 n) {
    return (n + LANES * GROUP - 1) / (LANES * GROUP) * LANES;
}

// The words of a group that are left open, one bit each, and their cells once they are settled.
struct Open {
    u64 words[GROUP];
    u32 places;
    Stream stream;
    int cells[GROUP];
};

// Settles open words in order, all from the one stream of the group.
NOISE_RARE void settle_all(Open &open, const u64 *table) {
    for (int j = 0; j < GROUP; j++) {
        if (open.places >> j & 1) {
            open.cells[j] = settle(open.words[j], open.stream, table);
        }
    }
}

// Draws the cells of n coordinates and puts each into its place of the target.
template <class Target>
DEVICE void draw(const Key &key, i64 n, const u64 *table, const Target &target) {
    i64 groups = groups_of(n), threads = (i64)gridDim.x * blockDim.x;
    for (i64 group = (i64)blockIdx.x * blockDim.x + threadIdx.x; group < groups; group += threads) {
        i64 first = first_of(group);
        // What is read early has arrived when the words are there.
        float before[GROUP];
        for (int j = 0; j < GROUP; j++) {
            before[j] = first + LANES * j < n ? value_of(target, first + LANES * j) : 0.0f;
        }
        u64 words[GROUP];
        block(key, (u64)group, 0, words);
        u32 places = 0;
        for (int j = 0; j < GROUP; j++) {
            i64 place = first + LANES * j;
            int cell;
            bool is_open = cell_at_once(words[j], table, cell);
            if (place < n && !is_open) {
                put(target, place, before[j], cell);
            }
            places |= (u32)(place < n && is_open) << j;
        }
        if (places != 0) {
            Open open;
            open.places = places;
            for (int j = 0; j < GROUP; j++) {
                open.words[j] = words[j];
            }
            begin(open.stream, key, (u64)group);
            settle_all(open, table);
            for (int j = 0; j < GROUP; j++) {
                i64 place = first + LANES * j;
                if (places >> j & 1) {
                    put(target, place, value_of(target, place), open.cells[j]);
                }
            }
        }
    }
}

// A value on the grid of steps with the noise of its cell. A value that is not finite counts as 0.
DEVICE float noisy(float value, int cell, double step, double inverse) {
    const double limit = 1099511627776.0;
    const double rounder = 6755399441055744.0;
    double steps = multiply(isfinite_(value) ? (double)value : 0.0, inverse);
    steps = steps < -limit ? -limit : steps > limit ? limit : steps;
    double whole = add(add(steps, rounder), -rounder);
    return (float)multiply(add(add(whole, (double)cell), 0.5), step);
}

// Where the noise is written, in steps.
struct Cells {
    int *cells;
};

DEVICE float value_of(const Cells &, i64) {
    return 0.0f;
}

DEVICE void put(const Cells &target, i64 place, float, int cell) {
    target.cells[place] = cell;
}

} // namespace noise

#undef NOISE_RARE
#undef NOISE_SMALL

// Few enough registers for four blocks of 256 threads at a time; the rare paths have to spill.
#ifdef __CUDACC_RTC__
extern "C" __global__ void __launch_bounds__(256, 4)
    noise_draw(int *cells, i64 n, u32 key0, u32 key1, u32 key2, u32 key3, u32 key4, u32 key5, u32 key6, u32 key7,
               const u64 *table);
#endif

// Draws noise for n values, in steps, from this key alone: a key serves one launch.
KERNEL(noise_draw, int *cells, i64 n, u32 key0, u32 key1, u32 key2, u32 key3, u32 key4, u32 key5, u32 key6, u32 key7,
       const u64 *table) {
    noise::Key key = {{key0, key1, key2, key3, key4, key5, key6, key7}};
    noise::Cells target = {cells};
    noise::draw(key, n, table, target);
}

// Rounds n values to the grid of steps, adds noise that was drawn to each, and erases it.
KERNEL(noise_add, float *values, int *cells, i64 n, double step) {
    double inverse = 1.0 / step;
    i64 threads = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        values[i] = noise::noisy(values[i], cells[i], step, inverse);
        cells[i] = 0;
    }
}
