/**
 * Data that come one after the other: generators and async iterables, which cannot be read from the middle. They are shuffled within a
 * buffer of bounded size, and an epoch that begins later reads and drops what comes before. loader.ts calls this.
 */
import { ArgumentError } from "../../core/errors.js";
import { below, bitsFrom, type Seed } from "../../core/seeded-order.js";
import { shown } from "../../core/shown.js";

/** Examples that come one after the other. */
export type Stream<E> = Iterable<E> | AsyncIterable<E>;

/** A source of streams: a function of the epoch, or something that can be gone through again and again. */
export type StreamSource<E> = Stream<E> | ((epoch: number) => Stream<E>);

const isStream = (value: unknown): value is Stream<unknown> =>
  typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

/** Whether this is a stream, or a function of which one is expected. */
export const isStreamSource = (source: unknown): source is StreamSource<unknown> =>
  typeof source === "function" || isStream(source);

/** Iterators that give their values once, and were begun. */
const spent = new WeakSet<object>();

/** The stream of an epoch. */
export function streamOf(source: StreamSource<unknown>, epoch: number): Stream<unknown> {
  if (typeof source === "function") {
    const made = source(epoch);
    if (isStream(made)) return made;
    throw new ArgumentError(
      `loader: the function gave ${shown(made)}; it gives an iterable, as a generator function does.`,
    );
  }
  const self = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  if ((self as unknown) === source) {
    if (spent.has(source)) {
      throw new ArgumentError(
        "loader: a generator gives its values once; give the generator function, which makes one for each epoch.",
      );
    }
    spent.add(source);
  }
  return source;
}

/** The elements in a shuffled order, with at most `size` of them held. */
export async function* shuffledStream<E>(stream: Stream<E>, size: number, seed: Seed): AsyncGenerator<E, void> {
  const bits = bitsFrom(seed);
  const held: E[] = [];
  for await (const element of stream) {
    if (held.length < size) {
      held.push(element);
      continue;
    }
    const place = below(size, bits);
    yield held[place] as E;
    held[place] = element;
  }
  while (held.length > 0) {
    const place = below(held.length, bits);
    const last = held.pop() as E;
    if (place === held.length) yield last;
    else {
      yield held[place] as E;
      held[place] = last;
    }
  }
}

/** The elements in groups of one size; the last may be smaller. The first `skip` groups are read and dropped. */
export async function* groupsOf<E>(stream: Stream<E>, size: number, skip: number): AsyncGenerator<E[], void> {
  let group: E[] = [];
  let left = skip * size;
  for await (const element of stream) {
    if (left > 0) {
      left--;
      continue;
    }
    group.push(element);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
