/** Eigenvectors of triangles: residuals, equal eigenvalues, growth, and rounds of loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { roundsWithin, SOFTWARE_ROUNDS } from "../../../../../src/compiler/ir/loop-rounds.js";
import { triangularVectorsRoutine } from "../../../../../src/compiler/routines/linalg/eigen/triangular-vectors.js";
import { cpuProfile, gpuProfile, type TargetProfile } from "../../../../../src/compiler/target/profile.js";
import type { Node } from "../../../../../src/graph/node.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import { runKernel } from "../../../../support/kernels.js";
import { storedAs } from "../../../../support/nodes.js";
import { testDevices } from "../../../../support/tensors.js";
import { PROFILES, settings } from "../matrices.js";

const software: TargetProfile = { ...gpuProfile, hasSlowBarriers: true };

function kernelsFor(dtype: "f32" | "f64", n: number, padded: number, profile: TargetProfile) {
  const inputs = [0, 1].map(() => storedAs(dtype, 1, padded, padded));
  const plan = triangularVectorsRoutine({ params: { n }, inputs } as unknown as Node, profile, {
    division: "corrected",
  });
  return plan.steps.map(({ kernel }) => kernel);
}

/** Real and imaginary parts of the vectors, as rows, of a triangle. */
function vectorsOf(device: string, n: number, re: Float64Array, im: Float64Array): [Float64Array, Float64Array] {
  const padded = Math.sqrt(re.length);
  let [x, y] = [new Float64Array(re.length), new Float64Array(re.length)];
  for (const kernel of kernelsFor("f64", n, padded, device === "cpu" ? cpuProfile : software)) {
    [, , x, y] = runKernel(device, kernel, [re, im, x, y]) as [Float64Array, Float64Array, typeof x, typeof y];
  }
  return [x, y];
}

for (const device of testDevices()) {
  test(`T x is λ x, also where eigenvalues are equal, and below the diagonal nothing is read; ${device}`, () => {
    const [n, padded] = [13, 16];
    const [re, im] = [new Float64Array(padded * padded), new Float64Array(padded * padded)];
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        re[i * padded + j] = i === j ? i % 5 : Math.sin(3 * i + 7 * j);
        im[i * padded + j] = i === j ? (i % 2) / 4 : Math.cos(5 * i + j);
      }
    }
    const [x, y] = vectorsOf(device, n, re, im);
    for (let k = 0; k < n; k++) {
      const size = Math.max(...Array.from({ length: n }, (_, j) => Math.hypot(x[k * padded + j]!, y[k * padded + j]!)));
      const [a, b] = [re[k * padded + k]!, im[k * padded + k]!];
      for (let i = 0; i < n; i++) {
        let [p, q] = [0, 0];
        for (let j = i; j < n; j++) {
          const [t, u, v, w] = [re[i * padded + j]!, im[i * padded + j]!, x[k * padded + j]!, y[k * padded + j]!];
          p += t * v - u * w;
          q += t * w + u * v;
        }
        const [v, w] = [x[k * padded + i]!, y[k * padded + i]!];
        const error = Math.hypot(p - (a * v - b * w), q - (a * w + b * v));
        assert.ok(error < 1e-13 * size, `vector ${k}, row ${i}: ${error / size}`);
      }
    }
  });
}

test("no lane reads what another writes meanwhile", () => {
  const [n, padded] = [5, 8];
  const inputs = [0, 1].map(() => storedAs("f64", 1, padded, padded));
  const triangle = Float64Array.from({ length: 64 }, (_, at) => (at % 9 === 0 ? at / 9 : Math.sin(at)));
  for (const profile of Object.values(PROFILES)) {
    const plan = triangularVectorsRoutine({ params: { n }, inputs } as unknown as Node, profile, settings);
    const given = [new Uint8Array(triangle.buffer), new Uint8Array(512)];
    const x = new Float64Array(interpretRoutine(plan, given, [512, 512])[0]!.slice().buffer);
    assert.ok(Math.abs(x[8]! - Math.sin(1)) < 1e-15 && x[9] === 1);
  }
});

test("vectors of a Jordan block of 100 rows, which grow by 1 / ε in every row, stay finite", () => {
  const [n, padded] = [100, 104];
  const [re, im] = [new Float64Array(padded * padded), new Float64Array(padded * padded)];
  for (let i = 0; i < n; i++) {
    re[i * padded + i] = 2;
    if (i + 1 < n) re[i * padded + i + 1] = 1;
  }
  const [x, y] = vectorsOf("cpu", n, re, im);
  assert.ok([...x, ...y].every(Number.isFinite));
  // All of them are the first unit vector, but for rounding.
  for (let k = 0; k < n; k++) {
    const row = Array.from(x.subarray(k * padded, k * padded + n), Math.abs);
    assert.ok(
      row.slice(1).every((each) => each < 1e-15 * row[0]!),
      `vector ${k}`,
    );
  }
});

test("kernels stay within the loop rounds of a software driver: large orders take several", () => {
  for (const padded of [16, 512, 1024]) {
    const kernels = kernelsFor("f32", padded, padded, software);
    assert.equal(kernels.length > 1, padded > 16);
    for (const kernel of kernels) assert.ok(roundsWithin(kernel, SOFTWARE_ROUNDS) <= SOFTWARE_ROUNDS, `${padded}`);
  }
});
