/** Eigenvalues and eigenvectors of diag(d) + ρ z zᵀ, interpreted: vectors are orthonormal and belong to values that rise. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rankOneRoutine } from "../../../../../src/compiler/routines/linalg/eigen/rank-one.js";
import type { TargetProfile } from "../../../../../src/compiler/target/profile.js";
import { encodeValues } from "../../../../../src/core/storage.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import { gpuOf, KINDS, numbersIn, PROFILES, routineNode, settings } from "../matrices.js";
import { PROBLEMS, type Problem, rankOneMatrix } from "./rank-one-cases.js";

function check(what: string, problems: readonly Problem[], type: "f32" | "f64", profile: TargetProfile): void {
  const [batch, m] = [problems.length, problems[0]!.d.length];
  const node = routineNode("rankOne", KINDS[type], [[batch, m], [batch, m], [batch]]); // biome-ignore format: one line
  const inputs = [(p: Problem) => p.d, (p: Problem) => p.z, (p: Problem) => [p.rho]].map((part) =>
    encodeValues(problems.flatMap(part), type, "problem"),
  );
  const width = type === "f64" ? 8 : 4;
  const found = interpretRoutine(rankOneRoutine(node, profile, settings), inputs, [
    width * batch * m,
    width * batch * m * m,
  ]).map((bytes) => numbersIn(bytes, type));
  const epsilon = type === "f64" ? 2 ** -52 : 2 ** -23;
  problems.forEach((problem, at) => {
    const a = rankOneMatrix(problem);
    const values = found[0]!.slice(at * m, (at + 1) * m);
    assert.deepEqual(values, [...values].sort((x, y) => x - y), what); // biome-ignore format: one line
    const rows = values.map((_, i) => found[1]!.slice((at * m + i) * m, (at * m + i + 1) * m));
    const dot = (x: readonly number[], y: readonly number[]) => x.reduce((sum, each, i) => sum + each * y[i]!, 0);
    const size = Math.max(1, ...problem.d.map(Math.abs));
    rows.forEach((row, i) => {
      rows.forEach((other, j) => {
        const slant = Math.abs(dot(row, other) - (i === j ? 1 : 0));
        assert.ok(slant <= 30 * epsilon, `${what}, ${type}, ${at}: rows ${i} and ${j}: ${slant}`);
      });
      a.forEach((line, j) => {
        const residual = Math.abs(dot(line, row) - values[i]! * row[j]!);
        assert.ok(residual <= 60 * epsilon * size, `${what}, ${type}, ${at}: row ${i}: ${residual}`);
      });
    });
  });
}

for (const [name, profile] of [...Object.entries(PROFILES), ["32 lanes, little memory", gpuOf(32, 128)] as const]) {
  test(`eigenvalues and vectors; ${name}`, () => {
    for (const [what, problems] of Object.entries(PROBLEMS)) {
      for (const type of ["f64", "f32"] as const) check(what, problems, type, profile);
    }
  });
}
