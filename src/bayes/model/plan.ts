/**
 * The plan that `given` makes of a model before anything is sampled: which variables there are, which of them are observed,
 * and where each of the others lies in the flat vector that samplers walk in. It runs the function with placeholders, so
 * that mistakes show up at once, with the name of the variable.
 */
import { type DType, isComplex } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { Tensor, zeros } from "../../tensor/index.js";
import { placeholderLike } from "../../transforms/trace.js";
import { real } from "../constraints/numbers.js";
import { whyNoName } from "../draws/names.js";
import { RandomVariable } from "../variables/variable.js";
import { checkFitting, rangeOf, unsureParameters } from "./fitting.js";
import { type GivenData, noComplex } from "./given-data.js";
import { improperIn, type Summand } from "./improper.js";
import { bijectionOf, freeShapeOf, type LatentValue, latentAt } from "./latent-value.js";
import { explainingMissingData } from "./missing-data.js";
import { checkableData, countMissing, imputedAt, type Missing, missingName } from "./missing-values.js";
import { type ModelRun, namesIn, runModel } from "./model-run.js";
import { namingErrors } from "./named-errors.js";
import { checkObservation, checkObservedNames } from "./observations.js";
import { checkSame, outlineOf } from "./outline.js";
import type { Deterministic, Latent, Observed, Plan, Unsure } from "./plan-entries.js";
import { checkingPositions } from "./positions.js";
import { hintingAtShapes } from "./shape-hint.js";
import { valueShapeOf } from "./variable-shapes.js";
import { constraintsOn, isDependent, termsOf } from "./variable-terms.js";

type ModelFunction<D> = (data: D) => Readonly<Record<string, Tensor>>;

export function planOf<D>(fn: ModelFunction<D>, given: GivenData<D>, dtype: DType): Plan {
  return explainingMissingData(fn, given, (data) => planWith(fn, { ...given, data }, dtype));
}

/** Placeholders for variables: tensors without values, so that what depends on them can be told from what does not. */
class Placeholders {
  readonly values = new Map<RandomVariable, LatentValue>();
  /** The variable that each placeholder stands for. */
  readonly owners = new Map<Node, RandomVariable>();

  constructor(
    private readonly dtype: DType,
    private readonly device: string | undefined,
  ) {}

  of(variable: RandomVariable): Tensor {
    const { dtype, device } = this;
    const shape = valueShapeOf(variable);
    const isLatent = variable.constraint.bijection !== undefined;
    const free = placeholderLike(zeros(isLatent ? freeShapeOf(variable, shape) : shape, { dtype, device }).node);
    if (!isLatent) return free;
    this.owners.set(free.node, variable);
    const found = latentAt(variable, free, shape);
    this.values.set(variable, found);
    return found.value;
  }

  /** Of a variable that is observed: its data, with placeholders for those that are missing. */
  observed(variable: RandomVariable, { data, missing }: ObservedValues): Tensor {
    if (!missing) return data;
    const { dtype, device } = this;
    const free = placeholderLike(zeros([countMissing(missing)], { dtype, device }).node);
    const found = imputedAt(variable, free, data, missing);
    this.values.set(variable, found);
    return found.value;
  }
}

/** The observations of a variable. */
interface ObservedValues {
  readonly data: Tensor;
  readonly missing?: Missing;
}

/** The function runs twice: names, and with them observations, are known only when it has returned. */
function planWith<D>(fn: ModelFunction<D>, given: GivenData<D>, dtype: DType): Plan {
  const placeholders = new Placeholders(dtype, given.tensors[0]?.device);
  const used: RandomVariable[] = [];
  const noted = (variable: RandomVariable): Tensor => {
    const value = placeholders.of(variable);
    used.push(variable);
    return value;
  };
  const without = (data: D) => hintingAtShapes(given.observed, used, () => fn(data));
  const { observed, outline, names } = runModel(without, given.data, noted, (run) => {
    checkObservedNames(run, given);
    const names = namesIn(run);
    const data = run.variables.map((variable): ObservedValues | undefined => {
      const name = names.get(variable);
      if (name === undefined) return undefined;
      const values = given.observed.get(name);
      // In the order of the program, so that what is wrong with a variable is said of it and not of those that depend on it.
      if (!values) namingErrors(name, () => variable.node);
      return values && { data: values, missing: given.missing.get(name) };
    });
    return { observed: data, outline: outlineOf(run), names: run.variables.map((variable) => names.get(variable)) };
  });
  return runModel(
    checkingPositions(fn),
    given.data,
    (variable, number) => {
      const own = observed[number];
      if (!own) return placeholders.of(variable);
      return namingErrors(names[number] ?? "", () => placeholders.observed(variable, own));
    },
    (run) => {
      checkSame(outline, outlineOf(run), true);
      return { ...planFrom(run, observed, placeholders), outline };
    },
  );
}

type Observations = readonly (ObservedValues | undefined)[];

function planFrom(run: ModelRun, observed: Observations, placeholders: Placeholders): Omit<Plan, "outline"> {
  const names = namesIn(run);
  for (const [variable, name] of names) namingErrors(name, () => checkArguments(variable));
  const { summands, dependent, short, unsureValues } = densitiesIn(run, names, observed, placeholders);
  const label = labelsFor(run, dependent, names);
  const latents = new Map(
    run.variables.flatMap((variable, number) =>
      dependent.has(number) && !observed[number] ? [[variable.node, variable] as const] : [],
    ),
  );
  for (const variable of run.variables) {
    namingErrors(label.get(variable) ?? variable.distribution.name, () =>
      checkFitting(variable, latents, (latent) => label.get(latent) as string),
    );
  }
  const unsure = new Map<number, Unsure>();
  for (const number of dependent.keys()) {
    const areValues = unsureValues.has(number);
    const parameters = unsureParameters(run.variables[number], latents);
    if (areValues || parameters.length > 0) unsure.set(number, { areValues, parameters });
  }
  const { variables, imputed, dim } = entriesOf(run, observed, label, (number) => dependent.has(number));
  if (dim === 0) {
    throw new ArgumentError(
      "given: every variable of the model is observed (or it has none), so there is nothing to infer.",
    );
  }
  const deterministic = deterministicIn(run);
  const improper = improperIn(summands, placeholders.owners).map((variable) => label.get(variable) as string);
  return { variables, imputed, dependent, unsure, short, deterministic, improper, dim };
}

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

interface Densities {
  /** The log density, by variable and factor. */
  readonly summands: readonly Summand[];
  readonly dependent: ReadonlyMap<number, readonly boolean[]>;
  readonly short: ReadonlySet<number>;
  /** Variables whose values may lie outside of their support, by number. */
  readonly unsureValues: ReadonlySet<number>;
}

/** Writes down the density of every variable that something depends on, and looks at it. */
function densitiesIn(
  run: ModelRun,
  names: ReadonlyMap<RandomVariable, string>,
  observed: Observations,
  { values }: Placeholders,
): Densities {
  const dependent = new Map<number, readonly boolean[]>();
  const unsureValues = new Set<number>();
  const short = new Set<number>();
  const summands: Summand[] = run.factors.map((factor, i) => {
    if (typeof factor !== "number" && isComplex(factor.dtype)) throw noComplex(`factor ${i + 1}`);
    const terms = [typeof factor === "number" ? factor : new Tensor(factor.node)];
    return { variable: null, isObserved: false, density: [], terms };
  });
  // A variable's arguments were made before it, so that going backwards finds everything that something depends on.
  for (let number = run.variables.length - 1; number >= 0; number--) {
    const variable = run.variables[number];
    if (!variable.isUsed && !names.has(variable)) continue;
    namingErrors(names.get(variable) ?? `${variable.distribution.name}(…)`, () => {
      variable.checkNoPart();
      if (!names.has(variable)) checkArguments(variable);
      const own = observed[number];
      const { data, missing } = own ?? {};
      const checkable = data && missing ? checkableData(variable, data, missing) : data;
      if (checkable) checkObservation(variable, checkable);
      else bijectionOf(variable);
      const value = data && !missing ? data : new Tensor(variable.node);
      const isObserved = data !== undefined;
      if (variable.distribution.isShortEnough?.(value)) short.add(number);
      const { terms } = termsOf(variable, value, data ? undefined : values.get(variable), short.has(number));
      dependent.set(number, terms.map(isDependent));
      const answers = constraintsOn(variable, isObserved).map((constraint) => constraint.holds(checkable ?? value));
      if (answers.some(isDependent)) unsureValues.add(number);
      const jacobian = values.get(variable)?.logJacobian ?? 0;
      summands.push({ variable, isObserved, density: terms, terms: [...terms, ...answers, jacobian] });
    });
  }
  return { summands, dependent, short, unsureValues };
}

/** The variables of the plan, with the place of each latent one in the flat vector. */
function entriesOf(
  run: ModelRun,
  observed: Observations,
  label: ReadonlyMap<RandomVariable, string>,
  isNeeded: (number: number) => boolean,
): Pick<Plan, "variables" | "imputed" | "dim"> {
  const returned = new Set<Tensor>(Object.values(run.returned));
  const variables = new Map<number, Latent | Observed>();
  const imputed = new Map<number, Latent>();
  let offset = 0;
  run.variables.forEach((variable, number) => {
    if (!isNeeded(number)) return;
    const { name: distribution } = variable.distribution;
    const name = label.get(variable) as string;
    const own = observed[number];
    const known = rangeOf(variable);
    const range = known && { range: known };
    if (own) {
      variables.set(number, { kind: "observed", name, distribution, shape: [...own.data.shape] });
      if (!own.missing) return;
      const count = countMissing(own.missing);
      const missing = missingName(name);
      if (missing in run.returned) {
        throw new ArgumentError(
          `${missing}: the missing values of ${name} go by this name; call the variable otherwise.`,
        );
      }
      const sizes = { shape: [count], freeShape: [count], offset };
      imputed.set(number, { kind: "latent", name: missing, isAnonymous: false, distribution, ...sizes, ...range });
      offset += count;
      return;
    }
    const shape = [...variable.node.shape];
    const freeShape = freeShapeOf(variable, shape);
    const isAnonymous = !returned.has(variable);
    variables.set(number, { kind: "latent", name, isAnonymous, distribution, shape, freeShape, offset, ...range });
    offset += sizeOf(freeShape);
  });
  return { variables, imputed, dim: offset };
}

function deterministicIn({ returned }: ModelRun): Deterministic[] {
  return Object.entries(returned).flatMap(([name, value]): Deterministic[] => {
    if (value instanceof RandomVariable) return [];
    if (!isComplex(value.dtype)) return [{ kind: "deterministic", name, shape: [...value.shape] }];
    throw noComplex(name);
  });
}

/** The names variables go by: those they were returned under, else their distribution's with a number. */
function labelsFor(
  run: ModelRun,
  needed: ReadonlyMap<number, unknown>,
  names: ReadonlyMap<RandomVariable, string>,
): ReadonlyMap<RandomVariable, string> {
  const labels = new Map(names);
  const taken = new Set(Object.keys(run.returned));
  for (const name of taken) {
    const problem = whyNoName(name);
    if (problem) throw new ArgumentError(`model: ${problem}; return it under another one.`);
  }
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
