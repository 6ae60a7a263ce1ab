/**
 * The error of matrix products against the length of the summation: every dtype and precision, data that are kind and data that
 * are not. `node dist/bench/product-accuracy.js [device]` prints the table of docs/products.md. Elements are compared with sums
 * in double precision, relative to the sum of the magnitudes of the products.
 */
import { defaultDevice, devices, type MatmulPrecision, random, type Tensor } from "../src/index.js";

const LENGTHS = [128, 512, 4096, 16384];
const EDGE = 128;
/** Rows and columns that are checked. */
const CHECKED = 24;

interface Way {
  readonly name: string;
  readonly dtype: "f16" | "bf16" | "f32" | "f64";
  readonly precision?: MatmulPrecision;
}

const WAYS: readonly Way[] = [
  { name: "f32, highest", dtype: "f32" },
  { name: "f32, high", dtype: "f32", precision: "high" },
  { name: "f32, fast", dtype: "f32", precision: "fast" },
  { name: "f16", dtype: "f16" },
  { name: "bf16", dtype: "bf16" },
  { name: "f64", dtype: "f64" },
];

type Spread = (x: Tensor, axis: 0 | 1, device: string) => Tensor;

/** Powers of two from 2^-most to 2^most, at random. */
const powers = (shape: readonly number[], most: number, seed: number, device: string): Tensor =>
  random
    .uniform(random.key(seed, { device }), [...shape])
    .mul(2 * most)
    .sub(most)
    .round()
    .exp2();

const DATA: Readonly<Record<string, Spread>> = {
  normal: (x) => x,
  positive: (x) => x.abs(),
  "elements × 2^±20": (x, axis, device) => x.mul(powers(x.shape, 20, 7 + axis, device)),
  "rows, columns × 2^±40": (x, axis, device) =>
    x.mul(powers(axis === 0 ? [x.shape[0], 1] : [1, x.shape[1]], 40, 9 + axis, device)),
  "1e30 · 1e-30": (x, axis) => x.mul(axis === 0 ? 1e30 : 1e-30),
};

/** The root mean square of the errors, over the sums of magnitudes. */
async function errorOf({ dtype, precision }: Way, spread: Spread, k: number, device: string): Promise<number> {
  const key = (seed: number) => random.key(seed, { device });
  const a = spread(random.normal(key(1), [EDGE, k]), 0, device)
    .cast(dtype)
    .realize();
  const b = spread(random.normal(key(2), [k, EDGE]), 1, device)
    .cast(dtype)
    .realize();
  const found = await a
    .matmul(b, precision ? { precision } : {})
    .cast("f64")
    .data();
  const [x, y] = [await a.cast("f64").data(), await b.cast("f64").data()];
  let squares = 0;
  for (let i = 0; i < CHECKED; i++) {
    for (let j = 0; j < CHECKED; j++) {
      const [row, column] = [(i * 5) % EDGE, (j * 11) % EDGE];
      let [sum, size] = [0, 0];
      for (let at = 0; at < k; at++) {
        const term = x[row * k + at] * y[at * EDGE + column];
        sum += term;
        size += Math.abs(term);
      }
      squares += ((found[row * EDGE + column] - sum) / size) ** 2;
    }
  }
  return Math.sqrt(squares / CHECKED ** 2);
}

const device = process.argv[2] ?? defaultDevice();
console.log(`Products of ${EDGE}×k and k×${EDGE} on ${device} (of ${devices().join(", ")})\n`);
for (const [name, spread] of Object.entries(DATA)) {
  console.log(`| ${name}, k = | ${LENGTHS.join(" | ")} |\n|---|${LENGTHS.map(() => "---|").join("")}`);
  for (const way of WAYS) {
    // f16 has no room for these.
    if (way.dtype === "f16" && name !== "normal" && name !== "positive") continue;
    const errors: string[] = [];
    for (const k of LENGTHS) errors.push((await errorOf(way, spread, k, device)).toExponential(1));
    console.log(`| ${way.name} | ${errors.join(" | ")} |`);
  }
  console.log();
}
