/**
 * Methods of `Tensor` as functions: `sub(1, x)`, `sum(x, { axis: 0 })`. The files of this folder are the table: a row for
 * each name, with its comment. A function does what the method does, under the same name.
 */
import { inOperation } from "../../core/arguments.js";
import { checkCount, mostArguments } from "../../core/arity.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { checkScalar } from "../../core/promotion.js";
import { shown } from "../../core/shown.js";
import { met } from "../methods/operands.js";
import type { Choice, FloatOf, PowerOf } from "../result-dtypes.js";
import { type Operand, Tensor } from "../tensor.js";
import { checkTensor, isTensor } from "../tensor-checks.js";

type Method = (this: Tensor, ...args: readonly unknown[]) => Tensor;
type MethodName = {
  [K in keyof Tensor]: Tensor[K] extends (...args: never) => unknown ? K : never;
}[keyof Tensor] &
  string;

/** A method as a function of the tensor and the method's arguments. */
type FunctionOf<K extends MethodName> = <D extends DType>(
  x: Tensor<D>,
  ...args: Tensor<D>[K] extends (...args: infer A) => unknown ? A : never
) => Tensor<D>[K] extends (...args: never) => infer R ? R : never;

const methodOf = (x: Tensor, name: string): Method => (x as unknown as Record<string, Method>)[name];

/** The tensor is one argument more than the method has. */
const mostOf = (name: string): number => 1 + mostArguments(methodOf(Tensor.prototype, name));

/** Under the name of the operation, which errors look for on the stack. */
function named<F extends object>(name: string, f: F): F {
  return Object.defineProperty(f, "name", { value: name });
}

/** A method as a function. */
export function ofMethod<K extends MethodName>(name: K): FunctionOf<K> {
  const call = (...given: readonly unknown[]): unknown => {
    checkCount(name, mostOf(name), given);
    const [x, ...args] = given;
    checkTensor(name, "the first argument", x);
    return methodOf(x, name).apply(x, args);
  };
  return named(name, call) as unknown as FunctionOf<K>;
}

/** The dtype of a function of two operands, of which one at least is a tensor. */
interface Results<A, B> {
  /** The dtype that both meet in. */
  readonly met: Choice<A, B>;
  readonly float: FloatOf<Choice<A, B>>;
  readonly power: PowerOf<Choice<A, B>>;
  readonly bool: "bool";
}

/** A function of two operands, the second of which must be a tensor where the first is none. */
type FunctionOfTwo<R extends keyof Results<never, never>> = <
  A extends Operand,
  B extends A extends Tensor ? Operand : Tensor,
>(
  a: A,
  b: B,
) => Tensor<Results<A, B>[R]>;

/**
 * A method of two operands as a function, in which the first may be a number. `mirrored` is the method that gives the same
 * with the operands exchanged, where there is one; it may accept numbers that the dtype cannot hold.
 */
export function ofTwo<R extends keyof Results<never, never>>(
  name: MethodName,
  mirrored?: MethodName,
): FunctionOfTwo<R> {
  const call = (...given: readonly unknown[]): Tensor => {
    checkCount(name, mostOf(name), given);
    const [a, b, ...more] = given as [Operand, Operand, ...unknown[]];
    if (isTensor(a)) return methodOf(a, name).apply(a, [b, ...more]);
    checkScalar(a, name);
    if (!isTensor(b)) {
      checkScalar(b, name);
      throw new ArgumentError(
        `${name}: neither ${shown(a)} nor ${shown(b)} is a tensor; make one of them with tensor().`,
      );
    }
    return inOperation(name, () => {
      if (mirrored) return methodOf(b, mirrored).apply(b, [a, ...more]);
      const [left] = met(name, [a, b]);
      return methodOf(left, name).apply(left, [b, ...more]);
    });
  };
  return named(name, call) as unknown as FunctionOfTwo<R>;
}
