/**
 * Methods of `Tensor` that treat the elements as sets: membership, and the operations on sets with NumPy's names. All but
 * `isin` have results whose shape depends on values; they wait for the device. A NaN is in no set, not even in its own.
 */
import { checkOptions, inOperation, type Values } from "../../core/arguments.js";
import { type DType, isComplex, isFloat, type Scalar } from "../../core/dtype.js";
import { resultType } from "../../core/promotion.js";
import { backendOf, checkOneDevice } from "../build.js";
import { flattenNested, valuesNode } from "../given-values.js";
import type { Meeting, MeetingOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { isTensor } from "../tensor-checks.js";
import { concat } from "./joining.js";
import { scalarLike } from "./operands.js";
import type { Unique } from "./uniqueness.js";
import { uniqueOf } from "./uniqueness.js";

/** Elements to compare with: a tensor, or values as they are written, in lists to any depth. */
export type Members = Tensor | Values<Scalar>;
/** The dtype of the elements of two sets. */
export type Joined<D extends DType, M> = M extends Tensor<infer E> ? MeetingOf<D, E> : Meeting<D, number>;

export class SetMethods<D extends DType> {
  /** Whether each element is among some values: `x.isin([1, 2])`; with `invert`, whether it is not. */
  isin(this: Tensor, values: Members, options: { readonly invert?: boolean } = {}): Tensor<"bool"> {
    checkOptions("isin", options, { invert: "flag" });
    const found = inOperation("isin", () => isAmong(this, membersFor("isin", this, values)));
    return options.invert ? found.logicalNot() : found;
  }

  /** The distinct elements of both, rising. */
  union1d<M extends Members>(this: Tensor, other: M): Tensor<Joined<D, M>> {
    return inOperation("union1d", () => {
      const both = concat([this.flatten(), membersFor("union1d", this, other).flatten()]);
      return distinct(both);
    }) as Tensor<Joined<D, M>>;
  }

  /** The distinct elements that both have, rising. */
  intersect1d<M extends Members>(this: Tensor, other: M): Tensor<Joined<D, M>> {
    const [a, b] = sets("intersect1d", this, other);
    return a.at(isAmong(a, b)) as Tensor<Joined<D, M>>;
  }

  /** The distinct elements that the other does not have, rising. */
  setdiff1d(this: Tensor, other: Members): Tensor<D> {
    const [a, b] = sets("setdiff1d", this, other);
    return a.at(isAmong(a, b).logicalNot()).cast(this.dtype) as Tensor<D>;
  }

  /** The distinct elements that one of both has, rising. */
  setxor1d<M extends Members>(this: Tensor, other: M): Tensor<Joined<D, M>> {
    const [a, b] = sets("setxor1d", this, other);
    const apart = [a.at(isAmong(a, b).logicalNot()), b.at(isAmong(b, a).logicalNot())];
    return inOperation("setxor1d", () => sortedSet(concat(apart))) as Tensor<Joined<D, M>>;
  }

  /** The array API's `unique_all`: as `unique`, but every NaN is distinct. Waits for the device. */
  uniqueAll(this: Tensor): Unique<D> {
    return uniqueOf("uniqueAll", this as Tensor<D>, { equalNaN: false }) as Unique<D>;
  }

  /** The distinct elements and how often each occurs; every NaN is distinct. Waits for the device. */
  uniqueCounts(this: Tensor): Pick<Unique<D>, "values" | "counts"> {
    const { values, counts } = uniqueOf("uniqueCounts", this as Tensor<D>, { equalNaN: false }) as Unique<D>;
    return { values, counts };
  }

  /** The distinct elements, and which of them each element is; every NaN is distinct. Waits for the device. */
  uniqueInverse(this: Tensor): Pick<Unique<D>, "values" | "inverse"> {
    const { values, inverse } = uniqueOf("uniqueInverse", this as Tensor<D>, { equalNaN: false }) as Unique<D>;
    return { values, inverse };
  }

  /** The distinct elements, rising; every NaN is distinct. Waits for the device. */
  uniqueValues(this: Tensor): Tensor<D> {
    return uniqueOf("uniqueValues", this as Tensor<D>, { equalNaN: false }).values;
  }
}

/** Values to compare with x, as a tensor on its device. Plain numbers get the dtype that they and x promote to. */
function membersFor(operation: string, x: Tensor, given: Members): Tensor {
  if (isTensor(given)) {
    checkOneDevice(operation, [x.node, given.node]);
    return given;
  }
  const device = backendOf(x.node);
  if (ArrayBuffer.isView(given)) return inOperation(operation, () => x.tensorOf(valuesNode(device, given, {})));
  const { values, shape } = flattenNested(given, operation);
  const dtype = resultType([x.dtype, ...values], operation);
  return x.tensorOf(valuesNode(device, values, { dtype, shape }));
}

/** Two sets in one dtype, each once and rising. */
function sets(operation: string, x: Tensor, other: Members): [Tensor, Tensor] {
  return inOperation(operation, () => {
    const members = membersFor(operation, x, other);
    const dtype = resultType([x.dtype, members.dtype], operation);
    return [distinct(x.cast(dtype)), distinct(members.cast(dtype))];
  });
}

const distinct = (x: Tensor): Tensor => x.unique({ inverse: false, counts: false }).values;

/** Complex numbers have no `sort`; the order of distinct ones is that of `unique`. */
const sortedSet = (x: Tensor): Tensor => (isComplex(x.dtype) ? x.unique({ equalNaN: false }).values : x.sort());

/** Sorted values hold an element when more of them are up to it than below it. */
function isAmong(given: Tensor, members: Tensor): Tensor<"bool"> {
  const dtype = resultType([given.dtype, members.dtype], "isin");
  const [x, values] = [given.cast(dtype), members.cast(dtype).flatten()];
  if (values.size === 0 || x.size === 0) return scalarLike(x, false, "bool").broadcastTo(x.shape) as Tensor<"bool">;
  if (isComplex(dtype)) return x.expandDims(-1).equal(values).any({ axis: -1 });
  const sorted = values.sort();
  const line = x.flatten();
  const found = sorted.searchSorted(line, { side: "right" }).greater(sorted.searchSorted(line));
  const isMember = isFloat(dtype) ? found.logicalAnd(line.equal(line)) : found;
  return isMember.reshape(x.shape) as Tensor<"bool">;
}
