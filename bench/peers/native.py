"""Peers of the rows on the native layer: bench/rows/recording.ts, transfers.ts and start.ts."""

import subprocess
import sys
import time

from timing import Pace, peer, repeat, sample, seconds, the

CHAIN = 1000
ELEMENTS = 16
BULK_BYTES = 1 << 30
COPIES = 8


def bulk_floats():
    return (BULK_BYTES if Pace.budget >= 1 else 32 << 20) // 4


# ---------------------------------------------------------------------------------------- 1000 dependent additions


@peer("torch/dependent-eager", "µs")
def torch_dependent_eager():
    torch = the("torch")
    one = torch.rand(ELEMENTS, device="cuda")

    def once():
        x = torch.rand(ELEMENTS, device="cuda")
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(CHAIN):
            x = x + one
        torch.cuda.synchronize()
        return 1e6 * (time.perf_counter() - start) / CHAIN

    return sample(once)


@peer("torch/dependent-graph", "µs")
def torch_dependent_graph():
    torch = the("torch")
    one = torch.rand(ELEMENTS, device="cuda")
    first = torch.rand(ELEMENTS, device="cuda")

    def chain():
        x = first
        for _ in range(CHAIN):
            x = x + one
        return x

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        chain()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        chain()

    def replay():
        graph.replay()
        torch.cuda.synchronize()

    torch.cuda.synchronize()
    return sample(lambda: 1e6 * seconds(replay) / CHAIN)


@peer("jax/dependent-eager", "µs")
def jax_dependent_eager():
    jax = the("jax")
    one = jax.random.uniform(jax.random.key(0), (ELEMENTS,))
    first = jax.random.uniform(jax.random.key(1), (ELEMENTS,))

    def chain():
        x = first
        for _ in range(CHAIN):
            x = x + one
        x.block_until_ready()

    return sample(lambda: 1e6 * seconds(chain) / CHAIN)


@peer("jax/dependent-loop", "µs")
def jax_dependent_loop():
    jax = the("jax")
    one = jax.random.uniform(jax.random.key(0), (ELEMENTS,))
    first = jax.random.uniform(jax.random.key(1), (ELEMENTS,))
    chain = jax.jit(lambda x, step: jax.lax.fori_loop(0, CHAIN, lambda _, y: y + step, x))
    return sample(lambda: 1e6 * seconds(lambda: chain(first, one).block_until_ready()) / CHAIN)


# ---------------------------------------------------------------------------------------- allocation


@peer("torch/alloc-free", "µs")
def torch_alloc_free():
    torch = the("torch")
    count = 10_000

    def allocate():
        for _ in range(count):
            x = torch.empty(4096, dtype=torch.uint8, device="cuda")
            del x

    return sample(lambda: 1e6 * seconds(allocate) / count)


# ---------------------------------------------------------------------------------------- a scalar there and back


@peer("torch/roundtrip", "µs")
def torch_roundtrip():
    torch = the("torch")

    def once():
        sent = time.perf_counter() % 1
        start = time.perf_counter()
        received = (torch.tensor([sent]).to("cuda") + 1).item()
        took = time.perf_counter() - start
        assert abs(received - sent - 1) < 1e-5
        return 1e6 * took

    return sample(once)


@peer("jax/roundtrip", "µs")
def jax_roundtrip():
    jax = the("jax")
    import numpy

    add = jax.jit(lambda x: x + 1)
    device = jax.devices()[0]

    def once():
        sent = numpy.array([time.perf_counter() % 1], dtype=numpy.float32)
        start = time.perf_counter()
        received = add(jax.device_put(sent, device)).item()
        took = time.perf_counter() - start
        assert abs(received - sent[0] - 1) < 1e-5
        return 1e6 * took

    return sample(once)


# ---------------------------------------------------------------------------------------- bandwidth


@peer("torch/clone", "GB/s")
def torch_clone():
    torch = the("torch")
    x = torch.rand(bulk_floats(), device="cuda")

    def copies():
        for _ in range(COPIES):
            y = x.clone()
        torch.cuda.synchronize()
        return y

    return sample(lambda: 2 * 4 * x.numel() * COPIES / seconds(copies) / 1e9)


def torch_transfer(is_upload, is_pinned):
    torch = the("torch")
    host = torch.rand(bulk_floats(), pin_memory=is_pinned)
    device = torch.rand(bulk_floats(), device="cuda")
    source, target = (host, device) if is_upload else (device, host)

    def copy():
        target.copy_(source, non_blocking=is_pinned)
        torch.cuda.synchronize()

    return sample(lambda: 4 * host.numel() / seconds(copy) / 1e9)


@peer("torch/upload-pinned", "GB/s")
def torch_upload_pinned():
    return torch_transfer(True, True)


@peer("torch/download-pinned", "GB/s")
def torch_download_pinned():
    return torch_transfer(False, True)


@peer("torch/upload-plain", "GB/s")
def torch_upload_plain():
    return torch_transfer(True, False)


@peer("torch/download-plain", "GB/s")
def torch_download_plain():
    return torch_transfer(False, False)


# ---------------------------------------------------------------------------------------- process start


def start_of(program):
    """Milliseconds from starting a Python process to its line. Ours, too, starts beside a process that has the GPU open."""

    def once():
        start = time.perf_counter()
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        line = child.stdout.readline()
        took = time.perf_counter() - start
        child.communicate()
        assert float(line) == 2.0, line
        return 1e3 * took

    return repeat(1 if Pace.budget < 1 else 3, once)


@peer("torch/start", "ms")
def torch_start():
    torch = the("torch")
    torch.ones(1, device="cuda")
    return start_of("import torch; print((torch.ones(1, device='cuda') + 1).item(), flush=True)")


@peer("jax/start", "ms")
def jax_start():
    jax = the("jax")
    jax.numpy.ones(1).block_until_ready()
    return start_of("import jax.numpy as np; print((np.ones(1) + 1).item(), flush=True)")
