/**
 * Fourier transforms as the rows measure them: batches of short ones, long ones, lengths that are no power of two, two axes,
 * and the short-time transform of an hour of sound. Inputs as in bench/tensor-work.ts; the rows are in
 * bench/rows/transforms.ts, the peers' side in bench/peers/transforms.py.
 */
import { complex, type DType, fft, signal, type Tensor } from "../src/index.js";
import { centred, centredAt, type Work } from "./tensor-work.js";

/** Elements of a result beside sums by the definition, in f64. */
const checkElements =
  (places: readonly (readonly number[])[], wanted: (place: readonly number[]) => readonly [number, number]) =>
  async ([y]: readonly Tensor[]): Promise<void> => {
    for (const place of places) {
      const [re, im] = wanted(place);
      const found = (await y!.at(...place).item()) as unknown as { readonly re: number; readonly im: number };
      const off = Math.hypot(found.re - re, found.im - im);
      const size = Math.max(1, Math.hypot(re, im));
      if (off > 1e-4 * size * 10) throw new Error(`${found.re} + ${found.im}i at [${place}]; ${re} + ${im}i is right.`);
    }
  };

/** Σ x[j] exp(-2πi jk/n). */
function sumAt(n: number, k: number, x: (j: number) => readonly [number, number]): [number, number] {
  let [re, im] = [0, 0];
  for (let j = 0, turn = 0; j < n; j++, turn = (turn + k) % n) {
    const angle = (-2 * Math.PI * turn) / n;
    const [a, b] = x(j);
    re += a * Math.cos(angle) - b * Math.sin(angle);
    im += a * Math.sin(angle) + b * Math.cos(angle);
  }
  return [re, im];
}

/** Complex transforms of the rows of a matrix; `part`: the dtype of real and imaginary parts. */
export function rows(device: string, count: number, n: number, part?: DType): Work {
  const shape = [count, n];
  const x = complex(centred(device, shape, 0, part), centred(device, shape, 1, part)).realize();
  const places = [[0, 0], [0, n - 1], [count - 1, 1], [count - 1, n >> 1]]; // biome-ignore format: a list
  const wanted = ([row, k]: readonly number[]) =>
    sumAt(n, k!, (j) => [centredAt(row! * n + j, 0), centredAt(row! * n + j, 1)]);
  return { inputs: [x], compute: () => fft.fft(x), check: checkElements(places, wanted), isComparable: false };
}

/** The real transform of pictures along both axes. */
export function pictures(device: string, count: number, edge: number, dtype?: DType): Work {
  const x = centred(device, [count, edge, edge], 0, dtype);
  const first = ([picture]: readonly number[]): [number, number] => {
    let sum = 0;
    for (let i = 0; i < edge * edge; i++) sum += centredAt(picture! * edge * edge + i, 0);
    return [sum, 0];
  };
  const places = [[0, 0, 0], [count - 1, 0, 0]]; // biome-ignore format: a list
  return { inputs: [x], compute: () => fft.rfft2(x), check: checkElements(places, first), isComparable: false };
}

const [SEGMENT, HOP] = [512, 128];

/** The short-time transform of sound: a Hann window of 512 samples, 128 apart. */
export function sound(device: string, samples: number): Work {
  const x = centred(device, [samples], 0);
  const window = (i: number) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / SEGMENT);
  const wanted = ([k, segment]: readonly number[]) =>
    sumAt(SEGMENT, k!, (j) => [(centredAt(segment! * HOP + j, 0) * window(j)) / (SEGMENT / 2), 0]);
  const options = { nperseg: SEGMENT, noverlap: SEGMENT - HOP, boundary: false, padded: false } as const;
  const places = [[0, 0], [3, 100], [256, 7]]; // biome-ignore format: a list
  return {
    inputs: [x],
    compute: () => signal.stft(x, options).values,
    check: checkElements(places, wanted),
    isComparable: false,
  };
}
