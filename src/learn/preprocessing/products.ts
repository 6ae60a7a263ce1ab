/**
 * Products of columns up to a degree, in the order of scikit-learn: by degree, and within one in the order of the columns: a, b, a², ab, b².
 * `polynomialFeatures` and `polynomialRegression` are made of them.
 */
import { concat, type Tensor, tensor } from "../../tensor/index.js";

/** Which products there are. */
export interface ProductOptions {
  readonly degree: number;
  /** Products of fewer columns are left out. */
  readonly minDegree?: number;
  /** True: no column stands twice in a product. */
  readonly interactionOnly?: boolean;
}

/** The products of one degree: each is one of the degree before, by its position, times a column. */
interface Block {
  readonly before: readonly number[];
  readonly columns: readonly number[];
}

/** Blocks of the degrees 2, 3 … Those of a degree are those of the degree before, times each column from their last one on. */
function blocksOf(width: number, { degree, interactionOnly = false }: ProductOptions): Block[] {
  const blocks: Block[] = [];
  let last = Array.from({ length: width }, (_, j) => j);
  for (let d = 2; d <= degree; d++) {
    const before: number[] = [];
    const columns: number[] = [];
    for (const [position, from] of last.entries()) {
      for (let column = interactionOnly ? from + 1 : from; column < width; column++) {
        before.push(position);
        columns.push(column);
      }
    }
    if (columns.length === 0) break;
    blocks.push({ before, columns });
    last = columns;
  }
  return blocks;
}

/** The products of the columns of a matrix; null where there are none. */
export function productsOf(x: Tensor, options: ProductOptions): Tensor | null {
  const positions = (list: readonly number[]): Tensor => tensor(Int32Array.from(list), { device: x.device }) as Tensor;
  const all = [x];
  for (const { before, columns } of blocksOf(x.shape[1] as number, options)) {
    const earlier = (all.at(-1) as Tensor).take(positions(before), { axis: 1 });
    all.push(earlier.mul(x.take(positions(columns), { axis: 1 })) as Tensor);
  }
  const kept = options.degree === 0 ? [] : all.slice(Math.max(0, (options.minDegree ?? 1) - 1));
  return kept.length === 0 ? null : (concat(kept, { axis: 1 }) as Tensor);
}

/** How often each column stands in each product, as lists of columns: [[0], [1], [0, 0], [0, 1], [1, 1]]. */
export function factorsOf(width: number, options: ProductOptions): readonly (readonly number[])[] {
  const all: (readonly number[])[][] = [Array.from({ length: width }, (_, j) => [j])];
  for (const { before, columns } of blocksOf(width, options)) {
    const earlier = all.at(-1) as (readonly number[])[];
    all.push(columns.map((column, i) => [...(earlier[before[i] as number] as readonly number[]), column]));
  }
  return options.degree === 0 ? [] : all.slice(Math.max(0, (options.minDegree ?? 1) - 1)).flat();
}
