/** Functions that keep the value of a point: the nearest one, the one before, or the next. */
import { checkChoice, checkOptions } from "../../core/arguments.js";
import { registerClass } from "../../core/tree.js";
import { type Tensor, where } from "../../tensor/index.js";
import { placeInside } from "./outside.js";
import { floatsOf, type Numbers, pointsOf } from "./points.js";

/** The point whose value counts. Halfway between two, the nearest is the one before. */
export type StepSide = "nearest" | "previous" | "next";

/** Options of `steps`. */
export interface StepOptions {
  /** "nearest" unless told. */
  readonly side?: StepSide;
  /** At places outside: the value at the end ("clip", unless told), NaN, or a period. */
  readonly outOfBounds?: "clip" | "nan" | "periodic";
}

interface StepRules {
  readonly side: StepSide;
  readonly outOfBounds: "clip" | "nan" | "periodic";
}

/** A function that is constant around points. */
export class StepFunction {
  constructor(
    /** [n], rising. */
    readonly places: Tensor,
    /** [n, …]. */
    readonly values: Tensor,
    readonly rules: StepRules,
  ) {}

  /** Values at places of any shape: that shape, then the other axes of the values. */
  evaluate(places: Numbers): Tensor {
    const { places: known, values, rules } = this;
    const given = floatsOf("StepFunction.evaluate", "the places", places, known);
    const at = placeInside(rules.outOfBounds, given, known.at(0) as Tensor, known.at(-1) as Tensor);
    const found = values.take(this.positionOf(at), { axis: 0 });
    const isNothing = at.isNaN().reshape([...at.shape, ...new Array<number>(values.rank - 1).fill(1)]);
    return where(isNothing, Number.NaN, found) as Tensor;
  }

  private positionOf(at: Tensor): Tensor {
    const { places, rules } = this;
    switch (rules.side) {
      case "nearest":
        return places.at("1:").add(places.at(":-1")).mul(0.5).searchSorted(at) as Tensor;
      case "previous":
        return places.searchSorted(at, { side: "right" }).sub(1).maximum(0) as Tensor;
      case "next":
        return places.searchSorted(at).minimum(places.size - 1) as Tensor;
    }
  }

  toString(): string {
    return `step function of ${this.places.size} points, ${this.rules.side}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

registerClass<StepFunction, StepRules>(StepFunction, {
  name: "StepFunction",
  children: ({ places, values }) => ({ places, values }),
  data: ({ rules }) => rules,
  rebuild: ({ places, values }, rules) => new StepFunction(places as Tensor, values as Tensor, rules),
});

/** The value of a point nearby: `steps(x, y, { side: "previous" }).evaluate(at)`. Gradients are those by the values. */
export function steps(x: Numbers, y: Numbers, options: StepOptions = {}): StepFunction {
  const operation = "interpolate.steps";
  checkOptions(operation, options, { side: "text", outOfBounds: "text" });
  checkChoice(operation, "the option side", options.side, ["nearest", "previous", "next"]);
  checkChoice(operation, "the option outOfBounds", options.outOfBounds, ["clip", "nan", "periodic"]);
  const points = pointsOf(operation, x, y, 2);
  const { side = "nearest", outOfBounds = "clip" } = options;
  return new StepFunction(points.x, points.y, { side, outOfBounds });
}
