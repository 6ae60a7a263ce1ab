/**
 * The graph as the scheduler wants it: composite primitives are replaced by what they are made of, complex numbers by their
 * parts; what was written twice (the mean in a variance, beside the mean itself) is there once; reductions of what is the
 * same everywhere are gone. It works on a copy, because later passes rewrite nodes too and those of the caller are not to
 * change; leaves are copied as well, without their memory, so that a compilation holds on to nothing.
 */
import { type DType, isComplex, realDType } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import { derive, makeNode } from "../../graph/build.js";
import { repeatsAmong } from "../../graph/contiguous-slice.js";
import { Node, pendingInOrder } from "../../graph/node.js";
import { paramsKey } from "../../graph/params-key.js";
import type { CompositePrimitive } from "../../graph/primitive.js";
import { choice, part, scan } from "../../graph/primitives/control.js";
import { dot } from "../../graph/primitives/dot.js";
import { buffer } from "../../graph/primitives/leaf.js";
import { anew, concat, stopped, stored as storedPrimitive, variable } from "../../graph/primitives/movement.js";
import { g } from "../../graph/vocabulary.js";
import { MAX_I32 } from "../ir/ir.js";
import { join, MAX_FUSED_INPUTS } from "../routines/join.js";
import type { TileProfile } from "../target/tile-profile.js";
import { branched, isWorthBranching } from "./branching.js";
import { repeatingInside } from "./captured-broadcasts.js";
import { complexOfMemory, expandComplex, memoryOfComplex, withoutComplex } from "./complex.js";
import { isNumber, numberIn, packsOf } from "./given-numbers.js";
import { productRewriter } from "./products.js";
import { simpler } from "./simplify.js";

export interface Expanded {
  readonly roots: readonly Node[];
  /** Copies of the leaves, in their order and each part of memory once; memory for the numbers among them comes last. */
  readonly leaves: readonly Node[];
  /** Nodes that are to be in memory before a product of matrices loads them. */
  readonly stored: ReadonlySet<Node>;
}

/** Stands for memory that the program is given when it runs. */
const SOME_MEMORY = { byteLength: 0 };

export function expandGraph(roots: readonly Node[], leaves: readonly Node[], tiles: TileProfile): Expanded {
  const copies = new Map<Node, Node>();
  const repeats = repeatsAmong(leaves);
  const memory = leaves
    .filter((leaf) => !isNumber(leaf) && !repeats.has(leaf))
    .map((leaf) => {
      const copy = memoryLike(leaf);
      copies.set(leaf, asElements(copy, leaf.dtype));
      return copy;
    });
  for (const [leaf, first] of repeats) copies.set(leaf, copies.get(first) as Node);
  for (const { dtype, numbers } of packsOf(leaves.filter(isNumber))) {
    const pack = memoryLike({ shape: [numbers.length], dtype, device: numbers[0].device });
    const elements = asElements(pack, dtype);
    numbers.forEach((number, i) => {
      copies.set(number, numberIn(elements, i, number.shape));
    });
    memory.push(pack);
  }
  const expand = (node: Node, inputs: readonly Node[]) => {
    if (node.primitive === choice && tiles.kind !== "none" && isWorthBranching(node)) return branched(node, inputs);
    return (
      (isForTransforms(node.primitive) ? inputs[0] : simpler(node, inputs[0])) ??
      (isExpanded(node.primitive) ? node.primitive.expand(g, node, inputs) : null)
    );
  };
  let copied = rewritten(roots, copies, expand);
  // What a composite is made of may be composite again.
  while (pendingInOrder(copied).some(({ primitive }) => isExpanded(primitive))) {
    copied = rewritten(copied, new Map(), expand);
  }
  const written = copied.map((root) => (isComplex(root.dtype) ? memoryOfComplex(root) : root));
  const whole = merged(withoutComplex(written)).roots;
  const products = productRewriter(tiles);
  const tiled = rewritten(whole, new Map(), (node, inputs) => {
    if (node.primitive === scan) return repeatingInside(node, inputs);
    // Inside a larger kernel there are no others that could copy.
    const isJoined = node.primitive === concat && inputs.length > MAX_FUSED_INPUTS && tiles.kind !== "none";
    if (isJoined && isCountable([node])) return makeNode(join, inputs, node.params, node.device);
    if (node.primitive !== dot) return simpler(node, inputs[0]);
    return (isCountable([node, ...inputs]) ? products.rewrite(dot, inputs) : null) ?? dot.expand(g, node, inputs);
  });
  const final = merged(tiled);
  // What is to be computed anew has been kept apart until here.
  const plain = new Map<Node, Node>();
  const bare = rewritten(final.roots, plain, ({ primitive }, [input]) => (primitive === anew ? input : null));
  const stored = [...products.stored].map((node) => plain.get(final.keptFor(node)) as Node);
  return { roots: apart(bare), leaves: memory, stored: new Set(stored) };
}

/** Tiles count in 32 bits. */
const isCountable = (nodes: readonly Node[]): boolean => nodes.every(({ shape }) => sizeOf(shape) <= MAX_I32);

/** What only says something to a derivative is nothing here. */
const isForTransforms = (primitive: Node["primitive"]): boolean => primitive === variable || primitive === stopped;

/** Products of matrices come last, because what is good for them depends on what their operands have become. */
const isExpanded = (primitive: Node["primitive"]): primitive is CompositePrimitive =>
  primitive.kind === "composite" && primitive !== dot;

/** A leaf without its memory. Complex numbers are two real ones there, side by side. */
function memoryLike({ shape: elements, dtype: element, device }: Pick<Node, "shape" | "dtype" | "device">): Node {
  const shape = isComplex(element) ? [...elements, 2] : elements;
  const dtype = realDType(element);
  const node = new Node(buffer, { shape, dtype }, [], shape, dtype, device);
  // What is built on it is only looked at: nothing may start computing it.
  node.isAbstract = true;
  node.realize(SOME_MEMORY);
  return node;
}

const asElements = (memory: Node, dtype: DType): Node => (isComplex(dtype) ? complexOfMemory(memory) : memory);

/** A copy of the graph behind the roots, with other nodes where `replace` has them. Some nodes have copies already. */
function rewritten(
  roots: readonly Node[],
  copies: Map<Node, Node>,
  replace: (node: Node, inputs: readonly Node[]) => Node | readonly Node[] | null,
): Node[] {
  const bundles = new Map<Node, readonly Node[]>();
  for (const node of pendingInOrder(roots, (at) => at.storage !== null || copies.has(at))) {
    if (copies.has(node)) continue;
    if (node.storage !== null) {
      copies.set(node, node);
      continue;
    }
    const { primitive, params, shape, dtype, device } = node;
    const several = primitive === part && bundles.get(node.inputs[0]);
    if (several) {
      copies.set(node, several[params.index as number]);
      continue;
    }
    const inputs = node.inputs.map((input) => copies.get(input) as Node);
    const made = expandComplex(node, inputs) ?? replace(node, inputs);
    if (made instanceof Node) copies.set(node, made);
    else if (made) bundles.set(node, made);
    else {
      const copy = new Node(primitive, params, inputs, shape, dtype, device);
      copy.isAbstract = true;
      copies.set(node, copy);
    }
  }
  return roots.map((root) => copies.get(root) as Node);
}

interface Merged {
  readonly roots: Node[];
  /** The node that a node has become one with. */
  keptFor(node: Node): Node;
}

/** Nodes that compute the same of the same become one: differentiation, above all, writes many twice. */
function merged(roots: readonly Node[]): Merged {
  const known = new Map<string, Node>();
  const numbers = new Map<Node, number>();
  const kept = new Map<Node, Node>();
  for (const node of pendingInOrder(roots)) {
    const inputs = node.inputs.map((input) => kept.get(input) as Node);
    const key =
      node.storage !== null
        ? `#${numbers.size}`
        : `${node.primitive.name}(${inputs.map((input) => numbers.get(input))})${paramsKey(node)}`;
    let own = known.get(key);
    if (!own) {
      if (inputs.some((input, i) => input !== node.inputs[i])) node.replaceInputs(inputs, node.params);
      own = node;
      known.set(key, own);
      numbers.set(own, numbers.size);
    }
    kept.set(node, own);
  }
  const keptFor = (node: Node) => kept.get(node) ?? node;
  return { roots: roots.map(keptFor), keptFor };
}

/** Every root needs memory of its own, also where it is a leaf or another root under a second name. */
function apart(roots: readonly Node[]): Node[] {
  const seen = new Set<Node>();
  return roots.map((root) => {
    const isOwn = root.storage === null && !seen.has(root);
    seen.add(root);
    return isOwn ? root : derive(storedPrimitive, root, {});
  });
}
