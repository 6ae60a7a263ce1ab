/** Rows and columns of real planes in two kernels, interpreted on workgroups of several sizes, against the definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dftRoutine } from "../../../../src/compiler/routines/fft/fft.js";
import type { TargetProfile } from "../../../../src/compiler/target/profile.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { passesBehindRows, planDft } from "../../../../src/graph/dft-plan.js";
import { dftTable } from "../../../../src/graph/dft-table.js";
import { Node } from "../../../../src/graph/node.js";
import type { Params } from "../../../../src/graph/primitive.js";
import { type DftParams, dft } from "../../../../src/graph/primitives/dft.js";
import { buffer } from "../../../../src/graph/primitives/leaf.js";
import { interpretRoutine } from "../../../support/interpreted-routine.js";
import { nowhere } from "../../../support/nodes.js";
import { apart, type C, gpuOf, linesOf, pairsOf, randomNumbers, transformOf } from "./transforms.js";

const settings = { division: "native" } as const;

interface Planes {
  readonly count: number;
  readonly high: number;
  readonly wide: number;
  /** The length of the rows' transform: rows are cut to it, or filled with zeros. */
  readonly length?: number;
  readonly sign?: 1 | -1;
  readonly scale?: number;
}

/** A routine of both axes, and what it must give. */
function planOf({ count, high, wide, length = wide, sign = -1, scale = 1 }: Planes, profile: TargetProfile) {
  const rows: DftParams = { kind: "real", axis: 2, length, sign, scale, isOfComplex: false };
  const ofRows = planDft("real", length, "f32", profile.fft);
  const passes = passesBehindRows(ofRows, high, profile.fft);
  assert.ok(passes);
  const columns: DftParams = { kind: "complex", axis: 1, length: high, sign, scale, isOfComplex: true, passes, rows };
  const ofColumns = planDft("complex", high, "f32", profile.fft, true, passes);
  const leaf = (shape: readonly number[]) => new Node(buffer, { shape, dtype: "f32" }, [], shape, "f32", nowhere);
  const half = Math.floor(length / 2) + 1;
  const inputs = [leaf([count, high, wide]), leaf([1]), leaf([1])];
  const node = new Node(dft, columns as unknown as Params, inputs, [count, high, half, 2], "f32", nowhere);
  const x = randomNumbers(count * high * wide, high + wide);
  const table = (plan: typeof ofRows) => encodeValues([...dftTable(plan, "f32")], "f32", "table");
  const given = [encodeValues(x, "f32", "source"), table(ofColumns), table(ofRows)];
  const lines = linesOf(x, wide, [count * high, 1]).map((line) =>
    transformOf(
      Array.from({ length }, (_, at): C => [line[at] ?? 0, 0]),
      sign,
    ).slice(0, half),
  );
  const expected = linesOf(lines.flat(), high, [count, half]).map((line) =>
    transformOf(line, sign).map(([re, im]): C => [re * scale * scale, im * scale * scale]),
  );
  return { plan: dftRoutine(node, profile, settings), given, expected, half };
}

function check(planes: Planes, profile: TargetProfile, kernels: number): void {
  const { plan, given, expected, half } = planOf(planes, profile);
  const what = JSON.stringify(planes);
  assert.equal(plan.steps.length, kernels, what);
  const { count, high, scale = 1 } = planes;
  const [bytes] = interpretRoutine(plan, given, [8 * count * high * half]);
  const found = linesOf(pairsOf([...new Float32Array(bytes!.slice().buffer)]), high, [count, half]);
  expected.forEach((line, at) => {
    const distance = apart(found[at]!, line);
    assert.ok(distance < 1e-5 * scale * scale * Math.sqrt(high * half), `${what}, column ${at}: ${distance}`);
  });
}

test("planes of many shapes, forward and back, on workgroups of several sizes", () => {
  for (const lanes of [4, 32, 64]) {
    const profile = gpuOf(lanes, 16384, 16);
    check({ count: 2, high: 16, wide: 12 }, profile, 2);
    check({ count: 1, high: 64, wide: 16, sign: 1, scale: 0.25 }, profile, 2);
    check({ count: 3, high: 20, wide: 4 }, profile, 2);
    check({ count: 1, high: 24, wide: 30 }, profile, 2);
  }
});

test("rows that are cut, or filled with zeros", () => {
  for (const length of [10, 20]) check({ count: 2, high: 16, wide: 14, length }, gpuOf(32, 16384, 16), 2);
});

test("rows that do not fit a workgroup have a kernel of their own", () => {
  check({ count: 1, high: 8, wide: 256 }, gpuOf(32, 2048, 16), 3);
});
