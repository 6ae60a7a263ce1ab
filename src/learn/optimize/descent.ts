/**
 * The loop of quasi-Newton methods: a direction from what is remembered of the curvature, a line search, one more memory. BFGS and
 * L-BFGS differ in the memory alone.
 */
import { full, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { ravel } from "../../transforms/ravel.js";
import { wolfeSearch } from "./line-search.js";
import { evaluatorOf, type Minimum, type Point } from "./result.js";

/** What a method remembers of the curvature. */
interface Curvature<M> {
  /** Before the first step. */
  fresh(x: Tensor): M;
  direction(gradient: Tensor, memory: M): Tensor;
  after(memory: M, step: Tensor, change: Tensor): M;
}

export function descend<T, M>(
  operation: string,
  f: (x: T) => Tensor,
  start: T,
  { fresh, direction, after }: Curvature<M>,
  { tol, maxIter }: { readonly tol: number; readonly maxIter: number },
): Minimum<T> {
  const flat = ravel(`${operation}, the start`, start);
  const evaluate = evaluatorOf(operation, f, flat);
  const slopeAt = ({ gradient }: Point): Tensor => gradient.abs().max() as Tensor;
  const { device } = flat.vector;
  const none = fresh(flat.vector);
  const flag = (value: boolean): Tensor => full([], value, { device, dtype: "bool" }) as Tensor;
  const end = whileLoop(
    ({ point, count, isStuck }) =>
      count.less(maxIter).logicalAnd(slopeAt(point).greater(tol)).logicalAnd(isStuck.logicalNot()) as Tensor,
    ({ point, memory, count, isFresh }) => {
      const { point: found, isLower } = wolfeSearch(evaluate, point, direction(point.gradient, memory));
      const pick = (a: Tensor, b: Tensor): Tensor => where(isLower, a, b) as Tensor;
      const to = {
        x: pick(found.x, point.x),
        value: pick(found.value, point.value),
        gradient: pick(found.gradient, point.gradient),
      };
      // A step of zero empties the memory. A search that found nothing without one will find nothing again.
      const next = after(memory, to.x.sub(point.x) as Tensor, to.gradient.sub(point.gradient) as Tensor);
      return {
        point: to,
        memory: next,
        count: count.add(1) as Tensor,
        isFresh: isLower.logicalNot() as Tensor,
        isStuck: isLower.logicalNot().logicalAnd(isFresh) as Tensor,
      };
    },
    {
      point: evaluate(flat.vector),
      memory: none,
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
      isFresh: flag(true),
      isStuck: flag(false),
    },
  );
  const gradientNorm = slopeAt(end.point);
  return {
    x: flat.restore(end.point.x),
    value: end.point.value,
    gradientNorm,
    iterations: end.count,
    converged: gradientNorm.lessEqual(tol) as Tensor,
  };
}
