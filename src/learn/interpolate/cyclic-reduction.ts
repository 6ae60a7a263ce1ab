/**
 * Tridiagonal systems by parallel cyclic reduction (Hockney 1965): a round couples each unknown to those twice as far away. The matrices
 * of splines have off-diagonals of half the diagonal at most, which a round squares: from 1/2 to 1/3, 1/8, 1/63, … 1e-29 after seven
 * rounds, whatever the size. So a few operations on whole vectors solve any spline, and a cyclic system as well.
 */
import { arange, type Tensor, where } from "../../tensor/index.js";

/** Rows of a tridiagonal matrix, [m, 1, …]: the coefficients of the unknowns before, at and after each; and the right side, [m, …]. */
interface Tridiagonal {
  readonly before: Tensor;
  readonly at: Tensor;
  readonly after: Tensor;
  readonly right: Tensor;
}

/** One more for a row at an end, whose off-diagonal may be nearly as large as its diagonal. */
const ROUNDS = 8;

/** The unknowns, [m, …]. In a cyclic system the first row goes before to the last unknown, and the last row after to the first. */
export function solvedTridiagonal(system: Tridiagonal, isCyclic: boolean): Tensor {
  const size = system.at.shape[0] as number;
  const place = arange(0, size, 1, { dtype: "i32", device: system.at.device });
  let { before, after, right } = scaled(system);
  if (!isCyclic) {
    const isInner = (row: number): Tensor => place.notEqual(row).reshape(system.at.shape) as Tensor;
    before = where(isInner(0), before, 0) as Tensor;
    after = where(isInner(size - 1), after, 0) as Tensor;
  }
  const rounds = isCyclic ? ROUNDS : Math.min(ROUNDS, Math.ceil(Math.log2(size)));
  for (let round = 0; round < rounds; round++) {
    const far = 2 ** round;
    const [back, ahead] = [place.sub(far).remainder(size), place.add(far).remainder(size)] as [Tensor, Tensor];
    const near = (of: Tensor, rows: Tensor): Tensor => of.take(rows, { axis: 0 }) as Tensor;
    const next = {
      before: before.mul(near(before, back)).neg() as Tensor,
      at: before
        .mul(near(after, back))
        .add(after.mul(near(before, ahead)))
        .neg()
        .add(1) as Tensor,
      after: after.mul(near(after, ahead)).neg() as Tensor,
      right: right.sub(before.mul(near(right, back))).sub(after.mul(near(right, ahead))) as Tensor,
    };
    ({ before, after, right } = scaled(next));
  }
  return right;
}

/** Rows with a diagonal of 1. */
const scaled = ({ before, at, after, right }: Tridiagonal) => ({
  before: before.div(at) as Tensor,
  after: after.div(at) as Tensor,
  right: right.div(at) as Tensor,
});
