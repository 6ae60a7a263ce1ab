"""Values of the math functions in extended precision, 64 bits or more, from the C library by way of NumPy: an oracle for
f64 at millions of arguments, where mpmath is too slow. accuracy.test.ts calls this, and holds it to mpmath's values.

    python3 extended.py name count [name count …] < arguments > results

For each name so many doubles, one after the other or in pairs (for functions of two). A result is a pair of doubles, as in
references.json: the nearest to the value, and what is missing from it in units of the spacing of floats there. Exits with 2
where NumPy has no wider floats or the C library no such function.
"""
import sys

import numpy as np

wide = np.longdouble

UNARY = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "cbrt": np.cbrt,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
}
BINARY = {"pow": np.power, "atan2": np.arctan2, "hypot": np.hypot}

names, counts = sys.argv[1::2], [int(each) for each in sys.argv[2::2]]
if np.finfo(wide).nmant < 63 or not {*names} <= {*UNARY, *BINARY}:
    sys.exit(2)
np.seterr(all="ignore")
for name, count in zip(names, counts):
    args = np.frombuffer(sys.stdin.buffer.read(8 * count), np.float64).astype(wide)
    value = UNARY[name](args) if name in UNARY else BINARY[name](args[0::2], args[1::2])
    high = value.astype(np.float64)
    fraction = np.where(np.isfinite(high), (value - high) / np.abs(np.spacing(high)), 0).astype(np.float64)
    sys.stdout.buffer.write(np.stack([high, fraction], axis=1).tobytes())
