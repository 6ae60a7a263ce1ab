/** Roots of the secular equation, interpreted, against bisection in f64, as distances from the nearer pole. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { secularKernel } from "../../../../../src/compiler/routines/linalg/eigen/secular.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import { numbersIn, settings } from "../matrices.js";

interface Poles {
  /** Rising; those from `live` on are deflated. */
  readonly d: readonly number[];
  readonly z: readonly number[];
  readonly rho: number;
  readonly live: number;
}

/** The distance of root `which` from pole `origin`, by halving. */
function bisected({ d, z, rho, live }: Poles, which: number, origin: number): number {
  const f = (mu: number) => {
    let sum = 1;
    for (let j = 0; j < live; j++) sum += (rho * z[j]! ** 2) / (d[j]! - d[origin]! - mu);
    return sum;
  };
  const weight = z.slice(0, live).reduce((sum, x) => sum + x * x, 0) * rho;
  let low = d[which]! - d[origin]!;
  let high = which + 1 < live ? d[which + 1]! - d[origin]! : d[which]! - d[origin]! + weight * 1.001;
  for (let round = 0; round < 200; round++) {
    const middle = (low + high) / 2;
    // The function rises between poles.
    if (f(middle) < 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const CASES: readonly Poles[] = [
  { d: [-1, 0, 0.5, 2, 7, 8], z: [0.5, 0.25, 0.125, 0.5, 0.5, 0.4], rho: 1, live: 6 },
  { d: [0, 1, 2, 9, 9, 9], z: [0.75, 2 ** -10, 0.5, 0, 0, 0], rho: 3, live: 3 },
  { d: [0, 2 ** -12, 1, 1.125, 3, 4], z: [0.5, 0.5, 2 ** -8, 0.5, 0.25, 0.25], rho: 2 ** -6, live: 6 },
  { d: [4, 5, 6, 7, 8, 9], z: [0.5, 0, 0, 0, 0, 0], rho: 100, live: 1 },
  // Steps leave the interval that holds the root, and halving takes their place.
  {
    d: [0.75, 0.75 + 2 ** -7, 0.75 + 2 ** -7 + 2 ** -18, 1.1875, 1.1875 + 2 ** -9, 1.1875 + 2 ** -9 + 2 ** -22],
    z: [-(2 ** -10), 2 ** -12, 0.5, 2 ** -18, 2 ** -20, 2 ** -17],
    rho: 2,
    live: 6,
  },
];

function rootsOf(type: "f32" | "f64", lanes: number) {
  const [batch, m] = [CASES.length, 6];
  const kernel = secularKernel({ batch, m, type, lanes }, settings);
  const line = (part: (poles: Poles) => readonly number[]) => encodeValues(CASES.flatMap(part), type, "poles");
  const counts = encodeValues(CASES.flatMap(({ live }) => [live, 0]), "i32", "counts"); // biome-ignore format: one line
  const width = type === "f64" ? 8 : 4;
  const [shifts, origins, roots] = [width, 4, width].map((bytes) => undefinedBytes(batch * m * bytes));
  const memory = [line((p) => [p.rho]), line((p) => p.d), line((p) => p.z), counts, shifts!, origins!, roots!];
  const { openRounds } = interpretKernel(kernel, memory);
  return {
    openRounds,
    shifts: numbersIn(shifts!, type),
    origins: numbersIn(origins!, "i32"),
    roots: numbersIn(roots!, type),
  };
}

for (const lanes of [1, 4, 8, 32]) {
  test(`roots and distances, relative to the distance; ${lanes} lanes`, () => {
    for (const type of ["f64", "f32"] as const) {
      const { shifts, origins, roots } = rootsOf(type, lanes);
      const epsilon = type === "f64" ? 2 ** -52 : 2 ** -23;
      CASES.forEach((poles, member) => {
        for (let which = 0; which < 6; which++) {
          const at = 6 * member + which;
          const what = `${type}, case ${member}, root ${which}`;
          const origin = origins[at]!;
          if (which >= poles.live) {
            assert.deepEqual([shifts[at], origin, roots[at]], [0, which, poles.d[which]], what);
            continue;
          }
          const expected = bisected(poles, which, origin);
          const apart = Math.abs(shifts[at]! - expected) / Math.abs(expected);
          assert.ok(apart <= 100 * epsilon, `${what}: ${shifts[at]}, not ${expected}`);
          assert.ok(Math.abs(roots[at]! - (poles.d[origin]! + expected)) <= 20 * epsilon * Math.abs(roots[at]!), what);
          // The nearer of the two poles, unless it is about the middle.
          const gapTo = (pole: number) => Math.abs(poles.d[origin]! - poles.d[pole]! + expected);
          const gaps = [which, which + 1].filter((pole) => pole < poles.live).map(gapTo);
          assert.ok(Math.abs(expected) <= Math.min(...gaps) * (1 + 1e-3), `${what}: origin ${origin}`);
        }
      });
    }
  });
}

test("a root takes six rounds at most, on average: steps are those of the function with the same poles", () => {
  const live = CASES.reduce((sum, poles) => sum + poles.live, 0);
  for (const type of ["f64", "f32"] as const) {
    const { openRounds } = rootsOf(type, 4);
    assert.ok(openRounds <= 6 * live, `${type}: ${openRounds} rounds for ${live} roots`);
  }
});
