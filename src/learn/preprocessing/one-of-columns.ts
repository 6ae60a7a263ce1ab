/**
 * Codes as columns of zeros and ones, one for each code of each feature, and back. The list of columns is a pair of tensors, so that
 * the number of columns is known without reading any: encoders and bins learn it.
 */
import { arange, type Tensor, tensor } from "../../tensor/index.js";

/** The columns that come out: the feature of each, and the code that it stands for; i32. */
export interface CodeColumns {
  readonly feature: Tensor;
  readonly code: Tensor;
  readonly [name: string]: Tensor;
}

/** Columns from their features and codes, in this order. */
export function codeColumns(list: readonly (readonly [feature: number, code: number])[], device: string): CodeColumns {
  const column = (at: 0 | 1): Tensor =>
    tensor(
      Int32Array.from(list, (each) => each[at]),
      { device },
    ) as Tensor;
  return { feature: column(0), code: column(1) };
}

/** The features and codes of the columns again, for their names. Reads them: a few whole numbers. */
export function columnsOf({ feature, code }: CodeColumns): (readonly [feature: number, code: number])[] {
  const codes = code.dataSync() as Int32Array;
  return Array.from(feature.dataSync() as Int32Array, (each, i) => [each, codes[i] as number] as const);
}

/** Ones where a sample has the code of the column, from codes [samples, features]. */
export const ofCodes = (codes: Tensor, { feature, code }: CodeColumns, dtype: Tensor["dtype"]): Tensor =>
  codes.take(feature, { axis: 1 }).equal(code).cast(dtype) as Tensor;

/** Codes from columns of zeros and ones: [samples, features]. A row of zeros has the code 0. */
export function codesIn(columns: Tensor, { feature, code }: CodeColumns, features: number): Tensor {
  const { device, dtype } = columns;
  const isOf = feature.expandDims(1).equal(arange(features, { device, dtype: "i32" }));
  return columns.matmul(isOf.cast(dtype).mul(code.cast(dtype).expandDims(1))) as Tensor;
}
