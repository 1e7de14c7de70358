"""Privacy losses from formulas, in 50-digit arithmetic.

Nothing here knows how the accountant works: closed forms, finite sums over outcomes, and integrals
(1/2pi) * int exp(K(z) - z*eps)/(z(1+z)) dy along z = c + iy. Every integral is evaluated along two lines
with different steps in both variables, which must agree to 23 digits.
"""

import math

from mpmath import binomial, ceil, erfc, exp, expm1, findroot, floor, log, log1p, mp, mpc, mpf, pi, quad, sqrt

PRECISION = 50
mp.dps = PRECISION
AGREEMENT = mpf(10) ** -23
GOLDEN = (sqrt(mpf(5)) - 1) / 2


def phi(x):
    return erfc(-x / sqrt(2)) / 2


def tail(x):
    return erfc(x / sqrt(2)) / 2


def least(function, low, high, rounds=160):
    """The place of the minimum of a function with one valley."""
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_a, at_b = function(a), function(b)
    for _ in range(rounds):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - GOLDEN * (high - low)
            at_a = function(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + GOLDEN * (high - low)
            at_b = function(b)
    return (low + high) / 2


def root(function, low, high, rounds=200):
    """Where a function that is positive at `low` and negative at `high` changes sign."""
    for _ in range(rounds):
        middle = (low + high) / 2
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# Closed forms


def gaussian_delta(sigma, epsilon):
    half = 1 / (2 * mpf(sigma))
    return phi(half - epsilon * sigma) - exp(epsilon) * phi(-half - epsilon * sigma)


def gaussian_epsilon(sigma, delta):
    s = mpf(sigma)
    return root(lambda e: gaussian_delta(s, e) - delta, mpf(0), 50 / s + 1 / s**2)


def gaussian_sigma(epsilon, delta):
    return exp(root(lambda s: gaussian_delta(exp(s), mpf(epsilon)) - delta, mpf(-8), mpf(12)))


def laplace_rdp(scale, order):
    a, e = mpf(order), 1 / mpf(scale)
    return log(a / (2 * a - 1) * exp((a - 1) * e) + (a - 1) / (2 * a - 1) * exp(-a * e)) / (a - 1)


def response_rdp(keep, categories, order):
    a, p = mpf(order), mpf(keep)
    s = (1 - p) / (categories - 1)
    return log(p**a * s ** (1 - a) + s**a * p ** (1 - a) + (categories - 2) * s) / (a - 1)


def pure_rdp(epsilon, order):
    return response_rdp(1 / (1 + exp(-mpf(epsilon))), 2, order)


def canonne(divergence, order, delta):
    return divergence + log(1 - 1 / order) - log(delta * order) / (order - 1)


def zcdp_epsilon(rho, delta):
    """The minimum of the conversion over orders, where (a - 1)^2 rho = -ln(delta a)."""
    order = root(lambda a: -log(delta * a) - (a - 1) ** 2 * rho, mpf(1) + mpf(10) ** -30, mpf(10) ** 8)
    return max(canonne(rho * order, order, delta), mpf(0))


def sampled_laplace_delta(rate, scale, epsilon):
    """Removing a record of a Poisson-sampled Laplace sum: q H_{1 + (e^eps - 1)/q}(P, Q)."""
    q, inner = mpf(rate), 1 / mpf(scale)
    level = log1p(expm1(mpf(epsilon)) / q)
    return q * -expm1((level - inner) / 2) if level < inner else mpf(0)


# Finite sums over outcomes


def delta_of_outcomes(outcomes, epsilon):
    return sum((p * -expm1(epsilon - loss) for loss, p in outcomes if loss > epsilon), mpf(0))


def epsilon_of_outcomes(outcomes, delta):
    """Between two losses delta is P - e^eps * Q: solved there."""
    p_sum, q_sum = mpf(0), mpf(0)
    ordered = sorted(outcomes, reverse=True)
    for (loss, p), (following, _) in zip(ordered, ordered[1:] + [(mpf(0), mpf(0))]):
        p_sum, q_sum = p_sum + p, q_sum + p * exp(-loss)
        if p_sum - exp(max(following, mpf(0))) * q_sum >= delta or following <= 0:
            return log(max((p_sum - delta) / q_sum, mpf(1)))
    raise ValueError("no outcome")


def net_outcomes(count, plus, minus, step):
    """The total of `count` losses of +step, -step or nothing."""
    found = {}
    for up in range(count + 1):
        for down in range(count + 1 - up):
            weight = binomial(count, up) * binomial(count - up, down)
            weight *= plus**up * minus**down * (1 - plus - minus) ** (count - up - down)
            found[up - down] = found.get(up - down, mpf(0)) + weight
    return [(net * step, p) for net, p in found.items() if p > 0]


def response_outcomes(keep, categories, count):
    p = mpf(keep)
    stray = (1 - p) / (categories - 1)
    return net_outcomes(count, p, stray, log(p / stray))


def pure_outcomes(epsilon, count):
    e = mpf(epsilon)
    p = 1 / (1 + exp(-e))
    share = [binomial(count, s) * p**s * (1 - p) ** (count - s) for s in range(count + 1)]
    return [((2 * s - count) * e, share[s]) for s in range(count + 1)]


def subset_outcomes(epsilons):
    outcomes = [(mpf(0), mpf(1))]
    for e in map(mpf, epsilons):
        p = 1 / (1 + exp(-e))
        outcomes = [(at + way * e, w * share) for at, w in outcomes for way, share in ((1, p), (-1, 1 - p))]
    return outcomes


def without_deltas(deltas, total):
    """What is left of the total when each mechanism may reveal everything with its own delta."""
    kept = mpf(1)
    for d in deltas:
        kept *= 1 - mpf(d)
    return (mpf(total) - (1 - kept)) / kept


def discrete_gaussian_outcomes(sigma, moved=1):
    s, reach = mpf(sigma), int(20 * sigma) + 2
    weight = {x: exp(-(mpf(x) ** 2) / (2 * s * s)) for x in range(-reach, reach + 1)}
    whole = sum(weight.values())
    return [((moved**2 - 2 * moved * mpf(x)) / (2 * s * s), w / whole) for x, w in weight.items()]


def together(first, second):
    """The outcomes of two independent mechanisms."""
    return [(at + also, w * share) for at, w in first for also, share in second]


def discrete_laplace_outcomes(scale, moved):
    b, reach = mpf(scale), int(200 * scale)
    weight = {x: exp(-abs(mpf(x)) / b) for x in range(-reach, reach + 1)}
    whole = (1 + exp(-1 / b)) / (1 - exp(-1 / b))
    return [((abs(mpf(x) - moved) - abs(mpf(x))) / b, w / whole) for x, w in weight.items()]


# A record replaced in a Poisson sample: (1 - q)N(0) + qN(1) against (1 - q)N(0) + qN(-1)


def replaced_parts(rate, sigma, x):
    q, w = mpf(rate), 1 / mpf(sigma) ** 2
    return 1 - q + q * exp(w * (x - mpf("0.5"))), 1 - q + q * exp(w * (-x - mpf("0.5")))


def replaced_delta(rate, sigma, epsilon):
    """The loss grows with x: the part above the x at which it is epsilon."""
    q, s, e = mpf(rate), mpf(sigma), mpf(epsilon)

    def short(x):
        above, below = replaced_parts(rate, sigma, x)
        return e - log(above / below)

    x = root(short, -60 * (s + 1 / s), 60 * (s + 1 / s) * (1 + s * e))
    both = [(1 - q) * tail(x / s) + q * tail((x - way) / s) for way in (1, -1)]
    return both[0] - exp(e) * both[1]


def replaced_rdp(rate, sigma, order):
    s, a = mpf(sigma), mpf(order)

    def density(x):
        above, below = replaced_parts(rate, sigma, x)
        return above**a * below ** (1 - a) * exp(-(x**2) / (2 * s * s)) / (s * sqrt(2 * pi))

    ends = [-14 * s + i * (2 * a + 1 + 28 * s) / 40 for i in range(41)]
    return log(quad(density, ends)) / (a - 1)


def laplace_composed_delta(scale, count, epsilon):
    """Each loss is +e (1/2), -e (e^-e/2) or has density e^{(l-e)/2}/4 in between."""
    e, epsilon = 1 / mpf(scale), mpf(epsilon)
    total = mpf(0)
    for up in range(count + 1):
        for down in range(count + 1 - up):
            m = count - up - down
            weight = binomial(count, up) * binomial(count - up, down)
            weight *= mpf("0.5") ** up * (exp(-e) / 2) ** down
            at = (up - down) * e
            if m == 0:
                total += weight * -expm1(epsilon - at) if at > epsilon else 0
                continue
            start = max(epsilon - at, -m * e)
            if start >= m * e:
                continue

            def density(s, m=m):
                """Irwin and Hall's, of m uniform losses."""
                below = range(int(floor((s / e + m) / 2)) + 1)
                whole = sum((-1) ** k * binomial(m, k) * (s + (m - 2 * k) * e) ** (m - 1) for k in below)
                return whole / (mp.factorial(m - 1) * (2 * e) ** m)

            pieces = [start] + [k * e for k in range(-m, m + 1) if (k - m) % 2 == 0 and k * e > start]
            scaled = (2 * e * exp(-e / 2) / 4) ** m
            part = quad(lambda s: density(s) * exp(s / 2) * -expm1(epsilon - at - s), pieces)
            total += weight * scaled * part
    return total


# Moments of Gaussian mixtures


def log_ratio(shifts, weights, sigma, x):
    return log(sum((w * exp(s * (2 * x - s) / (2 * sigma**2)) for s, w in zip(shifts, weights)), mpf(0)))


class Mixture:
    """P = sum w_i N(s_i, sigma^2) against Q = N(0, sigma^2), one way or the other."""

    def __init__(self, shifts, weights, sigma, remove):
        pairs = [(mpf(s), mpf(w)) for s, w in zip(shifts, weights) if w > 0]
        self.shifts, self.weights = zip(*pairs)
        self.sigma, self.remove = mpf(sigma), remove

    def points(self, c, fineness):
        """(log-likelihood ratio, weight) on a grid that serves powers of real part 1 + c or -c."""
        s, top = self.sigma, max(self.shifts)
        step = min(s / 20, mpf("0.12") * s**2 / top) * fineness
        reach = (c + 1) * top + 16 * s
        first, last = int(floor(-reach / step)), int(ceil(reach / step))
        for i in range(first, last + 1):
            x = i * step
            weight = step * exp(-(x**2) / (2 * s**2)) / (s * sqrt(2 * pi))
            yield log_ratio(self.shifts, self.weights, s, x), weight

    def real(self, c):
        """E_P[e^{cL}]."""
        power = 1 + c if self.remove else -c
        return sum((w * exp(power * r) for r, w in self.points(c, 1)), mpf(0))

    def rough(self, c):
        """ln E_P[e^{cL}] in doubles, to see where a line is to be laid."""
        s, top = float(self.sigma), float(max(self.shifts))
        pairs = [(float(shift), math.log(w)) for shift, w in zip(self.shifts, self.weights)]
        step = min(s / 6, 0.3 * s * s / top)
        reach = (c + 1) * top + 9 * s
        first = -int(reach / step)
        logs = []
        for i in range(first, 1 - first):
            x = i * step
            terms = [log_w + shift * (2 * x - shift) / (2 * s * s) for shift, log_w in pairs]
            high = max(terms)
            ratio = high + math.log(sum(math.exp(t - high) for t in terms))
            logs.append((1 + c if self.remove else -c) * ratio - x * x / (2 * s * s))
        high = max(logs)
        whole = math.fsum(math.exp(v - high) for v in logs)
        return high + math.log(whole * step / (s * math.sqrt(2 * math.pi)))

    def line(self, c, step, fineness):
        """E_P[e^{zL}] at z = c, c + i*step, c + 2i*step, ..., in fixed-point arithmetic."""
        power, way = (1 + c, 1) if self.remove else (-c, -1)
        known = [(w * exp(power * r), r) for r, w in self.points(c, fineness)]
        bits = int(mp.prec) + 40
        unit = mpf(2) ** bits
        scale = max(w for w, _ in known)
        now = [(int(w / scale * unit), 0) for w, _ in known]
        turns = [exp(mpc(0, way * step * r)) for _, r in known]
        turn = [(int(t.real * unit), int(t.imag * unit)) for t in turns]
        while True:
            yield mpc(sum(a for a, _ in now), sum(b for _, b in now)) * scale / unit
            pairs = zip(now, turn)
            now = [((a * t - b * u) >> bits, (a * u + b * t) >> bits) for (a, b), (t, u) in pairs]


class Laplace:
    def __init__(self, scale):
        self.e = 1 / mpf(scale)

    def at(self, z):
        a = 1 + z
        return (a * exp(z * self.e) + z * exp(-a * self.e)) / (2 * a - 1)

    real = at

    def rough(self, c):
        return float(log(self.at(mpf(c))))

    def line(self, c, step, fineness):
        j = 0
        while True:
            yield self.at(mpc(c, j * step))
            j += 1


class Gaussian(Laplace):
    def __init__(self, sigma):
        self.sigma = mpf(sigma)

    def at(self, z):
        return exp(z * (z + 1) / (2 * self.sigma**2))

    real = at


def sampled(rate, sigma, remove):
    q = mpf(rate)
    return Mixture([0, 1], [1 - q, q], sigma, remove) if q < 1 else Gaussian(sigma)


def mixture_rdp(shifts, weights, sigma, order):
    """The worse of both ways at a real order."""
    ways = (Mixture(shifts, weights, sigma, remove).real(mpf(order) - 1) for remove in (True, False))
    return log(max(ways)) / (mpf(order) - 1)


def sampled_rdp(rate, sigma, order):
    """By the binomial sum at whole orders, by quadrature between them."""
    a, q = mpf(order), mpf(rate)
    if a != int(a) or a > 400:
        return mixture_rdp([0, 1], [1 - q, q], sigma, order)
    total = mpf(0)
    for i in range(int(a) + 1):
        total += binomial(a, i) * (1 - q) ** (a - i) * q**i * exp((i * i - i) / (2 * mpf(sigma) ** 2))
    return log(total) / (a - 1)


# Integrals along a line


class Line:
    """Values of prod E^count at z = c + ij*step, so far as they weigh anything."""

    def __init__(self, parts, c, step, fineness):
        self.step, self.points = step, []
        lines = [(count, part.line(c, step, fineness)) for count, part in parts]
        first = None
        for j in range(100_000):
            value = mpc(1)
            for count, line in lines:
                value *= next(line) ** count
            z = mpc(c, j * step)
            value /= z * (1 + z)
            first = first or abs(value)
            if abs(value) < first * mpf(10) ** (8 - mp.dps):
                break
            self.points.append((z, value))

    def sum(self, epsilon, factor=lambda z: 1):
        whole = mpf(0)
        for j, (z, value) in enumerate(self.points):
            term = (value * exp(-z * epsilon) * factor(z)).real
            whole += term / 2 if j == 0 else term
        return whole * self.step / pi

    def delta(self, epsilon):
        return self.sum(epsilon)

    def slope(self, epsilon):
        return self.sum(epsilon, lambda z: -z)

    def epsilon(self, delta):
        """By Newton's method: ln delta is concave and falling, so from above it stays above."""
        epsilon = self.above(delta)
        for _ in range(200):
            value = self.delta(epsilon)
            step = (log(value) - log(delta)) * value / self.slope(epsilon)
            epsilon -= step
            if abs(step) < mpf(10) ** -40:
                return max(epsilon, mpf(0))
        raise ValueError("Newton's method did not settle")

    def above(self, delta):
        """Chernoff's bound on the epsilon at delta, by the real end of the line."""
        c, value = self.points[0][0].real, self.points[0][1].real
        return (log(value) + log(c) - log(delta)) / c - log1p(1 / c)


class Total:
    """Losses in sequence, in one direction."""

    def __init__(self, parts):
        self.parts = parts

    def cumulant(self, c):
        return sum(count * part.rough(float(c)) for count, part in self.parts)

    def lines(self, exponent):
        """Two lines near the least exponent, a function of (c, K(c)). Any line is right; these are short."""
        log_c = float(least(lambda t: exponent(math.exp(t), self.cumulant(math.exp(t))), -6.0, 5.0, 20))
        return [self.line(math.exp(log_c), 1.0), self.line(0.8 * math.exp(log_c), 0.83)]

    def line(self, c, fineness):
        """The sum along a line is that of e^{ckp} delta(eps + kp) over all whole k, p = 2 pi/step.

        The period p is chosen so that all but k = 0 vanish.
        """
        known, gap = self.cumulant(c), c / 1000
        mean = (self.cumulant(c + gap) - self.cumulant(c - gap)) / (2 * gap)
        # Below: e^{-cp} against delta(eps). Above: e^{cp} delta(eps + p) by Chernoff's bound at a larger c.
        below = (120 + c * mean - known) / c
        rises = [(f * c, self.cumulant(c + f * c) - known) for f in (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)]
        above = min((rise - ahead * mean + 110) / ahead for ahead, rise in rises)
        return Line(self.parts, mpf(c), 2 * pi * mpf(fineness) / mpf(max(below, above)), mpf(fineness))

    def near_epsilon(self, epsilon):
        return self.lines(lambda c, k: k - c * float(epsilon) - math.log(c) - math.log1p(c))

    def near_delta(self, delta):
        goal = float(log(delta))
        return self.lines(lambda c, k: (k - goal - math.log1p(c)) / c - math.log1p(1 / c))

    def delta(self, epsilon):
        return agreed([line.delta(mpf(epsilon)) for line in self.near_epsilon(mpf(epsilon))])

    def epsilon(self, delta):
        return agreed([line.epsilon(mpf(delta)) for line in self.near_delta(mpf(delta))])

    def floor(self, fpr):
        """sup over real eps of 1 - delta(eps) - e^eps * fpr: at delta'(eps) = -e^eps * fpr."""
        found = []
        for line in self.near_delta(mpf(fpr)):
            best = least(lambda e: line.delta(e) + exp(e) * fpr, mpf(-20), mpf(20), 60)
            best = findroot(lambda e: log(-line.slope(e)) - e - log(mpf(fpr)), best)
            found.append(1 - line.delta(best) - exp(best) * fpr)
        return agreed(found)


def agreed(values):
    first, second = values
    assert abs(first - second) <= AGREEMENT * abs(first), (first, second)
    return first


def two_ways(make):
    return [Total(make(True)), Total(make(False))]


def training(rate, sigma, steps):
    return two_ways(lambda remove: [(steps, sampled(rate, sigma, remove))])


def worst(ways, ask):
    return max(ask(way) for way in ways)


def training_excess(rate, sigma, steps, epsilon, delta):
    """ln of the delta at epsilon over the one allowed; roughly where the precision is low."""
    found = []
    for way in training(rate, sigma, steps):
        lines = way.near_epsilon(mpf(epsilon))
        values = [line.delta(mpf(epsilon)) for line in (lines if mp.dps == PRECISION else lines[:1])]
        found.append(agreed(values) if mp.dps == PRECISION else values[0])
    return log(max(found)) - log(mpf(delta))


def training_sigma(rate, steps, epsilon, delta):
    """Secant steps in ln sigma: first roughly, then exactly."""
    a, b = mpf(0), mpf("0.2")
    for digits, rounds in ((20, 30), (PRECISION, 6)):
        with mp.workdps(digits):
            def excess(t):
                return training_excess(rate, exp(t), steps, epsilon, delta)

            at_a, at_b = excess(a), excess(b)
            for _ in range(rounds):
                following = b - at_b * (b - a) / (at_b - at_a)
                (a, at_a), b = (b, at_b), min(max(following, b - 1), b + 1)
                at_b = excess(b)
                if abs(b - a) < mpf(10) ** (-digits // 2):
                    break
    assert abs(at_b) < mpf(10) ** -23, at_b
    return exp(b)


def training_steps(rate, sigma, epsilon, delta):
    """The largest number of steps within a budget: found roughly, then settled."""
    def within(steps):
        return training_excess(rate, sigma, steps, epsilon, delta) <= 0

    with mp.workdps(20):
        low, high = 1, 512
        while within(high):
            low, high = high, 4 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if within(middle) else (low, middle)
    assert within(low) and not within(high)
    return low


# Bounds that theorems state


def without_replacement_rdp(size, batch, sigma, order):
    """Wang, Balle, Kasiviswanathan (2019), theorem 27, at a whole order."""
    q, s = mpf(batch) / size, mpf(sigma)

    def moment(i):
        return exp(mpf(i * (i - 1)) / (2 * s * s))

    def difference(n):
        return abs(sum((-1) ** i * binomial(n, i) * moment(i) for i in range(n + 1)))

    total = 1 + q**2 * binomial(order, 2) * min(4 * (moment(2) - 1), 2 * moment(2))
    for j in range(3, order + 1):
        smooth = 4 * sqrt(difference(j // 2 * 2) * difference((j + 1) // 2 * 2))
        total += q**j * binomial(order, j) * min(smooth, 2 * moment(j))
    return log(total) / (order - 1)


def shuffled_floor(steps, sigma, epsilon):
    """The best threshold on the largest of the noisy sums (Chua et al. 2024)."""
    s = mpf(sigma)

    def exceeds(threshold, shift):
        return -expm1((steps - 1) * log1p(-tail(threshold / s)) + log1p(-tail((threshold - shift) / s)))

    def loss(threshold):
        return -(exceeds(threshold, 2) - exp(mpf(epsilon)) * exceeds(threshold, 1))

    start = min(range(0, 600), key=lambda i: loss(s * i / 20))
    return -loss(least(loss, s * (start - 1) / 20, s * (start + 1) / 20, 120))


def moments_epsilon(rate, sigma, steps, delta):
    return min(steps * sampled_rdp(rate, sigma, a + 1) - log(mpf(delta)) / a for a in range(1, 33))


def strong_composition(rate, sigma, steps, delta):
    q, s, d = mpf(rate), mpf(sigma), mpf(delta)

    def total(share):
        each = q * sqrt(2 * log(mpf("1.25") * steps * q / (share * d))) / s
        return each * sqrt(2 * steps * -log((1 - share) * d)) + steps * each * expm1(each)

    return total(least(total, mpf(10) ** -6, 1 - mpf(10) ** -6))


def renyi_epsilon(rate, sigma, steps, delta):
    """The best real order of exact Renyi divergences."""
    with mp.workdps(25):
        def at(log_gap):
            order = 1 + exp(log_gap)
            divergence = mixture_rdp([0, 1], [1 - mpf(rate), rate], sigma, order)
            return canonne(steps * divergence, order, mpf(delta))

        log_gap = least(at, mpf(-2), mpf(6), 45)
    return at(log_gap)
