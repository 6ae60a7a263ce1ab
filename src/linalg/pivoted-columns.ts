/**
 * The order in which a QR decomposition with pivoting takes the columns: always the one with the most left outside the columns
 * before it (Businger and Golub 1965). `qr` calls this and then decomposes the columns in that order.
 */
import { arange, type Tensor, where, zeros } from "../tensor/index.js";
import { scan } from "../transforms/control.js";
import { stopGradient } from "../transforms/grad.js";
import { adjointOf } from "./arguments.js";

/** The remaining columns, and the place of each in the order. */
interface Columns {
  readonly left: Tensor;
  readonly place: Tensor;
}

/** Positions of columns of [.., m, n], i32 [.., n]. They do not depend smoothly on the matrix. */
export function pivotedColumns(a: Tensor): Tensor<"i32"> {
  const [m, n] = a.shape.slice(-2);
  const lead = a.shape.slice(0, -2);
  const { device } = a;
  const own = arange(n, { dtype: "i32", device }).broadcastTo([...lead, n]) as Tensor<"i32">;
  const count = Math.min(m, n);
  if (a.size === 0 || count === 0) return own;
  // Positions that were taken have a place before n; the others keep their order behind them.
  const start: Columns = { left: stopGradient(a), place: own.add(n) as Tensor };
  const steps = arange(count, { dtype: "i32", device });
  const [{ place }] = scan<Columns, Tensor, []>(
    ({ left, place: before }, step) => {
      const isTaken = before.less(n);
      const squares = left.abs().square().sum({ axis: -2 });
      const best = where(isTaken, -1, squares).argmax({ axis: -1, keepDims: true });
      const column = left.takeAlongAxis(best.expandDims(-2).broadcastTo([...lead, m, 1]), { axis: -1 });
      const length = column.abs().square().sum({ axis: -2, keepDims: true }).sqrt();
      const unit = column.div(where(length.equal(0), 1, length).cast(column.dtype));
      const rest = left.sub(unit.matmul(adjointOf(unit).matmul(left)));
      const isBest = own.equal(best);
      // A column that was taken has nothing left; rounding would leave something.
      const next = where(isBest.expandDims(-2), zeros([], { dtype: left.dtype, device }), rest) as Tensor;
      return [{ left: next, place: where(isBest, step, before) as Tensor }, []] as const;
    },
    start,
    steps,
  );
  return place.argsort({ axis: -1 }).cast("i32");
}
