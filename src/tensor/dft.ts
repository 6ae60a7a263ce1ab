/** Fourier transforms as a function of tensors; `fft` gives them their interface. */
import { isComplex, realDType } from "../core/dtype.js";
import { areColumns, type DftFloat, type DftLimits, passesBehindRows, planDft } from "../graph/dft-plan.js";
import { dftTable } from "../graph/dft-table.js";
import type { Node } from "../graph/node.js";
import { type DftParams, dft, dftParams } from "../graph/primitives/dft.js";
import { backendOf, makeNode } from "./build.js";
import { keptConstants } from "./kept-constants.js";
import { Tensor } from "./tensor.js";

/** The transform of a tensor of f32, f64, c64 or c128 along an axis, which is not negative. */
export function transformed(x: Tensor, params: Omit<DftParams, "isOfComplex">): Tensor {
  const { node } = x;
  const dtype = realDType(node.dtype) as DftFloat;
  const backend = backendOf(node);
  const limits = backend.target.profile.fft;
  const passes = behindRows(node, params, limits);
  const plan = planDft(params.kind, params.length, dtype, limits, areColumns(node.shape, params.axis), passes);
  const key = `dft ${plan.length} ${plan.isHalved ? "halved" : "whole"} by ${[...plan.radices.values()].join(" and ")}`;
  const table = keptConstants(backend, key, [plan.table.size, 2], dtype, () => dftTable(plan, dtype));
  const more = { isOfComplex: isComplex(node.dtype), ...(passes && { passes }) };
  return new Tensor(makeNode(dft, [node, table], { ...params, ...more }, backend));
}

/** The passes of columns of what a transform of real rows is about to give; undefined for others. */
function behindRows(
  node: Node,
  { kind, axis, length, passes }: Omit<DftParams, "isOfComplex">,
  limits: DftLimits,
): readonly number[] | undefined {
  if (passes) return passes;
  const { primitive, storage, dtype, shape } = node;
  const isOfRows = primitive === dft && storage === null && dtype === "c64" && axis === shape.length - 2;
  if (!isOfRows || kind !== "complex" || length !== shape[axis]) return;
  const rows = dftParams(node);
  if (rows.kind !== "real" || rows.axis !== axis + 1) return;
  return passesBehindRows(planDft("real", rows.length, "f32", limits), length, limits) ?? undefined;
}

/**
 * `count` numbers computed on the host, beside x, kept for the next time; `key` says which they are. A complex number is given
 * as its two parts.
 */
export function constantsBeside(
  x: Tensor,
  key: string,
  count: number,
  dtype: "f32" | "f64" | "c64" | "c128",
  at: (i: number) => number | readonly [number, number],
): Tensor {
  const values = () => {
    const parts = Array.from({ length: count }, (_, i) => at(i)).flat() as number[];
    return realDType(dtype) === "f32" ? Float32Array.from(parts) : Float64Array.from(parts);
  };
  return new Tensor(keptConstants(backendOf(x.node), key, [count], dtype, values));
}

/** The part of an axis from `start` to before `end`. */
export function range(x: Tensor, axis: number, start: number, end: number): Tensor {
  if (start === 0 && end === x.shape[axis]) return x;
  return x.at(...Array.from({ length: axis }, () => ":" as const), `${start}:${end}`);
}
