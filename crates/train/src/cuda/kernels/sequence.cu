// Layers along time, and layers that move numbers.

KERNEL(embed, const float *tokens, const float *table, float *y, i64 places, i64 width) {
    EACH(i, places * width) y[i] = table[(i64)tokens[quotient(i, width)] * width + remainder_of(i, width)];
}

// The share of each token of a text in its mean: padding, which is 0, does not count.
DEVICE float token_share(const float *tokens, i64 places) {
    i64 count = 0;
    for (i64 t = 0; t < places; t++) count += tokens[t] != 0.0f;
    return count ? 1.0f / (float)count : 0.0f;
}

// The mean of the rows of a table over the tokens of each text.
KERNEL(embed_bag, const float *tokens, const float *table, float *y, i64 rows, i64 places, i64 width) {
    EACH(i, rows * width) {
        i64 row = quotient(i, width), j = i - row * width;
        const float *own = tokens + row * places;
        float sum = 0.0f;
        for (i64 t = 0; t < places; t++)
            if (own[t] != 0.0f) sum += table[(i64)own[t] * width + j];
        y[i] = sum * token_share(own, places);
    }
}

// What each place adds to the row of its token: [rows][places][width].
KERNEL(embed_bag_back, const float *tokens, const float *g, float *slopes, i64 rows, i64 places, i64 width) {
    i64 size = places * width;
    EACH(i, rows * size) {
        i64 row = quotient(i, size), place = quotient(i - row * size, width), j = i - row * size - place * width;
        const float *own = tokens + row * places;
        slopes[i] = own[place] != 0.0f ? g[row * width + j] * token_share(own, places) : 0.0f;
    }
}

// Rows of scores become probabilities of score · scale; eight threads for each.
COOPERATIVE(softmax_rows, float *scores, i64 rows, i64 width, float scale, int causal) {
    i64 each = blockDim.x / SHARERS, lane = threadIdx.x % SHARERS;
    for (i64 first = blockIdx.x * each; first < rows; first += gridDim.x * each) {
        i64 r = first + threadIdx.x / SHARERS, length = r < rows ? width : 0;
        float *own = scores + r * width;
        if (causal && r < rows) {
            length = remainder_of(r, width) + 1;
            for (i64 j = length + lane; j < width; j += SHARERS) own[j] = 0.0f;
        }
        float most = -1.0f / 0.0f;
        for (i64 j = lane; j < length; j += SHARERS) most = fmaxf(most, own[j]);
        most = lanes_most(most);
        float sum = 0.0f;
        for (i64 j = lane; j < length; j += SHARERS) {
            own[j] = expf((own[j] - most) * scale);
            sum += own[j];
        }
        float inverse = (float)(1.0 / lanes_sum((double)sum));
        for (i64 j = lane; j < length; j += SHARERS) own[j] *= inverse;
    }
}

// Gradients of probabilities become those of the scores.
COOPERATIVE(softmax_back, float *g, const float *p, i64 rows, i64 width, float scale) {
    i64 each = blockDim.x / SHARERS, lane = threadIdx.x % SHARERS;
    for (i64 first = blockIdx.x * each; first < rows; first += gridDim.x * each) {
        i64 r = first + threadIdx.x / SHARERS, length = r < rows ? width : 0;
        float dot = 0.0f;
        for (i64 j = lane; j < length; j += SHARERS) dot += g[r * width + j] * p[r * width + j];
        float mean = (float)lanes_sum((double)dot);
        for (i64 j = lane; j < length; j += SHARERS) {
            i64 at = r * width + j;
            g[at] = p[at] * (g[at] - mean) * scale;
        }
    }
}

// [rows][columns] to [columns][rows], matrix after matrix; the gradient goes the other way by the same kernel.
KERNEL(transpose, const float *x, float *y, i64 count, i64 rows, i64 columns, int add) {
    i64 size = rows * columns;
    EACH(i, count * size) {
        i64 own = remainder_of(i, size), column = quotient(own, rows);
        float value = x[i - own + (own - column * rows) * columns + column];
        y[i] = add ? y[i] + value : value;
    }
}

// The mean over the places of [places][width], and over the places of [width][places].
KERNEL(mean_places, const float *x, float *y, i64 rows, i64 places, i64 width, int is_inner) {
    EACH(i, rows * width) {
        const float *own = is_inner ? x + i * places : x + i / width * places * width + i % width;
        i64 skip = is_inner ? 1 : width;
        float sum = 0.0f;
        for (i64 p = 0; p < places; p++) sum += own[p * skip];
        y[i] = sum / (float)places;
    }
}

KERNEL(mean_places_back, const float *g, float *below, i64 rows, i64 places, i64 width, int is_inner, int add) {
    i64 size = places * width;
    EACH(i, rows * size) {
        float share = g[is_inner ? i / places : i / size * width + i % width] / (float)places;
        below[i] = add ? below[i] + share : share;
    }
}

// The last of the places of [places][width].
KERNEL(last_place, const float *x, float *y, i64 rows, i64 places, i64 width) {
    EACH(i, rows * width) y[i] = x[(i / width * places + places - 1) * width + i % width];
}

KERNEL(last_place_back, const float *g, float *below, i64 rows, i64 places, i64 width, int add) {
    i64 size = places * width;
    EACH(i, rows * size) {
        float own = i % size / width == places - 1 ? g[i / size * width + i % width] : 0.0f;
        below[i] = add ? below[i] + own : own;
    }
}

// Bits of a ChaCha12 stream decide what is dropped: 0, or 1/(1 − rate). A thread makes 32 decisions of 16 bits from one block.
DEVICE u32 turned(u32 x, int by) { return x << by | x >> (32 - by); }

#define QUARTER(a, b, c, d) \
    a += b, d = turned(d ^ a, 16), c += d, b = turned(b ^ c, 12), a += b, d = turned(d ^ a, 8), c += d, b = turned(b ^ c, 7)

KERNEL(drop, const float *x, float *mask, float *y, i64 n, u32 threshold, float keep, u32 k0, u32 k1, u32 k2, u32 k3, u32 k4,
       u32 k5, u32 k6, u32 k7) {
    EACH(block, (n + 31) / 32) {
        u32 s[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u, k0, k1, k2, k3,
                     k4, k5, k6, k7, (u32)block, (u32)((u64)block >> 32), 0u, 0u};
        u32 w[16];
        for (int i = 0; i < 16; i++) w[i] = s[i];
        for (int round = 0; round < 6; round++) {
            QUARTER(w[0], w[4], w[8], w[12]);
            QUARTER(w[1], w[5], w[9], w[13]);
            QUARTER(w[2], w[6], w[10], w[14]);
            QUARTER(w[3], w[7], w[11], w[15]);
            QUARTER(w[0], w[5], w[10], w[15]);
            QUARTER(w[1], w[6], w[11], w[12]);
            QUARTER(w[2], w[7], w[8], w[13]);
            QUARTER(w[3], w[4], w[9], w[14]);
        }
        for (int i = 0; i < 32; i++) {
            i64 at = block * 32 + i;
            if (at >= n) break;
            u32 word = w[i / 2] + s[i / 2];
            float own = (i % 2 ? word >> 16 : word & 0xffffu) < threshold ? 0.0f : keep;
            mask[at] = own;
            y[at] = x[at] * own;
        }
    }
}
