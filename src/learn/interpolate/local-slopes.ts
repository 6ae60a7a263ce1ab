/** Curves whose slopes follow from the points nearby: PCHIP, which has no bump that the points do not have, Akima's, and straight lines. */
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { concat, stack, type Tensor, where } from "../../tensor/index.js";
import { checkPieceOptions, hermitePieces, type PieceOptions, PiecewisePolynomial } from "./piecewise-polynomial.js";
import { floatsTogether, type Numbers, pointsOf, rises } from "./points.js";

/** Straight lines between points. `interp` of tensors gives their values at once. */
export function linear(x: Numbers, y: Numbers, options: PieceOptions = {}): PiecewisePolynomial {
  checkPieceOptions("interpolate.linear", options);
  const points = pointsOf("interpolate.linear", x, y, 2);
  const coefficients = stack([rises(points.x, points.y).rise, points.y.at(":-1")], { axis: 0 }) as Tensor;
  return new PiecewisePolynomial(points.x, coefficients, options.outOfBounds ?? "extrapolate");
}

/** Cubic polynomials through points with given slopes, which have the shape of the values. */
export function hermite(x: Numbers, y: Numbers, slopes: Numbers, options: PieceOptions = {}): PiecewisePolynomial {
  checkPieceOptions("interpolate.hermite", options);
  const points = pointsOf("interpolate.hermite", x, y, 2);
  const [values, given] = floatsTogether("interpolate.hermite", { "the values": points.y, "the slopes": slopes });
  if (given.shape.join() !== values.shape.join()) {
    throw new ShapeError(
      `interpolate.hermite: slopes of shape ${formatShape(given.shape)} for values of shape ${formatShape(values.shape)}; each value has one.`,
    );
  }
  return hermitePieces(points.x, values, given, options.outOfBounds ?? "extrapolate");
}

/**
 * Cubic polynomials that climb and fall where the points do (PCHIP; Fritsch and Butland 1984): slopes are weighted harmonic means, and 0 at
 * points that stand out.
 */
export function pchip(x: Numbers, y: Numbers, options: PieceOptions = {}): PiecewisePolynomial {
  checkPieceOptions("interpolate.pchip", options);
  const points = pointsOf("interpolate.pchip", x, y, 2);
  return hermitePieces(points.x, points.y, monotoneSlopes(points.x, points.y), options.outOfBounds ?? "extrapolate");
}

/** Akima's curve (1970): a slope leans to the side whose slopes change less, so that an outlier bends only what is near it. */
export function akima(x: Numbers, y: Numbers, options: PieceOptions = {}): PiecewisePolynomial {
  checkPieceOptions("interpolate.akima", options);
  const points = pointsOf("interpolate.akima", x, y, 2);
  return hermitePieces(points.x, points.y, akimaSlopes(points.x, points.y), options.outOfBounds ?? "extrapolate");
}

function monotoneSlopes(x: Tensor, y: Tensor): Tensor {
  const { width, rise } = rises(x, y);
  if (x.size === 2) return concat([rise, rise], { axis: 0 }) as Tensor;
  const [width0, width1, rise0, rise1] = [width.at(":-1"), width.at("1:"), rise.at(":-1"), rise.at("1:")];
  const [share0, share1] = [width1.mul(2).add(width0), width0.mul(2).add(width1)];
  const agrees = rise0.mul(rise1.sign()).greater(0);
  const safe = (of: Tensor): Tensor => where(agrees, of, 1) as Tensor;
  const inverse = share0.div(safe(rise0 as Tensor)).add(share1.div(safe(rise1 as Tensor)));
  const inner = where(agrees, share0.add(share1).div(inverse), 0);
  const first = endSlope(width.at(":1"), width.at("1:2"), rise.at(":1"), rise.at("1:2"));
  const last = endSlope(width.at("-1:"), width.at("-2:-1"), rise.at("-1:"), rise.at("-2:-1"));
  return concat([first, inner, last], { axis: 0 }) as Tensor;
}

/** The slope at an end by the parabola through three points, held back so that the curve keeps its direction. */
function endSlope(width0: Tensor, width1: Tensor, rise0: Tensor, rise1: Tensor): Tensor {
  const parabola = rise0.mul(width0.mul(2).add(width1)).sub(rise1.mul(width0)).div(width0.add(width1));
  const isSteep = rise0
    .sign()
    .notEqual(rise1.sign())
    .logicalAnd(parabola.abs().greater(rise0.abs().mul(3)));
  const held = where(isSteep, rise0.mul(3), parabola);
  return where(parabola.sign().equal(rise0.sign()), held, 0) as Tensor;
}

/** Two pieces are added at either end, as if a parabola went on. */
function akimaSlopes(x: Tensor, y: Tensor): Tensor {
  const { rise } = rises(x, y);
  if (x.size === 2) return concat([rise, rise], { axis: 0 }) as Tensor;
  const beyond = (near: Tensor, next: Tensor): Tensor[] => {
    const one = near.mul(2).sub(next) as Tensor;
    return [one, one.mul(2).sub(near) as Tensor];
  };
  const [before, first] = beyond(rise.at(":1"), rise.at("1:2"));
  const [after, last] = beyond(rise.at("-1:"), rise.at("-2:-1"));
  const all = concat([first, before, rise, after, last], { axis: 0 }) as Tensor;
  const change = all.at("1:").sub(all.at(":-1")).abs();
  const [changeAfter, changeBefore] = [change.at("2:"), change.at(":-2")];
  const both = changeAfter.add(changeBefore);
  // Where nothing changes on either side, the slope is between the two that lie one further.
  const isBent = both.greater(both.max({ axis: 0, keepDims: true }).mul(1e-9));
  const leaning = changeAfter
    .mul(all.at("1:-2"))
    .add(changeBefore.mul(all.at("2:-1")))
    .div(where(isBent, both, 1));
  return where(isBent, leaning, all.at("3:").add(all.at(":-3")).mul(0.5)) as Tensor;
}
