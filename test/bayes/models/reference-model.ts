/**
 * The models of the reference posteriors in Pumice's language, with what a test needs to compare them: where the data and
 * draws are, and how CmdStan orders the free numbers. Variables have the names of the reference draws, "beta[1]" being
 * the first element of beta.
 */
import type { Posterior } from "../../../src/bayes/model/posterior.js";
import { type Nested, type Tensor, tensor } from "../../../src/tensor/index.js";
import { referenceJson } from "../../support/reference-data.js";

/** A posterior whose variables are known by name only. */
export type AnyPosterior = Posterior<Readonly<Record<string, Tensor>>, string>;

/** Makes tensors of the dtype and on the device of a test. */
export type Make = (values: Nested<number>) => Tensor;

export interface ReferenceModel {
  /** As posteriordb calls the posterior. */
  readonly name: string;
  /** As the CmdStan values call the model, where there are any. */
  readonly stan?: string;
  /** Variables in the order in which CmdStan's vector of free numbers holds them. */
  readonly order: readonly string[];
  /** Constants that the Stan program keeps, because it writes `target += …_lpdf` where others write `~`. */
  readonly keptByStan?: number;
  posterior(make: Make): AnyPosterior;
}

export const makeIn =
  (dtype: "f32" | "f64", device: string): Make =>
  (values) =>
    tensor(values, { dtype, device });

/** The data file of a posterior. */
export const posteriorData = <T>(name: string): T => referenceJson(`posteriordb/${name}/data.json`) as T;

/** What `normal_lpdf` keeps for each number, beyond `~`, at a known scale. */
export const normalConstant = (scale: number): number => -0.5 * Math.log(2 * Math.PI) - Math.log(scale);
