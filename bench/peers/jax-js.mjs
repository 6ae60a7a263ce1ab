/**
 * jax-js on its WebAssembly backend, jitted. It uses threads where there is a web's Worker; Node has none, so one is made
 * of Node's own threads before jax-js is loaded.
 */
import { resolveObjectURL } from "node:buffer";
import { readFileSync } from "node:fs";
import { Worker as Thread } from "node:worker_threads";
import { ADDITIONS } from "./works.mjs";

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
  const { defaultDevice, init, jit, nn, numpy: np } = await import("@jax-js/jax");
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
