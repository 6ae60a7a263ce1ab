/** The forward kernel of attention, interpreted: it stores outputs and logarithms, against plain loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { forwardKernel } from "../../../../src/compiler/routines/attention/forward.js";
import { problemOf } from "../../../../src/compiler/routines/attention/problem.js";
import { SharedTiles } from "../../../../src/compiler/routines/attention/shared-tiles.js";
import { dataOf, encodeValues } from "../../../../src/core/storage.js";
import { attention } from "../../../../src/graph/primitives/attention.js";
import { sample } from "../../../support/attention-cases.js";
import { attentionLogs, attentionOf } from "../../../support/attention-oracle.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { make, stored } from "../../../support/nodes.js";
import type { Plain } from "../../../support/tensors.js";

const tile = { kind: "shared", rows: 4, columns: 4, lanes: [4, 4] } as const;
const [q, k, v] = [sample([1, 2, 6, 5], 1), sample([1, 1, 9, 5], 2), sample([1, 1, 9, 3], 3)] as [Plain, Plain, Plain];

for (const [before, behind] of [
  [Infinity, Infinity],
  [Infinity, 0],
  [2, 1],
] as const) {
  test(`rows in tiles that nothing divides; ${before} keys before and ${behind} behind are seen`, () => {
    const params = {
      ...{ scale: 0.5, left: before, right: behind, emptyRow: 0, outputs: [] },
      ...{ hasBias: false, hasMask: false, hasLength: false },
    };
    const node = make(
      attention,
      [q, k, v].map(({ shape }) => stored(...shape)),
      params,
    );
    const tiles = (builder: KernelBuilder) => new SharedTiles(builder, tile, "f32");
    const kernel = forwardKernel(problemOf(node), { division: "native" }, { rows: 4, lanes: 16, tiles });
    const [out, logs] = [new Uint8Array(4 * 12 * 3), new Uint8Array(4 * 12)] as const;
    interpretKernel(kernel, [...[q, k, v].map(({ values }) => encodeValues([...values], "f32", "test")), out, logs]);
    const given = { q, k, v, scale: 0.5, before, behind };
    const want = [attentionOf(given).values, attentionLogs(given)];
    [out, logs].forEach((bytes, at) => {
      const found = [...dataOf(bytes, "f32")];
      found.forEach((x, i) => {
        assert.ok(Math.abs(x - want[at]![i]!) < 1e-5, `result ${at}, ${i}: ${x}, not ${want[at]![i]}`);
      });
    });
  });
}
