/** Functions known on a grid of several axes: lines along each axis in turn, or the nearest point. */
import { checkChoice, checkOptions } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, productOf, stridesOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { registerClass } from "../../core/tree.js";
import { type Tensor, where } from "../../tensor/index.js";
import { isOutside, OUT_OF_BOUNDS, type OutOfBounds, pieceOf, placeInside } from "./outside.js";
import { checkRising, floatsOf, floatsTogether, type Numbers } from "./points.js";

/** Options of `grid`. */
export interface GridOptions {
  /** "linear" unless told. Halfway between two points, the nearest is the one before. */
  readonly method?: "linear" | "nearest";
  /** At places outside along any axis: "extrapolate" unless told; the nearest point is the outermost then. */
  readonly outOfBounds?: OutOfBounds;
}

type GridRules = Required<GridOptions>;

/** A function known on a grid. */
export class GridFunction {
  constructor(
    /** The places along each axis, rising. */
    readonly axes: readonly Tensor[],
    /** An axis for each of these, then any others. */
    readonly values: Tensor,
    readonly rules: GridRules,
  ) {}

  /** Values at points, [..., axes]: the shape before, then the other axes of the values. */
  evaluate(points: Numbers): Tensor {
    const { axes, values, rules } = this;
    const given = floatsOf("GridFunction.evaluate", "the points", points, values);
    if (given.rank === 0 || given.shape.at(-1) !== axes.length) {
      throw new ShapeError(
        `GridFunction.evaluate: points of shape ${formatShape(given.shape)} on a grid of ${axes.length} axes; the last axis has the places.`,
      );
    }
    const places = axes.map((axis, k) => {
      const at = given.at("...", k) as Tensor;
      const [first, last] = [axis.at(0), axis.at(-1)] as [Tensor, Tensor];
      return { at: placeInside(rules.outOfBounds, at, first, last), isOut: isOutside(at, first, last) };
    });
    const found =
      rules.method === "linear" ? this.between(places.map(({ at }) => at)) : this.nearest(places.map(({ at }) => at));
    const spread = (x: Tensor): Tensor => spreadOver(x, found);
    const isNothing = places.map(({ at }) => at.isNaN() as Tensor).reduce((a, b) => a.logicalOr(b) as Tensor);
    const known = where(spread(isNothing), Number.NaN, found) as Tensor;
    if (rules.outOfBounds !== "zero") return known;
    const isOut = places.map((place) => place.isOut).reduce((a, b) => a.logicalOr(b) as Tensor);
    return where(spread(isOut), 0, known) as Tensor;
  }

  /** Values of points of the grid by their positions along the axes. */
  private valuesAt(positions: readonly Tensor[]): Tensor {
    const { axes, values } = this;
    const extents = axes.map(({ size }) => size);
    const strides = stridesOf(extents);
    const row = positions.map((each, k) => each.mul(strides[k]) as Tensor).reduce((a, b) => a.add(b) as Tensor);
    const rows = values.reshape([productOf(extents), ...values.shape.slice(axes.length)]);
    return rows.take(row.cast("i32"), { axis: 0 }) as Tensor;
  }

  private nearest(places: readonly Tensor[]): Tensor {
    const { axes } = this;
    return this.valuesAt(
      places.map((at, k) => axes[k].at("1:").add(axes[k].at(":-1")).mul(0.5).searchSorted(at) as Tensor),
    );
  }

  /** The corners around each place, weighted. */
  private between(places: readonly Tensor[]): Tensor {
    const { axes } = this;
    const sides = places.map((at, k) => {
      const before = pieceOf(axes[k], at);
      const [low, high] = [axes[k].take(before), axes[k].take(before.add(1))];
      const share = at.sub(low).div(high.sub(low)) as Tensor;
      return [
        { position: before, weight: share.neg().add(1) as Tensor },
        { position: before.add(1) as Tensor, weight: share },
      ];
    });
    let sum: Tensor | null = null;
    for (let corner = 0; corner < 2 ** axes.length; corner++) {
      const chosen = sides.map((side, k) => side[(corner >> k) & 1]);
      const known = this.valuesAt(chosen.map(({ position }) => position));
      const weight = chosen.map((side) => side.weight).reduce((a, b) => a.mul(b) as Tensor);
      const part = known.mul(spreadOver(weight, known)) as Tensor;
      sum = sum === null ? part : (sum.add(part) as Tensor);
    }
    return sum as Tensor;
  }

  toString(): string {
    return `function on a grid of ${this.axes.map(({ size }) => size).join(" × ")} points, ${this.rules.method}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/** Something for each place, beside the values there. */
const spreadOver = (x: Tensor, values: Tensor): Tensor =>
  x.reshape([...x.shape, ...new Array<number>(values.rank - x.rank).fill(1)]) as Tensor;

registerClass<GridFunction, GridRules>(GridFunction, {
  name: "GridFunction",
  children: ({ axes, values }) => ({ axes, values }),
  data: ({ rules }) => rules,
  rebuild: ({ axes, values }, rules) => new GridFunction(axes as Tensor[], values as Tensor, rules),
});

/** A function from its values on a grid: `grid([x, y], z).evaluate(points)`. z is [x, y], or [x, y, …]. */
export function grid(axes: readonly Numbers[], values: Numbers, options: GridOptions = {}): GridFunction {
  const operation = "interpolate.grid";
  checkOptions(operation, options, { method: "text", outOfBounds: "text" });
  const { method = "linear", outOfBounds = "extrapolate" } = options;
  checkChoice(operation, "the option method", method, ["linear", "nearest"]);
  checkChoice(operation, "the option outOfBounds", outOfBounds, OUT_OF_BOUNDS);
  if (!Array.isArray(axes) || axes.length === 0) {
    throw new ArgumentError(`${operation}: the axes are ${shown(axes)}; they are a list, with places for each axis.`);
  }
  const named = Object.fromEntries(axes.map((axis, k) => [`the places of axis ${k}`, axis as Numbers]));
  const floats = floatsTogether(operation, { ...named, "the values": values });
  const [places, known] = [floats.slice(0, -1), floats[floats.length - 1]];
  for (const [k, each] of places.entries()) {
    checkRising(operation, `the places of axis ${k}`, axes[k], each);
    if (each.rank === 1 && each.size >= 2 && each.size === known.shape[k]) continue;
    throw new ShapeError(
      `${operation}: places of shape ${formatShape(each.shape)} along axis ${k} of values of shape ${formatShape(known.shape)}; each axis has ` +
        "as many places as values, two or more.",
    );
  }
  return new GridFunction(places, known, { method, outOfBounds });
}
