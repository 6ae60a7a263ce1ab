/** The remainder of Stirling's formula, for log probabilities in which nothing large is subtracted. */
import type { Tensor } from "../tensor/index.js";

/** log Γ(z) - ((z - 1/2) log z - z + log √2π). Off by 6·10^-4 at 1, by less than 10^-7 from 4 on. */
export function stirlingSeries(z: Tensor): Tensor {
  const inverse = z.reciprocal();
  const square = inverse.square();
  return square
    .mul(1 / 1260)
    .sub(1 / 360)
    .mul(square)
    .add(1 / 12)
    .mul(inverse);
}
