/**
 * A model as a picture: a flowchart of its layers in Mermaid's language, with models inside models as boxes. Arrows are found in the
 * graph of an initialising run, from each layer's input back to the layers it came from, so that residuals and several inputs show as
 * they are. Operations that a block's function does by itself, between its layers, are round boxes. Nothing is computed.
 */
import { formatShape } from "../../core/shape.js";
import { key as keyOf } from "../../random/index.js";
import type { Tensor } from "../../tensor/index.js";
import { leaves } from "../../transforms/tree.js";
import { flattenTensors, leafPaths } from "../../transforms/trees.js";
import type { InputSpec } from "./input-spec.js";
import { type AnyLayer, checkLayer } from "./layer.js";

/** A node of the graph of tensors. */
type GraphNode = Tensor["node"];

interface Box {
  readonly id: string;
  readonly form: "end" | "operations" | "layer";
  /** The label; the kind of a layer stands beside it. */
  readonly name: string;
  readonly kind: string;
  readonly shapes: readonly string[];
}

/** A layer that was called. Its path is the names of the layers around it and its own, each after a separator that no name holds. */
interface Call {
  readonly path: string;
  readonly kind: string;
  readonly input: readonly GraphNode[];
  readonly output: readonly GraphNode[];
}

/** Between the names of a path, and before what has no name of its own: characters that are in no name. */
const [SEPARATOR, UNNAMED] = ["\0", "\u0001"];

/** Primitives that change nothing which a picture shows. */
const SILENT = new Set(["expand", "cast", "stopped", "stored", "variable", "recompute", "part"]);

/** Names of operations that are shown at most in a box. */
const MAX_NAMES = 4;

const nodesOf = (values: unknown): GraphNode[] => leaves(values).map((leaf) => leaf.node);

const pathOf = (names: readonly string[]): string => names.map((name) => SEPARATOR + name).join("");

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf(SEPARATOR)));

const isInside = (path: string, model: string): boolean => path.startsWith(model + SEPARATOR);

/** The places that values come from: the input, the layers that were called, and operations between these. */
class Flow {
  readonly boxes = new Map<string, Box>();
  readonly arrows = new Set<string>();
  private readonly makers = new Map<GraphNode, string>();
  /** The place that a node's value comes from; null for one that does not depend on the input. */
  private readonly sources = new Map<GraphNode, string | null>();

  /** Boxes of operations whose results are shown. */
  private readonly shown = new Set<string>();

  /** `models`: the calls of layers that have others inside. */
  constructor(private readonly models: readonly Call[]) {}

  /** The box of a path, or of operations in the model of that path. */
  add(form: Box["form"], path: string, label: Pick<Box, "name" | "kind">, nodes: readonly GraphNode[]): string {
    const id = `n${this.boxes.size}`;
    const shapes = nodes.map(({ shape }) => formatShape(shape));
    const place = form === "layer" ? path : `${path}${SEPARATOR}${UNNAMED}${id}`;
    const box = this.boxes.get(place) ?? { id, form, ...label, shapes };
    this.boxes.set(place, box);
    return box.id;
  }

  /** A place inside a model, with arrows from wherever its values come from: from operations that have boxes by then. */
  lead(values: readonly GraphNode[], model: string, ...box: Parameters<Flow["add"]>): string {
    const from = values.map((node) => this.sourceOf(node, model));
    const id = this.add(...box);
    for (const each of from) if (each !== null) this.arrows.add(`${each} --> ${id}`);
    return id;
  }

  made(nodes: readonly GraphNode[], by: string): void {
    for (const node of nodes) this.makers.set(node, by);
  }

  /** Where a value comes from, whose operations so far are seen from inside a model. Inputs come before what is made of them. */
  private sourceOf(start: GraphNode, model: string): string | null {
    const pending: { readonly node: GraphNode; readonly seenFrom: string; readonly own: string | null }[] = [
      { node: start, seenFrom: model, own: null },
    ];
    for (let at = pending.pop(); at; at = pending.pop()) {
      const { node, seenFrom, own } = at;
      if (this.knownSource(node) !== undefined) continue;
      if (own !== null) {
        this.sources.set(node, this.placeOf(node, own));
        continue;
      }
      const within = this.modelOf(node, seenFrom);
      pending.push({ node, seenFrom, own: within });
      for (const input of node.inputs) pending.push({ node: input, seenFrom: within, own: null });
    }
    return this.knownSource(start) ?? null;
  }

  private knownSource(node: GraphNode): string | null | undefined {
    return this.makers.get(node) ?? this.sources.get(node);
  }

  /** The place of an operation whose inputs are known: its own box, or that of its input where it shows nothing. */
  private placeOf(node: GraphNode, model: string): string | null {
    const from = [...new Set(node.inputs.map((input) => this.knownSource(input) ?? null))].filter((id) => id !== null);
    const { name } = node.primitive;
    if (from.length === 0) return null;
    if (name === "part") this.showResult(from[0] as string, node);
    if (from.length === 1 && SILENT.has(name)) return from[0] as string;
    const id = this.add("operations", model, { name, kind: "" }, [node]);
    for (const each of from) this.arrows.add(`${each} --> ${id}`);
    return id;
  }

  /** A loop or a choice has several results, and no shape of its own: its box has those of the results that are used. */
  private showResult(id: string, { shape }: GraphNode): void {
    for (const [place, box] of this.boxes) {
      if (box.id !== id || box.form !== "operations") continue;
      const others = this.shown.has(id) ? box.shapes : [];
      this.boxes.set(place, { ...box, shapes: [...others, formatShape(shape)] });
      this.shown.add(id);
    }
  }

  /**
   * The model whose function made a node that is used inside a model: out of those that were given it, and into one there that gave it and was not
   * given it itself.
   */
  private modelOf(node: GraphNode, seenFrom: string): string {
    const isGiven = (path: string) => this.models.some((each) => each.path === path && each.input.includes(node));
    let model = seenFrom;
    while (model !== "" && isGiven(model)) model = parentOf(model);
    const giving = this.models.filter(({ path, output }) => isInside(path, model) && output.includes(node));
    const makers = giving.filter(({ path }) => !isGiven(path));
    return makers.reduce((deepest, { path }) => (path.length > deepest.length ? path : deepest), model);
  }
}

/** The model as a flowchart for Mermaid, for inputs of a shape: `console.log(diagram(model, [null, 784]))`. */
export function diagram(model: AnyLayer, input: InputSpec): string {
  checkLayer("diagram", model);
  const key = keyOf(0);
  const example = model.exampleFor(key, input);
  const calls: Call[] = [];
  const { output } = model.initialized(key, example as InputSpec, [
    {
      called: ({ scope, kind, input: given, output: made }) => {
        calls.push({ path: pathOf(scope.path), kind, input: nodesOf(given), output: nodesOf(made) });
        return undefined;
      },
    },
  ]);
  const isModel = ({ path }: Call) => calls.some((other) => other.path !== path && isInside(other.path, path));
  const models = calls.filter(isModel);
  const flow = new Flow(models);
  for (const { name, node } of endsOf("input", example)) {
    flow.made([node], flow.add("end", "", { name, kind: "" }, [node]));
  }
  for (const call of calls.filter((each) => !models.includes(each))) {
    const { path, kind, input: given, output: made } = call;
    const name = path === "" ? kind : path.slice(path.lastIndexOf(SEPARATOR) + 1);
    flow.made(made, flow.lead(given, parentOf(path), "layer", path || SEPARATOR, { name, kind }, made));
  }
  for (const { name, node } of endsOf("output", output)) {
    flow.lead([node], "", "end", "", { name, kind: "" }, [node]);
  }
  const { boxes, arrows } = withChains(flow);
  const kinds = new Map(models.map(({ path, kind }) => [path, kind]));
  return ["flowchart TD", ...boxesOf(boxes, kinds), ...arrows.map(([from, to]) => `  ${from} --> ${to}`)].join("\n");
}

/** The tensors of an input or output by name: those of a tree by their paths. */
function endsOf(what: string, tree: unknown): { readonly name: string; readonly node: GraphNode }[] {
  const { leaves: all, structure } = flattenTensors(tree, `diagram, the ${what}`);
  const paths = leafPaths(structure);
  return all.map(({ node }, i) => ({ name: [what, paths[i]].filter(Boolean).join(" "), node }));
}

type Arrow = readonly [from: string, to: string];

/** Operations one after the other, of which nothing else uses the inner ones, become one box. */
function withChains(flow: Flow): { readonly boxes: ReadonlyMap<string, Box>; readonly arrows: readonly Arrow[] } {
  const boxes = new Map(flow.boxes);
  let arrows = [...flow.arrows].map((arrow) => arrow.split(" --> ") as unknown as Arrow);
  const operations = [...flow.boxes].filter(([, { form }]) => form === "operations");
  for (const [path, { id, shapes }] of operations) {
    const into = arrows.filter(([, to]) => to === id);
    const [before] = operations.filter(([, other]) => into.length === 1 && other.id === into[0]?.[0]);
    const isAlone = before && arrows.filter(([from]) => from === before[1].id).length === 1;
    if (!isAlone || parentOf(path) !== parentOf(before[0])) continue;
    const first = boxes.get(before[0]) as Box;
    boxes.set(path, { ...first, id, shapes, name: `${first.name}, ${(boxes.get(path) as Box).name}` });
    boxes.delete(before[0]);
    arrows = arrows.filter((arrow) => arrow !== into[0]).map(([from, to]) => [from, to === first.id ? id : to]);
  }
  return { boxes, arrows };
}

/** Lines of boxes, with those of a model inside its own. */
function boxesOf(boxes: ReadonlyMap<string, Box>, kinds: ReadonlyMap<string, string>): string[] {
  interface Group {
    readonly lines: Map<string, string | Group>;
    readonly path: string;
  }
  const top: Group = { lines: new Map(), path: "" };
  for (const [path, box] of boxes) {
    const names = path.split(SEPARATOR).slice(1);
    let at = top;
    for (const name of names.slice(0, -1)) {
      const inner = at.lines.get(name) ?? { lines: new Map(), path: at.path + SEPARATOR + name };
      at.lines.set(name, inner);
      at = inner as Group;
    }
    at.lines.set(names.at(-1) as string, shownBox(box));
  }
  let count = 0;
  const written = (group: Group, depth: number): string[] =>
    [...group.lines].flatMap(([name, value]) => {
      const indent = "  ".repeat(depth);
      if (typeof value === "string") return [indent + value];
      const title = labelOf(name, kinds.get(value.path) ?? "");
      return [`${indent}subgraph g${count++}["${title}"]`, ...written(value, depth + 1), `${indent}end`];
    });
  return written(top, 1);
}

function shownBox({ id, form, name, kind, shapes }: Box): string {
  const label = form === "layer" ? labelOf(name, kind) : escaped(form === "end" ? name : someOf(name));
  const text = `"${label}<br/>${escaped(shapes.join(" "))}"`;
  switch (form) {
    case "end":
      return `${id}([${text}])`;
    case "operations":
      return `${id}(${text})`;
    case "layer":
      return `${id}[${text}]`;
  }
}

/** Names of operations, the first ones where there are many. */
function someOf(names: string): string {
  const all = names.split(", ");
  return (all.length > MAX_NAMES ? [...all.slice(0, MAX_NAMES), "…"] : all).join(", ");
}

/** The name, and the kind where the name does not tell it. */
const labelOf = (name: string, kind: string): string =>
  escaped(name.replace(/\d+$/, "") === kind ? name : `${name}: ${kind}`);

/** Quotes would end a label, line breaks the line; angle brackets would be taken for HTML, and backticks for Markdown. */
const escaped = (text: string): string =>
  [...text].map((each) => (/[&"<>#`\p{Cc}]/u.test(each) ? `#${each.codePointAt(0)};` : each)).join("");
