// Normalization of stretches: (x − mean)/deviation, then scale and shift. Eight threads for each stretch.

#define STABILITY 1e-5

// Stretches of `stretch` numbers; number i of a stretch s has the scale and shift of channel (s % parts) · channels + i / inside.
// Keeps the normalized numbers, and 1/deviation of every stretch.
COOPERATIVE(normalize, const float *x, const float *scale, const float *shift, float *normal, float *inverse, float *y,
            i64 count, i64 stretch, i64 parts, i64 channels, i64 inside) {
    i64 each = blockDim.x / SHARERS, lane = threadIdx.x % SHARERS;
    for (i64 first = blockIdx.x * each; first < count; first += gridDim.x * each) {
        i64 s = first + threadIdx.x / SHARERS, length = s < count ? stretch : 0;
        const float *own = x + s * stretch;
        float sum = 0.0f;
        for (i64 i = lane; i < length; i += SHARERS) sum += own[i];
        float mean = (float)(lanes_sum((double)sum) / (double)stretch);
        float square = 0.0f;
        for (i64 i = lane; i < length; i += SHARERS) square += (own[i] - mean) * (own[i] - mean);
        float over = (float)(1.0 / sqrt(lanes_sum((double)square) / (double)stretch + STABILITY));
        i64 base = s % parts * channels;
        for (i64 i = lane; i < length; i += SHARERS) {
            i64 channel = base + quotient(i, inside);
            float value = (own[i] - mean) * over;
            normal[s * stretch + i] = value;
            y[s * stretch + i] = value * scale[channel] + shift[channel];
        }
        if (lane == 0 && s < count) inverse[s] = over;
    }
}

COOPERATIVE(normalize_back, const float *g, const float *scale, const float *normal, const float *inverse, float *below,
            i64 count, i64 stretch, i64 parts, i64 channels, i64 inside, int add) {
    i64 each = blockDim.x / SHARERS, lane = threadIdx.x % SHARERS;
    for (i64 first = blockIdx.x * each; first < count; first += gridDim.x * each) {
        i64 s = first + threadIdx.x / SHARERS, length = s < count ? stretch : 0, base = s % parts * channels;
        float sum = 0.0f, dot = 0.0f;
        for (i64 i = lane; i < length; i += SHARERS) {
            float own = g[s * stretch + i] * scale[base + quotient(i, inside)];
            sum += own;
            dot += own * normal[s * stretch + i];
        }
        float mean = (float)(lanes_sum((double)sum) / (double)stretch);
        float along = (float)(lanes_sum((double)dot) / (double)stretch);
        for (i64 i = lane; i < length; i += SHARERS) {
            i64 at = s * stretch + i;
            float own = g[at] * scale[base + quotient(i, inside)];
            float value = (own - mean - normal[at] * along) * inverse[s];
            below[at] = add ? below[at] + value : value;
        }
    }
}

// Gradients of scale and shift of every row, side by side: Σ g·x and Σ g over the places of each channel. Number p of channel c of a
// row lies at c · step + p · skip; `lanes` threads, 1 or 8, for each channel.
COOPERATIVE(normalize_keep, const float *g, const float *normal, float *kept, i64 rows, i64 channels, i64 places, i64 step,
            i64 skip, int lanes) {
    i64 each = blockDim.x / lanes, lane = threadIdx.x % lanes;
    for (i64 first = blockIdx.x * each; first < rows * channels; first += gridDim.x * each) {
        i64 i = first + threadIdx.x / lanes;
        bool is_one = i < rows * channels;
        i64 row = i / channels, channel = i % channels, start = row * channels * places + channel * step;
        float dot = 0.0f, sum = 0.0f;
        for (i64 p = lane; p < (is_one ? places : 0); p += lanes) {
            i64 at = start + p * skip;
            dot += g[at] * normal[at];
            sum += g[at];
        }
        if (lanes > 1) {
            dot = (float)lanes_sum((double)dot);
            sum = (float)lanes_sum((double)sum);
        }
        if (lane == 0 && is_one) {
            kept[row * 2 * channels + channel] = dot;
            kept[row * 2 * channels + channels + channel] = sum;
        }
    }
}
