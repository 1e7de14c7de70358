// From a sum to new weights.

// w = w·shrink − rate·sum.
KERNEL(descend, float *w, const float *sum, i64 n, float shrink, float rate) {
    EACH(i, n) w[i] = shrink * w[i] - rate * sum[i];
}

// v = keep·v + g; w = w − (along·v + ahead·g), g the mean with weight decay.
KERNEL(descend_velocity, float *w, const float *sum, float *v, i64 n, float scale, float decay, float keep, float along,
       float ahead) {
    EACH(i, n) {
        float g = scale * sum[i] + decay * w[i];
        v[i] = keep * v[i] + g;
        w[i] -= along * v[i] + ahead * g;
    }
}

// Adam; see `AdamRule`.
KERNEL(descend_moments, float *w, const float *sum, float *first, float *second, i64 n, float beta1, float beta2, float scale,
       float coupled, float shrink, float rate, float second_scale, float noise, float least, float stability) {
    EACH(i, n) {
        float g = scale * sum[i] + coupled * w[i];
        float m = beta1 * first[i] + (1.0f - beta1) * g;
        float v = beta2 * second[i] + (1.0f - beta2) * g * g;
        first[i] = m;
        second[i] = v;
        float size = sqrtf(fmaxf(second_scale * v - noise, least)) + stability;
        w[i] = shrink * w[i] - rate * m / size;
    }
}

// mean = mean + share·(w − mean).
KERNEL(blend, float *mean, const float *w, i64 n, float share) {
    EACH(i, n) mean[i] += share * (w[i] - mean[i]);
}

KERNEL(scaled, const float *x, float *into, i64 n, float factor) {
    EACH(i, n) into[i] = factor * x[i];
}
