"""Values of complex functions by mpmath, for complex-accuracy.test.ts.

    python3 complex-oracle.py name,name … < arguments > results

Arguments are doubles, real and imaginary parts in turn. The results of each function follow those of the one before. A result is
four doubles: the real part, what is missing from it, and the
same of the imaginary part; NaN where mpmath has no value. Exits with 2 where there is no mpmath.
"""
import struct
import sys

try:
    import mpmath as mp
except ImportError:
    sys.exit(2)

# Arguments of 1e-30 are beside 1 in some formulas of mpmath, and their squares beside those.
mp.mp.prec = 500
FUNCTIONS = {
    "log1p": lambda z: mp.log(1 + z),
    "expm1": lambda z: mp.exp(z) - 1,
    "exp2": lambda z: mp.exp(z * mp.log(2)),
    "log2": lambda z: mp.log(z) / mp.log(2),
    "log10": lambda z: mp.log(z) / mp.log(10),
    "reciprocal": lambda z: 1 / z,
    "square": lambda z: z * z,
    "sign": lambda z: z / abs(z),
    "abs": abs,
    "phase": mp.arg,
}

read = sys.stdin.buffer.read()
args = struct.unpack(f"{len(read) // 8}d", read)
nan = float("nan")


def parts(x):
    near = float(x)
    return (near, float(x - near)) if abs(near) < float("inf") else (nan, nan)


for name in sys.argv[1].split(","):
    function = FUNCTIONS.get(name) or getattr(mp, name)
    for i in range(0, len(args), 2):
        try:
            value = mp.mpc(function(mp.mpc(args[i], args[i + 1])))
            four = (*parts(value.real), *parts(value.imag))
        except (ZeroDivisionError, ValueError, OverflowError):
            four = (nan,) * 4
        sys.stdout.buffer.write(struct.pack("4d", *four))
