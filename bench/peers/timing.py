"""The discipline every Python peer is measured with, and the table of peer rows.

The same as bench/harness.ts: warm up by time (an idle GPU runs at a fifth of its clock; one that was busy a moment ago
needs less), then take samples until the budget is spent; medians are taken by the caller, from the samples, with the same
code as ours. A row is a function that returns samples in its unit:

    @peer("torch/clone", "GB/s")
    def clone():
        torch = the("torch")
        ...
        return sample(lambda: one_measurement())

One that returns (samples, values) also shows elements of its result, which are compared with ours.
"""

import os
import time

PEERS = {}
MAX_SAMPLES = 2000


class Pace:
    """Seconds, and how often the edges of large tensors are halved; main sets what the command line asks for."""

    warm_up = 1.5
    warm_up_when_busy = 0.4
    budget = 2.0
    minimum = 9
    halvings = 0

    @classmethod
    def quicken(cls):
        cls.warm_up, cls.warm_up_when_busy, cls.budget, cls.minimum = 0.5, 0.5, 0.3, 3


class Absent(Exception):
    """The package, or the device it needs, is not on this machine."""


def peer(name, unit):
    """Enters a function in the table under "package/row"."""

    def enter(function):
        PEERS[name] = (unit, function)
        return function

    return enter


LONG, FEW = 1.0, 3  # seconds of a sample after which so many are enough
STILL_BUSY = 1.0  # seconds: a GPU keeps its clock for longer when it has nothing to do
_last_busy = float("-inf")


def sample(once):
    """Samples of once(), which does the work, waits for the device and returns one figure."""
    global _last_busy
    now = time.perf_counter()
    until = now + (Pace.warm_up_when_busy if now - _last_busy < STILL_BUSY else Pace.warm_up)
    while True:
        latest = seconds(once)
        if time.perf_counter() >= until:
            break
    samples = []
    minimum = min(FEW, Pace.minimum) if latest > LONG else Pace.minimum
    until = time.perf_counter() + Pace.budget
    while len(samples) < minimum or (time.perf_counter() < until and len(samples) < MAX_SAMPLES):
        samples.append(once())
    _last_busy = time.perf_counter()
    return samples


def repeat(count, once):
    """A fixed number of samples after one that does not count: for what takes seconds."""
    once()
    return [once() for _ in range(count)]


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


_packages = {}


def the(name):
    """Imports a package once and checks that it sees its device; raises Absent when either fails."""
    found = _find(name)
    if isinstance(found, Absent):
        raise found
    return found["module"]


def version(name):
    """What was found, for the foot of the table; None for a package that is absent."""
    found = _find(name)
    if isinstance(found, Absent):
        return None
    return {"package": name, "version": found["version"], "device": found["device"]}


def _find(name):
    if name not in _packages:
        try:
            if name not in LOADERS:
                raise Absent(f"bench/peers does not know the package {name}")
            _packages[name] = LOADERS[name]()
        except Absent as why:
            _packages[name] = why
        except ImportError as why:
            _packages[name] = Absent(str(why))
    return _packages[name]


def _torch():
    import torch

    if not torch.cuda.is_available():
        raise Absent(f"torch {torch.__version__} sees no CUDA device")
    torch.set_grad_enabled(False)
    return {"module": torch, "version": torch.__version__, "device": torch.cuda.get_device_name()}


def _jax():
    import jax

    device = jax.devices()[0]
    if device.platform == "cpu":
        raise Absent(f"jax {jax.__version__} sees no GPU")
    return {"module": jax, "version": jax.__version__, "device": device.device_kind}


def _numpy():
    # As many threads as our CPU engine has on the machine of these rows.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")
    import numpy

    return {"module": numpy, "version": numpy.__version__, "device": "2 threads of the processor"}


def _sklearn():
    # As many threads as our CPU engine has on the machine of these rows.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    import sklearn

    return {"module": sklearn, "version": sklearn.__version__, "device": "2 threads of the processor"}


def _numpyro():
    import numpyro

    jax = the("jax")
    return {"module": numpyro, "version": numpyro.__version__, "device": jax.devices()[0].device_kind}


def _numpyro_cpu():
    # Each package has a process of its own, so that JAX can be told here, before it is first imported.
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={os.cpu_count()}"
    import numpyro

    return {"module": numpyro, "version": numpyro.__version__, "device": f"{os.cpu_count()} threads of the processor"}


LOADERS = {"torch": _torch, "jax": _jax, "numpy": _numpy, "sklearn": _sklearn, "numpyro": _numpyro, "numpyro-cpu": _numpyro_cpu}
