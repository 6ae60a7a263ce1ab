/** What a test gives: a statistic and the p value, under one of three alternatives. */
import { checkChoice, type OptionKinds } from "../../core/arguments.js";
import type { Tensor } from "../../tensor/index.js";
import { SAMPLE, type SampleOptions } from "./samples.js";
import { normalUpper, tBeyond, tUpper } from "./tails.js";

/** What is set against the null hypothesis. */
export type Alternative = "twoSided" | "less" | "greater";

/** Options of tests that have a direction. */
export interface AlternativeOptions extends SampleOptions {
  /** "twoSided" unless told. "greater" and "less" say how the first sample, or the statistic, differs. */
  readonly alternative?: Alternative;
}

export const ALTERNATIVE: OptionKinds<AlternativeOptions> = { ...SAMPLE, alternative: "text" };

/** The result of a test. */
export interface TestResult {
  readonly statistic: Tensor;
  /** The probability of a statistic at least as extreme under the null hypothesis. */
  readonly pValue: Tensor;
}

/** The result of a test whose statistic has degrees of freedom. */
export interface DegreesResult extends TestResult {
  readonly degrees: Tensor;
}

export function alternativeOf(operation: string, { alternative = "twoSided" }: AlternativeOptions): Alternative {
  checkChoice(operation, "the option alternative", alternative, ["twoSided", "less", "greater"]);
  return alternative;
}

/** The p value of a number that has Student's t distribution. */
export function tValue(t: Tensor, degrees: Tensor, alternative: Alternative): Tensor {
  if (alternative === "twoSided") return tBeyond(t, degrees);
  return tUpper(alternative === "less" ? t.neg() : t, degrees);
}

/** The p value of a number that has a standard normal distribution. */
export function normalValue(z: Tensor, alternative: Alternative): Tensor {
  if (alternative === "twoSided") return normalUpper(z.abs()).mul(2);
  return normalUpper(alternative === "less" ? z.neg() : z);
}
