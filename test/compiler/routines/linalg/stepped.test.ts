/** Factors and solutions in steps, as GPUs compute them, on whatever Vulkan device there is: with a small grid. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { steppedCholesky } from "../../../../src/compiler/routines/linalg/stepped-cholesky.js";
import { steppedSolve } from "../../../../src/compiler/routines/linalg/stepped-solve.js";
import type { RoutinePlan } from "../../../../src/compiler/target/routine.js";
import { viewBytes } from "../../../../src/core/storage.js";
import { Node } from "../../../../src/graph/node.js";
import { buffer } from "../../../../src/graph/primitives/leaf.js";
import { cholesky, solveLower } from "../../../../src/graph/primitives/linalg/triangular.js";
import { nowhere } from "../../../support/nodes.js";
import { runRoutine } from "../../../support/routine-runs.js";
import { testDevices } from "../../../support/tensors.js";

const settings = { division: "corrected" } as const;
const GRIDS = [{ side: 4, block: 16 }];

/** Numbers in [-1, 1), real and imaginary parts by turns. */
function numbers(count: number, seed: number): Float64Array {
  let state = seed;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

type C = readonly [number, number];
const times = ([a, b]: C, [c, d]: C): C => [a * c - b * d, a * d + b * c];

/** Matrices of numbers over interleaved or plain memory. */
class Plain {
  constructor(
    readonly values: Float64Array,
    readonly n: number,
    readonly isComplex: boolean,
  ) {}
  at(matrix: number, rows: number, i: number, j: number): C {
    const at = (matrix * rows + i) * this.n + j;
    return this.isComplex ? [this.values[2 * at]!, this.values[2 * at + 1]!] : [this.values[at]!, 0];
  }
}

const leaf = (shape: readonly number[]) => new Node(buffer, { shape, dtype: "f64" }, [], shape, "f64", nowhere);
const run = (plan: RoutinePlan, inputs: readonly Float64Array[], count: number) =>
  new Float64Array(runRoutine(plan, inputs.map(viewBytes), 8 * count, "vulkan").buffer);

/** Lower matrices with a dominant diagonal; above it NaN, which nobody reads. */
function lowerMatrices(batch: number, n: number, isComplex: boolean): Plain {
  const parts = isComplex ? 2 : 1;
  const values = numbers(batch * n * n * parts, 7);
  for (let at = 0; at < batch * n * n; at++) {
    const [i, j] = [Math.floor(at / n) % n, at % n];
    if (j > i) values.fill(Number.NaN, at * parts, (at + 1) * parts);
    if (i === j) values[at * parts] = 2 + (i % 3);
    if (i === j && isComplex) values[at * parts + 1] = 0;
  }
  return new Plain(values, n, isComplex);
}

describe("in steps", { skip: testDevices().includes("vulkan") ? false : "missing: a Vulkan device" }, () => {
  for (const { side, block } of GRIDS) {
    for (const isComplex of [false, true]) {
      const how = `a grid of ${side} × ${side} lanes, ${isComplex ? "complex" : "real"}`;
      test(`a factor is found again from its product; ${how}`, () => {
        for (const [batch, n] of [[2, 37]] as const) {
          // biome-ignore format: a table
          const l = lowerMatrices(batch, n, isComplex);
          const parts = isComplex ? 2 : 1;
          const a = new Float64Array(batch * n * n * parts).fill(Number.NaN);
          for (let at = 0; at < batch * n * n; at++) {
            const [m, i, j] = [Math.floor(at / n / n), Math.floor(at / n) % n, at % n];
            if (j > i) continue;
            let sum: C = [0, 0];
            for (let c = 0; c <= j; c++) {
              const [re, im] = l.at(m, n, j, c);
              const [x, y] = times(l.at(m, n, i, c), [re, -im]);
              sum = [sum[0] + x, sum[1] + y];
            }
            a.set(sum.slice(0, parts), at * parts);
          }
          const shape = isComplex ? [batch, n, n, 2] : [batch, n, n];
          const node = new Node(cholesky, { isComplex }, [leaf(shape)], shape, "f64", nowhere);
          const found = run(steppedCholesky(node, batch, n, { side, block }, settings), [a], a.length);
          found.forEach((value, at) => {
            const place = Math.floor(at / parts);
            const isAbove = place % n > Math.floor(place / n) % n;
            const expected = isAbove ? 0 : l.values[at]!;
            assert.ok(Math.abs(value - expected) < 1e-9, `[${batch}, ${n}] at ${at}: ${value}, not ${expected}`);
          });
        }
      });

      for (const isUnit of isComplex ? [false] : [false, true]) {
        test(`a solution times the matrix is the right side${isUnit ? ", unit diagonal" : ""}; ${how}`, () => {
          for (const [batch, n, m] of [[2, 37, 21]] as const) {
            // biome-ignore format: a table
            const parts = isComplex ? 2 : 1;
            const l = lowerMatrices(batch, n, isComplex);
            // Small multipliers: solutions with unit diagonals would grow without bounds.
            l.values.forEach((value, at) => {
              const place = Math.floor(at / parts);
              if (place % n !== Math.floor(place / n) % n) l.values[at] = value / n;
            });
            const x = new Plain(numbers(batch * n * m * parts, 9), m, isComplex);
            const b = new Float64Array(x.values.length);
            for (let at = 0; at < batch * n * m; at++) {
              const [which, i, j] = [Math.floor(at / m / n), Math.floor(at / m) % n, at % m];
              let sum: C = isUnit ? x.at(which, n, i, j) : [0, 0];
              for (let c = 0; c < (isUnit ? i : i + 1); c++) {
                const [re, im] = times(l.at(which, n, i, c), x.at(which, n, c, j));
                sum = [sum[0] + re, sum[1] + im];
              }
              b.set(sum.slice(0, parts), at * parts);
            }
            const [square, sides] = [[batch, n, n], [batch, n, m]].map((shape) => (isComplex ? [...shape, 2] : shape)); // biome-ignore format: one line
            const inputs = [leaf(square!), leaf(sides!)];
            const node = new Node(solveLower, { isComplex, isUnit }, inputs, sides!, "f64", nowhere);
            const found = run(steppedSolve(node, batch, [n, m], { side, block }, settings), [l.values, b], b.length);
            found.forEach((value, at) => {
              assert.ok(Math.abs(value - x.values[at]!) < 1e-9, `[${batch}, ${n}, ${m}] at ${at}: ${value}`);
            });
          }
        });
      }
    }
  }
});
