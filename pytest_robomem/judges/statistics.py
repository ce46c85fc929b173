"""Rates with intervals, and agreement between raters."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
BOOTSTRAP_SAMPLES = 2000
BOOTSTRAP_SEED = 0


def rate(count: int, total: int) -> float | None:
    """Share, or None of nothing."""
    return count / total if total else None


def wilson(count: int, total: int) -> tuple[float, float] | None:
    """Wilson interval of a rate at 95 %, or None of nothing.

    Written out, because importing scipy.stats takes longer than all else at the end of a run.
    """
    if total == 0:
        return None
    z2 = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2
    middle = (count + z2 / 2) / (total + z2)
    half = math.sqrt(z2 * (count * (total - count) / total + z2 / 4)) / (total + z2)
    return max(0.0, middle - half), min(1.0, middle + half)


def confusion(first: Sequence[int], second: Sequence[int], categories: int) -> list[list[int]]:
    """Counts by category: rows are `first`, columns `second`; values are 0 .. categories - 1."""
    counts = [[0] * categories for _ in range(categories)]
    for row, column in zip(first, second, strict=True):
        counts[row][column] += 1
    return counts


def kappa_of_counts(counts: npt.ArrayLike, weights: Literal["nominal", "quadratic"]) -> float:
    """Cohen's kappa of a square table of counts; nan where chance alone leaves no room.

    With `quadratic` weights a disagreement counts by the square of its distance.
    """
    table = np.asarray(counts, dtype=float)
    total = table.sum()
    if total == 0:
        return math.nan
    index = np.arange(table.shape[0])
    distance = np.abs(index[:, None] - index[None, :]).astype(float)
    penalty = distance**2 if weights == "quadratic" else (distance > 0).astype(float)
    by_chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    expected = float((penalty * by_chance).sum())
    return math.nan if expected == 0 else 1.0 - float((penalty * table).sum()) / expected


def cohen_kappa(
    first: Sequence[int],
    second: Sequence[int],
    categories: int,
    weights: Literal["nominal", "quadratic"] = "nominal",
) -> float:
    """Cohen's kappa of two raters; nan where both are constant."""
    return kappa_of_counts(confusion(first, second, categories), weights)


def kappa_interval(
    tables: Sequence[npt.ArrayLike], weights: Literal["nominal", "quadratic"] = "nominal"
) -> tuple[float, float] | None:
    """Bootstrap interval at 95 % of the kappa of the sum of `tables`, one table a cluster.

    Marks of one episode depend on each other, so whole episodes are drawn. None where fewer than
    two clusters, or too few draws with a defined kappa, are there.
    """
    stacked = np.asarray(tables, dtype=float)
    if len(stacked) < 2:
        return None
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    draws = generator.multinomial(
        len(stacked), np.full(len(stacked), 1 / len(stacked)), size=BOOTSTRAP_SAMPLES
    )
    sums = np.tensordot(draws, stacked, axes=1)
    kappas = np.array([kappa_of_counts(table, weights) for table in sums])
    kappas = kappas[~np.isnan(kappas)]
    if len(kappas) < BOOTSTRAP_SAMPLES / 2:
        return None
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(kappas, [tail, 100 - tail])
    return float(low), float(high)


def krippendorff_alpha(
    units: Sequence[Sequence[int | None]], level: Literal["nominal", "ordinal", "interval"]
) -> float:
    """Krippendorff's alpha of units by raters (None: not rated); nan where all marks are equal.

    Units with fewer than two marks say nothing of agreement and are left out.
    """
    rated = [[mark for mark in unit if mark is not None] for unit in units]
    rated = [unit for unit in rated if len(unit) > 1]
    values = sorted({mark for unit in rated for mark in unit})
    if len(values) < 2:
        return math.nan
    place = {value: index for index, value in enumerate(values)}
    coincidence = np.zeros((len(values), len(values)))
    for unit in rated:
        counts = np.zeros(len(values))
        for mark in unit:
            counts[place[mark]] += 1
        coincidence += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = coincidence.sum(axis=1)
    penalty = _penalty(np.array(values, dtype=float), totals, level)
    n = totals.sum()
    expected = float((np.outer(totals, totals) * penalty).sum()) / (n - 1)
    observed = float((coincidence * penalty).sum())
    return math.nan if expected == 0 else 1.0 - observed / expected


def _penalty(
    values: npt.NDArray[np.float64], totals: npt.NDArray[np.float64], level: str
) -> npt.NDArray[np.float64]:
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "interval":
        return np.asarray((values[:, None] - values[None, :]) ** 2)
    size = len(values)
    penalty = np.zeros((size, size))
    for low in range(size):
        for high in range(low + 1, size):
            between = totals[low : high + 1].sum() - (totals[low] + totals[high]) / 2
            penalty[low, high] = penalty[high, low] = between**2
    return penalty


def share_equal(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Share of pairs that are equal, or None of nothing."""
    return rate(sum(a == b for a, b in zip(first, second, strict=True)), len(first))


def defined(value: float) -> float | None:
    """A number for JSON, which has no nan."""
    return None if math.isnan(value) else round(value, 6)
