/**
 * Polynomials between knots: what splines are made of. A tree of tensors, so that transforms take and return it. All operations are those
 * of tensors: they have derivatives by coefficients, knots and places.
 */
import { checkChoice, checkOptions, checkWhole } from "../../core/arguments.js";
import { formatShape } from "../../core/shape.js";
import { registerClass } from "../../core/tree.js";
import { arange, concat, stack, type Tensor, where, zerosLike } from "../../tensor/index.js";
import { isOutside, OUT_OF_BOUNDS, type OutOfBounds, pieceOf, placeInside } from "./outside.js";
import { beside, floatsOf, type Numbers } from "./points.js";

/** Options of functions that give polynomials between knots. */
export interface PieceOptions {
  /** At places outside: "extrapolate" unless told; "periodic" for a periodic spline. */
  readonly outOfBounds?: OutOfBounds;
}

export function checkPieceOptions(operation: string, options: PieceOptions): void {
  checkOptions(operation, options, { outOfBounds: "text" });
  checkChoice(operation, "the option outOfBounds", options.outOfBounds, OUT_OF_BOUNDS);
}

/** Polynomials between knots. */
export class PiecewisePolynomial {
  constructor(
    /** [n], rising. */
    readonly knots: Tensor,
    /** [degree + 1, n - 1, …]: of powers of the distance from the knot before, the highest power first. */
    readonly coefficients: Tensor,
    readonly outOfBounds: OutOfBounds,
  ) {}

  get degree(): number {
    return (this.coefficients.shape[0] as number) - 1;
  }

  /** Values at places of any shape: that shape, then the other axes of the values. */
  evaluate(places: Numbers): Tensor {
    const { knots, outOfBounds } = this;
    const at = floatsOf("PiecewisePolynomial.evaluate", "the places", places, knots);
    const [first, last] = [knots.at(0), knots.at(-1)] as [Tensor, Tensor];
    const found = this.within(placeInside(outOfBounds, at, first, last));
    if (outOfBounds !== "zero") return found;
    return where(spreadLike(isOutside(at, first, last), at, found), 0, found) as Tensor;
  }

  /** The derivative, as polynomials: 0 outside where this one is clipped. */
  derivative(order = 1): PiecewisePolynomial {
    checkWhole("PiecewisePolynomial.derivative", "the order", order, 1);
    if (order > 1) return this.derivative(order - 1).derivative();
    const { coefficients, degree, knots } = this;
    const outOfBounds = this.outOfBounds === "clip" ? "zero" : this.outOfBounds;
    if (degree === 0) return new PiecewisePolynomial(knots, zerosLike(coefficients) as Tensor, outOfBounds);
    const powers = beside(descending(coefficients, degree, 1), coefficients);
    return new PiecewisePolynomial(knots, coefficients.at(":-1").mul(powers) as Tensor, outOfBounds);
  }

  /** The antiderivative that is 0 at the first knot. Outside it goes on as its outermost pieces do. */
  antiderivative(): PiecewisePolynomial {
    const { coefficients, degree, knots } = this;
    const raised = coefficients.div(beside(descending(coefficients, degree + 1, 1), coefficients)) as Tensor;
    const none = zerosLike(raised.at(":1")) as Tensor;
    const widths = beside(knots.at("1:").sub(knots.at(":-1")) as Tensor, none.at(0) as Tensor);
    const areas = horner(concat([raised, none], { axis: 0 }) as Tensor, widths).cumsum({ axis: 0 });
    const before = concat([none.at(0, ":1"), areas.at(":-1")], { axis: 0 }).expandDims(0);
    return new PiecewisePolynomial(knots, concat([raised, before], { axis: 0 }) as Tensor, "extrapolate");
  }

  /** The integral between two places (of one shape, or one of them a number), by the rule for places outside. */
  integral(from: Numbers, to: Numbers): Tensor {
    const operation = "PiecewisePolynomial.integral";
    const ends = [
      floatsOf(operation, "the lower ends", from, this.knots),
      floatsOf(operation, "the upper ends", to, this.knots),
    ];
    const area = this.antiderivative();
    const [low, high] = ends.map((at) => this.areaUpTo(area, at));
    return high.sub(low) as Tensor;
  }

  /** The integral from the first knot to places. */
  private areaUpTo(area: PiecewisePolynomial, at: Tensor): Tensor {
    const { knots, outOfBounds } = this;
    const [first, last] = [knots.at(0), knots.at(-1)] as [Tensor, Tensor];
    const inside = area.within(placeInside(outOfBounds, at, first, last));
    const spread = (x: Tensor): Tensor => spreadLike(x, at, inside);
    switch (outOfBounds) {
      case "extrapolate":
      case "nan":
      case "zero":
        return inside;
      case "clip": {
        const before = spread(at.sub(first).minimum(0) as Tensor).mul(this.within(first));
        const after = spread(at.sub(last).maximum(0) as Tensor).mul(this.within(last));
        return inside.add(before).add(after) as Tensor;
      }
      case "periodic": {
        const rounds = where(isOutside(at, first, last), at.sub(first).div(last.sub(first)).floor(), 0) as Tensor;
        return inside.add(spread(rounds).mul(area.within(last))) as Tensor;
      }
    }
  }

  /** Values by the piece around each place, or the outermost. */
  private within(at: Tensor): Tensor {
    const { knots, coefficients } = this;
    const piece = pieceOf(knots, at);
    const offset = at.sub(knots.take(piece)) as Tensor;
    const around = coefficients.take(piece, { axis: 1 }) as Tensor;
    const spread = spreadLike(offset, at, around.at(0) as Tensor);
    return where(spread.isNaN(), Number.NaN, horner(around, spread)) as Tensor;
  }

  toString(): string {
    const { coefficients, knots, degree } = this;
    const values = coefficients.rank > 2 ? `, values of shape ${formatShape(coefficients.shape.slice(2))}` : "";
    return `piecewise polynomial of degree ${degree}, ${knots.size} knots${values}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

registerClass<PiecewisePolynomial, OutOfBounds>(PiecewisePolynomial, {
  name: "PiecewisePolynomial",
  children: ({ knots, coefficients }) => ({ knots, coefficients }),
  data: ({ outOfBounds }) => outOfBounds,
  rebuild: ({ knots, coefficients }, outOfBounds) =>
    new PiecewisePolynomial(knots as Tensor, coefficients as Tensor, outOfBounds),
});

/** Something for each place, beside the values there. */
const spreadLike = (x: Tensor, places: Tensor, values: Tensor): Tensor =>
  x.reshape([...places.shape, ...new Array<number>(values.rank - places.rank).fill(1)]) as Tensor;

/** Whole numbers from one down to another, as floats. */
const descending = ({ dtype, device }: Tensor, from: number, to: number): Tensor =>
  arange(from, to - 1, -1, { device, dtype }) as Tensor;

/** Polynomials along the first axis, the highest power first. */
function horner(coefficients: Tensor, x: Tensor): Tensor {
  let value = coefficients.at(0) as Tensor;
  for (let power = 1; power < (coefficients.shape[0] as number); power++) {
    value = value.mul(x).add(coefficients.at(power)) as Tensor;
  }
  return value;
}

/** Cubic polynomials through points with given slopes, both [n, …]. */
export function hermitePieces(x: Tensor, y: Tensor, slopes: Tensor, outOfBounds: OutOfBounds): PiecewisePolynomial {
  const width = beside(x.at("1:").sub(x.at(":-1")) as Tensor, y);
  const rise = y.at("1:").sub(y.at(":-1")).div(width);
  const [left, right] = [slopes.at(":-1"), slopes.at("1:")];
  const bend = left.add(right).sub(rise.mul(2)).div(width);
  return new PiecewisePolynomial(
    x,
    stack([bend.div(width), rise.sub(left).div(width).sub(bend), left, y.at(":-1")], { axis: 0 }) as Tensor,
    outOfBounds,
  );
}
