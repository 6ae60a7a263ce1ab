/**
 * SHAP values of trees (Lundberg, Erion & Lee 2018), exact, with the samples of the fit as background: a feature that is not known goes
 * both ways, by the shares of samples.
 *
 * A leaf of value v, whose way asks features with shares z and which a sample's own features reach (o = 1) or not (o = 0), is the game
 * S → v ∏(j in S) oⱼ ∏(j not in S) zⱼ. Shapley's weights are integrals, k!(d-1-k)!/d! = ∫ tᵏ(1-t)ᵈ⁻¹⁻ᵏ dt, so that feature i has
 * v (oᵢ - zᵢ) ∫ ∏(j ≠ i) (zⱼ + t(oⱼ - zⱼ)) dt: a polynomial, which Gauss and Legendre's nodes integrate exactly. Factors are above
 * zero, hence one product over all features, divided by each. No recursion is left: samples, leaves and features are axes of tensors.
 */
import { gaussLegendre } from "../../core/quadrature.js";
import { concat, type Tensor, tensor, where, zeros } from "../../tensor/index.js";
import { withoutUnknown } from "./boosting-model.js";
import type { TreeTensors } from "./grown-tree.js";
import { type LeafPath, leafPaths } from "./leaf-paths.js";

/** What features add to predictions. */
export interface ShapValues {
  /** [samples, features], or [samples, features, outputs]. With `baseValue`, their sum over features is the prediction. */
  readonly values: Tensor;
  /** The mean prediction by the samples of the fit: a number, or one for each output. */
  readonly baseValue: Tensor;
}

/** Trees whose values are added, and what is added to them. */
interface Sum {
  readonly trees: TreeTensors;
  readonly baseline?: Tensor | null;
  readonly categories?: Tensor | null;
}

/** Leaves as matrices: values of paths for each output, f64. */
interface Leaves {
  readonly paths: readonly LeafPath[];
  readonly values: Float64Array;
  readonly outputs: number;
}

/** Lengths to which ways are filled up: a program for each. */
const lengthFor = (asked: number): number => (asked <= 8 ? (asked <= 4 ? 4 : 8) : 8 * Math.ceil(asked / 8));

/** Numbers of the largest tensor between. */
const MOST = 2 ** 22;

/** SHAP values of samples. With a baseline trees are added up, otherwise averaged. */
export async function shapValuesOf(
  { trees, baseline = null, categories = null }: Sum,
  given: Tensor,
): Promise<ShapValues> {
  const { dtype, device } = trees.threshold;
  const cast = given.cast(dtype) as Tensor;
  const x = (categories ? withoutUnknown(cast, categories) : cast).realize() as Tensor;
  const [samples, features] = x.shape as [number, number];
  const leaves = await leavesOfSum(trees, baseline);
  const { paths, outputs } = leaves;
  let sum = zeros([samples, features * outputs], { device, dtype }) as Tensor;
  const lengths = new Map<number, number[]>();
  paths.forEach(({ asked }, path) => {
    if (asked.length === 0) return;
    const length = lengthFor(asked.length);
    const list = lengths.get(length);
    if (list) list.push(path);
    else lengths.set(length, [path]);
  });
  for (const [length, list] of lengths) {
    const most = Math.max(1, Math.floor(Math.min(2 ** 12, MOST / (features * outputs)) / length));
    const together = Math.min(most, 2 ** Math.ceil(Math.log2(list.length)));
    for (let first = 0; first < list.length; first += together) {
      const part = pathTensors(leaves, list.slice(first, first + together), { together, length, features, like: x });
      sum = sum.add(addedBy(part, x)).realize() as Tensor;
    }
  }
  const base = await baseOf(leaves, baseline);
  const shape = outputs === 1 ? [samples, features] : [samples, features, outputs];
  return {
    values: sum.reshape(shape).realize() as Tensor,
    baseValue: tensor(base, { device, dtype, shape: outputs === 1 ? [] : [outputs] }) as Tensor,
  };
}

async function leavesOfSum(trees: TreeTensors, baseline: Tensor | null): Promise<Leaves> {
  const [count, nodes, width] = trees.value.shape as [number, number, number];
  // Weights of boosting's nodes are hessians.
  const paths = await leafPaths(trees, baseline ? trees.count : trees.weight);
  const read = (await trees.value.cast("f64").data()) as Float64Array;
  const outputs = baseline ? baseline.size : width;
  const values = new Float64Array(paths.length * outputs);
  paths.forEach(({ node }, path) => {
    if (baseline) {
      // Trees of a round stand in the order of outputs.
      values[path * outputs + (Math.floor(node / nodes) % outputs)] = read[node] as number;
      return;
    }
    for (let k = 0; k < outputs; k++) values[path * outputs + k] = (read[node * width + k] as number) / count;
  });
  return { paths, values, outputs };
}

/** The prediction when no feature is known. */
async function baseOf({ paths, values, outputs }: Leaves, baseline: Tensor | null): Promise<Float64Array> {
  const base = baseline
    ? Float64Array.from((await baseline.cast("f64").data()) as Float64Array)
    : new Float64Array(outputs);
  paths.forEach(({ asked }, path) => {
    const share = asked.reduce((product, each) => product * each.share, 1);
    for (let k = 0; k < outputs; k++) base[k] = (base[k] as number) + share * (values[path * outputs + k] as number);
  });
  return base;
}

interface PathTensors {
  /** [paths, asked] each; what ways lack is filled up with features that all samples pass. */
  readonly feature: Tensor;
  readonly share: Tensor;
  readonly low: Tensor;
  readonly high: Tensor;
  readonly takesMissing: Tensor;
  readonly hasSet: Tensor;
  /** u32 [paths · asked · 8]; null where no feature is categorical. */
  readonly sets: Tensor | null;
  /** Leaves' values at the columns of their features, [paths · asked, features · outputs]. */
  readonly values: Tensor;
}

interface Form {
  readonly together: number;
  readonly length: number;
  readonly features: number;
  readonly like: Tensor;
}

function pathTensors({ paths, values, outputs }: Leaves, part: readonly number[], form: Form): PathTensors {
  const { together, length, features, like } = form;
  const size = together * length;
  const columns = {
    feature: new Int32Array(size),
    share: new Float64Array(size).fill(1),
    low: new Float64Array(size).fill(Number.NEGATIVE_INFINITY),
    high: new Float64Array(size).fill(Number.POSITIVE_INFINITY),
    takesMissing: new Int32Array(size).fill(1),
    hasSet: new Int32Array(size),
  };
  const sets = paths.some(({ asked }) => asked.some(({ set }) => set !== null)) ? new Uint32Array(8 * size) : null;
  const at = new Float64Array(size * features * outputs);
  part.forEach((path, p) => {
    (paths[path] as LeafPath).asked.forEach((each, a) => {
      const slot = p * length + a;
      columns.feature[slot] = each.feature;
      columns.share[slot] = each.share;
      columns.low[slot] = each.low;
      columns.high[slot] = each.high;
      columns.takesMissing[slot] = Number(each.takesMissing);
      if (each.set) {
        columns.hasSet[slot] = 1;
        sets?.set(each.set, 8 * slot);
      }
      at.set(values.subarray(path * outputs, (path + 1) * outputs), (slot * features + each.feature) * outputs);
    });
  });
  const { device, dtype } = like;
  const of = (from: Int32Array | Float64Array): Tensor =>
    tensor(from, { device, dtype: from instanceof Int32Array ? "i32" : dtype, shape: [together, length] }) as Tensor;
  return {
    feature: of(columns.feature),
    share: of(columns.share),
    low: of(columns.low),
    high: of(columns.high),
    takesMissing: of(columns.takesMissing),
    hasSet: of(columns.hasSet),
    sets: sets && (tensor(sets, { device, dtype: "u32" }) as Tensor),
    values: tensor(at, { device, dtype, shape: [size, features * outputs] }) as Tensor,
  };
}

/** What some leaves add to the values of all samples, [samples, features · outputs]. Samples go in parts, of one size but for the last. */
function addedBy(part: PathTensors, x: Tensor): Tensor {
  const [paths, length] = part.share.shape as [number, number];
  const [samples] = x.shape as [number, number];
  const rows = Math.max(1, Math.floor(MOST / (paths * length)));
  if (samples <= rows) return addedToRows(part, x);
  const added: Tensor[] = [];
  for (let first = 0; first < samples; first += rows) {
    added.push(addedToRows(part, x.at(`${first}:${Math.min(samples, first + rows)}`).realize() as Tensor));
  }
  return concat(added, { axis: 0 }) as Tensor;
}

function addedToRows(part: PathTensors, x: Tensor): Tensor {
  const { share, values } = part;
  const [paths, length] = share.shape as [number, number];
  const samples = x.shape[0] as number;
  const { device, dtype } = x;
  // What knowing a feature changes, [samples, paths, asked].
  const change = reaches(part, x).cast(dtype).sub(share).realize() as Tensor;
  const { nodes, weights } = gaussLegendre(length / 2);
  const row = (list: readonly number[]): Tensor => tensor([...list], { device, dtype }) as Tensor;
  const factor = change
    .expandDims(3)
    .mul(row(nodes.map((node) => (1 + node) / 2)))
    .add(share.expandDims(2)) as Tensor;
  const product = factor
    .prod({ axis: 2, keepDims: true })
    .mul(row(weights.map((weight) => weight / 2)))
    .realize();
  const each = change.mul(product.div(factor).sum({ axis: 3 })) as Tensor;
  return each
    .reshape([samples, paths * length])
    .realize()
    .matmul(values)
    .realize() as Tensor;
}

/** Whether a sample's own value goes on, [samples, paths, asked]. */
function reaches({ feature, low, high, takesMissing, hasSet, sets }: PathTensors, x: Tensor): Tensor {
  const value = x.take(feature, { axis: 1 });
  const isWithin = value.greater(low).logicalAnd(value.lessEqual(high));
  const isKnownWithin = sets ? where(hasSet.notEqual(0), isInSet(sets, hasSet, value as Tensor), isWithin) : isWithin;
  return where(value.isNaN(), takesMissing.notEqual(0), isKnownWithin) as Tensor;
}

function isInSet(sets: Tensor, { shape, device }: Tensor, value: Tensor): Tensor {
  const [paths, length] = shape as [number, number];
  const first = tensor(
    Int32Array.from({ length: paths * length }, (_, slot) => 8 * slot),
    { device, shape: [paths, length] },
  );
  const code = where(value.isNaN(), 0, value).maximum(0).minimum(255).cast("i32");
  const word = sets.take(code.floorDivide(32).cast("i32").add(first));
  const powers = tensor(
    Uint32Array.from({ length: 32 }, (_, i) => 2 ** i),
    { device },
  );
  return word
    .floorDivide(powers.take(code.remainder(32).cast("i32")))
    .remainder(2)
    .equal(1) as Tensor;
}
