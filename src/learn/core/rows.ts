/** Some rows of samples and of targets, by position: what splits, searches and ensembles take of them. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { Table } from "../tables/table.js";
import { type Samples, withoutArrow } from "./samples.js";

/** The number of samples. */
export function countOf(operation: string, given: Samples): number {
  const samples = given && withoutArrow(given);
  if (samples instanceof Table) return samples.rows;
  if (isTensor(samples) && samples.rank > 0) return samples.shape[0] as number;
  if (!isTensor(samples) && typeof samples === "object" && typeof samples?.length === "number") return samples.length;
  throw new ArgumentError(`${operation}: the samples are ${shown(samples)}; give a table, a tensor or a list of rows.`);
}

/** Samples at these positions. */
export function samplesAt(given: Samples, positions: Int32Array): Samples {
  const samples = withoutArrow(given);
  if (samples instanceof Table) return samples.take(positions);
  if (isTensor(samples)) return rowsAt(samples, positions);
  return Array.from(positions, (i) => samples[i]) as Samples;
}

/** Targets at these positions: a tensor, a list or a column. Anything else, as undefined for none, stays. */
export function targetsAt<Y>(targets: Y, positions: Int32Array): Y {
  if (isTensor(targets)) return rowsAt(targets, positions) as Y;
  if (Array.isArray(targets) || ArrayBuffer.isView(targets)) {
    const list = targets as unknown as ArrayLike<unknown>;
    return Array.from(positions, (i) => list[i]) as Y;
  }
  if (typeof targets !== "object" || targets === null || !("kind" in targets)) return targets;
  const column = new Table(new Map([["targets", targets as never]]), 0).take(positions);
  return column.column("targets") as Y;
}

const rowsAt = (x: Tensor, positions: Int32Array): Tensor =>
  x.take(tensor(positions, { device: x.device }), { axis: 0 }) as Tensor;
