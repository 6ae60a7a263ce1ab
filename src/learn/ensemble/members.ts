/**
 * Members of an ensemble: estimators that are options of another one, fitted to its samples or to some of them. Labels are positions of
 * classes inside, so that members agree on them; one that has not seen a class gives it no probability.
 */
import { ArgumentError } from "../../core/errors.js";
import { arange, concat, type Tensor, tensor, zeros } from "../../tensor/index.js";
import { type AnyEstimator, checkEstimator } from "../compose/steps.js";
import type { Data, FitOptions } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";

/** A fitted member. */
export interface Member extends Fitted {
  predict(x: Tensor): Tensor;
  predictProbability?(x: Tensor): Tensor;
  decisionFunction?(x: Tensor): Tensor;
}

/** Members, as ensembles of classifications learn them. */
export interface ClassMembers {
  readonly models: readonly Member[];
  /** 0, 1, 2 …: the positions of the classes, i32. */
  readonly places: Tensor;
}

/** The options of a member's fit to all samples. */
const memberOptions = ({ facts, weights, signal }: Data): FitOptions => ({
  featureNames: facts.features.names ?? undefined,
  featureCategories: facts.features.categories,
  weights: weights ?? undefined,
  signal,
});

/** Fits a member to the samples at these positions, or to all of them. */
export async function fitMember(estimator: AnyEstimator, data: Data, positions: Int32Array | null): Promise<Member> {
  data.signal?.throwIfAborted();
  const { x, y, weights } = positions ? rowsOf(data, positions) : data;
  return (await estimator.fit(x, y ?? undefined, { ...memberOptions(data), weights: weights ?? undefined })) as Member;
}

/** Samples, targets and weights at these positions. */
export function rowsOf<D extends Data>(data: D, positions: Int32Array): D {
  const at = tensor(positions, { device: data.x.device });
  const rows = (of: Tensor | null): Tensor | null => of && (of.take(at, { axis: 0 }) as Tensor);
  return { ...data, x: rows(data.x), y: rows(data.y), weights: rows(data.weights) };
}

/** The positions of the classes. */
export const placesOf = (x: Tensor, classes: number): Tensor =>
  arange(classes, { device: x.device, dtype: "i32" }) as Tensor;

/** The probability of each class, [samples, classes]; all of it for the predicted one where a member knows no probabilities. */
export function probabilitiesOf(model: Member, x: Tensor, places: Tensor): Tensor {
  if (!model.predictProbability) return votesOf(model, x, places);
  const found = model.predictProbability(x);
  const own = model.classes as readonly number[];
  const count = places.shape[0] as number;
  if (own.length === count) return found;
  const { device, dtype } = found;
  const none = zeros([found.shape[0] as number, 1], { device, dtype });
  const columns = Int32Array.from({ length: count }, (_, place) => own.indexOf(place)).map((column) =>
    column < 0 ? own.length : column,
  );
  return concat([found, none], { axis: 1 }).take(tensor(columns, { device }), { axis: 1 }) as Tensor;
}

/** 1 for the class that a member predicts, [samples, classes]. */
export const votesOf = (model: Member, x: Tensor, places: Tensor): Tensor =>
  model.predict(x).cast("i32").expandDims(1).equal(places).cast(x.dtype) as Tensor;

/** How sure a member of two classes is of the second, [samples]; 0 is even for decisions, 0.5 for probabilities. */
export function confidenceOf(model: Member, x: Tensor): { readonly values: Tensor; readonly even: number } {
  if (model.decisionFunction) return { values: model.decisionFunction(x), even: 0 };
  if (model.predictProbability) return { values: model.predictProbability(x).at(":", -1) as Tensor, even: 0.5 };
  throw new ArgumentError(`${model.kind} has neither decisionFunction nor predictProbability; take another estimator.`);
}

/** Throws unless an option is an estimator, of labels or of numbers where it matters. */
export function checkMember(kind: string, name: string, given: unknown, labels?: boolean): void {
  const estimator = given as AnyEstimator;
  checkEstimator(`${kind}: ${name}`, estimator, `${kind}({ ${name.replace(/ .*/, "")}: … })`);
  if (labels === undefined || estimator.predictsLabels === labels) return;
  const [has, wants] = labels ? ["numbers", "labels"] : ["labels", "numbers"];
  throw new ArgumentError(`${kind}: ${name} is a ${estimator.kind}, which predicts ${has}; it must predict ${wants}.`);
}

/** Throws unless an option is a list of estimators. */
export function checkMembers(kind: string, given: unknown, labels: boolean): void {
  if (!Array.isArray(given) || given.length === 0) {
    throw new ArgumentError(`${kind}: estimators are a list of one or more, as in ${kind}({ estimators: [a, b] }).`);
  }
  for (const [place, each] of given.entries()) checkMember(kind, `estimators ${place}`, each, labels);
}

/** Whether NaN may stand in the samples, and weights be given: what all members allow. */
export const allAllowMissing = (members: readonly AnyEstimator[]): boolean =>
  members.every(({ allowsMissing = false }) => allowsMissing);
export const allTakeWeights = (members: readonly AnyEstimator[]): boolean =>
  members.every(({ takesWeights = true }) => takesWeights);
