/**
 * TensorFlow.js on its WebAssembly backend with SIMD. In Node it has one thread, whatever it is told. `openThreaded` makes
 * it believe that it is in a browser: it wants its scripts as blobs, which Node's threads cannot read, so they become
 * files; and it takes half the cores it sees, so it is shown twice as many as it is to use.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { dirname, join } from "node:path";
import { ADAM, ADDITIONS } from "./works.mjs";

const require = createRequire(import.meta.url);

export async function open() {
  const tf = require("@tensorflow/tfjs-core");
  require("@tensorflow/tfjs-backend-wasm");
  await tf.setBackend("wasm");
  return library(tf, "wasm, 1 thread");
}

export async function openThreaded(threads) {
  const tf = require("@tensorflow/tfjs-core");
  const wasm = require("@tensorflow/tfjs-backend-wasm");
  const folder = mkdtempSync(join(os.tmpdir(), "pumice-tfjs-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  showCores(2 * threads);
  scriptsAsFiles(folder);
  tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", true);
  wasm.setThreadsCount(threads);
  await tf.setBackend("wasm");
  if (wasm.getThreadsCount() !== threads) throw new Error(`TensorFlow.js took ${wasm.getThreadsCount()} threads.`);
  return library(tf, `wasm, ${threads} threads`);
}

function showCores(count) {
  const [core] = os.cpus();
  os.cpus = () => new Array(count).fill(core);
  syncBuiltinESMExports();
}

function scriptsAsFiles(folder) {
  const asFile = "URL.createObjectURL = ({ path }) => path; URL.revokeObjectURL = () => {};\n";
  const home = dirname(require.resolve("@tensorflow/tfjs-backend-wasm/package.json"));
  let count = 0;
  globalThis.Blob = class {
    constructor(parts, { type }) {
      // Its main script is sent as the text of a bundled function, whose surroundings are missing; the original has them.
      if (type === "text/javascript") this.path = join(home, "wasm-out/tfjs-backend-wasm-threaded-simd.js");
      else {
        this.path = join(folder, `${count++}.js`);
        writeFileSync(this.path, asFile + parts.join(""));
      }
    }
  };
  URL.createObjectURL = ({ path }) => path;
}

function library(tf, device) {
  const compute = {
    chain: (a, b, c, d) => tf.tidy(() => tf.mul(tf.tanh(tf.add(tf.mul(a, b), c)), tf.sigmoid(d))),
    sumRows: (x) => tf.sum(x, 1),
    sumColumns: (x) => tf.tidy(() => tf.sum(x, 0)),
    sumAll: (x) => tf.tidy(() => tf.sum(x)),
    softmax: (x) => tf.tidy(() => tf.softmax(x)),
    matmul: (a, b) => tf.matMul(a, b),
    additions(first, step) {
      let x = tf.add(first, step);
      for (let i = 1; i < ADDITIONS; i++) {
        const next = tf.add(x, step);
        x.dispose();
        x = next;
      }
      return x;
    },
  };
  return {
    version: require("@tensorflow/tfjs-core/package.json").version,
    device,
    put: ({ values, shape }) => tf.tensor(values, shape, "float32"),
    compute: (name, inputs) => compute[name](...inputs),
    training: (work) => training(tf, work),
    values: (tensor) => tensor.dataSync(),
    free: (tensor) => tensor.dispose(),
  };
}

/**
 * A step of its own optimiser on variables. The way back is written out: tfjs-core by itself has no gradients, and what
 * brings them would only add to the time.
 */
function training(tf, { pixels, labels, layers }) {
  const { rate, meanDecay, squareDecay, epsilon } = ADAM;
  const x = tf.tensor(pixels.values, pixels.shape, "float32");
  const y = tf.tidy(() => tf.cast(tf.oneHot(tf.tensor(labels.values, labels.shape, "int32"), 10), "float32"));
  const given = layers.map(({ values, shape }) => tf.tensor(values, shape, "float32"));
  const network = layers[0].shape.length > 2 ? convolutional : dense;
  const variables = tf.tidy(() => network.laidOut(tf, given).map((values) => tf.variable(values)));
  const optimizer = tf.train.adam(rate, meanDecay, squareDecay, epsilon);
  return () =>
    tf.tidy(() => {
      const slopesOf = (logits) => tf.div(tf.sub(tf.softmax(logits), y), pixels.shape[0]);
      const { logits, gradients } = network.run(tf, x, variables, slopesOf);
      optimizer.applyGradients(variables.map(({ name }, i) => ({ name, tensor: gradients[i] })));
      return tf.mean(tf.sub(tf.logSumExp(logits, 1), tf.sum(tf.mul(logits, y), 1)));
    });
}

const dense = {
  laidOut: (_tf, layers) => layers,
  run(tf, x, [w1, b1, w2, b2, w3, b3], slopesOf) {
    const first = tf.relu(tf.add(tf.matMul(x, w1), b1));
    const second = tf.relu(tf.add(tf.matMul(first, w2), b2));
    const logits = tf.add(tf.matMul(second, w3), b3);
    const last = slopesOf(logits);
    const middle = tf.mul(tf.matMul(last, w3, false, true), tf.step(second));
    const front = tf.mul(tf.matMul(middle, w2, false, true), tf.step(first));
    const gradients = [
      [x, front],
      [first, middle],
      [second, last],
    ].flatMap(([input, slope]) => [tf.matMul(input, slope, true), tf.sum(slope, 0)]);
    return { logits, gradients };
  },
};

const POOLS = { filterSize: [2, 2], strides: [2, 2], pad: "valid" };

/** Images have their channels last here, so the weights are put in that order first. */
const convolutional = {
  laidOut: (tf, [w1, b1, w2, b2, w3, b3, w4, b4]) => [
    tf.transpose(w1, [2, 3, 1, 0]),
    b1,
    tf.transpose(w2, [2, 3, 1, 0]),
    b2,
    tf.reshape(tf.transpose(tf.reshape(w3, [64, 7, 7, 128]), [1, 2, 0, 3]), [3136, 128]),
    b3,
    w4,
    b4,
  ],
  run(tf, x, [w1, b1, w2, b2, w3, b3, w4, b4], slopesOf) {
    const images = tf.reshape(x, [-1, 28, 28, 1]);
    const convolved = (input, weights, biases) => tf.relu(tf.add(tf.conv2d(input, weights, 1, "same"), biases));
    const pooled = (input) => tf.maxPool(input, POOLS.filterSize, POOLS.strides, POOLS.pad);
    const first = convolved(images, w1, b1);
    const seen = pooled(first);
    const second = convolved(seen, w2, b2);
    const last = pooled(second);
    const flat = tf.reshape(last, [-1, 3136]);
    const hidden = tf.relu(tf.add(tf.matMul(flat, w3), b3));
    const logits = tf.add(tf.matMul(hidden, w4), b4);

    const slope4 = slopesOf(logits);
    const slope3 = tf.mul(tf.matMul(slope4, w4, false, true), tf.step(hidden));
    const beforePool = (slope, input, output) =>
      tf.mul(tf.engine().runKernel("MaxPoolGrad", { dy: slope, input, output }, POOLS), tf.step(input));
    const slope2 = beforePool(tf.reshape(tf.matMul(slope3, w3, false, true), last.shape), second, last);
    const slope1 = beforePool(tf.conv2dTranspose(slope2, w2, seen.shape, 1, "same"), first, seen);
    // The backend has no kernel for the gradient of weights: it is a convolution of the images by the slopes, whose
    // channels are the images of the batch.
    const ofWeights = (input, slope) => {
      const byPixel = tf.conv2d(tf.transpose(input, [3, 1, 2, 0]), tf.transpose(slope, [1, 2, 0, 3]), 1, 1);
      return tf.transpose(byPixel, [1, 2, 0, 3]);
    };
    const gradients = [
      ofWeights(images, slope1),
      tf.sum(slope1, [0, 1, 2]),
      ofWeights(seen, slope2),
      tf.sum(slope2, [0, 1, 2]),
      tf.matMul(flat, slope3, true),
      tf.sum(slope3, 0),
      tf.matMul(hidden, slope4, true),
      tf.sum(slope4, 0),
    ];
    return { logits, gradients };
  },
};
