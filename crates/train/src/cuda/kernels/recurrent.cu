// Cells of recurrent layers, one place in time of all rows. Arrays are [row][time][…].

// Gates in the order input, forget, fresh, output; pre-activations become gates.
KERNEL(lstm_cell, float *gates, const float *bias, const float *state_bias, float *cells, float *states, float *y, i64 rows,
       i64 time, i64 hidden, i64 t) {
    EACH(i, rows * hidden) {
        i64 row = quotient(i, hidden), j = i - row * hidden, place = row * time + t;
        float *own = gates + place * 4 * hidden;
        float v[4];
        for (int k = 0; k < 4; k++) v[k] = own[k * hidden + j] + (bias[k * hidden + j] + state_bias[k * hidden + j]);
        float enter = logistic(v[0]), keep = logistic(v[1]), fresh = tanhf(v[2]), leave = logistic(v[3]);
        own[j] = enter;
        own[hidden + j] = keep;
        own[2 * hidden + j] = fresh;
        own[3 * hidden + j] = leave;
        float cell = enter * fresh;
        if (t > 0) cell += keep * cells[(place - 1) * hidden + j];
        cells[place * hidden + j] = cell;
        float state = leave * tanhf(cell);
        y[place * hidden + j] = state;
        // States of the place before: 0 at the first one.
        if (t == 0) states[place * hidden + j] = 0.0f;
        if (t + 1 < time) states[(place + 1) * hidden + j] = state;
    }
}

// `carried` is the gradient of the state from the place after, and `carry` that of the cell, which is replaced.
KERNEL(lstm_back, const float *gates, const float *cells, const float *g, const float *carried, float *carry, float *slopes,
       i64 rows, i64 time, i64 hidden, i64 t) {
    EACH(i, rows * hidden) {
        i64 row = quotient(i, hidden), j = i - row * hidden, place = row * time + t;
        const float *own = gates + place * 4 * hidden;
        float *into = slopes + place * 4 * hidden;
        float enter = own[j], keep = own[hidden + j], fresh = own[2 * hidden + j], leave = own[3 * hidden + j];
        float after = t + 1 < time ? carried[i] : 0.0f;
        float before = t + 1 < time ? carry[i] : 0.0f;
        float of_state = g[place * hidden + j] + after;
        float squashed = tanhf(cells[place * hidden + j]);
        float of_cell = before + of_state * leave * (1.0f - squashed * squashed);
        float earlier = t > 0 ? cells[(place - 1) * hidden + j] : 0.0f;
        into[j] = of_cell * fresh * enter * (1.0f - enter);
        into[hidden + j] = of_cell * keep * (1.0f - keep) * earlier;
        into[2 * hidden + j] = of_cell * enter * (1.0f - fresh * fresh);
        into[3 * hidden + j] = of_state * squashed * leave * (1.0f - leave);
        carry[i] = of_cell * keep;
    }
}

// Gates in the order reset, update, fresh; `from` is what the state gives, without its bias.
KERNEL(gru_cell, float *gates, const float *from, const float *bias, const float *state_bias, float *shares, float *states,
       float *y, i64 rows, i64 time, i64 hidden, i64 t) {
    EACH(i, rows * hidden) {
        i64 row = quotient(i, hidden), j = i - row * hidden, place = row * time + t;
        float *own = gates + place * 3 * hidden;
        float v[3], u[3];
        for (int k = 0; k < 3; k++) {
            v[k] = own[k * hidden + j] + bias[k * hidden + j];
            u[k] = (t > 0 ? from[row * 3 * hidden + k * hidden + j] : 0.0f) + state_bias[k * hidden + j];
        }
        float reset = logistic(v[0] + u[0]), update = logistic(v[1] + u[1]), fresh = tanhf(v[2] + reset * u[2]);
        float before = t > 0 ? y[(place - 1) * hidden + j] : 0.0f;
        own[j] = reset;
        own[hidden + j] = update;
        own[2 * hidden + j] = fresh;
        shares[place * hidden + j] = u[2];
        states[place * hidden + j] = before;
        y[place * hidden + j] = (1.0f - update) * fresh + update * before;
    }
}

KERNEL(gru_back, const float *gates, const float *shares, const float *states, const float *g, float *carry, float *to_input,
       float *to_state, i64 rows, i64 time, i64 hidden, i64 t) {
    EACH(i, rows * hidden) {
        i64 row = quotient(i, hidden), j = i - row * hidden, place = row * time + t;
        const float *own = gates + place * 3 * hidden;
        float reset = own[j], update = own[hidden + j], fresh = own[2 * hidden + j];
        float before = states[place * hidden + j];
        float gradient = g[place * hidden + j] + (t + 1 < time ? carry[i] : 0.0f);
        float of_fresh = gradient * (1.0f - update) * (1.0f - fresh * fresh);
        float of_update = gradient * (before - fresh) * update * (1.0f - update);
        float of_reset = of_fresh * shares[place * hidden + j] * reset * (1.0f - reset);
        float *input = to_input + place * 3 * hidden, *state = to_state + place * 3 * hidden;
        input[j] = state[j] = of_reset;
        input[hidden + j] = state[hidden + j] = of_update;
        input[2 * hidden + j] = of_fresh;
        state[2 * hidden + j] = of_fresh * reset;
        carry[i] = gradient * update;
    }
}
