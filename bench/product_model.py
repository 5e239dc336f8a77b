# SPDX-License-Identifier: Apache-2.0
"""Fits the time of matrix products (ProductModel in src/cost/step/efficiency.hpp) and says how far off it is on a GPU left out.

    python bench/product_model.py PRODUCTS.csv

The CSV has a row for each measured bf16 product, with the columns gpu, m, n, k, latency_us; the constants are of a sample of
ai-dynamo/aiconfigurator's measurements. `gpu` is a name that `ullage gpus` knows.
"""
import csv
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
TILE = 128 * 128
#: share of the peak, of the bandwidth, launch in us, tiles that a multiprocessor waits for
START = (0.75, 0.85, 3.0, 0.05)


def rates(gpu):
    """FLOP/s, bytes/s and multiprocessors by the catalogue."""
    program = os.environ.get("ULLAGE_BIN", str(ROOT / "build/release/bin/ullage"))
    for name in (gpu, f"NVIDIA {gpu}"):
        done = subprocess.run([program, "gpus", name, "--json"], capture_output=True, text=True)
        if done.returncode == 0:
            break
    else:
        raise SystemExit(done.stderr)
    facts = {name: quantity["value"] for name, quantity in json.loads(done.stdout)["gpus"][0]["quantities"].items()}
    return facts["bf16_peak"], facts["memory_bandwidth"], facts["sm_count"]


class Products:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.gpu = np.array([row["gpu"] for row in rows])
        self.m, self.n, self.k, micro = (np.array([float(row[name]) for row in rows]) for name in ("m", "n", "k", "latency_us"))
        self.seconds = micro * 1e-6
        known = {gpu: rates(gpu) for gpu in sorted(set(self.gpu))}
        self.names = list(known)
        self.peak, self.bandwidth, self.multiprocessors = (np.array([known[gpu][i] for gpu in self.gpu]) for i in range(3))

    def predicted(self, constants):
        share, bandwidth_share, launch, tiles = np.abs(constants)
        idle = 1 + tiles * self.multiprocessors * TILE / (self.m * self.n)
        compute = 2 * self.m * self.n * self.k / (self.peak * share) * idle
        memory = 2 * (self.m * self.k + self.k * self.n + self.m * self.n) / (self.bandwidth * bandwidth_share)
        return np.hypot(compute, memory) + launch * 1e-6

    def residuals(self, constants):
        """Logarithm of measured over predicted."""
        return np.log(self.seconds / self.predicted(constants))

    def fit(self, rows):
        """Least squares that forgive the few that are far off, one constant after the other with smaller and smaller steps."""
        def loss(constants):
            return np.sum(np.sqrt(1 + (self.residuals(constants)[rows] / 0.1) ** 2))

        best, step = np.array(START), 0.2
        lowest = loss(best)
        while step > 1e-4:
            tries = [best * np.where(np.arange(4) == i, factor, 1) for i in range(4) for factor in (1 + step, 1 / (1 + step))]
            losses = [loss(constants) for constants in tries]
            if min(losses) < lowest:
                lowest, best = min(losses), tries[int(np.argmin(losses))]
            else:
                step /= 2
        return best


def quantiles(residuals):
    return np.quantile(residuals, (0.05, 0.95))


def left_out(products, gpu):
    """Residuals of a GPU by a fit without it, and the share of them inside the interval that the other GPUs give, each left out in turn."""
    others = products.gpu != gpu
    own = products.residuals(products.fit(others))[~others]
    apart = [products.residuals(products.fit(others & (products.gpu != other)))[products.gpu == other]
             for other in products.names if other != gpu]
    low, high = quantiles(np.concatenate(apart))
    return own, np.mean((own >= low) & (own <= high))


def main():
    products = Products(sys.argv[1])
    print("constants of all:", np.round(products.fit(np.ones(len(products.seconds), bool)), 3))
    everything = []
    print("left out, rows, median error, median signed error, inside the 90 % interval")
    for gpu in products.names:
        own, inside = left_out(products, gpu)
        everything.append(own)
        error = np.exp(-own) - 1
        print(f"{gpu}, {len(own)}, {np.median(np.abs(error)):.1%}, {np.median(error):+.1%}, {inside:.0%}")
    pooled = np.concatenate(everything)
    print(f"all: median error {np.median(np.abs(np.exp(-pooled) - 1)):.1%}, interval of measured over predicted", np.round(np.exp(quantiles(pooled)), 2))


if __name__ == "__main__":
    main()
