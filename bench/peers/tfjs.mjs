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
  const variables = layers.map(({ values, shape }) => tf.variable(tf.tensor(values, shape, "float32")));
  const optimizer = tf.train.adam(rate, meanDecay, squareDecay, epsilon);
  return () =>
    tf.tidy(() => {
      const [w1, b1, w2, b2, w3, b3] = variables;
      const first = tf.relu(tf.add(tf.matMul(x, w1), b1));
      const second = tf.relu(tf.add(tf.matMul(first, w2), b2));
      const logits = tf.add(tf.matMul(second, w3), b3);
      const loss = tf.mean(tf.sub(tf.logSumExp(logits, 1), tf.sum(tf.mul(logits, y), 1)));
      const last = tf.div(tf.sub(tf.softmax(logits), y), pixels.shape[0]);
      const middle = tf.mul(tf.matMul(last, w3, false, true), tf.step(second));
      const front = tf.mul(tf.matMul(middle, w2, false, true), tf.step(first));
      const gradients = [
        [x, front],
        [first, middle],
        [second, last],
      ].flatMap(([input, slope]) => [tf.matMul(input, slope, true), tf.sum(slope, 0)]);
      optimizer.applyGradients(variables.map(({ name }, i) => ({ name, tensor: gradients[i] })));
      return loss;
    });
}
