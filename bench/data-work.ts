/**
 * Work of data processing as the rows measure it: random numbers, sorting and selecting, reductions along awkward axes,
 * dtypes other than f32, and whole expressions of several steps (cross-entropy with its gradient, nearest neighbours, forces
 * between bodies, k-means). Inputs and proofs as in bench/tensor-work.ts; the rows are in bench/rows/data.ts, the peers' side
 * in bench/peers/data.py.
 */
import { forLoop, jit, random, type Tensor, valueAndGrad, zeros } from "../src/index.js";
import {
  centred,
  centredAt,
  checkBySmaller,
  closenessIn,
  hashAt,
  positionAt,
  positions,
  total,
  uniform,
  uniformAt,
  type Work,
} from "./tensor-work.js";

// ---------------------------------------------------------------------------------------------- random numbers

/** Mean and spread of random numbers, judged at six standard errors. `kurtosis` is that of the distribution, 3 for a normal. */
const checkMoments =
  (mean: number, spread: number, kurtosis: number) =>
  async ([x]: readonly Tensor[]): Promise<void> => {
    const [seen, deviation] = [Number(await x!.mean().item()), Number(await x!.std().item())];
    const margin = (6 * spread) / Math.sqrt(x!.size);
    // Sums of f32 are good to a few parts in a million whatever their number.
    const isRight =
      Math.abs(seen - mean) < margin + 1e-5 * spread &&
      Math.abs(deviation - spread) < (margin * Math.sqrt(kurtosis - 1)) / 2 + 1e-5 * spread;
    if (!isRight) throw new Error(`Mean ${seen} and spread ${deviation}; ${mean} and ${spread} are right.`);
  };

/** The same numbers as JAX's. */
export function normals(device: string, length: number): Work {
  const key = random.key(0, { device });
  return { inputs: [key], compute: () => random.normal(key, [length]), check: checkMoments(0, 1, 3) };
}

const GAMMA_SHAPE = 2.5;

export function gammas(device: string, length: number): Work {
  const key = random.key(0, { device });
  return {
    inputs: [key],
    compute: () => random.gamma(key, GAMMA_SHAPE, [length]),
    check: checkMoments(GAMMA_SHAPE, Math.sqrt(GAMMA_SHAPE), 3 + 6 / GAMMA_SHAPE),
    isComparable: false,
  };
}

// ---------------------------------------------------------------------------------------------- order

/** Positions that sort 24-bit numbers with many ties: the earlier of two equal ones comes first. */
export function argsort(device: string, length: number): Work {
  const x = uniform(device, [length], 0);
  let counts: Uint32Array | undefined;
  return {
    inputs: [x],
    compute: () => x.argsort(),
    expected(rank) {
      if (!counts) {
        counts = new Uint32Array(2 ** 24);
        for (let k = 0; k < length; k++) counts[hashAt(k, 0)]!++;
      }
      let [value, before] = [0, 0];
      while (before + counts[value]! <= rank) before += counts[value++]!;
      for (let k = 0; ; k++) if (hashAt(k, 0) === value && before++ === rank) return k;
    },
  };
}

const sortedRow = (row: number, columns: number): Float64Array =>
  Float64Array.from({ length: columns }, (_, k) => uniformAt(row * columns + k, 0)).sort();

/** A square whose rows are looked at one by one. `pick` says which of a row's elements, in order, comes at which place. */
function ofRows(
  device: string,
  edge: number,
  compute: (x: Tensor) => Tensor | readonly Tensor[],
  perRow: number,
  pick: (sorted: Float64Array, place: number) => number,
): Work {
  const x = uniform(device, [edge, edge], 0);
  return {
    inputs: [x],
    compute: () => compute(x),
    expected: (i) => pick(sortedRow(Math.floor(i / perRow), edge), i % perRow),
  };
}

export const sortRows = (device: string, edge: number): Work =>
  ofRows(
    device,
    edge,
    (x) => x.sort(),
    edge,
    (sorted, place) => sorted[place]!,
  );

/** The values; where they are is computed too, and not compared: of equal ones either may be named. */
export const topRows = (device: string, edge: number, k: number): Work => {
  const largest = jit((x: Tensor) => x.topK(k));
  const work = ofRows(
    device,
    edge,
    (x) => {
      const { values, indices } = largest(x);
      return [values, indices];
    },
    k,
    (sorted, place) => sorted[edge - 1 - place]!,
  );
  return {
    ...work,
    // The element at the position named has the value.
    expected(i, result) {
      const value = sortedRow(Math.floor(i / k), edge)[edge - 1 - (i % k)]!;
      if (result === 0) return value;
      const start = Math.floor(i / k) * edge;
      for (let place = 0; ; place++) if (uniformAt(start + place, 0) === value) return place;
    },
  };
};

export const medianRows = (device: string, edge: number): Work => ({
  ...ofRows(
    device,
    edge,
    (x) => x.median({ axis: 1 }),
    1,
    (sorted) => (sorted[edge / 2 - 1]! + sorted[edge / 2]!) / 2,
  ),
  // PyTorch's median is the lower of the two in the middle.
  closeness: { relative: 4 / edge, floor: 1 },
});

// ---------------------------------------------------------------------------------------------- axes

type Cube = readonly [number, number, number];

export function cumsumMiddle(device: string, shape: Cube): Work {
  const [, middle, last] = shape;
  const x = uniform(device, shape, 0);
  return {
    inputs: [x],
    compute: () => x.cumsum({ axis: 1 }),
    expected(i) {
      const place = Math.floor(i / last) % middle;
      return total(place + 1, (k) => uniformAt(i - k * last, 0));
    },
  };
}

export function stdFirst(device: string, shape: Cube): Work {
  const [first, middle, last] = shape;
  const x = uniform(device, shape, 0);
  return {
    inputs: [x],
    compute: () => x.std({ axis: 0 }),
    expected(i) {
      const at = (k: number) => uniformAt(i + k * middle * last, 0);
      const mean = total(first, at) / first;
      return Math.sqrt(total(first, (k) => (at(k) - mean) ** 2) / first);
    },
  };
}

export function permuted(device: string, shape: Cube): Work {
  const [first, middle, last] = shape;
  const x = uniform(device, shape, 0);
  return {
    inputs: [x],
    compute: () => x.permute(2, 0, 1),
    expected(i) {
      const [b, a, c] = [i % middle, Math.floor(i / middle) % first, Math.floor(i / (middle * first))];
      return uniformAt((a * middle + b) * last + c, 0);
    },
  };
}

// ---------------------------------------------------------------------------------------------- element by element

/** x·½(1 + erf(x/√2)) in bf16, of numbers up to 4 on both sides. */
export function gelu(device: string, rows: number, columns: number): Work {
  const x = centred(device, [rows, columns], 0, "bf16").mul(4).realize();
  return {
    inputs: [x],
    closeness: closenessIn("bf16", 1),
    compute: () => x.mul(x.div(Math.SQRT2).erf().add(1).mul(0.5)),
    expected(i) {
      const value = 4 * centredAt(i, 0, "bf16");
      return value * 0.5 * (1 + erf(value / Math.SQRT2));
    },
  };
}

/** The series of erf, good to 1e-10 up to 4. */
export function erf(x: number): number {
  let [term, sum] = [x, x];
  for (let n = 1; n < 80; n++) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

/** tanh(x·y + 1)·sigmoid(x) in f64. */
export function wideChain(device: string, length: number): Work {
  const inputs = [0, 1].map((seed) => centred(device, [length], seed, "f64"));
  const [x, y] = inputs as [Tensor, Tensor];
  return {
    inputs,
    compute: () => x.mul(y).add(1).tanh().mul(x.sigmoid()),
    expected(i) {
      const [u, v] = [centredAt(i, 0), centredAt(i, 1)];
      return Math.tanh(u * v + 1) / (1 + Math.exp(-u));
    },
  };
}

// ---------------------------------------------------------------------------------------------- expressions of several steps

/** The mean of -log p of the right class, and its gradient by the logits. */
export function crossEntropy(device: string, rows: number, classes: number): Work {
  const logits = centred(device, [rows, classes], 0);
  const labels = positions(device, rows, classes, 1);
  const loss = (logits: Tensor, labels: Tensor): Tensor =>
    logits
      .logsumexp({ axis: -1 })
      .sub(logits.mul(labels.oneHot(classes)).sum({ axis: -1 }))
      .mean();
  const step = jit(valueAndGrad(loss));
  const sumOfPowers = (row: number): number => total(classes, (k) => Math.exp(centredAt(row * classes + k, 0)));
  return {
    inputs: [logits, labels],
    // A thousandth of a gradient, which is one of a row's shares.
    closeness: { relative: 1e-3, floor: 1 / (rows * classes) },
    compute: () => step(logits, labels),
    expected(i, result) {
      const row = Math.floor(i / classes);
      if (result === 1) {
        const share = Math.exp(centredAt(i, 0)) / sumOfPowers(row);
        return (share - (positionAt(row, classes, 1) === i % classes ? 1 : 0)) / rows;
      }
      // Some rows' sums are near enough to the mean of all: sums of so many terms are nearly equal.
      const step = Math.max(1, Math.floor(rows / 64));
      const count = Math.ceil(rows / step);
      const powers = total(count, (k) => Math.log(sumOfPowers(k * step))) / count;
      return powers - total(rows, (r) => centredAt(r * classes + positionAt(r, classes, 1), 0)) / rows;
    },
  };
}

/** Squared distances to the k nearest of many points, and which they are. */
export function nearest(device: string, queries: number, points: number, width: number, k: number): Work {
  const q = uniform(device, [queries, width], 0);
  const x = uniform(device, [points, width], 1);
  const search = jit((q: Tensor, x: Tensor) => {
    const products = q.matmul(x.T).mul(-2);
    const distances = products.add(q.square().sum({ axis: 1, keepDims: true })).add(x.square().sum({ axis: 1 }));
    return distances.topK(k, { largest: false });
  });
  const distanceOf = (query: number, point: number): number =>
    total(width, (j) => (uniformAt(query * width + j, 0) - uniformAt(point * width + j, 1)) ** 2);
  return {
    inputs: [q, x],
    compute: () => {
      const { values, indices } = search(q, x);
      return [values, indices];
    },
    expected(i, result) {
      const all = Float64Array.from({ length: points }, (_, point) => distanceOf(Math.floor(i / k), point));
      const distance = all.toSorted()[i % k]!;
      return result === 0 ? distance : all.indexOf(distance);
    },
  };
}

const SOFTENING = 0.01;

/** The force on each body: Σ m·d / (d² + ε)^1.5 over all bodies, as one expression of [bodies, bodies, 3]. */
export function bodies(device: string, count: number): Work {
  const places = uniform(device, [count, 3], 0);
  const masses = uniform(device, [count], 1);
  return {
    inputs: [places, masses],
    // Pulls from all sides add up to a few.
    closeness: { relative: 1e-3, floor: Math.sqrt(count) },
    compute: () => {
      const apart = places.expandDims(0).sub(places.expandDims(1));
      const near = apart.square().sum({ axis: -1 }).add(SOFTENING).rsqrt();
      const pull = masses.mul(near).mul(near).mul(near);
      return apart.mul(pull.expandDims(-1)).sum({ axis: 1 });
    },
    expected(i) {
      const [axis, body] = [i % 3, Math.floor(i / 3)];
      return total(count, (other) => {
        const apart = [0, 1, 2].map((a) => uniformAt(other * 3 + a, 0) - uniformAt(body * 3 + a, 0));
        const near = apart.reduce((sum, each) => sum + each * each, SOFTENING) ** -1.5;
        return uniformAt(other, 1) * apart[axis]! * near;
      });
    },
  };
}

/** Means of clusters after some rounds of k-means (Lloyd 1982), which starts from the first points. */
export function kMeans(device: string, points: number, width: number, clusters: number, rounds: number): Work {
  const x = uniform(device, [points, width], 0);
  const fit = jit((x: Tensor) => forLoop(0, rounds, (_, means: Tensor) => newMeans(x, means), x.at(`0:${clusters}`)));
  return {
    inputs: [x],
    // A point on a border falls to either side; its weight among a cluster's is small.
    closeness: { relative: 1e-2, floor: 1 },
    compute: () => fit(x),
    check: points > FEW ? checkBySmaller(device, fewMeans(device, width, clusters)) : undefined,
  };
}

function newMeans(x: Tensor, means: Tensor): Tensor {
  const [clusters, width] = means.shape as [number, number];
  const { device } = x;
  const distances = means.square().sum({ axis: 1 }).sub(x.matmul(means.T).mul(2));
  const labels = distances.argmin({ axis: 1 });
  const sums = zeros([clusters, width], { device }).addAt(labels, x);
  const counts = zeros([clusters], { device }).addAt(labels, 1);
  return sums.div(counts.maximum(1).expandDims(1));
}

const FEW = 2000;
const FEW_ROUNDS = 3;

/** Means of clusters of few points after few rounds, by plain loops. */
export function plainMeans(points: number, width: number, clusters: number, rounds: number): number[][] {
  const at = (point: number, j: number): number => uniformAt(point * width + j, 0);
  let means = Array.from({ length: clusters }, (_, c) => Array.from({ length: width }, (_, j) => at(c, j)));
  const distance = (point: number, mean: readonly number[]): number =>
    total(width, (j) => (at(point, j) - mean[j]!) ** 2);
  for (let round = 0; round < rounds; round++) {
    const members: number[][] = means.map(() => []);
    for (let point = 0; point < points; point++) {
      const distances = means.map((mean) => distance(point, mean));
      members[distances.indexOf(Math.min(...distances))]!.push(point);
    }
    means = members.map((those) =>
      Array.from({ length: width }, (_, j) => total(those.length, (k) => at(those[k]!, j)) / Math.max(1, those.length)),
    );
  }
  return means;
}

function fewMeans(device: string, width: number, clusters: number): Work {
  const means = plainMeans(FEW, width, clusters, FEW_ROUNDS);
  return {
    ...kMeans(device, FEW, width, clusters, FEW_ROUNDS),
    expected: (i) => means[Math.floor(i / width)]![i % width]!,
  };
}
