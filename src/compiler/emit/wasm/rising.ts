/**
 * Numbers that differ from lane to lane by constants, such as indices of neighbours: one number is computed for all lanes, and
 * loads and stores at such an index can often be vectors.
 */

import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { Value } from "../../../wasm/value.js";
import type { Value as IRValue } from "../../ir/ir.js";
import type { LaneValue } from "./lane-values.js";

/** In each lane the same number plus a constant. */
export interface Rising {
  readonly kind: "rising";
  readonly value: Value<"i32">;
  /** The constant of each lane. */
  readonly steps: readonly number[];
  /** The value is a multiple of this, and not negative; 1 where nothing is known. */
  readonly multiple: number;
}

/** From lane to lane one more, in the first lane so many more than the value. */
export const counted = (value: Value<"i32">, multiple: number, ahead = 0): Rising => ({
  kind: "rising",
  value,
  steps: [0, 1, 2, 3].map((lane) => ahead + lane),
  multiple,
});

/** Lanes are neighbours, in order, and none is before the value. */
export const areNeighbours = (x: LaneValue): x is Rising =>
  x.kind === "rising" && x.steps[0] >= 0 && x.steps.every((step, lane) => step === x.steps[0] + lane);

/** No lane is before the value. */
export const areAhead = (x: LaneValue): x is Rising => x.kind === "rising" && x.steps.every((step) => step >= 0);

/**
 * A quotient or remainder by a constant with one division for all lanes: possible if no lane reaches the next multiple of it, or
 * the value is at a multiple.
 */
function divided(f: FunctionBuilder, op: "idiv" | "irem", given: Rising, by: number): LaneValue | null {
  const x = by % given.multiple === 0 || given.multiple % by === 0 ? given : (inSteps(f, given, by) ?? given);
  const { value, steps, multiple } = x;
  if (!areAhead(x)) return null;
  const quotient = () => f.i32.div_u(value, by);
  if (by % multiple === 0 && Math.max(...steps) < multiple) {
    if (op === "idiv") return { kind: "uniform", value: quotient() };
    return { ...x, value: f.i32.rem_u(value, by) };
  }
  if (multiple % by !== 0) return steps[0] >= multiple ? divided(f, op, fromFirst(f, x), by) : null;
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

/** The same numbers, with less than a multiple between the value and the first lane. */
function fromFirst(f: FunctionBuilder, { kind, value, steps, multiple }: Rising): Rising {
  const whole = steps[0] - (steps[0] % multiple);
  return { kind, value: f.i32.add(value, whole), steps: steps.map((step) => step - whole), multiple };
}

const divisorOf = (a: number, b: number): number => (b === 0 ? a : divisorOf(b, a % b));

/** The same numbers from a multiple of a common divisor of theirs and a limit on, if no lane is beyond the next one. */
function inSteps(f: FunctionBuilder, x: Rising, limit: number): Rising | null {
  const divisor = divisorOf(x.multiple, limit);
  const whole = x.steps[0] - (x.steps[0] % divisor);
  if (!areAhead(x) || x.steps.some((step) => step < whole || step >= whole + divisor)) return null;
  const value = whole === 0 ? x.value : f.i32.add(x.value, whole);
  return { kind: "rising", value, steps: x.steps.map((step) => step - whole), multiple: divisor };
}

/** A comparison with a limit that all lanes are on the same side of. */
function besideLimit(f: FunctionBuilder, { op, args: [x, limit] }: IRValue, a: LaneValue): LaneValue | null {
  if ((op !== "lt" && op !== "ge") || x.type !== "i32" || a.kind !== "rising" || limit.op !== "constant") return null;
  const at = Number(limit.attribute);
  const same = at >= 0 ? inSteps(f, a, at) : null;
  return same && { kind: "uniform", value: op === "lt" ? f.i32.lt_s(same.value, at) : f.i32.ge_s(same.value, at) };
}

/** An index of neighbours that matters only where a condition holds, which is the same for all lanes. */
function insideGate(f: FunctionBuilder, { op, attribute }: IRValue, [gate, x]: readonly LaneValue[]): LaneValue | null {
  if (op !== "select" || attribute !== true || gate.kind !== "uniform" || !areNeighbours(x)) return null;
  const [first] = x.steps;
  const from = first === 0 ? x.value : f.i32.add(x.value, first);
  const value = f.select(gate.value as Value<"i32">, from, f.i32.const(0));
  return { kind: "rising", value, steps: [0, 1, 2, 3], multiple: 1 };
}

/** Sums, differences, multiples and some quotients of rising values are rising; some comparisons of them are the same for all lanes. */
export function rising(f: FunctionBuilder, value: IRValue, operands: readonly LaneValue[]): LaneValue | null {
  const [a, b] = operands;
  if (value.type === "bool") return besideLimit(f, value, a);
  if (value.op === "select") return insideGate(f, value, operands);
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
