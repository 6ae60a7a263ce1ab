/** What an estimator says of samples that it was not fitted to: each is in the test of one split. Stacking and calibration learn from it. */
import { ArgumentError } from "../../core/errors.js";
import { concat, type Tensor, tensor } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { Data } from "../core/estimator.js";
import { kFold, type Split, type Splitter, stratifiedKFold } from "../selection/splits.js";
import { fitMember, type Member } from "./members.js";

/** The splits of a rule, or of a number of folds: stratified for positions of classes. Reads the labels. */
export async function splitsOf({ x, y }: Data, splits: Splitter | number, isOfClasses: boolean): Promise<Split[]> {
  const samples = x.shape[0] as number;
  const labels = isOfClasses ? Array.from((await (y as Tensor).data()) as Int32Array) : undefined;
  const rule = typeof splits === "number" ? (isOfClasses ? stratifiedKFold(splits) : kFold(splits)) : splits;
  return rule.split({ samples, labels });
}

/** What models say of the samples of each test, in the order of the samples. `operation` is named in the error. */
export async function outOfFold(
  operation: string,
  estimator: AnyEstimator,
  data: Data,
  splits: readonly Split[],
  say: (model: Member, x: Tensor) => Tensor,
): Promise<Tensor> {
  const { device } = data.x;
  const samples = data.x.shape[0] as number;
  const places = new Int32Array(samples).fill(-1);
  const said: Tensor[] = [];
  let at = 0;
  for (const { train, test } of splits) {
    const model = await fitMember(estimator, data, train);
    said.push(say(model, data.x.take(tensor(test, { device }), { axis: 0 }) as Tensor));
    for (const i of test) places[i] = at++;
  }
  if (at !== samples || places.includes(-1)) {
    throw new ArgumentError(`${operation}: the splits must test each sample once, as kFold and stratifiedKFold do.`);
  }
  return concat(said).take(tensor(places, { device }), { axis: 0 }) as Tensor;
}
