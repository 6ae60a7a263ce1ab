/** Attention with linear biases (Press et al. 2022): scores fall with the distance, by a slope for each head. */
import { checkWhole } from "../../core/arguments.js";
import { type Tensor, tensor } from "../../tensor/index.js";

/**
 * The slopes of the heads: 2^(-8/n), 2^(-16/n) … for n heads, a power of two. For other numbers of heads, those of the next smaller power and
 * then every other one of the next larger, as in the paper's program.
 */
export function alibiSlopes(heads: number): number[] {
  checkWhole("alibiSlopes", "the number of heads", heads, 1);
  const power = 2 ** Math.floor(Math.log2(heads));
  const ofPower = (count: number): number[] => Array.from({ length: count }, (_, i) => 2 ** ((-8 * (i + 1)) / count));
  const more = ofPower(2 * power).filter((_, i) => i % 2 === 0);
  return [...ofPower(power), ...more.slice(0, heads - power)];
}

/**
 * The bias of the scores, [heads, queries, keys], from positions of queries and keys: -slope · distance. Where queries see no key behind them, it is
 * slope · position of the key: that differs by a number for each query, which the softmax takes away. It needs no memory for pairs of tokens.
 */
export function alibiBias(heads: number, queries: Tensor, keys: Tensor, isCausal: boolean, like: Tensor): Tensor {
  const dtype = like.dtype === "f64" ? "f64" : "f32";
  const slopes = tensor(alibiSlopes(heads), { dtype, device: queries.device }).reshape([heads, 1, 1]);
  if (isCausal) return keys.cast(dtype).mul(slopes) as Tensor;
  const distance = queries.expandDims(1).sub(keys).abs().cast(dtype);
  return distance.mul(slopes.neg()) as Tensor;
}
