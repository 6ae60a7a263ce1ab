/** The check that every column has a value from which imputers can learn. */
import type { Tensor } from "../../tensor/index.js";
import { checkNone } from "../core/finite.js";
import type { Features } from "../core/samples.js";

/** Throws where a column has no value at all, with its name. */
export async function checkNoEmptyColumn(
  operation: string,
  x: Tensor,
  features: Features,
  remedy: string,
): Promise<void> {
  const isEmpty = x.isNaN().all({ axis: 0, keepDims: true }) as Tensor;
  const what = `the whole column is missing; ${remedy}`;
  await checkNone(operation, "the sample", x.at(":1") as Tensor, isEmpty, what, features);
}
