/**
 * A training in a file, from which it goes on with the same bits: what is trained, the optimiser's state, the means of the epoch so
 * far, the place in the data, the key, the record, and what follows metrics. The file is a tree of tensors with JSON beside it
 * (src/nn/files). A file is held against the training that reads it: every tensor must have its name, dtype and shape, and every
 * number must make sense.
 */
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tensorBytes } from "../../core/bytes.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError, FormatError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { previousOf, removeUnfinished } from "../../files/replace-file.js";
import type { Json } from "../../io/trees/json.js";
import { openTree, wholeTree, writeTree } from "../../io/trees/tree-file.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { leaves } from "../../transforms/tree.js";
import { flattenTensors, leafPaths, unflatten } from "../../transforms/trees.js";
import type { PlateauState } from "../schedules/plateau.js";
import { type Changes, checkSamePrint, hasSameFact } from "./fingerprint.js";
import type { HistoryRecord } from "./history.js";
import type { Means, Metrics } from "./meter.js";
import { NO_STANDING, type Standing } from "./monitors.js";
import { noFailure } from "./program.js";
import type { Training } from "./training.js";

const KIND = "pumice training";
const VERSION = 3;

type Fields = Readonly<Record<string, Json | undefined>>;

/** Writes a training that waits between two steps. */
export async function writeCheckpoint<C, B>(training: Training<C, B>, path: string): Promise<void> {
  const { state, plateau, best } = training;
  const { step, epoch, place, counts, rate, plateauScale, early } = training;
  const tree = {
    carry: state.carry,
    means: state.means,
    ...(best && { best: best.carry }),
    ...(plateau && { plateau }),
  };
  const metadata = {
    kind: KIND,
    version: VERSION,
    key: await keyWords(training.key),
    run: training.print,
    ...{ step, epoch, place, counts, rate, plateauScale, early: { ...early, best: early.best && coded(early.best) } },
    metrics: codedMetrics(training.metrics),
    best: best && { value: coded(best.value), epoch: best.epoch, step: best.step },
    history: training.history.map((record) => ({ ...record, metrics: codedMetrics(record.metrics) })),
    milliseconds: training.milliseconds,
  };
  const options = { isSealed: true, keepsPrevious: true };
  await writeTree(path, tree as never, metadata, "train: a checkpoint", options);
  // It is saved: what cannot be tidied up stays.
  await removeUnfinished(path).catch(() => {});
}

/** Goes on from a checkpoint where that was asked for and there is one; where it is damaged, from the one before it. */
export async function resumed<C, B>(training: Training<C, B>): Promise<void> {
  const { resume = false, checkpoint } = training.plan;
  if (resume === false) return;
  const { path: named, changed = [] } = typeof resume === "object" ? resume : { path: undefined };
  const given = typeof resume === "string" ? resume : named;
  const path = given ?? (checkpoint as string);
  if (given === undefined && !existsSync(path)) return;
  try {
    await readCheckpoint(training, path, changed);
  } catch (error) {
    const previous = previousOf(path);
    if (!(error instanceof FormatError) || !existsSync(path) || !existsSync(previous)) throw error;
    // The error of the last checkpoint says more than that of the one before, whatever that is.
    const isRead = await readCheckpoint(training, previous, changed).then(
      () => true,
      () => false,
    );
    if (!isRead) throw error;
    process.emitWarning(`${error.message} The run goes on from the checkpoint before it, of step ${training.step}.`);
  }
}

/** Takes a training to where the one in a file was. */
async function readCheckpoint<C, B>(training: Training<C, B>, path: string, changes: Changes): Promise<void> {
  const what = `train: the checkpoint ${path}`;
  await checkSize(training, path, what);
  await using file = await openTree(path, "train: resume");
  const fields = new Numbers(file.metadata, what);
  const isTree = typeof file.form === "object" && file.form !== null && !Array.isArray(file.form);
  if (fields.text("kind") !== KIND || !isTree)
    throw new FormatError(`${what} is no training, but some other tree of tensors.`);
  if (fields.whole("version") !== VERSION) throw new FormatError(`${what} is of another version of Pumice.`);
  if (!file.isSealed) throw new FormatError(`${what} has no checksum.`);
  await checkSameKey(training, fields, what);
  checkSamePrint(fields.get("run"), training.print, changes, what);
  const tree = (await wholeTree(file, training.device)) as Readonly<Record<string, unknown>>;
  const carry = likeTemplate(training.state.carry, tree.carry, "carry", what);
  // Other metrics begin their means here, and what follows another metric than before begins anew.
  const isSame = (part: string, name: string) => hasSameFact(part, name, fields.get("run"), training.print);
  const isKept = (name: "keepBest" | "earlyStop" | "reduceOnPlateau") => isSame("monitor", name);
  const { means: first } = training.state;
  const isMeasured = isSame("metrics", "functions");
  const means = isMeasured ? likeTemplate(first as Means, tree.means, "means", what) : first;
  const best = isKept("keepBest") ? fields.within("best") : null;
  const hasPlateau = training.plateau !== null && isKept("reduceOnPlateau");
  const plateau = hasPlateau ? likeTemplate(training.plateau, tree.plateau, "plateau", what) : training.plateau;
  training.restore(
    { carry, means, bad: noFailure(training.device) },
    {
      step: fields.whole("step"),
      epoch: fields.whole("epoch"),
      place: fields.whole("place"),
      rate: fields.number("rate"),
      plateauScale: hasPlateau ? fields.number("plateauScale") : 1,
      counts: countsOf(fields),
      metrics: isMeasured ? metricsIn(fields) : {},
      early: isKept("earlyStop") ? standingOf(fields) : NO_STANDING,
      plateau: plateau as PlateauState | null,
      best: best && {
        carry: likeTemplate(training.state.carry, tree.best, "best", what),
        value: best.number("value"),
        epoch: best.whole("epoch"),
        step: best.whole("step"),
      },
      history: fields.list("history").map(recordOf),
      spentBefore: fields.number("milliseconds"),
    },
  );
  // The carry has the scale of a plateau that is followed no longer.
  if (fields.number("plateauScale") !== training.plateauScale) training.applyRate();
}

/** The tensors of a file cannot be more than what is trained and the best of it. */
async function checkSize<C, B>(training: Training<C, B>, path: string, what: string): Promise<void> {
  const own = leaves(training.state.carry).reduce((sum, leaf) => sum + tensorBytes(leaf as Tensor<DType>), 0);
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  const most = 2 * own + 2 ** 26;
  if (size > most) throw new FormatError(`${what} has ${size} bytes; a training of this model has at most ${most}.`);
}

async function checkSameKey<C, B>(training: Training<C, B>, fields: Numbers, what: string): Promise<void> {
  const words = await keyWords(training.key);
  const saved = fields.list("key", true) as unknown as readonly Json[];
  if (saved.length === 2 && saved.every((word, i) => word === words[i])) return;
  throw new ArgumentError(
    `${what} is of a run with another seed or key; give that one to go on with the same numbers.`,
  );
}

const keyWords = async (key: Tensor): Promise<number[]> => Array.from((await key.data()) as ArrayLike<number>, Number);

/** A tree of a file in the form of the training's own: the same paths, dtypes and shapes. */
function likeTemplate<T>(template: T, given: unknown, name: string, what: string): T {
  const own = flattenTensors(template, "train");
  const found = flattenTensors(given ?? {}, "train");
  const [paths, others] = [leafPaths(own.structure), leafPaths(found.structure)];
  const missing = paths.find((path) => !others.includes(path));
  const extra = others.find((path) => !paths.includes(path));
  if (missing !== undefined || extra !== undefined) {
    const which =
      missing !== undefined ? `lacks ${name}.${missing}` : `has ${name}.${extra}, which is not in this training`;
    throw new ArgumentError(
      `${what} ${which}: it is of another model, optimiser or set of options. ` +
        "To begin anew with its parameters, read them by loadParameters and give them as { variables }.",
    );
  }
  const form = ({ dtype, shape }: Tensor) => `${dtype} ${formatShape(shape)}`;
  own.leaves.forEach((leaf, i) => {
    const other = found.leaves[i] as Tensor;
    if (leaf.dtype === other.dtype && sameShape(leaf.shape, other.shape)) return;
    throw new ArgumentError(`${what} has ${name}.${paths[i]} as ${form(other)}; this training has ${form(leaf)}.`);
  });
  const placed = found.leaves.map((leaf, i) => {
    const { device } = own.leaves[i] as Tensor;
    return leaf.device === device ? leaf : leaf.to(device);
  });
  return unflatten(own.structure, placed) as T;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isTensor(value);

// -------------------------------------------------------------------------------------------------- JSON

/** JSON has no NaN, no infinities and no -0. */
const coded = (value: number): number | string =>
  Number.isFinite(value) && !Object.is(value, -0) ? value : Object.is(value, -0) ? "-0" : String(value);

const codedMetrics = (metrics: Metrics): Record<string, number | string> =>
  Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, coded(value)]));

const CODES = new Map<unknown, number>([
  ["-0", -0],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

/** The fields of an object of a file, checked as they are asked for. */
class Numbers {
  private readonly fields: Fields;

  constructor(
    value: Json | undefined,
    private readonly what: string,
  ) {
    if (!isObject(value)) throw new FormatError(`${what}: what it says about the training is no JSON object.`);
    this.fields = value as Fields;
  }

  get(name: string): Json | undefined {
    return Object.hasOwn(this.fields, name) ? this.fields[name] : undefined;
  }

  text(name: string): Json | undefined {
    const value = this.get(name);
    return typeof value === "string" ? value : undefined;
  }

  number(name: string): number {
    const value = this.get(name);
    const found = typeof value === "number" ? value : CODES.get(value);
    return found ?? this.refuse(name, "a number");
  }

  whole(name: string): number {
    const value = this.get(name);
    const isWhole = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
    return isWhole ? value : this.refuse(name, "a whole number from 0 on");
  }

  list(name: string): Numbers[];
  list(name: string, isPlain: true): readonly Json[];
  list(name: string, isPlain = false): readonly (Numbers | Json)[] {
    const value = this.get(name);
    if (!Array.isArray(value)) return this.refuse(name, "a list");
    return isPlain ? value : value.map((each: Json, i) => new Numbers(each, `${this.what}, ${name}[${i}]`));
  }

  /** An object inside; null where there is null. */
  within(name: string): Numbers | null {
    const value = this.get(name);
    return value === null ? null : new Numbers(value, `${this.what}, ${name}`);
  }

  names(): string[] {
    return Object.keys(this.fields);
  }

  private refuse(name: string, what: string): never {
    throw new FormatError(`${this.what}: ${name} is ${shown(this.get(name))}; it is ${what}.`);
  }
}

const inside = (fields: Numbers, name: string): Numbers =>
  fields.within(name) ?? new Numbers(undefined, `a checkpoint, ${name}`);

function countsOf(fields: Numbers): Record<string, number> {
  const counts = inside(fields, "counts");
  return Object.fromEntries(counts.names().map((name) => [name, counts.whole(name)]));
}

function metricsIn(fields: Numbers): Metrics {
  const metrics = inside(fields, "metrics");
  return Object.fromEntries(metrics.names().map((name) => [name, metrics.number(name)]));
}

function standingOf(fields: Numbers): Standing {
  const early = inside(fields, "early");
  return { best: early.get("best") === null ? null : early.number("best"), bad: early.whole("bad") };
}

const recordOf = (fields: Numbers): HistoryRecord => ({
  epoch: fields.whole("epoch"),
  step: fields.whole("step"),
  metrics: metricsIn(fields),
  rate: fields.number("rate"),
  seconds: fields.number("seconds"),
});
