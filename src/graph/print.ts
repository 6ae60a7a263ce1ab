/**
 * A graph as text, for `jit(f).lower(…)` and `PUMICE_DEBUG`: one line per operation, `%3 = sum %1 {axes=[1]} : f32[2]`, and
 * the functions inside loops and choices below theirs, indented.
 */
import { formatShape } from "../core/shape.js";
import type { GraphFunction } from "./function.js";
import { inputsFirst, type Node } from "./node.js";
import { paramsKey } from "./params-key.js";
import { outputsOf, part } from "./primitives/bundle.js";
import { checkpoint } from "./primitives/checkpoint.js";
import { choice } from "./primitives/control/choice.js";
import { scan } from "./primitives/control/scan.js";
import { whileLoop } from "./primitives/control/while.js";
import { constant, placeholder } from "./primitives/leaf.js";

type Typed = Pick<Node, "shape" | "dtype">;
const typeOf = ({ shape, dtype }: Typed): string => `${dtype}${formatShape(shape)}`;
const typesOf = (values: readonly Typed[]): string => values.map(typeOf).join(", ");

/** Parameters that are longer are cut. */
const MAX_PARAMS = 60;

/** `isNumber` tells the arguments that are numbers from those that are tensors. */
export function printGraph(roots: readonly Node[], isNumber: (argument: Node) => boolean = () => false): string {
  const roleOf = (argument: Node) => (isNumber(argument) ? "number" : placeholder.name);
  return linesOf(roots, [], roleOf, "%").join("\n");
}

/** The lines of a function; `given` are printed even where nothing uses them. Names begin with `prefix`. */
function linesOf(
  results: readonly Node[],
  given: readonly Node[],
  roleOf: (argument: Node) => string,
  prefix: string,
): string[] {
  const names = new Map<Node, string>();
  const nameOf = (node: Node) => names.get(node) as string;
  const lines: string[] = [];
  const order = inputsFirst([...given, ...results], ({ storage, inputs }) => (storage ? [] : inputs));
  for (const node of order) {
    const name = `${prefix}${names.size}`;
    names.set(node, name);
    const what = node.primitive === placeholder ? roleOf(node) : operation(node, node.inputs.map(nameOf));
    lines.push(`  ${name} = ${what} : ${resultTypes(node)}`);
    if (node.storage) continue;
    for (const { title, body, roles } of functionsIn(node)) {
      if (title) lines.push(`    ${title}:`);
      const inner = linesOf(body.results, body.parameters, (own) => roles(body.parameters.indexOf(own)), `${name}.`);
      lines.push(...inner.map((line) => `    ${line}`));
    }
  }
  lines.push(`  return ${results.map(nameOf).join(", ")}`);
  return lines;
}

function operation(node: Node, inputs: readonly string[]): string {
  const { primitive, params, storage } = node;
  if (storage) return "memory";
  const words = [primitive.name, ...inputs].join(" ");
  switch (primitive) {
    case constant:
      return `${words} ${valueText(params.value)}`;
    case part: {
      const [bundle] = node.inputs;
      const isBegun = bundle.primitive === scan && (params.index as number) >= resultsOf(bundle).length;
      return `${words} ${params.index}${isBegun ? ", what rounds began with" : ""}`;
    }
    case scan:
      return `${words}, ${params.length} rounds${params.isReverse ? ", from the end" : ""}`;
    case whileLoop:
      return `${words}, at most ${params.maxRounds} rounds`;
    default:
      return `${words}${paramsText(node)}`;
  }
}

/** Parameters as text, without those that the line shows already: shape and dtype of leaves, types of results. */
function paramsText(node: Node): string {
  if (node.primitive.kind === "leaf" || "outputs" in node.params) return "";
  const text = paramsKey(node).replace(/;$/, "").replaceAll(";", ", ");
  return text && ` {${text.length > MAX_PARAMS ? `${text.slice(0, MAX_PARAMS)}…` : text}}`;
}

function valueText(value: unknown): string {
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
  const { re, im } = value as { readonly re: number; readonly im: number };
  return `${valueText(re)} + ${valueText(im)}i`;
}

const resultsOf = ({ params }: Node): readonly Node[] => (params.body as GraphFunction).results;

/** The types of all results. The stacked carries of a scan are left out: they are for derivatives only. */
function resultTypes(node: Node): string {
  if (!("outputs" in node.params)) return typeOf(node);
  const outputs = outputsOf(node);
  return typesOf(node.primitive === scan ? outputs.slice(0, resultsOf(node).length) : outputs);
}

interface Inner {
  readonly title: string;
  readonly body: GraphFunction;
  /** The role of each parameter, as text. */
  readonly roles: (parameter: number) => string;
}

function functionsIn({ primitive, params }: Node): Inner[] {
  const { body, test, branches, constants, carries } = params as {
    readonly body: GraphFunction;
    readonly test: GraphFunction;
    readonly branches: readonly GraphFunction[];
    readonly constants: number;
    readonly carries: number;
  };
  const isFixed = (parameter: number) => parameter < constants;
  switch (primitive) {
    case scan: {
      const roles = (i: number) => (isFixed(i) ? "from outside" : i < constants + carries ? "carry" : "element");
      return [{ title: "", body, roles }];
    }
    case whileLoop: {
      const roles = (i: number) => (isFixed(i) ? "from outside" : "carry");
      return [
        { title: "while", body: test, roles },
        { title: "do", body, roles },
      ];
    }
    case choice:
      return branches.map((branch, i) => ({ title: `branch ${i}`, body: branch, roles: () => "operand" }));
    case checkpoint:
      return [{ title: "", body, roles: () => "operand" }];
    default:
      return [];
  }
}
