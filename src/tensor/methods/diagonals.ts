/** Methods of `Tensor`: diagonals and triangles of matrices, which are the last two axes. */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, normalizeAxes } from "../../core/shape.js";
import type { SumOf } from "../result-dtypes.js";
import type { Operand, Tensor } from "../tensor.js";
import { broadcastValues, positionsAlong, scalarLike, valuesFor } from "./operands.js";
import { where } from "./where.js";

/** Options of `diagonal` and `trace`. */
export interface DiagonalOptions {
  /** Above the main diagonal when positive, below when negative. */
  readonly offset?: number;
  /** The two axes of the matrices; the last two unless told. */
  readonly axes?: readonly [number, number];
}

const DIAGONAL: OptionKinds<DiagonalOptions> = { offset: "number", axes: "list" };

export class DiagonalMethods<D extends DType> {
  /** Zero below the given diagonal of the last two axes. */
  triu(this: Tensor, offset = 0): Tensor<D> {
    const above = diagonalOf("triu", this).greaterEqual(nearDiagonal("triu", this, offset));
    return where(above, this, zeroLike(this)) as Tensor<D>;
  }

  /** Zero above the given diagonal of the last two axes. */
  tril(this: Tensor, offset = 0): Tensor<D> {
    const below = diagonalOf("tril", this).lessEqual(nearDiagonal("tril", this, offset));
    return where(below, this, zeroLike(this)) as Tensor<D>;
  }

  /** The elements of a diagonal of matrices, as the last axis. */
  diagonal(this: Tensor, options: DiagonalOptions = {}): Tensor<D> {
    return diagonalBy("diagonal", this as Tensor<D>, options);
  }

  /** Sum of the diagonal. */
  trace(this: Tensor, options: DiagonalOptions = {}): Tensor<SumOf<D>> {
    return diagonalBy("trace", this as Tensor<D>, options).sum({ axis: -1 });
  }

  /** A matrix with the last axis on a diagonal and zeros elsewhere. */
  diagonalMatrix(this: Tensor, offset = 0): Tensor<D> {
    if (this.rank < 1) throw new ShapeError("diagonalMatrix: takes at least one axis.");
    checkWhole("diagonalMatrix", "the offset", offset);
    const extent = this.shape[this.rank - 1] + Math.abs(offset);
    // Below the diagonal, column j holds element j; above it, row i holds element i.
    const aside = Math.abs(offset);
    const padding = this.shape.map((_, axis): [number, number] => (axis === this.rank - 1 ? [0, aside] : [0, 0]));
    const line = this.pad(padding, { value: 0 });
    const shape = [...this.shape.slice(0, -1), extent, extent];
    const spread = line.expandDims(offset >= 0 ? -1 : -2).broadcastTo(shape);
    return where(diagonalOf("diagonalMatrix", spread).equal(offset), spread, zeroLike(this)) as Tensor<D>;
  }

  /** A copy with other values on a diagonal of the last two axes; they broadcast to what `diagonal` gives. */
  putDiagonal(this: Tensor, values: Operand, options: { readonly offset?: number } = {}): Tensor<D> {
    checkOptions("putDiagonal", options, { offset: "number" });
    const { offset = 0 } = options;
    const isOn = diagonalOf("putDiagonal", this).equal(nearDiagonal("putDiagonal", this, offset));
    const [rows, columns] = this.shape.slice(-2);
    const count = Math.max(0, offset >= 0 ? Math.min(rows, columns - offset) : Math.min(rows + offset, columns));
    const line = broadcastValues(
      valuesFor(this, values, "putDiagonal"),
      [...this.shape.slice(0, -2), count],
      "putDiagonal",
    );
    // Above the main diagonal, row i holds element i; below it, column j holds element j.
    const isAbove = offset >= 0;
    const rest = (isAbove ? rows : columns) - count;
    const padding = line.shape.map((_, axis): [number, number] => [0, axis === line.rank - 1 ? rest : 0]);
    return where(isOn, line.pad(padding).expandDims(isAbove ? -1 : -2), this) as Tensor<D>;
  }
}

/** Column minus row, for the last two axes. */
function diagonalOf(operation: string, x: Tensor): Tensor {
  if (x.rank < 2) throw new ShapeError(`${operation}: takes matrices, not ${formatShape(x.shape)}.`);
  return positionsAlong(x, x.rank - 1).sub(positionsAlong(x, x.rank - 2));
}

/** The offset of a diagonal, or of the nearest one outside: the dtype that counts columns may not hold larger numbers. */
export const heldOffset = (offset: number, rows: number, columns: number): number =>
  Math.min(Math.max(offset, -rows), columns);

function nearDiagonal(operation: string, x: Tensor, offset: number): number {
  checkWhole(operation, "the offset", offset);
  return heldOffset(offset, x.shape[x.rank - 2], x.shape[x.rank - 1]);
}

const zeroLike = (x: Tensor): Tensor => scalarLike(x, x.dtype === "bool" ? false : 0);

function diagonalBy<D extends DType>(operation: string, x: Tensor<D>, options: DiagonalOptions): Tensor<D> {
  checkOptions(operation, options, DIAGONAL);
  const { offset = 0, axes = [-2, -1] } = options;
  if (x.rank < 2) throw new ShapeError(`${operation}: takes matrices, not ${formatShape(x.shape)}.`);
  const [rowAxis, columnAxis, ...more] = normalizeAxes(axes, x.rank, operation);
  if (columnAxis === undefined || more.length > 0) {
    throw new ArgumentError(`${operation}: axes ${formatShape(axes)}; name the two of the matrices.`);
  }
  const others = x.shape.flatMap((_, axis) => (axis === rowAxis || axis === columnAxis ? [] : [axis]));
  const matrices = x.permute([...others, rowAxis, columnAxis]);
  const [rows, columns] = [x.shape[rowAxis], x.shape[columnAxis]];
  checkWhole(operation, "the offset", offset);
  const count = Math.max(0, offset >= 0 ? Math.min(rows, columns - offset) : Math.min(rows + offset, columns));
  const lead = others.map((axis) => x.shape[axis]);
  // In memory order the elements of a diagonal are columns + 1 apart.
  const flat = matrices.reshape([...lead, rows * columns]);
  const start = offset >= 0 ? offset : -offset * columns;
  const stop = count === 0 ? start : start + (count - 1) * (columns + 1) + 1;
  const all = lead.map(() => ":" as const);
  return count === 0 ? flat.at(...all, "0:0") : flat.at(...all, `${start}:${stop}:${columns + 1}`);
}
