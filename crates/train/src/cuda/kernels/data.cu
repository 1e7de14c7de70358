// Examples that lie on the device become the first buffer of a pass.

// Rows of numbers.
KERNEL(gather_real, const float *data, const u32 *which, float *into, i64 rows, i64 size) {
    EACH(i, rows * size) into[i] = data[which[quotient(i, size)] * size + remainder_of(i, size)];
}

// Rows of bytes, as (pixel / 255 - shift) / scale with constants per channel.
KERNEL(gather_pixels, const u8 *data, const u32 *which, const float *shift, const float *scale, float *into, i64 rows,
       i64 size, i64 plane) {
    EACH(i, rows * size) {
        i64 row = quotient(i, size), own = i - row * size, channel = quotient(own, plane);
        float pixel = (float)data[which[row] * size + own];
        into[i] = (pixel / 255.0f - shift[channel]) / scale[channel];
    }
}

// Rows of tokens, as numbers.
KERNEL(gather_tokens, const u32 *data, const u32 *which, float *into, i64 rows, i64 size) {
    EACH(i, rows * size) into[i] = (float)data[which[quotient(i, size)] * size + remainder_of(i, size)];
}

// The gradient of the cross-entropy of one row of scores, times a share.
DEVICE void cross_entropy_slope(const float *s, float *g, i64 width, u32 own, float share) {
    // Not a number becomes the largest, and stays.
    float most = s[0];
    for (i64 j = 1; j < width; j++) most = s[j] > most || s[j] != s[j] ? s[j] : most;
    float sum = 0.0f;
    for (i64 j = 0; j < width; j++) sum += expf(s[j] - most);
    for (i64 j = 0; j < width; j++) g[j] = (expf(s[j] - most) / sum - ((u32)j == own ? 1.0f : 0.0f)) * share;
}

// The gradient of the cross-entropy with respect to the scores; a thread for each row.
KERNEL(loss_classes, const float *scores, const u32 *classes, const u32 *which, float *gradient, i64 rows, i64 width) {
    EACH(row, rows) cross_entropy_slope(scores + row * width, gradient + row * width, width, classes[which[row]], 1.0f);
}

// The gradient of the mean cross-entropy over the scored positions of an example; a thread for each position. The largest word marks a
// position that is not scored.
KERNEL(loss_next, const float *scores, const u32 *next, const u32 *which, float *gradient, i64 rows, i64 length, i64 width) {
    EACH(i, rows * length) {
        i64 row = quotient(i, length), place = i - row * length;
        const u32 *own = next + (i64)which[row] * length;
        if (own[place] == 0xffffffffu) {
            for (i64 j = 0; j < width; j++) gradient[i * width + j] = 0.0f;
            continue;
        }
        i64 count = 0;
        for (i64 t = 0; t < length; t++) count += own[t] != 0xffffffffu;
        cross_entropy_slope(scores + i * width, gradient + i * width, width, own[place], 1.0f / (float)count);
    }
}

// The gradient of half the squared distance to a number, or to the number of a class.
KERNEL(loss_numbers, const float *scores, const float *numbers, const u32 *which, float *gradient, i64 rows, i64 width) {
    EACH(i, rows * width) gradient[i] = scores[i] - numbers[which[quotient(i, width)]];
}
