/** The check that every column has a value from which imputers can learn. */
import { type Tensor, tensor } from "../../tensor/index.js";
import { checkNone } from "../core/finite.js";
import type { Features } from "../core/samples.js";

/** Throws where a column has no value at all, with its name. `keepsNumbers`: columns of numbers are let be. */
export async function checkNoEmptyColumn(
  operation: string,
  x: Tensor,
  features: Features,
  { remedy, keepsNumbers = false }: { readonly remedy: string; readonly keepsNumbers?: boolean },
): Promise<void> {
  if (keepsNumbers && !features.categories) return;
  const isMissing = x.isNaN().all({ axis: 0, keepDims: true });
  const isText = Array.from({ length: features.count }, (_, j) => Boolean(features.categories?.[j]));
  const isEmpty = (keepsNumbers ? isMissing.logicalAnd(tensor(isText, { device: x.device })) : isMissing) as Tensor;
  const what = `the whole column is missing; ${remedy}`;
  await checkNone(operation, "the sample", x.at(":1") as Tensor, isEmpty, what, features);
}
