/**
 * What a training is made of, in words and numbers, for its checkpoints: a run goes on only from one of the same model, loss, optimiser,
 * precision, data and step. Functions and schedules, which have no words, are known by the operations of the step. Data are known by their
 * number, their form, and the size and the pattern of the numbers of the first batch: enough to tell a mistake, not to prove that
 * two things are equal.
 */
import { createHash } from "node:crypto";
import { isComplex } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { version } from "../../core/version.js";
import { isPlainObject, type Json } from "../../io/trees/json.js";
import { type Key, key as keyOf, normal } from "../../random/index.js";
import { stack, type Tensor, where } from "../../tensor/index.js";
import { operationsOf } from "../../transforms/closed.js";
import { leaves } from "../../transforms/tree.js";
import { flattenTensors, leafPaths, unflatten } from "../../transforms/trees.js";
import type { Batches } from "../data/batches.js";
import type { Plan } from "./options.js";
import type { Trainer } from "./trainer.js";

/** What a run is made of, by name: "model", "loss", "data" … Texts by what they describe. */
export type Fingerprint = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** How much the first numbers of data may differ: they may have been computed on another device. */
const TOLERANCE = 1e-3;

/** What a run is made of. `carry` and `batch`: the first ones. */
export async function fingerprintOf<C, B>(
  trainer: Trainer<C, B>,
  plan: Plan<C, B>,
  carry: C,
  batch: B,
): Promise<Fingerprint> {
  const { validation } = plan;
  const judges = validation ? await dataPrint(validation, await firstOf(validation)) : {};
  const named = Object.entries(judges).map(([name, fact]) => [`${name} of the validation`, fact]);
  return {
    ...trainer.describe?.(),
    data: { ...(await dataPrint(plan.data, batch)), ...Object.fromEntries(named) },
    monitor: monitorPrint(plan),
    [STEP]: stepPrint(trainer, carry, batch),
  };
}

/** The part of a fingerprint that all others have a share in: it is compared where none of them may be another. */
const STEP = "step";

/** The metrics that are followed: what the best so far, the standing and the scale of a checkpoint are of. */
function monitorPrint<C, B>(plan: Plan<C, B>): Readonly<Record<string, Json>> {
  const { keepBest, earlyStop, reduceOnPlateau } = plan;
  const chosen = Object.entries({ keepBest, earlyStop, reduceOnPlateau });
  return Object.fromEntries(chosen.map(([name, by]) => [name, by ? `${by.monitor} (${by.mode})` : "none"]));
}

/** Whether a fact of a part is the same in two fingerprints. */
export const hasSameFact = (part: string, name: string, before: Json | undefined, now: Fingerprint): boolean =>
  isSame(name, partsOf(before, part)[name] ?? null, now[part]?.[name] ?? null);

/** A hash of the operations of a step, and what it depends on besides. */
function stepPrint<C, B>(trainer: Trainer<C, B>, carry: C, batch: B): Readonly<Record<string, Json>> {
  const key = keyOf(0, { device: leaves(batch)[0]?.device });
  const { leaves: given, structure } = flattenTensors({ carry, batch, key }, "train");
  const operations = operationsOf(
    "train",
    (...own) => {
      const args = unflatten(structure, own) as { readonly carry: C; readonly batch: B; readonly key: Key };
      return flattenTensors(trainer.step(args.carry, args.batch, args.key), "train").leaves;
    },
    given,
  );
  const hash = createHash("sha256").update(operations).digest("hex").slice(0, 16);
  return { operations: hash, madeBy: `${version}, ${key.device.split(":")[0]}` };
}

async function firstOf<B>(data: Batches<B>): Promise<B> {
  for await (const batch of data.epoch(0)) return batch;
  throw new ArgumentError("train: the validation has no batches.");
}

/** The data of a run: counts, the form of a batch, and its numbers in short. */
async function dataPrint<B>(data: Batches<B>, first: B): Promise<Readonly<Record<string, Json>>> {
  const { leaves: all, structure } = flattenTensors(first, "train");
  const paths = leafPaths(structure);
  const { count } = data as { readonly count?: unknown };
  const numbers = await inShort(all);
  const tensors = all.flatMap(({ dtype, shape }, i): [string, Json][] => {
    const name = paths[i] || "the batch";
    return [
      [`form of ${name}`, `${dtype} ${formatShape(shape.slice(1))}`],
      [`mean size of ${name} in the first batch`, numbers[i]?.[0] ?? null],
      [`${PATTERN} of ${name} in the first batch`, numbers[i]?.[1] ?? null],
    ];
  });
  return {
    ...(typeof count === "number" && { "number of examples": count }),
    "batches an epoch": data.batchesPerEpoch,
    "examples in a batch": all.find(({ rank }) => rank > 0)?.shape[0] ?? null,
    ...Object.fromEntries(tensors),
  };
}

const PATTERN = "pattern";

/**
 * For each tensor the mean of absolute values, and its product with noise that is always the same, over its length: near 0 with a deviation
 * of 1, and another number for other values or another order. All are read at once; null where there is no number to tell.
 */
async function inShort(all: readonly Tensor[]): Promise<readonly (readonly [number, number] | null)[]> {
  const known = all.filter(({ dtype, size }) => size > 0 && !isComplex(dtype));
  const [first] = known;
  if (!first) return all.map(() => null);
  const pairs = known.flatMap((leaf) => {
    const values = leaf.cast("f32").flatten() as Tensor;
    const noise = normal(keyOf(0, { device: leaf.device }), values.shape);
    const length = values.square().sum().sqrt();
    return [
      values.abs().mean(),
      values
        .mul(noise)
        .sum()
        .div(where(length.equal(0), 1, length)),
    ];
  });
  const read = Array.from((await stack(pairs.map((each) => each.to(first.device))).data()) as ArrayLike<number>);
  return all.map((leaf) => {
    if (!known.includes(leaf)) return null;
    const [size, pattern] = read.splice(0, 2) as [number, number];
    return Number.isFinite(size) && Number.isFinite(pattern) ? [size, pattern] : null;
  });
}

/** Parts of a fingerprint that may be others: all, or those of these names. */
export type Changes = true | readonly string[];

/** Throws where a run is made of other parts than the one in a checkpoint. `what`: the checkpoint, for errors. */
export function checkSamePrint(before: Json | undefined, now: Fingerprint, changes: Changes, what: string): void {
  const names = [...new Set([...Object.keys(now), ...Object.keys(isPlainObject(before) ? before : {})])];
  const unknown = changes === true ? undefined : changes.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new ArgumentError(
      `train: the option resume: no part called ${shown(unknown)} can be changed; there are ${names.join(", ")}.`,
    );
  }
  for (const name of names) {
    if (changes === true || changes.includes(name)) continue;
    const [was, facts] = [partsOf(before, name), now[name] ?? {}];
    // Other parts make another step, and so does another version or engine.
    if (name === STEP && (changes.length > 0 || was.madeBy !== facts.madeBy)) continue;
    const difference = name === STEP ? differentStep(was, facts) : differenceOf(was, facts);
    if (difference === null) continue;
    throw new ArgumentError(
      `${what} is of a run with another ${name}: ${difference}. Give what it was begun with, or go on with this one: ` +
        `resume: { changed: ["${name}"] }.`,
    );
  }
}

function partsOf(print: Json | undefined, name: string): Readonly<Record<string, Json>> {
  const found = isPlainObject(print) ? (print as Record<string, Json>)[name] : undefined;
  return isPlainObject(found) ? (found as Record<string, Json>) : {};
}

const differentStep = (was: Readonly<Record<string, Json>>, is: Readonly<Record<string, Json>>): string | null =>
  was.operations === is.operations
    ? null
    : "its operations are others, although all that has a name is the same: a function, a schedule or an option of one differs";

/** The first fact that differs, in words. */
function differenceOf(before: Readonly<Record<string, Json>>, now: Readonly<Record<string, Json>>): string | null {
  for (const name of new Set([...Object.keys(now), ...Object.keys(before)])) {
    const [was, is] = [before[name] ?? null, now[name] ?? null];
    if (isSame(name, was, is)) continue;
    const [a, b] = typeof was === "string" && typeof is === "string" ? partingLines(was, is) : [was, is];
    return `${name} was ${a ?? "not known"}, and is ${b ?? "not known"}`;
  }
  return null;
}

function isSame(name: string, a: Json, b: Json): boolean {
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  // A pattern near 0 is no more exact than one of 1.
  const size = name.startsWith(PATTERN) ? 1 : Math.max(Math.abs(a), Math.abs(b));
  return a === b || Math.abs(a - b) <= TOLERANCE * size;
}

/** The first lines that differ of two texts; an empty one where a text has ended. */
function partingLines(a: string, b: string): [string, string] {
  const [one, other] = [a.split("\n"), b.split("\n")];
  const at = one.findIndex((line, i) => line !== other[i]);
  const place = at < 0 ? one.length : at;
  return [(one[place] ?? "nothing").trim(), (other[place] ?? "nothing").trim()];
}
