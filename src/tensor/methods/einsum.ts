/**
 * Einstein summation: a product of any number of tensors, described by a letter per axis. Letters that the result does
 * not name are summed over. Operands are contracted in pairs, in the order that takes the fewest multiplications.
 *
 * A letter that one operand alone has and the result has not is a lone axis. Its sum may overflow where the sum of products
 * does not. So it is taken after the product where that costs no more multiplications than there are elements, and elsewhere
 * with a scale (early-sum.ts).
 */
import { checkString } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import { contractNodes, diagonalNode, sumNode } from "../../graph/contraction.js";
import type { Node } from "../../graph/node.js";
import { broadcastNode, castNode, checkOneDevice, commonDType, permuteNode, reshapeNode } from "../build.js";
import type { OneOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { checkTensors } from "../tensor-checks.js";
import { contractionOrder, type Order, operandsOf } from "./contraction-order.js";
import { earlySum, scaledUp } from "./early-sum.js";
import { type Label, labelSizes, parseSubscripts } from "./subscripts.js";

interface Term {
  readonly node: Node;
  readonly labels: readonly Label[];
  /** Factors that the result is multiplied by, for sums that were scaled down. */
  readonly factors: readonly Tensor[];
}

type IsKept = (label: Label) => boolean;
/** Sums the labels that are not kept, before a product. */
type SumEarly = (term: Term, isKept: IsKept) => Term;

/**
 * `einsum("bik,bkj->bij", a, b)`. Without an arrow the result has, in alphabetical order, the letters that occur once. A
 * letter that an operand names twice takes its diagonal; `...` stands for further axes, which broadcast.
 */
export function einsum<D extends DType>(subscripts: string, ...tensors: readonly Tensor<D>[]): Tensor<OneOf<D>> {
  checkString("einsum", 'the first argument, which names the axes as in "ij,jk->ik",', subscripts);
  if (tensors.length > 0) checkTensors("einsum", tensors);
  const { inputs, output } = parseSubscripts(
    subscripts,
    tensors.map(({ rank }) => rank),
  );
  checkOneDevice(
    "einsum",
    tensors.map(({ node }) => node),
  );
  const dtype = commonDType(
    "einsum",
    tensors.map(({ node }) => node),
  );
  const sizes = labelSizes(subscripts, inputs, tensors);
  const terms = tensors.map(({ node }, i) =>
    prepare({ node: castNode(node, dtype), labels: inputs[i], factors: [] }, sizes),
  );
  const tensorOf = (node: Node) => tensors[0].tensorOf(node) as Tensor;
  const sumEarly: SumEarly = (term, isKept) => {
    const { node, factor } = earlySum(term.node, lostAxes(term, isKept), tensorOf);
    return { node, labels: term.labels.filter(isKept), factors: factor ? [...term.factors, factor] : term.factors };
  };
  const isKept = (label: Label, others: readonly (readonly Label[])[]) =>
    output.includes(label) || others.some((labels) => labels.includes(label));
  const others = (i: number) => terms.filter((_, j) => j !== i).map(({ labels }) => labels);
  // The order is that of the axes which are not lone.
  const all = terms.map(({ labels }, i) => labels.filter((label) => isKept(label, others(i))));
  const evaluate = (order: Order, outside: readonly (readonly Label[])[]): Term => {
    if (typeof order === "number") return terms[order];
    const [left, right] = order;
    const of = (side: Order) => operandsOf(side).map((i) => all[i]);
    const a = evaluate(left, [...outside, ...of(right)]);
    const b = evaluate(right, [...outside, ...of(left)]);
    return contractPair(a, b, (label) => isKept(label, outside), sumEarly);
  };
  const whole = evaluate(contractionOrder(all, output, sizes), []);
  const { node, labels, factors } = sumOut(whole, (label) => output.includes(label));
  // An ellipsis axis that every operand has with size 1 was squeezed away in all of them and comes back here.
  const ordered = permuteNode(
    node,
    output.filter((label) => labels.includes(label)).map((label) => labels.indexOf(label)),
  );
  const shape = output.map((label) => sizes.get(label) as number);
  const aligned = reshapeNode(
    ordered,
    output.map((label, i) => (labels.includes(label) ? shape[i] : 1)),
  );
  return tensors[0].tensorOf(scaledUp(tensorOf(broadcastNode(aligned, shape)), factors).node);
}

// ------------------------------------------------------------------------------------------------ one operand

/** Takes diagonals of repeated labels and drops axes that stretch. */
function prepare(term: Term, sizes: ReadonlyMap<Label, number>): Term {
  let { node, labels } = term;
  for (let twin = repeated(labels); twin; twin = repeated(labels)) {
    node = diagonalNode(node, ...twin);
    const [first, second] = twin;
    labels = [...labels.filter((_, axis) => axis !== first && axis !== second), labels[first]];
  }
  const stretches = (axis: number) => node.shape[axis] === 1 && sizes.get(labels[axis]) !== 1;
  const unstretched = labels.filter((_, axis) => !stretches(axis));
  return {
    node: reshapeNode(
      node,
      node.shape.filter((_, axis) => !stretches(axis)),
    ),
    labels: unstretched,
    factors: term.factors,
  };
}

function repeated(labels: readonly Label[]): [number, number] | null {
  const second = labels.findIndex((label, axis) => labels.indexOf(label) !== axis);
  return second < 0 ? null : [labels.indexOf(labels[second]), second];
}

/** The axes whose labels are not kept. */
const lostAxes = ({ labels }: Term, isKept: IsKept): number[] =>
  labels.flatMap((label, axis) => (isKept(label) ? [] : [axis]));

function sumOut(term: Term, isKept: IsKept): Term {
  const { node, labels, factors } = term;
  return { node: sumNode(node, lostAxes(term, isKept)), labels: labels.filter(isKept), factors };
}

// ------------------------------------------------------------------------------------------------ pairs

function contractPair(given: Term, other: Term, isKept: IsKept, sumEarly: SumEarly): Term {
  const [a, b] = withFewerLoneAxes(given, other, isKept, sumEarly);
  const shared = a.labels.filter((label) => b.labels.includes(label));
  const batch = shared.filter(isKept);
  const contract = shared.filter((label) => !isKept(label));
  const axesOf = (wanted: readonly Label[]) =>
    [wanted.map((label) => a.labels.indexOf(label)), wanted.map((label) => b.labels.indexOf(label))] as const;
  const alone = [...a.labels, ...b.labels].filter((label) => !shared.includes(label));
  const product: Term = {
    node: contractNodes(a.node, b.node, { contract: axesOf(contract), batch: axesOf(batch) }),
    labels: [...batch, ...alone],
    factors: [...a.factors, ...b.factors],
  };
  return sumOut(product, isKept);
}

/** Sums lone axes, but those of the larger term only if the other one has axes of its own, which would repeat its work. */
function withFewerLoneAxes(a: Term, b: Term, isKept: IsKept, sumEarly: SumEarly): [Term, Term] {
  const isLargerLeft = sizeOf(a.node.shape) >= sizeOf(b.node.shape);
  const [large, small] = isLargerLeft ? [a, b] : [b, a];
  const summed = sumEarly(small, (label) => isKept(label) || large.labels.includes(label));
  const isCovered = summed.labels.every((label, axis) => large.labels.includes(label) || summed.node.shape[axis] === 1);
  const reduced = isCovered ? large : sumEarly(large, (label) => isKept(label) || small.labels.includes(label));
  return isLargerLeft ? [reduced, summed] : [summed, reduced];
}
