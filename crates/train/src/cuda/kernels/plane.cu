// Windows over planes: convolutions by unfolding, and pooling.

// Input channels [channels][height][width] of a row as columns [channels·kernel][places], for all rows. Places outside are 0. A block for
// each plane.
KERNEL(unfold, const float *x, float *columns, i64 rows, i64 channels, i64 height, i64 width, i64 kh, i64 kw, i64 sh, i64 sw,
       i64 ph, i64 pw, i64 dh, i64 dw, i64 out_h, i64 out_w) {
    u32 places = (u32)(out_h * out_w), taps = (u32)(kh * kw), across = (u32)out_w, wide = (u32)kw;
    for (i64 plane = blockIdx.x; plane < rows * channels; plane += gridDim.x) {
        const float *image = x + plane * height * width;
        float *into = columns + plane * taps * places;
        for (u32 i = threadIdx.x; i < taps * places; i += blockDim.x) {
            u32 tap = i / places, place = i - tap * places;
            u32 up = place / across, left = place - up * across, row = tap / wide, column = tap - row * wide;
            int y = (int)(up * sh + row * dh) - (int)ph, z = (int)(left * sw + column * dw) - (int)pw;
            bool is_inside = y >= 0 && y < (int)height && z >= 0 && z < (int)width;
            into[i] = is_inside ? image[y * (int)width + z] : 0.0f;
        }
    }
}

// The other way round: what every input number has given to columns, added up. A block for each plane.
KERNEL(fold, const float *columns, float *x, i64 rows, i64 channels, i64 height, i64 width, i64 kh, i64 kw, i64 sh, i64 sw,
       i64 ph, i64 pw, i64 dh, i64 dw, i64 out_h, i64 out_w, int add) {
    u32 places = (u32)(out_h * out_w), size = (u32)(height * width), across = (u32)width;
    for (i64 plane = blockIdx.x; plane < rows * channels; plane += gridDim.x) {
        const float *own = columns + plane * kh * kw * places;
        float *into = x + plane * size;
        for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
            int y = (int)(i / across) + (int)ph, z = (int)(i % across) + (int)pw;
            float sum = 0.0f;
            for (int a = 0; a < (int)kh; a++) {
                int up = y - a * (int)dh;
                if (up < 0 || (sh > 1 && up % (int)sh != 0)) continue;
                if (sh > 1) up /= (int)sh;
                if (up >= (int)out_h) continue;
                for (int b = 0; b < (int)kw; b++) {
                    int left = z - b * (int)dw;
                    if (left < 0 || (sw > 1 && left % (int)sw != 0)) continue;
                    if (sw > 1) left /= (int)sw;
                    if (left >= (int)out_w) continue;
                    sum += own[(u32)(a * (int)kw + b) * places + (u32)(up * (int)out_w + left)];
                }
            }
            into[i] = add ? into[i] + sum : sum;
        }
    }
}

// The sum over the places of each channel of each row, at `into + row · stride + channel`; eight threads for each.
COOPERATIVE(channel_sums, const float *g, float *into, i64 rows, i64 channels, i64 places, i64 stride) {
    i64 each = blockDim.x / SHARERS, lane = threadIdx.x % SHARERS;
    for (i64 first = blockIdx.x * each; first < rows * channels; first += gridDim.x * each) {
        i64 i = first + threadIdx.x / SHARERS;
        float sum = 0.0f;
        if (i < rows * channels)
            for (i64 p = lane; p < places; p += SHARERS) sum += g[i * places + p];
        double all = lanes_sum((double)sum);
        if (lane == 0 && i < rows * channels) into[i / channels * stride + i % channels] = (float)all;
    }
}

// The sum over the places of [places][width] of each row, at `into + row · stride`, and once more after it if there are two copies.
KERNEL(place_sums, const float *g, float *into, i64 rows, i64 places, i64 width, i64 stride, int copies) {
    EACH(i, rows * width) {
        i64 row = quotient(i, width), j = i - row * width;
        const float *own = g + row * places * width + j;
        float sum = 0.0f;
        for (i64 p = 0; p < places; p++) sum += own[p * width];
        for (int copy = 0; copy < copies; copy++) into[row * stride + copy * width + j] = sum;
    }
}

// The largest value of every window and where it lies in its plane; NaN wins and stays.
KERNEL(pool_largest, const float *x, float *y, u32 *at, i64 planes, i64 height, i64 width, i64 kh, i64 kw, i64 sh, i64 sw,
       i64 out_h, i64 out_w) {
    i64 places = out_h * out_w;
    EACH(i, planes * places) {
        i64 plane_number = quotient(i, places), own = i - plane_number * places;
        const float *plane = x + plane_number * height * width;
        i64 down = quotient(own, out_w), corner = down * sh * width + (own - down * out_w) * sw;
        float most = plane[corner];
        i64 place = corner;
        for (i64 a = 0; a < kh; a++) {
            for (i64 b = 0; b < kw; b++) {
                i64 here = corner + a * width + b;
                float value = plane[here];
                if (value > most || value != value) {
                    most = value;
                    place = here;
                }
            }
        }
        y[i] = most;
        at[i] = (u32)place;
    }
}

KERNEL(pool_mean, const float *x, float *y, i64 planes, i64 height, i64 width, i64 kh, i64 kw, i64 sh, i64 sw, i64 out_h,
       i64 out_w) {
    i64 places = out_h * out_w;
    EACH(i, planes * places) {
        i64 plane_number = quotient(i, places), own = i - plane_number * places;
        const float *plane = x + plane_number * height * width;
        i64 down = quotient(own, out_w), corner = down * sh * width + (own - down * out_w) * sw;
        float sum = 0.0f;
        for (i64 a = 0; a < kh; a++)
            for (i64 b = 0; b < kw; b++) sum += plane[corner + a * width + b];
        y[i] = sum / (float)(kh * kw);
    }
}

// The gradient of pooling, input number by input number. With `at` that of the largest, otherwise that of the mean. A block for each
// plane.
KERNEL(pool_back, const float *g, const u32 *at, int is_largest, float *below, i64 planes, i64 height, i64 width, i64 kh,
       i64 kw, i64 sh, i64 sw, i64 out_h, i64 out_w, int add) {
    u32 size = (u32)(height * width), across = (u32)width;
    float share = 1.0f / (float)(kh * kw);
    for (i64 plane = blockIdx.x; plane < planes; plane += gridDim.x) {
        i64 first = plane * out_h * out_w;
        for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
            int y = (int)(i / across), z = (int)(i % across);
            // The windows over this number: rows and columns of places.
            int up = y < (int)kh ? 0 : (y - (int)kh) / (int)sh + 1, left = z < (int)kw ? 0 : (z - (int)kw) / (int)sw + 1;
            int down = y / (int)sh, right = z / (int)sw;
            if (down >= (int)out_h) down = (int)out_h - 1;
            if (right >= (int)out_w) right = (int)out_w - 1;
            float sum = 0.0f;
            for (int a = up; a <= down; a++)
                for (int b = left; b <= right; b++) {
                    i64 window = first + a * (int)out_w + b;
                    if (!is_largest) sum += g[window] * share;
                    else if (at[window] == i) sum += g[window];
                }
            float *into = below + plane * size + i;
            *into = add ? *into + sum : sum;
        }
    }
}
