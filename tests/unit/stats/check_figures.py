#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Computes every figure of a database anew with numpy and scipy, from the rules in docs/methods-and-limits.md and the
stored times of responses, and compares with what v_cell, v_pair and v_interaction say. It shares nothing with the daemon
but the views. Ends with status 1 and a line for each figure that differs by more than one part in 1e9.

usage: check_figures.py DATABASE
"""
import json
import sqlite3
import sys
from collections import defaultdict
from functools import lru_cache

import numpy as np
from scipy import stats

MILESTONES = ["first_decrypted_ns", "first_body_ns", "body_1024_ns", "body_4096_ns", "body_8192_ns",
              "first_data_frame_ns", "complete_ns"]
RESAMPLES = 4000
MASK = (1 << 64) - 1

differing = []
compared = defaultdict(int)


def same(a, b):
    if a is None or b is None:
        return a is b
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def compare(view, row, column, expected):
    compared[view] += 1
    if not same(row[column], expected):
        differing.append(f"{view} {dict(row)}: {column}: expected {expected!r}")


# ---- the generator, from its publication ----

def splitmix64(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def xoshiro256starstar(seed):
    def rotl(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK
    seeds = splitmix64(seed)
    s = [next(seeds) for _ in range(4)]
    while True:
        yield (rotl((s[1] * 5) & MASK, 7) * 9) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)


@lru_cache(maxsize=None)
def resamples(n):
    """How often each of n differences is in each resample."""
    numbers = xoshiro256starstar(1)
    least = (1 << 64) % n
    drawn = np.zeros((RESAMPLES, n), dtype=np.int64)
    for counts in drawn:
        left = n
        while left:
            value = next(numbers)
            if value >= least:
                counts[value % n] += 1
                left -= 1
    return drawn


# ---- estimators ----

def walsh(differences):
    i, j = np.triu_indices(len(differences))
    return (differences[i] + differences[j]) / 2


def bootstrap_interval(differences):
    """Of the median of the Walsh averages: a resample holds an average as often as its two members together."""
    n = len(differences)
    if n < 6:
        return None, None
    i, j = np.triu_indices(n)
    averages = walsh(differences)
    order = np.argsort(averages, kind="stable")
    i, j, averages = i[order], j[order], averages[order]
    total = n * (n + 1) // 2
    estimates = []
    for counts in resamples(n):
        weights = np.where(i == j, counts[i] * (counts[i] + 1) // 2, counts[i] * counts[j])
        reached = np.cumsum(weights)
        low, high = np.searchsorted(reached, [(total + 1) // 2, total // 2 + 1])
        estimates.append((averages[low] + averages[high]) / 2)
    estimates.sort()
    return estimates[RESAMPLES // 40], estimates[RESAMPLES - 1 - RESAMPLES // 40]


def exact_tails(doubled_ranks, doubled_w):
    """P(W+ <= w), P(W+ >= w) by counting all choices of signs in whole numbers: the generating function of the rank
    sums, packed into one number with a field of n + 1 bits a sum."""
    n = len(doubled_ranks)
    field = n + 1
    packed = 1
    for rank in doubled_ranks:
        packed += packed << (field * rank)

    def total(number):  # the sum of all fields: they add up to at most 2^n
        return number % ((1 << field) - 1)
    at_most = total(packed & ((1 << (field * (doubled_w + 1))) - 1))
    at_least = total(packed >> (field * doubled_w))
    return at_most / 2 ** n, at_least / 2 ** n


def normal_tails(ranks, w):
    n = len(ranks)
    _, ties = np.unique(ranks, return_counts=True)
    deviation = np.sqrt(n * (n + 1) * (2 * n + 1) / 24 - (ties.astype(float) ** 3 - ties).sum() / 48)
    mean = n * (n + 1) / 4
    return stats.norm.cdf((w + 0.5 - mean) / deviation), stats.norm.sf((w - 0.5 - mean) / deviation)


def signed_rank(differences, alternative):
    differences = differences[differences != 0]
    n = len(differences)
    if n == 0:
        return 1.0
    ranks = stats.rankdata(np.abs(differences))
    w = ranks[differences > 0].sum()
    if n > 300:
        less, greater = normal_tails(ranks, w)
    else:
        less, greater = exact_tails([int(2 * rank) for rank in ranks], int(2 * w))
    p = {"less": less, "greater": greater, "two-sided": min(1.0, 2 * min(less, greater))}[alternative]
    untied = len(np.unique(ranks)) == n
    # scipy's own test, where it has one: exact without ties; approximate, unless W+ is at its mean, where it corrects
    # for continuity in neither direction.
    if n <= 300 and untied:
        theirs = stats.wilcoxon(differences, alternative=alternative, method="exact").pvalue
    elif n > 300 and abs(w - n * (n + 1) / 4) > 1:
        theirs = stats.wilcoxon(differences, alternative=alternative, method="approx", correction=True).pvalue
    else:
        return p
    compared["scipy.stats.wilcoxon"] += 1
    if not same(p, theirs):
        differing.append(f"this program's p {p} and scipy's {theirs} ({alternative}, n = {n})")
    return theirs


def nearest_rank(values, percent):
    """The smallest with at least percent % at or below it, if five lie beyond."""
    n = len(values)
    if n * (100 - percent) < 500:
        return None
    return np.sort(values)[int(np.ceil(n * percent / 100 - 1e-9)) - 1]


# ---- what the database holds ----

def samples_of(db, campaign):
    """{(path, workload, metric, kernel, clock, execution): {case: {block: ns}}} of passed trials."""
    roles = defaultdict(list)
    for row in db.execute("SELECT workload, role FROM v_workload WHERE campaign_id = ? ORDER BY workload, seq", [campaign]):
        roles[row["workload"]].append(row["role"])
    samples = defaultdict(lambda: defaultdict(dict))
    trials = db.execute(
        "SELECT t.*, p.execution FROM v_trial t JOIN v_provenance p USING (trial_id)"
        " WHERE campaign_id = ? AND verdict = 'passed'", [campaign]).fetchall()
    for trial in trials:
        def add(metric, value):
            if value is None:
                return
            place = (trial["path"], trial["workload"], metric, trial["kernel"], trial["clock"], trial["execution"])
            samples[place][trial["case_name"]][trial["block"]] = value
        requests = db.execute("SELECT * FROM v_request WHERE trial_id = ?", [trial["trial_id"]]).fetchall()
        responses = {row["role"]: row for row in db.execute("SELECT * FROM v_response WHERE trial_id = ?", [trial["trial_id"]])}
        connect = db.execute("SELECT first_request_ns FROM v_client WHERE trial_id = ?", [trial["trial_id"]]).fetchone()[0]
        for request in requests:
            prefix = request["role"] + "." if len(roles[trial["workload"]]) > 1 else ""
            for milestone in MILESTONES:
                add(prefix + milestone, responses[request["role"]][milestone])
            if request["seq"] == 0:  # from the connection's start
                for name in ("first_decrypted_ns", "complete_ns"):
                    parts = (connect, responses[request["role"]][name])
                    add(f"{prefix}connect_to_{name}", None if None in parts else sum(parts))
            else:
                add(prefix + "start_from_first_ns", request["from_first_ns"])
                add(prefix + "complete_from_first_ns", request["complete_from_first_ns"])
    return samples


def place_of(row):
    return tuple(row[name] for name in ("path", "workload", "metric", "kernel", "clock", "execution"))


def check_cell(row, samples):
    values = np.array(list(samples[place_of(row)][row["case_name"]].values()), dtype=float)
    compare("v_cell", row, "n", len(values))
    compare("v_cell", row, "median_ns", float(np.median(values)) if len(values) else None)
    for percent in (90, 95, 99):
        compare("v_cell", row, f"p{percent}_ns", nearest_rank(values, percent))
    compare("v_cell", row, "min_ns", values.min() if len(values) else None)
    compare("v_cell", row, "max_ns", values.max() if len(values) else None)


def check_differences(view, row, differences, median):
    compare(view, row, "n", len(differences))
    compare(view, row, median, float(np.median(differences)))
    compare(view, row, "hl_ns", float(np.median(walsh(differences))))
    low, high = bootstrap_interval(differences)
    compare(view, row, "ci_low_ns", low)
    compare(view, row, "ci_high_ns", high)
    compare(view, row, "negative", int((differences < 0).sum()))
    compare(view, row, "positive", int((differences > 0).sum()))
    compare(view, row, "p_value", signed_rank(differences, "two-sided"))


def check_equivalence(row, differences, margin):
    compare("v_pair", row, "margin_ns", margin)
    above = below = verdict = None
    if margin is not None:
        above = signed_rank(differences + margin, "greater")
        below = signed_rank(differences - margin, "less")
        verdict = int(max(above, below) < 0.05)
    compare("v_pair", row, "p_above_low", above)
    compare("v_pair", row, "p_below_high", below)
    compare("v_pair", row, "equivalent", verdict)


def contrasts(cases, names, weights):
    """One weighted sum a block in which all the named cases have a sample, in order of blocks."""
    columns = [cases.get(name, {}) for name in names]
    blocks = sorted(set(columns[0]).intersection(*columns[1:]))
    return np.array([sum(w * column[block] for w, column in zip(weights, columns)) for block in blocks], dtype=float)


def missing(view, expected, seen):
    for what in sorted(expected ^ seen, key=str):
        differing.append(f"{view}: {what} {'is missing' if what in expected else 'should not be there'}")


def check_pairs(db, campaign, asked, samples):
    margins = {}
    for entry in asked.get("equivalence", []):
        for a in entry["cases"]:
            for b in entry["cases"]:
                margins[a, b] = int(entry["margin_ns"])
    order = [case["name"] for case in asked["cases"]]
    expected = {(a, b, *place) for place, cases in samples.items() for a in cases for b in cases
                if order.index(a) < order.index(b) and set(cases[a]) & set(cases[b])}
    seen = set()
    for row in db.execute("SELECT * FROM v_pair WHERE campaign_id = ?", [campaign]):
        a, b = row["case_a"], row["case_b"]
        seen.add((a, b, *place_of(row)))
        differences = contrasts(samples[place_of(row)], (a, b), (-1, 1))
        if len(differences):
            check_differences("v_pair", row, differences, "median_diff_ns")
            check_equivalence(row, differences, margins.get((a, b)))
    missing("v_pair", expected, seen)


def check_interactions(db, campaign, asked, samples):
    factorials = {one["name"]: tuple(one[key] for key in ("neither", "first", "second", "both"))
                  for one in asked.get("factorials", [])}
    expected = {(name, *place) for place, cases in samples.items() for name, four in factorials.items()
                if set.intersection(*(set(cases.get(case, {})) for case in four))}
    seen = set()
    for row in db.execute("SELECT * FROM v_interaction WHERE campaign_id = ?", [campaign]):
        seen.add((row["factorial"], *place_of(row)))
        four = factorials[row["factorial"]]
        if four != tuple(row[key] for key in ("neither", "first", "second", "both")):
            differing.append(f"v_interaction {dict(row)}: the cases are {four}")
        check_differences("v_interaction", row, contrasts(samples[place_of(row)], four, (1, -1, -1, 1)), "median_ns")
    missing("v_interaction", expected, seen)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    for campaign, text in db.execute("SELECT campaign_id, campaign_json FROM v_campaign").fetchall():
        samples = samples_of(db, campaign)
        for row in db.execute("SELECT * FROM v_cell WHERE campaign_id = ?", [campaign]):
            check_cell(row, samples)
        asked = json.loads(text)
        check_pairs(db, campaign, asked, samples)
        check_interactions(db, campaign, asked, samples)
    for line in differing:
        print(line)
    print(", ".join(f"{view}: {count}" for view, count in sorted(compared.items())) + " values compared,",
          len(differing), "differ")
    sys.exit(1 if differing else 0)


main()
