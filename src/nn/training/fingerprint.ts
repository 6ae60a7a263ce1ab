/**
 * What a training is made of, in words and numbers, for its checkpoints: a run goes on only from one of the same model, loss, optimiser,
 * precision and data. Functions are known by their names, and data by their number, their form and the size of the numbers of the
 * first batch: enough to tell a mistake, not to prove that two things are equal.
 */
import { isComplex } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isPlainObject, type Json } from "../../io/trees/json.js";
import { stack, type Tensor } from "../../tensor/index.js";
import { flattenTensors, leafPaths } from "../../transforms/trees.js";
import type { Batches } from "../data/batches.js";

/** What a run is made of, by name: "model", "loss", "data" … Texts by what they describe. */
export type Fingerprint = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** How much the first numbers of data may differ: they may have been computed on another device. */
const TOLERANCE = 1e-3;

/** The data of a run: counts, the form of a batch, and the size of its numbers. */
export async function dataPrint<B>(data: Batches<B>, first: B): Promise<Readonly<Record<string, Json>>> {
  const { leaves, structure } = flattenTensors(first, "train");
  const paths = leafPaths(structure);
  const { count } = data as { readonly count?: unknown };
  const sizes = await meanSizes(leaves);
  const tensors = leaves.flatMap(({ dtype, shape }, i): [string, Json][] => {
    const name = paths[i] || "the batch";
    return [
      [`form of ${name}`, `${dtype} ${formatShape(shape.slice(1))}`],
      [`mean size of ${name} in the first batch`, sizes[i] as Json],
    ];
  });
  return {
    ...(typeof count === "number" && { "number of examples": count }),
    "batches an epoch": data.batchesPerEpoch,
    "examples in a batch": leaves.find(({ rank }) => rank > 0)?.shape[0] ?? null,
    ...Object.fromEntries(tensors),
  };
}

/** The means of the absolute values, read at once; null where there is no number to tell. */
async function meanSizes(leaves: readonly Tensor[]): Promise<(number | null)[]> {
  const known = leaves.filter(({ dtype, size }) => size > 0 && !isComplex(dtype));
  if (known.length === 0) return leaves.map(() => null);
  const means = stack(
    known.map((leaf) =>
      leaf
        .cast("f32")
        .abs()
        .mean()
        .to(known[0]?.device as string),
    ),
  );
  const values = Array.from((await means.data()) as ArrayLike<number>);
  return leaves.map((leaf) => {
    const value = known.includes(leaf) ? (values.shift() as number) : Number.NaN;
    return Number.isFinite(value) ? value : null;
  });
}

/** Parts of a fingerprint that may be others: all, or those of these names. */
export type Changes = true | readonly string[];

/** Throws where a run is made of other parts than the one in a checkpoint. `what`: the checkpoint, for errors. */
export function checkSamePrint(before: Json | undefined, now: Fingerprint, changes: Changes, what: string): void {
  const unknown = changes === true ? undefined : changes.find((name) => !Object.hasOwn(now, name));
  if (unknown !== undefined) {
    throw new ArgumentError(
      `train: the option resume: no part called ${shown(unknown)} can be changed; there are ${Object.keys(now).join(", ")}.`,
    );
  }
  for (const [name, facts] of Object.entries(now)) {
    if (changes === true || changes.includes(name)) continue;
    const was = isPlainObject(before) ? (before as Record<string, Json>)[name] : undefined;
    const difference = differenceOf(isPlainObject(was) ? (was as Record<string, Json>) : {}, facts);
    if (difference === null) continue;
    throw new ArgumentError(
      `${what} is of a run with another ${name}: ${difference}. Give what it was begun with, or go on with this one: ` +
        `resume: { changed: ["${name}"] }.`,
    );
  }
}

/** The first fact that differs, in words. */
function differenceOf(before: Readonly<Record<string, Json>>, now: Readonly<Record<string, Json>>): string | null {
  for (const name of new Set([...Object.keys(now), ...Object.keys(before)])) {
    const [was, is] = [before[name] ?? null, now[name] ?? null];
    if (isSame(was, is)) continue;
    const [a, b] = typeof was === "string" && typeof is === "string" ? partingLines(was, is) : [was, is];
    return `${name} was ${a ?? "not known"}, and is ${b ?? "not known"}`;
  }
  return null;
}

function isSame(a: Json, b: Json): boolean {
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  return a === b || Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/** The first lines that differ of two texts; an empty one where a text has ended. */
function partingLines(a: string, b: string): [string, string] {
  const [one, other] = [a.split("\n"), b.split("\n")];
  const at = one.findIndex((line, i) => line !== other[i]);
  const place = at < 0 ? one.length : at;
  return [(one[place] ?? "nothing").trim(), (other[place] ?? "nothing").trim()];
}
