// Clipping for another framework: squared norms of units, their factors, and weighted sums. A job names numbers of the framework, with a
// row for each unit, in twelve words; in jobs that measure:
//
// | kind | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 |
// |---|---|---|---|---|---|---|---|---|---|---|
// | 1 outer product | group | input | from row to row | numbers | gradient | from row to row | numbers | added to the input's square | added to the gradient's | - |
// | 2 written out | group | gradient | from row to row | numbers | - | - | - | - | - | - |
// | 3 sum of outer products | group | products of inputs | places | how many sums | products of gradients | - | - | hidden | added | added |
// | 4 rows of a table | group | products of gradients | places | - | indices | from row to row | - | hidden | - | - |
// | 5 squares | group | squares | - | - | - | - | - | - | - | - |
//
// in jobs that sum up, rows or outer products:
//
// | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 |
// |---|---|---|---|---|---|---|---|---|---|---|---|
// | 0 rows | whether it is added to what is there | numbers | from row to row | columns | result | - | - | factors | from row to row | first tile | - |
// | 1 outer products | the same | input | from row to row | columns | result | gradient | from row to row | factors | from row to row | first tile | rows of the result |
//
// and in jobs that write the gradients of a convolution out, where pairs are of heights, in the upper half, and widths:
//
// | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 |
// |---|---|---|---|---|---|---|---|---|---|---|---|
// | input | gradient | result | channels | sizes of the input | channels of the gradient | of the kernel | strides | padding | dilation | of the gradient | - |
//
// or of weights and biases that are added up over places, where an input or a result may be none; the sixth word is how many channels are
// normalized together, or whether the mean of a place is taken away:
//
// | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
// |---|---|---|---|---|---|---|---|
// | input | gradient | of the weight | of the bias | channels or numbers of a place | places | see above | added to a variance |
#define GUEST_WORDS 12
#define GUEST_OUTER 1
#define GUEST_KEPT 2
#define GUEST_PLACES 3
#define GUEST_TABLE 4
#define GUEST_SQUARES 5
#define GUEST_ROWS 0

DEVICE double number_of(u64 word) {
    union {
        u64 word;
        double number;
    } own;
    own.word = word;
    return own.number;
}

DEVICE double trace_of(const float *products, i64 places) {
    double sum = 0.0;
    for (i64 p = threadIdx.x; p < places; p += blockDim.x) sum += (double)products[p * places + p];
    return block_sum(sum);
}

// The squared norm of a sum of outer products over places: the sum of all products of inputs times those of the gradients. To it is added
// what rounding of the products may hide.
DEVICE double places_square(const u64 *job, i64 row) {
    i64 places = (i64)job[3], sums = (i64)job[4], size = places * places;
    const float *a = (const float *)job[2] + row * sums * size, *g = (const float *)job[5] + row * sums * size;
    double hidden = number_of(job[8]), square = 0.0;
    for (i64 k = 0; k < sums; k++, a += size, g += size) {
        double sum = 0.0;
        for (i64 i = threadIdx.x; i < size; i += blockDim.x) sum += (double)a[i] * (double)g[i];
        square += block_sum(sum);
        square += hidden * (trace_of(a, places) + number_of(job[9])) * (trace_of(g, places) + number_of(job[10]));
    }
    return square;
}

// The same of rows of a table: the products of gradients at places with equal indices.
DEVICE double table_square(const u64 *job, i64 row) {
    i64 places = (i64)job[3];
    const float *g = (const float *)job[2] + row * places * places;
    const i64 *index = (const i64 *)job[5] + row * (i64)job[6];
    double sum = 0.0;
    for (i64 i = threadIdx.x; i < places * places; i += blockDim.x) {
        i64 p = quotient(i, places);
        if (index[p] == index[i - p * places]) sum += (double)g[i];
    }
    sum = block_sum(sum);
    return sum + number_of(job[8]) * trace_of(g, places);
}

// The squared norms of all rows, job by job; a block for each pair.
COOPERATIVE(guest_measure, const u64 *jobs, int count, double *squares, i64 rows) {
    for (i64 pair = blockIdx.x; pair < rows * count; pair += gridDim.x) {
        i64 which = quotient(pair, rows), row = pair - which * rows;
        const u64 *job = jobs + which * GUEST_WORDS;
        double square;
        if (job[0] == GUEST_OUTER) {
            square = row_square((const float *)job[2] + row * (i64)job[3], (i64)job[4]) + number_of(job[8]);
            square *= row_square((const float *)job[5] + row * (i64)job[6], (i64)job[7]) + number_of(job[9]);
        } else if (job[0] == GUEST_KEPT) {
            square = row_square((const float *)job[2] + row * (i64)job[3], (i64)job[4]);
        } else if (job[0] == GUEST_PLACES) {
            square = places_square(job, row);
        } else if (job[0] == GUEST_TABLE) {
            square = table_square(job, row);
        } else {
            square = ((const double *)job[2])[row];
        }
        if (threadIdx.x == 0) squares[pair] = square;
    }
}

// The squared norms of all rows, group by group.
KERNEL(guest_totals, const u64 *jobs, int count, const double *squares, i64 rows, int groups, double *totals) {
    EACH(i, rows * groups) {
        i64 row = quotient(i, groups);
        u64 group = (u64)(i - row * groups);
        double total = 0.0;
        for (int k = 0; k < count; k++)
            if (jobs[k * GUEST_WORDS + 1] == group) total += squares[k * rows + row];
        totals[i] = total;
    }
}

// The factors that bring gradients within the bound, where these are `scale` times what was measured, and, behind them, how many of them are
// 0: those of gradients that are not finite, or so long that their factor would lose its digits. One block.
COOPERATIVE(guest_factors, int count, const double *squares, i64 rows, double bound, double scale, float *factors) {
    double zeros = 0.0;
    for (i64 row = threadIdx.x; row < rows; row += blockDim.x) {
        double total = 0.0;
        for (int k = 0; k < count; k++) total += squares[k * rows + row];
        double factor = total >= 0.0 ? bound / sqrt(total) : 0.0;
        factor = factor < scale ? factor : scale;
        factor = factor > 1e-30 * scale ? factor : 0.0;
        factors[row] = (float)factor;
        zeros += factor == 0.0 ? 1.0 : 0.0;
    }
    zeros = block_sum(zeros);
    if (threadIdx.x == 0) factors[rows] = (float)zeros;
}

// A tile of a sum of rows times their factors. Eight threads for each column.
DEVICE void add_rows_of(const u64 *job, i64 tile, i64 rows) {
    SHARED float parts[BLOCK];
    i64 each = BLOCK / SHARERS, own = threadIdx.x % each, lane = threadIdx.x / each;
    i64 column = tile * each + own, step = (i64)job[3];
    bool is_one = column < (i64)job[4];
    const float *from = (const float *)job[2] + column;
    const float *factors = (const float *)job[8];
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (i64 row = lane; is_one && row < rows; row += 4 * SHARERS)
        for (int k = 0; k < 4; k++) {
            i64 at = row + k * SHARERS;
            float factor = at < rows ? factors[at * (i64)job[9]] : 0.0f;
            if (factor != 0.0f) sums[k] += factor * from[at * step];
        }
    parts[threadIdx.x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    __syncthreads();
    if (lane == 0 && is_one) {
        float sum = 0.0f;
        for (i64 k = 0; k < SHARERS; k++) sum += parts[k * each + own];
        float *into = (float *)job[5] + column;
        *into = job[1] ? *into + sum : sum;
    }
    __syncthreads();
}

// Tiles of outer products: eight rows by two columns for each thread.
#define DEPTH 32
#define HIGH 8
#define ACROSS 2
#define WIDE_TILE (BLOCK / SHARERS * ACROSS)
#define HIGH_TILE (SHARERS * HIGH)

// A tile of a sum of outer products of gradients and inputs, times the factors of their rows.
DEVICE void add_products_of(const u64 *job, i64 own, i64 rows) {
    SHARED float inputs[DEPTH][WIDE_TILE], gradients[DEPTH][HIGH_TILE];
    int x = (int)threadIdx.x % (BLOCK / SHARERS), y = (int)threadIdx.x / (BLOCK / SHARERS);
    i64 width = (i64)job[4], height = (i64)job[11], across = (width + WIDE_TILE - 1) / WIDE_TILE;
    i64 top = own / across * HIGH_TILE, left = own % across * WIDE_TILE;
    const float *a = (const float *)job[2], *g = (const float *)job[6], *factors = (const float *)job[8];
    i64 apart = (i64)job[9], input_step = (i64)job[3], slope_step = (i64)job[7];
    float sums[HIGH][ACROSS];
    for (int i = 0; i < HIGH; i++)
        for (int j = 0; j < ACROSS; j++) sums[i][j] = 0.0f;
    for (i64 start = 0; start < rows; start += DEPTH) {
#pragma unroll
        for (int i = (int)threadIdx.x; i < DEPTH * WIDE_TILE; i += BLOCK) {
            int k = i / WIDE_TILE, j = i % WIDE_TILE;
            i64 row = start + k, column = left + j;
            bool is_one = row < rows && column < width && factors[row * apart] != 0.0f;
            inputs[k][j] = is_one ? a[row * input_step + column] : 0.0f;
        }
#pragma unroll
        for (int i = (int)threadIdx.x; i < DEPTH * HIGH_TILE; i += BLOCK) {
            int k = i / HIGH_TILE, j = i % HIGH_TILE;
            i64 row = start + k, column = top + j;
            float factor = row < rows && column < height ? factors[row * apart] : 0.0f;
            gradients[k][j] = factor != 0.0f ? factor * g[row * slope_step + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float high_side[HIGH], wide_side[ACROSS];
            for (int i = 0; i < HIGH; i++) high_side[i] = gradients[k][y * HIGH + i];
            for (int j = 0; j < ACROSS; j++) wide_side[j] = inputs[k][x * ACROSS + j];
            for (int i = 0; i < HIGH; i++)
                for (int j = 0; j < ACROSS; j++) sums[i][j] += high_side[i] * wide_side[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < HIGH; i++)
        for (int j = 0; j < ACROSS; j++) {
            i64 row = top + y * HIGH + i, column = left + x * ACROSS + j;
            if (row >= height || column >= width) continue;
            float *into = (float *)job[5] + row * width + column;
            *into = job[1] ? *into + sums[i][j] : sums[i][j];
        }
}

// Sums of rows, and of outer products, times factors; rows of factor 0 are left out, whatever they hold.
COOPERATIVE(guest_add, const u64 *jobs, int count, i64 tiles, i64 rows) {
    for (i64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const u64 *job = jobs;
        for (int k = 1; k < count && (i64)jobs[k * GUEST_WORDS + 10] <= tile; k++) job = jobs + k * GUEST_WORDS;
        if (job[0] == GUEST_ROWS)
            add_rows_of(job, tile - (i64)job[10], rows);
        else
            add_products_of(job, tile - (i64)job[10], rows);
    }
}

// Numbers of an input, with its padding, and of a gradient, in shared memory.
#define GUEST_ROOM 12000

DEVICE i64 upper(u64 word) { return (i64)(word >> 32); }
DEVICE i64 lower(u64 word) { return (i64)(u32)word; }

// The gradients of a convolution's weights, written out; a block for each pair of a job and a row, four channels by four places of the
// kernel for each thread.
COOPERATIVE(guest_conv, const u64 *jobs, int count, i64 rows) {
    SHARED float room[GUEST_ROOM];
    for (i64 pair = blockIdx.x; pair < rows * count; pair += gridDim.x) {
        i64 which = quotient(pair, rows), row = pair - which * rows;
        const u64 *job = jobs + which * GUEST_WORDS;
        i64 channels = (i64)job[3], height = upper(job[4]), width = lower(job[4]), outs = (i64)job[5];
        i64 kernel_high = upper(job[6]), kernel_wide = lower(job[6]), down = upper(job[8]), right = lower(job[8]);
        i64 high = height + 2 * down, wide = width + 2 * right, out_high = upper(job[10]), out_wide = lower(job[10]);
        const float *x = (const float *)job[0] + row * channels * height * width;
        const float *g = (const float *)job[1] + row * outs * out_high * out_wide;
        float *inputs = room, *gradients = room + channels * high * wide;
        for (i64 i = threadIdx.x; i < channels * high * wide; i += blockDim.x) {
            i64 line = quotient(i, wide), channel = quotient(line, high);
            i64 across = i - line * wide - right, along = line - channel * high - down;
            bool is_inside = across >= 0 && across < width && along >= 0 && along < height;
            inputs[i] = is_inside ? x[(channel * height + along) * width + across] : 0.0f;
        }
        for (i64 i = threadIdx.x; i < outs * out_high * out_wide; i += blockDim.x) gradients[i] = g[i];
        __syncthreads();
        i64 places = channels * kernel_high * kernel_wide, across = (places + 3) / 4, size = out_high * out_wide;
        for (i64 t = threadIdx.x; t < (outs + 3) / 4 * across; t += blockDim.x) {
            i64 first = quotient(t, across) * 4, place = (t - first / 4 * across) * 4;
            const float *from[4], *slopes[4];
            float sums[4][4];
            for (int i = 0; i < 4; i++) {
                i64 own = place + i < places ? place + i : places - 1, line = quotient(own, kernel_wide);
                i64 channel = quotient(line, kernel_high);
                i64 start = (channel * high + (line - channel * kernel_high) * upper(job[9])) * wide;
                from[i] = inputs + start + (own - line * kernel_wide) * lower(job[9]);
                slopes[i] = gradients + (first + i < outs ? first + i : outs - 1) * size;
                for (int j = 0; j < 4; j++) sums[i][j] = 0.0f;
            }
            for (i64 oh = 0; oh < out_high; oh++)
                for (i64 ow = 0; ow < out_wide; ow++) {
                    i64 at = oh * upper(job[7]) * wide + ow * lower(job[7]), position = oh * out_wide + ow;
                    for (int i = 0; i < 4; i++)
                        for (int j = 0; j < 4; j++) sums[i][j] += slopes[i][position] * from[j][at];
                }
            float *into = (float *)job[2] + row * outs * places;
            for (int i = 0; i < 4 && first + i < outs; i++)
                for (int j = 0; j < 4 && place + j < places; j++) into[(first + i) * places + place + j] = sums[i][j];
        }
        __syncthreads();
    }
}

// Channels of a normalization, and places, that shared memory has room for.
#define GUEST_CHANNELS 1024
#define GUEST_SITES 1024

// The gradients of weights and biases that belong to channels, of normalizations and of biases alone; a block for each pair of a job and a
// row. Inputs and gradients are numbers channel by channel. Eight threads for each channel.
COOPERATIVE(guest_channels, const u64 *jobs, int count, i64 rows) {
    SHARED double sums[GUEST_CHANNELS], squares[GUEST_CHANNELS], slopes[GUEST_CHANNELS], products[GUEST_CHANNELS];
    i64 each = blockDim.x / SHARERS, lane = threadIdx.x % SHARERS;
    for (i64 pair = blockIdx.x; pair < rows * count; pair += gridDim.x) {
        i64 which = quotient(pair, rows), row = pair - which * rows;
        const u64 *job = jobs + which * GUEST_WORDS;
        i64 channels = (i64)job[4], places = (i64)job[5], size = channels * places;
        const float *x = job[0] ? (const float *)job[0] + row * size : 0, *g = (const float *)job[1] + row * size;
        for (i64 first = 0; first < channels; first += each) {
            i64 channel = first + threadIdx.x / SHARERS;
            double s[4] = {0.0, 0.0, 0.0, 0.0};
            for (i64 i = lane; channel < channels && i < places; i += SHARERS) {
                double own = x ? (double)x[channel * places + i] : 0.0, slope = (double)g[channel * places + i];
                s[0] += own;
                s[1] += own * own;
                s[2] += slope;
                s[3] += slope * own;
            }
            for (int k = 0; k < 4; k++) s[k] = lanes_sum(s[k]);
            if (lane != 0 || channel >= channels) continue;
            sums[channel] = s[0];
            squares[channel] = s[1];
            slopes[channel] = s[2];
            products[channel] = s[3];
        }
        __syncthreads();
        for (i64 channel = threadIdx.x; channel < channels; channel += blockDim.x) {
            if (job[3]) ((float *)job[3])[row * channels + channel] = (float)slopes[channel];
            if (!x) continue;
            i64 group = (i64)job[6], first = channel / group * group;
            double mean = 0.0, square = 0.0, numbers = (double)(group * places);
            for (i64 k = first; k < first + group; k++) {
                mean += sums[k];
                square += squares[k];
            }
            mean /= numbers;
            double variance = square / numbers - mean * mean;
            double found = (products[channel] - mean * slopes[channel]) / sqrt((variance > 0.0 ? variance : 0.0) + number_of(job[7]));
            // What is not a number stays so.
            ((float *)job[2])[row * channels + channel] = (float)(variance == variance ? found : variance);
        }
        __syncthreads();
    }
}

// The same where inputs and gradients are numbers place by place, and normalizations are those of every place: around its mean, or without
// one. Eight threads for each place, and then one for each number of a place.
COOPERATIVE(guest_sites, const u64 *jobs, int count, i64 rows) {
    SHARED float means[GUEST_SITES], scales[GUEST_SITES];
    i64 each = blockDim.x / SHARERS, lane = threadIdx.x % SHARERS;
    for (i64 pair = blockIdx.x; pair < rows * count; pair += gridDim.x) {
        i64 which = quotient(pair, rows), row = pair - which * rows;
        const u64 *job = jobs + which * GUEST_WORDS;
        i64 width = (i64)job[4], places = (i64)job[5], size = width * places;
        const float *x = job[0] ? (const float *)job[0] + row * size : 0, *g = (const float *)job[1] + row * size;
        for (i64 first = 0; x && first < places; first += each) {
            i64 place = first + threadIdx.x / SHARERS;
            double s[2] = {0.0, 0.0};
            for (i64 i = lane; place < places && i < width; i += SHARERS) {
                double own = (double)x[place * width + i];
                s[0] += own;
                s[1] += own * own;
            }
            for (int k = 0; k < 2; k++) s[k] = lanes_sum(s[k]);
            if (lane != 0 || place >= places) continue;
            double mean = job[6] ? s[0] / (double)width : 0.0, variance = s[1] / (double)width - mean * mean;
            means[place] = (float)mean;
            scales[place] = (float)(1.0 / sqrt((variance < 0.0 ? 0.0 : variance) + number_of(job[7])));
        }
        __syncthreads();
        for (i64 column = threadIdx.x; column < width; column += blockDim.x) {
            float slopes[2] = {0.0f, 0.0f}, found = 0.0f;
            for (i64 place = 0; place < places; place++) {
                float slope = g[place * width + column];
                slopes[place % 2] += slope;
                if (x) found += slope * ((x[place * width + column] - means[place]) * scales[place]);
            }
            if (job[3]) ((float *)job[3])[row * width + column] = slopes[0] + slopes[1];
            if (x) ((float *)job[2])[row * width + column] = found;
        }
        __syncthreads();
    }
}
