/** Windows over axes, and their transpose: against loops, and against one another. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { window } from "../../src/graph/primitives/movement.js";
import { foldWindows, padNode, type Windows, windowNode } from "../../src/graph/windows.js";
import { stored } from "../support/nodes.js";
import { plainValues } from "../support/plain-graph.js";
import { flatAt, forEachIndex, sizeOf } from "../support/plain-views.js";
import { randomFrom } from "../support/random.js";

const random = randomFrom(11);
const numbers = (shape: readonly number[]) => Array.from({ length: sizeOf(shape) }, () => random.below(19) - 9);

const cases: readonly (readonly [shape: number[], windows: Windows])[] = [
  [[7], { axes: [0], size: [3], stride: [1], dilation: [1], padding: [[0, 0]] }],
  [[7], { axes: [0], size: [3], stride: [2], dilation: [1], padding: [[1, 1]] }],
  [[9, 2], { axes: [0], size: [2], stride: [3], dilation: [4], padding: [[0, 2]] }],
  [
    [6, 8],
    {
      axes: [0, 1],
      size: [2, 4],
      stride: [2, 4],
      dilation: [1, 1],
      padding: [
        [0, 0],
        [0, 0],
      ],
    },
  ],
  [
    [5, 2, 6],
    {
      axes: [2, 0],
      size: [3, 2],
      stride: [1, 2],
      dilation: [2, 1],
      padding: [
        [2, 1],
        [1, 0],
      ],
    },
  ],
  [[4, 4], { axes: [1], size: [4], stride: [4], dilation: [1], padding: [[0, 0]] }],
];

const VALUE = 100;

/** Every place of every window by its definition. */
function seen(
  shape: readonly number[],
  values: readonly number[],
  windows: Windows,
): { shape: number[]; values: number[] } {
  const { axes, size, stride, dilation, padding } = windows;
  const counts = shape.map((extent, axis) => {
    const i = axes.indexOf(axis);
    if (i < 0) return extent;
    return Math.floor((extent + padding[i]![0] + padding[i]![1] - (size[i]! - 1) * dilation[i]! - 1) / stride[i]!) + 1;
  });
  const whole = [...counts, ...size];
  const result: number[] = [];
  forEachIndex(whole, (index) => {
    const at = shape.map((_, axis) => {
      const i = axes.indexOf(axis);
      if (i < 0) return index[axis]!;
      return index[axis]! * stride[i]! + index[shape.length + i]! * dilation[i]! - padding[i]![0];
    });
    const isInside = at.every((place, axis) => place >= 0 && place < shape[axis]!);
    result.push(isInside ? values[flatAt(shape, at)]! : VALUE);
  });
  return { shape: whole, values: result };
}

test("windows of any size, stride, dilation and padding see what a loop sees", () => {
  for (const [shape, windows] of cases) {
    const [x, values] = [stored(...shape), numbers(shape)];
    const node = windowNode(x, windows, VALUE);
    const want = seen(shape, values, windows);
    assert.deepEqual(node.shape, want.shape, JSON.stringify(windows));
    assert.deepEqual(plainValues([node], new Map([[x, values]]))[0], want.values, JSON.stringify(windows));
  }
});

test("windows side by side are another order of the elements, and no windows", () => {
  const uses = (shape: readonly number[], windows: Windows) => {
    let node = windowNode(stored(...shape), windows, 0);
    while (node.inputs.length > 0 && node.primitive !== window) [node] = node.inputs as [typeof node];
    return node.primitive === window;
  };
  const apart = { axes: [0], size: [3], stride: [3], dilation: [1], padding: [[0, 0]] as const };
  assert.equal(uses([6], apart), false);
  assert.equal(uses([7], apart), true, "an element is left over");
  assert.equal(uses([6], { ...apart, stride: [2] }), true);
  assert.equal(uses([6], { ...apart, size: [2], stride: [2], dilation: [2] }), true);
});

test("folding adds every place to the element it was read from: it is the transpose of seeing", () => {
  for (const [shape, windows] of cases) {
    const [x, values] = [stored(...shape), numbers(shape)];
    const through = windowNode(x, windows, 0);
    const [places, weights] = [stored(...through.shape), numbers(through.shape)];
    const folded = foldWindows(places, windows, shape);
    assert.deepEqual(folded.shape, shape);
    const [sight] = plainValues([through], new Map([[x, values]])) as number[][];
    const [back] = plainValues([folded], new Map([[places, weights]])) as number[][];
    const product = (a: readonly number[], b: readonly number[]) => a.reduce((sum, each, i) => sum + each * b[i]!, 0);
    assert.equal(product(sight!, weights), product(values, back!), JSON.stringify(windows));
  }
});

test("folding windows of which there are none gives zeros", () => {
  const windows = { axes: [0], size: [3], stride: [1], dilation: [1], padding: [[0, 0]] as const };
  const node = foldWindows(stored(0, 3), windows, [2]);
  assert.deepEqual(node.shape, [2]);
});

test("padding and gaps of nothing make no node; negative padding cuts off", () => {
  const x = stored(4, 3);
  assert.equal(padNode(x, [0], [[0, 0]], 0), x);
  const values = numbers([4, 3]);
  const cut = padNode(x, [0], [[-1, -2]], 0);
  assert.deepEqual(plainValues([cut], new Map([[x, values]]))[0], values.slice(3, 6));
  const spread = padNode(x, [1], [[1, 0]], 7, [2]);
  assert.deepEqual(spread.shape, [4, 8]);
  assert.deepEqual(plainValues([spread], new Map([[x, values]]))[0]!.slice(0, 8), [
    7,
    values[0],
    7,
    7,
    values[1],
    7,
    7,
    values[2],
  ]);
});
