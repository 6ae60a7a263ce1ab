/**
 * Padded, reshaped and padded again: where an element is read from, for every element of every small shape, against plain
 * loops over arrays. The indices are those that movements give, at an index along each axis and at one row-major number,
 * as kernels have it; a few of the chains are also computed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate, type IndexExpr, IndexSpace, ravel, unravel } from "../../src/core/index-expr.js";
import type { Node } from "../../src/graph/node.js";
import { explain, setDefaultDevice, type Tensor, tensor } from "../../src/index.js";
import { randomFrom } from "../support/random.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

interface Plain {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

/** The position along each axis of the n-th element. */
function positionsOf(n: number, shape: readonly number[]): number[] {
  const found: number[] = [];
  let rest = n;
  for (const extent of [...shape].reverse()) {
    found.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  return found;
}

type Amounts = readonly (readonly [low: number, high: number])[];

/** The tensor with zeros around it; its own elements are not zero. */
function padded({ shape, values }: Plain, amounts: Amounts): Plain {
  const wide = shape.map((extent, axis) => extent + amounts[axis]![0] + amounts[axis]![1]);
  const all = Array.from({ length: sizeOf(wide) }, (_, n) => {
    const inside = positionsOf(n, wide).map((position, axis) => position - amounts[axis]![0]);
    if (inside.some((position, axis) => position < 0 || position >= shape[axis]!)) return 0;
    return values[inside.reduce((flat, position, axis) => flat * shape[axis]! + position, 0)]!;
  });
  return { shape: wide, values: all };
}

/** A tensor and the plain loops it stands for. */
interface Pair {
  readonly x: Tensor;
  readonly plain: Plain;
}

const counting = (shape: readonly number[]): Pair => {
  const values = Array.from({ length: sizeOf(shape) }, (_, i) => i + 1);
  return { x: tensor(values, { shape: [...shape], device: "cpu" }).realize(), plain: { shape, values } };
};
const pad = ({ x, plain }: Pair, amounts: Amounts): Pair => ({ x: x.pad(amounts), plain: padded(plain, amounts) });
const reshape = ({ x, plain }: Pair, shape: readonly number[]): Pair => ({
  x: x.reshape(shape),
  plain: { shape, values: plain.values },
});
const flat = (pair: Pair): Pair => reshape(pair, [pair.plain.values.length]);

/** All shapes of up to three axes with so many elements. */
function shapesOf(size: number): number[][] {
  const shapes = [[size]];
  for (let a = 1; a <= size; a++) {
    if (size % a !== 0) continue;
    shapes.push([a, size / a]);
    for (let b = 2; b < size / a; b++) if ((size / a) % b === 0) shapes.push([a, b, size / a / b]);
  }
  return shapes;
}

type ValueAt = (numbers: readonly number[]) => number;

/** The element of a chain of movements at an index of variables, which are given as numbers then. */
function elementOf(node: Node, index: readonly IndexExpr[], space: IndexSpace, stored: readonly number[]): ValueAt {
  const at = (x: IndexExpr, numbers: readonly number[]) =>
    evaluate(x, (atom) => numbers[Number(atom.kind === "variable" && atom.name)]!);
  if (node.storage) return (numbers) => stored[at(ravel(index, node.shape), numbers)]!;
  const { primitive } = node;
  assert.ok(primitive.kind === "movement");
  const readings = primitive.read(space, index, node).map(({ bounds, index: inner, input }) => ({
    bounds,
    element: elementOf(node.inputs[input]!, inner as IndexExpr[], space, stored),
  }));
  return (numbers) => {
    const isInside = (reading: (typeof readings)[number]) =>
      reading.bounds.every(({ value, low, high }) => at(value, numbers) >= low && at(value, numbers) < high);
    return readings.find(isInside)?.element(numbers) ?? Number(primitive.otherwise?.(node.params));
  };
}

let checked = 0;
function check({ x, plain }: Pair, stored: readonly number[], what: string): void {
  const { shape, values } = plain;
  assert.deepEqual([...x.shape], [...shape], what);
  const byAxes = new IndexSpace();
  const axes = shape.map((extent, axis) => byAxes.variable(String(axis), extent));
  const byRow = new IndexSpace();
  const row = unravel(byRow, byRow.variable("0", values.length), shape);
  const [ofAxes, ofRow] = [elementOf(x.node, axes, byAxes, stored), elementOf(x.node, row, byRow, stored)];
  for (const [n, wanted] of values.entries()) {
    if (ofAxes(positionsOf(n, shape)) !== wanted || ofRow([n]) !== wanted) assert.fail(`${what}: element ${n}`);
  }
  checked += values.length;
}

const amounts: Amounts = [[0, 0], [1, 0], [0, 1], [2, 1], [1, 2]]; // biome-ignore format: a list of pairs

test("every element of every small matrix, padded and reshaped, is where plain loops find it", () => {
  setDefaultDevice("cpu");
  for (const shape of [
    [1, 3],
    [2, 2],
    [3, 2],
    [2, 3],
    [3, 4],
    [4, 1],
    [5, 2],
  ]) {
    // biome-ignore format: a list of shapes
    const first = counting(shape);
    for (const rows of amounts) {
      for (const columns of amounts) {
        const wide = pad(first, [rows, columns]);
        for (const to of shapesOf(wide.plain.values.length)) {
          check(reshape(wide, to), first.plain.values, `[${shape}] padded by ${rows} and ${columns}, as [${to}]`);
        }
      }
    }
  }
  assert.ok(checked > 40_000, `${checked} elements`);
});

test("flattened, padded and reshaped; padded, flattened, padded again and reshaped", () => {
  setDefaultDevice("cpu");
  for (const shape of [
    [2, 3],
    [3, 2],
    [4, 3],
    [2, 2, 3],
  ]) {
    // biome-ignore format: a list of shapes
    const first = counting(shape);
    const stored = first.plain.values;
    for (const ends of [
      [1, 0],
      [1, 2],
      [3, 1],
      [5, 4],
      [6, 6],
    ] as const) {
      // biome-ignore format: a list of pairs
      const long = pad(flat(first), [ends]);
      for (const to of shapesOf(long.plain.values.length))
        check(reshape(long, to), stored, `[${shape}], ${ends}, [${to}]`);
      for (const edge of amounts) {
        const twice = pad(
          flat(
            pad(
              first,
              [...shape.keys()].map((axis) => (axis === 1 ? edge : [1, 0])),
            ),
          ),
          [ends],
        );
        for (const to of shapesOf(twice.plain.values.length)) {
          check(reshape(twice, to), stored, `[${shape}] by ${edge}, flat by ${ends}, as [${to}]`);
        }
      }
    }
  }
});

describeOnTensorDevices("padded views", (device) => {
  test("compute what plain loops do", () => {
    const random = randomFrom(3);
    const some = (): readonly [number, number] => [random.below(3), random.below(3)];
    for (let i = 0; i < 24; i++) {
      const first = counting([1 + random.below(5), 1 + random.below(8)]);
      const wide = pad({ ...first, x: first.x.to(device) }, [some(), some()]);
      const once = reshape(wide, random.pick(shapesOf(wide.plain.values.length)));
      const twice = pad(once, once.plain.shape.map(some));
      const last = random.pick([once, twice, flat(twice)]);
      const want = last.plain.values.map((value) => 2 * value + 1);
      assert.deepEqual(numbersOf(last.x.mul(2).add(1)), want, `[${first.plain.shape}] to [${last.plain.shape}]`);
    }
  });

  test("rows that are padded or shifted whole need no division", () => {
    const x = tensor(new Float32Array(7000), { shape: [1000, 7] });
    const chains: [Tensor, RegExp][] = [
      [x.reshape(7000).pad([[1, 1]]), /where\(1 <= i < 7001, /],
      [
        x
          .reshape(7000)
          .pad([[3, 5]])
          .reshape(12, 584),
        /where\(3 <= 584\*i \+ j < 7003, /,
      ],
      [
        x
          .reshape(7000)
          .pad([[7, 7]])
          .reshape(1002, 7),
        /where\(1 <= i < 1001, a\[i - 1, j\], 0\)/,
      ],
      [x.pad([[2, 3], [0, 0]]).reshape(7035), /where\(14 <= i < 7014, /], // biome-ignore format: pairs
      [x.pad([[2, 3], [0, 0]]).reshape(35, 201), /\* 2/], // biome-ignore format: pairs
      [x.pad([[2, 3], [0, 0]]).reshape(15, 67, 7), /where\(2 <= 67\*i \+ j < 1002, a\[67\*i \+ j - 2, k\], 0\)/], // biome-ignore format: pairs
    ];
    for (const [view, formula] of chains) {
      const text = explain(view.mul(2), { verbose: true });
      assert.match(text, formula);
      assert.doesNotMatch(text, /= (idiv|irem) /);
    }
  });
});
