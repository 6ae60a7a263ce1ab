/**
 * ONNX Runtime for Node: native code with the processor's widest vectors, the measure of what a CPU can do. It runs models
 * only, so each computation is a model of a few nodes, written here in the protocol buffers of ONNX.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** By computation: the inputs' names, and nodes as [operator, inputs, output]; the last output is the result. */
const GRAPHS = {
  matmul: { inputs: ["a", "b"], nodes: [["MatMul", ["a", "b"], "y"]] },
  softmax: { inputs: ["x"], nodes: [["Softmax", ["x"], "y"]] },
  chain: {
    inputs: ["a", "b", "c", "d"],
    nodes: [
      ["Mul", ["a", "b"], "ab"],
      ["Add", ["ab", "c"], "sum"],
      ["Tanh", ["sum"], "left"],
      ["Sigmoid", ["d"], "right"],
      ["Mul", ["left", "right"], "y"],
    ],
  },
};

export async function open(threads) {
  const ort = require("onnxruntime-node");
  const options = { intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: "sequential" };
  const sessions = new Map();
  /** A session, and memory for its result: fresh memory in every run would cost more than the work. */
  const sessionOf = async (name, tensors) => {
    const key = `${name} ${tensors.map(({ dims }) => dims.join("×"))}`;
    if (!sessions.has(key)) {
      const session = await ort.InferenceSession.create(modelOf(GRAPHS[name], tensors), options);
      const { y } = await session.run(feedsOf(name, tensors));
      sessions.set(key, { session, y: new ort.Tensor("float32", new Float32Array(y.data), y.dims) });
    }
    return sessions.get(key);
  };
  const feedsOf = (name, tensors) => Object.fromEntries(GRAPHS[name].inputs.map((input, i) => [input, tensors[i]]));
  return {
    version: require("onnxruntime-node/package.json").version,
    device: `native code, ${threads} threads`,
    put: ({ values, shape }) => new ort.Tensor("float32", values, shape),
    async compute(name, inputs) {
      if (!GRAPHS[name]) throw new Error(`bench/peers/onnxruntime.mjs has no model for ${name}`);
      const { session, y } = await sessionOf(name, inputs);
      return (await session.run(feedsOf(name, inputs), { y })).y;
    },
    values: (tensor) => tensor.data,
    free: () => {},
  };
}

// ---------------------------------------------------------------------------------------------- the format

const [IR_VERSION, OPSET, FLOAT] = [8, 17, 1];

/** A field by its number: a whole number, a text, or bytes. */
function field(number, value) {
  if (typeof value === "number") return [...varint(number << 3), ...varint(value)];
  const bytes = typeof value === "string" ? [...new TextEncoder().encode(value)] : value;
  return [...varint((number << 3) | 2), ...varint(bytes.length), ...bytes];
}

function varint(value) {
  const bytes = [];
  for (; value > 0x7f; value = Math.floor(value / 128)) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value];
}

/** A name with its type: f32 of a shape, or of any where none is given. */
function described(name, shape) {
  const extents = shape ? field(2, shape.flatMap((extent) => field(1, field(1, extent)))) : [];
  return [...field(1, name), ...field(2, field(1, [...field(1, FLOAT), ...extents]))];
}

function modelOf({ inputs, nodes }, tensors) {
  const graph = [
    ...nodes.flatMap(([operator, given, made]) =>
      field(1, [...given.flatMap((input) => field(1, input)), ...field(2, made), ...field(4, operator)]),
    ),
    ...field(2, "work"),
    ...inputs.flatMap((input, i) => field(11, described(input, tensors[i].dims))),
    ...field(12, described("y")),
  ];
  return Uint8Array.from([...field(1, IR_VERSION), ...field(7, graph), ...field(8, field(2, OPSET))]);
}
