/** How much a fitted model makes of each column: its own importances, or the size of its coefficients. */
import { ArgumentError } from "../../core/errors.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import type { Fitted } from "../core/model.js";

/** The importances of columns. Coefficients of several outputs are added up, as absolute values or as squares. */
export async function importancesOf(operation: string, model: Fitted, power: 1 | 2): Promise<Float64Array> {
  const { featureImportances } = model as unknown as { featureImportances?: () => Tensor };
  const { coefficients } = model.learned as { readonly coefficients?: Tensor };
  const found = featureImportances
    ? featureImportances.call(model)
    : isTensor(coefficients)
      ? sizeOf(coefficients as Tensor, power)
      : null;
  if (found) return Float64Array.from((await found.data()) as ArrayLike<number>);
  throw new ArgumentError(
    `${operation}: ${model.kind} has neither featureImportances nor coefficients; take a linear model or trees.`,
  );
}

function sizeOf(coefficients: Tensor, power: 1 | 2): Tensor {
  const each = (power === 1 ? coefficients.abs() : coefficients.square()) as Tensor;
  return each.rank === 1 ? each : (each.sum({ axis: 1 }) as Tensor);
}
