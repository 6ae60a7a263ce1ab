/**
 * The outline of a run: the variables that a model's function made, in words. A function that depends on chance or on what happens
 * elsewhere makes others each time, and the runs of one posterior would be of different models. Every run is held against the first.
 */
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { Tensor } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { RandomVariable } from "../variables/variable.js";
import { type ModelRun, namesIn } from "./model-run.js";

export interface Outline {
  /** For each variable, in the order of the program: its name, and how it is written, without its arguments. */
  readonly kinds: readonly string[];
  /** For each variable, the numbers among its arguments. */
  readonly numbers: readonly string[];
  /** Names of returned tensors that are no variables. */
  readonly computed: string;
}

export function outlineOf(run: ModelRun): Outline {
  const names = namesIn(run);
  const computed = Object.entries(run.returned).flatMap(([name, value]) =>
    value instanceof RandomVariable ? [] : [name],
  );
  return {
    kinds: run.variables.map((variable) => `${names.get(variable) ?? "a variable"} is ${written(variable)}`),
    numbers: run.variables.map(({ distribution, constraint }) =>
      [...distribution.arguments, ...(constraint.bounds ?? [])].map(numbersIn).join(", "),
    ),
    computed: computed.join(", ") || "nothing",
  };
}

function written({ distribution, batchShape, isNoncentered, isNarrowed, constraint }: RandomVariable): string {
  const shape = batchShape ? `.shape(${formatShape(batchShape)})` : "";
  const way = isNoncentered ? ".noncentered()" : "";
  return `${distribution.name}(…)${shape}${way}${isNarrowed ? `.constrained(${constraint.name})` : ""}`;
}

/** Tensors may be data, or depend on what is sampled. Whether an argument is one has not been checked yet. */
function numbersIn(argument: Argument): string {
  if (Array.isArray(argument)) return `[${argument.map(numbersIn).join(", ")}]`;
  return argument instanceof Tensor ? "…" : String(argument);
}

/** An error where a run is not like another; `isSameDType`: numbers may depend on the dtype of the data. */
export function checkSame(before: Outline, now: Outline, isSameDType: boolean): void {
  const differs = (a: readonly string[], b: readonly string[]) => a.findIndex((text, i) => text !== b[i]);
  const kind = differs(before.kinds, now.kinds);
  if (kind >= 0) throw changed(`${before.kinds[kind]}, and then ${now.kinds[kind] ?? "is not there"}`);
  if (now.kinds.length > before.kinds.length)
    throw changed(`${now.kinds[before.kinds.length]}, which was not there before`);
  if (before.computed !== now.computed) throw changed(`it computes ${before.computed}, and then ${now.computed}`);
  const number = isSameDType ? differs(before.numbers, now.numbers) : -1;
  if (number < 0) return;
  throw changed(`${before.kinds[number]} of ${before.numbers[number]}, and then of ${now.numbers[number]}`);
}

export const changed = (how: string): ArgumentError =>
  new ArgumentError(
    `model: the function makes different variables each time it runs: ${how}. It must depend on nothing but its data.`,
  );
