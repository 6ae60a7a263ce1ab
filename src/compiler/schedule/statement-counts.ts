/**
 * The length of an operation's code in statements of the loop-nest language: an addition is one, a sine of f64 several
 * hundred. The scheduler limits kernels by it, because drivers take time that grows at least linearly with it.
 */
import type { DType } from "../../core/dtype.js";
import type { Node } from "../../graph/node.js";
import type { ElementwisePrimitive } from "../../graph/primitive.js";
import { computeType, elementOps, inBranch } from "../elements/elements.js";
import { KernelBuilder } from "../ir/kernel-builder.js";

type Lengths = WeakMap<ElementwisePrimitive, Map<string, number>>;
const [whole, usual]: readonly Lengths[] = [new WeakMap(), new WeakMap()];

/** Statements that compute an element of a node from those of its inputs: of one that is not elementwise, about one. */
export const statementsOf = (node: Node): number => lengthIn(whole, node, inBranch);

/** The same without rare corrections, which are jumped over. */
export const usualStatementsOf = (node: Node): number => lengthIn(usual, node, () => (_, value) => value);

function lengthIn(known: Lengths, { primitive, inputs, params, dtype }: Node, corrected: typeof inBranch): number {
  if (primitive.kind !== "elementwise") return 1;
  let lengths = known.get(primitive);
  if (!lengths) {
    lengths = new Map<string, number>();
    known.set(primitive, lengths);
  }
  // Most operations stay in one dtype. Its name alone is then the key, which no text has to be made for.
  const isAlike = inputs.every((input) => input.dtype === dtype);
  const key = isAlike ? dtype : `${inputs.map((input) => input.dtype)} ${dtype}`;
  const length =
    lengths.get(key) ??
    written(
      primitive,
      inputs.map((input) => input.dtype),
      params,
      dtype,
      corrected,
    );
  lengths.set(key, length);
  return length;
}

/** Lowers the operation, for a device whose division needs correction, and counts the statements. */
function written(
  primitive: ElementwisePrimitive,
  dtypes: readonly DType[],
  params: Node["params"],
  dtype: DType,
  corrected: typeof inBranch,
): number {
  const k = new KernelBuilder(primitive.name, 1);
  const operands = dtypes.map((each) => {
    const value = k.load(k.buffer(each, false), k.row, computeType(each));
    return { dtype: each, value };
  });
  const { value } = primitive.lower(elementOps(k, { division: "corrected" }, corrected(k)), operands, params, dtype);
  k.store(k.buffer(dtype, true), k.row, value);
  const loadsAndStore = dtypes.length + 1;
  return Math.max(1, k.finish().size - loadsAndStore);
}
