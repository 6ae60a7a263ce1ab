/** One run of a model's function. The caller decides the values of its variables: placeholders, slices of a vector, or draws. */
import { ArgumentError } from "../../core/errors.js";
import { Tensor } from "../../tensor/index.js";
import { runningTransforms } from "../../transforms/trace.js";
import { during, RandomVariable } from "../variables/variable.js";

export interface ModelRun {
  /** In the order the program makes them. */
  readonly variables: readonly RandomVariable[];
  readonly factors: readonly (Tensor | number)[];
  readonly returned: Readonly<Record<string, Tensor>>;
}

/**
 * Runs the function, then `finish`, in which variables still get their values when asked. A variable's number is its
 * place in the order of the program.
 */
export function runModel<D, T>(
  fn: (data: D) => Readonly<Record<string, Tensor>>,
  data: D,
  choose: (variable: RandomVariable, number: number) => Tensor,
  finish: (run: ModelRun) => T,
): T {
  const numbers = new Map<RandomVariable, number>();
  const variables: RandomVariable[] = [];
  const factors: (Tensor | number)[] = [];
  const evaluation = {
    depth: runningTransforms().length,
    register(variable: RandomVariable) {
      numbers.set(variable, variables.length);
      variables.push(variable);
    },
    valueOf: (variable: RandomVariable) => choose(variable, numbers.get(variable) as number),
    factorCount: () => factors.length,
    factor: (logDensity: Tensor | number) => void factors.push(logDensity),
  };
  return during(evaluation, () => {
    const returned = fn(data);
    checkReturned(returned, numbers);
    return finish({ variables, factors, returned });
  });
}

function checkReturned(returned: unknown, made: ReadonlyMap<RandomVariable, number>): void {
  if (returned instanceof Promise) {
    // Its failure is not reported a second time.
    returned.catch(() => {});
    throw new ArgumentError("model: the function is async; read data before, and pass them to given(…).");
  }
  if (typeof returned !== "object" || returned === null || returned instanceof Tensor || Array.isArray(returned)) {
    throw new ArgumentError("model: the function returns an object that names its variables: return { mu, tau, y }.");
  }
  for (const [name, value] of Object.entries(returned)) {
    if (!(value instanceof Tensor)) {
      throw new ArgumentError(`model: ${name} is ${typeof value}; return random variables and tensors.`);
    }
    if (!(value instanceof RandomVariable) || made.has(value)) continue;
    throw new ArgumentError(
      `${name}: this ${value.distribution.name} variable was made outside of the model's function, which does not know it; ` +
        "make it inside: model(() => …).",
    );
  }
}

/** The names of variables, from the keys they were returned under. */
export function namesIn(run: ModelRun): Map<RandomVariable, string> {
  const names = new Map<RandomVariable, string>();
  for (const [name, value] of Object.entries(run.returned)) {
    if (!(value instanceof RandomVariable)) continue;
    const other = names.get(value);
    if (other !== undefined)
      throw new ArgumentError(`model: ${other} and ${name} are the same variable; name it once.`);
    names.set(value, name);
  }
  return names;
}

/**
 * Whether an argument of a variable, or what the function returned, is f64. Of variables in f32 that is so where the function
 * computes with f64 tensors that it holds by itself, and not as data.
 */
export function hasDoubles({ variables, returned }: ModelRun): boolean {
  const values = [...variables.flatMap(({ distribution }) => distribution.arguments), ...Object.values(returned)];
  return values.some((value) => value instanceof Tensor && !(value instanceof RandomVariable) && value.dtype === "f64");
}
