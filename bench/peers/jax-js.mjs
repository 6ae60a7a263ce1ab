/**
 * jax-js on its WebAssembly backend, jitted. It uses threads where there is a web's Worker; Node has none, so one is made
 * of Node's own threads before jax-js is loaded.
 */
import { resolveObjectURL } from "node:buffer";
import { readFileSync } from "node:fs";
import { Worker as Thread } from "node:worker_threads";
import { ADAM, ADDITIONS } from "./works.mjs";

const WEB_SCOPE = `
const { parentPort } = require("node:worker_threads");
globalThis.self = globalThis;
globalThis.postMessage = (message) => parentPort.postMessage(message);
parentPort.on("message", (data) => self.onmessage({ data }));
`;

/** As much of the web's Worker as jax-js uses: a script in a blob, and messages. */
class WebWorker {
  constructor(url) {
    this.started = resolveObjectURL(url)
      .text()
      .then((script) => {
        this.thread = new Thread(WEB_SCOPE + script, { eval: true });
        this.thread.unref();
        this.thread.on("message", (data) => this.onmessage({ data }));
        this.thread.on("error", (error) => this.onerror(error));
      });
  }

  postMessage(message) {
    if (this.thread) this.thread.postMessage(message);
    else this.started.then(() => this.thread.postMessage(message));
  }
}

export async function open(threads) {
  globalThis.Worker = WebWorker;
  Object.defineProperty(globalThis, "navigator", { value: { hardwareConcurrency: threads }, configurable: true });
  const jax = await import("@jax-js/jax");
  const { defaultDevice, init, jit, nn, numpy: np } = jax;
  await init("wasm");
  defaultDevice("wasm");
  const add = jit((a, b) => a.add(b));
  const compute = {
    chain: jit((a, b, c, d) => np.tanh(a.mul(b).add(c)).mul(nn.sigmoid(d))),
    sumRows: jit((x) => np.sum(x, 1)),
    sumColumns: jit((x) => np.sum(x, 0)),
    sumAll: jit((x) => np.sum(x)),
    softmax: jit((x) => nn.softmax(x, -1)),
    matmul: jit((a, b) => np.matmul(a, b)),
  };
  return {
    version: JSON.parse(readFileSync(new URL("./node_modules/@jax-js/jax/package.json", import.meta.url))).version,
    device: `wasm, ${threads} threads`,
    async put({ values, shape }) {
      const array = np.array(values).reshape(shape);
      await array.blockUntilReady();
      return array;
    },
    /** jax-js consumes what it is given, unless told to keep it. */
    async compute(name, inputs) {
      if (name === "additions") return await additions(add, inputs);
      const result = compute[name](...inputs.map((input) => input.ref));
      await result.blockUntilReady();
      return result;
    },
    training: (work) => training(jax, work),
    values: (array) => array.ref.data(),
    free: (array) => array.dispose(),
  };
}

async function additions(add, [first, step]) {
  let x = add(first.ref, step.ref);
  for (let i = 1; i < ADDITIONS; i++) {
    await x.blockUntilReady();
    x = add(x, step.ref);
  }
  await x.blockUntilReady();
  return x;
}

/** A jitted step on weights, moments and a batch. What is used twice is kept with `.ref`. */
function training({ jit, nn, numpy: np, valueAndGrad }, { pixels, labels, layers }) {
  const { rate, meanDecay, squareDecay, epsilon } = ADAM;
  const put = ({ values, shape }, dtype = np.float32) => np.array(values, { dtype }).reshape(shape);
  const loss = ([w1, b1, w2, b2, w3, b3], x, y) => {
    const first = nn.relu(np.matmul(x, w1).add(b1));
    const second = nn.relu(np.matmul(first, w2).add(b2));
    const logits = np.matmul(second, w3).add(b3);
    const chosen = nn.logSoftmax(logits, -1).mul(nn.oneHot(y, 10));
    return np.sum(chosen, -1).mean().neg();
  };
  const step = jit((p, m, v, meanReached, squareReached, x, y) => {
    const [value, gradient] = valueAndGrad(loss)(
      p.map((w) => w.ref),
      x,
      y,
    );
    const mean = m.map((a, i) => a.mul(meanDecay).add(gradient[i].ref.mul(1 - meanDecay)));
    const square = v.map((a, i) => a.mul(squareDecay).add(np.square(gradient[i]).mul(1 - squareDecay)));
    const moved = p.map((w, i) => {
      const size = np.sqrt(square[i].ref.div(squareReached.ref)).add(epsilon);
      return w.sub(mean[i].ref.div(meanReached.ref).mul(rate).div(size));
    });
    return [moved, mean, square, value];
  });
  const [x, y] = [put(pixels), put(labels, np.int32)];
  let p = layers.map((layer) => put(layer));
  let m = p.map((w) => np.zerosLike(w.ref));
  let v = p.map((w) => np.zerosLike(w.ref));
  let count = 0;
  return async () => {
    count++;
    const reached = [meanDecay, squareDecay].map((decay) => np.array(1 - decay ** count));
    let value;
    [p, m, v, value] = step(p, m, v, ...reached, x.ref, y.ref);
    await value.blockUntilReady();
    await p[0].blockUntilReady();
    return value;
  };
}
