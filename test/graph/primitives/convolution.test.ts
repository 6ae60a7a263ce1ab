/** Convolution: its meaning by loops, its derivatives and its batches, and that the cotangent of the input is read in place. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pendingInOrder } from "../../../src/graph/node.js";
import { type ConvolutionParams, convolutionNode } from "../../../src/graph/primitives/convolution.js";
import { g } from "../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, type Input, input, valuesOf } from "../../support/node-rules.js";
import { stored } from "../../support/nodes.js";

const plain: ConvolutionParams = {
  ...{ stride: [1, 1], padding: [[0, 0] as const, [0, 0] as const], dilation: [1, 1], gaps: [0, 0] },
  ...{ groups: 1, isBatch: false },
};

const cases: Record<string, { x: number[]; w: number[]; params: Partial<ConvolutionParams> }> = {
  "without padding": { x: [2, 3, 5, 4], w: [2, 3, 2, 3], params: {} },
  "with uneven padding": {
    x: [1, 2, 4, 5],
    w: [3, 2, 3, 2],
    params: {
      padding: [
        [2, 0],
        [1, 3],
      ],
    },
  },
  "with more padding than the kernel reaches, and a cut": {
    ...{ x: [1, 2, 5, 4], w: [1, 2, 2, 2] },
    params: {
      padding: [
        [3, -1],
        [0, 2],
      ],
    },
  },
  dilated: {
    x: [1, 2, 6, 7],
    w: [2, 2, 2, 3],
    params: {
      dilation: [3, 2],
      padding: [
        [1, 1],
        [2, 2],
      ],
    },
  },
  "in groups of channels": { x: [2, 4, 4, 3], w: [6, 2, 2, 2], params: { groups: 2 } },
  "with steps": { x: [1, 2, 6, 5], w: [2, 2, 3, 2], params: { stride: [2, 3] } },
  "with gaps": {
    x: [1, 2, 3, 3],
    w: [2, 2, 2, 2],
    params: {
      gaps: [1, 2],
      padding: [
        [1, 1],
        [1, 1],
      ],
    },
  },
  "in groups of the batch": { x: [4, 2, 3, 3], w: [4, 2, 2, 2], params: { groups: 2, isBatch: true } },
};

/** By the definition, for channels in groups; input without gaps. */
function byLoops(x: Input, w: Input, { stride, padding, dilation, groups }: ConvolutionParams): number[] {
  const [n, c, height, width] = x.shape as [number, number, number, number];
  const [o, inner, kh, kw] = w.shape as [number, number, number, number];
  const count = (extent: number, size: number, i: 0 | 1) =>
    Math.floor((extent + padding[i]![0] + padding[i]![1] - (size - 1) * dilation[i]! - 1) / stride[i]!) + 1;
  const [rows, columns] = [count(height, kh, 0), count(width, kw, 1)];
  const found: number[] = [];
  for (let b = 0; b < n; b++)
    for (let k = 0; k < o; k++)
      for (let r = 0; r < rows; r++)
        for (let s = 0; s < columns; s++) {
          let sum = 0;
          for (let i = 0; i < inner; i++)
            for (let p = 0; p < kh; p++)
              for (let q = 0; q < kw; q++) {
                const y = r * stride[0]! + p * dilation[0]! - padding[0]![0];
                const z = s * stride[1]! + q * dilation[1]! - padding[1]![0];
                if (y < 0 || z < 0 || y >= height || z >= width) continue;
                const channel = Math.floor(k / (o / groups)) * inner + i;
                sum +=
                  x.values[((b * c + channel) * height + y) * width + z]! *
                  w.values[((k * inner + i) * kh + p) * kw + q]!;
              }
          found.push(sum);
        }
  return found;
}

for (const [name, { x, w, params }] of Object.entries(cases)) {
  describe(`convolution ${name}`, () => {
    const whole = { ...plain, ...params };
    const convolved = (...inputs: Parameters<typeof convolutionNode>[0][]) => {
      const made = convolutionNode(inputs[0]!, inputs[1]!, whole);
      const { primitive } = made;
      return primitive.kind === "composite" ? (primitive.expand(g, made, made.inputs) as typeof made) : made;
    };
    if (!whole.isBatch && whole.gaps.every((gap) => gap === 0)) {
      test("is the sum of products under the kernel", () => {
        const [a, b] = [input(x), input(w)];
        const [got] = valuesOf(convolved, [a, b]);
        byLoops(a, b, whole).forEach((want, i) => {
          assert.ok(Math.abs(got![i]! - want) < 1e-12, `element ${i} is ${got![i]}, not ${want}`);
        });
      });
    }
    test("infers the shape of its definition", () => {
      const made = convolutionNode(stored(...x), stored(...w), whole);
      assert.deepEqual(made.shape, convolved(stored(...x), stored(...w)).shape);
    });
    test("has the derivatives of finite differences", () => {
      checkDerivatives((a, b) => convolutionNode(a!, b!, whole), [input(x), input(w)]);
    });
    test("has batches", () => {
      checkBatches((a, b) => convolutionNode(a!, b!, whole), [input(x), input(w)]);
    });
  });
}

test("without steps and gaps the cotangent of the input is a convolution, not a sum over windows in memory", () => {
  const cotangents = (params: Partial<ConvolutionParams>) => {
    const node = convolutionNode(stored(1, 2, 6, 6), stored(3, 2, 3, 3), { ...plain, ...params });
    const ct = stored(...node.shape);
    const [ofInput] = node.primitive.vjp!(g, node, ct);
    return pendingInOrder([ofInput!]).map(({ primitive }) => primitive.name);
  };
  assert.ok(cotangents({}).includes("conv"));
  assert.ok(!cotangents({ stride: [2, 2] }).includes("conv"));
});
