/**
 * The accuracy of functions of complex numbers, measured against mpmath (complex-oracle.py): at arguments of all sizes, next to
 * branch points and cuts, and where a part of the result cancels. An error is the distance from the exact value in units in the
 * last place of its absolute value. With PUMICE_WRITE_ACCURACY=1 the table of docs/accuracy.md is written.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { after, test } from "node:test";
import { type Tensor, tensor } from "../../src/tensor/index.js";
import { complexNumbers } from "../support/complex-cases.js";
import { mayFlush } from "../support/denormals.js";
import { randomFloats, smallestNormal, spacing } from "../support/floats.js";
import { testDevices } from "../support/tensors.js";

const NAMES = (
  "abs phase sign square reciprocal sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan " +
  "sinh cosh tanh asinh acosh atanh"
).split(" ");
const PARTS = { c64: "f32", c128: "f64" } as const;
type ComplexDType = keyof typeof PARTS;
const DTYPES = Object.keys(PARTS) as ComplexDType[];

/** The largest error that is allowed. Some 500 arguments find most of what there is, not all. */
const CLAIMED = 4;
/** exp2 of larger imaginary parts loses digits: the angle y·ln 2 has too few. */
const LARGEST_OF_EXP2 = { c64: 2 ** 12, c128: 2 ** 26 } as const;

/** Real and imaginary parts in turn. */
function argumentsOf(dtype: ComplexDType): Float64Array {
  const random = randomFloats("f64", 12);
  const side = () => (random.between(0, 1) < 0.5 ? -1 : 1);
  const size = (low: number, high: number) => side() * 10 ** random.between(low, high);
  const least = dtype === "c64" ? -7 : -14;
  const points: [number, number][] = [];
  const times = (count: number, make: () => [number, number]) => {
    for (let i = 0; i < count; i++) points.push(make());
  };
  times(100, () => [random.between(-3, 3), random.between(-3, 3)]);
  times(100, () => [size(-6, 3), size(-6, 3)]);
  times(60, () => [size(-30, 30), size(-30, 30)]);
  for (const [x, y] of [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
    [0, 0],
    [-2, 0],
  ] as const) {
    times(16, () => [x + size(least, -1), y + size(least, -1)]);
  }
  times(40, () => [random.between(-4, 4), size(-15, -3)]);
  times(40, () => [size(-15, -3), random.between(-4, 4)]);
  times(20, () => [random.between(-80, 80), random.between(-1e5, 1e5)]);
  // |z| = 1, where the logarithm's real part cancels; |1 + z| = 1, for log1p; eˣ·cos y = 1, for expm1.
  times(40, () => {
    const [angle, radius] = [random.between(-3.1, 3.1), 1 + size(-12, -2)];
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
  times(40, () => {
    const angle = random.between(-3.1, 3.1);
    return [Math.cos(angle) - 1, Math.sin(angle)];
  });
  times(40, () => {
    const y = random.between(-1.5, 1.5);
    return [-Math.log(Math.cos(y)), y];
  });
  return Float64Array.from(points.flat(), dtype === "c64" ? Math.fround : (x) => x);
}

/** The exact values of all functions, one function after the other; null where there is no Python with mpmath. */
function exactValues(args: Float64Array): Float64Array | null {
  const input = new Uint8Array(args.buffer);
  const script = resolve("test/tensor/complex-oracle.py");
  const { status, stdout } = spawnSync("python3", [script, NAMES.join(",")], { input, maxBuffer: 2 ** 26 });
  return status === 0 ? new Float64Array(new Uint8Array(stdout).buffer) : null;
}

const cases = DTYPES.map((dtype) => ({ dtype, args: argumentsOf(dtype), exact: exactValues(argumentsOf(dtype)) }));
const measured = new Map<string, number>();

for (const device of testDevices()) {
  for (const name of NAMES) {
    test(`${name} on ${device} is within ${CLAIMED} units in the last place`, (context) => {
      for (const { dtype, args, exact: all } of cases) {
        if (!all) return context.skip("needs python3 with mpmath");
        const exact = all.subarray(2 * args.length * NAMES.indexOf(name));
        // A device that flushes denormals loses a part of that size, or a product of that size on the way to it.
        const flushed = mayFlush(device, PARTS[dtype]) ? 2 * smallestNormal[PARTS[dtype]] : 0;
        const rows = Array.from({ length: args.length / 2 }, (_, i) => ({ re: args[2 * i]!, im: args[2 * i + 1]! }));
        const z = tensor(rows, { dtype, device });
        const got = complexNumbers((z[name as "exp"] as () => Tensor).call(z));
        rows.forEach(({ re, im }, i) => {
          if (name === "exp2" && Math.abs(im) > LARGEST_OF_EXP2[dtype]) return;
          const [x, missingOfX, y, missingOfY] = exact.subarray(4 * i) as unknown as [number, number, number, number];
          const size = Math.hypot(x, y);
          // Other tests cover numbers beyond the range of floats.
          if (!(size > 2 ** -126 && size < 2 ** 127)) return;
          const { re: gotX, im: gotY } = got[i]!;
          const distance = Math.hypot(gotX - x - missingOfX, gotY - y - missingOfY);
          const error = Math.max(0, distance - flushed) / spacing(PARTS[dtype], size);
          assert.ok(error <= CLAIMED, `${name}(${re} + ${im}i) in ${dtype} is ${gotX} + ${gotY}i, ${error} units off`);
          measured.set(`${name} ${dtype}`, Math.max(measured.get(`${name} ${dtype}`) ?? 0, error));
        });
      }
    });
  }
}

const HEADING = "\n## Complex numbers\n";

after(() => {
  if (process.env.PUMICE_WRITE_ACCURACY !== "1") return;
  const before = readFileSync("docs/accuracy.md", "utf8").split(HEADING)[0]!;
  const cell = (name: string, dtype: ComplexDType) => measured.get(`${name} ${dtype}`)?.toFixed(2) ?? "–";
  const rows = NAMES.map((name) => `| ${name} | ${cell(name, "c64")} | ${cell(name, "c128")} |`);
  writeFileSync("docs/accuracy.md", `${before}${HEADING}${introduction}\n${rows.join("\n")}\n`);
});

const introduction = `
The largest error found at ${argumentsOf("c64").length / 2} arguments, next to mpmath's values: the distance from the exact value in units in the last
place of its absolute value. A part that is much smaller than the other may have fewer correct digits. The tests allow ${CLAIMED}.
\`test/tensor/complex-accuracy.test.ts\` writes this table, too.

The arguments are of all sizes, next to branch points and cuts, and where a part of the result cancels. exp2 is measured for
imaginary parts up to 2^12 (c64) and 2^26 (c128). Beyond that its angle y·ln 2 has too few digits, and the error grows with y.
Powers are in [dtypes.md](dtypes.md#complex-numbers).

| function | c64 measured | c128 measured |
|---|---|---|`;
