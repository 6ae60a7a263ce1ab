/**
 * Gradient boosting on histograms: the loop over trees that its regressor, classifier and ranker share. Each round takes the gradients of
 * the loss at the predictions so far, grows a tree on them (grow.ts) and adds its leaves' values, scaled by the learning rate. The loop
 * reads the best splits of each level, so it is work that yields its progress, and no function that traces.
 */
import { nodesOf, stack, type Tensor, tensor, zeros } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import type { FitProgress } from "../core/estimator.js";
import type { Features } from "../core/samples.js";
import { binsOf, codesOf } from "./bins.js";
import { type BoostingOptions, limitsOf } from "./boosting-options.js";
import { featureRules } from "./feature-rules.js";
import { type Grown, grower } from "./grow.js";
import { predictionsOf, type TreeNode, type TreeTensors, treeTensors } from "./grown-tree.js";
import { heldBack } from "./held-back.js";
import { type Aim, type Gradients, gradientsOf, type Loss, meanLoss } from "./losses.js";

/** What boosting learns. */
export interface BoostingLearned {
  /** The prediction before the first tree, [outputs]. */
  readonly baseline: Tensor;
  /** Trees in the order of rounds, those of a round in the order of outputs. */
  readonly trees: TreeTensors;
  /** The number of rounds. */
  readonly iterations: Tensor;
  /** The loss before and after each round, on the training and on the held back samples; null without early stopping. */
  readonly trainLoss: Tensor | null;
  readonly validationLoss: Tensor | null;
  /** Known categories as bits, u32 [features, 8]; null where no feature is categorical. */
  readonly categories: Tensor | null;
  readonly [name: string]: Tensor | TreeTensors | null;
}

/** Samples, targets and weights of a fit. */
interface BoostingData {
  readonly kind: string;
  readonly x: Tensor;
  readonly y: Tensor;
  readonly weights: Tensor | null;
  readonly signal: AbortSignal | undefined;
  readonly features: Features;
  /** Labels, so that held back samples have them in equal shares. */
  readonly labels: Tensor | null;
  /** The query of each sample, which are held back as a whole. */
  readonly groups?: Int32Array;
}

/** Learns trees. `lossOf` makes the loss of some of the samples: a ranking needs to know which. */
export async function* boost(
  data: BoostingData,
  lossOf: (rows: Tensor | null) => Loss | Promise<Loss>,
  options: BoostingOptions,
): AsyncGenerator<FitProgress, BoostingLearned> {
  const { maxIter = 100, learningRate = 0.1, maxBins = 255, earlyStopping = "auto", seed = 0 } = options;
  const { validationFraction = 0.1, nIterNoChange = 10, tol = 1e-7 } = options;
  const { kind, x } = data;
  const [samples] = x.shape as [number, number];
  const { device, dtype } = x;
  const operation = `${kind}.fit`;
  const rules = featureRules(operation, data.features, options);
  const { isCategorical } = rules;
  const stops = earlyStopping === "auto" ? samples > 10_000 : earlyStopping;
  const held = stops && validationFraction !== null ? await heldBack(data, validationFraction, seed) : null;
  const train = held ? partOf(data, held.train) : data;
  const test = held ? partOf(data, held.test) : null;
  const loss = await lossOf(held?.train ?? null);
  const testLoss = held ? await lossOf(held.test) : null;

  const bins = await binsOf(operation, train.x, { maxBins, isCategorical, seed });
  const limits = limitsOf(options, rules);
  const codes = codesOf(bins, train.x);
  const grow = grower({ codes, bins, isPrecise: dtype === "f64" }, limits);
  const baseline = loss.baseline(train).realize() as Tensor;
  const spread = (count: number): Tensor =>
    baseline
      .broadcastTo([loss.outputs, count])
      .add(zeros([1, count], { device, dtype }))
      .realize() as Tensor;
  const programs = roundPrograms(loss);
  const aim = { y: train.y, weights: train.weights };
  let raw = spread(codes.shape[1] as number);
  let gradients = programs.first(aim, raw);
  let testRaw = test ? spread(test.x.shape[0] as number) : null;
  const trees: TreeNode[][] = [];
  const losses: { train: number[]; test: number[] } = { train: [], test: [] };
  const measure = async (): Promise<boolean> => {
    losses.train.push(Number(await meanLoss(loss, train, raw).item()));
    if (testLoss && test && testRaw) losses.test.push(Number(await meanLoss(testLoss, test, testRaw).item()));
    return hasStalled(test ? losses.test : losses.train, nIterNoChange, tol);
  };
  if (stops) await measure();
  for (let step = 1; step <= maxIter; step++) {
    data.signal?.throwIfAborted();
    const added: Added[] = [];
    const testRows: Tensor[] = [];
    for (const [output, own] of gradients.entries()) {
      const grown = await grow(own);
      await settleLeaves(grown, loss, train, raw.at(output) as Tensor, learningRate);
      trees.push(grown.nodes);
      added.push(addedBy(grown, device, dtype));
      if (test && testRaw) {
        const nodes = 2 * (limits.maxLeafNodes ?? (grown.nodes.length + 1) / 2) - 1;
        const tree = treeTensors([grown.nodes], { device, dtype, nodes, hasCategories: isCategorical.includes(true) });
        testRows.push(testRaw.at(output).add(predictionsOf(tree, test.x).flatten()) as Tensor);
      }
    }
    const spent = [raw, ...gradients.flatMap(tensorsOf), ...added.flatMap(({ values, rows }) => [values, rows])];
    ({ raw, gradients } = programs.next(aim, raw, added));
    // Arrays of all samples, every round anew: they do not wait for the collector.
    for (const tensor of spent) tensor.dispose();
    if (test) testRaw = stack(testRows, { axis: 0 }).realize() as Tensor;
    const isDone = stops && (await measure());
    yield { step, steps: maxIter };
    if (isDone) break;
  }
  return {
    baseline: baseline.flatten() as Tensor,
    trees: treeTensors(trees, { device, dtype, hasCategories: isCategorical.includes(true) }),
    iterations: tensor(trees.length / loss.outputs, { device, dtype: "i32" }) as Tensor,
    trainLoss: stops ? (tensor(losses.train, { device, dtype }) as Tensor) : null,
    validationLoss: test ? (tensor(losses.test, { device, dtype }) as Tensor) : null,
    categories: isCategorical.includes(true) ? knownCategories(bins.thresholds, isCategorical, device) : null,
  };
}

const tensorsOf = ({ gradients, hessians, largest }: Gradients): Tensor[] => [
  gradients,
  ...(hessians ? [hessians] : []),
  largest,
];

/** What a tree adds to predictions: by node, and where the samples stand that it grew on. */
interface Added {
  readonly values: Tensor;
  readonly rows: Tensor;
}

function addedBy({ nodes, rows, leafOfNode }: Grown, device: string, dtype: Tensor["dtype"]): Added {
  const values = Float64Array.from(leafOfNode, (leaf) => nodes[leaf]?.value[0] as number);
  return { values: tensor(values, { device, dtype }) as Tensor, rows };
}

/** Gradients of the first round; and predictions with what a round has added, and the gradients there: one program for every round. */
function roundPrograms(loss: Loss) {
  return {
    first: jit((aim: Aim, raw: Tensor) => gradientsOf(loss, aim, raw)),
    next: jit((aim: Aim, before: Tensor, added: readonly Added[]) => {
      const samples = before.shape[1] as number;
      const rows = added.map(({ values, rows }, output) => before.at(output).add(values.take(nodesOf(rows, samples))));
      const raw = stack(rows, { axis: 0 }) as Tensor;
      return { raw, gradients: gradientsOf(loss, aim, raw) };
    }),
  };
}

/** The final values of leaves: scaled by the learning rate; quantiles of what is left of the targets where the loss says so. */
async function settleLeaves(
  { nodes, rows, leafOfNode }: Grown,
  { leafQuantile }: Loss,
  { y, weights }: BoostingData,
  raw: Tensor,
  learningRate: number,
): Promise<void> {
  const leaves = nodes.flatMap((node, number) => (node.left < 0 ? [number] : []));
  if (leafQuantile !== null) {
    const place = new Map(leaves.map((number, at) => [number, at]));
    const placeOfNode = Int32Array.from(leafOfNode, (leaf) => place.get(leaf) ?? 0);
    const leafOfRow = tensor(placeOfNode, { device: y.device }).take(nodesOf(rows, y.size)) as Tensor;
    const counts = leaves.map((number) => nodes[number]?.count as number);
    const found = await leafQuantiles(y.sub(raw) as Tensor, weights, leafOfRow, counts, leafQuantile);
    leaves.forEach((number, at) => {
      const node = nodes[number];
      if (node) node.value = [found[at] as number];
    });
  }
  for (const number of leaves) {
    const node = nodes[number];
    if (node) node.value = [(node.value[0] as number) * learningRate];
  }
}

/** Sorts samples by leaf and by what is left, whose quantiles then lie at known places. */
async function leafQuantiles(
  rest: Tensor,
  weights: Tensor | null,
  leafOfRow: Tensor,
  counts: readonly number[],
  share: number,
): Promise<ArrayLike<number>> {
  const { device } = rest;
  const byRest = rest.argsort();
  const order = byRest.take(leafOfRow.take(byRest).argsort()).realize() as Tensor;
  const sorted = rest.take(order);
  let start = 0;
  const starts = counts.map((count) => {
    start += count;
    return start - count;
  });
  const integers = (values: readonly number[]): Tensor => tensor(Int32Array.from(values), { device }) as Tensor;
  if (!weights) {
    const places = counts.map((count, leaf) => (starts[leaf] as number) + share * (count - 1));
    const [low, high] = [Math.floor, Math.ceil].map((round) => sorted.take(integers(places.map(round)))) as [
      Tensor,
      Tensor,
    ];
    const between = tensor(
      places.map((place) => place - Math.floor(place)),
      { device, dtype: rest.dtype },
    );
    return (await low.add(high.sub(low).mul(between)).cast("f64").data()) as Float64Array;
  }
  // The first sample of the leaf whose weights, with all before it, reach the share.
  const running = weights.take(order).cumsum();
  const [from, to] = [starts, starts.map((first, leaf) => first + (counts[leaf] as number) - 1)];
  const before = running.take(integers(from)).sub(weights.take(order).take(integers(from)));
  const wanted = before.add(running.take(integers(to)).sub(before).mul(share));
  const place = running.searchSorted(wanted).maximum(integers(from)).minimum(integers(to));
  return (await sorted.take(place).cast("f64").data()) as Float64Array;
}

/** Whether none of the last losses is better than the one before them, by more than `tol`. */
function hasStalled(losses: readonly number[], rounds: number, tol: number): boolean {
  if (losses.length < rounds + 1) return false;
  const reference = (losses.at(-rounds - 1) as number) - tol;
  return losses.slice(-rounds).every((loss) => loss >= reference);
}

function partOf(data: BoostingData, rows: Tensor): BoostingData {
  const taken = (values: Tensor): Tensor => values.take(rows, { axis: 0 }).realize() as Tensor;
  const { x, y, weights, labels } = data;
  return { ...data, x: taken(x), y: taken(y), weights: weights && taken(weights), labels: labels && taken(labels) };
}

function knownCategories(values: readonly Float64Array[], isCategorical: readonly boolean[], device: string): Tensor {
  const bits = new Uint32Array(values.length * 8);
  values.forEach((list, feature) => {
    if (!isCategorical[feature]) return;
    for (const category of list) {
      const at = feature * 8 + (category >> 5);
      bits[at] = (bits[at] as number) | (1 << (category & 31));
    }
  });
  return tensor(bits, { device, dtype: "u32", shape: [values.length, 8] }) as Tensor;
}
