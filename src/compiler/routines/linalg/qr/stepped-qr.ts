/**
 * QR decompositions of large matrices on a GPU, by panels of columns from left to right. A step has two kernels: one workgroup
 * makes the reflections of a panel (qr-panel.ts), and strips of the rest are reflected (block-reflection.ts), back and forth
 * between two buffers. Then the panels' reflections are applied to the identity, last ones first, which gives Q. All steps
 * run the same three kernels, however many there are.
 */

import { UnsupportedError } from "../../../../core/errors.js";
import type { Node } from "../../../../graph/node.js";
import { outputsOf } from "../../../../graph/primitives/bundle.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Routine, RoutineBuffer, RoutinePlan } from "../../../target/routine.js";
import { kindOf, shapeOf } from "../field.js";
import { inSteps } from "../grid.js";
import { MatrixKernel, matricesOf } from "../matrix-kernel.js";
import { type PanelGrid, qrPanelFor, quickDivision } from "../panel.js";
import { blockReflectionKernel, stripsOf } from "./block-reflection.js";
import { type QrShape, qrPanelKernel } from "./qr-panel.js";

/** Inputs: matrices [.., m, n]. Parts: Q [.., m, columns], R [.., min(m, n), n]. Only devices with panels get it. */
export const steppedQrRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const { batch, shape } = matricesOf(node.inputs[0], kind.isComplex);
  const grid = qrPanelFor(shape[0], kind, profile.tiles);
  if (!grid) throw new UnsupportedError(`steppedQr: there are no panels for matrices of [${shape}] on this device.`);
  return steppedQr(node, batch, shape, grid, quickDivision(settings, profile));
};

/** @internal for tests: with panels for few lanes. */
export function steppedQr(
  node: Node,
  batch: number,
  [m, n]: readonly [number, number],
  grid: PanelGrid,
  settings: ElementSettings,
): RoutinePlan {
  const kind = kindOf(node);
  const columns = shapeOf(outputsOf(node)[0], kind.isComplex).at(-1) as number;
  const panels = Math.ceil(Math.min(m, n) / grid.width);
  const shape: QrShape = { m, n, panels, grid };
  const make = (what: string, rows: number, lanes: number) =>
    new MatrixKernel(`qr ${what}[${node.inputs[0].shape.join("×")}]`, batch * rows, lanes, node, settings);
  const panel = qrPanelKernel(make("panel", 1, grid.lanes), shape);
  const reflect = (what: "rest" | "basis", extent: number) =>
    blockReflectionKernel(make(what, stripsOf(extent), grid.lanes), shape, extent, what);
  const [rest, basis] = [reflect("rest", n), reflect("basis", columns)];
  const [a, q, r]: RoutineBuffer[] = [
    { kind: "input", index: 0 },
    { kind: "result", part: 0 },
    { kind: "result", part: 1 },
  ];
  const [even, odd, vectors, triangles, other]: RoutineBuffer[] = [0, 1, 2, 3, 4].map((index) => ({
    kind: "temporary",
    index,
  }));
  const parts = kind.isComplex ? [2] : [];
  const tensor = (...extents: readonly number[]) => ({ dtype: kind.type, shape: [batch, ...extents, ...parts] });
  const from = (which: number) => (which === 0 ? a : which % 2 === 0 ? even : odd);
  const factored = inSteps(
    panels,
    [],
    [
      tensor(m, n),
      tensor(m, n),
      tensor(panels, m, grid.width),
      tensor(panels, grid.width, grid.width),
      tensor(m, columns),
    ],
    () => [
      {
        kernel: panel,
        formula: ([x, , , to]) => `${to} = ${grid.width} columns of the triangle of ${x}, and their reflections`,
      },
      { kernel: rest, formula: ([x, , , to]) => `${to} = the rest of ${x}, reflected` },
    ],
    (which) => [
      [from(which), vectors, triangles, r],
      [from(which), vectors, triangles, from(which + 1), r],
    ],
    panels * grid.width < n,
  );
  // The last of these steps writes the result.
  const written = (which: number) => ((panels - 1 - which) % 2 === 0 ? q : other);
  const formed = inSteps(
    panels,
    [],
    factored.temporaries,
    () => [{ kernel: basis, formula: ([, , , to]) => `${to} = columns of Q, reflected` }],
    (which) => [[written(which + 1), vectors, triangles, written(which)]],
    false,
    true,
  );
  return { temporaries: formed.temporaries, steps: [...factored.steps, ...formed.steps] };
}
