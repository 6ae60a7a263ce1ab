"""Writes complex-cases.json: what complex arithmetic gives, for test/tensor/complex*.test.ts.

    python3 make-complex-cases.py > complex-cases.json && npm run format

Lists of numbers are texts, as JavaScript reads them; complex numbers are pairs: re, im, re, im …

functions: arguments that f32 holds exactly ("tame"), and for each dtype some whose squares overflow or underflow
("c64", "c128"); results of mpmath with 60 digits, rounded once to f64 or to the dtype.
specials: every pair of a few infinities, NaNs and zeros; results of NumPy's complex128, which for functions are C99's.
arrays: what NumPy makes of x, y and others below, by a name that the test has a function for. All values are exact.
"""
import json
import random

import mpmath as mp
import numpy as np

mp.mp.dps = 60
np.seterr(all="ignore")
random.seed(3)
inf, nan = float("inf"), float("nan")


def text(numbers):
    def word(x):
        x = float(x)
        if x != x or abs(x) == inf:
            return "NaN" if x != x else "Infinity" if x > 0 else "-Infinity"
        return repr(x)[:-2] if repr(x).endswith(".0") else repr(x)

    return " ".join(word(x) for x in numbers)


def flat(values):
    return text(part for z in np.ravel(values) for part in (np.real(z), np.imag(z)))


# ---------------------------------------------------------------------------------------------------------- functions

functions = {
    "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "sinh": mp.sinh,
    "cosh": mp.cosh, "tanh": mp.tanh, "square": lambda z: z * z, "reciprocal": lambda z: 1 / z,
    "abs": lambda z: mp.mpc(abs(z)), "phase": lambda z: mp.mpc(mp.arg(z)),
}
binary = {"mul": lambda a, b: a * b, "div": lambda a, b: a / b, "pow": lambda a, b: a ** b}


def sample(limit):
    return round(random.uniform(-limit, limit) * 1024) / 1024


tame = [complex(sample(4), sample(4)) for _ in range(24)]
tame += [complex(sample(30), sample(30)) for _ in range(6)]
# next to the zeros of log and sin, on the axes, near a pole of tan
tame += [1 + 2**-12 + 2**-13 * 1j, 1 - 2**-14 + 2**-7 * 1j, 0.60009765625 + 0.7998046875j, -1 + 2**-20 * 1j, 2**-10 + 2**-12 * 1j]
tame += [3 + 0j, -2.5 + 2**-24 * 1j, 1.5j, -0.25j, 1.5703125 + 2**-8 * 1j, 2**-20 * 1j + 2.25, 18 + 1j, -25 + 2j, 1 + 25j]

extreme = {
    "c64": [
        3e38 + 3e38j, 2e38 - 1e30j, 1e-38 + 2e-38j, 3e-30 - 2e-38j, 1e-25 + 1e-20j, 88.5 + 1.5703125j, 95 + 1.5703125j,
        -90 + 2j, 89.5 - 3.140625j, 1e20 + 1j, 1 + 1e-20j, 1e19 - 2e19j, -3e38 + 1e10j, 1e-20 + 1e-30j,
    ],
    "c128": [
        1e308 + 1e308j, 1.5e308 - 1e200j, 3e-308 + 2e-308j, 3e-300 - 2e-308j, 1e-200 + 1e-160j, 709.5 + 1.5703125j,
        720 + 1.5703125j, -700 + 2j, 710 - 3.140625j, 1e160 + 1j, 1 + 1e-170j, 1e154 - 2e154j, -1e308 + 1e10j, 1e-155 + 1e-160j,
    ],
}
kinds = {"c64": (np.float32, np.complex64), "c128": (np.float64, np.complex128)}


def rounded(z, part):
    """A number of mpmath, rounded once to floats of a kind."""
    limit = mp.mpf(float(np.finfo(part).max)) * (1 + mp.mpf(float(np.finfo(part).eps)) / 4)
    bits = 24 if part is np.float32 else 53
    low = int(np.log2(float(np.finfo(part).tiny))) - bits + 1

    def one(x):
        if abs(x) > limit:
            return inf if x > 0 else -inf
        if x == 0:
            return 0.0
        exponent = max(int(mp.floor(mp.log(abs(x), 2))) - bits + 1, low)
        return float(mp.ldexp(mp.nint(mp.ldexp(x, -exponent)), exponent))

    return complex(one(mp.re(z)), one(mp.im(z)))


# Past these the exponentials of the extremes are beyond all bounds, which says nothing.
unbounded = {"exp", "sin", "cos", "tan", "sinh", "cosh", "tanh"}
others = [complex(sample(4), sample(4)) or 1 for _ in tame]
exponents = [complex(sample(3), sample(3)) for _ in tame]
exponents[:6] = [2, -1, 0.5, 3, 0, 1]

cases = {"functions": [], "specials": [], "arrays": {}}


def add(name, kind, f, args, part):
    results = [rounded(mp.mpc(f(*[mp.mpc(z) for z in row])), part) for row in zip(*args)]
    cases["functions"].append({"name": name, "kind": kind, "args": [flat(a) for a in args], "result": flat(results)})


for name, f in functions.items():
    add(name, "tame", f, [tame], np.float64)
for name, f in binary.items():
    add(name, "tame", f, [tame, exponents if name == "pow" else others], np.float64)
for dtype, (part, kind) in kinds.items():
    values = [complex(kind(z)) for z in extreme[dtype]]
    for name, f in functions.items():
        if name == "square":
            continue  # the plain formula, which overflows
        add(name, dtype, f, [[z for z in values if name not in unbounded or abs(z) < 1000]], part)
    pairs = [(a, b) for a in values for b in values if abs(a) > 1e5 or abs(b) < 1e-5]
    add("div", dtype, binary["div"], list(zip(*pairs)), part)

# ---------------------------------------------------------------------------------------------------------- specials

parts = [-inf, -1.5, -0.0, 0.0, 2.0, inf, nan]
grid = np.array([complex(x, y) for x in parts for y in parts])
for name in functions:
    f = getattr(np, {"abs": "absolute", "phase": "angle"}.get(name, name))
    cases["specials"].append({"name": name, "args": [flat(grid)], "result": flat(f(grid))})
few = [complex(x, y) for x in (-inf, 0.0, 2.0, nan) for y in (-1.5, 0.0, inf)]
first, second = np.array([(a, b) for a in few for b in few]).T
for name, f in {"mul": np.multiply, "div": np.divide, "pow": np.power}.items():
    cases["specials"].append({"name": name, "args": [flat(first), flat(second)], "result": flat(f(first, second))})

# ---------------------------------------------------------------------------------------------------------- arrays

count = np.arange(24)
x = ((count % 7 - 3) + 1j * (count % 5 - 2)).reshape(2, 3, 4)
y = ((count % 4 - 1) + 1j * (count % 3 - 1)).reshape(2, 3, 4)
r = (count % 3 - 1.0).reshape(2, 3, 4)
v = np.array([1 + 1j, -1j, 2])
places = np.array([2, 0, 2, 1])


def at_set(indices, value, how="set"):
    changed = x.copy()
    if how == "set":
        changed[indices] = value
    else:
        np.add.at(changed, indices, value)
    return changed


arrays = {
    "add": x + y, "sub": x - y, "mul": x * y, "neg": -x, "square": x * x, "conj": np.conj(x), "real": x.real,
    "imag": x.imag, "equal": x == y, "notEqual": x != y, "broadcast": x * v.reshape(3, 1) + y[0, 0],
    "with a real tensor": x * r - r, "with an integer tensor": x + count.reshape(2, 3, 4), "with a bool tensor": x * (r > 0),
    "with numbers": (x * 2 + 1) * 0.5, "with a complex number": (x + 2j) * (1 - 1j), "a real tensor with a complex number": r * 1j,
    "where": np.where(r > 0, x, y), "where with a number": np.where(r > 0, x, 1j), "to bool": x.astype(bool),
    "to real": x.real, "to integer": x.real.astype(int), "from real": r + 0j, "powers": x ** 3, "complex": r + 1j * y.real,
    "sum": x.sum(), "sum 0": x.sum(0), "sum 1 2": x.sum((1, 2), keepdims=True), "sum 0 2": x.sum((0, 2)), "sum none": x.sum(()),
    "mean": y[:, :2].mean(1), "mean all": y.mean(keepdims=True), "prod": x[0, :2].prod(), "prod 0": x.prod(0),
    "prod 1": (x - 4).prod(1, keepdims=True), "prod 2": (x - 4).prod(2), "prod 0 2": (y + 2).prod((0, 2)),
    "all": x.all(2), "any": x.any((0, 1)), "count": np.count_nonzero(x, axis=1), "cumsum": x.cumsum(1),
    "cumsum reverse": x[:, ::-1].cumsum(1)[:, ::-1], "cumsum all": x.cumsum(), "cumprod": (x[..., :3] - 1).cumprod(-1),
    "cumprod reverse": x[:, ::-1].cumprod(1)[:, ::-1], "cumprod exclusive": np.concatenate([[1], y[0, 1, :3].cumprod()]), "variance": (x[0, 0, :2] * 4).var(),
    "reshape": x.reshape(4, 6), "flatten": x.ravel(), "permute": x.transpose(2, 0, 1), "T": x.T, "expand": x[:, None],
    "squeeze": x[:1].squeeze(0), "broadcastTo": np.broadcast_to(x[0, :, :1], (2, 3, 4)), "flip": np.flip(x, (0, 2)),
    "at": x[1, ::-1, 1:3], "at new": x[..., None, ::2], "take": x.take(places, 1), "take flat": x.take(places),
    "takeAlongAxis": np.take_along_axis(x, places.reshape(1, 1, 4) + np.zeros((2, 3, 1), int), 2),
    "index tensors": x[np.array([0, 1, 1]), :, np.array([3, 0, 1])], "mask": x[r > 0], "set": at_set((0, slice(1, 3)), 5 - 1j),
    "set tensor": at_set((slice(None), np.array([0, 2])), y[:, :2]), "addAt": at_set((slice(None), np.array([2, 2])), y[:, :2], "add"),
    "pad": np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=3 - 2j), "pad edge": np.pad(x, ((1, 1), (0, 0), (0, 2)), "edge"),
    "pad reflect": np.pad(x, ((0, 0), (2, 2), (0, 0)), "reflect"), "roll": np.roll(x, (1, 2), (0, 2)), "tile": np.tile(x[0], (2, 2)),
    "repeat": x.repeat(2, 1), "concat": np.concatenate([x, y, r.astype(complex)], 1), "stack": np.stack([x, y], 3),
    "split": np.split(x, 2, 2)[1], "triu": np.triu(x), "tril": np.tril(x, 1), "diagonal": np.diagonal(x, 0, 1, 2),
    "trace": np.trace(x, 1, 1, 2), "diff": np.diff(x, axis=1), "diagonalMatrix": np.diag(v),
    "matmul": x @ y.transpose(0, 2, 1), "matmul real": x @ r.transpose(0, 2, 1), "matmul vector": y.transpose(0, 2, 1) @ v,
    "vector matmul": v @ x, "matmul wide": np.tile(x[0], (5, 3)) @ np.tile(y[1].T, (3, 5)), "dot": np.vdot(v.conj(), v), "vdot": np.vdot(x, y),
    "inner": np.inner(x[0], y[0]), "outer": np.outer(v, x[0, 0]), "tensordot": np.tensordot(x, y, ([0, 2], [0, 2])),
    "kron": np.kron(x[0], v.reshape(1, 3)), "einsum": np.einsum("bij,bkj->bik", x, y.conj()), "einsum trace": np.einsum("bii->b", x[:, :, :3]),
    "einsum three": np.einsum("bij,j,k->ki", x, x[0, 0], v), "empty sum": np.zeros((2, 0, 3), complex).sum(1),
    "empty prod": np.zeros((2, 0), complex).prod(1), "empty matmul": np.zeros((2, 0), complex) @ np.zeros((0, 3), complex),
    "empty add": np.zeros((2, 0), complex) + 1j,
}
for name, value in arrays.items():
    value = np.asarray(value)
    is_complex = bool(np.iscomplexobj(value))
    values = flat(value) if is_complex else text(value.ravel())
    cases["arrays"][name] = {"shape": list(value.shape), "isComplex": is_complex, "values": values}

print(json.dumps(cases))
