/**
 * What it costs to dispose of nothing: the same work in two loops, one that disposes of each result and one that leaves all
 * of them to the garbage collector. The figure is how fast the second is beside the first. A sample contains both, in turn, and
 * is long enough for several collections. The collector runs in them as it does for users; nobody calls it.
 */
import { grad, type Tensor } from "../../src/index.js";
import { timed } from "../harness.js";
import type { Row } from "../row.js";
import {
  chain,
  computed,
  cumsum,
  engineOf,
  free,
  positionAt,
  positions,
  prove,
  type TensorContext,
  uniform,
  uniformAt,
  type Work,
} from "../tensor-work.js";

/** Milliseconds that each of the loops of a sample takes, about; collections are 5 to 20 ms each. */
const [STRETCH, QUICK_STRETCH] = [300, 60];

// ---------------------------------------------------------------------------------------------- work

/** Results of 256 MiB on a GPU; the CPU engine gets those of a run at two halvings more. */
const CPU_HALVINGS = 2;

/** The scale of a tensor's size, a power of a quarter. */
const scaleOf = ({ halvings, tensors }: TensorContext): number =>
  4 ** -(halvings + (tensors === "cpu" ? CPU_HALVINGS : 0));

/** The first axis to the end. */
function permute(device: string, scale: number): Work {
  const [planes, rows, columns] = [256, 1024 * scale, 256];
  const x = uniform(device, [planes, rows, columns], 0);
  return {
    inputs: [x],
    compute: () => x.transpose([1, 2, 0]),
    expected: (i) => uniformAt((i % planes) * rows * columns + Math.floor(i / planes), 0),
  };
}

/** The gradient of an embedding: of a sum over rows that are looked up, by the table. */
function embedding(device: string, scale: number): Work {
  const [rows, width, lookups] = [Math.max(64, 65536 * scale), 1024, 4096];
  const table = uniform(device, [rows, width], 0);
  const places = positions(device, lookups, rows, 1);
  const weights = uniform(device, [lookups, 1], 2);
  const gradient = grad((t: Tensor) => t.take(places, { axis: 0 }).mul(weights).sum());
  return {
    inputs: [table, places, weights],
    compute: () => gradient(table) as Tensor,
    expected(i) {
      const row = Math.floor(i / width);
      let sum = 0;
      for (let k = 0; k < lookups; k++) if (positionAt(k, rows, 1) === row) sum += uniformAt(k, 2);
      return sum;
    },
  };
}

/** Products of matrices, as many as the scale says. */
function products(device: string, scale: number): Work {
  const [count, edge] = [Math.max(1, 64 * scale), 512];
  const [a, b] = [0, 1].map((seed) => uniform(device, [count, edge, edge], seed));
  return {
    inputs: [a, b],
    compute: () => a.matmul(b),
    expected(i) {
      const [start, row, column] = [i - (i % edge ** 2), Math.floor(i / edge) % edge, i % edge];
      let sum = 0;
      for (let k = 0; k < edge; k++)
        sum += uniformAt(start + row * edge + k, 0) * uniformAt(start + k * edge + column, 1);
      return sum;
    },
  };
}

/** A convolution of 3×3 without padding, of 16 channels into 16. */
function convolution(device: string, scale: number): Work {
  const [count, channels, side, edge] = [Math.max(1, 64 * scale), 16, 130, 128];
  const x = uniform(device, [count, channels, side, side], 0);
  const kernel = uniform(device, [channels, channels, 3, 3], 1);
  return {
    inputs: [x, kernel],
    compute: () => x.conv(kernel),
    expected(i) {
      const [column, row] = [i % edge, Math.floor(i / edge) % edge];
      const [result, image] = [Math.floor(i / edge ** 2) % channels, Math.floor(i / (edge ** 2 * channels))];
      let sum = 0;
      for (let c = 0; c < channels; c++) {
        for (let k = 0; k < 9; k++) {
          const [down, right] = [Math.floor(k / 3), k % 3];
          const at = ((image * channels + c) * side + row + down) * side + column + right;
          sum += uniformAt(at, 0) * uniformAt((result * channels + c) * 9 + k, 1);
        }
      }
      return sum;
    },
  };
}

const WORKS: Readonly<Record<string, { readonly of: string; work(device: string, scale: number): Work }>> = {
  chain: { of: "tanh(a*b+c)*sigmoid(d) of 256 MiB", work: (device, scale) => chain(device, 2 ** 26 * scale) },
  permute: { of: "a permutation of 256 MiB", work: permute },
  embedding: { of: "the gradient of an embedding of 256 MiB", work: embedding },
  cumsum: { of: "a cumulative sum of 256 MiB", work: (device, scale) => cumsum(device, 2 ** 26 * scale) },
  products: { of: "64 products of 512×512", work: products },
  conv: { of: "a convolution of 64×16×130×130 by 3×3", work: convolution },
};

// ---------------------------------------------------------------------------------------------- measuring

/** Milliseconds of a loop that computes results, disposes of them or not, and waits for each or for the last. */
async function loop(
  context: TensorContext,
  work: Work,
  count: number,
  { isDisposing, isAwaited }: { readonly isDisposing: boolean; readonly isAwaited: boolean },
): Promise<number> {
  const engine = engineOf(context.tensors);
  return await timed(async () => {
    for (let step = 0; step < count; step++) {
      const results = computed(work);
      if (isAwaited) await engine.finish();
      if (isDisposing) for (const result of results) result.dispose();
    }
    engine.finishSync();
  });
}

/** The time of the loop that disposes, divided by that of the loop that does not. */
async function ratios(context: TensorContext, work: Work, isAwaited: boolean): Promise<number[]> {
  const engine = engineOf(context.tensors);
  let [results, collections] = [0, 0];
  try {
    // The second time nothing is compiled.
    const alone = { isDisposing: true, isAwaited: true };
    const milliseconds = (await loop(context, work, 2, alone)) && (await loop(context, work, 2, alone)) / 2;
    const count = Math.max(2, Math.ceil((context.isQuick ? QUICK_STRETCH : STRETCH) / milliseconds));
    const samples = await context.sample(async () => {
      const before = engine.stats().collections;
      const left = await loop(context, work, count, { isDisposing: false, isAwaited });
      results += count;
      collections += engine.stats().collections - before;
      return (await loop(context, work, count, { isDisposing: true, isAwaited })) / left;
    });
    context.note(`${collections} collections for ${results} results that were left to the collector`);
    await prove(context, work);
    return samples;
  } finally {
    free(context.tensors, work.inputs);
  }
}

const row = (name: string, isAwaited: boolean, place?: "cpu"): Row => ({
  name: `${place ? "cpu-" : ""}garbage-${name}${isAwaited ? "-await" : ""}`,
  title:
    `speed of a loop that disposes of nothing beside one that does: ${WORKS[name]!.of}, ` +
    `${isAwaited ? "awaited one by one" : "without await"}${place ? ", 16 times smaller" : ""}`,
  unit: "×",
  better: "higher",
  targets: [{ atLeast: 0.85 }],
  ...(place ? { place } : {}),
  run: (context) => ratios(context, WORKS[name]!.work(context.tensors, scaleOf(context)), isAwaited),
});

export const garbageRows: readonly Row[] = [undefined, "cpu" as const].flatMap((place) =>
  Object.keys(WORKS).flatMap((name) => [true, false].map((isAwaited) => row(name, isAwaited, place))),
);
