/**
 * Batches from any data: tensors, arrays, examples by number, files, generators. The order of an epoch depends on a key and on the
 * epoch's number alone, so that a training that was cut off goes on with the batch that it would have seen next. Batches are read,
 * uploaded and mapped ahead of their use.
 */
import { checkFunction, checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Seed } from "../../core/seeded-order.js";
import { shown } from "../../core/shown.js";
import { foldIn, type Key } from "../../random/index.js";
import { checkKey } from "../../random/key.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { leaves } from "../../transforms/tree.js";
import type { Batches } from "./batches.js";
import { collated } from "./collate.js";
import { DRAW, type Drawn } from "./drawn.js";
import { inOrder, type Order, shuffled, shuffledByBlocks } from "./order.js";
import { readAhead } from "./prefetch.js";
import { areTensors, type Examples, type Rows, rowsOf, type TensorRows } from "./rows.js";
import { groupsOf, isStreamSource, type Stream, type StreamSource, shuffledStream, streamOf } from "./stream.js";

/** A tree of examples as a batch has it: tensors in the place of values. */
export type Batched<E> = E extends Tensor | number | boolean | bigint | ArrayBufferView
  ? Tensor
  : E extends readonly (infer V)[]
    ? V extends Tensor | ArrayBufferView | Record<string, unknown>
      ? { readonly [K in keyof E]: Batched<E[K]> }
      : Tensor
    : { readonly [K in keyof E]: Batched<E[K]> };

/** The batches of a source. */
export type BatchOf<S> =
  S extends Rows<infer B>
    ? B
    : S extends Examples<infer E>
      ? Batched<E>
      : S extends (epoch: number) => Stream<infer E>
        ? Batched<E>
        : S extends readonly (infer E extends Record<string, unknown>)[]
          ? Batched<E>
          : S extends Tensor | readonly unknown[] | ArrayBufferView
            ? Batched<S>
            : S extends Stream<infer E>
              ? Batched<E>
              : Batched<S>;

/** Options of `loader`. */
export interface LoaderOptions {
  /** Rows of a batch. */
  readonly batchSize: number;
  /** The key of the order; without one, rows come as they lie. */
  readonly shuffle?: Key;
  /** Shuffles blocks of so many neighbouring rows, and the rows of each among themselves: for files, which are then read in order. */
  readonly shuffleBlock?: number;
  /** For generators and async iterables: the number of examples among which they are shuffled; 1024. */
  readonly shuffleBuffer?: number;
  /** Leaves out a last batch that is not full. */
  readonly dropLast?: boolean;
  /** Fills the last batch with copies of its last row, and adds `mask` to every batch: false for the copies. */
  readonly padLast?: boolean;
  /** For `map`; that of `shuffle` unless told. */
  readonly key?: Key;
  /** The number of batches that are read ahead; 2. */
  readonly prefetch?: number;
  /** Epochs of `for await (const batch of loader(…))`; 1. */
  readonly epochs?: number;
  /** Where batches go: the default device, or where the tensors are, unless told. */
  readonly device?: string;
}

/** Batches of a loader, by epoch, and one after the other. */
export interface Loader<B> extends Batches<B>, AsyncIterable<B> {
  /** The number of examples; null where only the end tells. */
  readonly count: number | null;
  /** The number of examples and batches, in a line. */
  toString(): string;
}

const OPTIONS: OptionKinds<LoaderOptions & { readonly map?: unknown }> = {
  batchSize: "number",
  shuffle: "any",
  shuffleBlock: "number",
  shuffleBuffer: "number",
  dropLast: "flag",
  padLast: "flag",
  key: "any",
  prefetch: "number",
  epochs: "number",
  device: "text",
  map: "function",
};

/** The number that is folded into the key of the order to make that of `map`. */
const MAP_KEY = 0x6d6170;

/**
 * Batches of a source: `loader({ x, y }, { batchSize: 64, shuffle: random.key(0) })`. A source is a tree of tensors, typed arrays or lists of
 * numbers with one first extent; a list of examples; `{ count, example(i) }`; `openRows(…)`; or a generator function, a generator or an
 * (async) iterable of examples. `map` is a function of a batch and a key that runs on the device, as one program.
 */
export function loader<const S, R = BatchOf<S>>(
  source: S,
  options: LoaderOptions & { readonly map?: (batch: BatchOf<S>, key: Key) => R },
): Loader<R> {
  return anyLoader(source, options as LoaderOptions & { readonly map?: Map }) as Loader<R>;
}

function anyLoader(source: unknown, options: LoaderOptions & { readonly map?: Map }): Loader<unknown> {
  checkLoader(options);
  const { batchSize, prefetch = 2, epochs = 1, dropLast = false } = options;
  const rows = rowsOf(source, "loader");
  if (!rows && !isStreamSource(source)) {
    throw new ArgumentError(
      `loader: ${shown(source)} is no source of data; give tensors, arrays, { count, example }, openRows(…) or a generator function.`,
    );
  }
  const count = rows?.count ?? null;
  const finish = finishing(options);
  const epoch = (index: number, from = 0): AsyncIterable<unknown> => {
    checkWhole("loader", "the number of an epoch", index, 0);
    checkWhole("loader", "the first batch of an epoch", from, 0);
    return {
      [Symbol.asyncIterator]: () => {
        const raw = rows
          ? ofRows(rows, options, index, from)
          : ofStream(source as StreamSource<unknown>, options, index, from);
        return readAhead(finish(raw, index, from), prefetch, disposeOf);
      },
    };
  };
  const batchesPerEpoch =
    count === null ? null : dropLast ? Math.floor(count / batchSize) : Math.ceil(count / batchSize);
  const text = `loader(${count ?? "any number of"} examples in ${batchesPerEpoch === null ? "" : `${batchesPerEpoch} `}batches of ${batchSize}${options.shuffle ? ", shuffled" : ""})`;
  const isDrawn = areTensors(rows) && !options.map && !options.padLast;
  return {
    count,
    batchesPerEpoch,
    epoch,
    ...(isDrawn && { [DRAW]: (index: number, from: number) => drawnBatches(rows, options, index, from) }),
    toString: () => text,
    [Symbol.for("nodejs.util.inspect.custom")]: () => text,
    async *[Symbol.asyncIterator]() {
      for (let index = 0; index < epochs; index++) yield* epoch(index);
    },
  };
}

type Map = (batch: unknown, key: Key) => unknown;

function checkLoader(options: LoaderOptions & { readonly map?: Map }): void {
  checkOptions("loader", options, OPTIONS);
  checkWhole("loader", "the option batchSize", options.batchSize, 1);
  for (const name of ["shuffleBlock", "shuffleBuffer", "epochs"] as const) {
    if (options[name] !== undefined) checkWhole("loader", `the option ${name}`, options[name], 1);
  }
  if (options.prefetch !== undefined) checkWhole("loader", "the option prefetch", options.prefetch, 0);
  for (const name of ["shuffle", "key"] as const) {
    if (options[name] !== undefined) checkKey(options[name], "loader", "", `the option ${name}`);
  }
  if (options.dropLast && options.padLast) {
    throw new ArgumentError("loader: dropLast and padLast exclude each other; the last batch is left out, or filled.");
  }
  if (options.map === undefined) return;
  checkFunction("loader", options.map, "the option map");
  if (options.map.length > 1 && !options.key && !options.shuffle) {
    throw new ArgumentError(
      "loader: the function of map takes a key; give the option key, as in { key: random.key(0) }.",
    );
  }
}

/** Batches as they come from the source, with the number of rows that are no copies. */
interface RawBatch {
  readonly batch: unknown;
  readonly real: number;
}

const seedOf = async (key: Key, epoch: number): Promise<Seed> => {
  const [high, low] = await foldIn(key, epoch).data();
  return [high as number, low as number];
};

async function orderOf(count: number, { shuffle, shuffleBlock }: LoaderOptions, epoch: number): Promise<Order> {
  if (!shuffle) return inOrder;
  const seed = await seedOf(shuffle, epoch);
  return shuffleBlock === undefined ? shuffled(count, seed) : shuffledByBlocks(count, shuffleBlock, seed);
}

/** The rows of each batch, in the order of an epoch, and how many of them are no copies. */
async function* placesOf(
  count: number,
  options: LoaderOptions,
  epoch: number,
  from: number,
): AsyncGenerator<{ readonly places: Int32Array; readonly real: number }, void> {
  const { batchSize, dropLast = false, padLast = false } = options;
  const order = await orderOf(count, options, epoch);
  for (let start = from * batchSize; start < count; start += batchSize) {
    const real = Math.min(batchSize, count - start);
    if (real < batchSize && dropLast) return;
    const places = new Int32Array(padLast ? batchSize : real);
    for (let i = 0; i < places.length; i++) places[i] = order(start + Math.min(i, real - 1));
    yield { places, real };
  }
}

async function* ofRows(
  rows: Rows<unknown>,
  options: LoaderOptions,
  epoch: number,
  from: number,
): AsyncGenerator<RawBatch, void> {
  for await (const { places, real } of placesOf(rows.count, options, epoch, from)) {
    yield { batch: await rows.read(places, options.device), real };
  }
}

async function* drawnBatches(
  rows: TensorRows,
  options: LoaderOptions,
  epoch: number,
  from: number,
): AsyncGenerator<Drawn, void> {
  for await (const { places } of placesOf(rows.count, options, epoch, from)) yield rows.draw(places, options.device);
}

async function* ofStream(
  source: StreamSource<unknown>,
  options: LoaderOptions,
  epoch: number,
  from: number,
): AsyncGenerator<RawBatch, void> {
  const { batchSize, dropLast = false, padLast = false, device, shuffle, shuffleBuffer = 1024 } = options;
  const plain = streamOf(source, epoch);
  const stream = shuffle ? shuffledStream(plain, shuffleBuffer, await seedOf(shuffle, epoch)) : plain;
  for await (const group of groupsOf(stream, batchSize, from)) {
    const real = group.length;
    if (real < batchSize && dropLast) return;
    const examples = padLast ? Array.from({ length: batchSize }, (_, i) => group[Math.min(i, real - 1)]) : group;
    yield { batch: collated(examples, device), real };
  }
}

/** Adds the mask, and maps. Batches are computed as soon as they are made, not when they are used. */
function finishing(options: LoaderOptions & { readonly map?: Map }) {
  const { batchSize, padLast = false, map, shuffle } = options;
  const key = options.key ?? (shuffle && foldIn(shuffle, MAP_KEY));
  const mapped = map && jit((batch: unknown, own: Key | null) => map(batch, own as Key));
  return async function* (raw: AsyncGenerator<RawBatch, void>, epoch: number, from: number) {
    const ofEpoch = key && foldIn(key, epoch);
    let number = from;
    for await (const { batch, real } of raw) {
      const whole = padLast ? masked(batch, real, batchSize) : batch;
      const finished = mapped ? mapped(whole, ofEpoch ? foldIn(ofEpoch, number) : null) : whole;
      for (const leaf of leaves(finished)) leaf.realize();
      number++;
      yield finished;
    }
  };
}

function masked(batch: unknown, real: number, size: number): unknown {
  const isObject = typeof batch === "object" && batch !== null && Object.getPrototypeOf(batch) === Object.prototype;
  if (!isObject || Object.hasOwn(batch as object, "mask")) {
    throw new ArgumentError("loader: padLast adds `mask` to batches that are objects without one, as { x, y }.");
  }
  const device = leaves(batch)[0]?.device;
  const mask = tensor(
    Array.from({ length: size }, (_, i) => i < real),
    { device },
  );
  return { ...(batch as object), mask };
}

function disposeOf(batch: unknown): void {
  for (const leaf of leaves(batch)) leaf.dispose();
}
