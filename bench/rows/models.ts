/**
 * Rows on models of `pumice/nn`, on the GPU beside PyTorch: training steps of ResNet-18 (`model-resnet-…`) and GPT-2
 * (`model-gpt2-…`). The work is in bench/model-work.ts, the peers' in bench/peers/models.py.
 */
import type { DType } from "../../src/index.js";
import { gptMilliseconds, resNetMilliseconds } from "../model-work.js";
import type { Row } from "../row.js";
import { atLeastOne, edge, noteSize, to } from "../sizes.js";

const row = (name: string, title: string, ratio: number, run: Row["run"]): Row => ({
  name: `model-${name}`,
  title,
  unit: "ms",
  better: "lower",
  targets: [to(ratio, "torch graph")],
  peers: { "torch graph": `torch/${name}-graph`, "torch eager": `torch/${name}-eager` },
  run(context) {
    noteSize(context);
    return run(context);
  },
});

const resNet = (dtype: DType, title: string, ratio: number): Row =>
  row(
    `resnet-${dtype}`,
    `training step of ResNet-18 on 32×32 images, batch 256, momentum, ${title}`,
    ratio,
    (context) =>
      resNetMilliseconds(context, { batch: atLeastOne(256, context), side: 32, width: edge(64, context) }, dtype),
  );

export const modelRows: readonly Row[] = [
  resNet("f32", "f32", 0.9),
  resNet("bf16", "bf16 with f32 weights", 0.4),
  row(
    "gpt2-bf16",
    "training step of GPT-2 small (124 M; vocabulary padded to 50304), 8 × 1024 tokens, AdamW, bf16 with f32 weights",
    0.4,
    (context) =>
      gptMilliseconds(
        context,
        {
          batch: atLeastOne(8, context),
          tokens: edge(1024, context),
          width: edge(768, context),
          heads: 12,
          blocks: context.halvings > 0 ? 2 : 12,
          vocabulary: edge(50304, context),
        },
        "bf16",
      ),
  ),
];
