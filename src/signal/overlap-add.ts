/**
 * Convolution of a long signal with a short one by overlap and addition: the long one is cut into blocks, each is convolved by
 * Fourier transforms, and their results are added where they overlap. The transforms are as long as suits the short signal.
 */
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { joinedFrames, type MeetingOf, range, type Tensor } from "../tensor/index.js";
import { byTransform, checkedAlong, type FftConvolveOptions, fastLength, product } from "./convolution.js";

/** One axis: the signal that is cut (true: the first), the length of its blocks, and of the transforms. */
interface Blocks {
  readonly isFirst: boolean;
  readonly step: number;
  readonly count: number;
  readonly size: number;
}

/** The length of transforms with the least work for each result, log n · n / (n - short + 1); whole where blocks do not pay. */
function blocksOf(first: number, second: number): Blocks {
  const isFirst = first >= second;
  const [long, short] = isFirst ? [first, second] : [second, first];
  const whole = fastLength(long + short - 1);
  const work = (size: number) => (size * Math.log2(size)) / (size - short + 1);
  let best = { size: whole, work: short > 1 ? whole * Math.log2(whole) / long : 0 }; // biome-ignore format: one line
  for (let size = 2 ** Math.ceil(Math.log2(2 * short)); short > 1 && size < whole; size *= 2) {
    if (work(size) < best.work) best = { size, work: work(size) };
  }
  if (best.size === whole) return { isFirst, step: long, count: 1, size: whole };
  const step = best.size - short + 1;
  return { isFirst, step, count: Math.ceil(long / step), size: best.size };
}

/** An axis as two: the number of a block, and places in it. Zeros fill the last block. */
function cut(x: Tensor, axis: number, step: number, count: number): Tensor {
  const missing = count * step - x.shape[axis];
  const filled = missing > 0 ? x.pad(x.shape.map((_, i) => [0, i === axis ? missing : 0])) : x;
  return filled.reshape([...x.shape.slice(0, axis), count, step, ...x.shape.slice(axis + 1)]);
}

/** The blocks of an axis, at the places of two axes, joined where they overlap. */
function join(blocks: Tensor, axis: number, { step, count }: Blocks): Tensor {
  const last = blocks.moveAxis(axis, -1).moveAxis(axis, -1);
  const joined = count === 1 ? last.at("...", 0, ":") : joinedFrames(last, step);
  return joined.moveAxis(-1, axis);
}

function inBlocks(a: Tensor, b: Tensor, axes: readonly number[], full: readonly number[]): Tensor {
  const sorted = [...axes].sort((x, y) => x - y);
  const blocks = sorted.map((axis) => blocksOf(a.shape[axis], b.shape[axis]));
  const inPieces = (x: Tensor, isFirst: boolean) =>
    sorted.reduceRight((pieces, axis, i) => {
      const { step, count, isFirst: isOwn } = blocks[i];
      return isOwn === isFirst ? cut(pieces, axis, step, count) : cut(pieces, axis, x.shape[axis], 1);
    }, x);
  const found = product(inPieces(a, true), inPieces(b, false), {
    s: blocks.map(({ size }) => size),
    axes: sorted.map((axis, i) => axis + i + 1),
  });
  const whole = sorted.reduceRight((joined, axis, i) => join(joined, axis + i, blocks[i]), found);
  return axes.reduce((shown, axis, i) => range(shown, axis, 0, full[i]), whole);
}

/**
 * The convolution of two signals, one much longer than the other, by overlap and addition: less work and less memory than
 * `fftConvolve`, with the same result and options.
 */
export function oaConvolve<D extends DType, E extends DType>(
  a: Tensor<D>,
  b: Tensor<E>,
  options: FftConvolveOptions = {},
): Tensor<MeetingOf<D, E>> {
  const operation = "signal.oaConvolve";
  checkCount(operation, 3, arguments);
  const { axes, mode } = checkedAlong(operation, a, b, options);
  return byTransform(operation, a, b, axes, mode, inBlocks) as Tensor<MeetingOf<D, E>>;
}
