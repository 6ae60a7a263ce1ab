/** Movements that arrange elements: other shapes and orders, slices, padding, concatenation, windows, periods. */
import { ShapeError } from "../../../core/errors.js";
import {
  add,
  addConstant,
  type Bound,
  bound,
  constantExpr,
  type IndexExpr,
  ravel,
  scale,
  unravel,
} from "../../../core/index-expr.js";
import { productOf, stridesOf } from "../../../core/shape.js";
import type { Node } from "../../node.js";
import type { MovementPrimitive } from "../../primitive.js";
import { always, batched, prepend, withBatch } from "./rules.js";

/** Whether elements that are `distances` apart along each axis lie side by side in row-major order. */
function isSideBySide(shape: readonly number[], distances: readonly number[]): boolean {
  let next = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] > 1 && distances[axis] !== next) return false;
    next *= shape[axis];
  }
  return true;
}

/** The same elements in the same row-major order under another shape. Params: shape. */
export const reshape: MovementPrimitive = {
  name: "reshape",
  kind: "movement",
  infer: ([x], params) => {
    const shape = params.shape as readonly number[];
    const { shape: from, dtype } = x as Node;
    if (productOf(from) !== productOf(shape)) {
      throw new ShapeError(`reshape: ${productOf(from)} elements of [${from}] do not fill [${shape}].`);
    }
    return { shape, dtype };
  },
  read: (space, index, { shape, inputs }) => {
    const from = (inputs[0] as Node).shape;
    return [always(unravel(space, ravel(index, shape), from))];
  },
  beginsAt: () => 0,
  vjp: (g, { inputs: [x] }, ct) => [g.reshape(ct, x.shape)],
  batch: batched(({ shape }, size) => ({ shape: prepend(size, shape) })),
};

/** Axes in another order. Params: axes, where result axis i is input axis axes[i]. */
export const permute: MovementPrimitive = {
  name: "permute",
  kind: "movement",
  infer: ([x], params) => {
    const { shape, dtype } = x as Node;
    return { shape: (params.axes as readonly number[]).map((axis) => shape[axis] as number), dtype };
  },
  read: (_space, index, { params }) => {
    const from: IndexExpr[] = [];
    (params.axes as readonly number[]).forEach((axis, i) => {
      from[axis] = index[i] as IndexExpr;
    });
    return [always(from)];
  },
  beginsAt: ({ params, shape, inputs: [x] }) => {
    const strides = stridesOf(x.shape);
    const distances = (params.axes as readonly number[]).map((axis) => strides[axis]);
    return productOf(shape) === 0 || isSideBySide(shape, distances) ? 0 : null;
  },
  vjp: (g, { params }, ct) => {
    const axes = params.axes as readonly number[];
    return [
      g.permute(
        ct,
        axes.map((_, axis) => axes.indexOf(axis)),
      ),
    ];
  },
  batch: batched(({ axes }) => ({ axes: [0, ...(axes as readonly number[]).map((axis) => axis + 1)] })),
};

/** Repeats axes of extent 1. Params: shape, of the input's rank. */
export const expand: MovementPrimitive = {
  name: "expand",
  kind: "movement",
  infer: ([x], params) => {
    const shape = params.shape as readonly number[];
    const { shape: from, dtype } = x as Node;
    const fits = from.length === shape.length && from.every((n, axis) => n === shape[axis] || n === 1);
    if (!fits) throw new ShapeError(`expand: [${from}] does not repeat into [${shape}].`);
    return { shape, dtype };
  },
  read: (_space, index, { shape, inputs }) => {
    const from = (inputs[0] as Node).shape;
    return [always(index.map((at, axis) => (from[axis] === shape[axis] ? at : constantExpr(0))))];
  },
  vjp: (g, { inputs: [x] }, ct) => [g.sumTo(ct, x.shape)],
  batch: batched(({ shape }, size) => ({ shape: prepend(size, shape) })),
};

/** Every step-th element from a start, backwards when the step is negative. Params: start, step, shape, per axis. */
export const slice: MovementPrimitive = {
  name: "slice",
  kind: "movement",
  infer: ([x], params) => {
    const { start, step, shape } = params as Record<string, readonly number[]>;
    const { shape: from, dtype } = x as Node;
    for (let axis = 0; axis < from.length; axis++) {
      const first = start[axis];
      const last = first + step[axis] * (shape[axis] - 1);
      if (shape[axis] > 0 && (Math.min(first, last) < 0 || Math.max(first, last) >= from[axis])) {
        throw new ShapeError(`slice: elements ${first} to ${last} of axis ${axis}, which has ${from[axis]}.`);
      }
    }
    return { shape, dtype };
  },
  read: (_space, index, { params }) => {
    const [start, step] = [params.start, params.step] as [readonly number[], readonly number[]];
    return [always(index.map((at, axis) => addConstant(scale(at, step[axis] as number), start[axis] as number)))];
  },
  beginsAt: ({ params, shape, inputs: [x] }) => {
    // Every evaluation asks, so it makes no lists.
    const { start, step } = params as Record<string, readonly number[]>;
    let [begin, stride, next] = [0, 1, 1];
    let isApart = false;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      // Empty: any start will do.
      if (shape[axis] === 0) return 0;
      if (shape[axis] > 1 && stride * step[axis] !== next) isApart = true;
      begin += stride * start[axis];
      next *= shape[axis];
      stride *= x.shape[axis];
    }
    return isApart ? null : begin;
  },
  begins: {
    params: ["start"],
    at: ({ params }, axis) => (params.start as readonly number[])[axis],
    around: (_g, _node, input) => input,
    step: ({ params }, axis) => (params.step as readonly number[])[axis],
  },
  vjp: (g, { params, shape, inputs: [x] }, ct) => {
    if (productOf(shape) === 0) return [g.zeros(x.shape, ct)];
    const [start, step] = [params.start, params.step] as readonly number[][];
    const backwards = step.flatMap((distance, axis) => (distance < 0 ? [axis] : []));
    const forwards = backwards.length > 0 ? g.flip(ct, backwards) : ct;
    const reach = step.map((distance, axis) => Math.abs(distance) * (shape[axis] - 1));
    const low = start.map((first, axis) => (step[axis] < 0 ? first - reach[axis] : first));
    const high = low.map((first, axis) => x.shape[axis] - first - reach[axis] - 1);
    // A step over a single element does not matter, and may be zero.
    const interior = step.map((distance, axis) => (shape[axis] > 1 ? Math.abs(distance) - 1 : 0));
    return [g.pad(forwards, low, high, interior)];
  },
  batch: batched(({ start, step, shape }, size) => ({
    start: prepend(0, start),
    step: prepend(1, step),
    shape: prepend(size, shape),
  })),
};

/**
 * Puts a value around and between elements; negative amounts cut off. Params: low, high, interior (per axis), value.
 */
export const pad: MovementPrimitive = {
  name: "pad",
  kind: "movement",
  infer: ([x], params) => {
    const [low, high, interior] = [params.low, params.high, params.interior] as readonly number[][];
    const { shape: from, dtype } = x as Node;
    const shape = from.map((extent, axis) => {
      const spread = extent === 0 ? 0 : extent + (extent - 1) * (interior?.[axis] ?? 0);
      return spread + (low?.[axis] ?? 0) + (high?.[axis] ?? 0);
    });
    if (shape.some((extent) => extent < 0)) {
      throw new ShapeError(`pad: [${from}] padded by [${low}] and [${high}] would have the shape [${shape}].`);
    }
    return { shape, dtype };
  },
  read: (space, index, { params, inputs }) => {
    const [low, interior] = [params.low, params.interior] as [readonly number[], readonly number[]];
    const from = (inputs[0] as Node).shape;
    const bounds: Bound[] = [];
    const reads = index.map((at, axis) => {
      const spacing = (interior[axis] as number) + 1;
      const shifted = addConstant(at, -(low[axis] as number));
      bounds.push(bound(shifted, 0, ((from[axis] as number) - 1) * spacing + 1));
      if (spacing === 1) return shifted;
      bounds.push(bound(space.remainder(shifted, spacing), 0, 1));
      return space.quotient(shifted, spacing);
    });
    return [{ input: 0, index: reads, bounds }];
  },
  otherwise: (params) => params.value as number | bigint | boolean,
  begins: {
    params: ["low", "high"],
    at: ({ params, shape }, axis) => shape[axis] - (params.low as readonly number[])[axis],
    around: (g, { primitive, params, shape }, input) =>
      g.move(primitive, [input], { ...params, low: shape, high: shape }),
    step: () => 1,
  },
  jvp: (g, { params }, [t]) =>
    t && g.pad(t, params.low as number[], params.high as number[], params.interior as number[]),
  vjp: (g, { params, inputs: [x] }, ct) => {
    const [low, high, interior] = [params.low, params.high, params.interior] as readonly number[][];
    const spread = g.pad(
      ct,
      low.map((n) => -n),
      high.map((n) => -n),
    );
    return [
      g.slice(
        spread,
        low.map(() => 0),
        x.shape,
        interior.map((gap) => gap + 1),
      ),
    ];
  },
  batch: batched(({ low, high, interior, value }) => ({
    low: prepend(0, low),
    high: prepend(0, high),
    interior: prepend(0, interior),
    value,
  })),
};

/** Inputs one after another along an axis. Params: axis. */
export const concat: MovementPrimitive = {
  name: "concat",
  kind: "movement",
  infer: (inputs, params) => {
    const axis = params.axis as number;
    const [first] = inputs as readonly [Node];
    for (const { shape } of inputs) {
      const fits = shape.length === first.shape.length && shape.every((n, i) => i === axis || n === first.shape[i]);
      if (!fits) throw new ShapeError(`concat: [${first.shape}] and [${shape}] differ off axis ${axis}.`);
    }
    const total = inputs.reduce((sum, { shape }) => sum + (shape[axis] as number), 0);
    return { shape: first.shape.map((n, i) => (i === axis ? total : n)), dtype: first.dtype };
  },
  read: (_space, index, { params, inputs }) => {
    const axis = params.axis as number;
    let offset = 0;
    return inputs.map(({ shape }, input) => {
      const extent = shape[axis] as number;
      const at = add(index[axis] as IndexExpr, constantExpr(-offset));
      offset += extent;
      return {
        input,
        index: index.map((expression, i) => (i === axis ? at : expression)),
        bounds: [bound(at, 0, extent)],
      };
    });
  },
  otherwise: () => 0,
  jvp: (g, { inputs, params }, tangents) =>
    g.concat(
      tangents.map((t, i) => t ?? g.zeros(inputs[i].shape, inputs[i])),
      params.axis as number,
    ),
  vjp: (g, { inputs, params }, ct) => {
    const axis = params.axis as number;
    let offset = 0;
    return inputs.map(({ shape }) => {
      const start = shape.map((_, i) => (i === axis ? offset : 0));
      offset += shape[axis];
      return g.slice(ct, start, shape);
    });
  },
  batch: (g, { params }, inputs, size) =>
    g.concat(
      inputs.map((input) => withBatch(g, input, size)),
      (params.axis as number) + 1,
    ),
};

/**
 * Overlapping windows along axes. Params: axes, size, stride, dilation (one each per axis in `axes`). Each of the axes
 * counts windows; the places inside a window follow as new axes at the end, in the order of `axes`. Window o holds at
 * place k the element o·stride + k·dilation.
 */
export const window: MovementPrimitive = {
  name: "window",
  kind: "movement",
  infer: ([x], params) => {
    const [axes, size, stride, dilation] = [params.axes, params.size, params.stride, params.dilation] as number[][];
    const shape = [...x.shape];
    axes.forEach((axis, i) => {
      const reach = (size[i] - 1) * dilation[i] + 1;
      shape[axis] = size[i] === 0 ? 0 : Math.max(0, Math.floor((x.shape[axis] - reach) / stride[i]) + 1);
    });
    return { shape: [...shape, ...size], dtype: x.dtype };
  },
  read: (_space, index, { params, inputs: [x] }) => {
    const [axes, stride, dilation] = [params.axes, params.stride, params.dilation] as readonly number[][];
    const rank = x.shape.length;
    const from = index.slice(0, rank);
    axes.forEach((axis, i) => {
      from[axis] = add(scale(index[axis], stride[i]), scale(index[rank + i], dilation[i]));
    });
    return [always(from)];
  },
  vjp: (g, { params, inputs: [x] }, ct) => {
    const [axes, size, stride, dilation] = [params.axes, params.size, params.stride, params.dilation] as number[][];
    return [g.foldWindows(ct, { axes, size, stride, dilation, padding: axes.map(() => [0, 0]) }, x.shape)];
  },
  batch: batched(({ axes, ...rest }) => ({ axes: (axes as readonly number[]).map((axis) => axis + 1), ...rest })),
};

/** The remainder that is not negative. */
const modulo = (a: number, n: number): number => ((a % n) + n) % n;

/**
 * The input repeated periodically. Params: start, shape, per axis: element i of the result is element (start + i) mod n of
 * the input. roll, tile and wrapping pads use it.
 */
export const wrap: MovementPrimitive = {
  name: "wrap",
  kind: "movement",
  infer: ([x], params) => {
    const shape = params.shape as readonly number[];
    const { shape: from, dtype } = x as Node;
    if (from.some((extent, axis) => extent === 0 && (shape[axis] as number) > 0)) {
      throw new ShapeError(`wrap: [${from}] has nothing to fill [${shape}] with.`);
    }
    return { shape, dtype };
  },
  read: (space, index, { params, inputs }) => {
    const start = params.start as readonly number[];
    const from = (inputs[0] as Node).shape;
    const into = (at: IndexExpr, axis: number): IndexExpr => {
      const extent = Math.max(1, from[axis] as number);
      return space.remainder(addConstant(at, (start[axis] as number) % extent), extent);
    };
    return [always(index.map(into))];
  },
  begins: {
    params: ["start"],
    at: ({ params, inputs: [x] }, axis) => modulo((params.start as readonly number[])[axis], x.shape[axis]),
    around: (g, { primitive, shape }, input) =>
      g.move(primitive, [input], {
        start: shape.map(() => 0),
        shape: shape.map((extent, axis) => extent + input.shape[axis] - 1),
      }),
    step: () => 1,
  },
  vjp: (g, { params, shape, inputs: [x] }, ct) => {
    const start = params.start as readonly number[];
    const from = x.shape;
    // Pad each axis to whole periods, then sum over the periods.
    const low = from.map((n, axis) => (n === 0 ? 0 : modulo(start[axis], n)));
    const rounds = from.map((n, axis) => (n === 0 ? 0 : Math.ceil((low[axis] + shape[axis]) / n)));
    const high = from.map((n, axis) => rounds[axis] * n - low[axis] - shape[axis]);
    const cut = g.reshape(
      g.pad(ct, low, high),
      from.flatMap((n, axis) => [rounds[axis], n]),
    );
    return [
      g.sum(
        cut,
        from.map((_, axis) => 2 * axis),
      ),
    ];
  },
  batch: batched(({ start, shape }, size) => ({ start: prepend(0, start), shape: prepend(size, shape) })),
};
