/**
 * The limit of totals that come closer to it by about the same share each time: Aitken's rule, again and again. Halving the pieces at a
 * singular end makes such totals. halving.ts calls this.
 */
import { type Tensor, where } from "../../tensor/index.js";

/** Totals that are remembered. */
export const REMEMBERED = 11;

/** The largest difference of the shares of two steps. */
const UNSTEADY = 0.04;

/** The supposed limit, [size], with its estimated error, a scalar. */
interface Limit {
  readonly value: Tensor;
  readonly error: Tensor;
}

/** Of totals [REMEMBERED, size], the newest first, of which so many are known. The error is infinite where they do not come steadily closer. */
export function limitOf(totals: Tensor, known: Tensor): Limit {
  const spacing = totals.dtype === "f64" ? 2 ** -52 : 2 ** -23;
  const newest = totals.at(0) as Tensor;
  const apart = (i: number): Tensor =>
    totals
      .at(i)
      .sub(totals.at(i + 1))
      .abs()
      .max() as Tensor;
  // Steps that shrink by one share, or nearly.
  const shares = [0, 1, 2].map((i) => apart(i).div(where(apart(i + 1).greater(0), apart(i + 1), 1)) as Tensor);
  const differ = (i: number): Tensor => shares[i].sub(shares[i + 1]).abs() as Tensor;
  const isSteady = differ(0).maximum(differ(1)).lessEqual(UNSTEADY).logicalAnd(shares[0].lessEqual(0.9995));
  let [row, best] = [totals, { value: newest, error: newest.sum().mul(0).add(Number.POSITIVE_INFINITY) as Tensor }];
  // Totals that follow each other share most of their roundings.
  let noise = newest.abs().mul(spacing / 8) as Tensor;
  for (let used = 3; used < REMEMBERED; used += 2) {
    const [a, b, c] = [row.at(":-2"), row.at("1:-1"), row.at("2:")] as [Tensor, Tensor, Tensor];
    const step = a.sub(b);
    const bend = step.sub(b.sub(c));
    // Of equal totals the limit is known already; a quotient of roundings would be anything.
    const isBent = bend.abs().greater(a.abs().mul(spacing));
    const turn = where(isBent, bend, 1);
    const next = a.sub(where(isBent, step.square(), 0).div(turn)) as Tensor;
    const [value, before] = [next.at(0), next.at(1)] as [Tensor, Tensor];
    // Roundings of the totals grow as these come closer by a smaller share.
    const growth = step.square().add(b.sub(c).square()).div(turn.square());
    noise = where(isBent, noise.mul(growth), noise).at(0) as Tensor;
    const apartFrom = (other: Tensor): Tensor => value.sub(other).abs().max() as Tensor;
    const error = apartFrom(before)
      .add(apartFrom(row.at(0) as Tensor).mul(1e-2))
      .add(noise.max()) as Tensor;
    const isBetter = known.greater(Math.max(used, 4)).logicalAnd(isSteady).logicalAnd(error.less(best.error));
    best = { value: where(isBetter, value, best.value) as Tensor, error: where(isBetter, error, best.error) as Tensor };
    row = next;
  }
  return best;
}
