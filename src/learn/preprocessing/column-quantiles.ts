/** Many quantiles of each column from one sort: quantile and bin transformers learn by them. NaN is left out. */
import { arange, type Tensor } from "../../tensor/index.js";

/** Quantiles of the columns of a matrix at evenly spaced shares from 0 to 1: [features, count]. */
export function columnQuantiles(x: Tensor, count: number): Tensor {
  const { device, dtype } = x;
  const sorted = x.T.sort({ axis: 1 });
  const present = x.isNaN().logicalNot().cast("i32").sum({ axis: 0 }).expandDims(1);
  const last = present.sub(1).maximum(0) as Tensor;
  // The place i·last / gaps in whole numbers, which lose nothing: rounding would move quantiles that are samples.
  const gaps = Math.max(1, count - 1);
  const i = arange(count, { device, dtype: "i32" });
  const whole = last.floorDivide(gaps) as Tensor;
  const rest = i.mul(last.sub(whole.mul(gaps)));
  const extra = rest.floorDivide(gaps);
  const low = i.mul(whole).add(extra) as Tensor;
  const share = rest.sub(extra.mul(gaps)).cast(dtype).div(gaps);
  const [from, to] = [low, low.add(1).minimum(last) as Tensor].map((at) => sorted.takeAlongAxis(at, { axis: 1 })) as [
    Tensor,
    Tensor,
  ];
  return from.add(to.sub(from).mul(share)) as Tensor;
}

/** Evenly spaced shares from 0 to 1. */
export const evenShares = (count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, i) => (count === 1 ? 0 : i / (count - 1)));
