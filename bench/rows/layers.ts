/**
 * Rows on what layers cost (`layers-…`, `cpu-layers-…`): training steps of `pumice/nn` over the same steps written by hand. The work
 * is in bench/layer-work.ts.
 */
import type { Layer } from "../../src/nn/index.js";
import { cnnOfLayers, digitsByLayers, layerRatios, mlpOfLayers, transformerByLayers } from "../layer-work.js";
import { cnnWork, mlpWork } from "../networks.js";
import type { Row } from "../row.js";
import { startTransformer } from "../sequence-work.js";
import { noteSize } from "../sizes.js";
import type { TensorContext } from "../tensor-work.js";
import { startTraining, type TrainingWork } from "../training-work.js";
import { transformerShape } from "./sequences.js";

const shared = { unit: "×", better: "lower", targets: [{ atMost: 1.03 }] } as const;

const digits = (model: () => Layer, work: TrainingWork, full: number) => (context: TensorContext) => {
  noteSize(context);
  const { tensors: device, halvings } = context;
  const batch = Math.max(16, full >> (2 * halvings));
  return layerRatios(context, digitsByLayers(device, model(), work.shapes, batch), startTraining(device, work, batch));
};

export const layerRows: readonly Row[] = [
  {
    name: "layers-mlp-128",
    title: "training step of an MLP of layers over the same by hand, batch 128",
    ...shared,
    run: digits(mlpOfLayers, mlpWork, 128),
  },
  {
    name: "layers-mlp-4096",
    title: "the same, batch 4096",
    ...shared,
    run: digits(mlpOfLayers, mlpWork, 4096),
  },
  {
    name: "layers-cnn-128",
    title: "training step of a CNN of layers over the same by hand, batch 128",
    ...shared,
    run: digits(cnnOfLayers, cnnWork, 128),
  },
  {
    name: "layers-transformer-bf16",
    title: "training step of four transformer blocks of layers over the same by hand, bf16 with f32 weights",
    ...shared,
    run(context) {
      noteSize(context);
      const [device, shape] = [context.tensors, transformerShape(context)];
      const layered = transformerByLayers(device, shape, "bf16");
      return layerRatios(context, layered, startTransformer(device, shape, "bf16"), 1e-2);
    },
  },
  {
    name: "cpu-layers-mlp-128",
    title: "training step of an MLP of layers over the same by hand, batch 128, on the CPU engine",
    ...shared,
    place: "cpu",
    run: digits(mlpOfLayers, mlpWork, 128),
  },
  {
    name: "cpu-layers-cnn-128",
    title: "training step of a CNN of layers over the same by hand, batch 128, on the CPU engine",
    ...shared,
    place: "cpu",
    run: digits(cnnOfLayers, cnnWork, 128),
  },
];
