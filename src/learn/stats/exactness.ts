/**
 * Whether a p value is read off an exact distribution or comes from a limit. Exact ones read the statistic, one sample at a time, so
 * `method: "asymptotic"` is what traces, and takes batches.
 */
import { checkChoice, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { ALTERNATIVE, type AlternativeOptions } from "./results.js";

/** Options of tests with exact p values. */
export interface RankTestOptions extends AlternativeOptions {
  /** How the p value is found: "auto" unless told, which is exact for small samples; those of ranks, where there are no ties. */
  readonly method?: "auto" | "exact" | "asymptotic";
}

export const RANK: OptionKinds<RankTestOptions> = { ...ALTERNATIVE, method: "text" };

export function methodOf(operation: string, { method = "auto" }: RankTestOptions): "auto" | "exact" | "asymptotic" {
  checkChoice(operation, "the option method", method, ["auto", "exact", "asymptotic"]);
  return method;
}

/** Exact distributions need one sample at a time. */
export function checkVector(operation: string, x: Tensor): void {
  if (x.rank === 1) return;
  throw new ShapeError(
    `${operation}: the samples have the shape ${formatShape(x.shape)}; a batch takes method: "asymptotic".`,
  );
}

export const read = (x: Tensor): number => Number((x.dataSync() as ArrayLike<number>)[0]);

export const scalarLike = (value: number, { dtype, device }: Tensor): Tensor =>
  tensor(value, { dtype, device }) as Tensor;

interface Exactness {
  readonly method: "auto" | "exact" | "asymptotic";
  readonly isSmall: boolean;
  readonly sample: Tensor;
  /** Zero where there are no ties: then values can be exact. */
  readonly ties: Tensor;
}

/** Whether the p value is an exact one. Throws where that is asked for and cannot be. */
export function isExact(operation: string, { method, isSmall, sample, ties }: Exactness): boolean {
  if (method === "asymptotic" || (method === "auto" && !(isSmall && sample.rank === 1))) return false;
  checkVector(operation, sample);
  if (read(ties) === 0) return true;
  if (method === "auto") return false;
  throw new ArgumentError(
    `${operation}: there are ties, zeros or NaN, and then nothing is exact; take method: "asymptotic".`,
  );
}
