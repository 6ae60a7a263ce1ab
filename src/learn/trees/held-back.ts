/** Which samples boosting holds back to see when to stop: a share of each class, or of the queries as wholes. The seed decides. */
import { permutation } from "../../core/seeded-order.js";
import { type Tensor, tensor } from "../../tensor/index.js";

interface Samples {
  readonly x: Tensor;
  /** Labels, so that held back samples have them in equal shares. */
  readonly labels: Tensor | null;
  /** The query of each sample, which are held back as a whole. */
  readonly groups?: Int32Array;
}

/** Samples to train with and samples that are held back, by position. */
export async function heldBack(
  { x, labels, groups }: Samples,
  share: number,
  seed: number,
): Promise<{ readonly train: Tensor; readonly test: Tensor }> {
  const samples = x.shape[0] as number;
  const isTest = groups ? ofQueries(groups, share, seed) : ofClasses(await codesOf(labels, samples), share, seed);
  const held = isTest.reduce((sum, is) => sum + is, 0);
  const places = [new Int32Array(samples - held), new Int32Array(held)] as const;
  const filled = [0, 0] as [number, number];
  isTest.forEach((is, row) => {
    const side = is as 0 | 1;
    places[side][filled[side]++] = row;
  });
  const [train, test] = places.map((rows) => tensor(rows, { device: x.device }) as Tensor) as [Tensor, Tensor];
  return { train, test };
}

/** Classes as whole numbers; one for all where there are no labels. */
async function codesOf(labels: Tensor | null, samples: number): Promise<Int32Array> {
  return labels ? Int32Array.from((await labels.data()) as ArrayLike<number>) : new Int32Array(samples);
}

const most = (values: Int32Array): number => values.reduce((largest, value) => Math.max(largest, value), 0);

const heldOf = (count: number, share: number): number => Math.ceil(share * count - 1e-9);

function ofQueries(groups: Int32Array, share: number, seed: number): Uint8Array {
  const count = most(groups) + 1;
  const isHeld = new Uint8Array(count);
  for (const query of permutation(count, [0, seed >>> 0], 7).subarray(0, heldOf(count, share))) isHeld[query] = 1;
  return Uint8Array.from(groups, (query) => isHeld[query] as number);
}

/** Of each class the first ones of a random order, as many as its share. */
function ofClasses(codes: Int32Array, share: number, seed: number): Uint8Array {
  const left = new Int32Array(most(codes) + 1);
  for (const code of codes) left[code]++;
  left.forEach((count, code) => {
    left[code] = heldOf(count, share);
  });
  const isTest = new Uint8Array(codes.length);
  for (const row of permutation(codes.length, [0, seed >>> 0], 7)) {
    const code = codes[row] as number;
    if ((left[code] as number) === 0) continue;
    left[code]--;
    isTest[row] = 1;
  }
  return isTest;
}
