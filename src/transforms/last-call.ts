/**
 * The form of the last call of a jitted function. A loop calls with the same form again and again: comparing with the last
 * call takes a tenth of the time of computing the key under which the program is kept.
 */
import type { DType } from "../core/dtype.js";
import { sameShape } from "../core/shape.js";
import { isAnyLeaf, type LeafTest, leavesLike, type TreeStructure } from "../core/tree.js";
import type { DeviceHandle } from "../graph/node.js";
import { Tensor } from "../tensor/index.js";

/** A leaf as the next call must have it: a tensor of this form, any number, or this very value. */
type Expected =
  | { readonly shape: readonly number[]; readonly dtype: DType; readonly device: DeviceHandle }
  | "number"
  | { readonly value: unknown };

export class LastCall {
  private readonly expected: readonly Expected[];

  /** The leaves themselves are not kept, so that tensors do not live longer. */
  constructor(
    private readonly structure: TreeStructure,
    leaves: readonly unknown[],
    private readonly fixed: readonly unknown[],
  ) {
    this.expected = leaves.map((leaf) => {
      if (typeof leaf === "number") return "number";
      if (!(leaf instanceof Tensor)) return { value: leaf };
      const { shape, dtype, device } = leaf.node;
      return { shape, dtype, device };
    });
  }

  /** Whether a later call can be compared: a tensor is needed to know the device, and objects may change inside. */
  get isComparable(): boolean {
    const isPlain = (value: unknown) => typeof value !== "object" || value === null;
    const isTensor = (leaf: Expected) => typeof leaf === "object" && "dtype" in leaf;
    const values = this.expected.flatMap((leaf) => (typeof leaf === "object" && "value" in leaf ? [leaf.value] : []));
    return this.expected.some(isTensor) && [...this.fixed, ...values].every(isPlain);
  }

  /** The leaves of a call of the same form, none of them part of a trace; null for any other call. */
  leavesOf(args: readonly unknown[], fixed: readonly unknown[]): readonly unknown[] | null {
    for (let i = 0; i < fixed.length; i++) if (!Object.is(fixed[i], this.fixed[i])) return null;
    const leaves = leavesLike(this.structure, args, isArgument);
    if (!leaves) return null;
    for (let i = 0; i < leaves.length; i++) if (!isAsExpected(leaves[i], this.expected[i])) return null;
    return leaves;
  }
}

const isArgument: LeafTest<unknown> = (value): value is unknown =>
  value instanceof Tensor || typeof value === "number" || isAnyLeaf(value);

function isAsExpected(leaf: unknown, expected: Expected): boolean {
  if (expected === "number") return typeof leaf === "number";
  if ("value" in expected) return Object.is(leaf, expected.value);
  if (!(leaf instanceof Tensor)) return false;
  const { shape, dtype, device, isAbstract, trace } = leaf.node;
  if (isAbstract || trace !== null || dtype !== expected.dtype || device !== expected.device) return false;
  return shape === expected.shape || sameShape(shape, expected.shape);
}
