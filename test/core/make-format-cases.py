"""Writes format-cases.json: arrays and how NumPy prints them (array2string), for test/core/format.test.ts.

    python3 make-format-cases.py > format-cases.json && npm run format

Values are given as the bytes of the array, so no decimal text stands between NumPy and the test. NumPy 1 and 2 differ
where a value in f32 or f16 lies within rounding of 0.0001; such values are left out.
"""
import base64
import json

import numpy as np

DTYPES = {"bool": "?", "u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "i8": "i1", "i16": "<i2", "i32": "<i4",
          "i64": "<i8", "f16": "<f2", "f32": "<f4", "f64": "<f8", "c64": "<c8", "c128": "<c16"}
FLOATS = ["f16", "f32", "f64"]
rng = np.random.default_rng(0)
cases = []


def pack(array):
    """Base64, or "arange" for 0, 1, 2 …, which the test makes itself."""
    if array.size > 500 and array.dtype.kind == "i" and np.array_equal(array.ravel(), np.arange(array.size)):
        return "arange"
    return base64.b64encode(array.tobytes()).decode()


def add(values, dtype, separator=" ", indent=0, **options):
    with np.errstate(all="ignore"):
        array = np.asarray(values).astype(DTYPES[dtype])
    python = {"precision": "precision", "threshold": "threshold", "edgeItems": "edgeitems",
              "lineWidth": "max_line_width"}
    text = np.array2string(array, separator=separator, prefix=" " * indent,
                           **{python[name]: value for name, value in options.items()})
    if dtype == "bool":
        text = text.lower()
    if separator != " ":
        options["separator"] = separator
    if indent:
        options["indent"] = indent
    case = {"dtype": dtype, "shape": list(array.shape), "bytes": pack(array), "text": text}
    if options:
        case["options"] = options
    cases.append(case)


nan, inf = np.nan, np.inf
for dtype in FLOATS:
    for values in [
        0.0, -0.0, 1.0, 0.1, 1 / 3, nan, -inf, 12345.678, 1e-3, 5e-4,
        [1, 2, 3], [1.5, 2.25, -3], [0.1, 0.2, 0.3], [1 / 3, 2 / 3, 1], [0.5 ** 9, 0.3], [0.5 ** 9, 3 * 0.5 ** 9],
        [1e-3, 1], [1e-3, 1.001], [999.5, 1], [1e4, 1e1], [1001, 1], [1e-5, 1 / 3, 0.1], [1e-7, 2e-7], [6e4, 1e-3],
        [nan, 1, 2], [inf, 1.5, -2], [-inf, nan], [nan, nan], [inf, 1], [nan, 1e-6, 1], [-inf, 12345.5, 2],
        [0, 0, 0], [0, -0.0, 1], [[1, 2], [3.5, 4]], [[[1, 2], [3, 4]], [[5, 6], [7, 8.125]]], [[], []], [],
        [1e3, 1e2, 0.5], [9.9999999e4, 0.99999999], [2.0 ** -14, 2.0 ** -24], [65504, 0.5], [2.0 ** k for k in range(8)],
    ]:
        add(values, dtype)
for dtype in ["f32", "f64"]:
    for values in [
        1e8, 99999999.0, 1e7 + 0.5, [1e8, 1], [99999999, 1], [1e30, 1e-30], [1.17549435e-38, 1], [1e-45, 1e-44],
        [123456.789, 234567.891], [1e10, 1e10 + 1e3], [0.1 + 0.2, 0.3], [1.000000119, 1], [16777216, 16777217],
        [2.0 ** k for k in range(-20, 20, 3)], [10.0 ** k for k in range(-8, 9)], [3.14159265358979, 2.71828182845905],
    ]:
        add(values, dtype)
# Ties, intervals that are lopsided at powers of two, and integers with more digits than are needed to name them.
add([20864, 65312, inf], "f16")
add([0, 2.0 ** -6, 32], "f16")
for dtype in FLOATS:
    add(rng.integers(-1000, 1000, size=60) / 256, dtype)
    add(rng.integers(-1000, 1000, size=60) / 8192, dtype)
    for precision in range(4):
        add([0.001, 0.006, 0.005, 0.5, 0.015, 0.025, 0.0625], dtype, precision=precision)
        add([1.5, 2.5, 0.5, 20864], dtype, precision=precision)
        add([9.96, 99.5, 0.995], dtype, precision=precision)
        add([9.96e-5, 99.5, 0.995], dtype, precision=precision)
for k in range(-149, 128, 9):
    add([2.0 ** k, 3.0 * 2.0 ** k], "f32")
add([1e300, 1e-300, 1], "f64")
add([5e-324, 1.7976931348623157e308], "f64")
add([1e100, -1e99], "f64")
add(0.1 + 0.2, "f64")
add([2.0 ** k for k in range(-30, -20)], "f32")
for dtype, values in [("f32", rng.normal(size=(7, 9))), ("f64", rng.normal(size=(4, 5)) * 1e5),
                      ("f16", rng.normal(size=(5, 5))), ("f32", rng.normal(size=30) * 1e-6),
                      ("f32", 10.0 ** rng.uniform(-3, 3, size=40)), ("f64", 10.0 ** rng.uniform(-20, 20, size=40)),
                      ("f32", rng.integers(-1000, 1000, size=50) / 8), ("f64", rng.integers(-99, 99, size=50) / 512)]:
    add(values, dtype)
    add(values, dtype, separator=", ")
    add(values, dtype, precision=4)
    add(values, dtype, precision=2, lineWidth=40)
for dtype in ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]:
    info = np.iinfo(DTYPES[dtype])
    add([info.min, info.max, 7], dtype)
    add(5, dtype)
    add(np.arange(40).reshape(2, 20), dtype)
    add(rng.integers(0, 100, size=(3, 2, 4)), dtype, separator=", ", indent=6)
add(True, "bool")
add([True, False], "bool")
add([[True, True], [True, True]], "bool", separator=", ")
for dtype in ["c64", "c128"]:
    for values in [1 + 2j, -1.5j, [1 + 2j, 3.25 - 1j], [complex(nan, 1), complex(1, -inf)], [1e-6 + 1j, 1 + 1e6j],
                   [[0.1 + 0.2j, 1 / 3], [-1, 2j]], [complex(-0.0, -0.0), 1], [complex(nan, nan)],
                   rng.normal(size=6) + 1j * rng.normal(size=6)]:
        add(values, dtype)
for shape in [(1001,), (1000,), (40, 40), (7, 200), (200, 7), (12, 11, 10), (2, 600), (1, 1, 1200), (3, 1, 4, 100)]:
    add(np.arange(np.prod(shape)).reshape(shape), "i32")
add(np.linspace(0, 1, 1200).reshape(30, 40), "f32")
add(np.linspace(0, 1, 1200).reshape(30, 40), "f32", separator=", ", indent=7)
add(np.arange(30).reshape(5, 6), "i16", threshold=10, edgeItems=1)
add(np.arange(30).reshape(5, 6), "f32", threshold=10, edgeItems=2, lineWidth=20)
add(np.arange(2000), "i32", edgeItems=6)
add(np.arange(1500) % 2 == 0, "bool")
add(np.zeros((0, 5)), "i32")
add(np.zeros((3, 0, 2)), "c64")
add(np.arange(6).reshape(1, 1, 2, 1, 3, 1), "u8")
add(np.arange(24) * 1000003, "i32", lineWidth=10)
print("[\n" + ",\n".join("  " + json.dumps(case) for case in cases) + "\n]")
