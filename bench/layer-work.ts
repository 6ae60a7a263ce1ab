/**
 * What layers cost: training steps written with the layers, losses and optimisers of `pumice/nn`, beside the same steps written by
 * hand (bench/training-work.ts, bench/sequence-work.ts). Both start from the same numbers and must arrive at the same losses. The
 * figure is the time of the first over the time of the second, taken in turns.
 */
import { type DType, jit, type Tensor, tree, valueAndGrad } from "../src/index.js";
import {
  activations,
  conv,
  dense,
  flatten,
  type Layer,
  losses,
  maxPool,
  optimizers,
  sequential,
  type VariableTree,
} from "../src/nn/index.js";
import type { Optimizer, OptimizerState } from "../src/nn/optimizers/index.js";
import { key } from "../src/random/index.js";
import { timedSync } from "./harness.js";
import { gptBlock, hashedWeights } from "./model-work.js";
import { isClose } from "./results.js";
import { INPUT_SEED, TARGET_SEED } from "./sequence-loops.js";
import { TRANSFORMER_RATE, type TransformerShape } from "./sequence-work.js";
import { centred, engineOf, repeatsOf, type TensorContext } from "./tensor-work.js";
import { hashedDigits, RATE, type Training, type TrainingWork } from "./training-work.js";

const { relu } = activations;

/** The networks of bench/plain-models.ts. */
export const mlpOfLayers = (): Layer => sequential(dense(256), relu, dense(128), relu, dense(10));
export const cnnOfLayers = (): Layer =>
  sequential(
    (pixels: Tensor) => pixels.reshape(-1, 1, 28, 28),
    conv(32, 3, { padding: "same" }),
    relu,
    maxPool(2),
    conv(64, 3, { padding: "same" }),
    relu,
    maxPool(2),
    flatten(),
    dense(128),
    relu,
    dense(10),
  );

/** A loss of predictions and targets. */
type Loss = (predictions: Tensor, targets: Tensor) => Tensor;

const crossEntropyOfLayers: Loss = (scores, labels) =>
  losses.categoricalCrossEntropy(scores, labels, { fromLogits: true });

/** Everything that a training by layers begins with. */
interface LayeredWork {
  readonly model: Layer;
  readonly params: VariableTree;
  readonly x: Tensor;
  readonly y: Tensor;
  readonly loss: Loss;
  readonly optimizer: Optimizer;
}

/** Parameters in the order in which a model has its layers with parameters: `dense0`, `dense1` … of a sequential one. */
function paramsOf(model: Layer, layers: readonly VariableTree[]): VariableTree {
  const names = Object.entries(model.parts).filter(([, { kind }]) => ["dense", "conv"].includes(kind));
  return Object.fromEntries(names.map(([name], i) => [name, layers[i] as VariableTree]));
}

/** A network of layers on the hashed digits of bench/training-work.ts. */
export function digitsByLayers(device: string, model: Layer, shapes: TrainingWork["shapes"], batch: number) {
  const { pixels, labels, layers } = hashedDigits(device, shapes, batch);
  const params = paramsOf(
    model,
    layers.map((layer) => ({ ...layer })),
  );
  const optimizer = optimizers.adam(RATE);
  return startLayers({ model, params, x: pixels, y: labels, loss: crossEntropyOfLayers, optimizer });
}

/** Transformer blocks on the hashed sequences of bench/sequence-work.ts. */
export function transformerByLayers(device: string, shape: TransformerShape, dtype: DType) {
  const { blocks, width, heads, tokens, batch } = shape;
  const [x, y] = [INPUT_SEED, TARGET_SEED].map((seed) => centred(device, [batch, tokens, width], seed)) as [
    Tensor,
    Tensor,
  ];
  const model = sequential(...Array.from({ length: blocks }, () => gptBlock(width, heads, dtype))) as Layer;
  const params = hashedWeights(device, model.init(key(0, { device }), x).params);
  const loss = (predictions: Tensor, targets: Tensor) => losses.meanSquaredError(predictions, targets);
  return startLayers({ model, params, x, y, loss, optimizer: optimizers.adam(TRANSFORMER_RATE) });
}

/** A training by layers. The step is one jitted function, as users write it. */
function startLayers({ model, params: first, x, y, loss, optimizer }: LayeredWork) {
  const compiled = jit(
    (params: VariableTree, state: OptimizerState, x: Tensor, y: Tensor) => {
      const lossOf = (p: VariableTree) => loss(model.apply(p, x, { training: true }), y);
      const [value, gradients] = valueAndGrad(lossOf)(params);
      const [updates, next] = optimizer.update(gradients, state, params);
      return [optimizers.applyUpdates(params, updates), next, value] as const;
    },
    { donate: [0, 1] },
  );
  let params = first;
  let state = tree.map((each: Tensor) => each.realize(), optimizer.init(params)) as OptimizerState;
  return {
    step(): Tensor {
      let value: Tensor;
      [params, state, value] = compiled(params, state, x, y);
      return value;
    },
    lower: () => compiled.lower(params, state, x, y),
    free() {
      for (const leaf of tree.leaves([params, state])) leaf.dispose();
    },
  };
}

/** Losses that both must arrive at. */
const STEPS = 5;

/** Times of the steps by layers over those of the steps by hand, a ratio for each sample. */
export async function layerRatios(
  context: TensorContext,
  layered: Training,
  byHand: Training,
  relative = 1e-3,
): Promise<number[]> {
  try {
    for (let i = 0; i < STEPS; i++) {
      const [seen, right] = [Number(await layered.step().item()), Number(await byHand.step().item())];
      if (!isClose(seen, right, { relative, floor: 1e-3 }))
        throw new Error(`Step ${i}: the loss by layers is ${seen}, by hand ${right}.`);
    }
    const engine = engineOf(context.tensors);
    const repeats = repeatsOf(context, () => byHand.step().dispose());
    const timed = (training: Training): number => {
      engine.finishSync();
      return timedSync(() => {
        for (let i = 0; i < repeats; i++) training.step().dispose();
        engine.finishSync();
      });
    };
    return await context.sample(() => {
      const [first, second] = [timed(layered), timed(byHand)];
      return first / second;
    });
  } finally {
    layered.free();
    byHand.free();
  }
}
