/**
 * Models of `pumice/nn` as the rows measure them in training: ResNet-18 in its layout for 32×32 images, and GPT-2 small. Both
 * are written with the library's layers and optimisers, as users write them. They start from hashes of positions, and so do the
 * peers (bench/peers/models.py), which must arrive at the same losses.
 */
import { arange, attention, type DType, jit, type Tensor, tree, valueAndGrad } from "../src/index.js";
import {
  activations,
  attend,
  batchNorm,
  block,
  type Channels,
  conv,
  dense,
  embedding,
  globalAveragePool,
  type Layer,
  layerNorm,
  losses,
  optimizers,
  sequential,
  type VariableTree,
} from "../src/nn/index.js";
import type { Optimizer, OptimizerState } from "../src/nn/optimizers/index.js";
import { key } from "../src/random/index.js";
import { isTensor } from "../src/tensor/index.js";
import { centred, free, positions, type TensorContext } from "./tensor-work.js";
import { type Training, trainingMilliseconds } from "./training-work.js";

/** Seeds of the hash: inputs, targets, and from here on the weights in the order in which the model makes them. */
const [INPUT_SEED, TARGET_SEED, WEIGHT_SEED] = [0, 1, 2];

// ---------------------------------------------------------------------------------------------- ResNet-18

export interface ResNetShape {
  readonly batch: number;
  readonly side: number;
  /** Channels of the first stage. */
  readonly width: number;
  /** Where the channels are; first unless told. */
  readonly channels?: Channels;
}

/** A convolution that keeps the edges, then its norm. */
const convolution = (channels: Channels, filters: number, size = 3, stride = 1): Layer =>
  sequential({
    conv: conv(filters, size, { stride, padding: size >> 1, useBias: false, channels }),
    norm: batchNorm({ channels }),
  });

/** Two convolutions around which the input is added, by a 1×1 convolution where its shape changes. */
function basicBlock(channels: Channels, filters: number, stride: number, isWider: boolean): Layer {
  const parts = { first: convolution(channels, filters, 3, stride), second: convolution(channels, filters) };
  const { relu } = activations;
  if (!isWider) return block(parts, ({ first, second }, x: Tensor) => relu(second(relu(first(x))).add(x)));
  const shortcut = convolution(channels, filters, 1, stride);
  return block({ ...parts, shortcut }, ({ first, second, shortcut }, x: Tensor) =>
    relu(second(relu(first(x))).add(shortcut(x))),
  );
}

/** Four stages of two blocks each, every stage twice as wide as the one before and half its side. */
function resNet18({ width, channels = "first" }: ResNetShape, dtype: DType): Layer {
  const stages = [0, 1, 2, 3].flatMap((stage) => {
    const [filters, stride] = [width << stage, stage > 0 ? 2 : 1];
    return [basicBlock(channels, filters, stride, stage > 0), basicBlock(channels, filters, 1, false)];
  });
  const body = sequential(
    convolution(channels, width),
    activations.relu,
    ...stages,
    globalAveragePool({ channels }),
    dense(10),
  );
  return dtype === "f32" ? body : body.withDTypes({ compute: dtype, output: "f32" });
}

export function startResNet(device: string, shape: ResNetShape, dtype: DType): Training {
  const { batch, side, channels } = shape;
  const model = resNet18(shape, dtype);
  const planes = centred(device, [batch, 3, side, side], INPUT_SEED);
  const images = channels === "last" ? planes.permute(0, 2, 3, 1).realize() : planes;
  const labels = positions(device, batch, 10, TARGET_SEED);
  const { sgd } = optimizers;
  return startTraining(device, model, images, labels, sgd(0.01, { momentum: 0.9 }));
}

/** Milliseconds per step of ResNet-18: forwards, backwards, momentum. */
export function resNetMilliseconds(context: TensorContext, shape: ResNetShape, dtype: DType): Promise<number[]> {
  const closeness = dtype === "f32" ? 2e-3 : 2e-2;
  return modelMilliseconds(context, startResNet(context.tensors, shape, dtype), closeness);
}

// ---------------------------------------------------------------------------------------------- GPT-2

export interface GptShape {
  readonly batch: number;
  readonly tokens: number;
  readonly width: number;
  readonly heads: number;
  readonly blocks: number;
  readonly vocabulary: number;
}

/** A block with the norms in front. The running sum is f32; products and attention are in `dtype`. */
export function gptBlock(width: number, heads: number, dtype: DType): Layer {
  const narrow = (layer: Layer): Layer => layer.withDTypes({ compute: dtype });
  const parts = {
    norm1: layerNorm(),
    projections: narrow(dense(3 * width)),
    output: narrow(dense(width)),
    norm2: layerNorm(),
    up: narrow(dense(4 * width)),
    down: narrow(dense(width)),
  };
  return block(parts, ({ norm1, projections, output, norm2, up, down }, x: Tensor) => {
    const [batch, tokens] = x.shape as [number, number];
    const all = projections(norm1(x))
      .reshape(batch, tokens, 3, heads, width / heads)
      .permute(2, 0, 3, 1, 4);
    const [q, k, v] = [0, 1, 2].map((part) => all.at(part)) as [Tensor, Tensor, Tensor];
    const seen = attention(q, k, v, { causal: true }).permute(0, 2, 1, 3).reshape(batch, tokens, width);
    const between = x.add(output(seen));
    return between.add(down(activations.gelu(up(norm2(between)))));
  });
}

/** Tokens to scores of the next ones; the table of tokens is also the last layer. */
function gpt2({ tokens, width, heads, blocks, vocabulary }: GptShape, dtype: DType): Layer {
  const parts = {
    tokens: embedding(vocabulary, width),
    positions: embedding(tokens, width),
    blocks: sequential(...Array.from({ length: blocks }, () => gptBlock(width, heads, dtype))),
    norm: layerNorm(),
  };
  return block(parts, ({ tokens: table, positions: places, blocks: all, norm }, text: Tensor) => {
    const order = arange(tokens, { dtype: "i32", device: text.device });
    const hidden = norm(all(table(text).add(places(order))));
    return attend(table.params, hidden.cast(dtype) as Tensor);
  });
}

export function startGpt(device: string, shape: GptShape, dtype: DType): Training {
  const { batch, tokens, vocabulary } = shape;
  const [text, next] = [INPUT_SEED, TARGET_SEED].map((seed) =>
    positions(device, batch * tokens, vocabulary, seed)
      .reshape(batch, tokens)
      .realize(),
  ) as [Tensor, Tensor];
  const { adamw } = optimizers;
  return startTraining(device, gpt2(shape, dtype), text, next, adamw(3e-4, { weightDecay: 0 }));
}

/** Milliseconds per step of GPT-2: forwards, backwards, AdamW. */
export function gptMilliseconds(context: TensorContext, shape: GptShape, dtype: DType): Promise<number[]> {
  return modelMilliseconds(context, startGpt(context.tensors, shape, dtype), 5e-3);
}

// ---------------------------------------------------------------------------------------------- training

/** The model's first values with its matrices and kernels replaced by hashes, spread by the number of inputs to a result. */
export function hashedWeights(device: string, params: VariableTree): VariableTree {
  let place = 0;
  const filled = (branch: VariableTree): VariableTree =>
    Object.fromEntries(
      Object.entries(branch).map(([name, value]) => {
        if (!isTensor(value)) return [name, filled(value)];
        if (value.rank < 2) return [name, value];
        const [first, ...rest] = value.shape as [number, ...number[]];
        // Kernels are [filters, channels, height, width], matrices [inputs, results].
        const inputs = value.rank > 2 ? rest.reduce((size, extent) => size * extent, 1) : first;
        const spread = value.rank > 2 ? Math.sqrt(6 / inputs) : 1 / Math.sqrt(inputs);
        return [
          name,
          centred(device, value.shape, WEIGHT_SEED + place++)
            .mul(spread)
            .realize(),
        ];
      }),
    );
  return filled(params);
}

/** A training by the layers and optimisers of the library: one jitted step, whose parameters and states are updated in place. */
function startTraining(device: string, model: Layer, x: Tensor, labels: Tensor, optimizer: Optimizer): Training {
  const start = model.init(key(0, { device }), x);
  let params = hashedWeights(device, start.params);
  let { state } = start;
  let moments = optimizer.init(params);
  const step = jit(
    (params: VariableTree, state: VariableTree, moments: OptimizerState, x: Tensor, labels: Tensor) => {
      const loss = (p: VariableTree): [Tensor, VariableTree] => {
        const [scores, next] = model.applyWithState(p, x, { state, training: true });
        return [losses.categoricalCrossEntropy(scores, labels, { fromLogits: true }), next];
      };
      const [[value, next], gradients] = valueAndGrad(loss, { aux: true })(params);
      const [updates, after] = optimizer.update(gradients, moments, params);
      return [optimizers.applyUpdates(params, updates), next, after, value] as const;
    },
    { donate: [0, 1, 2] },
  );
  return {
    step() {
      let loss: Tensor;
      [params, state, moments, loss] = step(params, state, moments, x, labels);
      return loss;
    },
    free: () => free(device, [x, labels, ...tree.leaves([params, state, moments])]),
  };
}

/** Milliseconds per step. The first losses must fall, and those of the peers must be as close as told. */
function modelMilliseconds(context: TensorContext, training: Training, relative: number): Promise<number[]> {
  const prove = (seen: readonly number[]): void => {
    if (!(seen.at(-1)! < seen[0]!)) throw new Error(`The losses do not fall: ${seen.join(", ")}.`);
  };
  return trainingMilliseconds(context, training, prove, { relative, floor: 1e-3 });
}
