/**
 * Where the rows stand while a tree grows, for each target in a form of its own that only the kernels here and those of histograms
 * read. A GPU keeps the node of each row. A CPU keeps rows listed by node, so that only those of the nodes that are split, or summed, are
 * read: each chunk of rows is listed by itself, rows in the order that they had, and behind the list stands where each node begins and ends.
 */
import type { Node } from "../../../graph/node.js";
import { BINS, standingOf } from "../../../graph/primitives/trees.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import type { Routine, RoutinePlan } from "../../target/routine.js";
import { codeIn, indices } from "./codes.js";

/** Rows are listed by node where a thread is one lane. */
export const isListed = ({ maxLanes }: TargetProfile): boolean => maxLanes === 1;

const plan = (node: Node, kernel: Kernel, formula: (names: readonly string[]) => string): RoutinePlan => ({
  temporaries: [],
  steps: [
    {
      kernel,
      buffers: [...node.inputs.map((_, index) => ({ kind: "input", index }) as const), { kind: "result" }],
      formula,
    },
  ],
});

/** Places of a list: where each chunk begins, and where a node's rows begin and end in it, counted from there. */
export function placesOf(k: KernelBuilder, rows: number, nodes: number) {
  const { chunks, length } = standingOf(rows, nodes);
  const { i, add, times } = indices(k);
  return {
    chunks,
    length,
    first: (chunk: Value) => times(chunk, length),
    begin: (chunk: Value, node: Value) => add(times(add(times(chunk, nodes), node), 2), i(chunks * length)),
  };
}

// ---------------------------------------------------------------------------------------------- the root

export const rootRowsRoutine: Routine = (node, profile) => {
  const rows = node.inputs[0].shape[1];
  const kernel = isListed(profile) ? rootListKernel(rows) : rootKernel(rows);
  return plan(node, kernel, (names) => `${names.at(-1)} = all rows at the root`);
};

function rootKernel(rows: number) {
  const k = new KernelBuilder(`root rows[${rows}]`, rows);
  k.buffer("u32", false);
  k.store(k.buffer("i32", true), k.row, k.constant("i32", 0));
  return k.finish();
}

function rootListKernel(rows: number) {
  const { chunks, length } = standingOf(rows, 1);
  const k = new KernelBuilder(`list root[${rows}]`, chunks);
  const { i, add } = indices(k);
  k.buffer("u32", false);
  const out = k.buffer("i32", true);
  const { first, begin } = placesOf(k, rows, 1);
  const start = first(k.row);
  k.loop(length, [], (at) => {
    k.store(out, add(start, at), add(start, at));
    return [];
  });
  const end = k.binary("max", i(0), k.binary("min", i(length), k.binary("sub", i(rows), start)));
  k.store(out, begin(k.row, i(0)), i(0));
  k.store(out, add(begin(k.row, i(0)), i(1)), end);
  return k.finish();
}

// ---------------------------------------------------------------------------------------------- splits

export const routeRowsRoutine: Routine = (node, profile) =>
  plan(
    node,
    isListed(profile) ? partKernel(node) : routeKernel(node.inputs[0].shape[1]),
    (names) => `${names.at(-1)}[i] = child of ${names[1]}[i]`,
  );

/** What the kernels of splits are given, and whether a row goes left. */
function splitBuffers(k: KernelBuilder, rows: number) {
  const { i, add, times } = indices(k);
  const [words, standing, splitOf] = [k.buffer("u32", false), k.buffer("i32", false), k.buffer("i32", false)];
  const [splits, goesLeft, out] = [k.buffer("i32", false), k.buffer("u8", false), k.buffer("i32", true)];
  return {
    ...{ standing, splitOf, out },
    childOf: (split: Value) => k.load(splits, add(times(split, 2), i(1)), "i32"),
    /** 1 or 0. */
    isLeft(split: Value) {
      const feature = k.load(splits, times(split, 2), "i32");
      const word = times(k.binary("shr", feature, i(2)), rows);
      const place = k.binary("and", feature, i(3));
      const table = times(split, BINS);
      return (row: Value): Value => {
        const code = codeIn(k, k.load(words, add(word, row), "u32"), place);
        return k.bitcast("i32", k.load(goesLeft, add(table, code), "u32"));
      };
    },
  };
}

function routeKernel(rows: number) {
  const k = new KernelBuilder(`route rows[${rows}]`, rows);
  const { i, add } = indices(k);
  const { standing, splitOf, out, childOf, isLeft } = splitBuffers(k, rows);
  const node = k.load(standing, k.row, "i32");
  const split = k.load(splitOf, node, "i32");
  const [next] = k.when(
    k.compare("ge", split, i(0)),
    () => {
      const child = childOf(split);
      return [k.select(k.compare("ne", isLeft(split)(k.row), i(0)), child, add(child, i(1)))];
    },
    () => [node],
  );
  k.store(out, k.row, next);
  return k.finish();
}

/** Nodes that are split lose their rows to their children, those on the left first. */
function partKernel({ inputs: [codes, before, splitOfNode] }: Node) {
  const rows = codes.shape[1];
  const nodes = splitOfNode.shape[0];
  const chunks = standingOf(rows, nodes).chunks;
  const k = new KernelBuilder(`part rows[${rows}]`, chunks);
  const { i, add } = indices(k);
  const { standing, splitOf, out, childOf, isLeft } = splitBuffers(k, rows);
  const { length, first, begin } = placesOf(k, rows, nodes);
  const known = (before.shape[0] - chunks * length) / (2 * chunks);
  const beginBefore = placesOf(k, rows, known).begin;
  const start = first(k.row);
  const right = k.array("i32", length);
  k.loop(length, [], (at) => {
    k.store(out, add(start, at), k.load(standing, add(start, at), "i32"));
    return [];
  });
  const setRange = (node: Value, from: Value, to: Value) => {
    k.store(out, begin(k.row, node), from);
    k.store(out, add(begin(k.row, node), i(1)), to);
  };
  const rangeOf = (node: Value) => {
    const at = beginBefore(k.row, node);
    return [k.load(standing, at, "i32"), k.load(standing, add(at, i(1)), "i32")] as const;
  };
  k.loop(known, [], (node) => {
    const [from, to] = rangeOf(node);
    setRange(node, from, to);
    return [];
  });
  if (nodes > known) {
    k.loop(nodes - known, [], (more) => {
      setRange(add(more, i(known)), i(0), i(0));
      return [];
    });
  }
  k.loop(known, [], (node) => {
    const split = k.load(splitOf, node, "i32");
    k.when(k.compare("ge", split, i(0)), () => {
      const [from, to] = rangeOf(node);
      const goesLeft = isLeft(split);
      const child = childOf(split);
      const [middle] = k.when(
        k.compare("gt", to, from),
        () => {
          // Both sides are written, and the place goes on where it was the right one: faster than a branch.
          const [, left, count] = k.loop(
            length,
            [from, from, i(0)],
            (_, [at, left, count]) => {
              const row = k.load(standing, add(start, at), "i32");
              const is = goesLeft(row);
              k.store(out, add(start, left), row);
              k.set(right, count, row);
              return [add(at, i(1)), add(left, is), add(count, k.binary("sub", i(1), is))];
            },
            { exitWhen: ([at]) => k.compare("ge", at, to) },
          );
          k.when(k.compare("gt", count, i(0)), () => {
            k.loop(
              length,
              [i(0)],
              (_, [at]) => {
                k.store(out, add(start, add(left, at)), k.get(right, at));
                return [add(at, i(1))];
              },
              { exitWhen: ([at]) => k.compare("ge", at, count) },
            );
            return [];
          });
          return [left];
        },
        () => [from],
      );
      setRange(child, from, middle);
      setRange(add(child, i(1)), middle, to);
      setRange(node, from, from);
      return [];
    });
    return [];
  });
  return k.finish();
}

// ---------------------------------------------------------------------------------------------- the nodes of rows

export const nodesOfRowsRoutine: Routine = (node, profile) => {
  const { params, inputs } = node;
  const rows = params.rows as number;
  const kernel = isListed(profile) ? nodesKernel(rows, inputs[0].shape[0]) : copyKernel(rows);
  return plan(node, kernel, ([standing, out]) => `${out}[i] = node of row i by ${standing}`);
};

function copyKernel(rows: number) {
  const k = new KernelBuilder(`nodes of rows[${rows}]`, rows);
  const standing = k.buffer("i32", false);
  k.store(k.buffer("i32", true), k.row, k.load(standing, k.row, "i32"));
  return k.finish();
}

function nodesKernel(rows: number, size: number) {
  const { chunks, length } = standingOf(rows, 1);
  const nodes = (size - chunks * length) / (2 * chunks);
  const k = new KernelBuilder(`nodes of rows[${rows}]`, chunks);
  const { i, add } = indices(k);
  const [standing, out] = [k.buffer("i32", false), k.buffer("i32", true)];
  const { first, begin } = placesOf(k, rows, nodes);
  const start = first(k.row);
  k.loop(nodes, [], (node) => {
    const at = begin(k.row, node);
    const [from, to] = [k.load(standing, at, "i32"), k.load(standing, add(at, i(1)), "i32")];
    k.when(k.compare("gt", to, from), () => {
      k.loop(
        length,
        [from],
        (_, [place]) => {
          k.store(out, k.load(standing, add(start, place), "i32"), node);
          return [add(place, i(1))];
        },
        { exitWhen: ([place]) => k.compare("ge", place, to) },
      );
      return [];
    });
    return [];
  });
  return k.finish();
}
