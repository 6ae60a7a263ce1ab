/**
 * Options of boosting about features: the categorical ones, those along which predictions rise or fall, and those that may stand together
 * in a branch. Features are named by their number, or by their name where the samples have names.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Features } from "../core/samples.js";

/** Options that are about features. */
export interface FeatureOptions {
  /**
   * Columns with categories as whole numbers from 0 to 254: their numbers, their names, or a list of true and false for all columns. Columns
   * of text of a table are categories without being named here.
   */
  readonly categoricalFeatures?: readonly number[] | readonly string[] | readonly boolean[];
  /** For each feature, or for some by name, 1 where predictions may only rise with it, -1 where they may only fall, else 0. */
  readonly monotonicCst?: readonly number[] | Readonly<Record<string, number>>;
  /**
   * Sets of features that may stand together in a branch, by number. Features in no set are one more set. "pairwise": any two may.
   * "noInteractions": none may.
   */
  readonly interactionCst?: readonly (readonly number[])[] | "pairwise" | "noInteractions";
}

/** The rules of features, by their number. */
export interface FeatureRules {
  readonly isCategorical: readonly boolean[];
  readonly monotonic: readonly number[];
  /** Sets of features that may stand together; null where all may. */
  readonly interactions: readonly (readonly number[])[] | null;
}

const isPlace = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;

const areAll = (list: readonly unknown[], type: string): boolean => list.every((each) => typeof each === type);

/** Throws on forms that no samples can fit. */
export function checkFeatureOptions(kind: string, options: FeatureOptions): void {
  const { categoricalFeatures = [], monotonicCst = [], interactionCst } = options;
  const isList = Array.isArray(categoricalFeatures);
  const areNamed = isList && (areAll(categoricalFeatures, "string") || areAll(categoricalFeatures, "boolean"));
  if (!areNamed && !(isList && categoricalFeatures.every(isPlace))) {
    const rule = "a list of columns by number or by name, or of true and false for all columns";
    throw new ArgumentError(`${kind}: categoricalFeatures is ${shown(categoricalFeatures)}; it is ${rule}.`);
  }
  const isObject = typeof monotonicCst === "object" && monotonicCst !== null;
  if (!isObject || !Object.values(monotonicCst).every((each) => [-1, 0, 1].includes(each))) {
    const rule = "a list of -1, 0 and 1, or such numbers by the names of features";
    throw new ArgumentError(`${kind}: monotonicCst is ${shown(monotonicCst)}; it is ${rule}.`);
  }
  const isNamed = interactionCst === "pairwise" || interactionCst === "noInteractions" || interactionCst === undefined;
  const areSets = Array.isArray(interactionCst) && interactionCst.every((set) => Array.isArray(set));
  if (!isNamed && !(areSets && (interactionCst as readonly number[][]).flat().every(isPlace))) {
    const rule = `a list of lists of columns by number, "pairwise" or "noInteractions"`;
    throw new ArgumentError(`${kind}: interactionCst is ${shown(interactionCst)}; it is ${rule}.`);
  }
  if (!Array.isArray(monotonicCst) || !areAll(categoricalFeatures, "number")) return;
  checkClash(kind, (feature) => (categoricalFeatures as readonly number[]).includes(feature), monotonicCst);
}

function checkClash(kind: string, isCategorical: (feature: number) => boolean, monotonic: readonly number[]): void {
  const clash = monotonic.findIndex((direction, feature) => direction !== 0 && isCategorical(feature));
  if (clash < 0) return;
  throw new ArgumentError(`${kind}: feature ${clash} is categorical, so it has no monotone constraint.`);
}

/** The rules for these samples. */
export function featureRules(operation: string, features: Features, options: FeatureOptions): FeatureRules {
  const { count } = features;
  const named = categoricalNamed(operation, features, options);
  const isCategorical = Array.from(
    { length: count },
    (_, f) => named.has(f) || (features.categories?.[f] ?? null) !== null,
  );
  const monotonic = directionsOf(operation, features, options);
  checkClash(operation, (feature) => isCategorical[feature] as boolean, monotonic);
  return { isCategorical, monotonic, interactions: setsOf(operation, count, options) };
}

/** The numbers of features that are named. */
function placesOf(operation: string, option: string, { names }: Features, given: readonly string[]): number[] {
  if (names === null) {
    throw new ArgumentError(
      `${operation}: ${option} names ${shown(given[0])}; the samples have no names of columns, so name features by number.`,
    );
  }
  const stray = given.find((name) => !names.includes(name));
  if (stray === undefined) return given.map((name) => names.indexOf(name));
  throw new ArgumentError(
    `${operation}: ${option} names ${shown(stray)}, not one of the columns ${shown([...names])}.`,
  );
}

function categoricalNamed(operation: string, features: Features, { categoricalFeatures = [] }: FeatureOptions) {
  const { count } = features;
  if (categoricalFeatures.length === 0) return new Set<number>();
  if (typeof categoricalFeatures[0] === "string") {
    return new Set(placesOf(operation, "categoricalFeatures", features, categoricalFeatures as readonly string[]));
  }
  if (typeof categoricalFeatures[0] === "boolean") {
    if (categoricalFeatures.length === count) {
      return new Set(Array.from({ length: count }, (_, f) => f).filter((f) => categoricalFeatures[f]));
    }
    throw new ArgumentError(
      `${operation}: categoricalFeatures has ${categoricalFeatures.length} values; the samples have ${count} features.`,
    );
  }
  const outside = (categoricalFeatures as readonly number[]).find((feature) => feature >= count);
  if (outside === undefined) return new Set(categoricalFeatures as readonly number[]);
  throw new ArgumentError(`${operation}: categoricalFeatures names ${outside}; the samples have ${count} features.`);
}

function directionsOf(operation: string, features: Features, { monotonicCst }: FeatureOptions): readonly number[] {
  const { count } = features;
  if (monotonicCst === undefined) return [];
  if (!Array.isArray(monotonicCst)) {
    const given = monotonicCst as Readonly<Record<string, number>>;
    const names = Object.keys(given);
    if (names.length === 0) return [];
    const places = placesOf(operation, "monotonicCst", features, names);
    return Array.from({ length: count }, (_, f) => given[names[places.indexOf(f)] as string] ?? 0);
  }
  if (monotonicCst.length === count) return monotonicCst;
  throw new ArgumentError(
    `${operation}: monotonicCst has ${monotonicCst.length} numbers; the samples have ${count} features.`,
  );
}

function setsOf(operation: string, count: number, { interactionCst }: FeatureOptions): FeatureRules["interactions"] {
  if (interactionCst === undefined) return null;
  const all = Array.from({ length: count }, (_, f) => f);
  if (interactionCst === "noInteractions") return all.map((feature) => [feature]);
  if (interactionCst === "pairwise") {
    return count === 1 ? [all] : all.flatMap((a) => all.slice(a + 1).map((b) => [a, b]));
  }
  const sets = interactionCst as readonly (readonly number[])[];
  const outside = sets.flat().find((feature) => feature >= count);
  if (outside !== undefined) {
    throw new ArgumentError(`${operation}: interactionCst names ${outside}; the samples have ${count} features.`);
  }
  const rest = all.filter((feature) => !sets.some((set) => set.includes(feature)));
  return rest.length > 0 ? [...sets, rest] : sets;
}
