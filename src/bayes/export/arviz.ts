/**
 * Writes ArviZ's JSON: the layout that `arviz.from_json` reads and `InferenceData.to_json` writes. Groups hold nested arrays of
 * chain × draw × shape. Numbers that JSON lacks are written as Python does, NaN and Infinity. A file is written in
 * pieces, so draws larger than the longest string of JavaScript (half a gigabyte) can be saved, though not read back.
 * arviz-reader.ts reads it.
 */
import { checkString } from "../../core/arguments.js";
import { type Shape, sizeOf } from "../../core/shape.js";
import { writeNamed } from "../../files/named-file.js";
import type { Draws } from "../draws/draws.js";
import {
  checkInferenceData,
  DRAW_GROUPS,
  FIXED_GROUPS,
  type FixedArray,
  type InferenceData,
  STATISTIC_NAMES,
} from "./inference-data.js";

/** Writes a file that `arviz.from_json` reads. */
export async function saveArviz(path: string, data: InferenceData): Promise<void> {
  checkString("saveArviz", "the path", path);
  checkInferenceData("saveArviz", data);
  await writeNamed("saveArviz: the draws", path, arvizJson(data));
}

/**
 * The JSON text, in pieces, since it may be longer than a string can be: write them one after the other, or join them,
 * `[...arvizJson(data)].join("")`.
 */
export function arvizJson(data: InferenceData): Generator<string> {
  checkInferenceData("arvizJson", data);
  return pieces(data);
}

function* pieces(data: InferenceData): Generator<string> {
  const { posterior, dims, coords } = data;
  const attributes = {
    inference_library: "pumice",
    ...(posterior.superchains && { superchains: posterior.superchains }),
  };
  yield `{"attrs":${JSON.stringify({ inference_library: "pumice" })},"posterior_attrs":${JSON.stringify(attributes)}`;
  if (posterior.maxTreeDepth !== undefined) {
    yield `,"sample_stats_attrs":${JSON.stringify({ max_tree_depth: posterior.maxTreeDepth })}`;
  }
  if (dims) yield `,"dims":${JSON.stringify(dims)}`;
  if (coords) yield `,"coords":${JSON.stringify(coords)}`;
  for (const [key, group] of Object.entries(DRAW_GROUPS)) {
    const draws = data[key as keyof typeof DRAW_GROUPS];
    if (draws) yield* groupJson(group, drawsJson(draws));
  }
  if (posterior.stats.length > 0) yield* groupJson("sample_stats", statisticsJson(posterior));
  for (const [key, group] of Object.entries(FIXED_GROUPS)) {
    const arrays = data[key as keyof typeof FIXED_GROUPS];
    if (arrays) yield* groupJson(group, fixedJson(arrays));
  }
  yield "}\n";
}

type Entry = readonly [name: string, pieces: Iterable<string>];

function* groupJson(group: string, entries: Iterable<Entry>): Generator<string> {
  yield `,"${group}":{`;
  let isFirst = true;
  for (const [name, pieces] of entries) {
    yield `${isFirst ? "" : ","}${JSON.stringify(name)}:`;
    yield* pieces;
    isFirst = false;
  }
  yield "}";
}

function* drawsJson(draws: Draws): Generator<Entry> {
  for (const [name, shape] of draws.variables) {
    const values = draws.values(name);
    yield [name, chainsJson(values, draws, shape, numberJson)];
  }
}

function* statisticsJson(draws: Draws): Generator<Entry> {
  for (const name of draws.stats) {
    const { values } = draws.stat(name) as { values: Float64Array };
    const write = name === "divergent" ? (value: number) => String(value !== 0) : numberJson;
    yield [STATISTIC_NAMES[name].arviz, chainsJson(values, draws, [], write)];
  }
}

function* fixedJson(arrays: Readonly<Record<string, FixedArray>>): Generator<Entry> {
  for (const [name, { values, shape }] of Object.entries(arrays)) {
    yield [name, [nestedJson(values, 0, shape, numberJson)]];
  }
}

/** A chain at a time. */
function* chainsJson(
  values: Float64Array,
  { chains, length }: Draws,
  shape: Shape,
  write: (value: number) => string,
): Generator<string> {
  const size = length * sizeOf(shape);
  for (let c = 0; c < chains; c++) {
    yield (c === 0 ? "[" : ",") + nestedJson(values, c * size, [length, ...shape], write);
  }
  yield "]";
}

function nestedJson(values: ArrayLike<number>, start: number, shape: Shape, write: (value: number) => string): string {
  if (shape.length === 0) return write(values[start]);
  const [length, ...rest] = shape;
  const step = sizeOf(rest);
  const parts = Array.from({ length }, (_, i) => nestedJson(values, start + i * step, rest, write));
  return `[${parts.join(",")}]`;
}

function numberJson(value: number): string {
  return Object.is(value, -0) ? "-0.0" : String(value);
}
