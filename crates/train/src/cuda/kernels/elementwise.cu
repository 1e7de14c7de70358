// Functions of one number.

#define RELU 1
#define TANH 2
#define SIGMOID 3

DEVICE float activated(float x, int kind, float scale, float temperature, float offset) {
    if (kind == RELU) return x < 0.0f ? 0.0f : x; // NaN stays NaN.
    if (kind == TANH) return tanhf(x);
    if (kind == SIGMOID) return scale * logistic(temperature * x) - offset;
    return x;
}

// y becomes the function of y + b, b per column of rows of `inside · width` numbers; without a bias, of y.
KERNEL(bias_activate, float *y, const float *bias, int has_bias, i64 n, i64 width, i64 inside, int kind, float scale,
       float temperature, float offset) {
    EACH(i, n) {
        float x = has_bias ? y[i] + bias[remainder_of(quotient(i, inside), width)] : y[i];
        y[i] = activated(x, kind, scale, temperature, offset);
    }
}

// Multiplies gradients by the slope where the value is y.
KERNEL(activate_back, float *g, const float *y, i64 n, int kind, float scale, float temperature, float offset) {
    EACH(i, n) {
        if (kind == RELU) {
            g[i] = y[i] > 0.0f ? g[i] : y[i] * 0.0f;
        } else if (kind == TANH) {
            g[i] *= 1.0f - y[i] * y[i];
        } else {
            float s = (y[i] + offset) / scale;
            g[i] *= scale * temperature * s * (1.0f - s);
        }
    }
}

#define GELU_SPREAD 0.7978845608f
#define GELU_CUBE 0.044715f

// x·Φ(x) by the hyperbolic tangent, or x·sigmoid(x).
KERNEL(smooth, const float *x, float *y, i64 n, int is_gelu) {
    EACH(i, n) {
        float v = x[i];
        y[i] = is_gelu ? 0.5f * v * (1.0f + tanhf(GELU_SPREAD * (v + GELU_CUBE * v * v * v))) : v * logistic(v);
    }
}

KERNEL(smooth_back, const float *x, const float *g, float *below, i64 n, int is_gelu, int add) {
    EACH(i, n) {
        float v = x[i], slope;
        if (is_gelu) {
            float t = tanhf(GELU_SPREAD * (v + GELU_CUBE * v * v * v));
            slope = 0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * GELU_SPREAD * (1.0f + 3.0f * GELU_CUBE * v * v);
        } else {
            float s = logistic(v);
            slope = s * (1.0f + v * (1.0f - s));
        }
        below[i] = add ? below[i] + g[i] * slope : g[i] * slope;
    }
}

// into = x, or into + x.
KERNEL(deliver, const float *x, float *into, i64 n, int add) {
    EACH(i, n) into[i] = add ? into[i] + x[i] : x[i];
}

KERNEL(add_two, const float *a, const float *b, float *into, i64 n) {
    EACH(i, n) into[i] = a[i] + b[i];
}

// into = x · y, or into + x · y.
KERNEL(deliver_product, const float *x, const float *y, float *into, i64 n, int add) {
    EACH(i, n) into[i] = add ? into[i] + x[i] * y[i] : x[i] * y[i];
}

// x times a constant.
KERNEL(deliver_scaled, const float *x, float *into, i64 n, float factor, int add) {
    EACH(i, n) into[i] = add ? into[i] + factor * x[i] : factor * x[i];
}

// y = x + a table that repeats.
KERNEL(add_table, const float *x, const float *table, float *y, i64 n, i64 period) {
    EACH(i, n) y[i] = x[i] + table[remainder_of(i, period)];
}

KERNEL(fill, float *x, float value, i64 n) {
    EACH(i, n) x[i] = value;
}
