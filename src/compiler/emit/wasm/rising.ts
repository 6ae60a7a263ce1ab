/**
 * Numbers that differ from lane to lane by constants, as indices of neighbours do: one number is computed for all lanes, and
 * what is loaded or stored at such an index can often be so at once.
 */

import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { Value } from "../../../wasm/value.js";
import type { Value as IRValue } from "../../ir/ir.js";
import type { LaneValue } from "./lane-values.js";

/** A number in each lane that is the first lane's and a constant more. */
export interface Rising {
  readonly kind: "rising";
  readonly value: Value<"i32">;
  /** What lanes have more than the first, which has 0. */
  readonly steps: readonly number[];
  /** The value is a multiple of this, and not negative; 1 where nothing is known of it. */
  readonly multiple: number;
}

/** From lane to lane one more. */
export const counted = (value: Value<"i32">, multiple: number): Rising => ({
  kind: "rising",
  value,
  steps: [0, 1, 2, 3],
  multiple,
});

/** Lanes are neighbours, in order. */
export const areNeighbours = (x: LaneValue): x is Rising =>
  x.kind === "rising" && x.steps.every((step, lane) => step === lane);

/** Lanes are in any places from the first on. */
export const areAhead = (x: LaneValue): x is Rising => x.kind === "rising" && x.steps.every((step) => step >= 0);

/**
 * A quotient or remainder by a constant, where lanes do not reach the next multiple of it or their first is one: then one
 * division is enough for all.
 */
function divided(f: FunctionBuilder, op: "idiv" | "irem", x: Rising, by: number): LaneValue | null {
  const { value, steps, multiple } = x;
  if (!areAhead(x)) return null;
  const quotient = () => f.i32.div_u(value, by);
  if (by % multiple === 0 && Math.max(...steps) < multiple) {
    if (op === "idiv") return { kind: "uniform", value: quotient() };
    return { ...x, value: f.i32.rem_u(value, by) };
  }
  if (multiple % by !== 0) return null;
  if (op === "idiv") {
    return {
      kind: "rising",
      value: quotient(),
      steps: steps.map((step) => Math.floor(step / by)),
      multiple: multiple / by,
    };
  }
  return { kind: "rising", value: f.i32.const(0), steps: steps.map((step) => step % by), multiple: 1 };
}

/** Sums, differences and multiples of what differs by constants differ by constants; so do some quotients. */
export function rising(f: FunctionBuilder, value: IRValue, [a, b]: readonly LaneValue[]): LaneValue | null {
  if (value.type !== "i32" || !b || a.kind === "lanes" || b.kind === "lanes") return null;
  if ("values" in a || "values" in b) return null;
  const stepsOf = (x: LaneValue) => (x.kind === "rising" ? x.steps : [0, 0, 0, 0]);
  const [x, y] = [a.value as Value<"i32">, b.value as Value<"i32">];
  const [first, second] = value.args;
  const constant = second.op === "constant" ? Number(second.attribute) : null;
  if (value.op === "add" || value.op === "sub") {
    const sign = value.op === "add" ? 1 : -1;
    const steps = stepsOf(a).map((step, lane) => step + sign * stepsOf(b)[lane]);
    const isMultiple = a.kind === "rising" && constant !== null && sign * constant >= 0 && constant % a.multiple === 0;
    return { kind: "rising", value: f.i32[value.op](x, y), steps, multiple: isMultiple ? a.multiple : 1 };
  }
  if ((value.op === "idiv" || value.op === "irem") && a.kind === "rising" && constant !== null) {
    return divided(f, value.op, a, constant);
  }
  if (value.op !== "mul") return null;
  const factor = second.op === "constant" ? second : first.op === "constant" ? first : null;
  if (!factor) return null;
  const times = Number(factor.attribute);
  const moving = (factor === second ? a : b) as Rising;
  const steps = moving.steps.map((step) => step * times);
  return { kind: "rising", value: f.i32.mul(x, y), steps, multiple: times > 0 ? moving.multiple * times : 1 };
}
