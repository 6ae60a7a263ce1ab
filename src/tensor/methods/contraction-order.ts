/** The order in which `einsum` contracts its operands, two at a time, so that the multiplications are few. */
import type { Label } from "./subscripts.js";

/** An operand by number, or two expressions to contract. */
export type Order = number | readonly [Order, Order];

/** Up to this many operands every order is tried; with more, the cheapest next pair is taken. */
const MAX_WEIGHED = 8;

/** The operands of an expression. */
export const operandsOf = (order: Order): number[] =>
  typeof order === "number" ? [order] : [...operandsOf(order[0]), ...operandsOf(order[1])];

/** The order of contractions with few multiplications. */
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

/** The best of all orders, by dynamic programming over sets of operands. */
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
