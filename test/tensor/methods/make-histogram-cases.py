"""Writes histogram-cases.json: histograms by NumPy of numbers that histogram.test.ts makes in the same way.

Run: python3 make-histogram-cases.py > histogram-cases.json
"""
import json
import numpy as np


def uniforms(count, seed):
    """Numbers from 0 to 1 of a linear congruential generator (Numerical Recipes'), exact in f64."""
    found, state = np.empty(count), seed
    for i in range(count):
        state = (1664525 * state + 1013904223) % 2**32
        found[i] = state / 2**32
    return found


def normals(count, seed):
    """Nearly normal: sums of 12 uniform numbers, exact in f64."""
    return uniforms(12 * count, seed).reshape(count, 12).sum(axis=1) - 6


def case(dtype, values, **options):
    counts, edges = np.histogram(values.astype(dtype), **options)
    return {"counts": counts.tolist(), "edges": [float(edge) for edge in edges[:5]]}


n = normals(100003, 1)
whole = np.floor(uniforms(20001, 2) * 1000).astype(np.int64)
json.dump(
    {
        "f32 within a range": case(np.float32, n, bins=1000, range=(-8, 8)),
        "f32 within an odd range": case(np.float32, n, bins=97, range=(-0.7, 1.1)),
        "f32 from least to most": case(np.float32, n, bins=101),
        "f64 within a range": case(np.float64, n, bins=1000, range=(-8, 8)),
        "f64 from least to most": case(np.float64, n, bins=101),
        "i32 beyond 2^24": case(np.int32, whole + 2**24 * 100, bins=500),
        "i32 between edges": case(np.int32, whole + 2**24, bins=[2**24 - 0.5, 2**24 + 1, 2**24 + 500.5, 2**24 + 999]),
        "i64 within a range": case(np.int64, whole + 2**40, bins=77, range=(2**40, 2**40 + 900)),
        "u32 from least to most": case(np.uint32, whole * 4294967, bins=333),
    },
    __import__("sys").stdout,
)
