/**
 * The triangle T with H₁ H₂ … H_b = I - V T Vᴴ, of b Householder reflections H = I - τ v vᴴ (Schreiber and Van Loan 1989), from
 * the products G = Vᴴ V and the factors τ. With it the reflections are applied as products of matrices. One workgroup makes a
 * triangle, column by column.
 */
import { productOf } from "../../../../core/shape.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { Routine } from "../../../target/routine.js";
import { bytesOf, Field, kindOf, shapeOf } from "../field.js";
import { arrayBytes, arrayWorkspace, bufferWorkspace, eachByLane, powerOfTwo } from "../workspace.js";

/** Inputs: G [.., b, b] and τ [.., b]. Result: T [.., b, b]. */
export const compactWyRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const shape = shapeOf(node.inputs[0], kind.isComplex);
  const b = shape.at(-1) as number;
  const batch = productOf(shape.slice(0, -2));
  const k = new KernelBuilder(`compactWy[${shape.join("×")}]`, batch, Math.min(profile.maxLanes, powerOfTwo(b)));
  const field = new Field(k, kind, settings);
  const [products, factors, triangle] = [field.buffer(false), field.buffer(false), field.buffer(true)];
  const i = (value: number) => k.constant("i32", value);
  const start = k.binary("mul", k.row, i(b * b));
  const isInside = b * b * bytesOf(kind) <= arrayBytes(profile);
  const t = isInside ? arrayWorkspace(field, b * b) : bufferWorkspace(k, field, triangle, start);
  k.loop(b, [], (j) => {
    const tau = field.load(factors, k.binary("add", k.binary("mul", k.row, i(b)), j));
    eachByLane(k, b, (row) => {
      const [sum] = field.loop(b, [field.zero], (at, [before]) => {
        const isPart = k.binary("and", k.compare("ge", at, row), k.compare("lt", at, j));
        const own = t.get(k.binary("add", k.binary("mul", row, i(b)), k.select(isPart, at, i(0))));
        const its = field.load(products, k.binary("add", start, k.binary("add", k.binary("mul", at, i(b)), j)));
        return [field.select(isPart, field.mulAdd(own, its, before), before)];
      });
      const above = field.neg(field.mul(tau, sum));
      const onDiagonal = field.select(k.compare("eq", row, j), tau, field.zero);
      const x = field.select(k.compare("lt", row, j), above, onDiagonal);
      const place = k.binary("add", k.binary("mul", row, i(b)), j);
      t.set(place, x);
      if (isInside) field.store(triangle, k.binary("add", start, place), x);
    });
    k.barrier();
    return [];
  });
  return {
    temporaries: [],
    steps: [
      {
        kernel: k.finish(),
        buffers: [{ kind: "input", index: 0 }, { kind: "input", index: 1 }, { kind: "result" }],
        formula: ([g, tau, made]) => `${made} = the triangle T of reflections with products ${g} and factors ${tau}`,
      },
    ],
  };
};
