/** What holds of all primitives together. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { allPrimitives } from "../support/all-primitives.js";

test("no two primitives have one name: nodes that compute the same are found by it", async () => {
  const primitives = await allPrimitives();
import type { Primitive } from "../../src/graph/primitive.js";
import * as bundle from "../../src/graph/primitives/bundle.js";
import * as checkpoint from "../../src/graph/primitives/checkpoint.js";
import * as choice from "../../src/graph/primitives/choice.js";
import * as cumulate from "../../src/graph/primitives/cumulate.js";
import * as dot from "../../src/graph/primitives/dot.js";
import * as elementwise from "../../src/graph/primitives/elementwise.js";
import * as leaf from "../../src/graph/primitives/leaf.js";
import * as lu from "../../src/graph/primitives/lu.js";
import * as movement from "../../src/graph/primitives/movement.js";
import * as order from "../../src/graph/primitives/order.js";
import * as polygamma from "../../src/graph/primitives/polygamma.js";
import { reducePrimitives } from "../../src/graph/primitives/reduce.js";
import * as scan from "../../src/graph/primitives/scan.js";
import * as scatter from "../../src/graph/primitives/scatter.js";
import * as threefry from "../../src/graph/primitives/threefry.js";
import * as triangular from "../../src/graph/primitives/triangular.js";
import * as whileLoop from "../../src/graph/primitives/while.js";

const files: readonly object[] = [
  ...[
    bundle,
    checkpoint,
    choice,
    scan,
    whileLoop,
    cumulate,
    dot,
    elementwise,
    leaf,
    movement,
    order,
    polygamma,
    scatter,
    threefry,
    lu,
    triangular,
  ],
  reducePrimitives,
];

const isPrimitive = (value: unknown): value is Primitive =>
  typeof value === "object" && value !== null && "infer" in value;

const primitives = new Set(files.flatMap((file) => Object.values(file)).filter(isPrimitive));

test("no two primitives have one name: nodes that compute the same are found by it", () => {
  assert.ok(primitives.size > 100, `only ${primitives.size} primitives were found`);
  const names = [...primitives].map(({ name }) => name);
  const repeated = names.filter((name, i) => names.indexOf(name) !== i);
  assert.deepEqual(repeated, []);
});
