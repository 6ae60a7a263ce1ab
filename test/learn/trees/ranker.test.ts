/** Boosting that ranks: gradients against plain loops over pairs, NDCG by hand, and rankings that get better. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../src/index.js";
import { histGradientBoostingRanker, pipeline, ridge, standardScaler } from "../../../src/learn/index.js";
import { lambdaLoss } from "../../../src/learn/trees/lambda-loss.js";
import { queryMatrix, queryOfSamples } from "../../../src/learn/trees/queries.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

/** Queries of 1 to 9 documents, whose samples stand in any order; relevances 0 … 4 by the first two features. */
function made(count: number) {
  const groups = Array.from(
    { length: count },
    (_, i) => `q${Math.floor(((i * 7919) % count) / (1 + ((i * 7919) % 9)))}`,
  );
  const x = groups.map((_, i) => [Math.sin(i * 3.7), Math.cos(i * 2.3), Math.sin(i * 11.1)]);
  const y = x.map(([a, b], i) => Math.max(0, Math.min(4, Math.round(2 + 2 * a! + b! + 0.5 * Math.sin(i * 5.9)))));
  return { x, y, groups };
}

const log2 = (value: number): number => Math.log(value) / Math.LN2;

/** Members of each query in the order of scores; the first of equal ones is first. */
function ranked(groups: readonly string[], scores: readonly number[]): number[][] {
  const queries = [...new Set(groups)].map((name) => groups.flatMap((group, i) => (group === name ? [i] : [])));
  return queries.map((rows) => rows.sort((a, b) => scores[b]! - scores[a]! || a - b));
}

const gainIn = (order: readonly number[], y: readonly number[], most: number): number =>
  order.slice(0, most).reduce((sum, row, rank) => sum + (2 ** y[row]! - 1) / log2(rank + 2), 0);

function plainNdcg(groups: readonly string[], scores: readonly number[], y: readonly number[], most: number): number {
  const best = ranked(groups, y).map((order) => gainIn(order, y, most));
  const found = ranked(groups, scores).map((order) => gainIn(order, y, most));
  return found.reduce((sum, gain, q) => sum + (best[q]! > 0 ? gain / best[q]! : 1), 0) / best.length;
}

/** Gradients and hessians by a loop over all pairs. */
function plainLambdas(groups: readonly string[], scores: readonly number[], y: readonly number[], most: number) {
  const [gradient, hessian] = [new Array<number>(y.length).fill(0), new Array<number>(y.length).fill(0)];
  const best = ranked(groups, y).map((order) => gainIn(order, y, most));
  ranked(groups, scores).forEach((order, q) => {
    for (let i = 0; i < Math.min(order.length, most); i++) {
      for (let j = i + 1; j < order.length; j++) {
        if (y[order[i]!] === y[order[j]!]) continue;
        const [high, low] = y[order[i]!]! > y[order[j]!]! ? [order[i]!, order[j]!] : [order[j]!, order[i]!];
        const gap = Math.abs(1 / log2(i + 2) - 1 / log2(j + 2));
        const change = ((2 ** y[high]! - 2 ** y[low]!) * gap) / best[q]!;
        const chance = 1 / (1 + Math.exp(scores[high]! - scores[low]!));
        gradient[high]! -= change * chance;
        gradient[low]! += change * chance;
        for (const row of [high, low]) hessian[row]! += change * chance * (1 - chance);
      }
    }
  });
  return { gradient, hessian };
}

const near = (got: readonly number[], want: readonly number[], within: number): void => {
  assert.equal(got.length, want.length);
  for (const [i, value] of got.entries())
    assert.ok(Math.abs(value - want[i]!) <= within, `${i}: ${value}, not ${want[i]}`);
};

describeOnTensorDevices("ranking", (device) => {
  test("gradients, hessians and the loss are those of loops over pairs", () => {
    const { y, groups } = made(60);
    const scores = y.map((_, i) => Math.fround(Math.sin(i * 1.3)));
    // Equal scores have ranks by place.
    scores[1] = scores[0]!;
    const queries = queryOfSamples("test", groups, groups.length);
    for (const most of [2, 30]) {
      const loss = lambdaLoss(queryMatrix(queries, device), most);
      const aim = { y: tensor(y, { device, dtype: "f32" }) as Tensor, weights: null };
      const raw = tensor([scores], { device, dtype: "f32" }) as Tensor;
      const wanted = plainLambdas(groups, scores, y, most);
      near(numbersOf(loss.gradient(aim, raw)), wanted.gradient, 1e-5);
      near(numbersOf(loss.hessian(aim, raw) as Tensor), wanted.hessian, 1e-5);
      const lost = numbersOf(loss.pointwise(aim, raw).mean() as Tensor)[0]!;
      assert.ok(Math.abs(lost - (1 - plainNdcg(groups, scores, y, most))) < 1e-5);
    }
  });
});

const options = { maxIter: 25, minSamplesLeaf: 5, maxLeafNodes: 8 };
const device = "cpu";

test("NDCG rises with the rounds, is that of a plain loop, and beats an order by chance", async () => {
  const { x, y, groups } = made(400);
  const few = await histGradientBoostingRanker({ ...options, maxIter: 1 }).fit(x, y, { groups, device });
  const many = await histGradientBoostingRanker(options).fit(x, y, { groups, device });
  const [one, all] = [await few.score(x, y, groups).item(), await many.score(x, y, groups).item()];
  const chance = plainNdcg(
    groups,
    x.map(([, , c]) => c!),
    y,
    30,
  );
  assert.ok(chance + 0.05 < one && one < all && all > 0.95, `${chance}, ${one}, ${all}`);
  const scores = numbersOf(many.predict(x));
  assert.ok(Math.abs(plainNdcg(groups, scores, y, 30) - all) < 1e-5);
  const { values, baseValue } = await many.shapValues(x);
  near(numbersOf(values.sum({ axis: 1 }).add(baseValue) as Tensor), scores, 1e-4);
});

test("samples of a query need not stand together, and what other queries are called does not matter", async () => {
  const { x, y, groups } = made(200);
  const order = groups
    .map((_, i) => i)
    .sort((a, b) => (groups[a]! < groups[b]! ? -1 : groups[a]! > groups[b]! ? 1 : a - b));
  const model = await histGradientBoostingRanker(options).fit(x, y, { groups, device });
  const sorted = await histGradientBoostingRanker(options).fit(
    order.map((i) => x[i]!),
    order.map((i) => y[i]!),
    { groups: order.map((i) => groups[i]!), device },
  );
  near(numbersOf(sorted.predict(x)), numbersOf(model.predict(x)), 1e-3);
  const alone = await histGradientBoostingRanker(options).fit(x, y, { device });
  assert.notDeepEqual(numbersOf(alone.predict(x)), numbersOf(model.predict(x)));
});

test("early stopping holds back whole queries", async () => {
  const { x, y, groups } = made(300);
  const stopping = { ...options, earlyStopping: true, nIterNoChange: 3, validationFraction: 0.3, maxIter: 200 };
  const model = await histGradientBoostingRanker(stopping).fit(x, y, { groups, device });
  const losses = numbersOf(model.learned.validationLoss!);
  assert.ok(losses.length < 201 && Math.min(...losses) < losses[0]!);
});

test("wrong options, groups and relevances are refused by name", async () => {
  assert.throws(
    () => histGradientBoostingRanker({ truncationLevel: 0 }),
    /truncationLevel is a whole number from 1 on/,
  );
  const fit = async (y: number[], groups: unknown) =>
    histGradientBoostingRanker().fit([[1], [2], [3]], y, { groups: groups as number[], device });
  await assert.rejects(fit([1, 0, 2], [1, 1]), /3 samples and 2 groups/);
  await assert.rejects(fit([1, 0, 2], 5), /groups are a list/);
  await assert.rejects(fit([1, -1, 2], [1, 1, 1]), /a relevance is -1/);
  const regression = async () => ridge().fit([[1], [2]], [1, 2], { groups: [1, 1], device });
  await assert.rejects(regression, /ridge takes no groups; rankings do/);
});

test("in a pipeline groups go to the ranker", async () => {
  const { x, y, groups } = made(100);
  const model = await pipeline(standardScaler(), histGradientBoostingRanker(options)).fit(x, y, { groups, device });
  const plain = await histGradientBoostingRanker(options).fit(x, y, { groups, device });
  near(numbersOf(model.predict(x)), numbersOf(plain.predict(x)), 1e-3);
  const one = await pipeline(standardScaler(), histGradientBoostingRanker(options)).fit(x, y, { device });
  assert.notDeepEqual(numbersOf(one.predict(x)), numbersOf(model.predict(x)));
});
