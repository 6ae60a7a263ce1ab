/**
 * UMAP: the parts that have one answer against plain computations (make-umap-cases.py), the rounds against their expectation, and whole
 * embeddings by their quality.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor } from "../../../src/index.js";
import {
  crossValidate,
  kNeighborsClassifier,
  trustworthiness,
  type UmapOptions,
  umap,
} from "../../../src/learn/index.js";
import { type EdgeRows, edgeRows } from "../../../src/learn/manifold/edge-rows.js";
import { membershipsOf, sharesOfUnion } from "../../../src/learn/manifold/fuzzy-graph.js";
import { neighborGraph } from "../../../src/learn/manifold/neighbor-graph.js";
import { spectralPlaces } from "../../../src/learn/manifold/spectral-places.js";
import { curveOf } from "../../../src/learn/manifold/umap-curve.js";
import { afterRounds, deckOf, pulls, pushes } from "../../../src/learn/manifold/umap-rounds.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { casesOf, digitLabels, digits, tsneCases } from "./cases.js";

type Matrix = number[][];
const { x, graphs, eigenvectors, apart, ofGroups, curves } = casesOf<{
  readonly x: Matrix;
  readonly graphs: readonly {
    readonly options: Required<Pick<UmapOptions, "nNeighbors" | "localConnectivity" | "setOpMixRatio">>;
    readonly memberships: Matrix;
    readonly weights: Matrix;
  }[];
  readonly eigenvectors: Matrix;
  readonly apart: Matrix;
  readonly ofGroups: readonly Matrix[];
  readonly curves: readonly {
    readonly minDist: number;
    readonly spread: number;
    readonly a: number;
    readonly b: number;
  }[];
}>("umap-cases.json");
const device = "cpu";

async function graphOf(samples: Tensor, nNeighbors: number, localConnectivity = 1, mix = 1) {
  const { distances, indices } = neighborGraph("test", samples, nNeighbors - 1, {});
  const memberships = membershipsOf(distances, nNeighbors, localConnectivity);
  return { memberships, edges: await edgeRows(indices, sharesOfUnion(memberships, indices, mix)) };
}

/** Rows of edges as a matrix of all pairs. */
function dense({ owners, others, weights }: EdgeRows, count: number): Matrix {
  const found = Array.from({ length: count }, () => new Array<number>(count).fill(0));
  const [own, other] = [numbersOf(owners), numbersOf(others)];
  numbersOf(weights).forEach((weight, e) => {
    found[own[Math.floor(e / (other.length / own.length))]!]![other[e]!]! += weight;
  });
  return found;
}

const columnOf = (matrix: Matrix, c: number): number[] => matrix.map((row) => row[c]!);

describeOnTensorDevices("UMAP", (device) => {
  for (const dtype of dtypesOf(device, true)) {
    const within = dtype === "f64" ? 1e-9 : 2e-5;
    test(`${dtype}: memberships and the weights of their union are those of plain computations`, async () => {
      for (const { options, memberships, weights } of device === "cpu" ? graphs : graphs.slice(0, 1)) {
        const { nNeighbors, localConnectivity, setOpMixRatio } = options;
        const found = await graphOf(of(x, dtype), nNeighbors, localConnectivity, setOpMixRatio);
        await closeTo(found.memberships, memberships, within, "memberships");
        const union = dense(found.edges, x.length);
        await closeTo(f64(union), weights, within, "weights");
        // Where a sample's own width decides, and not the least width, the sum is log2 of the neighbours.
        const sums = numbersOf(found.memberships.sum({ axis: 1 }));
        const isMet = sums.filter((sum) => Math.abs(sum - Math.log2(nNeighbors)) < 1e-4);
        assert.ok(isMet.length > 0.8 * x.length, `${isMet.length}`);
      }
    });

    test(`${dtype}: spectral places are eigenvectors of the graph's Laplacian`, async () => {
      const { edges } = await graphOf(of(x, dtype), 8);
      const places = (await (await spectralPlaces(edges, of(x, dtype), 3, 0)).array()) as Matrix;
      for (const c of [0, 1, 2]) {
        const [found, wanted] = [columnOf(places, c), columnOf(eigenvectors, c)];
        const sign = Math.sign(found.reduce((sum, v, i) => sum + v * wanted[i]!, 0));
        await closeTo(f64(found.map((v) => sign * v)), wanted, dtype === "f64" ? 1e-8 : 1e-3, `column ${c}`);
      }
    });
  }

  test("the same seed gives the same embedding, another one another", async () => {
    const fit = async (options: UmapOptions) =>
      numbersOf((await umap({ nNeighbors: 6, nEpochs: 20, ...options }).fit(of(x, "f32"))).learned.embedding);
    const places = await fit({});
    assert.deepEqual(await fit({}), places);
    assert.notDeepEqual(await fit({ seed: 1 }), places);
    assert.ok(places.every(Number.isFinite));
  });
});

test("parts that no edge connects have eigenvectors of their own, around the middles of their samples", async () => {
  const { edges } = await graphOf(f64(apart), 6);
  const places = (await (await spectralPlaces(edges, f64(apart), 2, 0)).array()) as Matrix;
  const groups = [places.slice(0, 15), places.slice(15)];
  groups.forEach((group, g) => {
    for (const c of [0, 1]) {
      const [found, wanted] = [columnOf(group, c), columnOf(ofGroups[g]!, c)];
      // A line through two of the places holds for all others.
      const [low, high] = [wanted.indexOf(Math.min(...wanted)), wanted.indexOf(Math.max(...wanted))];
      const slope = (found[high]! - found[low]!) / (wanted[high]! - wanted[low]!);
      assert.ok(Math.abs(slope) > 1e-3, `group ${g} has a width`);
      found.forEach((v, i) => {
        const line = found[low]! + slope * (wanted[i]! - wanted[low]!);
        assert.ok(Math.abs(v - line) < 1e-7 * Math.abs(slope), `group ${g}, column ${c}: ${v} and ${line}`);
      });
    }
  });
  const first = groups.map((group) => columnOf(group, 0));
  assert.ok(Math.max(...first[0]!) < Math.min(...first[1]!) || Math.min(...first[0]!) > Math.max(...first[1]!));
});

test("a and b are those of scipy's least squares", async () => {
  for (const { minDist, spread, a, b } of curves) {
    const found = await curveOf(minDist, spread);
    assert.ok(Math.abs(found.a - a) < 1e-5 * a && Math.abs(found.b - b) < 1e-5 * b, `${found.a} ${found.b}, ${a} ${b}`);
  }
});

test("pulls and pushes go down the cross entropy of belonging together", async () => {
  const [a, b] = [1.5769, 0.8951];
  const curve = { a: f64(a) as Tensor, b: f64(b) as Tensor };
  const near = ([u, v]: readonly number[]) => 1 / (1 + a * (u! * u! + v! * v!) ** b);
  for (const at of [
    [0.8, -0.6],
    [3, 2],
    [-7, 4],
  ]) {
    const slope = (f: (at: readonly number[]) => number, c: number): number => {
      const moved = (by: number) => f(at.map((v, i) => (i === c ? v + by : v)));
      return (moved(1e-5) - moved(-1e-5)) / 2e-5;
    };
    const differences = at.map((v) => f64([v]) as Tensor);
    for (const c of [0, 1]) {
      const pull = numbersOf(pulls(differences, curve)[c]!)[0]!;
      assert.ok(Math.abs(pull - slope((d) => Math.log(near(d)), c)) < 1e-8, `pull ${pull}`);
      // A distance of 0 is kept finite by a thousandth, which far pairs do not feel.
      const squares = at[0]! ** 2 + at[1]! ** 2;
      const push = numbersOf(pushes(differences, curve, 1)[c]!)[0]! * ((squares + 1e-3) / squares);
      assert.ok(Math.abs(push - slope((d) => Math.log(1 - near(d)), c)) < 1e-8, `push ${push}`);
    }
  }
  const [same, close] = [f64([0]) as Tensor, f64([1e-9]) as Tensor];
  assert.deepEqual(
    [pulls([same], curve), pushes([same], curve, 1)].map(([step]) => numbersOf(step!)[0]),
    [0, 0],
  );
  assert.ok(Math.abs(numbersOf(pushes([close], curve, 1e12)[0]!)[0]!) <= 4);
});

test("over many rounds samples move as the weights of their edges and equal shares of pushes say", async () => {
  // The first sample is a neighbour of all, so that its edges fill several rows.
  const count = 80;
  const indices = Array.from({ length: count }, (_, i) => [i === 0 ? 1 : 0, (i + 7) % count]);
  const weights = indices.map(([j], i) => [0.2 + 0.7 * Math.abs(Math.sin(i)), j === 0 ? 0.4 : 0.9]);
  const edges = await edgeRows(tensor(indices, { dtype: "i32", device }) as Tensor, f64(weights));
  const at = Array.from({ length: count }, (_, i) => [3 * Math.sin(2 * i), 2 * Math.cos(5 * i)]);
  const curve = { a: 1.5, b: 0.9 };
  const [rounds, epsilon, perEpoch, negatives] = [6000, 1e-9, 4, 3];
  const pace = { rounds: 1e9, perEpoch, rate: epsilon, negatives, repulsion: 1 };
  const tensors = { a: f64(curve.a) as Tensor, b: f64(curve.b) as Tensor };
  const key = random.key(3, { device });
  const zero = tensor(0, { dtype: "i32", device }) as Tensor;
  const moved = afterRounds(f64(at).T as Tensor, deckOf(edges), tensors, key, zero, rounds, pace);
  const steps = (await moved.T.sub(f64(at))
    .div(epsilon * rounds)
    .array()) as Matrix;
  const union = dense(edges, count);
  const force = (i: number, j: number, c: number, isPull: boolean): number => {
    const d = [0, 1].map((k) => at[i]![k]! - at[j]![k]!);
    const s = d[0]! ** 2 + d[1]! ** 2;
    if (s === 0) return 0;
    const power = curve.a * s ** curve.b;
    const factor = isPull ? (-2 * curve.b * power) / s / (1 + power) : (2 * curve.b) / ((s + 1e-3) * (1 + power));
    return Math.max(-4, Math.min(4, factor * d[c]!));
  };
  const moments = (values: readonly number[], shares: readonly number[]) => {
    const mean = values.reduce((sum, v, i) => sum + v * shares[i]!, 0);
    return { mean, variance: values.reduce((sum, v, i) => sum + shares[i]! * (v - mean) ** 2, 0) };
  };
  const all = Array.from({ length: count }, (_, j) => j);
  let worst = 0;
  for (const i of all) {
    const degree = union[i]!.reduce((sum, w) => sum + w, 0);
    for (const c of [0, 1]) {
      const pull = moments(
        all.map((j) => 2 * force(i, j, c, true)),
        union[i]!.map((w) => w / degree),
      );
      const push = moments(
        all.map((j) => force(i, j, c, false)),
        all.map(() => 1 / count),
      );
      const mean = (degree / perEpoch) * (pull.mean + negatives * push.mean);
      const deviation = (degree / perEpoch) * Math.sqrt((pull.variance + negatives * push.variance) / rounds);
      worst = Math.max(worst, Math.abs(steps[i]![c]! - mean) / deviation);
    }
  }
  assert.ok(worst < 4.5, `${worst} standard errors`);
});

test("digits: neighbours can be trusted as in t-SNE, labels lie together, and unseen digits find theirs", async () => {
  const [known, labels] = [digits(300), digitLabels(400)];
  const model = await umap({ nNeighbors: 10 }).fit(known, undefined, { device });
  const { embedding } = model.learned;
  const trusted = Number(await trustworthiness(known, embedding, { device }).item());
  assert.ok(trusted > tsneCases().quality.digits.trustworthiness - 0.02, `trustworthiness ${trusted}`);
  const { scores } = await crossValidate(kNeighborsClassifier(), embedding, labels.slice(0, 300), { splits: 3 });
  for (const score of scores.score!) assert.ok(score > 0.9, `${score}`);
  const reader = await kNeighborsClassifier().fit(embedding, labels.slice(0, 300));
  const unseen = model.transform(digits(400).slice(300));
  assert.ok((await reader.score(unseen, labels.slice(300))) > 0.85, `${await reader.score(unseen, labels.slice(300))}`);
  // A digit that is known comes to lie beside itself.
  const again = model.transform(known.slice(0, 50)).sub(embedding.at(":50")).square().sum({ axis: 1 }).sqrt();
  const width = Number(await embedding.variance({ axis: 0 }).sum().sqrt().item());
  assert.ok(numbersOf(again).sort((p, q) => p - q)[25]! < 0.1 * width, `${width}`);
});

test("first places of every kind; distances in place of samples; a watched fit tells of its epochs", async () => {
  const options = { nNeighbors: 5, nEpochs: 30 } as const;
  const start = x.map(([p, q]) => [p!, q!]);
  for (const init of ["spectral", "pca", "random", start] as const) {
    const { learned } = await umap({ ...options, init }).fit(x, undefined, { device });
    assert.ok(numbersOf(learned.embedding).every(Number.isFinite));
  }
  const untouched = await umap({ ...options, init: start, nEpochs: 0 }).fit(f64(x));
  assert.deepEqual(await untouched.learned.embedding.array(), start);
  const distances = f64(x).expandDims(1).sub(f64(x)).square().sum({ axis: 2 }).sqrt() as Tensor;
  // Rounds are chaotic: few of them keep differences in the last digits small.
  const few = { ...options, init: start, nEpochs: 1 };
  const byDistance = await umap({ ...few, metric: "precomputed" }).fit(distances);
  const plain = await umap(few).fit(f64(x));
  await closeTo(byDistance.learned.embedding, numbersOf(plain.learned.embedding), 1e-6, "places");
  assert.throws(() => byDistance.transform(distances), /knows distances alone/);
  const run = umap({ ...options, nEpochs: 50, nComponents: 3 }).fit(x, undefined, { device });
  const steps: number[] = [];
  for await (const { step } of run) steps.push(step);
  assert.deepEqual(steps, [20, 40, 50]);
  assert.deepEqual((await run).learned.embedding.shape, [40, 3]);
  assert.deepEqual((await run).featureNames(), ["umap0", "umap1", "umap2"]);
  const same = await umap({ nNeighbors: 3, nEpochs: 20 }).fit(Array(6).fill([1, 1]), undefined, { device });
  assert.ok(numbersOf(same.learned.embedding).every(Number.isFinite));
});

test("wrong options are named, with what they may be", async () => {
  await assert.rejects(umap().fit(x.slice(0, 9)), /umap\.fit: nNeighbors is 15; it is a whole number from 1 to 9 here/);
  await assert.rejects(umap({ init: [[1, 2]] }).fit(x), /init has the shape \[1, 2\]/);
  await assert.rejects(umap({ metric: "precomputed" }).fit(x), /precomputed distances are \[samples, samples\]/);
  assert.throws(() => umap({ nNeighbors: 1 }), /nNeighbors/);
  assert.throws(() => umap({ minDist: 2 }), /minDist is 2; it is a number, from 0 to 1/);
  assert.throws(() => umap({ setOpMixRatio: 1.5 }), /setOpMixRatio is 1.5; it is a number, from 0 to 1/);
  assert.throws(() => umap({ init: "best" as never }), /it is "spectral" or "pca" or "random"/);
  assert.throws(() => umap({ learningRate: 0 }), /learningRate is 0/);
  assert.throws(() => umap({ nEpochs: 1.5 }), /nEpochs/);
});
