/**
 * What a distribution is. A family is written once, as one entry: its parameters, support, log density as a list of
 * terms, and how to draw. `bind` joins it with arguments to a `Distribution`, which is all that models, mixtures and
 * samplers see.
 *
 * Densities are lists of terms because terms that do not depend on what is sampled need not be computed: `Posterior`
 * drops them when asked, as Stan's ~ does. They are plain tensor expressions, so that they can be differentiated and
 * fused.
 */
import { DTYPES, type DType, isFloat } from "../../core/dtype.js";
import { ArgumentError, ShapeError, UnsupportedError } from "../../core/errors.js";
import { resultType } from "../../core/promotion.js";
import { broadcastShapes, checkBroadcastTo, formatShape, type Shape, sameShape, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { checkKey, type Key } from "../../random/key.js";
import { scalarLike, Tensor, where, zeros } from "../../tensor/index.js";
import { type Argument, isArgument, shapeOfArgument, tensorOf } from "../argument.js";
import type { Constraint, Range, Term } from "../constraints/constraint.js";
import { evaluation } from "../model/variable.js";
import type { Kind, Together } from "./together.js";

export type { Term } from "../constraints/constraint.js";

export interface DrawOptions {
  /** Of floats: that of the arguments, f32 where they are numbers. Counts come as i32. */
  readonly dtype?: DType;
}

export interface MomentOptions {
  readonly dtype?: DType;
  readonly device?: string;
}

/** A draw written as a function of a standard one: what samplers like better when data say little. */
export interface Noncentered {
  /** Distribution of the standard numbers, as many as the draw has. */
  readonly base: Distribution;
  forward(standard: Tensor): Tensor;
  inverse(value: Tensor): Tensor;
}

export interface Distribution {
  readonly name: string;
  /** Shape of the independent draws that the arguments ask for. */
  readonly batchShape: Shape;
  /** Shape of one draw. */
  readonly eventShape: Shape;
  readonly support: Constraint;
  /** Where data may lie, if that is less: not at ends of the support where the density is 0 or infinite. */
  readonly domain?: Constraint;
  /** Whether the density is no probability density: it is known up to a factor, which may be infinite. */
  readonly isUnnormalized?: boolean;
  /** Whether it has no end and the density does not fall off, so that nothing is left of it when it is normalized. */
  readonly isImproper?: boolean;
  /** Summands of the log density at values inside the support, which are floats. `isTame`: what `isTame` says of x. */
  terms(x: Tensor, isTame?: boolean): readonly Term[];
  /** The same by the free numbers behind values, for a variable that is sampled: it may be so close to an end that x is the end. */
  readonly freeTerms?: (free: Tensor, isTame?: boolean) => readonly Term[];
  /** Whether values or parameters are so few and small that a short form of the terms keeps enough digits for a sampler. */
  readonly isTame?: (x: Tensor) => boolean;
  /** The log density, one for each draw; -Infinity outside the support, NaN of NaN. */
  logDensity(x: Tensor): Tensor;
  /** Independent draws: `shape` of them, that of the arguments when left out. */
  sample(key: Key, shape?: Shape, options?: DrawOptions): Tensor;
  /** NaN where there is none. */
  mean(options?: MomentOptions): Tensor;
  variance(options?: MomentOptions): Tensor;
  /** log P(X ≤ x) and log P(X > x), where they are known. */
  readonly logCdf?: (x: Tensor) => Tensor;
  readonly logSurvival?: (x: Tensor) => Tensor;
  readonly noncentered?: () => Noncentered;
  /** What it was given; decides the dtype of draws. */
  readonly arguments: readonly Argument[];
  /** What it was given, where a rule says what that must be. */
  readonly parameters?: readonly Parameter[];
  /** An error where an argument has a value out of its domain. What depends on placeholders has none and is not looked at. */
  checkArguments(): void;
}

/** What an argument must be. Numbers are checked when the distribution is made, tensors when asked: they are read back. */
export interface ParameterRule {
  /** Trailing axes that belong to one draw. */
  readonly rank: number;
  /** Between which numbers it lies, where not all are taken. */
  readonly within?: Range;
  readonly isValid: (value: number) => boolean;
  readonly says: string;
  /** Whether one number may stand for a whole vector of it. */
  readonly mayBeNumber?: boolean;
  /** What the numbers of one vector or matrix must be together. */
  readonly together?: Together;
  /** Which variables are so, where few are. */
  readonly kind?: Kind;
}

const rule = (rank: number, says: string, isValid: (value: number) => boolean): ParameterRule => ({
  rank,
  says,
  isValid,
});

/** The kinds of parameters there are. */
export const parameter = {
  real: rule(0, "a finite number", Number.isFinite),
  bound: rule(0, "a number, which may be infinite", (x) => !Number.isNaN(x)),
  positive: { ...rule(0, "a positive number", (x) => x > 0 && x < Infinity), within: [0, Infinity] },
  nonNegative: { ...rule(0, "a number from 0 on", (x) => x >= 0 && x < Infinity), within: [0, Infinity] },
  probability: { ...rule(0, "a number from 0 to 1", (x) => x >= 0 && x <= 1), within: [0, 1] },
  count: { ...rule(0, "a whole number from 0 on", (x) => Number.isInteger(x) && x >= 0), within: [0, Infinity] },
  vector: rule(1, "a vector", Number.isFinite),
  positiveVector: { ...rule(1, "a vector of positive numbers", (x) => x > 0 && x < Infinity), within: [0, Infinity] },
  probabilities: { ...rule(1, "a vector of probabilities", (x) => x >= 0 && x <= 1), within: [0, 1] },
  location: { ...rule(1, "a number or a vector", Number.isFinite), mayBeNumber: true },
  matrix: rule(2, "a matrix", Number.isFinite),
} as const satisfies Readonly<Record<string, ParameterRule>>;

/** A parameter with what was given for it. */
export interface Parameter {
  readonly name: string;
  readonly rule: ParameterRule;
  readonly argument: Argument;
}

/** Parameters of a distribution that applies along an axis of another's arguments, or of its draws. */
export const alongLastAxis = (parameters: readonly Parameter[] = []): readonly Parameter[] =>
  parameters.map((one) => ({ ...one, rule: { ...one.rule, rank: one.rule.rank + 1 } }));

/** By how many roundings a probability that is computed may be beyond 1. */
const ROUNDINGS = 8;

/** Whether a parameter lies where its rule says, one answer for each draw that it describes. NaN does not. */
export function parameterInside({ rule, argument }: Parameter, like: Tensor): Tensor {
  const [low, high] = rule.within ?? [-Infinity, Infinity];
  const value = tensorOf(argument, like);
  const isAbove = value.greaterEqual(low);
  const most = high * (1 + ROUNDINGS * DTYPES[like.dtype].epsilon);
  const inside = high === Infinity ? isAbove : isAbove.logicalAnd(value.lessEqual(most));
  return overLast(inside, Math.min(rule.rank, value.rank));
}

/** What is asked of a family when it draws. */
export interface Draws {
  readonly key: Key;
  /** Of the draws, without the axes of one draw. */
  readonly shape: Shape;
  readonly dtype: "f32" | "f64";
}

type Arguments<P extends string> = Readonly<Record<P, Argument>>;
type Tensors<P extends string> = Readonly<Record<P, Tensor>>;

export interface Family<P extends string> {
  readonly name: string;
  readonly parameters: Readonly<Record<P, ParameterRule>>;
  /** Two of them, of which the first is less than the second. */
  readonly rising?: readonly [P, P];
  /** Shape of one draw, from the shapes of the arguments; a number's unless told. */
  readonly eventShape?: (shapes: Readonly<Record<P, Shape>>) => Shape;
  readonly support: Constraint | ((given: Arguments<P>) => Constraint);
  readonly domain?: (given: Arguments<P>) => Constraint;
  /** `p` are the arguments as tensors in the dtype of x; `given` is what the user wrote. */
  terms(x: Tensor, p: Tensors<P>, given: Arguments<P>, isTame: boolean): readonly Term[];
  /** The terms by the free number that the bijection of the support makes x of. */
  freeTerms?(free: Tensor, p: Tensors<P>, given: Arguments<P>, isTame: boolean): readonly Term[];
  /** About how large the numbers of the short form are for each draw, where there are two forms. */
  readonly magnitude?: (x: Tensor, p: Tensors<P>) => Tensor;
  draw(draws: Draws, p: Tensors<P>): Tensor;
  readonly mean?: (p: Tensors<P>) => Tensor;
  readonly variance?: (p: Tensors<P>) => Tensor;
  readonly logCdf?: (x: Tensor, p: Tensors<P>) => Tensor;
  readonly logSurvival?: (x: Tensor, p: Tensors<P>) => Tensor;
  readonly noncentered?: (given: Arguments<P>) => Noncentered;
}

/** A sum below this is known to 1/100 in f32, and to 10^-8 in f64. */
const TAME = { f32: 2 ** 17, f64: 2 ** 26 } as const;

/** Of what is sampled the size is not known: f64 has digits enough for a sampler until it is far beyond the usual. */
function isSmall(sizes: Tensor, { dtype, size }: Tensor): boolean {
  const limit = dtype === "f64" ? TAME.f64 : TAME.f32;
  if (sizes.node.isAbstract) return dtype === "f64";
  return (sizes.sum().itemSync() as number) * Math.max(1, size / sizes.size) < limit;
}

/** A family with arguments. */
export function bind<P extends string>(family: Family<P>, given: Arguments<P>): Distribution {
  const names = Object.keys(family.parameters) as P[];
  const { problem, parameters, checkArguments } = argumentsOf(family, given);
  const record = <T>(of: (name: P) => T) => Object.fromEntries(names.map((name) => [name, of(name)])) as Record<P, T>;
  const tensorsLike = (like: Tensor): Tensors<P> => record((name) => tensorOf(given[name], like));
  const all = names.map((name) => given[name]);
  const moment =
    (of: (p: Tensors<P>) => Tensor) =>
    ({ dtype = floatOf(all), device = deviceOf(all) }: MomentOptions = {}): Tensor =>
      of(tensorsLike(zeros([], { dtype, device })));
  const { mean, variance, logCdf, logSurvival, noncentered, magnitude } = family;
  return completed({
    name: family.name,
    get batchShape() {
      const shapes = names.map((name) => {
        if (problem !== null && !isArgument(given[name])) throw new ArgumentError(problem);
        const shape = shapeOfArgument(given[name]);
        return shape.slice(0, Math.max(0, shape.length - family.parameters[name].rank));
      });
      return broadcastShapes(family.name, ...shapes);
    },
    get eventShape() {
      return family.eventShape?.(record((name) => shapeOfArgument(given[name]))) ?? [];
    },
    get support() {
      return typeof family.support === "function" ? family.support(given) : family.support;
    },
    get domain() {
      return family.domain?.(given);
    },
    terms: (x, isTame = false) => family.terms(x, tensorsLike(x), given, isTame),
    ...(family.freeTerms && {
      freeTerms: (free: Tensor, isTame = false) => family.freeTerms?.(free, tensorsLike(free), given, isTame) ?? [],
    }),
    ...(magnitude && {
      isTame: (x: Tensor) => isSmall(magnitude(x, tensorsLike(x)), x),
    }),
    draw(draws) {
      const like = zeros([], { dtype: draws.dtype, device: draws.key.device });
      return family.draw(draws, tensorsLike(like));
    },
    arguments: all,
    ...(mean && { mean: moment(mean) }),
    ...(variance && { variance: moment(variance) }),
    ...(logCdf && { logCdf: (x: Tensor) => logCdf(x, tensorsLike(x)) }),
    ...(logSurvival && { logSurvival: (x: Tensor) => logSurvival(x, tensorsLike(x)) }),
    ...(noncentered && { noncentered: () => noncentered(given) }),
    parameters,
    checkArguments,
  });
}

/** What is known to be wrong with arguments when they are given, and the check that also looks into tensors. */
export function argumentsOf<P extends string>(
  family: Pick<Family<P>, "name" | "parameters" | "rising">,
  given: Arguments<P>,
): { readonly problem: string | null; readonly parameters: readonly Parameter[]; checkArguments(): void } {
  const problem = problemIn(family, given);
  const parameters = (Object.keys(family.parameters) as P[]).map((name) => ({
    name,
    rule: family.parameters[name] as ParameterRule,
    argument: given[name],
  }));
  // In a model the variable's name is not known yet: `given` asks again when it is.
  if (problem !== null && !evaluation()) throw new ArgumentError(problem);
  return {
    problem,
    parameters,
    checkArguments() {
      if (problem !== null) throw new ArgumentError(problem);
      for (const { name, rule, argument } of parameters) checkValues(family.name, name, rule, argument);
      if (family.rising) checkRising(family.name, family.rising, given);
    },
  };
}

/** What a distribution that is no family has to say; the rest follows. */
export interface Core extends Omit<Distribution, "logDensity" | "sample" | "mean" | "variance" | "checkArguments"> {
  draw(draws: Draws): Tensor;
  readonly mean?: (options?: MomentOptions) => Tensor;
  readonly variance?: (options?: MomentOptions) => Tensor;
  readonly checkArguments?: () => void;
}

/** The distribution of a core. Getters stay getters: shapes of random variables are not asked for before they are used. */
export function completed(core: Core): Distribution {
  const absent = (what: string) => () => {
    throw new UnsupportedError(`${core.name}: no closed form of its ${what}; average draws of sample().`);
  };
  const rest = {
    mean: core.mean ?? absent("mean"),
    variance: core.variance ?? absent("variance"),
    checkArguments() {},
    logDensity(x: Tensor): Tensor {
      if (!(x instanceof Tensor))
        throw new ArgumentError(`${core.name}.logDensity: x is ${shown(x)}; make it a tensor.`);
      const value = isFloat(x.dtype) ? x : x.cast(floatOf(core.arguments));
      const { eventShape } = core;
      checkEvent(core.name, eventShape, value.shape);
      const draws = value.shape.slice(0, value.rank - eventShape.length);
      const batch = broadcastShapes(`${core.name}.logDensity`, core.batchShape, draws);
      const each = value.broadcastTo([...batch, ...eventShape]);
      const isNumber = overLast(each.isNaN().logicalNot(), eventShape.length);
      return where(isNumber, insideOnly(each, core), Number.NaN);
    },
    sample(key: Key, shape: Shape = core.batchShape, options: DrawOptions = {}): Tensor {
      const dtype = options.dtype ?? (core.support.isDiscrete ? "i32" : floatOf(core.arguments));
      const work = dtype === "f64" || floatOf(core.arguments) === "f64" ? "f64" : "f32";
      checkKey(key, `${core.name}.sample`, "");
      checkBroadcastTo(`${core.name}.sample`, core.batchShape, shape);
      return core.draw({ key, shape, dtype: work }).cast(dtype);
    },
  };
  return Object.defineProperties(rest, Object.getOwnPropertyDescriptors(core)) as unknown as Distribution;
}

/** All terms together. Small ones are added to each other first, so that large ones are walked once. */
export function sumOfTerms(terms: readonly Term[]): Term {
  const size = (term: Term) => (typeof term === "number" ? 0 : term.size);
  const rising = [...terms].sort((a, b) => size(a) - size(b));
  return rising.reduce<Term>((a, b) => {
    if (typeof b === "number") return (a as number) + b;
    return a === 0 ? b : b.add(a);
  }, 0);
}

/**
 * The log density, and what is added to it; -Infinity outside the support. The formula sees values inside only: what it makes of
 * others may be NaN, which gradients would not forget.
 */
export function insideOnly(
  x: Tensor,
  { support, eventShape, terms }: Pick<Distribution, "support" | "eventShape" | "terms">,
  more: Term = 0,
): Tensor {
  const inside = eachInside(support, x, eventShape.length);
  const isWhole = eventShape.reduce((each) => each.expandDims(-1), inside);
  const zero = scalarLike(x, 0);
  const { bijection } = support;
  const elsewhere = bijection ? bijection.forward(zero.broadcastTo(bijection.freeShape(x.shape)), x.shape).value : zero;
  const total = tensorOf(sumOfTerms([...terms(where(isWhole, x, elsewhere)), more]), x);
  return where(inside, total, -Infinity);
}

/**
 * Whether values lie inside, one answer for each draw with so many axes of its own. What a constraint says of parts of a draw
 * is taken together, and what it says of several draws holds for each. Bounds may have axes in front that values have not.
 */
export function eachInside(constraint: Constraint, value: Tensor, eventRank: number): Tensor {
  const inside = constraint.holds(value);
  if (eventRank >= constraint.eventRank) return overLast(inside, eventRank - constraint.eventRank);
  return Array.from({ length: constraint.eventRank - eventRank }).reduce<Tensor>((all) => all.expandDims(-1), inside);
}

/** Whether all is true along the last axes. */
const overLast = (truths: Tensor, axes: number): Tensor =>
  axes === 0 ? truths : truths.all({ axis: Array.from({ length: axes }, (_, i) => i - axes) });

/** Draws of another size would broadcast. */
function checkEvent(name: string, eventShape: Shape, shape: Shape): void {
  if (shape.length >= eventShape.length && sameShape(shape.slice(shape.length - eventShape.length), eventShape)) return;
  throw new ShapeError(
    `${name}.logDensity: one draw has the shape ${formatShape(eventShape)}, and x has ${formatShape(shape)}; ` +
      "its last axes are those of a draw.",
  );
}

export function tensorsIn(given: readonly Argument[]): Tensor[] {
  return given.flatMap((argument) => {
    if (argument instanceof Tensor) return [argument];
    return typeof argument === "number" ? [] : tensorsIn(argument);
  });
}

/** The float dtype of arguments; that of numbers and integers alone is f32 unless told. */
export function floatOf(given: readonly Argument[], otherwise: "f32" | "f64" = "f32"): "f32" | "f64" {
  const floats = tensorsIn(given).flatMap(({ dtype }) => (isFloat(dtype) ? [dtype] : []));
  if (floats.length === 0) return otherwise;
  return resultType(floats) === "f64" ? "f64" : "f32";
}

export function deviceOf(given: readonly Argument[]): string | undefined {
  return tensorsIn(given)[0]?.device;
}

/** What is wrong with arguments as far as numbers tell, if anything. */
function problemIn<P extends string>(
  family: Pick<Family<P>, "name" | "parameters" | "rising">,
  given: Arguments<P>,
): string | null {
  for (const name of Object.keys(family.parameters) as P[]) {
    const problem = problemOfNumbers(family.name, name, family.parameters[name], given[name]);
    if (problem !== null) return problem;
  }
  if (!family.rising) return null;
  const [low, high] = family.rising;
  const [from, to] = [given[low], given[high]];
  if (typeof from !== "number" || typeof to !== "number" || from < to) return null;
  return `${family.name}: ${low} is ${from} and ${high} is ${to}; ${low} is less than ${high}.`;
}

/** What is wrong with an argument as far as numbers tell, if anything. */
export const problemOfNumbers = (family: string, name: string, rule: ParameterRule, argument: Argument) =>
  problemWith(family, name, rule, argument) ?? problemTogether(family, rule, argument, false);

function problemWith(family: string, name: string, rule: ParameterRule, argument: Argument): string | null {
  if (argument instanceof Tensor) return null;
  if (Array.isArray(argument)) {
    const inside = { ...rule, rank: Math.max(0, rule.rank - 1) };
    const problems = (argument as readonly Argument[]).map((part) => problemWith(family, name, inside, part));
    return problems.find((problem) => problem !== null) ?? null;
  }
  const isOne = rule.rank === 0 || rule.mayBeNumber;
  if (typeof argument === "number" && isOne && rule.isValid(argument)) return null;
  return `${family}: ${name} is ${String(argument)}; it is ${rule.says}, or a tensor of such.`;
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
  if (parts.length < argument.length || !parts.every(({ shape }) => sameShape(shape, first.shape))) return null;
  return { values: parts.flatMap(({ values }) => values), shape: [parts.length, ...first.shape] };
}

/** What is wrong with known arguments as a whole, if anything. */
function problemTogether(family: string, rule: ParameterRule, argument: Argument, mayRead: boolean): string | null {
  const known = rule.together && knownNumbers(argument, mayRead);
  if (!rule.together || !known || known.shape.length < rule.rank) return null;
  const shape = known.shape.slice(known.shape.length - rule.rank);
  const size = sizeOf(shape);
  for (let at = 0; at < known.values.length; at += size) {
    const problem = rule.together(known.values.slice(at, at + size), shape);
    if (problem !== null) return `${family}: ${problem}`;
  }
  return null;
}

/** The values of tensors in an argument; of those that have none, nothing. */
const valuesIn = (argument: Argument): number[][] =>
  tensorsIn([argument]).flatMap((part) =>
    part.node.isAbstract ? [] : [Array.from(part.dataSync() as ArrayLike<number>, Number)],
  );

/** Checks arguments that are known when a model meets its data: a negative scale among data is not found by sampling. */
export function checkValues(family: string, name: string, rule: ParameterRule, argument: Argument): void {
  for (const values of valuesIn(argument)) {
    const position = values.findIndex((value) => !rule.isValid(value));
    if (position < 0) continue;
    const place = values.length === 1 ? name : `${name}[${position}]`;
    throw new ArgumentError(`${family}: ${place} is ${values[position]}; it is ${rule.says}, or a tensor of such.`);
  }
  const problem = problemTogether(family, rule, argument, true);
  if (problem !== null) throw new ArgumentError(problem);
}

function checkRising<P extends string>(family: string, [low, high]: readonly [P, P], given: Arguments<P>): void {
  const both = [given[low], given[high]];
  const like = zeros([], { dtype: floatOf(both), device: deviceOf(both) });
  const [from, to] = both.map((bound) => tensorOf(bound, like));
  const isRising = from.less(to);
  if (isRising.node.isAbstract || isRising.all().itemSync()) return;
  const position = Array.from(isRising.dataSync() as ArrayLike<number | boolean>, Boolean).indexOf(false);
  const at = (bound: Tensor) => (bound.broadcastTo(isRising.shape).dataSync() as ArrayLike<number>)[position];
  throw new ArgumentError(`${family}: ${low} is ${at(from)} and ${high} is ${at(to)}; ${low} is less than ${high}.`);
}
