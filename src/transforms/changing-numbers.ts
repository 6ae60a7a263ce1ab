/**
 * Numbers in the bodies of loops and choices. A number is part of its body, where it folds, and so part of the program. A fit that is
 * repeated with another penalty or tolerance would need a program each time. So a body that comes back with other numbers takes those that
 * have changed from memory from then on, as graphs do with theirs (runtime/program-table.ts). control.ts asks for every loop and
 * choice that it makes. Those inside a jitted function keep their numbers: it is traced once.
 */
import { isComplex, type Scalar } from "../core/dtype.js";
import { remakeNode } from "../graph/build.js";
import { GraphFunction, makePlaceholder } from "../graph/function.js";
import { inputsFirst, type Node } from "../graph/node.js";
import { paramsKey } from "../graph/params-key.js";
import { constant } from "../graph/primitives/leaf.js";
import { g } from "../graph/vocabulary.js";
import { tensor } from "../tensor/index.js";
import { runningTransforms } from "./trace.js";

/** Functions of the same parameters, the first of which stand for `captured`. */
interface Closed {
  readonly bodies: readonly GraphFunction[];
  readonly captured: readonly Node[];
}

/** The numbers of a form: as they were first seen, and whether each has changed since. */
interface Seen {
  readonly values: readonly unknown[];
  readonly hasChanged: boolean[];
}

/** By form, the one used last at the end. */
const seen = new Map<string, Seen>();
const MOST_FORMS = 256;
/** Forms of more characters are not remembered: some thousand operations, which compile long and come back seldom. */
const LONGEST_FORM = 65_536;

/** Functions that may be around a loop. Inside others that are traced, to be compiled or written to files, numbers stay. */
const PLAIN: ReadonlySet<string> = new Set(["scan", "forLoop", "whileLoop", "cond", "switchCase", "vmap"]);

/** The same functions, with numbers that have changed since they were first seen among what is captured. */
export function withChangingNumbers(closed: Closed): Closed {
  if (!runningTransforms().every((name) => PLAIN.has(name))) return closed;
  const { form, numbers } = formOf(closed.bodies);
  if (numbers.length === 0 || form.length > LONGEST_FORM) return closed;
  const values = numbers.map(({ params }) => params.value);
  const known = seen.get(form) ?? { values, hasChanged: values.map(() => false) };
  values.forEach((value, i) => {
    known.hasChanged[i] ||= !Object.is(value, known.values[i]);
  });
  seen.delete(form);
  seen.set(form, known);
  if (seen.size > MOST_FORMS) seen.delete(seen.keys().next().value as string);
  const changed = numbers.filter((_, i) => known.hasChanged[i]);
  return changed.length > 0 ? takenOut(closed, changed) : closed;
}

/** The operations as text, without the values of numbers; and those numbers in order. */
function formOf(bodies: readonly GraphFunction[]): { readonly form: string; readonly numbers: readonly Node[] } {
  const positions = new Map<Node, number>();
  const numbers: Node[] = [];
  const roots = bodies.flatMap(({ results }) => results);
  const parts = [...new Set([...bodies[0].parameters, ...inputsFirst(roots, ({ inputs }) => inputs)])].map((node) => {
    positions.set(node, positions.size);
    const { primitive, inputs, dtype, shape } = node;
    if (!isNumber(node)) return `${primitive.name}(${inputs.map((input) => positions.get(input))})${paramsKey(node)}`;
    numbers.push(node);
    return `number ${dtype}[${shape}]`;
  });
  return { form: `${parts.join("|")}→${roots.map((root) => positions.get(root))}`, numbers };
}

/** Exponents of complex numbers decide how powers are computed; truth values are few. */
const isNumber = ({ primitive, storage, dtype }: Node): boolean =>
  primitive === constant && storage === null && dtype !== "bool" && !isComplex(dtype);

/** The functions with parameters in place of numbers, and the numbers as memory. */
function takenOut({ bodies, captured }: Closed, numbers: readonly Node[]): Closed {
  const outside = numbers.map(({ params, dtype, device }) =>
    tensor(params.value as Scalar as number, { dtype, device: device.id }),
  );
  const own = outside.map(({ node }) => makePlaceholder(node));
  const made = new Map<Node, Node>(numbers.map((node, i) => [node, g.broadcast(own[i], node.shape)]));
  const roots = bodies.flatMap(({ results }) => results);
  for (const node of inputsFirst(roots, ({ inputs }) => inputs)) {
    if (made.has(node) || !node.inputs.some((input) => made.has(input))) continue;
    const copy = remakeNode(node, node.inputs.map((input) => made.get(input) ?? input)); // biome-ignore format: one line
    copy.isWeak = node.isWeak;
    made.set(node, copy);
  }
  return {
    bodies: bodies.map(
      ({ parameters, results }) =>
        new GraphFunction(
          [...own, ...parameters],
          results.map((node) => made.get(node) ?? node),
        ),
    ),
    captured: [...outside.map(({ node }) => node), ...captured],
  };
}
