/** The loss of training as users give it: a name, a name with options, a function, or one of these for each output. */
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import * as losses from "../losses/index.js";

/** The losses by name. */
const BY_NAME = new Map(Object.entries(losses)) as ReadonlyMap<
  unknown,
  (p: Tensor, y: Tensor, options: object) => Tensor
>;

/** The name of a loss of `losses`. */
export type LossName = keyof typeof losses;

/** A loss of the user's own. The signature is that of `losses`; `batch` is all that came with the input. */
export type LossFunction = (
  predictions: never,
  targets: never,
  options: { readonly weights?: Tensor },
  batch: never,
) => Tensor;

/** One loss. */
export type OneLoss = LossName | readonly [name: LossName, options: object] | LossFunction;

/** A loss, or losses by the names of outputs, which are added up. */
export type LossChoice = OneLoss | { readonly [output: string]: LossChoice };

/** The loss of a batch, and its parts where there are several. */
interface Losses {
  readonly loss: Tensor;
  readonly parts: Readonly<Record<string, Tensor>>;
}

/** A batch as losses see it. */
interface Labelled extends Weighted {
  readonly y?: unknown;
}

/** How much each example of a batch counts: by its weight, and not at all where the mask of a filled batch is false. */
export interface Weighted {
  readonly weights?: Tensor;
  readonly mask?: Tensor;
}

/** The weights of a batch; undefined where all examples count alike. */
export function weightsOf({ weights, mask }: Weighted): Tensor | undefined {
  if (mask === undefined) return weights;
  const real = mask.cast(weights?.dtype ?? "f32") as Tensor;
  return weights === undefined ? real : (weights.mul(real) as Tensor);
}

/** Predictions and a batch to the loss. */
export type LossOf = (predictions: unknown, batch: Labelled) => Losses;

/** The loss of a choice, checked. */
export function lossOf(operation: string, choice: LossChoice): LossOf {
  const named = flatChoices(operation, choice, []);
  return (predictions, batch) => {
    const weights = weightsOf(batch);
    const options = weights === undefined ? {} : { weights };
    const parts: [string, Tensor][] = named.map(({ path, loss }) => {
      const [p, y] = [at(operation, "predictions", predictions, path), at(operation, "targets", batch.y, path)];
      return [`loss.${path.join(".")}`, checkedLoss(operation, loss(p as never, y as never, options, batch as never))];
    });
    const [[, first], ...rest] = parts as [[string, Tensor], ...[string, Tensor][]];
    const loss = rest.reduce((sum, [, each]) => sum.add(each), first);
    return { loss, parts: parts.length > 1 ? Object.fromEntries(parts) : {} };
  };
}

interface NamedLoss {
  readonly path: readonly string[];
  readonly loss: LossFunction;
}

function flatChoices(operation: string, choice: LossChoice, path: readonly string[]): NamedLoss[] {
  const isByOutput = typeof choice === "object" && choice !== null && !Array.isArray(choice);
  if (!isByOutput) return [{ path, loss: oneLoss(operation, choice as OneLoss) }];
  const found = Object.entries(choice).flatMap(([name, each]) =>
    flatChoices(operation, each as LossChoice, [...path, name]),
  );
  if (found.length === 0) throw new ArgumentError(`${operation}: the option loss names no output.`);
  return found;
}

function oneLoss(operation: string, choice: OneLoss): LossFunction {
  if (typeof choice === "function") return choice;
  const [name, options] = Array.isArray(choice) ? choice : [choice, {}];
  const loss = BY_NAME.get(name);
  if (!loss) {
    const names = [...BY_NAME.keys()].join(", ");
    throw new ArgumentError(
      `${operation}: the option loss is ${shown(name)}; it is a function (predictions, targets) => loss, or one of ${names}.`,
    );
  }
  return ((p: Tensor, y: Tensor, more: object) => loss(p, y, { ...options, ...more })) as LossFunction;
}

/** The part of predictions or targets at a path of output names. */
function at(operation: string, what: string, tree: unknown, path: readonly string[]): unknown {
  let found = tree;
  for (const name of path) {
    if (typeof found !== "object" || found === null || isTensor(found) || !Object.hasOwn(found, name)) {
      throw new ArgumentError(
        `${operation}: the option loss has "${path.join(".")}", but the ${what} have no such part.`,
      );
    }
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function checkedLoss(operation: string, loss: unknown): Tensor {
  if (isTensor(loss) && loss.size === 1) return loss.rank === 0 ? loss : loss.reshape([]);
  const what = isTensor(loss) ? `a tensor of shape ${formatShape(loss.shape)}` : shown(loss);
  throw new ArgumentError(`${operation}: the loss is one number, not ${what}; average it, as by .mean().`);
}
