/**
 * Arguments held against the rules of their parameters. Numbers are looked at when a distribution or constraint is made;
 * tensors when `checkArguments` is called, because they have to be read. What depends on placeholders has no value and passes.
 */
import { ArgumentError } from "../../core/errors.js";
import { type Shape, sameShape, sizeOf } from "../../core/shape.js";
import { Tensor, zeros } from "../../tensor/index.js";
import { type Argument, deviceOf, floatOf, tensorOf, tensorsIn } from "./argument.js";
import { areErrorsDeferred } from "./deferred-errors.js";
import type { Parameter, ParameterRule } from "./parameter.js";

export type Arguments<P extends string> = Readonly<Record<P, Argument>>;

/** The parameters of a distribution or constraint, under the name that errors begin with. */
export interface Signature<P extends string> {
  readonly name: string;
  readonly parameters: Readonly<Record<P, ParameterRule>>;
  /** Two of them, of which the first is less than the second. */
  readonly rising?: readonly [P, P];
}

interface CheckedArguments {
  /** The first problem with the numbers, in words; null where there is none. */
  readonly problem: string | null;
  readonly parameters: readonly Parameter[];
  /** An error where anything known is wrong, tensors included. */
  checkArguments(): void;
}

/** Looks at numbers now; an error where one is wrong, unless errors are deferred. */
export function argumentsOf<P extends string>(signature: Signature<P>, given: Arguments<P>): CheckedArguments {
  const problem = problemIn(signature, given);
  const parameters = (Object.keys(signature.parameters) as P[]).map((name) => ({
    name,
    rule: signature.parameters[name] as ParameterRule,
    argument: given[name],
  }));
  if (problem !== null && !areErrorsDeferred()) throw new ArgumentError(problem);
  return {
    problem,
    parameters,
    checkArguments() {
      if (problem !== null) throw new ArgumentError(problem);
      for (const { name, rule, argument } of parameters) checkValues(signature.name, name, rule, argument);
      if (signature.rising) checkRising(signature.name, signature.rising, given);
    },
  };
}

function problemIn<P extends string>({ name: owner, parameters, rising }: Signature<P>, given: Arguments<P>) {
  for (const name of Object.keys(parameters) as P[]) {
    const problem = problemOfNumbers(owner, name, parameters[name], given[name]);
    if (problem !== null) return problem;
  }
  if (!rising) return null;
  const [low, high] = rising;
  const [from, to] = [given[low], given[high]];
  if (typeof from !== "number" || typeof to !== "number" || from < to) return null;
  return `${owner}: ${low} is ${from} and ${high} is ${to}; ${low} is less than ${high}.`;
}

/** The first problem with the numbers of an argument, or null. `owner`: the distribution or constraint. */
export const problemOfNumbers = (owner: string, name: string, rule: ParameterRule, argument: Argument): string | null =>
  problemWith(owner, name, rule, argument) ?? jointProblem(owner, rule, argument, false);

function problemWith(owner: string, name: string, rule: ParameterRule, argument: Argument): string | null {
  if (argument instanceof Tensor) return null;
  if (Array.isArray(argument)) {
    const inside = { ...rule, rank: Math.max(0, rule.rank - 1) };
    const problems = (argument as readonly Argument[]).map((part) => problemWith(owner, name, inside, part));
    return problems.find((problem) => problem !== null) ?? null;
  }
  const isOne = rule.rank === 0 || rule.mayBeNumber;
  if (typeof argument === "number" && isOne && rule.isValid(argument)) return null;
  return `${owner}: ${name} is ${String(argument)}; it is ${rule.says}, or a tensor of such.`;
}

/** An argument as numbers, where all of it is known and its parts are alike; tensors are known if they may be read. */
function knownNumbers(
  argument: Argument,
  mayRead: boolean,
): { readonly values: number[]; readonly shape: Shape } | null {
  if (typeof argument === "number") return { values: [argument], shape: [] };
  if (argument instanceof Tensor) {
    if (!mayRead || argument.node.isAbstract) return null;
    return { values: Array.from(argument.dataSync() as ArrayLike<number>, Number), shape: argument.shape };
  }
  const parts = (argument as readonly Argument[]).flatMap((part) => knownNumbers(part, mayRead) ?? []);
  const [first] = parts;
  if (!first) return null;
  if (parts.length < argument.length || !parts.every(({ shape }) => sameShape(shape, first.shape))) return null;
  return { values: parts.flatMap(({ values }) => values), shape: [parts.length, ...first.shape] };
}

/** The first vector or matrix of a known argument that breaks the joint rule, in words; null where none does. */
function jointProblem(owner: string, rule: ParameterRule, argument: Argument, mayRead: boolean): string | null {
  const known = rule.joint && knownNumbers(argument, mayRead);
  if (!rule.joint || !known || known.shape.length < rule.rank) return null;
  const shape = known.shape.slice(known.shape.length - rule.rank);
  const size = sizeOf(shape);
  for (let at = 0; at < known.values.length; at += size) {
    const problem = rule.joint(known.values.slice(at, at + size), shape);
    if (problem !== null) return `${owner}: ${problem}`;
  }
  return null;
}

/** The values of the tensors in an argument; none of those that depend on placeholders. */
const valuesIn = (argument: Argument): number[][] =>
  tensorsIn([argument]).flatMap((part) =>
    part.node.isAbstract ? [] : [Array.from(part.dataSync() as ArrayLike<number>, Number)],
  );

/** Checks arguments that are known when a model meets its data: a negative scale among data is not found by sampling. */
export function checkValues(owner: string, name: string, rule: ParameterRule, argument: Argument): void {
  for (const values of valuesIn(argument)) {
    const position = values.findIndex((value) => !rule.isValid(value));
    if (position < 0) continue;
    const element = values.length === 1 ? name : `${name}[${position}]`;
    throw new ArgumentError(`${owner}: ${element} is ${values[position]}; it is ${rule.says}, or a tensor of such.`);
  }
  const problem = jointProblem(owner, rule, argument, true);
  if (problem !== null) throw new ArgumentError(problem);
}

function checkRising<P extends string>(owner: string, [low, high]: readonly [P, P], given: Arguments<P>): void {
  const both = [given[low], given[high]];
  const like = zeros([], { dtype: floatOf(both), device: deviceOf(both) });
  const [from, to] = both.map((bound) => tensorOf(bound, like));
  const isRising = from.less(to);
  if (isRising.node.isAbstract || isRising.all().itemSync()) return;
  const position = Array.from(isRising.dataSync() as ArrayLike<number | boolean>, Boolean).indexOf(false);
  const at = (bound: Tensor) => (bound.broadcastTo(isRising.shape).dataSync() as ArrayLike<number>)[position];
  throw new ArgumentError(`${owner}: ${low} is ${at(from)} and ${high} is ${at(to)}; ${low} is less than ${high}.`);
}
