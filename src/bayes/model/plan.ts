/**
 * What `given` finds out about a model before anything is sampled: which variables there are, which of them are observed,
 * and where each of the others lies in the flat vector that samplers walk in. It runs the function with placeholders, so
 * that mistakes show up at once, with the name of the variable.
 */
import { type DType, isComplex } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, type Shape, sameShape, sizeOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { Tensor, where, zeros } from "../../tensor/index.js";
import { placeholderLike } from "../../transforms/trace.js";
import { tensorOf } from "../argument.js";
import type { Bijection, Constraint, Term } from "../constraints/constraint.js";
import { real } from "../constraints/numbers.js";
import { eachInside, type Parameter, parameterInside, sumOfTerms } from "../distributions/distribution.js";
import { checkFitting, unsureParameters } from "./fitting.js";
import { explaining, type GivenData, noComplex } from "./given-data.js";
import { improperIn, type Part } from "./improper.js";
import { checkSame, type Outline, outlineOf } from "./outline.js";
import { checkingPositions } from "./positions.js";
import { batchShapeOf, broadcastsTo, namesIn, type Run, runModel, speakingOf } from "./run.js";
import { hintingAtShapes } from "./shape-hint.js";
import { RandomVariable } from "./variable.js";

export interface Latent {
  readonly kind: "latent";
  readonly name: string;
  /** Whether the name is ours, because the function does not return the variable. */
  readonly isAnonymous: boolean;
  readonly distribution: string;
  /** Of the value. */
  readonly shape: Shape;
  /** Of its free numbers, which start at `offset` of the flat vector. */
  readonly freeShape: Shape;
  readonly offset: number;
}

export interface Observed {
  readonly kind: "observed";
  readonly name: string;
  readonly distribution: string;
  readonly shape: Shape;
}

export interface Deterministic {
  readonly kind: "deterministic";
  readonly name: string;
  readonly shape: Shape;
}

export interface Plan {
  /** By number of the variable; absent for those that nothing depends on, such as components of mixtures. */
  readonly variables: ReadonlyMap<number, Latent | Observed>;
  /** For each of them, which terms of its density depend on what is sampled. */
  readonly dependent: ReadonlyMap<number, readonly boolean[]>;
  /** Those for which samplers may use the short form of the terms. */
  readonly tame: ReadonlySet<number>;
  /** Those whose values or parameters may lie outside of where they belong, which only the density can tell. */
  readonly open: ReadonlyMap<number, Open>;
  readonly deterministic: readonly Deterministic[];
  /** Names of flat variables that nothing pins down. */
  readonly improper: readonly string[];
  /** What every run of the function makes. */
  readonly outline: Outline;
  /** Length of the flat vector. */
  readonly dim: number;
}

export interface Open {
  readonly areValues: boolean;
  /** By number. */
  readonly parameters: readonly number[];
}

/** The bijection behind a variable and whether it makes the standard numbers of `.noncentered()`. */
export function bijectionOf(variable: RandomVariable): Bijection {
  const { distribution, constraint, isNoncentered, isNarrowed } = variable;
  if (isNoncentered && isNarrowed) {
    throw new ArgumentError("a variable is either noncentered() or constrained(…), not both.");
  }
  if (isNoncentered && distribution.noncentered) return distribution.noncentered().base.support.bijection as Bijection;
  if (constraint.bijection && distribution.support.bijection) return constraint.bijection;
  throw new ArgumentError(
    `a ${distribution.name} variable takes ${distribution.support.description}, which gradients cannot walk through. ` +
      "Observe it in given({ … }), or sum it out with mixture(weights, components).",
  );
}

/** Shape of the free numbers behind a variable's values. */
function freeShapeOf(variable: RandomVariable, shape: Shape): Shape {
  const { constraint, distribution } = variable;
  const { name, description, eventRank } = constraint;
  if (shape.length < eventRank) {
    const whole = variable.isNarrowed
      ? `${distribution.name}(…).constrained(${name})`
      : `${distribution.name}(${name})`;
    const extents = eventRank === 1 ? "3) for vectors of 3" : "3, 3) for matrices of 3 × 3";
    throw new ShapeError(
      `${whole} takes ${description}, and has the shape ${formatShape(shape)}; say how large they are: .shape(${extents}.`,
    );
  }
  if (sizeOf(shape) > 0) return bijectionOf(variable).freeShape(shape);
  throw new ArgumentError(`${distribution.name}(…) of shape ${formatShape(shape)} has no values to sample.`);
}

/** A latent variable at free numbers. */
export interface Placed {
  readonly value: Tensor;
  /** The standard numbers of a non-centred variable. */
  readonly standard: Tensor | null;
  /** Those that the bijection of the distribution's support made the value of. */
  readonly free: Tensor | null;
  readonly logJacobian: Term;
}

export function placedAt(variable: RandomVariable, free: Tensor, shape: Shape): Placed {
  const { value, logJacobian } = bijectionOf(variable).forward(free, shape);
  const { distribution, isNoncentered, isNarrowed } = variable;
  if (!isNoncentered || !distribution.noncentered) {
    return { value, standard: null, free: isNarrowed ? null : free, logJacobian };
  }
  return { value: distribution.noncentered().forward(value), standard: value, free: null, logJacobian };
}

/** Terms, and the shape they are summed over. */
interface SizedTerms {
  readonly terms: readonly Term[];
  readonly shape: Shape;
}

/** The terms of a variable's density. */
export function termsOf({ distribution }: RandomVariable, value: Tensor, placed?: Placed, isTame = false): SizedTerms {
  const { standard, free } = placed ?? {};
  if (standard && distribution.noncentered) {
    return { terms: distribution.noncentered().base.terms(standard), shape: standard.shape };
  }
  return {
    terms: free && distribution.freeTerms ? distribution.freeTerms(free, isTame) : distribution.terms(value, isTame),
    shape: value.shape.slice(0, value.rank - distribution.eventShape.length),
  };
}

/** What no bijection sees to: everything for data, and for a latent variable the support that `.constrained(…)` replaced. */
function constraintsOn(variable: RandomVariable, isObserved: boolean): readonly Constraint[] {
  const { support } = variable.distribution;
  if (isObserved) return variable.isNarrowed ? [support, variable.constraint] : [support];
  return variable.isNarrowed && support.bijection !== real.bijection ? [support] : [];
}

/** Terms as one, which is -Infinity where a value or a parameter of an open variable lies outside. */
export function termsInside(
  variable: RandomVariable,
  value: Tensor,
  { terms, shape }: SizedTerms,
  isObserved: boolean,
  { areValues, parameters }: Open,
): readonly Term[] {
  const { distribution } = variable;
  const eventRank = distribution.eventShape.length;
  const constraints = areValues ? constraintsOn(variable, isObserved) : [];
  const answers = [
    ...constraints.map((constraint) => eachInside(constraint, value, eventRank)),
    ...parameters.map((number) => parameterInside(distribution.parameters?.[number] as Parameter, value)),
  ];
  const inside = answers.reduce((a, b) => a.logicalAnd(b));
  // The standard numbers of a vector have a density each.
  const own = shape.slice(value.rank - eventRank).reduce<Tensor>((each) => each.expandDims(-1), inside);
  return [where(own, tensorOf(sumOfTerms(terms), value), -Infinity)];
}

/** Shape of a variable's values, without those of an observation. */
export function valueShapeOf(variable: RandomVariable): Shape {
  return [...batchShapeOf(variable), ...variable.distribution.eventShape];
}

export function planOf<D>(fn: (data: D) => Readonly<Record<string, Tensor>>, given: GivenData<D>, dtype: DType): Plan {
  return explaining(fn, given, (data) => planWith(fn, { ...given, data }, dtype));
}

function planWith<D>(fn: (data: D) => Readonly<Record<string, Tensor>>, given: GivenData<D>, dtype: DType): Plan {
  const device = given.tensors[0]?.device;
  const placed = new Map<RandomVariable, Placed>();
  const owners = new Map<Node, RandomVariable>();
  // Without values: nothing is computed, and whatever depends on them can be told from what does not.
  const placeholder = (variable: RandomVariable): Tensor => {
    const shape = valueShapeOf(variable);
    const isLatent = variable.constraint.bijection !== undefined;
    const free = placeholderLike(zeros(isLatent ? freeShapeOf(variable, shape) : shape, { dtype, device }).node);
    if (!isLatent) return free;
    owners.set(free.node, variable);
    const found = placedAt(variable, free, shape);
    placed.set(variable, found);
    return found.value;
  };
  // Which variables are observed is known only when the function has returned their names.
  const used: RandomVariable[] = [];
  const noted = (variable: RandomVariable): Tensor => {
    const value = placeholder(variable);
    used.push(variable);
    return value;
  };
  const without = (data: D) => hintingAtShapes(given.observed, used, () => fn(data));
  const { observed, outline } = runModel(without, given.data, noted, (run) => {
    checkObserved(run, given);
    const names = namesIn(run);
    const data = run.variables.map((variable) => {
      const name = names.get(variable);
      if (name === undefined) return undefined;
      const values = given.observed.get(name);
      // In the order of the program, so that what is wrong with a variable is said of it and not of those that depend on it.
      if (!values) speakingOf(name, () => variable.node);
      return values;
    });
    return { observed: data, outline: outlineOf(run) };
  });
  return runModel(
    checkingPositions(fn),
    given.data,
    (variable, number) => observed[number] ?? placeholder(variable),
    (run) => {
      checkSame(outline, outlineOf(run), true);
      return { ...planFrom(run, observed, placed, owners), outline };
    },
  );
}

function checkObserved(run: Run, given: GivenData<unknown>): void {
  for (const name of given.observed.keys()) {
    const value = run.returned[name];
    if (value instanceof RandomVariable) continue;
    if (value) {
      throw new ArgumentError(
        `${name}: this is no random variable but computed from others; observe a random variable, or use factor(…).`,
      );
    }
    const known = Object.entries(run.returned).flatMap(([key, one]) => (one instanceof RandomVariable ? [key] : []));
    throw new ArgumentError(`given: the model has no variable "${name}"; it has ${known.join(", ")}.`);
  }
}

/** Whether a term depends on placeholders. */
const isDependent = (term: Term): boolean => typeof term !== "number" && term.node.isAbstract;

function checkArguments(variable: RandomVariable): void {
  variable.distribution.checkArguments();
  variable.constraint.check?.();
  checkNarrower(variable);
}

/** An error where `.constrained(…)` leads out of the support. Vectors may: ordered has no variant for every support. */
function checkNarrower({ distribution: { name, support }, constraint, isNarrowed }: RandomVariable): void {
  const [inner, outer] = [constraint.range, support.range];
  // Angles go round: any number is one.
  if (!isNarrowed || constraint.eventRank > 0 || !inner || !outer || support.holds === real.holds) return;
  if (inner[0] >= outer[0] && inner[1] <= outer[1]) return;
  throw new ArgumentError(
    `${name}(…).constrained(${constraint.name}) takes ${constraint.description}, but ${name} takes ${support.description}; ` +
      "constrained(…) keeps a variable to a part of its support.",
  );
}

function planFrom(
  run: Run,
  observed: readonly (Tensor | undefined)[],
  placed: ReadonlyMap<RandomVariable, Placed>,
  owners: ReadonlyMap<Node, RandomVariable>,
): Omit<Plan, "outline"> {
  const names = namesIn(run);
  for (const [variable, name] of names) speakingOf(name, () => checkArguments(variable));
  const dependent = new Map<number, readonly boolean[]>();
  const openValues = new Set<number>();
  const tame = new Set<number>();
  const parts: Part[] = run.factors.map((factor, i) => {
    if (typeof factor !== "number" && isComplex(factor.dtype)) throw noComplex(`factor ${i + 1}`);
    const terms = [typeof factor === "number" ? factor : new Tensor(factor.node)];
    return { variable: null, isObserved: false, density: [], terms };
  });
  // A variable's arguments were made before it, so that going backwards finds everything that something depends on.
  for (let number = run.variables.length - 1; number >= 0; number--) {
    const variable = run.variables[number];
    if (!variable.isUsed && !names.has(variable)) continue;
    speakingOf(names.get(variable) ?? `${variable.distribution.name}(…)`, () => {
      variable.checkNoPart();
      if (!names.has(variable)) checkArguments(variable);
      const data = observed[number];
      if (data) checkObservation(variable, data);
      else bijectionOf(variable);
      const value = data ?? new Tensor(variable.node);
      const isObserved = data !== undefined;
      if (variable.distribution.isTame?.(value)) tame.add(number);
      const { terms } = termsOf(variable, value, data ? undefined : placed.get(variable), tame.has(number));
      dependent.set(number, terms.map(isDependent));
      const answers = constraintsOn(variable, isObserved).map((constraint) => constraint.holds(value));
      if (answers.some(isDependent)) openValues.add(number);
      const jacobian = placed.get(variable)?.logJacobian ?? 0;
      parts.push({ variable, isObserved, density: terms, terms: [...terms, ...answers, jacobian] });
    });
  }
  const label = labelsFor(run, dependent, names);
  const latents = new Map(
    run.variables.flatMap((variable, number) =>
      dependent.has(number) && !observed[number] ? [[variable.node, variable] as const] : [],
    ),
  );
  for (const variable of run.variables) {
    speakingOf(label.get(variable) ?? variable.distribution.name, () =>
      checkFitting(variable, latents, (latent) => label.get(latent) as string),
    );
  }
  const open = new Map<number, Open>();
  for (const number of dependent.keys()) {
    const areValues = openValues.has(number);
    const parameters = unsureParameters(run.variables[number], latents);
    if (areValues || parameters.length > 0) open.set(number, { areValues, parameters });
  }
  let offset = 0;
  const variables = new Map<number, Latent | Observed>();
  run.variables.forEach((variable, number) => {
    if (!dependent.has(number)) return;
    const { name: distribution } = variable.distribution;
    const name = label.get(variable) as string;
    const data = observed[number];
    if (data) {
      variables.set(number, { kind: "observed", name, distribution, shape: [...data.shape] });
      return;
    }
    const shape = [...variable.node.shape];
    const freeShape = freeShapeOf(variable, shape);
    const isAnonymous = !names.has(variable);
    variables.set(number, { kind: "latent", name, isAnonymous, distribution, shape, freeShape, offset });
    offset += sizeOf(freeShape);
  });
  if (offset === 0) {
    throw new ArgumentError(
      "given: every variable of the model is observed (or it has none), so there is nothing to infer.",
    );
  }
  const deterministic = Object.entries(run.returned).flatMap(([name, value]): Deterministic[] => {
    if (value instanceof RandomVariable) return [];
    if (!isComplex(value.dtype)) return [{ kind: "deterministic", name, shape: [...value.shape] }];
    throw noComplex(name);
  });
  const improper = improperIn(parts, owners).map((variable) => label.get(variable) as string);
  return { variables, dependent, open, tame, deterministic, improper, dim: offset };
}

/** The names variables go by: those they were returned under, else their distribution's with a number. */
function labelsFor(
  run: Run,
  needed: ReadonlyMap<number, unknown>,
  names: ReadonlyMap<RandomVariable, string>,
): ReadonlyMap<RandomVariable, string> {
  const labels = new Map(names);
  const taken = new Set(Object.keys(run.returned));
  run.variables.forEach((variable, number) => {
    if (labels.has(variable) || !needed.has(number)) return;
    const { name } = variable.distribution;
    let count = 1;
    while (taken.has(`${name}_${count}`)) count++;
    taken.add(`${name}_${count}`);
    labels.set(variable, `${name}_${count}`);
  });
  return labels;
}

function checkObservation(variable: RandomVariable, data: Tensor): void {
  const { distribution, batchShape: asked } = variable;
  const { eventShape } = distribution;
  const batch = data.shape.slice(0, Math.max(0, data.rank - eventShape.length));
  const own = asked ? batchShapeOf(variable) : distribution.batchShape;
  const fits =
    sameShape(data.shape.slice(batch.length), eventShape) &&
    (asked ? sameShape(batch, asked) : broadcastsTo(own, batch));
  if (!fits) {
    throw new ShapeError(
      `the data have the shape ${formatShape(data.shape)}, but ${distribution.name} has ` +
        `${formatShape([...own, ...eventShape])}${asked ? "" : "; more axes in front would be fine"}.`,
    );
  }
  const { domain } = distribution;
  const constraints = [...(domain ? [domain] : []), ...constraintsOn(variable, true)];
  for (const constraint of constraints) checkInside(distribution.name, constraint, data);
}

export function checkInside(distribution: string, constraint: Constraint, data: Tensor): void {
  const inside = constraint.holds(data);
  // Where the support depends on what is sampled, only the density can tell.
  if (isDependent(inside)) return;
  const answers = inside.dataSync() as ArrayLike<number | boolean>;
  const position = Array.from(answers, Boolean).indexOf(false);
  if (position < 0) return;
  const size = data.size / inside.size;
  const values = Array.from(data.dataSync() as ArrayLike<number>).slice(position * size, (position + 1) * size);
  const shown = size === 1 ? `${values[0]}` : `[${values.slice(0, 6).join(", ")}${size > 6 ? ", …" : ""}]`;
  const place = inside.size === 1 ? "the value" : `value ${position}`;
  throw new ArgumentError(`${place} is ${shown}, but ${distribution} takes ${constraint.description}.`);
}
