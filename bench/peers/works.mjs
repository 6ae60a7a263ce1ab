/**
 * The work that JavaScript peers do, as bench/rows/tensors.ts and training.ts have it on the CPU engine: the inputs of each
 * row, as typed arrays of the same hash of positions as ours (bench/tensor-work.ts, bench/training-work.ts). How a library
 * computes it is the library's file.
 */

/** 24 bits that look random, of a position and a seed. */
function hashAt(position, seed) {
  const hash = Math.imul(position, 0x9e3779b1) + Math.imul(seed + 1, 0x85ebca6b);
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 8;
}

/** A number in [0, 1) that an f32 holds exactly. */
const uniformAt = (position, seed) => hashAt(position, seed) / 2 ** 24;

function uniform(shape, seed) {
  const values = new Float32Array(shape.reduce((product, extent) => product * extent, 1));
  for (let i = 0; i < values.length; i++) values[i] = uniformAt(i, seed);
  return { shape, values };
}

const edge = (full, { halvings }) => full >> halvings;
const length = (full, { halvings }) => Math.floor(full / 4 ** halvings);

const square = (full) => (pace) => [uniform([edge(full, pace), edge(full, pace)], 0)];
const squares = (full) => (pace) => [0, 1].map((seed) => uniform([edge(full, pace), edge(full, pace)], seed));

export const ADDITIONS = 1000;

/** Training: the learning rate and decays of Adam, and the steps whose losses are compared. */
export const ADAM = { rate: 1e-3, meanDecay: 0.9, squareDecay: 0.999, epsilon: 1e-8 };
export const STEPS = 5;

/**
 * Pixels, labels, and weights and biases in turn of a network. Shapes are of weights: [inputs, results], or of kernels
 * [results, channels, height, width].
 */
function network(shapes, full) {
  return ({ halvings }) => {
    const batch = Math.max(16, Math.floor(full / 4 ** halvings));
    const labels = Int32Array.from({ length: batch }, (_, i) => hashAt(i, 1) % 10);
    const layers = shapes.flatMap((shape, i) => {
      const results = shape.length > 2 ? shape[0] : shape[1];
      const weights = uniform(shape, 2 + i);
      const spread = Math.sqrt((6 * results) / weights.values.length);
      const spreadOut = weights.values.map((value) => (2 * value - 1) * spread);
      return [
        { shape, values: spreadOut },
        { shape: [results], values: new Float32Array(results) },
      ];
    });
    return { pixels: uniform([batch, 784], 0), labels: { shape: [batch], values: labels }, layers };
  };
}

const mlp = [
  [784, 256],
  [256, 128],
  [128, 10],
];
const cnn = [
  [32, 1, 3, 3],
  [64, 32, 3, 3],
  [3136, 128],
  [128, 10],
];

/** By row: the unit, the inputs, and under which name libraries say how it is computed; or what is trained. */
export const WORKS = {
  chain: {
    unit: "ms",
    compute: "chain",
    inputs: (pace) => [0, 1, 2, 3].map((seed) => uniform([length(1e7, pace)], seed)),
  },
  "sum-rows": { unit: "ms", compute: "sumRows", inputs: square(4096) },
  "sum-columns": { unit: "ms", compute: "sumColumns", inputs: square(4096) },
  "sum-all": { unit: "ms", compute: "sumAll", inputs: square(4096) },
  softmax: { unit: "ms", compute: "softmax", inputs: (pace) => [uniform([edge(4096, pace), edge(1024, pace)], 0)] },
  "matmul-256": { unit: "ms", compute: "matmul", inputs: squares(256) },
  "matmul-512": { unit: "ms", compute: "matmul", inputs: squares(512) },
  "matmul-1024": { unit: "ms", compute: "matmul", inputs: squares(1024) },
  "matmul-2048": { unit: "ms", compute: "matmul", inputs: squares(2048) },
  // A whole training step: forwards, backwards, Adam.
  "mlp-128": { unit: "ms", training: network(mlp, 128) },
  "cnn-128": { unit: "ms", training: network(cnn, 128) },
  // Per addition of a chain, each of them computed before the next.
  "adds-1000": { unit: "µs", compute: "additions", inputs: () => [uniform([16], 0), uniform([16], 1)] },
};

const PROBES = 8;

/** Elements spread over a result, the first and the last among them, each once: what the rows compare. */
export function probe(values) {
  const places = Array.from({ length: PROBES }, (_, k) => Math.floor(((values.length - 1) * k) / (PROBES - 1)));
  return [...new Set(places)].map((place) => values[place]);
}
