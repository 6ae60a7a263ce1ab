/**
 * LoRA (Hu et al. 2022): a trained network learns something else by small matrices beside its own, which stay as they are. A
 * network that reads digits learns to read them mirrored, from few examples; the matrices are then added to its own. In a clone:
 *
 *     npm run example -- lora
 *
 * The last line is JSON, for programs: what the network reads of mirrored digits before and after, and how many parameters moved.
 */
import { random, type Tensor, tree } from "pumice";
import {
  activations,
  dense,
  type Layer,
  lora,
  mergeLora,
  optimizers,
  schedules,
  sequential,
  train,
  type VariableTree,
} from "pumice/nn";
import { loadDigits } from "./mnist/data.js";
import { settings } from "./settings.js";

const { epochs, limit, few, rank, seed } = settings(
  "lora",
  "a trained network learns mirrored digits by small matrices",
  {
    epochs: [3, "passes over the digits, and ten times as many over the mirrored ones"],
    limit: [60000, "digits to learn from"],
    few: [2000, "mirrored digits to learn from"],
    rank: [8, "rank of the added matrices"],
    seed: [0, "the same seed gives the same weights"],
  },
);

const { relu } = activations;
const model = sequential({ first: dense(256), relu, second: dense(128), again: relu, last: dense(10) });

function learn(network: Layer, x: Tensor, y: Tensor, rounds: number, rate: number, params?: VariableTree) {
  const steps = Math.max(10, rounds * Math.ceil(x.shape[0] / 128));
  return train(network, {
    data: { x, y },
    batchSize: 128,
    loss: ["categoricalCrossEntropy", { fromLogits: true }],
    optimizer: optimizers.adam(schedules.oneCycle(rate, steps)),
    epochs: rounds,
    seed,
    ...(params && { variables: { params, state: {} } }),
  });
}

const pixels = (part: "train" | "test", count: number): { x: Tensor; y: Tensor } => {
  const { images, labels } = loadDigits(part, count);
  return { x: images.cast("f32").div(255).realize(), y: labels };
};
const mirrored = (x: Tensor): Tensor => x.reshape(-1, 28, 28).flip(2).reshape(-1, 784).realize();
const accuracyOf = async (network: Layer, params: VariableTree, x: Tensor, y: Tensor): Promise<number> =>
  Number(await network.apply(params, x).argmax({ axis: -1 }).equal(y).cast("f32").mean().item());

const digits = pixels("train", limit);
const tests = pixels("test", 2000);
const base = await learn(model, digits.x, digits.y, epochs, 4e-3);
const before = await accuracyOf(model, base.params, mirrored(tests.x), tests.y);

// Every dense layer gets two narrow matrices; its own weights go to "base" and stay.
const names = ["first", "second", "last"] as const;
const adapted = names.reduce<Layer>(
  (all, name) => all.replace(name, (layer) => lora(layer as unknown as Layer, { rank }) as never),
  model,
);
const fresh = adapted.init(random.key(seed), [null, 784]).params;
const start = Object.fromEntries(
  names.map((name) => [name, { ...(fresh[name] as VariableTree), base: base.params[name] as VariableTree }]),
);
const tuned = await learn(adapted, mirrored(digits.x.at(`:${few}`)), digits.y.at(`:${few}`), 10 * epochs, 4e-3, start);
const merged = mergeLora(adapted, tuned.params);
const after = await accuracyOf(merged.model as Layer, merged.params, mirrored(tests.x), tests.y);

const sizeOf = (params: VariableTree): number => tree.leaves(params).reduce((sum, leaf) => sum + leaf.size, 0);
const moved = sizeOf(tuned.params) - sizeOf(base.params);
console.log(
  `mirrored digits: ${(100 * before).toFixed(1)} % before, ${(100 * after).toFixed(1)} % after, by ${moved} numbers`,
);
console.log(JSON.stringify({ example: "lora", before, after, moved, parameters: sizeOf(base.params) }));
