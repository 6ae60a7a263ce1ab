/**
 * Rows on networks over sequences, on the GPU beside PyTorch and JAX: training steps of transformer blocks
 * (`transformer-…`) and an LSTM (`lstm-…`). The work is in bench/sequence-work.ts, the peers' in bench/peers/sequences.py.
 */
import { type DType, type MatmulPrecision, setMatmulPrecision } from "../../src/index.js";
import type { Row } from "../row.js";
import {
  type LstmShape,
  lstmForward,
  lstmGradient,
  type TransformerShape,
  transformerMilliseconds,
} from "../sequence-work.js";
import { atLeastOne, edge, noteSize, pythonPeers, timeOf, to } from "../sizes.js";
import type { TensorContext } from "../tensor-work.js";

const inMilliseconds = { unit: "ms", better: "lower" } as const;

export const transformerShape = (context: TensorContext): TransformerShape => ({
  blocks: 4,
  width: edge(768, context),
  heads: 12,
  tokens: edge(512, context),
  batch: atLeastOne(8, context),
});

const transformer = (dtype: DType, title: string, ratio: number, precision: MatmulPrecision = "highest"): Row => ({
  name: `transformer-${dtype}${precision === "highest" ? "" : `-${precision}`}`,
  title,
  ...inMilliseconds,
  targets: [to(ratio, "torch graph", "jax")],
  peers: {
    "torch graph": `torch/transformer-${dtype}-graph`,
    "torch eager": `torch/transformer-${dtype}-eager`,
    jax: `jax/transformer-${dtype}`,
  },
  async run(context) {
    noteSize(context);
    // Read when the step is traced, and part of it from then on.
    setMatmulPrecision(precision);
    try {
      return await transformerMilliseconds(context, transformerShape(context), dtype);
    } finally {
      setMatmulPrecision("highest");
    }
  },
});

const lstmShape = (context: TensorContext): LstmShape => ({
  steps: edge(64, context),
  batch: edge(128, context),
  width: edge(512, context),
});

const BLOCKS = "training step of four transformer blocks (768 wide, 12 heads, 512 tokens, batch 8)";

export const sequenceRows: readonly Row[] = [
  transformer("f32", `${BLOCKS}, Adam, f32`, 1),
  transformer("f32", `${BLOCKS}, Adam, f32 at precision "high"`, 1.3, "high"),
  transformer("bf16", `${BLOCKS}, Adam, bf16 with f32 master weights`, 0.45),
  {
    name: "lstm-forward",
    title: "LSTM of 512 over 64 steps, batch 128, f32",
    ...inMilliseconds,
    targets: [to(1.3, "torch", "jax")],
    peers: pythonPeers("lstm-forward"),
    run: timeOf((device, context) => lstmForward(device, lstmShape(context))),
  },
  {
    name: "lstm-gradient",
    title: "LSTM of 512 over 64 steps, batch 128, f32: gradients by its weights",
    ...inMilliseconds,
    targets: [to(1, "torch", "jax")],
    peers: pythonPeers("lstm-gradient"),
    run: timeOf((device, context) => lstmGradient(device, lstmShape(context))),
  },
];
