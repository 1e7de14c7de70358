// The height comparisons of the ziggurat in fixed point, as in `sampler/normal_big.rs`, and the layout of the table, which
// `table.rs` explains.

// Keeps the rare paths out of the registers of the common one, and their loops small.
#ifdef __CUDACC_RTC__
#define NOISE_RARE static __device__ __noinline__
#define NOISE_SMALL _Pragma("unroll 1")
#else
#define NOISE_RARE static
#define NOISE_SMALL
#endif

namespace noise {

// Where each part of the table begins.
enum {
    FLOORS = 256,
    LEVELS = 512,
    CORRECTION = 2560,
    INVERSE_E = 2568,
    AREA = 2572,
    MANTISSA = 2573,
    SHIFT = 2574,
    CLEAR = 2575,
    TAIL_START = 2576,
    BASE_WIDTH = 2577
};

// Extra bits of position drawn in the tail.
enum { TAIL_BITS = 32 };

// ---- Numbers of 512 bits, the lowest word first, changed in place: that takes the least memory ----

enum { WIDE = 8 };

// Makes the lowest word of a number this one and all others 0.
DEVICE void set(u64 *a, u64 word) {
    NOISE_SMALL for (int i = 1; i < WIDE; i++) {
        a[i] = 0;
    }
    a[0] = word;
}

DEVICE bool is_zero(const u64 *a) {
    u64 any = 0;
    NOISE_SMALL for (int i = 0; i < WIDE; i++) {
        any |= a[i];
    }
    return any == 0;
}

DEVICE bool is_less(const u64 *a, const u64 *b) {
    NOISE_SMALL for (int i = WIDE - 1; i >= 0; i--) {
        if (a[i] != b[i]) {
            return a[i] < b[i];
        }
    }
    return false;
}

// a + b.
NOISE_RARE void increase(u64 *a, const u64 *b) {
    u64 carry = 0;
    NOISE_SMALL for (int i = 0; i < WIDE; i++) {
        u64 word = a[i] + carry;
        carry = word < carry;
        word += b[i];
        carry += word < b[i];
        a[i] = word;
    }
}

// a - b, for b <= a.
NOISE_RARE void decrease(u64 *a, const u64 *b) {
    u64 borrow = 0;
    NOISE_SMALL for (int i = 0; i < WIDE; i++) {
        u64 word = a[i] - b[i];
        u64 next = (a[i] < b[i]) | (word < borrow);
        a[i] = word - borrow;
        borrow = next;
    }
}

// a * b without the lowest `dropped` words, at most 8. Both may be the same number.
NOISE_RARE void multiply_by(u64 *a, const u64 *b, int dropped) {
    u64 full[2 * WIDE];
    NOISE_SMALL for (int i = 0; i < 2 * WIDE; i++) {
        full[i] = 0;
    }
    NOISE_SMALL for (int i = 0; i < WIDE; i++) {
        u64 carry = 0;
        NOISE_SMALL for (int j = 0; j < WIDE; j++) {
            u64 low = a[i] * b[j];
            u64 high = high64(a[i], b[j]);
            low += full[i + j];
            high += low < full[i + j];
            low += carry;
            high += low < carry;
            full[i + j] = low;
            carry = high;
        }
        full[i + WIDE] = carry;
    }
    NOISE_SMALL for (int i = 0; i < WIDE; i++) {
        a[i] = full[i + dropped];
    }
}

// a / divisor.
NOISE_RARE void divide_by(u64 *a, u32 divisor) {
    u64 rest = 0;
    NOISE_SMALL for (int i = WIDE - 1; i >= 0; i--) {
        u64 upper = rest << 32 | a[i] >> 32;
        u64 lower = (upper % divisor) << 32 | (a[i] & 0xffffffffull);
        rest = lower % divisor;
        a[i] = (upper / divisor) << 32 | lower / divisor;
    }
}

// a * 2^bits.
NOISE_RARE void shift_left(u64 *a, int bits) {
    int whole = bits / 64, part = bits % 64;
    NOISE_SMALL for (int i = WIDE - 1; i >= 0; i--) {
        u64 word = i >= whole ? a[i - whole] << part : 0;
        a[i] = part != 0 && i > whole ? word | a[i - whole - 1] >> (64 - part) : word;
    }
}

// a / 2^bits.
NOISE_RARE void shift_right(u64 *a, int bits) {
    int whole = bits / 64, part = bits % 64;
    NOISE_SMALL for (int i = 0; i < WIDE; i++) {
        u64 word = i + whole < WIDE ? a[i + whole] >> part : 0;
        a[i] = part != 0 && i + whole < WIDE - 1 ? word | a[i + whole + 1] << (64 - part) : word;
    }
}

// ---- The height comparisons in fixed point, as in normal_big.rs ----

// Fractional words of everything compared; an exponential is computed with a further one.
enum { FRACTION = 6 };

// Times the argument of an exponential is halved, and its value squared again.
enum { HALVINGS = 12 };

// Turns z into 2^384 * e^(-x) for x = z * 2^12 / 2^448.
NOISE_RARE void exp_negative(u64 *z) {
    u64 positive[WIDE], negative[WIDE], term[WIDE];
    set(positive, 0);
    positive[FRACTION + 1] = 1;
    set(negative, 0);
    NOISE_SMALL for (int i = 0; i < WIDE; i++) {
        term[i] = z[i];
    }
    NOISE_SMALL for (u32 k = 1; !is_zero(term); k++) {
        increase(k % 2 == 1 ? negative : positive, term);
        multiply_by(term, z, FRACTION + 1);
        divide_by(term, k + 1);
    }
    decrease(positive, negative);
    NOISE_SMALL for (int i = 0; i < HALVINGS; i++) {
        multiply_by(positive, positive, FRACTION + 1);
    }
    // Without the further word.
    NOISE_SMALL for (int i = 0; i < WIDE; i++) {
        z[i] = i + 1 < WIDE ? positive[i + 1] : 0;
    }
}

// 2^384 * e^(-x^2/2) for x = (2*(upper*2^64 + lower) + 1) / 2^89.
NOISE_RARE void density(u64 *value, u64 upper, u64 lower) {
    set(value, lower << 1 | 1);
    value[1] = upper << 1 | lower >> 63;
    multiply_by(value, value, 0);
    // Over 2^179, in units of 2^-448 and halved twelve times: 448 - 179 - 12 = 257.
    shift_left(value, 257);
    exp_negative(value);
}

// Five words of height as a fraction of 384 bits, the first word on top.
DEVICE void set_height(u64 *value, const u64 *height) {
    set(value, 0);
    NOISE_SMALL for (int i = 0; i < 5; i++) {
        value[FRACTION - 1 - i] = height[i];
    }
}

// Whether a point of a layer's wedge lies under the density.
NOISE_RARE bool wedge_exactly(const u64 *table, u32 layer, u32 magnitude, u64 position, const u64 *height) {
    u64 level[WIDE], other[WIDE];
    set_height(level, height);
    shift_left(level, 24);
    divide_by(level, (u32)table[layer]);
    increase(level, table + LEVELS + WIDE * layer);
    set(other, table[MANTISSA]);
    multiply_by(level, other, 0);
    shift_right(level, (int)table[SHIFT]);
    density(other, magnitude, position);
    return is_less(level, other);
}

// Whether a point under the tail's staircase lies under the density.
NOISE_RARE bool tail_exactly(const u64 *table, u64 steps, u32 inside, const u64 *height) {
    u32 start = (u32)table[TAIL_START], base = (u32)table[BASE_WIDTH];
    u64 level[WIDE], other[WIDE];
    set(level, steps);
    // Over (base - start) * 2^32, in units of 2^-448 and halved twelve times: 448 - 32 - 12 = 404.
    shift_left(level, 404);
    divide_by(level, base - start);
    exp_negative(level);
    multiply_by(level, table + CORRECTION, FRACTION);
    set_height(other, height);
    multiply_by(level, other, FRACTION);
    set(other, table[MANTISSA]);
    multiply_by(level, other, 0);
    shift_left(level, 24);
    shift_right(level, (int)table[SHIFT]);
    divide_by(level, base);
    u64 position = ((u64)start << TAIL_BITS) + steps;
    density(other, position >> 32, position << 32 | inside);
    return is_less(level, other);
}

} // namespace noise
