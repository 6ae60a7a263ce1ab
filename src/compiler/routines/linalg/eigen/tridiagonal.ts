/**
 * Hermitian matrices reduced to real tridiagonal form, T = Qᴴ A Q, by Householder reflections from both sides. A column takes two steps:
 * its reflection, found in the column as the reflections before it leave it (tridiagonal-column.ts); and the whole matrix changed by
 * the reflection before, and multiplied by the new vector on the way, so that each element is read and written once for a column. On a
 * CPU these are two kernels (tridiagonal-product.ts is the second), on a GPU one (tridiagonal-step.ts), and there one more does the last
 * columns (tridiagonal-end.ts). The same kernels serve all columns: they read the number of the column from memory, where the kernel
 * before wrote it.
 */
import { productOf } from "../../../../core/shape.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { Routine, RoutineBuffer, RoutineStep } from "../../../target/routine.js";
import { Field, kindOf, type NumberKind, shapeOf } from "../field.js";
import { columnKernel } from "./tridiagonal-column.js";
import { endKernel } from "./tridiagonal-end.js";
import { productKernel } from "./tridiagonal-product.js";
import { endRows } from "./tridiagonal-share.js";
import { BLOCK, type TridiagonalSize } from "./tridiagonal-size.js";
import { stepKernel } from "./tridiagonal-step.js";

/**
 * Inputs: Hermitian matrices [.., n, n]. Results: the diagonal [.., n]; what is beside it, [.., n], the last 0; the vectors of the
 * reflections, as rows [.., n, n], and their factors [.., n]. The last reflection is none.
 */
export const tridiagonalRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const shape = shapeOf(node.inputs[0], kind.isComplex);
  const n = shape.at(-1) as number;
  const batch = productOf(shape.slice(0, -2));
  const padded = Math.ceil(n / BLOCK) * BLOCK;
  const size: TridiagonalSize = { n, batch, padded };
  const parts = kind.isComplex ? [2] : [];
  const matrix = { dtype: kind.type, shape: [batch, padded, padded, ...parts] };
  const line = { dtype: kind.type, shape: [batch, padded, ...parts] };
  const counter = { dtype: "i32", shape: [] } as const;
  const temporary = (index: number): RoutineBuffer => ({ kind: "temporary", index });
  const result = (part: number): RoutineBuffer => ({ kind: "result", part });
  const [a, v, count, tau] = [0, 2, 4, 6].map((first) => (step: number) => temporary(first + (step % 2)));
  const results = [0, 1, 2, 3].map(result);
  const steps: RoutineStep[] = [
    {
      kernel: copyKernel(size, kind, settings),
      buffers: [{ kind: "input", index: 0 }, a(0), v(0), count(0)],
      formula: ([from, to, vector, number]) => `${to} = ${from}, with zeros beyond; ${vector} = 0; ${number} = 0`,
    },
  ];
  const factor = { dtype: kind.type, shape: [batch, ...parts] };
  const temporaries = [matrix, matrix, line, line, counter, counter, factor, factor, line, line];
  if (profile.maxLanes === 1) {
    const [y, w] = [temporary(8), temporary(9)];
    const [find, change] = [columnKernel(size, kind, settings), productKernel(size, kind, settings)];
    for (let j = 0; j < n; j++) {
      steps.push({
        kernel: find,
        buffers: [a(j), y, v(j), v(j + 1), count(j), count(j + 1), ...results, tau(j), tau(j + 1), w],
        formula: ([from, , , , number]) => `the reflection of column ${number} of ${from}`,
      });
      if (j === n - 1) break;
      steps.push({
        kernel: change,
        buffers: [a(j), a(j + 1), v(j), v(j + 1), w, count(j + 1), y],
        formula: ([from, to, before, now, beside, , product]) =>
          `${to} = ${from} - ${before} ${beside}ᴴ - ${beside} ${before}ᴴ; ${product} = ${to} · ${now}`,
      });
    }
    return { temporaries, steps };
  }
  const end = endRows(n, kind, profile);
  const endStep = (buffers: readonly RoutineBuffer[]): RoutineStep => ({
    kernel: endKernel(size, end, kind, profile, settings),
    buffers: [...buffers, ...results],
    formula: ([from]) => `the reflections of the last ${end} columns of ${from}`,
  });
  if (end === n) return { temporaries: [], steps: [endStep([{ kind: "input", index: 0 }])] };
  const y = (step: number) => temporary(8 + (step % 2));
  const whole = stepKernel(size, kind, profile, settings);
  for (let j = 0; j < n - end; j++) {
    steps.push({
      kernel: whole,
      buffers: [a(j), y(j), v(j), v(j + 1), count(j), count(j + 1), ...results, tau(j), tau(j + 1), a(j + 1), y(j + 1)],
      formula: ([from, , , now, number, , , , , , , , to, product]) =>
        `the reflection of column ${number} of ${from}; ${to} = ${from} changed by the one before; ${product} = ${to} · ${now}`,
    });
  }
  if (end > 0) steps.push(endStep([a(n - end), y(n - end), v(n - end), tau(n - end)]));
  return { temporaries, steps };
};

function copyKernel({ n, batch, padded }: TridiagonalSize, kind: NumberKind, settings: ElementSettings): Kernel {
  const k = new KernelBuilder(`tridiagonal start[${n}]`, batch * padded * padded);
  const field = new Field(k, kind, settings);
  const [from, to, vector] = [false, true, true].map((isWritten) => field.buffer(isWritten));
  const count = k.buffer("i32", true);
  const i = (value: number) => k.constant("i32", value);
  const line = k.binary("idiv", k.row, i(padded));
  const [row, column] = [k.binary("irem", line, i(padded)), k.binary("irem", k.row, i(padded))];
  const member = k.binary("idiv", line, i(padded));
  const isThere = k.binary("and", k.compare("lt", row, i(n)), k.compare("lt", column, i(n)));
  const place = k.binary("add", k.binary("mul", k.binary("add", k.binary("mul", member, i(n)), row), i(n)), column);
  field.store(to, k.row, field.select(isThere, field.load(from, k.select(isThere, place, i(0))), field.zero));
  field.store(vector, k.row, field.zero, k.compare("lt", k.row, i(batch * padded)));
  k.store(count, i(0), i(0), true, k.compare("eq", k.row, i(0)));
  return k.finish();
}
