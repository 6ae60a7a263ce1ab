/** The way of samples through grown trees: from the root of every tree to a leaf. */
import type { Node } from "../../../graph/node.js";
import { BINS } from "../../../graph/primitives/trees.js";
import type { Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { Routine } from "../../target/routine.js";
import { indices } from "./codes.js";

/** Words of a set of categories. */
const SET_WORDS = 8;

export const treeLeavesRoutine: Routine = (node) => {
  const [x] = node.inputs;
  return {
    temporaries: [],
    steps: [
      {
        kernel: leavesKernel(node),
        buffers: [...node.inputs.map((_, index) => ({ kind: "input", index }) as const), { kind: "result" }],
        formula: (names) => `${names.at(-1)}[i, t] = leaf of ${names[0]}[i] in tree t, of ${x.shape[1]} features`,
      },
    ],
  };
};

function leavesKernel({ inputs, params }: Node) {
  const [x, feature, , , , , categories] = inputs;
  const [samples, features] = x.shape;
  const [trees, nodes] = feature.shape;
  const type = x.dtype as "f32" | "f64";
  const k = new KernelBuilder(`tree leaves[${samples}×${trees}]`, samples * trees);
  const { i, add, times } = indices(k);
  const source = k.buffer(type, false);
  const [featureOf, thresholds] = [k.buffer("i32", false), k.buffer(type, false)];
  const [lefts, rights, missings] = [k.buffer("i32", false), k.buffer("i32", false), k.buffer("i32", false)];
  const sets = categories ? k.buffer("u32", false) : -1;
  const out = k.buffer("i32", true);
  // Trees are the outer axis of rows: neighbours walk the same tree, whose nodes are in the cache then.
  const [tree, sample] = [k.binary("idiv", k.row, i(samples)), k.binary("irem", k.row, i(samples))];
  const root = times(tree, nodes);
  const step = (at: Value): Value => {
    const node = add(root, at);
    const value = k.load(source, add(times(sample, features), k.load(featureOf, node, "i32")), type);
    const isMissing = k.compare("ne", value, value);
    const isBelow = k.compare("le", value, k.load(thresholds, node, type));
    const isKnownLeft = categories ? inSet(k, sets, node, value, isMissing, isBelow) : isBelow;
    const goesLeft = k.select(isMissing, k.compare("ne", k.load(missings, node, "i32"), i(0)), isKnownLeft);
    return k.select(goesLeft, k.load(lefts, node, "i32"), k.load(rights, node, "i32"));
  };
  const depth = params.depth as number;
  const isLeaf = (at: Value) => k.compare("lt", k.load(lefts, add(root, at), "i32"), i(0));
  const [leaf] =
    depth === 0
      ? [i(0)]
      : k.when(
          isLeaf(i(0)),
          () => [i(0)],
          () => k.loop(depth, [i(0)], (_, [at]) => [step(at)], { exitWhen: ([at]) => isLeaf(at) }),
        );
  k.store(out, add(times(sample, trees), tree), leaf);
  return k.finish();
}

/** Whether a category goes left; nodes without a set go by their threshold. */
function inSet(k: KernelBuilder, sets: number, node: Value, value: Value, isMissing: Value, isBelow: Value): Value {
  const { i, add, times } = indices(k);
  const words = Array.from({ length: SET_WORDS }, (_, w) => k.load(sets, add(times(node, SET_WORDS), i(w)), "u32"));
  const isSet = k.compare(
    "ne",
    words.reduce((all, word) => k.binary("or", all, word)),
    k.constant("u32", 0),
  );
  const zero = k.constant(value.type, 0);
  const within = k.binary(
    "max",
    zero,
    k.binary("min", k.constant(value.type, BINS - 1), k.select(isMissing, zero, value)),
  );
  const category = k.convert("i32", within);
  const word = k.load(sets, add(times(node, SET_WORDS), k.binary("shr", category, i(5))), "u32");
  const bit = k.binary(
    "and",
    k.binary("shr", word, k.bitcast("u32", k.binary("and", category, i(31)))),
    k.constant("u32", 1),
  );
  return k.select(isSet, k.compare("ne", bit, k.constant("u32", 0)), isBelow);
}
