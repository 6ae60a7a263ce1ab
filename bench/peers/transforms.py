"""Peers of the rows of Fourier transforms, bench/rows/transforms.ts."""

from functools import partial

from tensors import Jax, Numpy, Torch, edge, enter, length

SEGMENT, HOP, HOUR = 512, 128, 3600 * 16_000
ROWS = {"fft-1024": (16_384, 1024), "fft-1000": (10_000, 1000), "fft-65536": (256, 65_536), "fft-million": (16, 2**20)}


def rows(name, library):
    count, n = ROWS[name]
    shape = (max(1, length(count)), n)
    return [library.centred(shape, 0) + 1j * library.centred(shape, 1)]


def pictures(library):
    return [library.centred((max(1, edge(64)), edge(1024), edge(1024)), 0)]


def sound(library):
    return [library.centred((length(HOUR),), 0)]


def torch_sound(t):
    window = t.torch.hann_window(SEGMENT, device="cuda")

    def compute(x):
        return t.torch.stft(x, SEGMENT, HOP, window=window / (SEGMENT / 2), center=False, return_complex=True)

    return compute


def jax_sound(j):
    def compute(x):
        window = (0.5 - 0.5 * j.np.cos(2 * j.np.pi * j.np.arange(SEGMENT) / SEGMENT)) / (SEGMENT / 2)
        starts = j.np.arange((x.shape[0] - SEGMENT) // HOP + 1) * HOP
        frames = x[starts[:, None] + j.np.arange(SEGMENT)[None, :]]
        return j.np.fft.rfft(frames * window).T

    return compute


TORCH = {
    **{name: lambda t: lambda x: t.torch.fft.fft(x) for name in ROWS},
    "fft-pictures": lambda t: lambda x: t.torch.fft.rfft2(x),
    "fft-sound": torch_sound,
}
JAX = {
    **{name: lambda j: lambda x: j.np.fft.fft(x) for name in ROWS},
    "fft-pictures": lambda j: lambda x: j.np.fft.rfft2(x),
    "fft-sound": jax_sound,
}
INPUTS = {**{name: partial(rows, name) for name in ROWS}, "fft-pictures": pictures, "fft-sound": sound}


def work(compute, inputs, library):
    given = inputs(library)
    return compute(library), given


for library_, of_ in ((Torch, TORCH), (Jax, JAX)):
    for name_, compute_ in of_.items():
        enter(library_, name_, partial(work, compute_, INPUTS[name_]), is_comparable=False)

# Rows and their length. NumPy computes all of them in c128, those of single precision, too.
ON_CPU = {"fft-1024": (1000, 1024), "fft-1000": (1000, 1000), "fft-10007": (100, 10_007), "fft-million": (1, 2**20)}


def on_cpu(name, dtype, numpy):
    count, n = ON_CPU[name]
    re, im = (numpy.centred((max(1, length(count)), n), seed, dtype) for seed in (0, 1))
    return lambda x: numpy.np.fft.fft(x), [re + 1j * im]


def pictures_on_cpu(dtype, numpy):
    return lambda x: numpy.np.fft.rfft2(x), [numpy.centred((4, edge(512), edge(512)), 0, dtype)]


for dtype_, suffix_ in (("f32", ""), ("f64", "-c128")):
    for name_ in ON_CPU:
        enter(Numpy, f"cpu-{name_}{suffix_}", partial(on_cpu, name_, dtype_), is_comparable=False)
    enter(Numpy, f"cpu-fft-pictures{suffix_}", partial(pictures_on_cpu, dtype_), is_comparable=False)
