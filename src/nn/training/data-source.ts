/** Data as `train` and `evaluate` take them: batches, or whole tensors that are cut into batches. */
import { checkWhole } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { foldIn, type Key, permutation } from "../../random/index.js";
import { arange, type Tensor } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { flattenTensors, unflatten } from "../../transforms/trees.js";
import type { Batches } from "../data/batches.js";

/** Batches, or a tree of tensors whose first axis counts the examples. */
export type DataSource<B> = Batches<B> | B;

/** How whole tensors are cut. */
interface CutOptions {
  readonly batchSize?: number;
  /** For the order of the examples, which is new in each epoch; null keeps theirs. */
  readonly order?: Key | null;
}

/** Batches of some data. */
export function dataOf<B>(operation: string, source: DataSource<B>, options: CutOptions): Batches<B> {
  if (typeof (source as Partial<Batches<B>> | null)?.epoch === "function") {
    return source as Batches<B>;
  }
  return cut(operation, source as B, options);
}

function cut<B>(operation: string, whole: B, { batchSize = 256, order = null }: CutOptions): Batches<B> {
  checkWhole(operation, "the option batchSize", batchSize, 1);
  const { leaves, structure } = flattenTensors(whole, `${operation}, the data`);
  const count = leaves[0]?.shape[0];
  if (count === undefined || leaves.some(({ shape }) => shape[0] !== count)) {
    const shapes = leaves.map(({ shape }) => formatShape(shape)).join(", ");
    throw new ShapeError(
      `${operation}: the first axis of all data counts the examples; they have shapes ${shapes || "of nothing"}.`,
    );
  }
  const batches = Math.ceil(count / batchSize);
  const device = (leaves[0] as Tensor).device;
  return {
    batchesPerEpoch: batches,
    async *epoch(index: number, from = 0): AsyncGenerator<B> {
      const places =
        order === null ? arange(count, { dtype: "i32", device }) : permutation(foldIn(order, index), count);
      places.realize();
      for (let i = from; i < batches; i++) {
        const rows = Math.min(batchSize, count - i * batchSize);
        yield unflatten(structure, rowsAt(leaves, places as Tensor, (i * batchSize) as never, rows)) as B;
      }
    },
  };
}

/** So many rows at the places from `start` on: one program for all batches of a size. */
const rowsAt = jit(
  (tensors: readonly Tensor[], places: Tensor, start: Tensor, rows: number): Tensor[] => {
    const chosen = places.take(arange(rows, { dtype: "i32", device: places.device }).add(start.cast("i32")));
    return tensors.map((each) => each.take(chosen, { axis: 0 }));
  },
  { static: 3 },
);
