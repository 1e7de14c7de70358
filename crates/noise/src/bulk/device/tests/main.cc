
// Runs kernels on the numbers of standard input: `program mode n step key0 ... key7`. The table comes first.

template <typename Launch>
static void on_all_threads(Launch launch) {
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) {
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) {
            launch();
        }
    }
}

template <typename T>
static std::vector<T> read(size_t n) {
    std::vector<T> values(n);
    if (fread(values.data(), sizeof(T), n, stdin) != n) {
        fprintf(stderr, "standard input is too short\n");
        exit(1);
    }
    return values;
}

template <typename T>
static void write(const std::vector<T> &values) {
    fwrite(values.data(), sizeof(T), values.size(), stdout);
}

int main(int count, char **arguments) {
    if (count != 12) {
        return 2;
    }
    std::string mode = arguments[1];
    size_t n = strtoull(arguments[2], 0, 10);
    double step = strtod(arguments[3], 0);
    u32 k[8];
    for (int i = 0; i < 8; i++) {
        k[i] = (u32)strtoul(arguments[4 + i], 0, 10);
    }
    std::vector<u64> words = read<u64>(noise::BASE_WIDTH + 1);
    const u64 *table = words.data();
    std::vector<int> results(n, -1);
    if (mode == "cells") {
        on_all_threads(
            [&] { noise_draw(results.data(), n, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], table); });
    } else if (mode == "add") {
        std::vector<float> values = read<float>(n);
        on_all_threads(
            [&] { noise_draw(results.data(), n, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], table); });
        on_all_threads([&] { noise_add(values.data(), results.data(), n, step); });
        for (int left : results) {
            if (left != 0) return 3;
        }
        write(values);
        return 0;
    } else if (mode == "settle") {
        // The cell of each given word, with the further words of the group of its place.
        std::vector<u64> first = read<u64>(n);
        noise::Key key = {{k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7]}};
        for (size_t i = 0; i < n; i++) {
            noise::Stream stream;
            noise::begin(stream, key, i);
            results[i] = noise::settle(first[i], stream, table);
        }
    } else if (mode == "exact") {
        // A layer, or 256 for the tail; a magnitude or a number of steps; a position; five words of height.
        std::vector<u64> cases = read<u64>(8 * n);
        for (size_t i = 0; i < n; i++) {
            const u64 *given = &cases[8 * i];
            results[i] = given[0] == 256 ? noise::tail_exactly(table, given[1], (u32)given[2], given + 3)
                                         : noise::wedge_exactly(table, (u32)given[0], (u32)given[1], given[2], given + 3);
        }
    } else {
        return 2;
    }
    write(results);
    return 0;
}
