/**
 * Functions as graphs: placeholders stand for the arguments, nodes built on them for the results. Applying such a function
 * is building its nodes again on other inputs.
 */
import { remakeNode } from "./build.js";
import { type DeviceHandle, dependingOn, inputsFirst, lastSerial, Node } from "./node.js";
import { paramsKey } from "./params-key.js";
import { placeholder } from "./primitives/leaf.js";
import { permute, reshape } from "./primitives/movement.js";

export function makePlaceholder({ shape, dtype, device }: Pick<Node, "shape" | "dtype" | "device">): Node {
  const node = new Node(placeholder, { shape: [...shape], dtype }, [], [...shape], dtype, device as DeviceHandle);
  node.isAbstract = true;
  return node;
}

/** Placeholders of functions that have returned, and the transform that traced each. */
const ended = new WeakMap<Node, string>();

/** Runs a function that a transform traces with these placeholders. Afterwards only its results are valid. */
export function runOn<T>(placeholders: readonly Node[], operation: string, run: () => T): T {
  for (const node of placeholders) ended.delete(node);
  try {
    return run();
  } finally {
    for (const node of placeholders) ended.set(node, operation);
  }
}

/** Whether nodes depend on placeholders of returned functions by a path that avoids `given`. */
export function isLeftBehind(nodes: readonly Node[], given: readonly Node[]): boolean {
  const known = new Set(given);
  return inputsFirst(nodes, (node) => (node.isAbstract && !known.has(node) ? node.inputs : [])).some(
    (node) => ended.has(node) && !known.has(node),
  );
}

/** The transform that traced the function a node has escaped from; undefined while the function runs. */
export function leftTraceOf(node: Node): string | undefined {
  const behind = inputsFirst([node], ({ isAbstract, inputs }) => (isAbstract ? inputs : []));
  return behind.map((each) => ended.get(each)).find((operation) => operation !== undefined);
}

/** The nodes that depend on placeholders, inputs before users. */
export function abstractInOrder(outputs: readonly Node[], placeholders: readonly Node[]): Node[] {
  return dependingOn(outputs, placeholders, ({ isAbstract }) => isAbstract);
}

/**
 * The outputs with other nodes in place of placeholders. Nodes that do not depend on them stay. A long chain is computed while
 * it is built; the nodes are held meanwhile, because those that will read a value may not have been made yet.
 */
export function substitute(outputs: readonly Node[], from: readonly Node[], to: readonly Node[]): Node[] {
  const made = new Map<Node, Node>(from.map((node, i) => [node, to[i]]));
  const held: Node[] = [];
  try {
    for (const node of abstractInOrder(outputs, from)) {
      const inputs = node.inputs.map((input) => made.get(input) ?? input);
      const copy = remakeNode(node, inputs);
      copy.handles++;
      held.push(copy);
      made.set(node, copy);
    }
  } finally {
    for (const node of held) node.handles--;
  }
  return outputs.map((output) => made.get(output) ?? output);
}

/** A closed function: apart from constants it uses only its parameters. It may be a parameter of a node. */
export class GraphFunction {
  private text: string | null = null;

  constructor(
    readonly parameters: readonly Node[],
    readonly results: readonly Node[],
  ) {}

  /** Its nodes on other inputs. */
  apply(inputs: readonly Node[]): Node[] {
    return substitute(this.results, this.parameters, inputs);
  }

  /** Equal exactly for functions with the same graph. */
  get key(): string {
    this.text ??= keyOf(this);
    return this.text;
  }
}

function keyOf({ parameters, results }: GraphFunction): string {
  const numbers = new Map<Node, number>();
  const parts: string[] = [];
  const number = (node: Node, text: string) => {
    numbers.set(node, numbers.size);
    parts.push(text);
  };
  for (const node of parameters) number(node, `${node.dtype}[${node.shape}]`);
  for (const node of inputsFirst(results, ({ inputs }) => inputs)) {
    if (numbers.has(node)) continue;
    number(node, `${node.primitive.name}(${node.inputs.map((input) => numbers.get(input))})${paramsKey(node)}`);
  }
  return `${parts.join("|")}→${results.map((result) => numbers.get(result))}`;
}

/** Whether a node belongs to a function although it depends on none of its placeholders. */
type IsOwn = (node: Node) => boolean;

/** Whether a node was made after this call and waits: work of a function that is traced now. */
export function madeFromNow(): IsOwn {
  const before = lastSerial();
  return ({ serial, storage }) => serial > before && storage === null;
}

/**
 * Closes a function of placeholders: nodes from outside that it uses become its first parameters. Constants stay inside, and so do views of other
 * such nodes.
 * Returns the function and those nodes.
 */
export function closeOver(
  results: readonly Node[],
  placeholders: readonly Node[],
  isOwn: IsOwn = () => false,
): { readonly body: GraphFunction; readonly captured: readonly Node[] } {
  const inside = new Set<Node>([...placeholders, ...insideInOrder(results, placeholders, isOwn)]);
  const captured = new Set<Node>();
  const constants = new Map<Node, Node>();
  const look = (node: Node) => {
    if (inside.has(node)) return;
    if (isConstant(node)) copied(node, constants);
    else captured.add(node);
  };
  for (const node of inside) for (const input of node.inputs) look(input);
  for (const result of results) look(result);
  const views = viewsAmong(captured);
  const outside = [...captured].filter((node) => !views.has(node));
  const stands = outside.map(makePlaceholder);
  // Captured nodes are replaced in copies: the originals belong to other graphs.
  const made = new Map<Node, Node>(constants);
  outside.forEach((node, i) => {
    made.set(node, stands[i]);
  });
  for (const view of views) copied(view, made);
  for (const node of placeholders) made.set(node, node);
  for (const node of inside) {
    if (made.has(node)) continue;
    const inputs = node.inputs.map((input) => made.get(input) ?? input);
    // What depends on no placeholder may be computed later, and would then be memory.
    const isKept = node.isAbstract && inputs.every((input, i) => input === node.inputs[i]);
    made.set(node, isKept ? node : remade(node, inputs));
  }
  const body = new GraphFunction(
    [...stands, ...placeholders],
    results.map((result) => made.get(result) ?? result),
  );
  return { body, captured: outside };
}

/** The nodes that depend on placeholders, and the function's own, inputs before users. */
function insideInOrder(results: readonly Node[], placeholders: readonly Node[], isOwn: IsOwn): readonly Node[] {
  const depending = abstractInOrder(results, placeholders);
  const known = new Set([...depending, ...placeholders]);
  const isInside = (node: Node): boolean => known.has(node) || isOwn(node);
  const all = inputsFirst(results, (node) => (isInside(node) ? node.inputs : []));
  return all.filter(isInside);
}

/** The same for several functions at once, so that they take the same parameters. */
export function closeOverAll(
  results: readonly (readonly Node[])[],
  placeholders: readonly Node[],
  isOwn?: IsOwn,
): { readonly bodies: readonly GraphFunction[]; readonly captured: readonly Node[] } {
  const { body, captured } = closeOver(results.flat(), placeholders, isOwn);
  let end = 0;
  const bodies = results.map(({ length }) => {
    end += length;
    return new GraphFunction(body.parameters, body.results.slice(end - length, end));
  });
  return { bodies, captured };
}

/** Those nodes that only rearrange another one of them: a matrix and its transpose are not both kept in memory. */
function viewsAmong(captured: ReadonlySet<Node>): ReadonlySet<Node> {
  const isView = (view: Node): boolean => {
    let node = view;
    while (isRearrangement(node)) {
      [node] = node.inputs;
      if (captured.has(node)) return true;
    }
    return false;
  };
  return new Set([...captured].filter(isView));
}

const isRearrangement = ({ primitive, storage }: Node): boolean =>
  storage === null && (primitive === permute || primitive === reshape);

/** A private copy of a constant: the original may be computed later, and would then be memory. */
function copied(node: Node, copies: Map<Node, Node>): Node {
  const known = copies.get(node);
  if (known) return known;
  const copy = remade(
    node,
    node.inputs.map((input) => copied(input, copies)),
  );
  copies.set(node, copy);
  return copy;
}

function remade(node: Node, inputs: readonly Node[]): Node {
  const copy = remakeNode(node, inputs);
  copy.isWeak = node.isWeak;
  return copy;
}

/** Additions that a constant may take an element: more is computed once, outside. */
const CHEAP = 24;

/**
 * Leaves without memory, and what is computed of them for less than a load costs: a mask that compares positions is not kept for all rounds of a
 * loop. Variables of derivatives are excluded.
 */
const isConstant = (node: Node): boolean => costOfConstant(node, CHEAP) <= CHEAP;

/** Additions for an element of a constant, or more than `most`; infinite for what is none. */
function costOfConstant(node: Node, most: number): number {
  const { primitive, inputs, storage, trace } = node;
  if (trace || storage !== null || primitive === placeholder) return Number.POSITIVE_INFINITY;
  if (primitive.kind === "leaf") return 0;
  if (primitive.kind !== "elementwise" && (primitive.kind !== "movement" || inputs.length !== 1))
    return Number.POSITIVE_INFINITY;
  let cost = primitive.kind === "elementwise" ? Math.max(1, primitive.cost) : 0;
  for (const input of inputs) {
    if (cost > most) break;
    cost += costOfConstant(input, most - cost);
  }
  return cost;
}
