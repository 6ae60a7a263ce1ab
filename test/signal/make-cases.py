"""Writes cases.json: results of SciPy in f64 for small signals, which the tests compare with. Run: python3 make-cases.py"""
import json
import numpy as np
import scipy.signal as ss
from scipy.signal import windows

rng = np.random.default_rng(41)


def real(*shape):
    return np.round(rng.standard_normal(shape), 3)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def pack(a):
    a = np.asarray(a)
    parts = [a.real, a.imag] if np.iscomplexobj(a) else [a]
    return {"shape": list(a.shape), "parts": [[float(f"{v:.12g}") for v in part.ravel()] for part in parts]}


cases = []


def case(name, inputs, options, results, args=()):
    cases.append(
        {"name": name, "inputs": [pack(x) for x in inputs], "args": list(args), "options": options, "results": {key: pack(y) for key, y in results.items()}}
    )


for n in [1, 2, 7, 8]:
    for sym in [True, False]:
        for name in ["boxcar", "bartlett", "triang", "cosine", "hann", "hamming", "blackman", "blackmanharris", "nuttall", "flattop", "tukey"]:
            case(name, [], {"sym": sym}, {"": getattr(windows, name)(n, sym=sym)}, [n])
        case("tukey", [], {"sym": sym, "alpha": 0.3}, {"": windows.tukey(n, 0.3, sym=sym)}, [n])
        case("kaiser", [], {"sym": sym}, {"": windows.kaiser(n, 8.6, sym=sym)}, [n, 8.6])
        case("gaussian", [], {"sym": sym}, {"": windows.gaussian(n, 1.7, sym=sym)}, [n, 1.7])

for mode in ["full", "same", "valid"]:
    for method in ["direct", "fft"]:
        pairs = [(real(9), real(4)), (real(4), real(9)), (cplx(8), cplx(3)), (real(5, 6), real(3, 2)), (real(7), cplx(7))]
        for a, b in pairs:
            options = {"mode": mode, "method": method}
            case("convolve", [a, b], options, {"": ss.convolve(a, b, **options)})
            case("correlate", [a, b], options, {"": ss.correlate(a, b, **options)})
    a, b = real(3, 8), real(1, 5)
    case("fftConvolve", [a, b], {"mode": mode, "axes": 1}, {"": ss.fftconvolve(a, b, mode, axes=1)})

for options in [
    {},
    {"fs": 10.0, "nperseg": 16, "noverlap": 12},
    {"nperseg": 16, "nfft": 20, "window": "hamming", "scaling": "psd", "fs": 4.0},
    {"nperseg": 15, "boundary": False, "padded": False, "detrend": "constant"},
    {"nperseg": 16, "boundary": "even", "detrend": "linear"},
    {"nperseg": 16, "boundary": "odd"},
    {"nperseg": 16, "boundary": "constant", "returnOnesided": False},
]:
    given = {"return_onesided" if key == "returnOnesided" else key: (None if value is False and key == "boundary" else value) for key, value in options.items()}
    x = real(2, 70) if options.get("fs") else real(70)
    f, t, z = ss.stft(x, **given)
    case("stft", [x], options, {"frequencies": f, "times": t, "values": z})
    back = {key: value for key, value in options.items() if key in ["fs", "nperseg", "noverlap", "nfft", "window", "scaling"]}
    if options.get("returnOnesided") is False:
        back["inputOnesided"] = False
    if options.get("boundary") is False:
        back["boundary"] = False
    there = {"input_onesided" if key == "inputOnesided" else key: value for key, value in back.items()}
    t, y = ss.istft(z, **there)
    # SciPy counts the times of several signals wrongly.
    case("istft", [z], back, {"values": y, **({"times": t} if y.ndim == 1 else {})})

for options in [{}, {"nperseg": 16, "fs": 3.0}, {"nperseg": 15, "noverlap": 3, "scaling": "spectrum", "detrend": False}, {"nperseg": 16, "nfft": 32, "window": "blackman", "detrend": "linear"}]:
    x, y = real(2, 60), real(2, 60)
    f, p = ss.welch(x, **options)
    case("welch", [x], options, {"frequencies": f, "values": p})
    f, p = ss.csd(x, y, **options)
    case("csd", [x, y], options, {"frequencies": f, "values": p})
for options in [{}, {"axis": 0, "nperseg": 8}]:
    x = cplx(30, 2)
    f, p = ss.welch(x, **{"nperseg": 2, **options})
    case("welch", [x], {"nperseg": 2, **options}, {"frequencies": f, "values": p})
x, y = real(64), real(64)
f, c = ss.coherence(x, y, nperseg=16)
case("coherence", [x, y], {"nperseg": 16}, {"frequencies": f, "values": c})
for options in [{}, {"fs": 5.0, "nfft": 40}, {"nfft": 20}, {"window": "hann", "scaling": "spectrum", "detrend": "linear"}, {"axis": 0}]:
    x = real(31, 3) if options.get("axis") == 0 else real(2, 31)
    f, p = ss.periodogram(x, **options)
    case("periodogram", [x], options, {"frequencies": f, "values": p})
for n in [8, 9]:
    for count in [5, 6, 8, 9, 13, 16]:
        x = real(n)
        case("resample", [x], {}, {"": ss.resample(x, count)}, [count])
        x = cplx(2, n)
        case("resample", [x], {"axis": 1}, {"": ss.resample(x, count, axis=1)}, [count])
    x = real(2, n)
    case("hilbert", [x], {}, {"": ss.hilbert(x)})
    case("hilbert", [x], {"n": 12, "axis": 0}, {"": ss.hilbert(x, N=12, axis=0)})
    case("detrend", [x], {}, {"": ss.detrend(x)})
    case("detrend", [x], {"type": "constant", "axis": 0}, {"": ss.detrend(x, type="constant", axis=0)})
for count in [3, 6, 7]:
    x, y = real(2, 8 * count + 8), real(2, 8 * count + 8)
    options = {"nperseg": 16, "average": "median"}
    f, p = ss.welch(x, **options)
    case("welch", [x], options, {"frequencies": f, "values": p})
    f, p = ss.csd(x, y, **options)
    case("csd", [x, y], options, {"frequencies": f, "values": p})
x = real(20, 2)
for bp in [7, [3, 4, 11], [0, 19, 5, 20, 5]]:
    case("detrend", [x], {"bp": bp, "axis": 0}, {"": ss.detrend(x, bp=bp, axis=0)})
case("detrend", [x], {"bp": [7], "axis": 0, "type": "constant"}, {"": ss.detrend(x, bp=[7], axis=0, type="constant")})
for mode in ["full", "same", "valid"]:
    for a, b, axes in [(real(80), real(3), None), (real(3), cplx(40), None), (real(2, 40), real(1, 2), 1), (real(20, 2), real(2, 24), None), (real(24, 20), real(3, 2), None), (real(4, 5), real(1, 1), None), (real(6), real(6), None)]:
        if mode == "valid" and a.shape == (20, 2):
            continue
        case("oaConvolve", [a, b], {"mode": mode, **({} if axes is None else {"axes": axes})}, {"": ss.oaconvolve(a, b, mode, axes=axes)})
for count in [5, 8, 13]:
    for window in ["hann", ["kaiser", 3.0]]:
        named = tuple(window) if isinstance(window, list) else window
        x = real(8)
        case("resample", [x], {"window": window}, {"": ss.resample(x, count, window=named)}, [count])
        x = cplx(2, 9)
        case("resample", [x], {"axis": 1, "window": window}, {"": ss.resample(x, count, axis=1, window=named)}, [count])
with open("cases.json", "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
