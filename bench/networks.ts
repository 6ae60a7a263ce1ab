/**
 * The networks whose training is measured: their shapes, and their logits in plain loops of double
 * precision, which the first loss is proved against.
 */
import { cnn, mlp } from "./plain-models.js";
import { pixelsOf, type TrainingWork, weightsOf } from "./training-work.js";

const mlpShapes = [
  [784, 256],
  [256, 128],
  [128, 10],
];

export const mlpWork: TrainingWork = {
  model: mlp,
  shapes: mlpShapes,
  logits: (image) => [...mlpShapes.reduce((x, shape, i) => dense(i === 0 ? x : relu(x), shape, i), pixelsOf(image))],
};

const cnnShapes = [
  [32, 1, 3, 3],
  [64, 32, 3, 3],
  [3136, 128],
  [128, 10],
];

export const cnnWork: TrainingWork = {
  model: cnn,
  shapes: cnnShapes,
  logits(image) {
    const first = pooled(relu(convolved(pixelsOf(image), 28, cnnShapes[0]!, 0)), 28);
    const second = pooled(relu(convolved(first, 14, cnnShapes[1]!, 1)), 14);
    return [...dense(relu(dense(second, cnnShapes[2]!, 2)), cnnShapes[3]!, 3)];
  },
};

const relu = (x: Float64Array): Float64Array => x.map((value) => Math.max(0, value));

function dense(x: Float64Array, shape: readonly number[], layer: number): Float64Array {
  const [inputs, results] = shape as [number, number];
  const weights = weightsOf(shape, layer);
  const y = new Float64Array(results);
  for (let i = 0; i < inputs; i++) for (let j = 0; j < results; j++) y[j]! += x[i]! * weights[i * results + j]!;
  return y;
}

/** 3×3 kernels over squares with zeros around them. */
function convolved(x: Float64Array, side: number, shape: readonly number[], layer: number): Float64Array {
  const [results, channels] = shape as [number, number];
  const weights = weightsOf(shape, layer);
  const y = new Float64Array(results * side * side);
  for (let o = 0; o < results; o++)
    for (let c = 0; c < channels; c++)
      for (let dy = 0; dy < 3; dy++)
        for (let dx = 0; dx < 3; dx++) {
          const weight = weights[((o * channels + c) * 3 + dy) * 3 + dx]!;
          for (let i = Math.max(0, 1 - dy); i < Math.min(side, side + 1 - dy); i++)
            for (let j = Math.max(0, 1 - dx); j < Math.min(side, side + 1 - dx); j++)
              y[(o * side + i) * side + j]! += weight * x[(c * side + i + dy - 1) * side + j + dx - 1]!;
        }
  return y;
}

/** Of each 2×2 pixels the largest. */
function pooled(x: Float64Array, side: number): Float64Array {
  const half = side / 2;
  return Float64Array.from({ length: x.length / 4 }, (_, at) => {
    const [row, column] = [Math.floor(at / half), at % half];
    const corner = 2 * row * side + 2 * column;
    return Math.max(x[corner]!, x[corner + 1]!, x[corner + side]!, x[corner + side + 1]!);
  });
}
