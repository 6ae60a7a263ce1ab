/** Weights of classes, as options give them, on top of the weights of samples. Linear models and trees use them. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import type { Label } from "./targets.js";

/** "balanced" for weights that make all classes count the same, or a weight for each class: by label, or in the order of the classes. */
export type ClassWeight = "balanced" | readonly number[] | Readonly<Record<string, number>>;

export function checkClassWeight(operation: string, given: ClassWeight | undefined): void {
  if (given === undefined || given === "balanced") return;
  const isObject = typeof given === "object" && given !== null;
  if (isObject && Object.values(given).every((each) => typeof each === "number" && each >= 0 && Number.isFinite(each)))
    return;
  throw new ArgumentError(
    `${operation}: classWeight is ${shown(given)}; it is "balanced", a list of weights or weights by class, zero or more.`,
  );
}

/** The weights of samples with those of their classes, of which `members` tells, [classes, samples]; null where all count the same. */
export function withClassWeights(
  operation: string,
  given: ClassWeight | undefined,
  members: Tensor,
  weights: Tensor | null,
  classes: readonly Label[],
): Tensor | null {
  if (given === undefined) return weights;
  const { dtype, device } = members;
  const ofClasses =
    given === "balanced"
      ? balanced(members)
      : (tensor(listed(operation, given as readonly number[] | Readonly<Record<string, number>>, classes), {
          dtype,
          device,
        }) as Tensor);
  const ofSamples = ofClasses.matmul(members) as Tensor;
  return weights ? (weights.mul(ofSamples) as Tensor) : ofSamples;
}

/** samples / (classes · members). */
function balanced(members: Tensor): Tensor {
  const [classes, samples] = members.shape as [number, number];
  return members.sum({ axis: 1 }).mul(classes).reciprocal().mul(samples) as Tensor;
}

function listed(
  operation: string,
  given: readonly number[] | Readonly<Record<string, number>>,
  classes: readonly Label[],
): number[] {
  if (Array.isArray(given)) {
    if (given.length === classes.length) return [...given];
    throw new ArgumentError(
      `${operation}: there are ${given.length} weights of classes and ${classes.length} classes.`,
    );
  }
  const byLabel = given as Readonly<Record<string, number>>;
  const known = classes.map(String);
  const stray = Object.keys(byLabel).find((name) => !known.includes(name));
  if (stray !== undefined) {
    throw new ArgumentError(
      `${operation}: classWeight names ${shown(stray)}, not one of the classes ${shown(classes)}.`,
    );
  }
  return known.map((name) => byLabel[name] ?? 1);
}
