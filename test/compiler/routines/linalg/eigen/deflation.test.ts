/**
 * Deflation, interpreted: sorted and turned by its rotations, diag(d) + ρ z zᵀ is diagonal where it says so, and of rank one
 * beside the diagonal elsewhere.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflationKernel } from "../../../../../src/compiler/routines/linalg/eigen/deflation.js";
import type { TargetProfile } from "../../../../../src/compiler/target/profile.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { undefinedBytes } from "../../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import { gpuOf, numbersIn, PROFILES, settings } from "../matrices.js";
import { PROBLEMS, type Problem, rankOneMatrix } from "./rank-one-cases.js";

interface Deflated {
  readonly order: number[];
  readonly d: number[];
  readonly z: number[];
  readonly places: number[];
  readonly turns: readonly { readonly p: number; readonly q: number; readonly c: number; readonly s: number }[];
  readonly live: number;
}

function deflated(problems: readonly Problem[], type: "f32" | "f64", profile: TargetProfile): Deflated[] {
  const [batch, m] = [problems.length, problems[0]!.d.length];
  const kernel = deflationKernel({ batch, m, type, lanes: 1 }, profile, settings);
  const width = type === "f64" ? 8 : 4;
  const inputs = [(p: Problem) => p.d, (p: Problem) => p.z, (p: Problem) => [p.rho]].map((part) =>
    encodeValues(problems.flatMap(part), type, "problem"),
  );
  const [order, d, z, places, first, second, cosines, sines] = [4, width, width, 4, 4, 4, width, width].map((bytes) =>
    undefinedBytes(batch * m * bytes),
  );
  const counts = undefinedBytes(8 * batch);
  interpretKernel(kernel, [...inputs, order!, d!, z!, places!, first!, second!, cosines!, sines!, counts]);
  return problems.map((_, at) => {
    const own = (bytes: Uint8Array | undefined, dtype: "i32" | "f32" | "f64") =>
      numbersIn(bytes!, dtype).slice(at * m, (at + 1) * m);
    const [live, turns] = numbersIn(counts, "i32").slice(2 * at, 2 * at + 2) as [number, number];
    const [ps, qs, cs, ss] = [own(first, "i32"), own(second, "i32"), own(cosines, type), own(sines, type)];
    return {
      order: own(order, "i32"),
      d: own(d, type),
      z: own(z, type).slice(0, live),
      places: own(places, "i32"),
      turns: Array.from({ length: turns }, (_, n) => ({ p: ps[n]!, q: qs[n]!, c: cs[n]!, s: ss[n]! })),
      live,
    };
  });
}

/** The largest error of what the deflation says, over the size of the problem. */
function error(problem: Problem, found: Deflated, m: number): number {
  const sorted = { ...problem, d: found.order.map((at) => problem.d[at]!), z: found.order.map((at) => problem.z[at]!) };
  const a = rankOneMatrix(sorted);
  const turn = (x: number[], y: number[], c: number, s: number) => {
    x.forEach((value, at) => {
      [x[at], y[at]] = [c * value + s * y[at]!, c * y[at]! - s * value];
    });
  };
  const transpose = () => a.map((_, j) => a.map((row) => row[j]!));
  for (const { p, q, c, s } of found.turns) {
    turn(a[p]!, a[q]!, c, s);
    transpose().forEach((row, at) => {
      a[at] = row;
    });
    turn(a[p]!, a[q]!, c, s);
  }
  let worst = 0;
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < m; j++) {
      const isLive = i < found.live && j < found.live;
      const expected = (i === j ? found.d[i]! : 0) + (isLive ? problem.rho * found.z[i]! * found.z[j]! : 0);
      const apart = Math.abs(a[found.places[i]!]![found.places[j]!]! - expected);
      worst = Math.max(worst, Number.isNaN(apart) ? Number.POSITIVE_INFINITY : apart);
    }
  }
  return worst / Math.max(1, ...problem.d.map(Math.abs));
}

for (const [name, profile] of [...Object.entries(PROFILES), ["32 lanes, little memory", gpuOf(32, 1100)] as const]) {
  test(`the matrix is what it was, turned; ${name}`, () => {
    for (const type of ["f64", "f32"] as const) {
      for (const [what, problems] of Object.entries(PROBLEMS)) {
        const m = problems[0]!.d.length;
        deflated(problems, type, profile).forEach((found, at) => {
          const rising = found.order.map((place) => problems[at]!.d[place]!);
          assert.deepEqual(rising, [...problems[at]!.d].sort((x, y) => x - y), `${what}: order`); // biome-ignore format: one line
          const once = [...found.places].sort((x, y) => x - y);
          assert.deepEqual(once, Array.from({ length: m }, (_, i) => i), `${what}: places`); // biome-ignore format: one line
          const live = found.d.slice(0, found.live);
          assert.deepEqual(live, [...live].sort((x, y) => x - y), `${what}: live d rise`); // biome-ignore format: one line
          const limit = 50 * (type === "f64" ? 2 ** -52 : 2 ** -23);
          assert.ok(error(problems[at]!, found, m) <= limit, `${what}, ${at}: ${error(problems[at]!, found, m)}`);
        });
      }
    }
  });
}

test("as much is deflated as can be: nothing of different values, all but one of equal ones, and what has no weight", () => {
  for (const profile of [PROFILES["a CPU"]!, gpuOf(8), gpuOf(32)]) {
    const lives = (name: string) => deflated(PROBLEMS[name]!, "f64", profile).map(({ live }) => live);
    const turns = (name: string) => deflated(PROBLEMS[name]!, "f64", profile).map((found) => found.turns.length);
    assert.deepEqual(lives("different values"), [10, 10]);
    assert.deepEqual([lives("equal values"), turns("equal values")], [[1, 1], [9, 9]]); // biome-ignore format: one line
    assert.deepEqual([lives("no weight"), turns("no weight")], [[0, 7], [0, 0]]); // biome-ignore format: one line
    assert.deepEqual(lives("pairs of equal values"), [5, 5]);
  }
});

test("both lists are in shared memory where they leave 1 KiB", () => {
  const arrays = (type: "f32" | "f64", bytes: number) =>
    deflationKernel({ batch: 1, m: 10, type, lanes: 1 }, gpuOf(32, bytes), settings).arrays.map(({ size }) => size);
  for (const [type, width] of [
    ["f32", 4],
    ["f64", 8],
  ] as const) {
    // biome-ignore format: one line
    assert.deepEqual(arrays(type, 1024 + 20 * width), [10, 10]);
    assert.deepEqual(arrays(type, 1023 + 20 * width), []);
  }
});

test("with NaN the order still names positions", () => {
  const problem = { d: [Number.NaN, 1, 2, Number.NaN], z: [0.5, 0.5, 0.5, 0.5], rho: 1 };
  // Of one lane: several would write different positions to one place.
  const [found] = deflated([problem], "f64", PROFILES["a CPU"]!);
  assert.ok(found!.order.every((at) => at >= 0 && at < 4));
});
