/**
 * A model as a picture: a flowchart of its layers in Mermaid's language, with models inside models as boxes. Arrows are found in the
 * graph of an initialising run, from each layer's input back to the layers it came from, so that residuals and several inputs show as
 * they are. Nothing is computed.
 */
import { formatShape } from "../../core/shape.js";
import { key as keyOf } from "../../random/index.js";
import type { Tensor } from "../../tensor/index.js";
import { leaves } from "../../transforms/tree.js";
import type { InputSpec } from "./input-spec.js";
import type { AnyLayer } from "./layer.js";
import type { Watcher } from "./scope.js";

/** A node of the graph of tensors. */
type GraphNode = Tensor["node"];

interface Box {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly shapes: readonly string[];
}

/** The places that values come from: the input, and the layers that were called. */
class Flow {
  readonly boxes = new Map<string, Box>();
  readonly arrows = new Set<string>();
  private readonly makers = new Map<GraphNode, string>();

  add(path: string, kind: string, output: unknown): string {
    const name = path.slice(path.lastIndexOf(".") + 1);
    const shapes = leaves(output).map((leaf) => formatShape(leaf.shape));
    const box = this.boxes.get(path) ?? { id: `n${this.boxes.size}`, name, kind, shapes };
    this.boxes.set(path, box);
    return box.id;
  }

  /** Arrows to a place from wherever its values come from. */
  lead(values: unknown, to: string): void {
    const pending = leaves(values).map((leaf) => leaf.node);
    const seen = new Set<GraphNode>(pending);
    for (let node = pending.pop(); node; node = pending.pop()) {
      const from = this.makers.get(node);
      if (from !== undefined) {
        this.arrows.add(`${from} --> ${to}`);
        continue;
      }
      for (const input of node.inputs) {
        if (seen.has(input)) continue;
        seen.add(input);
        pending.push(input);
      }
    }
  }

  made(values: unknown, by: string): void {
    for (const leaf of leaves(values)) this.makers.set(leaf.node, by);
  }
}

/** The model as a flowchart for Mermaid, for inputs of a shape: `console.log(diagram(model, [null, 784]))`. */
export function diagram(model: AnyLayer, input: InputSpec): string {
  const flow = new Flow();
  const key = keyOf(0);
  const example = model.exampleFor(key, input);
  const start = flow.add("(input)", "input", example);
  flow.made(example, start);
  const kinds = new Map<string, string>();
  const watcher: Watcher = {
    called: ({ scope, kind, input: given, output }) => {
      const path = scope.path.join(".");
      const isModel = [...flow.boxes.keys()].some((other) =>
        path === "" ? other !== "(input)" : other.startsWith(`${path}.`),
      );
      if (isModel) {
        kinds.set(path, kind);
        return undefined;
      }
      const id = flow.add(path || "(model)", kind, output);
      flow.lead(given, id);
      flow.made(output, id);
      return undefined;
    },
  };
  const { output } = model.initialized(key, example as InputSpec, [watcher]);
  const end = flow.add("(output)", "output", output);
  flow.lead(output, end);
  return ["flowchart TD", ...boxesOf(flow, kinds), ...[...flow.arrows].map((arrow) => `  ${arrow}`)].join("\n");
}

/** Lines of boxes, with those of a model inside its own. */
function boxesOf(flow: Flow, kinds: ReadonlyMap<string, string>): string[] {
  interface Group {
    readonly lines: Map<string, string | Group>;
    readonly path: string;
  }
  const top: Group = { lines: new Map(), path: "" };
  for (const [path, box] of flow.boxes) {
    const names = path.split(".");
    let at = top;
    for (const name of names.slice(0, -1)) {
      const inner = at.lines.get(name) ?? { lines: new Map(), path: at.path === "" ? name : `${at.path}.${name}` };
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

function shownBox({ id, name, kind, shapes }: Box): string {
  const isEnd = name === "(input)" || name === "(output)";
  const text = `${isEnd ? kind : labelOf(name, kind)}<br/>${escaped(shapes.join(" "))}`;
  return isEnd ? `${id}(["${text}"])` : `${id}["${text}"]`;
}

/** The name, and the kind where the name does not tell it. */
const labelOf = (name: string, kind: string): string =>
  escaped(name.replace(/\d+$/, "") === kind ? name : name === "(model)" ? kind : `${name}: ${kind}`);

/** Quotes and angle brackets would end a label, or be taken for HTML. */
const escaped = (text: string): string => text.replace(/[&"<>#]/g, (character) => `#${character.charCodeAt(0)};`);
