/** Ordered classes, such as answers from "never" to "always": a logistic number is cut into classes at rising points. */
import { refusingSurplus } from "../../core/arity.js";
import { uniform } from "../../random/uniform.js";
import { countingLike, type Tensor, where } from "../../tensor/index.js";
import { type Argument, shapeOfArgument } from "../arguments/argument.js";
import { risingNumbers, risingVector } from "../arguments/joint-rules.js";
import { parameter } from "../arguments/parameter.js";
import { countUpTo } from "../constraints/whole-numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { log1mExp } from "../definition/normal-probability.js";
import { RandomVariable } from "../variables/variable.js";

type Tensors = Readonly<Record<"location" | "cutpoints", Tensor>>;

const countOf = ({ cutpoints }: Tensors): number => cutpoints.shape.at(-1) as number;

/** The element of the last axis at a position that is a float, or 0 where there is none: a sum, which melts into the kernel. */
const elementAt = (values: Tensor, position: Tensor): Tensor =>
  where(
    position.expandDims(-1).equal(countingLike(values, values.shape.at(-1) as number).cast(position.dtype)),
    values,
    0,
  ).sum({ axis: -1 });

/**
 * σ(b) - σ(a), for the cutpoints above and below a class less the location, is σ(b) σ(-a) (1 - exp(a - b)): nothing cancels, and
 * the last factor does not depend on the location. Classes at the ends have one cutpoint.
 */
function termsOf(x: Tensor, p: Tensors): readonly Tensor[] {
  const count = countOf(p);
  const above = elementAt(p.cutpoints, x).sub(p.location);
  const below = elementAt(p.cutpoints, x.sub(1)).sub(p.location);
  const sides = [where(x.equal(count), 0, above.neg().softplus().neg()), where(x.equal(0), 0, below.softplus().neg())];
  if (count === 1) return sides;
  const gaps = p.cutpoints.diff({ axis: -1 });
  const isRising = gaps.greater(0);
  const own = elementAt(log1mExp(where(isRising, gaps, 1)), x.sub(1));
  return [...sides, where(isRising.all({ axis: -1 }), own, -Infinity)];
}

/** P(X > k), along a new last axis. */
const beyond = ({ location, cutpoints }: Tensors): Tensor => location.expandDims(-1).sub(cutpoints).sigmoid();

const orderedLogisticDefinition: Definition<"location" | "cutpoints"> = {
  name: "orderedLogistic",
  parameters: {
    location: parameter.real,
    cutpoints: { ...parameter.vector, joint: risingNumbers("cutpoints"), kind: risingVector },
  },
  support: ({ cutpoints }) => countUpTo(shapeOfArgument(cutpoints).at(-1) as number),
  terms: (x, p) => termsOf(x, p),
  draw({ key, shape, dtype }, p) {
    const u = uniform(key, shape, { dtype }).maximum(dtype === "f64" ? 2 ** -53 : 2 ** -24);
    const logistic = u.log().sub(u.neg().log1p()).add(p.location);
    return logistic.expandDims(-1).greater(p.cutpoints).cast(dtype).sum({ axis: -1 });
  },
  mean: (p) => beyond(p).sum({ axis: -1 }),
  variance(p) {
    const tails = beyond(p);
    const odd = countingLike(tails, countOf(p)).cast(tails.dtype).mul(2).add(1);
    return tails
      .mul(odd)
      .sum({ axis: -1 })
      .sub(tails.sum({ axis: -1 }).square());
  },
};

/**
 * Classes 0, 1 … with P(class ≤ k) = σ(cutpoints_k - location): one class more than there are cutpoints, which rise along the
 * last axis, as those of `normal(0, 2).shape(4).constrained(ordered)` do.
 */
export const orderedLogistic = refusingSurplus(
  "orderedLogistic",
  (location: Argument, cutpoints: Argument): RandomVariable =>
    new RandomVariable(bind(orderedLogisticDefinition, { location, cutpoints })),
);
