/**
 * Rows of Fourier transforms, on the GPU beside PyTorch and JAX (`fft-…`), and on the CPU engine beside NumPy (`cpu-fft-…`). The
 * work is in bench/transform-work.ts, the peers' in bench/peers/transforms.py.
 */
import type { Row } from "../row.js";
import { edge, length, pythonPeers, type Sized, timeOf, to } from "../sizes.js";
import type { TensorContext } from "../tensor-work.js";
import { pictures, rows, sound } from "../transform-work.js";

interface Definition {
  readonly name: string;
  readonly title: string;
  readonly work: Sized;
  readonly ratio: number;
  /** Bytes that must be read and written. */
  bytes(context: TensorContext): number;
}

const row = ({ name, title, work, ratio, bytes }: Definition): Row => ({
  name,
  title,
  unit: "ms",
  better: "lower",
  targets: [to(ratio, "torch", "jax")],
  limit: { of: "bandwidth", work: bytes },
  peers: pythonPeers(name),
  run: timeOf(work),
});

const [C64, F32] = [8, 4];
const HOUR = 3600 * 16_000;

const lines = (name: string, count: number, n: number, title: string): Definition => ({
  name,
  title,
  work: (device, context) => rows(device, Math.max(1, length(count, context)), n),
  ratio: 0.8,
  bytes: (context) => 2 * C64 * Math.max(1, length(count, context)) * n,
});

const definitions: readonly Definition[] = [
  lines("fft-1024", 16_384, 1024, "Fourier transforms of 16384 rows of 1024 c64"),
  lines("fft-1000", 10_000, 1000, "Fourier transforms of 1e4 rows of 1000 c64"),
  lines("fft-65536", 256, 65_536, "Fourier transforms of 256 rows of 65536 c64"),
  lines("fft-million", 16, 2 ** 20, "Fourier transforms of 16 rows of 2^20 c64"),
  {
    name: "fft-pictures",
    title: "real Fourier transforms of 64 pictures of 1024×1024 f32",
    work: (device, context) => pictures(device, Math.max(1, edge(64, context)), edge(1024, context)),
    ratio: 0.8,
    bytes: (context) => 4 * F32 * Math.max(1, edge(64, context)) * edge(1024, context) ** 2,
  },
  {
    name: "fft-sound",
    title: "short-time Fourier transform of an hour of sound at 16 kHz",
    work: (device, context) => sound(device, length(HOUR, context)),
    ratio: 1,
    bytes: (context) => F32 * length(HOUR, context) * (1 + 514 / 128),
  },
];

/** On the CPU engine, two threads, beside NumPy, which computes in c128 on one thread whatever it is given. */
const cpuRow = (name: string, title: string, work: Sized): Row => ({
  name: `cpu-${name}`,
  title: `${title}, on the CPU engine`,
  unit: "ms",
  better: "lower",
  place: "cpu",
  targets: [to(0.5, "numpy")],
  peers: { numpy: `numpy/cpu-${name}` },
  run: timeOf(work),
});

/** A power of two, small factors, a prime, and one long row. */
const CPU_LENGTHS = [
  ["1024", 1000, 1024],
  ["1000", 1000, 1000],
  ["10007", 100, 10_007],
  ["million", 1, 2 ** 20],
] as const;

const cpuRowsIn = (part: "f32" | "f64", dtype: "c64" | "c128", suffix: string): Row[] => [
  ...CPU_LENGTHS.map(([name, count, n]) =>
    cpuRow(`fft-${name}${suffix}`, `Fourier transforms of ${count} rows of ${n} ${dtype}`, (device, context) =>
      rows(device, Math.max(1, length(count, context)), n, part),
    ),
  ),
  cpuRow(`fft-pictures${suffix}`, `real Fourier transforms of 4 pictures of 512×512 ${part}`, (device, context) =>
    pictures(device, 4, edge(512, context), part),
  ),
];

export const transformRows: readonly Row[] = [
  ...definitions.map(row),
  ...cpuRowsIn("f32", "c64", ""),
  ...cpuRowsIn("f64", "c128", "-c128"),
];
