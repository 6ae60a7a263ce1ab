"""Writes function-cases.json: what NumPy gives for the functions that test/tensor/methods/functions.test.ts calls.

    python3 make-function-cases.py > function-cases.json

A case is a call: the name, the operands, further arguments, and the results. Operands and results are objects of dtype,
shape and values; complex values alternate real and imaginary part, and NaN and infinities are strings.
"""
import json
import warnings

import numpy as np

warnings.simplefilter("ignore")
rng = np.random.default_rng(20231200)
NAMES = {
    "bool": np.bool_, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
}
FLOATS = ["f16", "f32", "f64"]
INTEGERS = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"]
cases = []


def number(value):
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    value = float(value)
    return value if np.isfinite(value) else ("NaN" if np.isnan(value) else ("Infinity" if value > 0 else "-Infinity"))


def plain(x):
    x = np.asarray(x)
    name = next(name for name, dtype in NAMES.items() if x.dtype == dtype)
    flat = x.ravel()
    values = [part for value in flat for part in (value.real, value.imag)] if x.dtype.kind == "c" else flat
    return {"dtype": name, "shape": list(x.shape), "values": [minus_zero(number(value)) for value in values]}


def minus_zero(value):
    return "-0" if isinstance(value, float) and value == 0 and np.signbit(value) else value


def add(name, operands, args, want):
    wanted = [plain(each) for each in want] if isinstance(want, (list, tuple)) else plain(want)
    given = [each if isinstance(each, (int, float)) else plain(each) for each in operands]
    cases.append({"name": name, "operands": given, "args": args, "want": wanted})


def sample(name, shape, nan=0.0, low=-9, high=9):
    """Numbers with repetitions that every dtype holds; a share of NaN and infinities in floats."""
    dtype = NAMES[name]
    if name == "bool":
        return rng.integers(0, 2, shape).astype(dtype)
    if name[0] in "ui":
        return rng.integers(0 if name[0] == "u" else low, high + 1, shape).astype(dtype)
    x = rng.integers(4 * low, 4 * high + 1, shape) / 4
    if name[0] == "c":
        x = x + 1j * rng.integers(-8, 9, shape) / 4
    x = np.asarray(x, dtype)
    if nan:
        x = np.where(rng.random(shape) < nan, np.array(np.nan, dtype), x).astype(dtype)
    return x


def axes_of(axis):
    return tuple(axis) if isinstance(axis, list) else axis


# ------------------------------------------------------------------------------------------------ quantiles

METHODS = {
    "linear": "linear", "lower": "lower", "higher": "higher", "midpoint": "midpoint", "nearest": "nearest",
    "invertedCdf": "inverted_cdf", "averagedInvertedCdf": "averaged_inverted_cdf",
    "closestObservation": "closest_observation", "interpolatedInvertedCdf": "interpolated_inverted_cdf",
    "hazen": "hazen", "weibull": "weibull", "medianUnbiased": "median_unbiased", "normalUnbiased": "normal_unbiased",
}
for ours, theirs in METHODS.items():
    for count in (1, 6, 9):
        x = sample("f64", count)
        q = [0, 0.1, 0.25, 0.5, 0.625, 0.9, 1]
        add("quantile", [x], [q, {"method": ours}], np.quantile(x, q, method=theirs))
        y = sample("f64", (3, count), 0.2)
        add("nanQuantile", [y], [q, {"axis": 1, "method": ours}], np.nanquantile(y, q, axis=1, method=theirs))
    x = sample("f64", (2, 8))
    add("quantile", [x], [0.3, {"axis": 1, "method": ours}], np.quantile(x, 0.3, axis=1, method=theirs))
for name in FLOATS + ["u8", "i32", "i64"]:
    for shape, axis in (((7,), None), ((3, 5), 0), ((3, 5), -1), ((2, 3, 4), [0, 2]), ((), None), ((4, 1), 1)):
        x = sample(name, shape)
        options = {} if axis is None else {"axis": axis}
        add("quantile", [x], [0.3, options], np.quantile(x, 0.3, axis=axes_of(axis)))
        kept = {**options, "keepDims": True}
        add("percentile", [x], [[[12.5, 50], [99, 100]], kept],
            np.stack([np.percentile(x, row, axis=axes_of(axis), keepdims=True) for row in ([12.5, 50], [99, 100])]))
x = sample("f32", (4, 6), 0.15)
add("quantile", [x], [0.5, {"axis": 1}], np.quantile(x, 0.5, axis=1))
add("nanPercentile", [x], [30, {"axis": 1}], np.nanpercentile(x, 30, axis=1))
add("nanQuantile", [np.array([[np.nan, np.nan], [1, np.nan]], np.float32)], [0.5, {"axis": 1}], np.array([np.nan, 1], np.float32))

# ------------------------------------------------------------------------------------------------ without NaN

REDUCTIONS = {
    "nanSum": np.nansum, "nanProd": np.nanprod, "nanMax": np.nanmax, "nanMin": np.nanmin, "nanMean": np.nanmean,
    "nanVariance": np.nanvar, "nanStd": np.nanstd, "nanMedian": np.nanmedian,
}
for ours, theirs in REDUCTIONS.items():
    for name in FLOATS + ["i32", "u8", "i64"]:
        for shape, axis in (((6,), None), ((4, 5), 0), ((2, 3, 4), [0, 2])):
            x = sample(name, shape, 0.3, -2, 2)
            options = {} if axis is None else {"axis": axis, "keepDims": True}
            more = {"keepdims": True} if axis is not None else {}
            add(ours, [x], [options], theirs(x, axis=axes_of(axis), **more))
    all_nan = np.array([[np.nan, np.nan], [np.nan, 3]], np.float32)
    add(ours, [all_nan], [{"axis": 1}], theirs(all_nan, axis=1))
    if ours in ("nanSum", "nanProd", "nanMean", "nanVariance", "nanStd"):
        z = sample("c128", (3, 4))
        z[0, 1] = complex(1, np.nan)
        z[2, 0] = complex(np.nan, 2)
        add(ours, [z], [{"axis": 0}], theirs(z, axis=0))
x = sample("f64", (3, 6), 0.4)
add("nanVariance", [x], [{"axis": 1, "correction": 1}], np.nanvar(x, axis=1, ddof=1))
add("nanStd", [np.array([1.0, np.nan])], [{"correction": 1}], np.nanstd(np.array([1.0, np.nan]), ddof=1))
add("nanMax", [np.array([-np.inf, np.nan])], [{}], np.nanmax(np.array([-np.inf, np.nan])))
for name in FLOATS:
    x = sample(name, (4, 5), 0.3)
    x[:, 2] = 1
    add("nanArgmax", [x], [{"axis": 1}], np.nanargmax(x, axis=1))
    add("nanArgmin", [x], [{"axis": 1, "keepDims": True}], np.nanargmin(x, axis=1, keepdims=True))
    add("nanCumsum", [x], [{"axis": 0}], np.nancumsum(x, axis=0))
    y = np.sign(x).astype(x.dtype)
    add("nanCumprod", [y], [{}], np.nancumprod(y))
for name in FLOATS + ["c64", "c128", "i16"]:
    x = sample(name, (3, 3), 0.3)
    if name[0] == "f":
        x.flat[:2] = np.inf, -np.inf
    if name[0] == "c":
        x.flat[:2] = complex(np.inf, 1), complex(np.nan, -np.inf)
    add("nanToNum", [x], [{}], np.nan_to_num(x))
    add("nanToNum", [x], [{"nan": -1, "posinf": 7, "neginf": -7}], np.nan_to_num(x, nan=-1, posinf=7, neginf=-7))

# ------------------------------------------------------------------------------------------------ sets

for name in ["bool", *INTEGERS, *FLOATS, "c64", "c128"]:
    x, y = sample(name, (3, 4), 0.15, -3, 3), sample(name, (5,), 0.15, -3, 3)
    add("isin", [x, y], [], np.isin(x, y))
    add("isin", [x, y], [{"invert": True}], np.isin(x, y, invert=True))
    for ours, theirs in (("union1d", np.union1d), ("intersect1d", np.intersect1d), ("setdiff1d", np.setdiff1d), ("setxor1d", np.setxor1d)):
        if name != "bool" or ours != "setdiff1d":
            add(ours, [x, y], [], theirs(x, y))
    values, indices, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    add("unique", [x], [], [values, indices, inverse, counts])
    if name[0] != "c":
        rows = rng.integers(0, 2, (6, 3)).astype(NAMES[name])
        for axis in (0, 1):
            found = np.unique(rows, return_index=True, return_inverse=True, return_counts=True, axis=axis)
            add("unique", [rows], [{"axis": axis}], list(found))
    if name[0] != "c":
        add("uniqueValues", [x], [], np.sort(np.unique(x, equal_nan=False)))
    first = np.argsort(indices)
    add("unique", [x], [{"sorted": False}], [values[first], indices[first], np.argsort(first)[inverse], counts[first]])

# ------------------------------------------------------------------------------------------------ signals and statistics

for name in ["f16", "f32", "f64"]:
    dtype = NAMES[name]
    points = np.array([-2, -0.5, 0, 1, 4], dtype)
    values = np.array([3, -1, 2, 2, -8], dtype)
    x = np.concatenate([sample(name, 9, 0.2, -3, 5), points]).astype(dtype)
    add("interp", [x, points, values], [], np.interp(x, points, values).astype(dtype))
    add("interp", [x, points, values], [{"left": -100, "right": 100}], np.interp(x, points, values, -100, 100).astype(dtype))
    shuffled = np.array([5, 1, 3, -2, 9], dtype)
    add("interp", [x, shuffled, values], [{"period": 8}], np.interp(x, shuffled, values, period=8).astype(dtype))
one = np.array([1.0]), np.array([5.0])
add("interp", [np.array([0, 1, 2.0]), *one], [{"left": -1}], np.interp([0, 1, 2.0], *one, left=-1))
steps = np.array([0, 1, 1, 2.0]), np.array([0, 1, 5, 6.0])
add("interp", [np.array([[0.5, 1], [1.5, 2]]), *steps], [], np.interp([[0.5, 1], [1.5, 2]], *steps))
infinite = np.array([0, 1, 2, 3.0]), np.array([1, np.inf, np.inf, 2])
add("interp", [np.array([0, 0.5, 1, 1.5, 2, 3]), *infinite], [], np.interp([0, 0.5, 1, 1.5, 2, 3], *infinite))
waves = np.array([0, 1, 2.0]), np.array([1 + 1j, 2j, -1])
add("interp", [np.array([0.25, 1, 3]), *waves], [], np.interp([0.25, 1, 3], *waves))
for name in ["f16", "f32", "f64", "u8", "i32", "i64", "u64", "c64", "c128"]:
    for n, m in ((5, 3), (3, 5), (4, 4), (5, 2), (1, 1), (6, 1)):
        x, y = sample(name, n, 0, -5, 5), sample(name, m, 0, -5, 5)
        for mode in ("full", "same", "valid"):
            add("convolve", [x, y], [{"mode": mode}], np.convolve(x, y, mode))
for name in ["f32", "f64", "i32", "c128"]:
    x = sample(name, (7, 3))
    add("corrcoef", [x], [], np.corrcoef(x, rowvar=False))
    a, b = sample(name, (2, 1, 4)), sample(name, (3, 4))
    add("vecdot", [a, b], [], np.vecdot(a, b))
    u, v = sample(name, (4, 2)), sample(name, (4, 1))
    add("vecdot", [u, v], [{"axis": 0}], np.vecdot(u, v, axis=0))

# ------------------------------------------------------------------------------------------------ places

x = np.arange(24).reshape(2, 3, 4).astype(np.int32)
for k in (-3, -1, 0, 1, 2, 3, 6):
    for axes in ([0, 1], [1, 0], [2, 0], [-2, -1]):
        add("rot90", [x], [k, {"axes": axes}], np.rot90(x, k, axes))
for dtype in (np.int32, np.int64, np.uint16):
    for shape in ((7, 6), (2, 3, 4, 5), (120,)):
        i = rng.integers(0, int(np.prod(shape)), (2, 3)).astype(dtype)
        add("unravelIndex", [i], [list(shape)], list(np.unravel_index(i, shape)))
for sizes in ([1, 2, 1], [4], [0, 4, 0]):
    add("split", [x], [{"sizes": sizes}, {"axis": 2}], np.split(x, np.cumsum(sizes)[:-1], axis=2))
for name in ["i8", "f32", "bool"]:
    y = sample(name, (4, 6), 0.2 if name == "f32" else 0, -1, 1)
    for ours, theirs in (("argmax", np.argmax), ("argmin", np.argmin)):
        add(ours, [y], [{"axis": 1, "tie": "last"}], 5 - theirs(y[:, ::-1], axis=1))
        add(ours, [y], [{"tie": "last"}], 23 - theirs(y.ravel()[::-1]))
y = sample("f64", (3, 5, 2))
i = rng.integers(0, 5, (3, 4, 1)).astype(np.int32)
add("gather", [y, i], [{"batchAxes": [0]}], np.stack([y[b][i[b, :, 0]] for b in range(3)]))
add("gather", [y, i % 2], [{"batchAxes": [0], "axes": [2]}], np.stack([y[b].T[i[b, :, 0] % 2] for b in range(3)]))
j = rng.integers(0, 5, (3, 2, 4, 1)).astype(np.int64)
add("gather", [y, j], [{"batchAxes": [0, 2]}], np.stack([[y[b, j[b, c, :, 0], c] for c in range(2)] for b in range(3)]))
for name in ["f32", "i32", "u8"]:
    y = sample(name, (3, 4))
    for axis in (0, 1):
        for ours, theirs in (("cumulativeSum", np.cumulative_sum), ("cumulativeProd", np.cumulative_prod)):
            z = np.sign(y).astype(y.dtype) if ours == "cumulativeProd" else y
            add(ours, [z], [{"axis": axis, "includeInitial": True}], theirs(z, axis=axis, include_initial=True))
            add(ours, [z], [{"axis": axis, "dtype": "f64"}], theirs(z, axis=axis, dtype=np.float64))
big = np.array([100, 100, 100], np.int8)
add("sum", [big], [{"dtype": "i8"}], big.sum(dtype=np.int8))
add("sum", [big], [{"dtype": "f64"}], big.sum(dtype=np.float64))
add("prod", [big], [{"axis": 0, "dtype": "i64"}], big.prod(axis=0, dtype=np.int64))
unsorted = sample("f32", 8)
order = np.argsort(unsorted, stable=True)
add("searchSorted", [unsorted, np.array([-1, 0, 2], np.float32)], [{"side": "right", "sorter": order.tolist()}],
    np.searchsorted(unsorted, np.array([-1, 0, 2], np.float32), side="right", sorter=order))

# ------------------------------------------------------------------------------------------------ element by element

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.5, -0.375]
for name in FLOATS:
    info = np.finfo(NAMES[name])
    ends = np.array([*SPECIAL, info.max, info.min, info.tiny, -info.smallest_subnormal, info.smallest_subnormal], NAMES[name])
    a, b = (grid.ravel() for grid in np.meshgrid(ends, ends))
    # Of 0 and -0 C gives the second, and NumPy in f16 the first.
    told = (a != b) | (name != "f16")
    add("nextAfter", [a[told], b[told]], [], np.nextafter(a[told], b[told]))
    keep = ~np.isnan(a) & ~np.isnan(b)
    add("copysign", [a[keep], b[keep]], [], np.copysign(a[keep], b[keep]))
    add("signbit", [ends[~np.isnan(ends)]], [], np.signbit(ends[~np.isnan(ends)]))
for name in ["i8", "u32", "i64", "bool"]:
    x = sample(name, 6)
    add("signbit", [x], [], np.signbit(x) if name != "bool" else np.zeros(6, bool))
for name in FLOATS:
    # NumPy scales in f16, where 1234.5 · 100 is infinite.
    large = 123.5 if name == "f16" else 1234.5678
    x = np.array([0.125, 1.255, -2.675, large, -0.5, np.inf, np.nan, 15, 25, -149.99], NAMES[name])
    for decimals in (-2, -1, 0, 1, 2):
        add("round", [x], [{"decimals": decimals}], np.round(x, decimals))
for name in ["u8", "i16", "i32", "i64", "u64"]:
    x = np.array([0, 4, 5, 6, 14, 15, 25, 45, 49, 50, 51, 99, 104], NAMES[name])
    for decimals in (-1, 1):
        add("round", [x], [{"decimals": decimals}], np.round(x, decimals))
x = np.array([1.26 - 2.34j, -0.55 + 0.125j])
add("round", [x], [{"decimals": 1}], np.round(x, 1))

COMPLEX = {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "log1p": np.log1p, "expm1": np.expm1, "exp2": np.exp2, "log2": np.log2, "log10": np.log10,
    "sign": np.sign,
}
angles = rng.uniform(-np.pi, np.pi, 12)
# On the axes the sign of a zero says on which side of a cut a number lies.
sides = [complex(a, b) for a in (2, -2, 0.5, -0.5) for b in (0.0, -0.0)] + [complex(a, b) for b in (2, -2, 0.5) for a in (0.0, -0.0)]
for ours, theirs in COMPLEX.items():
    # NumPy's log1p of small complex numbers loses digits; functions.test.ts has the series for them.
    for size in (0.3, 0.9, 1, 1.1, 3, 50) if ours == "log1p" else (1e-9, 1e-3, 0.3, 0.9, 1, 1.1, 3, 50):
        z = size * np.exp(1j * angles)
        add(ours, [z], [], theirs(z))
    add(ours, [np.array(sides)], [], theirs(np.array(sides)))
    z = (0.7 * np.exp(1j * angles)).astype(np.complex64)
    add(ours, [z], [], theirs(z.astype(np.complex128)).astype(np.complex64))

SCALAR_FIRST = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power, "remainder": np.remainder,
    "fmod": np.fmod, "floorDivide": np.floor_divide, "maximum": np.maximum, "minimum": np.minimum, "equal": np.equal,
    "notEqual": np.not_equal, "less": np.less, "lessEqual": np.less_equal, "greater": np.greater,
    "greaterEqual": np.greater_equal, "logicalAnd": np.logical_and, "logicalOr": np.logical_or,
    "logicalXor": np.logical_xor,
}
OF_FLOATS = {"hypot": np.hypot, "atan2": np.arctan2, "logaddexp": np.logaddexp, "copysign": np.copysign, "nextAfter": np.nextafter}
OF_INTEGERS = {
    "bitwiseAnd": np.bitwise_and, "bitwiseOr": np.bitwise_or, "bitwiseXor": np.bitwise_xor,
    "leftShift": np.left_shift, "rightShift": np.right_shift, "bitwiseLeftShift": np.left_shift,
    "bitwiseRightShift": np.right_shift,
}
for ours, theirs in {**SCALAR_FIRST, **OF_FLOATS, **OF_INTEGERS}.items():
    for name in ["f32", "f64", "i32", "u8", "i64"]:
        if (ours in OF_FLOATS and name[0] != "f") or (ours in OF_INTEGERS and name[0] == "f"):
            continue
        x = np.array([1, 2, 3, 5, 7], NAMES[name])
        add(ours, [3, x], [], theirs(3, x))
        add(ours, [x, 2], [], theirs(x, 2))
        if name == "f64":
            add(ours, [1.5, x], [], theirs(1.5, x))
for ours, theirs in {"less": np.less, "lessEqual": np.less_equal, "greater": np.greater, "equal": np.equal}.items():
    x = np.array([1, 255], np.uint8)
    add(ours, [300, x], [], theirs(300, x))
    add(ours, [-1, x], [], theirs(-1, x))

# ------------------------------------------------------------------------------------------------ creation

for options, more in (({}, {}), ({"endpoint": False}, {"endpoint": False})):
    for dtype in ("f32", "f64"):
        add("logspace", [], [-3, 30, 12, {**options, "dtype": dtype}], np.logspace(-3, 30, 12, dtype=NAMES[dtype], **more))
        add("logspace", [], [0, 5, 6, {**options, "dtype": dtype, "base": 2}], np.logspace(0, 5, 6, base=2, dtype=NAMES[dtype], **more))
        add("geomspace", [], [1, 256, 9, {**options, "dtype": dtype}], np.geomspace(1, 256, 9, dtype=NAMES[dtype], **more))
        add("geomspace", [], [-1e-30, -1e30, 7, {**options, "dtype": dtype}], np.geomspace(-1e-30, -1e30, 7, dtype=NAMES[dtype], **more))
add("logspace", [], [0, 4, 5, {"dtype": "i32"}], np.logspace(0, 4, 5, dtype=np.int32))
add("geomspace", [], [1, 1000, 4, {"dtype": "i64"}], np.geomspace(1, 1000, 4, dtype=np.int64))
add("geomspace", [], [3, 9, 1], np.geomspace(3, 9, 1, dtype=np.float32))
add("logspace", [], [3, 9, 0], np.logspace(3, 9, 0, dtype=np.float32))
print(json.dumps(cases, separators=(",", ":")))
