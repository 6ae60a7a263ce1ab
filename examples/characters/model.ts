/** A small transformer that predicts the next character of a text, its training, and text that it writes. */
import { arange, jit, random, type Tensor, tensor } from "pumice";
import {
  attentionCache,
  type Batches,
  dense,
  dropout,
  embedding,
  type Layer,
  losses,
  optimizers,
  schedules,
  sequential,
  type Trained,
  type TrainingRun,
  train,
  transformerDecoder,
  type VariableTree,
} from "pumice/nn";
import { type Text, windowsOf } from "./text.js";

export interface Size {
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** Characters that a prediction sees at most. */
  readonly context: number;
}

export interface Settings extends Size {
  readonly steps: number;
  readonly batch: number;
  readonly rate: number;
  readonly dropped: number;
  readonly precision: "f32" | "bf16";
  readonly validateEvery: number;
  readonly seed: number;
}

/** Characters [batch, tokens] → scores of the next ones [batch, tokens, characters]. Positions are rotary. */
const modelOf = (characters: number, { width, layers, heads, dropped }: Settings): Layer =>
  sequential({
    characters: embedding(characters, width),
    dropout: dropout(dropped),
    blocks: transformerDecoder(width, { heads, layers, cross: false, rotary: true, dropout: dropped }),
    scores: dense(characters),
  }) as Layer;

interface Batch {
  readonly x: Tensor;
  readonly y: Tensor;
}

/** Windows from random places of a text, drawn on the device. A batch is known by its number. */
function randomWindows(text: Tensor, { context, batch, steps, seed }: Settings): Batches<Batch> {
  const key = random.key(seed);
  const drawn = jit((text: Tensor, i: Tensor): Batch => {
    const starts = random.randint(random.foldIn(key, i), [batch, 1], 0, text.size - context);
    const windows = text.take(starts.add(arange(context + 1, { dtype: "i32" })));
    return { x: windows.at(":", `:${context}`), y: windows.at(":", "1:") };
  });
  return {
    batchesPerEpoch: steps,
    async *epoch(_, from = 0) {
      for (let i = from; i < steps; i++) yield drawn(text, i as never);
    },
  };
}

/**
 * Bits per character, of the second half of each window: windows of the held-out text are half a window apart, so that every
 * character counts once, and is predicted from half a window at least.
 */
function bits(scores: unknown, next: unknown): Tensor {
  const [s, y] = [scores as Tensor, next as Tensor];
  const half = Math.floor((y.shape[1] as number) / 2);
  const late = (x: Tensor): Tensor => x.at(":", `${half}:`);
  return losses.categoricalCrossEntropy(late(s.cast("f32")), late(y), { fromLogits: true }).div(Math.LN2);
}

/** Trains a model on a text. `metrics["validation.bits"]` are the bits per character of the held-out part. */
export function learn(text: Text, settings: Settings): TrainingRun<Trained<Tensor, Tensor>> {
  const { steps, rate, context, precision, validateEvery, seed } = settings;
  const schedule = schedules.oneCycle(rate, Math.max(steps, 20), { rising: 0.05 });
  return train(modelOf(text.characters.length, settings), {
    data: randomWindows(text.training, settings),
    validation: windowsOf(text.heldOut, context, Math.floor(context / 2)),
    validateEvery,
    batchSize: 64,
    loss: ["categoricalCrossEntropy", { fromLogits: true }],
    metrics: { bits },
    optimizer: optimizers.chain(
      optimizers.clipByGlobalNorm(1),
      optimizers.adamw(schedule, { weightDecay: 0.1, decays: [0.9, 0.98], mask: (_, { rank }) => rank > 1 }),
    ),
    precision,
    epochs: 1,
    seed,
  });
}

/**
 * Text that follows a prompt. Keys and values of all characters so far are kept, so that each new one costs a step of one character.
 * They are as many as the model has seen at once in training.
 */
export async function written(
  { model, params }: Trained<Tensor, Tensor>,
  { characters }: Text,
  prompt: string,
  options: { readonly context: number; readonly temperature: number; readonly seed: number },
): Promise<string> {
  const { context, temperature, seed } = options;
  const known = [...prompt].map((character) => characters.indexOf(character)).filter((place) => place >= 0);
  const start = tensor(known, { dtype: "i32", shape: [1, known.length] });
  const key = random.key(seed);
  const step = jit((params: VariableTree, x: Tensor, state: VariableTree, i: Tensor): [Tensor, VariableTree] => {
    const [scores, next] = model.applyWithState(params, x, { state });
    const last = scores.at(":", -1).div(Math.max(temperature, 1e-3));
    // The largest of scores with Gumbel's noise is a draw from their softmax.
    const drawn = last.add(random.gumbel(random.foldIn(key, i), last.shape)).argmax({ axis: -1 });
    return [drawn.cast("i32").reshape(1, 1), next];
  });
  let [drawn, state] = step(params, start, attentionCache(model, start, { capacity: context }), 0 as never);
  const drawns = [drawn];
  for (let i = 1; i < context - known.length; i++) {
    [drawn, state] = step(params, drawn, state, i as never);
    drawns.push(drawn);
  }
  const places = await Promise.all(drawns.map((each) => each.item()));
  return prompt + places.map((place) => characters[Number(place)]).join("");
}
