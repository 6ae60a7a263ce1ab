/**
 * Ways through trees. `routeRows` sends rows of codes to their next node while a tree grows; `treeLeaves` walks samples from the
 * root of every tree to a leaf.
 */
import type { Node } from "../../../graph/node.js";
import { BINS } from "../../../graph/primitives/trees.js";
import type { Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { Routine } from "../../target/routine.js";
import { codeIn, indices } from "./histogram.js";

/** Words of a set of categories. */
const SET_WORDS = 8;

export const routeRowsRoutine: Routine = ({ inputs: [codes] }) => {
  const rows = codes.shape[1];
  const k = new KernelBuilder(`route rows[${rows}]`, rows);
  const { i, add, times } = indices(k);
  const [words, nodes, splitOf] = [k.buffer("u32", false), k.buffer("i32", false), k.buffer("i32", false)];
  const [splits, goesLeft, out] = [k.buffer("i32", false), k.buffer("u8", false), k.buffer("i32", true)];
  const node = k.load(nodes, k.row, "i32");
  const split = k.load(splitOf, node, "i32");
  const [next] = k.when(
    k.compare("ge", split, i(0)),
    () => {
      const feature = k.load(splits, times(split, 2), "i32");
      const child = k.load(splits, add(times(split, 2), i(1)), "i32");
      const word = k.binary("shr", feature, i(2));
      const packed = k.load(words, add(times(word, rows), k.row), "u32");
      const code = codeIn(k, packed, k.binary("and", feature, i(3)));
      const isLeft = k.compare("ne", k.load(goesLeft, add(times(split, BINS), code), "u32"), k.constant("u32", 0));
      return [k.select(isLeft, child, add(child, i(1)))];
    },
    () => [node],
  );
  k.store(out, k.row, next);
  return {
    temporaries: [],
    steps: [
      {
        kernel: k.finish(),
        buffers: [...[0, 1, 2, 3, 4].map((index) => ({ kind: "input", index }) as const), { kind: "result" }],
        formula: (names) => `${names.at(-1)}[i] = child of ${names[1]}[i]`,
      },
    ],
  };
};

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
