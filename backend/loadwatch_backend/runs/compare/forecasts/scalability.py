"""The Universal Scalability Law, where there is enough of a sweep to see its peak.

X(N) = N / (a + b (N - 1) + c N (N - 1)) with a = 1 / lambda, b = sigma / lambda, c = kappa / lambda (Gunther,
"Guerrilla Capacity Planning", 2007, chapter 5). Before the bend the third coefficient cannot be known.
"""

import numpy as np

from loadwatch_backend.runs.compare.forecasts.model import CONFIDENCE, FloatArray, Interval, Peak, Refusal, Refused

LEAST_STEPS = 6
PAST = 0.8
"""Share of the fitted peak that the step with most users must reach, unless it lies beyond the peak."""
FAR = 5.0
"""Times the most users that were tried, beyond which a fitted peak is rounding."""
DRAWS = 1_000
ROUNDS = 8
LEAST_FREEDOM = 3


def forecast_peak(users: FloatArray, rates: FloatArray) -> Peak | Refused:
    """The highest rate there is. `users` at work at once and good answers per second, [step], both above zero."""
    if len(np.unique(users)) < LEAST_STEPS:
        return Refused(refusal=Refusal.FEW_USERS, figures={"steps": len(np.unique(users)), "least": LEAST_STEPS})
    terms = np.column_stack([np.ones(len(users)), users - 1, users * (users - 1)])
    found = _fit(terms, users, rates[None, :])[0]
    peak, at = (float(one[0]) for one in _peak(found[None, :]))
    if at > FAR * float(users.max()):
        return Refused(refusal=Refusal.GROWING)
    fitted = users / (terms @ found)
    last = float(fitted[int(np.argmax(users))])
    if float(users.max()) < at and last < PAST * peak:
        return Refused(refusal=Refusal.BEFORE_THE_BEND, figures={"share": last / peak, "least": PAST})
    drawn, _ = _peak(_fit(terms, users, _draw(rates, fitted)))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], method="nearest")
    if not np.isfinite(high):
        return Refused(refusal=Refusal.BEND_UNSURE, figures={"low": float(low)})
    first, second, third = found.tolist()
    return Peak(
        rate=Interval(value=peak, low=min(float(low), peak), high=max(float(high), peak)),
        users=at,
        contention=second / first,
        coherency=third / first,
        points=len(users),
    )


def _draw(rates: FloatArray, fitted: FloatArray) -> FloatArray:
    """Sweeps like this one, [draw, step].

    They lie about the fitted curve by the scatter of the logarithms about it, itself drawn by its degrees of freedom.
    """
    draw = np.random.default_rng([len(rates), 3])
    freedom = len(rates) - LEAST_FREEDOM
    squares = float((np.log(rates / fitted) ** 2).sum())
    scale = np.sqrt(squares / draw.chisquare(freedom, (DRAWS, 1)))
    return fitted * np.exp(scale * draw.standard_normal((DRAWS, len(rates))))


def _fit(terms: FloatArray, users: FloatArray, rates: FloatArray) -> FloatArray:
    """Coefficients [sweep, 3] by least squares on the logarithm of the rate: first on a line, then by Gauss and Newton.

    Coefficients below zero have no meaning; they are set to next to nothing.
    """
    scaled = terms * (rates / users)[..., None]
    found = _solve(scaled, np.ones_like(rates))
    # Tiny against the first, and a logarithm of the curve still exists.
    for _ in range(ROUNDS):
        found = _above_zero(found)
        below = found @ terms.T
        slopes = -terms / below[..., None]
        found = found + _solve(slopes, np.log(rates) - np.log(users / below))
    return _above_zero(found)


def _above_zero(found: FloatArray) -> FloatArray:
    first = np.maximum(found[:, :1], 1e-12 * np.abs(found).max(axis=1, keepdims=True) + 1e-300)
    return np.concatenate([first, np.maximum(found[:, 1:], 0.0)], axis=1)


def _solve(terms: FloatArray, values: FloatArray) -> FloatArray:
    size = np.maximum(np.abs(terms).max(axis=-2, keepdims=True), 1e-300)
    scaled = terms / size
    normal = scaled.swapaxes(-1, -2) @ scaled + 1e-12 * np.eye(3)
    right = (scaled * values[..., None]).sum(axis=-2)
    return np.asarray(np.linalg.solve(normal, right[..., None]), np.float64)[..., 0] / size[..., 0, :]


def _peak(found: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The highest rate and its users, [sweep]; infinite where nothing holds the rate back."""
    first, second, third = found.T
    with np.errstate(divide="ignore", invalid="ignore"):
        users = np.where((third > 0) & (first > second), np.sqrt((first - second) / third), np.inf)
        rate = np.where(np.isfinite(users), 1 / (second - third + 2 * np.sqrt((first - second) * third)), np.inf)
    return rate, users
