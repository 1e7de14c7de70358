// Norms of units, clip factors, and what they are multiplied with. A unit has as many rows of a chunk, one after the other, as
// it has examples; a table of rows takes units of one example only. Gradients that are written out are added up in a unit's first row.
//
// An entry of the table says how the gradient of one layer is found, in eight words:
//
// | kind | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
// |---|---|---|---|---|---|---|---|
// | 1 outer product | input | gradient | numbers of the input | numbers of the gradient | has a bias | group | rows of a unit |
// | 2 written out | gradients | - | numbers of a gradient | - | - | group | rows of a unit |
// | 3 rows of a table | tokens | gradient | places | numbers of a row | - | group | 1 |
#define OUTER 1
#define KEPT 2
#define TOKENS 3
#define WORDS 8

#define FLAT 1
#define PER_LAYER 2
#define AUTOMATIC 3

DEVICE double row_square(const float *x, i64 size) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    i64 i = threadIdx.x, skip = blockDim.x;
    for (; i + 3 * skip < size; i += 4 * skip)
        for (int k = 0; k < 4; k++) sums[k] += (double)x[i + k * skip] * (double)x[i + k * skip];
    for (; i < size; i += skip) sums[0] += (double)x[i] * (double)x[i];
    return block_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// The same of numbers whose squares may be rounded to single precision: each is at most 10⁻¹⁹ where that loses it. At most 16 squares are
// added up before they become doubles.
DEVICE double kept_square(const float *x, i64 size) {
    double sum = 0.0;
    i64 i = threadIdx.x, skip = blockDim.x;
    while (i + 3 * skip < size) {
        float parts[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int times = 0; times < 16 && i + 3 * skip < size; times++, i += 4 * skip)
            for (int k = 0; k < 4; k++) parts[k] += x[i + k * skip] * x[i + k * skip];
        sum += (double)parts[0] + (double)parts[1] + ((double)parts[2] + (double)parts[3]);
    }
    for (; i < size; i += skip) sum += (double)x[i] * (double)x[i];
    return block_sum(sum);
}

// Places whose tokens are compared in shared memory; the engine refuses longer texts.
#define MOST_PLACES 2048

// For every place of a row, whether its token stands there for the first time, and nowhere else: 0 no, 1 first of several, 2 alone.
DEVICE void sort_tokens(const float *tokens, i64 places, u8 *kinds) {
    SHARED float own[MOST_PLACES];
    for (i64 t = threadIdx.x; t < places; t += blockDim.x) own[t] = tokens[t];
    __syncthreads();
    for (i64 t = threadIdx.x; t < places; t += blockDim.x) {
        int before = 0, after = 0;
        for (i64 s = 0; s < t; s++) before |= own[s] == own[t];
        for (i64 s = t + 1; s < places; s++) after |= own[s] == own[t];
        kinds[t] = (u8)(before ? 0 : after ? 1 : 2);
    }
    __syncthreads();
}

// One column of the gradient of the token at place t: the sum over all places of that token.
DEVICE float token_row(const float *tokens, const float *g, i64 places, i64 width, i64 t, i64 j, int kind) {
    if (kind == 2) return g[t * width + j];
    float row = 0.0f;
    for (i64 s = t; s < places; s++)
        if (tokens[s] == tokens[t]) row += g[s * width + j];
    return row;
}

// The squared norm of the gradient of a table: the places of one token count together, at the first of them.
DEVICE double token_square(const float *tokens, const float *g, i64 places, i64 width) {
    SHARED u8 kinds[MOST_PLACES];
    double sum = 0.0;
    sort_tokens(tokens, places, kinds);
    for (i64 i = threadIdx.x; i < places * width; i += blockDim.x) {
        i64 t = quotient(i, width);
        if (kinds[t] == 0) continue;
        float row = token_row(tokens, g, places, width, t, i - t * width, kinds[t]);
        sum += (double)row * (double)row;
    }
    return block_sum(sum);
}

// What brings a vector of this squared norm to the bound, 1 if it is within it.
DEVICE float shortened(double bound, double square) {
    double norm = sqrt(square);
    return norm > bound ? (float)(bound / norm) : 1.0f;
}

// Whether a unit's gradient is so long that its factor would lose its digits, or is not finite.
DEVICE int is_too_long(double total, double bound) { return total > 1e30 * bound * (1e30 * bound) || !isfinite_(total); }

// The factor of one group from its squared norm and that of all groups: the rule of `Clipping::factors`.
DEVICE float clip_factor(double square, double total, int groups, int rule, double bound, double stability) {
    if (rule == FLAT) return shortened(bound, total);
    if (rule == PER_LAYER) return shortened(bound / sqrt((double)groups), square);
    return (float)(bound / (sqrt(total) + stability));
}

// The squared norms of all units whose gradients are written out or rows of a table: a block for each pair of a unit and an entry.
COOPERATIVE(measure, const u64 *table, int entries, double *squares, i64 units) {
    for (i64 pair = blockIdx.x; pair < units * entries; pair += gridDim.x) {
        i64 unit = quotient(pair, entries);
        const u64 *entry = table + (pair - unit * entries) * WORDS;
        if (entry[0] == OUTER) continue;
        const float *first = (const float *)entry[1];
        const float *second = (const float *)entry[2];
        i64 inner = (i64)entry[3], outer = (i64)entry[4];
        double square;
        if (entry[0] == KEPT) {
            square = kept_square(first + unit * inner * (i64)entry[7], inner);
        } else {
            square = token_square(first + unit * inner, second + unit * inner * outer, inner, outer);
        }
        if (threadIdx.x == 0) squares[pair] = square;
        __syncthreads();
    }
}

DEVICE double lanes_square(const float *x, i64 size, i64 lane) {
    double sums[2] = {0.0, 0.0};
    i64 i = lane;
    for (; i + SHARERS < size; i += 2 * SHARERS)
        for (int k = 0; k < 2; k++) sums[k] += (double)x[i + k * SHARERS] * (double)x[i + k * SHARERS];
    if (i < size) sums[0] += (double)x[i] * (double)x[i];
    return lanes_sum(sums[0] + sums[1]);
}

// The same of those that are outer products, where a unit has one row; eight threads for each pair.
COOPERATIVE(measure_outer, const u64 *table, int entries, double *squares, i64 units, double longest) {
    i64 each = blockDim.x / SHARERS, lane = threadIdx.x % SHARERS, pairs = units * entries;
    for (i64 start = blockIdx.x * each; start < pairs; start += gridDim.x * each) {
        i64 pair = start + threadIdx.x / SHARERS, unit = quotient(pair, entries);
        const u64 *entry = table + (pair - unit * entries) * WORDS;
        bool is_one = pair < pairs && entry[0] == OUTER;
        i64 inner = is_one ? (i64)entry[3] : 0, outer = is_one ? (i64)entry[4] : 0;
        double a = lanes_square((const float *)entry[1] + unit * inner, inner, lane);
        double g = lanes_square((const float *)entry[2] + unit * outer, outer, lane);
        if (!is_one || lane != 0) continue;
        a += (entry[5] ? 1.0 : 0.0);
        // Factors so long that a clip factor would lose its digits count as not finite.
        squares[pair] = a <= longest && g <= longest ? a * g : 1.0 / 0.0;
    }
}

DEVICE double row_product(const float *x, const float *y, i64 size) {
    double sum = 0.0;
    for (i64 i = threadIdx.x; i < size; i += blockDim.x) sum += (double)x[i] * (double)y[i];
    return block_sum(sum);
}

// The same where a unit has several rows x, y with gradients g, h: the sum of all (xy)(gh), and of gh where there is a bias. Rows that
// cancel count as a hundredth of their lengths at least: the product that adds them up rounds each of them, and what that leaves must stay
// small beside the bound. A block for each pair.
COOPERATIVE(measure_rows, const u64 *table, int entries, double *squares, i64 units, double longest) {
    for (i64 pair = blockIdx.x; pair < units * entries; pair += gridDim.x) {
        i64 unit = quotient(pair, entries);
        const u64 *entry = table + (pair - unit * entries) * WORDS;
        if (entry[0] != OUTER) continue;
        i64 inner = (i64)entry[3], outer = (i64)entry[4], rows = (i64)entry[7];
        const float *x = (const float *)entry[1] + unit * rows * inner;
        const float *g = (const float *)entry[2] + unit * rows * outer;
        double square = 0.0, lengths = 0.0;
        int is_odd = 0;
        for (i64 k = 0; k < rows; k++)
            for (i64 l = 0; l <= k; l++) {
                double a = row_product(x + k * inner, x + l * inner, inner) + (entry[5] ? 1.0 : 0.0);
                double b = row_product(g + k * outer, g + l * outer, outer);
                square += (k == l ? 1.0 : 2.0) * a * b;
                if (k != l) continue;
                is_odd |= !(a <= longest && b <= longest);
                lengths += sqrt(a * b);
            }
        double least = 1e-4 * lengths * lengths;
        if (threadIdx.x == 0) squares[pair] = is_odd ? 1.0 / 0.0 : square < least ? least : square;
        __syncthreads();
    }
}

// Adds the gradients of a unit's rows up, in the first of them.
KERNEL(add_rows, float *kept, i64 units, i64 size, i64 rows) {
    EACH(i, units * size) {
        i64 unit = quotient(i, size);
        float *own = kept + unit * rows * size + (i - unit * size);
        float sum = own[0];
        for (i64 k = 1; k < rows; k++) sum += own[k * size];
        own[0] = sum;
    }
}

// The factor of each group of every unit, from the squared norms of its entries, of which each has a group of its own.
KERNEL(find_factors, const u64 *table, int entries, const double *squares, float *factors, i64 units, int rule, double bound,
       double stability) {
    EACH(unit, units) {
        const double *own = squares + unit * entries;
        double total = 0.0;
        int is_odd = 0;
        for (int e = 0; e < entries; e++) {
            is_odd |= !(own[e] >= 0.0);
            total += own[e];
        }
        is_odd |= is_too_long(total, bound);
        for (int e = 0; e < entries; e++) {
            int group = (int)table[e * WORDS + 6];
            factors[unit * entries + group] = is_odd ? 0.0f : clip_factor(own[e], total, entries, rule, bound, stability);
        }
    }
}

// Multiplies what is to be summed by the factors, and sets what belongs to units of factor 0 to 0, so that no product can carry a
// NaN from there. Eight threads for each pair of a unit and an entry.
KERNEL(apply_factors, const u64 *table, int entries, const float *factors, i64 units) {
    i64 each = blockDim.x / SHARERS, lane = threadIdx.x % SHARERS, pairs = units * entries;
    for (i64 pair = blockIdx.x * each + threadIdx.x / SHARERS; pair < pairs; pair += gridDim.x * each) {
        i64 unit = quotient(pair, entries);
        const u64 *entry = table + (pair - unit * entries) * WORDS;
        i64 rows = (i64)entry[7], inner = (i64)entry[3] * rows, outer = (i64)entry[4] * rows;
        float factor = factors[unit * entries + (i64)entry[6]];
        float *first = (float *)entry[1] + unit * inner;
        if (entry[0] == OUTER) {
            float *g = (float *)entry[2] + unit * outer;
            for (i64 i = lane; i < outer; i += SHARERS) g[i] = factor == 0.0f ? 0.0f : g[i] * factor;
        }
        if (entry[0] != TOKENS && factor == 0.0f)
            for (i64 i = lane; i < inner; i += SHARERS) first[i] = 0.0f;
    }
}

// Adds the rows of tokens to the sum of a table, each multiplied by the factor of its unit; a block for each unit.
COOPERATIVE(add_tokens, const float *tokens, const float *g, const float *factors, int groups, int group, float *sum,
            i64 units, i64 places, i64 width) {
    SHARED u8 kinds[MOST_PLACES];
    for (i64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
        const float *own = tokens + unit * places, *rows = g + unit * places * width;
        float factor = factors[unit * groups + group];
        if (factor == 0.0f) continue;
        sort_tokens(own, places, kinds);
        for (i64 i = threadIdx.x; i < places * width; i += blockDim.x) {
            i64 t = quotient(i, width), j = i - t * width;
            if (kinds[t] == 0) continue;
            add_atomic(sum + (i64)own[t] * width + j, factor * token_row(own, rows, places, width, t, j, kinds[t]));
        }
        __syncthreads();
    }
}

// The squared norms of one gradient, group by group, and its factors; one block.
COOPERATIVE(measure_one, const float *gradient, const i64 *ranges, int count, double *squares, float *factors, int groups,
            int rule, double bound, double stability) {
    for (i64 i = threadIdx.x; i < groups; i += blockDim.x) squares[i] = 0.0;
    __syncthreads();
    for (int r = 0; r < count; r++) {
        double square = row_square(gradient + ranges[3 * r], ranges[3 * r + 1] - ranges[3 * r]);
        if (threadIdx.x == 0) squares[ranges[3 * r + 2]] += square;
        __syncthreads();
    }
    double total = 0.0;
    int is_odd = 0;
    for (int i = 0; i < groups; i++) {
        is_odd |= !(squares[i] >= 0.0);
        total += squares[i];
    }
    is_odd |= is_too_long(total, bound);
    for (i64 i = threadIdx.x; i < groups; i += blockDim.x)
        factors[i] = is_odd ? 0.0f : clip_factor(squares[i], total, groups, rule, bound, stability);
}

// Adds one gradient to the sum, each group multiplied by its factor.
KERNEL(add_one, const float *gradient, const i64 *ranges, int count, const float *factors, float *sum) {
    for (int r = 0; r < count; r++) {
        i64 start = ranges[3 * r];
        float factor = factors[ranges[3 * r + 2]];
        if (factor == 0.0f) continue;
        EACH(i, ranges[3 * r + 1] - start) sum[start + i] += factor * gradient[start + i];
    }
}
