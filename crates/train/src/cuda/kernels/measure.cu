// Norms of units, clip factors, and what they are multiplied with. A unit is one example here: a row of a chunk.
//
// An entry of the table says how the gradient of one layer is found, in eight words:
//
// | kind | 1 | 2 | 3 | 4 | 5 | 6 |
// |---|---|---|---|---|---|---|
// | 1 outer product | input | gradient | numbers of the input | numbers of the gradient | has a bias | group |
// | 2 written out | gradients | - | numbers of a gradient | - | - | group |
// | 3 rows of a table | tokens | gradient | places | numbers of a row | - | group |
#define OUTER 1
#define KEPT 2
#define TOKENS 3
#define WORDS 8

#define FLAT 1
#define PER_LAYER 2
#define AUTOMATIC 3

DEVICE double row_square(const float *x, i64 size) {
    double sum = 0.0;
    for (i64 i = threadIdx.x; i < size; i += blockDim.x) sum += (double)x[i] * (double)x[i];
    return block_sum(sum);
}

// The squared norm of the gradient of a table: the places of one token count together, at the first of them.
DEVICE double token_square(const float *tokens, const float *g, i64 places, i64 width) {
    double sum = 0.0;
    for (i64 t = 0; t < places; t++) {
        int is_first = 1;
        for (i64 s = 0; s < t; s++) is_first &= tokens[s] != tokens[t];
        if (!is_first) continue;
        for (i64 j = threadIdx.x; j < width; j += blockDim.x) {
            float row = 0.0f;
            for (i64 s = t; s < places; s++)
                if (tokens[s] == tokens[t]) row += g[s * width + j];
            sum += (double)row * (double)row;
        }
    }
    return block_sum(sum);
}

// What brings a vector of this squared norm to the bound, 1 if it is within it.
DEVICE float shortened(double bound, double square) {
    double norm = sqrt(square);
    return norm > bound ? (float)(bound / norm) : 1.0f;
}

// The factors of one unit from its squared norms: the rule of `Clipping::factors`.
DEVICE void clip_factors(const double *squares, float *factors, int groups, int rule, double bound, double stability) {
    double total = 0.0;
    int is_odd = 0;
    for (int i = 0; i < groups; i++) {
        is_odd |= !(squares[i] >= 0.0);
        total += squares[i];
    }
    double most = 1e30 * bound * (1e30 * bound);
    is_odd |= total > most || !isfinite_(total);
    for (int i = 0; i < groups; i++) {
        float factor = 0.0f;
        if (!is_odd) {
            if (rule == FLAT) factor = shortened(bound, total);
            if (rule == PER_LAYER) factor = shortened(bound / sqrt((double)groups), squares[i]);
            if (rule == AUTOMATIC) factor = (float)(bound / (sqrt(total) + stability));
        }
        factors[i] = factor;
    }
}

// The squared norms and the factors of all units, a block for each; `squares` has room for one number per unit and group.
COOPERATIVE(measure, const u64 *table, int entries, double *squares, float *factors, i64 units, int groups, int rule,
            double bound, double stability, double longest) {
    for (i64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
        double *own = squares + unit * groups;
        for (i64 i = threadIdx.x; i < groups; i += blockDim.x) own[i] = 0.0;
        __syncthreads();
        for (int e = 0; e < entries; e++) {
            const u64 *entry = table + e * WORDS;
            const float *first = (const float *)entry[1];
            const float *second = (const float *)entry[2];
            i64 inner = (i64)entry[3], outer = (i64)entry[4];
            double square;
            if (entry[0] == OUTER) {
                double a = row_square(first + unit * inner, inner) + (entry[5] ? 1.0 : 0.0);
                double g = row_square(second + unit * outer, outer);
                square = a * g;
                // Factors so long that a clip factor would lose its digits count as not finite.
                if (!(a <= longest && g <= longest)) square = 1.0 / 0.0;
            } else if (entry[0] == KEPT) {
                square = row_square(first + unit * inner, inner);
            } else {
                square = token_square(first + unit * inner, second + unit * inner * outer, inner, outer);
            }
            if (threadIdx.x == 0) own[entry[6]] += square;
        }
        __syncthreads();
        if (threadIdx.x == 0) clip_factors(own, factors + unit * groups, groups, rule, bound, stability);
        __syncthreads();
    }
}

// Multiplies what is to be summed by the factors, and sets what belongs to units of factor 0 to 0, so that no product can carry a
// NaN from there. A block for each pair of an entry and a unit.
KERNEL(apply_factors, const u64 *table, int entries, const float *factors, i64 units, int groups) {
    for (i64 pair = blockIdx.x; pair < units * entries; pair += gridDim.x) {
        const u64 *entry = table + pair % entries * WORDS;
        i64 unit = pair / entries, inner = (i64)entry[3], outer = (i64)entry[4];
        float factor = factors[unit * groups + (i64)entry[6]];
        float *first = (float *)entry[1] + unit * inner;
        if (entry[0] == OUTER) {
            float *g = (float *)entry[2] + unit * outer;
            for (i64 i = threadIdx.x; i < outer; i += blockDim.x) g[i] = factor == 0.0f ? 0.0f : g[i] * factor;
        }
        if (entry[0] != TOKENS && factor == 0.0f)
            for (i64 i = threadIdx.x; i < inner; i += blockDim.x) first[i] = 0.0f;
    }
}

// Adds the rows of tokens to the sum of a table, each multiplied by the factor of its unit; a block for each unit.
KERNEL(add_tokens, const float *tokens, const float *g, const float *factors, int groups, int group, float *sum, i64 units,
       i64 places, i64 width) {
    for (i64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
        const float *own = tokens + unit * places;
        float factor = factors[unit * groups + group];
        if (factor == 0.0f) continue;
        for (i64 t = 0; t < places; t++) {
            int is_first = 1;
            for (i64 s = 0; s < t; s++) is_first &= own[s] != own[t];
            if (!is_first) continue;
            for (i64 j = threadIdx.x; j < width; j += blockDim.x) {
                float row = 0.0f;
                for (i64 s = t; s < places; s++)
                    if (own[s] == own[t]) row += g[(unit * places + s) * width + j];
                add_atomic(sum + (i64)own[t] * width + j, factor * row);
            }
        }
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
    if (threadIdx.x == 0) clip_factors(squares, factors, groups, rule, bound, stability);
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
