/** Bézier curves: points that pull a curve, and curves of cubic pieces that go through points. Evaluated by de Casteljau's halving of ways. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { registerClass } from "../../core/tree.js";
import { arange, concat, stack, type Tensor, tensor, zerosLike } from "../../tensor/index.js";
import { cubicSpline } from "./cubic-spline.js";
import { floatsOf, type Numbers } from "./points.js";

/** A curve of Bézier pieces, one after the other. */
export class BezierCurve {
  constructor(
    /** The control points of the pieces: [degree + 1, pieces, …]. */
    readonly controls: Tensor,
  ) {}

  get degree(): number {
    return (this.controls.shape[0] as number) - 1;
  }

  get pieces(): number {
    return this.controls.shape[1] as number;
  }

  /** Points at times of any shape: that shape, then the axes of a point. Piece k goes from time k to k + 1. */
  evaluate(times: Numbers): Tensor {
    const { controls, degree, pieces } = this;
    const t = floatsOf("BezierCurve.evaluate", "the times", times, controls);
    const piece = t.floor().clip(0, pieces - 1) as Tensor;
    const axes = new Array<number>(controls.rank - 2).fill(1);
    const share = t.sub(piece).reshape([...t.shape, ...axes]) as Tensor;
    let points = controls.take(piece.cast("i32"), { axis: 1 }) as Tensor;
    for (let left = degree; left > 0; left--) {
      const [from, to] = [points.at(":-1"), points.at("1:")];
      points = from.mul(share.neg().add(1)).add(to.mul(share)) as Tensor;
    }
    return points.at(0).add(share.mul(0)) as Tensor;
  }

  /** The velocity along the curve, as a curve. */
  derivative(): BezierCurve {
    const { controls, degree } = this;
    if (degree === 0) return new BezierCurve(zerosLike(controls) as Tensor);
    return new BezierCurve(controls.at("1:").sub(controls.at(":-1")).mul(degree) as Tensor);
  }

  toString(): string {
    const { degree, pieces, controls } = this;
    return `Bézier curve of degree ${degree}, ${pieces} ${pieces === 1 ? "piece" : "pieces"}, points of shape ${formatShape(controls.shape.slice(2))}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

registerClass<BezierCurve>(BezierCurve, {
  name: "BezierCurve",
  children: ({ controls }) => ({ controls }),
  rebuild: ({ controls }) => new BezierCurve(controls as Tensor),
});

/** The Bézier curve of control points, [degree + 1, …], at times from 0 to 1. It begins at the first and ends at the last. */
export function bezier(controls: Numbers): BezierCurve {
  return new BezierCurve(pointsAlong("interpolate.bezier", controls, 1).expandDims(1) as Tensor);
}

/** Options of `bezierSpline`. */
export interface BezierSplineOptions {
  /** The curve comes back to the first point, smoothly. False unless told. */
  readonly closed?: boolean;
}

/** Cubic Bézier pieces through points, [n, …], with two continuous derivatives: at time k the curve is at point k. */
export function bezierSpline(points: Numbers, options: BezierSplineOptions = {}): BezierCurve {
  checkOptions("interpolate.bezierSpline", options, { closed: "flag" });
  const { closed = false } = options;
  const given = pointsAlong("interpolate.bezierSpline", points, 2);
  const through = (closed ? concat([given, given.at(":1")], { axis: 0 }) : given) as Tensor;
  const { dtype, device } = through;
  const times = arange(0, through.shape[0] as number, 1, { dtype, device }) as Tensor;
  const { coefficients } = cubicSpline(times, through, { ends: closed ? "periodic" : "natural" });
  const [cubic, square, slope, start] = [0, 1, 2, 3].map((row) => coefficients.at(row) as Tensor);
  const third = start.add(slope.mul(2 / 3)).add(square.div(3));
  return new BezierCurve(
    stack([start, start.add(slope.div(3)), third, start.add(slope).add(square).add(cubic)], { axis: 0 }) as Tensor,
  );
}

/** Bernstein's polynomials of a degree at times of any shape: that shape, then [degree + 1]. They are the weights of control points. */
export function bernstein(degree: number, times: Numbers): Tensor {
  checkWhole("interpolate.bernstein", "the degree", degree, 0);
  const t = floatsOf("interpolate.bernstein", "the times", times);
  const units = tensor(
    Array.from({ length: degree + 1 }, (_, i) => Array.from({ length: degree + 1 }, (_, j) => (i === j ? 1 : 0))),
    { dtype: t.dtype, device: t.device },
  ) as Tensor;
  return bezier(units).evaluate(t);
}

function pointsAlong(operation: string, points: Numbers, least: number): Tensor {
  const given = floatsOf(operation, "the points", points);
  if (given.rank >= 1 && (given.shape[0] as number) >= least) return given;
  throw new ShapeError(
    `${operation}: points of shape ${formatShape(given.shape)}; they lie along the first axis, ${least} or more.`,
  );
}
