/**
 * Parts of models that come from a file, held against what models are made of: a file may have been written by anybody. Remakes of
 * kinds (kinds.ts) call these; the errors say what is wrong, and files add where.
 */
import { FormatError } from "../../core/errors.js";
import { isPlainObject } from "../../io/trees/json.js";
import { isTensor } from "../../tensor/index.js";
import { partsOf } from "./kinds.js";
import type { Facts } from "./model.js";
import type { Features } from "./samples.js";
import type { Label } from "./targets.js";

/** Options: a plain object. The kind checks them when an estimator is made of them. */
export function optionsOf(value: unknown): object {
  if (isPlainObject(value)) return value;
  throw new FormatError("its options are no object.");
}

/** A tree of tensors. */
export function learnedOf(value: unknown): object {
  if (!isPlainObject(value)) throw new FormatError("what was learned is no object of tensors.");
  const check = (each: unknown): void => {
    if (each === null || isTensor(each)) return;
    if (Array.isArray(each)) for (const one of each) check(one);
    else if (isPlainObject(each)) for (const one of Object.values(each)) check(one);
    // Models of models learn other models.
    else if (typeof each !== "object" || partsOf(each)?.sort !== "model") {
      throw new FormatError("what was learned holds something that is no tensor.");
    }
  };
  check(value);
  return value;
}

/** Facts about the fit. */
export function factsOf(features: unknown, classes: unknown): Facts {
  return { features: featuresOf(features), classes: classesOf(classes) };
}

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

function featuresOf(value: unknown): Features {
  const { count, names, categories } = (isPlainObject(value) ? value : {}) as Record<string, unknown>;
  const fits = (list: unknown): boolean => Array.isArray(list) && list.length === count;
  const isRight =
    Number.isSafeInteger(count) &&
    (names === null || (isTextList(names) && fits(names))) &&
    (categories === null ||
      (fits(categories) && (categories as unknown[]).every((each) => each === null || isTextList(each))));
  if (isRight) return { count, names, categories } as unknown as Features;
  throw new FormatError("the columns of its samples are not described as they should be.");
}

function classesOf(value: unknown): readonly Label[] | null {
  if (value === null) return null;
  const isLabels = Array.isArray(value) && value.every((each) => ["string", "number", "boolean"].includes(typeof each));
  if (isLabels) return value as readonly Label[];
  throw new FormatError("its classes are no list of labels.");
}

/** An estimator, or a model. */
export function partOfSort(kind: string, sort: "estimator" | "model", value: unknown): object {
  if (typeof value === "object" && value !== null && partsOf(value)?.sort === sort) return value;
  throw new FormatError(`a ${kind} is made of ${sort}s, and the file has something else there.`);
}

/** A list of estimators, or of models, of at least one. */
export function listOfParts(kind: string, sort: "estimator" | "model", value: unknown): readonly object[] {
  const isList =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => typeof each === "object" && each !== null && partsOf(each)?.sort === sort);
  if (isList) return value as readonly object[];
  throw new FormatError(`a ${kind} is made of ${sort}s, and the file has something else there.`);
}
