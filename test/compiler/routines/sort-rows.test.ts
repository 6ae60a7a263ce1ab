/** Which sorts the compiler hands to the routine that makes keys itself, and which it leaves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseImplementations } from "../../../src/compiler/rewrite/implementations.js";
import { sortRows } from "../../../src/compiler/routines/sort-rows.js";
import { gpuProfile, type SortProfile } from "../../../src/compiler/target/profile.js";
import { makeNode } from "../../../src/graph/build.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { takeAlongAxis } from "../../../src/graph/primitives/movement.js";
import { argsort, orderKey } from "../../../src/graph/primitives/order.js";
import { stored } from "../../support/nodes.js";

const sort: SortProfile = { digitsFrom: 4096, lanes: 256, sharedBytes: 49152, subgroupSize: 32 };
const namesBehind = (roots: readonly Node[], profile: SortProfile | null = sort): string[] => {
  const chosen = chooseImplementations(roots, gpuProfile.tiles, profile).roots;
  return inputsFirst(chosen, ({ storage, inputs }) => (storage ? [] : inputs))
    .filter(({ storage }) => storage === null)
    .map(({ primitive, params }) => (primitive === sortRows ? `sortRows ${params.result}` : primitive.name));
};

function sorting(...shape: number[]) {
  const x = stored(...shape);
  const positions = makeNode(argsort, [makeNode(orderKey, [x], { descending: true }, x.device)], {}, x.device);
  const values = makeNode(takeAlongAxis, [x, positions], { axis: shape.length - 1 }, x.device);
  return { x, positions, values };
}

test("positions and values of long rows, and of rows that fit a tile", () => {
  for (const extent of [100, 4096, 100_000]) {
    const { positions, values } = sorting(2, extent);
    assert.deepEqual(namesBehind([positions]), ["sortRows positions"]);
    assert.deepEqual(namesBehind([values]), ["sortRows values"]);
  }
});

test("positions that are wanted too are sorted once, and followed", () => {
  const { positions, values } = sorting(2, 5000);
  assert.deepEqual(namesBehind([values, positions]), ["sortRows positions", "takeAlongAxis"]);
});

test("other values in this order, and another axis, are followed", () => {
  const { positions } = sorting(300, 300);
  const other = makeNode(takeAlongAxis, [stored(300, 300), positions], { axis: 1 }, positions.device);
  assert.ok(namesBehind([other]).includes("takeAlongAxis"));
  const { x, positions: order } = sorting(300, 300);
  const across = makeNode(takeAlongAxis, [x, order], { axis: 0 }, x.device);
  assert.ok(namesBehind([across]).includes("takeAlongAxis"));
});

test("short rows, devices of one lane and functions inside kernels keep the definition", () => {
  const definition = ["orderKey", "argsort", "takeAlongAxis"];
  assert.deepEqual(namesBehind([sorting(2, 63).values]), definition);
  assert.deepEqual(namesBehind([sorting(2, 5000).values], { digitsFrom: 512, lanes: 1, sharedBytes: 0 }), definition);
  assert.deepEqual(namesBehind([sorting(2, 5000).values], null), definition);
  assert.deepEqual(namesBehind([sorting(2, 5000).values], { ...sort, subgroupSize: undefined }), definition);
});
