/**
 * LU factors of large matrices on a GPU, by panels of columns from left to right. A step has two kernels. In the first, one
 * workgroup has a whole panel in registers, finds its pivots and eliminates. The second reads the rest in its new order of
 * rows, computes the new rows of U, and subtracts their product with the panel; the rest goes back and forth between two buffers.
 *
 * Panels stay in the order of rows that their step left them in. A last kernel follows the later exchanges of every row and
 * puts the panels together. All steps run the same kernels, however many there are.
 */
import type { Node } from "../../../../graph/node.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel } from "../../../ir/ir.js";
import type { RoutineBuffer, RoutinePlan } from "../../../target/routine.js";
import { kindOf } from "../field.js";
import { inSteps } from "../grid.js";
import { MatrixKernel } from "../matrix-kernel.js";
import type { PanelGrid } from "../panel.js";
import { type LuShape, luPanelKernel } from "./lu-panel.js";
import { luRestKernel } from "./lu-rest.js";

export function steppedLu(
  node: Node,
  batch: number,
  [m, n]: readonly [number, number],
  grid: PanelGrid,
  settings: ElementSettings,
): RoutinePlan {
  const kind = kindOf(node);
  const panels = Math.ceil(Math.min(m, n) / grid.width);
  const shape: LuShape = { m, n, panels, grid };
  const name = (what: string) => `lu ${what}[${node.inputs[0].shape.join("×")}]`;
  const panel = luPanelKernel(new MatrixKernel(name("panel"), batch, grid.lanes, node, settings), shape);
  const rest = luRestKernel(name("rest"), batch, shape, node, settings);
  const finish = finishKernel(new MatrixKernel(name("rows"), batch * m, grid.width, node, settings), shape);
  const [a, lu, pivots, order]: RoutineBuffer[] = [
    { kind: "input", index: 0 },
    ...[0, 1, 2].map((part) => ({ kind: "result", part }) as const),
  ];
  const [even, odd, columns, orders]: RoutineBuffer[] = [0, 1, 2, 3].map((index) => ({ kind: "temporary", index }));
  const parts = kind.isComplex ? [2] : [];
  const whole = { dtype: kind.type, shape: [batch, m, n, ...parts] };
  const from = (which: number) => (which === 0 ? a : which % 2 === 0 ? even : odd);
  const steps = inSteps(
    panels,
    [],
    [
      whole,
      whole,
      { dtype: kind.type, shape: [batch, panels, m, grid.width, ...parts] },
      { dtype: "i32", shape: [batch, panels, m] },
    ],
    () => [
      { kernel: panel, formula: ([x, step]) => `${grid.width} columns of the factors of ${x}, step ${step}` },
      { kernel: rest, formula: ([x]) => `the rest of ${x} in order, less the product of the new rows and columns` },
    ],
    (which) => [
      [from(which), columns, orders, pivots],
      [from(which), columns, orders, lu, from(which + 1)],
    ],
    panels * grid.width < n,
  );
  const last = {
    kernel: finish,
    buffers: [columns, orders, lu, order],
    formula: ([x]: readonly string[]) => `${x} in the last order of rows`,
  };
  return { ...steps, steps: [...steps.steps, last] };
}

/** Buffers: the panels, their orders, the factors, the order. A row of the kernel is a row of the matrix. */
function finishKernel(kernel: MatrixKernel, { m, n, panels, grid: { width } }: LuShape): Kernel {
  const { k, f } = kernel;
  const [columns, orders, lu, order] = [f.buffer(false), k.buffer("i32", false), f.buffer(true), k.buffer("i32", true)];
  const matrix = k.binary("idiv", k.row, kernel.i(m));
  const row = k.binary("irem", k.row, kernel.i(m));
  const [first] = k.loop(panels, [row], (turn, [at]) => {
    const step = k.binary("sub", kernel.i(panels - 1), turn);
    const top = kernel.mul(step, width);
    const line = kernel.add(kernel.mul(kernel.add(kernel.mul(matrix, panels), step), m), at);
    const isBelow = k.compare("ge", row, top);
    const column = kernel.add(top, k.lane);
    const isThere = k.binary("and", isBelow, kernel.less(column, n));
    kernel.when(isThere, () => {
      f.store(
        lu,
        kernel.add(kernel.mul(k.row, n), column),
        f.load(columns, kernel.add(kernel.mul(line, width), k.lane)),
      );
    });
    return [k.select(isBelow, k.load(orders, k.select(isBelow, line, kernel.i(0)), "i32"), at)];
  });
  k.store(order, k.row, first, true);
  return k.finish();
}
