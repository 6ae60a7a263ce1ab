/** Steps of the QR algorithm, kernel by kernel: what they keep, that they end, and how many rounds of loops they take. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { roundsWithin, SOFTWARE_ROUNDS } from "../../../../../src/compiler/ir/loop-rounds.js";
import { francisRoutine } from "../../../../../src/compiler/routines/linalg/eigen/francis.js";
import { cpuProfile, gpuProfile, type TargetProfile } from "../../../../../src/compiler/target/profile.js";
import type { Node } from "../../../../../src/graph/node.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import { runKernel } from "../../../../support/kernels.js";
import { storedAs } from "../../../../support/nodes.js";
import { testDevices } from "../../../../support/tensors.js";
import { gpuOf, PROFILES, settings as plain } from "../matrices.js";

const settings = { division: "corrected" } as const;
const software: TargetProfile = { ...gpuProfile, hasSlowBarriers: true };

/** The kernel for one real matrix of f64 with its orthogonal matrix. */
function kernelFor(n: number, padded: number, profile: TargetProfile) {
  const inputs = [storedAs("f64", 1, padded, padded), storedAs("f64", 1, padded, padded), storedAs("i32", 1, 4)];
  const node = { params: { n, isComplex: false, hasVectors: true }, inputs } as unknown as Node;
  const { steps } = francisRoutine(node, profile, settings);
  assert.equal(steps.length, 1);
  return steps[0]!.kernel;
}

/** An upper Hessenberg matrix of numbers in [-1, 1), padded with zeros. */
function hessenbergMatrix(n: number, padded: number): Float64Array {
  let state = 5;
  const values = new Float64Array(padded * padded);
  for (let i = 0; i < n; i++) {
    for (let j = Math.max(0, i - 1); j < n; j++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      values[i * padded + j] = state / 2 ** 31 - 1;
    }
  }
  return values;
}

function identity(n: number, padded: number): Float64Array {
  const values = new Float64Array(padded * padded);
  for (let i = 0; i < n; i++) values[i * padded + i] = 1;
  return values;
}

for (const device of testDevices()) {
  test(`steps keep Z T Zᵀ, and end with blocks of one or two rows; ${device}`, () => {
    const [n, padded] = [11, 16];
    const kernel = kernelFor(n, padded, device === "cpu" ? cpuProfile : software);
    const a = hessenbergMatrix(n, padded);
    let [h, z, state] = [a, identity(n, padded), Int32Array.of(n - 1, 0, 0, -1)];
    let calls = 0;
    for (; state[0]! >= 0 && calls < 100; calls++) {
      const outputs = [
        new Float64Array(padded * padded),
        new Float64Array(padded * padded),
        new Int32Array(4),
      ] as const;
      const after = runKernel(device, kernel, [h, z, state, ...outputs]);
      [h, z, state] = [
        after[3] as Float64Array<ArrayBuffer>,
        after[4] as Float64Array<ArrayBuffer>,
        after[5] as Int32Array<ArrayBuffer>,
      ];
    }
    assert.equal(state[0], -1);
    const at = (x: Float64Array, i: number, j: number) => x[i * padded + j]!;
    const indices = Array.from({ length: n }, (_, i) => i);
    for (const i of indices) {
      for (const j of indices) {
        // z holds the columns of Z as rows.
        const rows = indices.map((p) => indices.reduce((sum, q) => sum + at(h, p, q) * at(z, q, j), 0));
        const made = indices.reduce((sum, p) => sum + at(z, p, i) * rows[p]!, 0);
        assert.ok(Math.abs(made - at(a, i, j)) < 1e-14 * n, `${i}, ${j}: ${made}`);
        if (i > j + 1) assert.equal(at(h, i, j), 0);
      }
    }
    const isCut = indices.slice(1).map((i) => at(h, i, i - 1) === 0);
    assert.ok(
      isCut.every((cut, i) => cut || (isCut[i + 1] ?? true)),
      `blocks of three rows: ${isCut}`,
    );
  });
}

for (const [name, profile] of Object.entries({ ...PROFILES, "64 lanes, all in memory": gpuOf(64, 1100) })) {
  test(`no lane reads what another writes meanwhile, and the sums of the diagonal stay; ${name}`, () => {
    for (const isComplex of [false, true]) {
      const [n, padded] = [5, 8];
      const parts = isComplex ? 2 : 1;
      const matrix = () => Array.from({ length: parts }, () => storedAs("f64", 1, padded, padded));
      const inputs = [...matrix(), ...matrix(), storedAs("i32", 1, 4)];
      const node = { params: { n, isComplex, hasVectors: true }, inputs } as unknown as Node;
      const plan = francisRoutine(node, profile, plain);
      const bytes = (x: Float64Array | Int32Array) => new Uint8Array(x.buffer.slice(0));
      const planes = Array.from({ length: parts }, (_, part) =>
        hessenbergMatrix(n, padded).map((x) => (1 - 3 * part) * x),
      );
      const turns = [identity(n, padded), new Float64Array(padded * padded)].slice(0, parts);
      let given = [...planes.map(bytes), ...turns.map(bytes), bytes(Int32Array.of(n - 1, 0, 0, -1))];
      const last = () => new Int32Array(given.at(-1)!.buffer)[0]!;
      for (let calls = 0; last() >= 0 && calls < 9; calls++) {
        given = interpretRoutine(
          plan,
          given,
          given.map(({ length }) => length),
        );
      }
      assert.equal(last(), -1);
      const trace = (x: Float64Array) =>
        Array.from({ length: n }, (_, i) => x[i * padded + i]!).reduce((a, b) => a + b);
      planes.forEach((plane, part) => {
        const after = new Float64Array(given[part]!.buffer);
        assert.ok(Math.abs(trace(after) - trace(plane)) < 1e-13);
        for (let i = 1; i < n; i++) assert.ok(Math.abs(after[i * padded + i - 1]!) === 0 || !isComplex);
      });
    }
  });
}

describe("a kernel", () => {
  test("stays within the loop rounds of a software driver, whatever the order", () => {
    for (const padded of [8, 64, 136, 520, 1032]) {
      const rounds = roundsWithin(kernelFor(padded - 1, padded, software), SOFTWARE_ROUNDS);
      assert.ok(rounds <= SOFTWARE_ROUNDS, `${padded}: ${rounds}`);
    }
  });

  test("gives up after many sweeps without a cut, and does nothing for matrices that are done", () => {
    const [n, padded] = [4, 8];
    const kernel = kernelFor(n, padded, cpuProfile);
    const outputs = () => [new Float64Array(64), new Float64Array(64), new Int32Array(4)] as const;
    const a = hessenbergMatrix(n, padded);
    const tired = runKernel("cpu", kernel, [a, identity(n, padded), Int32Array.of(3, 1000, 0, -1), ...outputs()]);
    assert.equal(tired[5][0], -2);
    const done = runKernel("cpu", kernel, [a, identity(n, padded), Int32Array.of(-1, 0, 0, -1), ...outputs()]);
    assert.deepEqual(done[3], a);
  });
});
