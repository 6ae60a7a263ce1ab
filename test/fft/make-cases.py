"""Writes cases.json: transforms by SciPy in f64 of small arrays, which the tests compare with. Run: python3 make-cases.py"""
import json
import numpy as np
import scipy.fft as sf

rng = np.random.default_rng(14)


def real(*shape):
    return np.round(rng.standard_normal(shape), 3)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def pack(a):
    a = np.asarray(a)
    parts = [a.real, a.imag] if np.iscomplexobj(a) else [a]
    return {"shape": list(a.shape), "parts": [[float(f"{v:.12g}") for v in part.ravel()] for part in parts]}


cases = []


def case(name, x, **options):
    given = dict(options)
    if "axes" in given:
        given["axes"] = tuple(given["axes"])
    cases.append({"name": name, "x": pack(x), "options": options, "y": pack(getattr(sf, name)(x, **given))})


for name, make in [("fft", cplx), ("ifft", cplx), ("fft", real), ("rfft", real), ("irfft", cplx), ("hfft", cplx), ("ihfft", real)]:
    case(name, make(7))
    case(name, make(2, 6))
    case(name, make(3, 5), n=8)
    case(name, make(3, 9), n=5, axis=0)
    case(name, make(2, 4, 3), axis=1)
    for norm in ["backward", "ortho", "forward"]:
        case(name, make(2, 6), norm=norm)
for name, make in [("fft2", cplx), ("ifft2", cplx), ("rfft2", real), ("irfft2", cplx), ("fftn", cplx), ("ifftn", real), ("rfftn", real), ("irfftn", cplx)]:
    case(name, make(3, 4, 5))
    case(name, make(4, 5), s=[6, 3])
    case(name, make(3, 4, 2), axes=[0, 1])
    case(name, make(3, 4, 2), axes=[2, 0], s=[5, 4], norm="ortho")
for name in ["dct", "idct", "dst", "idst"]:
    for kind in [1, 2, 3, 4]:
        for norm in ["backward", "ortho", "forward"]:
            case(name, real(2, 7), type=kind, norm=norm)
        case(name, real(3, 6), type=kind, axis=0)
        case(name, real(2, 4), type=kind, n=6)
        case(name, real(2, 6), type=kind, n=3)
for n in [1, 2, 7, 8]:
    cases.append({"name": "fftfreq", "n": n, "options": {"d": 0.5}, "y": pack(sf.fftfreq(n, 0.5))})
    cases.append({"name": "rfftfreq", "n": n, "options": {"d": 0.5}, "y": pack(sf.rfftfreq(n, 0.5))})
case("fftshift", real(5))
case("fftshift", real(4, 3), axes=[0])
case("ifftshift", real(5))
case("ifftshift", real(4, 3))
for name, make in [("hfft2", cplx), ("ihfft2", real), ("hfftn", cplx), ("ihfftn", real)]:
    case(name, make(3, 4, 5))
    case(name, make(4, 5), s=[6, 3])
    case(name, make(3, 4, 2), axes=[2, 0], s=[5, 4], norm="ortho")
with open("cases.json", "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
