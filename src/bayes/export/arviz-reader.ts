/**
 * Reads ArviZ's JSON, as `saveArviz` and ArviZ's `to_json` write it. Nothing in it is trusted: time and memory grow with the
 * length of the text and no faster, every cell is a number, arrays are regular, and names are names.
 */
import { checkString } from "../../core/arguments.js";
import { FormatError } from "../../core/errors.js";
import { formatShape, type Shape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { readNamedText, withoutMark } from "../../files/named-file.js";
import { Draws, type DrawsOptions, STATISTICS } from "../draws/draws.js";
import { whyNoName } from "../draws/names.js";
import { DRAW_GROUPS, FIXED_GROUPS, type FixedArray, type InferenceData, STATISTIC_NAMES } from "./inference-data.js";

/** More axes than any array has. */
const MAX_AXES = 32;

type JsonObject = Readonly<Record<string, unknown>>;
/** Throws a FormatError that names the text and what is wrong with it. */
type Fail = (problem: string) => never;

/** Reads what `saveArviz` or ArviZ's `to_json` wrote. */
export async function loadArviz(path: string): Promise<InferenceData> {
  checkString("loadArviz", "the path", path);
  return parseArviz(await readNamedText("loadArviz", path), path);
}

/** The groups in ArviZ's JSON. Statistics and groups that have no place here are left out. */
export function parseArviz(text: string, what = "parseArviz"): InferenceData {
  checkString("parseArviz", "the text", text);
  const fail: Fail = (problem) => {
    throw new FormatError(`${what}: ${problem}; expected the JSON of ArviZ's InferenceData.`);
  };
  let file: unknown;
  try {
    file = JSON.parse(withJsonNumbers(withoutMark(text)));
  } catch (error) {
    return fail(`no JSON (${(error as Error).message})`);
  }
  const posterior = isObject(file) ? own(file, "posterior") : undefined;
  if (!isObject(file) || !isObject(posterior)) return fail('there is no group "posterior"');

  const settings = {
    maxTreeDepth: countIn(own(file, "sample_stats_attrs"), "max_tree_depth", fail),
    superchains: countIn(own(file, "posterior_attrs"), "superchains", fail),
  };
  const result: Record<string, unknown> = {
    posterior: drawsIn(posterior, "posterior", fail, settings, own(file, "sample_stats")),
  };
  for (const [key, name] of Object.entries(DRAW_GROUPS)) {
    const group = own(file, name);
    if (key !== "posterior" && isObject(group) && Object.keys(group).length > 0) {
      result[key] = drawsIn(group, name, fail);
    }
  }
  for (const [key, name] of Object.entries(FIXED_GROUPS)) {
    const group = own(file, name);
    if (isObject(group)) result[key] = Object.fromEntries(arraysIn(group, name, fail));
  }
  for (const key of ["dims", "coords"] as const) {
    const labels = own(file, key);
    if (isObject(labels)) result[key] = labelsIn(labels, key, fail);
  }
  return result as unknown as InferenceData;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const own = (object: JsonObject, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined);

/** JSON has no NaN and no infinity. What Python writes bare becomes null, and numbers too large for a double. */
const IN_JSON: Readonly<Record<string, string>> = {
  NaN: " null ",
  "-NaN": " null ",
  Infinity: " 1e999 ",
  "-Infinity": " -1e999 ",
};

/** One walk from string to string: a pattern over all would start again at every quote of a text that lacks its last one. */
function withJsonNumbers(text: string): string {
  if (!text.includes("NaN") && !text.includes("Infinity")) return text;
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const start = quote < 0 ? text.length : quote;
    pieces.push(text.slice(at, start).replace(/-?(?:NaN|Infinity)/g, (token) => IN_JSON[token]));
    at = endOfString(text, start);
    pieces.push(text.slice(start, at));
  }
  return pieces.join("");
}

/** Behind the closing quote of the string that begins at a place, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function arraysIn(group: JsonObject, name: string, fail: Fail): [variable: string, array: FixedArray][] {
  return Object.entries(group).map(([variable, nested]) => {
    const problem = whyNoName(variable);
    if (problem) fail(`${name}: ${problem}`);
    return [variable, arrayIn(nested, `${name}: "${variable}"`, fail)];
  });
}

/** Nested lists of numbers, of which each is as long as its siblings. */
function arrayIn(nested: unknown, where: string, fail: Fail): { shape: number[]; values: Float64Array } {
  const shape: number[] = [];
  for (let at = nested; Array.isArray(at); at = at[0]) {
    shape.push(at.length);
    if (shape.length > MAX_AXES) fail(`${where} is nested more than ${MAX_AXES} deep`);
  }
  const values: number[] = [];
  const take = (value: unknown, depth: number): void => {
    if (Array.isArray(value) !== depth < shape.length) fail(`${where} has lists beside numbers`);
    if (!Array.isArray(value)) {
      values.push(numberOf(value) ?? fail(`${where} has ${shown(value)} where a number belongs`));
      return;
    }
    if (value.length !== shape[depth])
      fail(`${where} is ragged: a list of ${value.length} beside one of ${shape[depth]}`);
    for (const item of value) take(item, depth + 1);
  };
  take(nested, 0);
  return { shape, values: Float64Array.from(values) };
}

/** Booleans are 0 and 1, null is NaN; undefined for what is no number. */
function numberOf(value: unknown): number | undefined {
  if (value === null) return Number.NaN;
  return typeof value === "number" || typeof value === "boolean" ? Number(value) : undefined;
}

/** A group of chains × draws × shape. */
function drawsIn(
  group: JsonObject,
  name: string,
  fail: Fail,
  settings: Pick<DrawsOptions, "maxTreeDepth" | "superchains"> = {},
  statistics: unknown = undefined,
): Draws {
  const arrays = arraysIn(group, name, fail);
  if (arrays.length === 0) return fail(`there are no variables in the group "${name}"`);
  const stats = STATISTICS.flatMap((statistic) => {
    const nested = isObject(statistics) ? own(statistics, STATISTIC_NAMES[statistic].arviz) : undefined;
    if (nested === undefined) return [];
    return [[statistic, arrayIn(nested, `sample_stats: "${STATISTIC_NAMES[statistic].arviz}"`, fail)] as const];
  });
  const [[first, { shape: whole }]] = arrays;
  const [chains, draws] = whole;
  const check = (variable: string, shape: Shape, fits: boolean) => {
    if (fits && shape[0] === chains && shape[1] === draws) return;
    fail(
      `"${variable}" is an array of ${formatShape(shape)}, and "${first}" one of ${formatShape(whole)}: ` +
        "all have chains × draws × their shape",
    );
  };
  for (const [variable, { shape }] of arrays) check(variable, shape, shape.length >= 2);
  for (const [statistic, { shape }] of stats) check(STATISTIC_NAMES[statistic].arviz, shape, shape.length === 2);
  try {
    const shapes = arrays.map(([variable, { shape }]) => [variable, shape.slice(2)]);
    const result = new Draws({ ...settings, chains, variables: Object.fromEntries(shapes) });
    const flat = (some: readonly (readonly [string, FixedArray])[]) =>
      Object.fromEntries(some.map(([variable, { values }]) => [variable, values]));
    result.append({ values: flat(arrays), stats: flat(stats) });
    return result;
  } catch (error) {
    return fail((error as Error).message.replace(/\.$/, ""));
  }
}

/** A whole number of at least one among attributes, where it is there. */
function countIn(attributes: unknown, name: string, fail: Fail): number | undefined {
  const value = isObject(attributes) ? own(attributes, name) : undefined;
  if (typeof value !== "number") return undefined;
  return Number.isSafeInteger(value) && value >= 1 ? value : fail(`${name} is ${value}, not a whole number from 1`);
}

/** Names of axes, and labels along them. */
function labelsIn(found: JsonObject, key: "dims" | "coords", fail: Fail): Record<string, (string | number)[]> {
  const labelOf = (value: unknown, name: string): string | number => {
    if (typeof value === "string") return value;
    const number = key === "coords" ? numberOf(value) : undefined;
    return number ?? fail(`${key}: "${name}" has the label ${shown(value)}`);
  };
  return Object.fromEntries(
    Object.entries(found).map(([name, labels]) => {
      const problem = whyNoName(name);
      if (problem) fail(`${key}: ${problem}`);
      if (!Array.isArray(labels)) return fail(`${key}: "${name}" is no list`);
      return [name, labels.map((label) => labelOf(label, name))];
    }),
  );
}
