/**
 * Einstein summation: a product of any number of tensors, described by a letter per axis. Letters that the result does
 * not name are summed over. Operands are contracted in pairs, in the order that takes the fewest multiplications.
 */
import { checkString } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { contractNodes, diagonalNode, sumNode } from "../../graph/contraction.js";
import type { Node } from "../../graph/node.js";
import { broadcastNode, castNode, checkOneDevice, commonDType, permuteNode, reshapeNode } from "../build.js";
import type { OneOf } from "../creation.js";
import { checkTensors, Tensor } from "../tensor.js";

/** An axis by name: a letter, or for axes under an ellipsis their distance from the end, as ".0". */
type Label = string;

interface Term {
  readonly node: Node;
  readonly labels: readonly Label[];
}

/** An operand by number, or two expressions to contract. */
type Order = number | readonly [Order, Order];

/** Operands up to which every order is weighed; beyond, the cheapest next pair is taken. */
const MAX_WEIGHED = 8;

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
  const terms = tensors.map(({ node }, i) => prepare({ node: castNode(node, dtype), labels: inputs[i] }, sizes));
  const isKept = (label: Label, others: readonly (readonly Label[])[]) =>
    output.includes(label) || others.some((labels) => labels.includes(label));
  const others = (i: number) => terms.filter((_, j) => j !== i).map(({ labels }) => labels);
  const reduced = terms.map((term, i) => sumOut(term, (label) => isKept(label, others(i))));
  const all = reduced.map(({ labels }) => labels);
  const evaluate = (order: Order, outside: readonly (readonly Label[])[]): Term => {
    if (typeof order === "number") return reduced[order];
    const [left, right] = order;
    const of = (side: Order) => operandsOf(side).map((i) => all[i]);
    const a = evaluate(left, [...outside, ...of(right)]);
    const b = evaluate(right, [...outside, ...of(left)]);
    return contractPair(a, b, (label) => isKept(label, outside));
  };
  const { node, labels } = evaluate(contractionOrder(all, output, sizes), []);
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
  return new Tensor(broadcastNode(aligned, shape));
}

const operandsOf = (order: Order): number[] =>
  typeof order === "number" ? [order] : [...operandsOf(order[0]), ...operandsOf(order[1])];

// ------------------------------------------------------------------------------------------------ reading

/** The labels of each operand and of the result. `ranks` says how many axes an ellipsis stands for. */
export function parseSubscripts(
  subscripts: string,
  ranks: readonly number[],
): { inputs: readonly (readonly Label[])[]; output: readonly Label[] } {
  const fail = (why: string): never => {
    throw new ArgumentError(`einsum "${subscripts}": ${why}`);
  };
  const text = subscripts.replaceAll(" ", "");
  const [left, right, ...more] = text.split("->");
  if (more.length > 0) fail("there is more than one ->.");
  const parts = left.split(",");
  if (ranks.length === 0) fail("there is no operand.");
  if (parts.length !== ranks.length) {
    fail(`it describes ${parts.length} operands, and ${ranks.length} are given; separate operands by commas.`);
  }
  const lettersOf = (part: string): { before: Label[]; after: Label[] | null } => {
    const [before, after, ...extra] = part.split("...");
    if (extra.length > 0) fail(`"${part}" has more than one ellipsis.`);
    const strange = [...before, ...(after ?? "")].find((letter) => !/[A-Za-z]/.test(letter));
    if (strange) fail(`"${strange}" in "${part}" is no letter; axes are named a to z and A to Z.`);
    return { before: [...before], after: after === undefined ? null : [...after] };
  };
  const ellipsis = (count: number): Label[] => Array.from({ length: count }, (_, i) => `.${count - 1 - i}`);
  let widest = 0;
  const inputs = parts.map((part, i) => {
    const { before, after } = lettersOf(part);
    const rest = ranks[i] - before.length - (after?.length ?? 0);
    if (rest < 0 || (rest > 0 && after === null)) {
      fail(
        `"${part}" names ${before.length + (after?.length ?? 0)} axes of operand ${i + 1}, which has ${ranks[i]}` +
          `${rest > 0 ? '; add "..." for the rest' : ""}.`,
      );
    }
    if (after === null) return before;
    widest = Math.max(widest, rest);
    return [...before, ...ellipsis(rest), ...after];
  });
  if (right === undefined) {
    const counts = new Map<Label, number>();
    for (const label of inputs.flat()) counts.set(label, (counts.get(label) ?? 0) + 1);
    const once = [...counts].filter(([label, count]) => count === 1 && !label.startsWith(".")).map(([label]) => label);
    return { inputs, output: [...ellipsis(widest), ...once.sort()] };
  }
  const { before, after } = lettersOf(right);
  if (after === null && widest > 0) fail('axes under "..." cannot be summed over; write "..." in the result too.');
  const output = [...before, ...(after === null ? [] : ellipsis(widest)), ...(after ?? [])];
  for (const [i, label] of output.entries()) {
    if (output.indexOf(label) !== i)
      fail(`the result names "${label}" twice; take the diagonal of an operand instead.`);
    if (!label.startsWith(".") && !inputs.some((labels) => labels.includes(label))) {
      fail(`the result names "${label}", which no operand has.`);
    }
  }
  return { inputs, output };
}

/** The extent behind each label. An extent of 1 stretches to what another operand has there. */
function labelSizes(
  subscripts: string,
  inputs: readonly (readonly Label[])[],
  tensors: readonly Tensor[],
): Map<Label, number> {
  const sizes = new Map<Label, number>();
  for (const [i, labels] of inputs.entries()) {
    const { shape } = tensors[i];
    for (const [axis, label] of labels.entries()) {
      const twin = labels.indexOf(label);
      const known = sizes.get(label) ?? 1;
      const fits = shape[axis] === known || shape[axis] === 1 || known === 1;
      if (!fits || shape[axis] !== shape[twin]) {
        const name = label.startsWith(".") ? "an axis of the ellipsis" : `"${label}"`;
        throw new ShapeError(
          `einsum "${subscripts}": ${name} is ${fits ? shape[twin] : known} and ${shape[axis]}; ` +
            `the operands have the shapes ${tensors.map((tensor) => formatShape(tensor.shape)).join(", ")}.`,
        );
      }
      if (known === 1) sizes.set(label, shape[axis]);
    }
  }
  return sizes;
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
  const kept = labels.filter((_, axis) => !stretches(axis));
  return {
    node: reshapeNode(
      node,
      node.shape.filter((_, axis) => !stretches(axis)),
    ),
    labels: kept,
  };
}

function repeated(labels: readonly Label[]): [number, number] | null {
  const second = labels.findIndex((label, axis) => labels.indexOf(label) !== axis);
  return second < 0 ? null : [labels.indexOf(labels[second]), second];
}

function sumOut({ node, labels }: Term, isKept: (label: Label) => boolean): Term {
  const axes = labels.flatMap((label, axis) => (isKept(label) ? [] : [axis]));
  return { node: sumNode(node, axes), labels: labels.filter(isKept) };
}

// ------------------------------------------------------------------------------------------------ pairs

function contractPair(a: Term, b: Term, isKept: (label: Label) => boolean): Term {
  const shared = a.labels.filter((label) => b.labels.includes(label));
  const batch = shared.filter(isKept);
  const contract = shared.filter((label) => !isKept(label));
  const axesOf = (wanted: readonly Label[]) =>
    [wanted.map((label) => a.labels.indexOf(label)), wanted.map((label) => b.labels.indexOf(label))] as const;
  const alone = [...a.labels, ...b.labels].filter((label) => !shared.includes(label));
  return {
    node: contractNodes(a.node, b.node, { contract: axesOf(contract), batch: axesOf(batch) }),
    labels: [...batch, ...alone],
  };
}

/** Which operands to contract first, so that the multiplications are few. */
export function contractionOrder(
  inputs: readonly (readonly Label[])[],
  output: readonly Label[],
  sizes: ReadonlyMap<Label, number>,
): Order {
  return inputs.length <= MAX_WEIGHED ? bestOrder(inputs, output, sizes) : greedyOrder(inputs, output, sizes);
}

const work = (labels: Iterable<Label>, sizes: ReadonlyMap<Label, number>): number => {
  let product = 1;
  for (const label of new Set(labels)) product *= Math.max(1, sizes.get(label) ?? 1);
  return product;
};

/** The best of all orders, by way of the best for every set of operands. */
function bestOrder(
  inputs: readonly (readonly Label[])[],
  output: readonly Label[],
  sizes: ReadonlyMap<Label, number>,
): Order {
  const everything = (1 << inputs.length) - 1;
  const members = (set: number) => inputs.filter((_, i) => set & (1 << i)).flat();
  const labelsOf = (set: number): Label[] => {
    const outside = new Set([...members(everything & ~set), ...output]);
    return [...new Set(members(set))].filter((label) => outside.has(label));
  };
  const best: { order: Order; cost: number; labels: readonly Label[] }[] = [];
  for (let set = 1; set <= everything; set++) {
    const labels = labelsOf(set);
    const single = Math.log2(set);
    best[set] = { order: single, cost: Number.isInteger(single) ? 0 : Number.POSITIVE_INFINITY, labels };
    for (let part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
      const [a, b] = [best[part], best[set ^ part]];
      const cost = a.cost + b.cost + work([...a.labels, ...b.labels], sizes);
      if (cost < best[set].cost) best[set] = { order: [b.order, a.order], cost, labels };
    }
  }
  return best[everything].order;
}

function greedyOrder(
  inputs: readonly (readonly Label[])[],
  output: readonly Label[],
  sizes: ReadonlyMap<Label, number>,
): Order {
  let terms: { order: Order; labels: readonly Label[] }[] = inputs.map((labels, order) => ({ order, labels }));
  while (terms.length > 1) {
    let [left, right, least] = [0, 1, Number.POSITIVE_INFINITY];
    for (let i = 0; i < terms.length; i++) {
      for (let j = i + 1; j < terms.length; j++) {
        const cost = work([...terms[i].labels, ...terms[j].labels], sizes);
        if (cost < least) [left, right, least] = [i, j, cost];
      }
    }
    const [a, b] = [terms[left], terms[right]];
    const rest = terms.filter((_, i) => i !== left && i !== right);
    const outside = new Set([...rest.flatMap(({ labels }) => labels), ...output]);
    const labels = [...new Set([...a.labels, ...b.labels])].filter((label) => outside.has(label));
    terms = [...rest, { order: [a.order, b.order], labels }];
  }
  return terms[0].order;
}
