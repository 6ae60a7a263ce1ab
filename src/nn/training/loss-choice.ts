/** The loss of training as users give it: a name, a name with options, a function, or one of these for each output. */
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, where } from "../../tensor/index.js";
import { leaves } from "../../transforms/tree.js";
import * as losses from "../losses/index.js";
import { alignedWeights, counted, countOf } from "../losses/loss.js";
import { scalarDType } from "../optimizers/optimizer.js";
import { weightOf } from "./program.js";

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

/** The loss of a batch, and its parts where there are several. Parts in which nothing counts are left out of the loss. */
interface Losses {
  readonly loss: Tensor;
  readonly parts: Readonly<Record<string, Tensor>>;
  /** Whether nothing counts at all: the loss is 0 then. Undefined where everything counts. */
  readonly isEmpty: Tensor | undefined;
}

/** How much the loss of each output counts: `{ head: 1, tail: 0.2 }`; 1 for those that are not named. */
export type LossWeights = { readonly [output: string]: number | LossWeights };

/** A batch as losses and metrics see it. */
export interface Labelled extends Weighted {
  readonly x?: unknown;
  readonly y?: unknown;
}

/** How much each example of a batch counts: by its weight, and not at all where the mask of a filled batch is false. */
export interface Weighted {
  readonly weights?: Tensor;
  readonly mask?: Tensor;
}

/** The weights of a batch; undefined where all examples count alike. Weights may have more axes than the mask, as those of tokens. */
export function weightsOf({ weights, mask }: Weighted): Tensor | undefined {
  if (mask === undefined) return weights;
  if (weights === undefined) return mask.cast("f32") as Tensor;
  return weights.mul(alignedWeights("train", weights, mask, "the weights of the data")) as Tensor;
}

/** How much a batch counts in means: the sum of its weights, in the dtype of its widest tensor and f32 at least; or as many examples as it has. */
export const exampleWeight = (batch: Labelled): number | Tensor =>
  weightsOf(batch)
    ?.cast(scalarDType(leaves(batch) as Tensor[]))
    .sum() ?? weightOf<unknown>({}, batch.x);

/** Predictions and a batch to the loss. */
export type LossOf = (predictions: unknown, batch: Labelled) => Losses;

/** The loss of a choice, checked. */
export function lossOf(operation: string, choice: LossChoice, factors?: LossWeights): LossOf {
  const named = flatChoices(operation, choice, []);
  const weigh = weighing(operation, named, factors);
  return (predictions, batch) => {
    const weights = weightsOf(batch);
    const options = weights === undefined ? {} : { weights };
    const parts: [string, Tensor][] = named.map(({ path, loss }) => {
      const part = (what: string, tree: unknown) => partAt(`${operation}: the option loss`, what, tree, path);
      const [p, y] = [part("predictions", predictions), part("targets", batch.y)];
      return [`loss.${path.join(".")}`, checkedLoss(operation, loss(p as never, y as never, options, batch as never))];
    });
    const empties = parts.map(([, each]) => emptiness(each, weights));
    const terms = parts.map(([, each], i) => weigh(unless(empties[i], each, 0), i)) as [Tensor, ...Tensor[]];
    const loss = terms.reduce((sum, each) => sum.add(each) as Tensor);
    const isEmpty = empties.reduce((all, each) => all && each && (all.logicalAnd(each) as Tensor));
    const [[, only], ...others] = parts as [[string, Tensor], ...[string, Tensor][]];
    // Losses of several outputs have no common count: their sum counts as the batch.
    const count = others.length === 0 ? countOf(only) : isEmpty && where(isEmpty, 0, exampleWeight(batch));
    return {
      loss: counted(loss, count as Tensor | undefined),
      // 0 where nothing counts, which counts in no mean: NaN would look like the cause of another part's failure.
      parts:
        others.length > 0
          ? Object.fromEntries(
              parts.map(([name, each], i) => [name, counted(unless(empties[i], each, 0), countOf(each))]),
            )
          : {},
      isEmpty,
    };
  };
}

/** Whether nothing counts in a loss, whose mean is NaN then though nothing is wrong. Undefined where something must count. */
function emptiness(loss: Tensor, weights: Tensor | undefined): Tensor | undefined {
  return (countOf(loss)?.equal(0) ?? weights?.equal(0).all()) as Tensor | undefined;
}

/** A value, or another number where a condition holds. */
export function unless(condition: Tensor | undefined, value: Tensor, otherwise: number): Tensor {
  return condition === undefined ? value : (where(condition, otherwise, value).cast(value.dtype) as Tensor);
}

/** A loss, its weights or metrics in words; functions by their names. */
export function describedChoice(choice: LossChoice | LossWeights | object | number): string {
  if (typeof choice === "string" || typeof choice === "number") return String(choice);
  if (typeof choice === "function") return choice.name || "a function";
  if (Array.isArray(choice)) return `[${choice.map(describedChoice).join(", ")}]`;
  if (isTensor(choice)) return `${choice.dtype} ${formatShape(choice.shape)}`;
  if (typeof choice !== "object" || choice === null) return String(choice);
  return `{ ${Object.entries(choice)
    .map(([name, each]) => `${name}: ${describedChoice(each as object)}`)
    .join(", ")} }`;
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

/** The loss of an output times its weight. */
function weighing(operation: string, named: readonly NamedLoss[], factors: LossWeights = {}) {
  const found = new Map<string, number>();
  const walk = (at: unknown, path: readonly string[]): void => {
    const name = path.join(".");
    const isTree = typeof at === "object" && at !== null && !Array.isArray(at);
    if (isTree) for (const [part, each] of Object.entries(at)) walk(each, [...path, part]);
    else if (typeof at !== "number" || !Number.isFinite(at) || path.length === 0) {
      const what = path.length === 0 ? "" : ` has "${name}" of ${shown(at)}; it`;
      throw new ArgumentError(
        `${operation}: the option lossWeights${what} is a number for each output, as { head: 1, tail: 0.2 }.`,
      );
    } else if (!named.some((each) => each.path.join(".") === name)) {
      const outputs = named.map((each) => each.path.join(".")).filter(Boolean);
      throw new ArgumentError(
        `${operation}: the option lossWeights has "${name}", but the option loss ${outputs.length > 0 ? `has ${outputs.join(", ")}` : "is one for the whole output"}.`,
      );
    } else found.set(name, at);
  };
  walk(factors, []);
  const all = named.map(({ path }) => found.get(path.join(".")) ?? 1);
  return (loss: Tensor, i: number): Tensor => (all[i] === 1 ? loss : (loss.mul(all[i] as number) as Tensor));
}

/** The part of predictions or targets at a path of output names. */
export function partAt(option: string, what: string, tree: unknown, path: readonly string[]): unknown {
  let found = tree;
  for (const name of path) {
    if (typeof found !== "object" || found === null || isTensor(found) || !Object.hasOwn(found, name)) {
      throw new ArgumentError(`${option} has "${path.join(".")}", but the ${what} have no such part.`);
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
