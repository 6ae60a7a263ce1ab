/** Searches by a product of matrices against plain loops: the product proposes, and must not decide. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, random, type Tensor, vmap, where } from "../../../src/index.js";
import { nearestNeighbors } from "../../../src/learn/index.js";
import { describeOnTensorDevices, devicesWithDoubles } from "../../support/tensors.js";

/** Enough work for the product. */
const [SAMPLES, FEATURES, QUERIES] = [2048, 16, 640];
/** Samples in one place are more than the candidates that the product proposes. */
const TOGETHER = 32;

/** The five nearest of the first queries, the first of equals first; without the query itself where queries are the samples. */
function nearestByLoops(samples: Tensor, queries: Tensor, isSelf: boolean): number[][] {
  const [rows, asked] = [samples.arraySync() as number[][], queries.at(":40").arraySync() as number[][]];
  return asked.map((query, own) => {
    const squares = rows.map((row) => row.reduce((sum, value, c) => sum + (value - query[c]!) ** 2, 0));
    const others = [...squares.keys()].filter((place) => !(isSelf && place === own));
    return others.sort((a, b) => squares[a]! - squares[b]! || a - b).slice(0, 5);
  });
}

/** Samples for which the product knows enough, and samples for which it does not. */
function samplesOf(dtype: "f32" | "f64"): Record<string, Tensor> {
  const x = random.normal(random.key(6), [SAMPLES, FEATURES], { dtype }) as Tensor;
  const crowded = x.at(`:${SAMPLES / TOGETHER}`).repeat(TOGETHER, { axis: 0 }) as Tensor;
  const isLast = x.equal(x.at("-1:"));
  const sets = {
    "as they come": x,
    "one far away": where(isLast, 1e6, x) as Tensor,
    "many in one place": crowded,
    "far from the origin": x.add(1000) as Tensor,
  };
  if (dtype === "f32") return sets;
  const little = random.normal(random.key(8), [SAMPLES, FEATURES], { dtype }).mul(1e-9);
  return {
    ...sets,
    "nearer to each other than f32 can tell": crowded.add(little) as Tensor,
    "squares above f32": x.mul(1e25) as Tensor,
    "squares below f32": x.mul(1e-22) as Tensor,
  };
}

describeOnTensorDevices("searches by a product", (device) => {
  for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
    for (const [name, samples] of Object.entries(samplesOf(dtype))) {
      test(`${dtype}, ${name}: the neighbours that plain loops find`, async () => {
        const model = await nearestNeighbors({ nNeighbors: 5 }).fit(samples);
        // Between two samples, nearer to one of them.
        const [near, other] = [samples.at(`:${QUERIES}`), samples.at(`${SAMPLES - QUERIES}:`)];
        const queries = near.mul(0.7).add(other.mul(0.3)) as Tensor;
        const { indices } = model.kNeighbors(queries);
        assert.deepEqual(await indices.at(":40").array(), nearestByLoops(samples, queries, false));
        if (name.startsWith("squares")) return;
        const own = model.kNeighbors().indices;
        assert.deepEqual(await own.at(":40").array(), nearestByLoops(samples, samples, true));
      });
    }
  }
});

test("searches by a product are one function: jit finds the same, and distances have their slopes", async () => {
  const device = "cpu";
  const samples = random.normal(random.key(6, { device }), [SAMPLES, FEATURES]) as Tensor;
  const queries = random.normal(random.key(7, { device }), [QUERIES, FEATURES]) as Tensor;
  const model = await nearestNeighbors({ nNeighbors: 3 }).fit(samples);
  const { indices, distances } = model.kNeighbors(queries);
  const compiled = jit((x: Tensor) => model.kNeighbors(x).indices);
  assert.deepEqual(await compiled(queries).array(), await indices.array());
  const mapped = vmap((x: Tensor) => model.kNeighbors(x).indices)(queries.reshape(2, QUERIES / 2, FEATURES) as Tensor);
  assert.deepEqual(await mapped.reshape(QUERIES, 3).array(), await indices.array());
  const slopes = grad((x: Tensor) => model.kNeighbors(x).distances.sum())(queries);
  // The slope of a distance is the direction from the sample to the query.
  const away = queries
    .expandDims(1)
    .sub(samples.take(indices, { axis: 0 }))
    .div(distances.expandDims(2))
    .sum({ axis: 1 });
  const error = Number(await slopes.sub(away).abs().max().item());
  assert.ok(error < 1e-5, `slopes are off by ${error}`);
});
