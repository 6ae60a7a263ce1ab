/** Results that are reduced from the rows of a product: which of them its kernel computes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { schedule } from "../../../src/compiler/schedule/schedule.js";
import { gpuProfile, type TargetProfile } from "../../../src/compiler/target/profile.js";
import { SHARED_VARIANTS } from "../../../src/compiler/tiles/shared-candidates.js";
import type { Node } from "../../../src/graph/node.js";
import { dot } from "../../../src/graph/primitives/dot.js";
import { pad } from "../../../src/graph/primitives/movement.js";
import { max, min } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make } from "../../support/nodes.js";
import { matrix } from "../tiles/product-kernels.js";

const { tile } = SHARED_VARIANTS[1]!;
const profile: TargetProfile = { ...gpuProfile, tiles: { ...gpuProfile.tiles, sharedBytes: 49152, maxLanes: 1024 } };
const product = (n: number): Node => make(dot, [matrix("f32", 2, 300, 40), matrix("f32", 2, 40, n)], { tile });
const least = (x: Node, axes = [2]): Node => make(min, [x], { axes });

/** How many tasks compute a result, and whether the last one reduces the rows of a product. */
function planned(result: Node, of = profile): readonly [tasks: number, isReduced: boolean] {
  const tasks = schedule([result], of);
  const last = tasks.at(-1);
  return [tasks.length, last?.kind === "group" && last.group.product?.reductions !== undefined];
}

test("a reduction along the row is computed with the product, and so are chains of them and what follows", () => {
  assert.deepEqual(planned(least(product(64))), [1, true]);
  assert.deepEqual(planned(g.sqrt(g.abs(least(g.neg(product(50)))))), [1, true]);
  const x = product(64);
  const shifted = g.sub(x, g.unreduce(make(max, [x], { axes: [2] }), x.shape, [2]));
  assert.deepEqual(planned(g.sum(g.exp(shifted), [2])), [1, true]);
  assert.deepEqual(planned(g.reshape(least(g.reshape(product(64), [600, 64]), [1]), [30, 20])), [1, true]);
});

test("other reductions on the way are computed before", () => {
  const bias = g.sum(matrix("f32", 64, 7), [1]);
  const x = product(64);
  assert.deepEqual(planned(least(g.add(x, g.broadcast(bias, x.shape)))), [2, true]);
});

test("the product is stored where the tile does not hold its rows, where others read it, and where rows are moved", () => {
  assert.deepEqual(planned(least(product(65))), [2, false]);
  assert.deepEqual(planned(least(product(64), [1])), [2, false]);
  assert.deepEqual(planned(least(product(64), [1, 2])), [2, false]);
  const x = product(64);
  assert.deepEqual(planned(g.add(x, g.unreduce(least(x), x.shape, [2])))[1], false, "rows of the product themselves");
  const none = [0, 0, 0];
  const padded = make(pad, [product(63)], { low: none, high: [0, 0, 1], interior: none, value: 9 });
  assert.deepEqual(planned(least(padded)), [2, false]);
  const small = { ...profile, tiles: { ...profile.tiles, sharedBytes: 16384 } };
  assert.deepEqual(planned(least(product(64)), small), [2, false], "no room for the parts of lanes");
});

test("a reduction whose terms cost much is a kernel of its own", () => {
  const costly = Array.from({ length: 6 }).reduce<Node>((x) => g.exp(x), product(64));
  assert.deepEqual(planned(least(costly))[1], false);
});
