/**
 * Programs in memory, found by the form of a graph: its operations, shapes and dtypes, but neither its memory nor the values
 * of its constants. Every evaluation looks here, and a loop of small operations spends much of its time here. So a lookup
 * builds nothing: nodes carry their positions, the hash is taken during the walk, and forms of that hash are compared part
 * by part. The hash may be weak; the comparison decides.
 *
 * A form has up to four programs, or five if places change in it, and as many for each set of values that are kept for later.
 * The first has all constants of the graph built in, because known constants fold. When the form comes back with other values,
 * the constants that changed are data in the next program (compiler/rewrite/given-numbers.ts). Where slices, pads and periods
 * begin is a constant too, but one that decides how memory is read: it stays built in until several were seen
 * (compiler/rewrite/given-places.ts). The last program has all constants as data and serves every graph of the form.
 *
 * Contiguous slices of memory (graph/contiguous-slice.ts) are leaves too: where they begin is no part of the form.
 */

import { constantExponent } from "../compiler/rewrite/complex.js";
import { beginningOf, numberAt, placeOf } from "../compiler/rewrite/given-places.js";
import { isComplex } from "../core/dtype.js";
import { sameShape } from "../core/shape.js";
import { isPartOfMemory, partsKey } from "../graph/contiguous-slice.js";
import { type Node, type PassedGraph, pendingInOrder } from "../graph/node.js";
import type { Beginning, MovementPrimitive, Params, Primitive } from "../graph/primitive.js";
import { pow } from "../graph/primitives/elementwise.js";
import { constant, placeholder } from "../graph/primitives/leaf.js";
import { slice } from "../graph/primitives/movement.js";
import { withoutSlices } from "./kept-values.js";
import { hashString, isSameValue, mix } from "./same-form.js";

/** A node as its form has it: a leaf, a number, or an operation on nodes by their positions. */
interface Part {
  /** Null for a leaf. */
  readonly primitive: Primitive | null;
  /** Null for a number whose value is no part of the form. */
  readonly params: Params | null;
  readonly inputs: readonly number[];
  /** Of leaves, numbers and movements; those of other operations follow from their inputs and parameters. */
  readonly shape: readonly number[];
  readonly dtype: string;
  /** Of a movement whose place is no part of the form. */
  readonly begins: Beginning | null;
}

/** A constant of a form, or the place along an axis at which the result of a movement begins. */
interface FormNumber {
  /** The position of the constant or movement. */
  readonly at: number;
  /** -1: a constant. */
  readonly axis: number;
}

interface Form<Program> extends PassedGraph {
  readonly hash: number;
  readonly parts: readonly Part[];
  /** Properties of the leaves that are slices (`partsKey` in graph/contiguous-slice.ts). */
  readonly partsKey: string;
  readonly numbers: readonly FormNumber[];
  /** From the one with most constants built in to the one with fewest: the first that fits is the best. */
  readonly entries: Entry<Program>[];
}

interface Entry<Program> {
  readonly form: Form<Program>;
  /** Values that it stores for later evaluations besides the roots, in number. */
  readonly kept: number;
  /** The positions of the values that it computes, in the order of the program's results. */
  readonly results: readonly number[];
  /** The value of each number of the form that this program has built in; undefined where it is data. */
  readonly builtIn: readonly unknown[];
  readonly program: Program;
}

/** The first programs of a form that keep the same; the next has all constants as data. */
const MOST_WITH_NUMBERS = 3;
/**
 * The first that have places built in. The next has those as data that have changed, the one after it all of them. Kernels
 * that know the places are faster, and few graphs come from more than three (queries, keys and values).
 */
const MOST_WITH_PLACES = 3;

/** Slices that are leaves, at most: each is one more buffer. Further slices are read through their whole tensor. */
const MOST_PARTS = 8;

/** A graph of which is known whether its form has programs. */
export interface SeenGraph<Program> {
  readonly roots: readonly Node[];
  readonly hash: number;
  /** Its form, if that has programs. Describing a new one takes long, for a graph that may be computed part by part. */
  readonly known: Form<Program> | null;
  /** All nodes of the graph, inputs before users. */
  readonly order: readonly Node[];
  /** In the order of the program. */
  readonly leaves: readonly Node[];
  /** Properties of leaves that are slices, on which the program depends; null if there are none. */
  readonly partsKey: string | null;
}

/** A graph that was looked up. */
interface KnownGraph<Program> {
  readonly roots: readonly Node[];
  /** The form of the graph; one that was not known becomes known when a program is added to it. */
  readonly form: Form<Program>;
  readonly order: readonly Node[];
  readonly leaves: readonly Node[];
  readonly partsKey: string | null;
}

/** The answer to a lookup: the program of a graph if there is one, and what it takes and gives. */
export interface Found<Program> extends KnownGraph<Program> {
  readonly kept: number;
  /** The positions of the values to compute: the roots, and what is kept for later. */
  readonly results: readonly number[];
  /** The constants that are data, in the order of the leaves: in the program that is known, or in the one to be made. */
  readonly numbers: readonly Node[];
  readonly program: Program | null;
}

/** The nodes whose values a program computes. */
export const resultsOf = ({ results, order }: Found<unknown>): readonly Node[] => results.map((at) => order[at]);

/** Programs by form, at most `capacity`; the oldest goes first. */
export class ProgramTable<Program> {
  private readonly byHash = new Map<number, Form<Program>[]>();
  private readonly byAge: Entry<Program>[] = [];

  /** `alignment`: of vectors that programs read, in bytes. */
  constructor(
    private readonly capacity: number,
    private readonly alignment = 1,
  ) {}

  /** `order`: the graph as `graphOf` gives it, if no other graph was walked since. */
  see(roots: readonly Node[], order: readonly Node[] = graphOf(roots)): SeenGraph<Program> {
    const leaves = order.filter(isLeaf);
    const key = partsKey(leaves, this.alignment);
    const hash = hashOf(order, roots);
    const known = this.byHash.get(hash)?.find((form) => form.partsKey === (key ?? "") && isForm(form, order, roots));
    return { roots, hash, known: known ?? null, order, leaves, partsKey: key };
  }

  /** No other graph was walked since this one was seen. */
  look({ roots, hash, known, order, leaves, partsKey: key }: SeenGraph<Program>): KnownGraph<Program> {
    return { roots, form: known ?? newForm(hash, order, roots, key ?? ""), order, leaves, partsKey: key };
  }

  /** The program of a graph. `isKeeping`: one that also stores what is expected to be asked for later (kept-values.ts). */
  choose(graph: KnownGraph<Program>, isKeeping: boolean): Found<Program> {
    const { roots, form, order, leaves, partsKey: key } = graph;
    const kept = isKeeping ? form.usedLater.size : 0;
    const entry = form.entries.find((each) => each.kept === kept && fits(each.builtIn, form, order));
    const results = entry ? entry.results : kept > 0 ? withKept(graph) : form.roots;
    const numbers = entry ? givenTo(entry, order) : changedIn(form, kept, order);
    // Not by spreading the graph: that took three times as long as all the rest of an evaluation.
    return { roots, form, order, leaves, partsKey: key, kept, results, numbers, program: entry ? entry.program : null };
  }

  /** The program that computes the roots, and nothing besides. */
  find(roots: readonly Node[]): Found<Program> {
    return this.choose(this.look(this.see(roots)), false);
  }

  /** Keeps a program for all graphs of the form that was looked up, with any values for the constants that are data. */
  add({ form, order, kept, results, numbers: given }: Found<Program>, program: Program): void {
    // By node: the axes along which a movement's beginning is data, or -1 of a constant.
    const axes = new Map<Node, number[]>();
    for (const number of given) {
      const { movement, axis } = placeOf(number) ?? { movement: number, axis: -1 };
      axes.set(movement, [...(axes.get(movement) ?? []), axis]);
    }
    const builtIn = form.numbers.map((number) =>
      axes.get(order[number.at])?.includes(number.axis) ? undefined : valueIn(number, order),
    );
    const entry = { form, kept, results, builtIn, program };
    if (form.entries.length === 0) this.register(form);
    form.entries.push(entry);
    this.byAge.push(entry);
    if (this.byAge.length > this.capacity) this.forget(this.byAge.shift() as Entry<Program>);
  }

  private register(form: Form<Program>): void {
    const forms = this.byHash.get(form.hash);
    if (forms) forms.push(form);
    else this.byHash.set(form.hash, [form]);
  }

  private forget(entry: Entry<Program>): void {
    const { hash, entries } = entry.form;
    entries.splice(entries.indexOf(entry), 1);
    if (entries.length > 0) return;
    const others = this.byHash.get(hash)?.filter((form) => form !== entry.form) ?? [];
    if (others.length > 0) this.byHash.set(hash, others);
    else this.byHash.delete(hash);
  }
}

const NONE: readonly Node[] = [];

function newForm<Program>(hash: number, order: readonly Node[], roots: readonly Node[], key: string): Form<Program> {
  const isPartOfForm = decidingNumbers(order);
  const parts = order.map((node) => partOf(node, isPartOfForm));
  const numbers = parts.flatMap((part, at) => numbersOf(part, order[at], at));
  const places = roots.map(({ position }) => position);
  return { hash, parts, roots: places, partsKey: key, numbers, entries: [], usedLater: new Set() };
}

function numbersOf({ primitive, params, begins }: Part, node: Node, at: number): readonly FormNumber[] {
  if (params === null) return [{ at, axis: -1 }];
  if (!begins) return [];
  // The whole of an axis has one beginning.
  const isWhole = (extent: number, axis: number) => primitive === slice && extent === node.inputs[0].shape[axis];
  return node.shape.flatMap((extent, axis) => (isWhole(extent, axis) ? [] : [{ at, axis }]));
}

/** The nodes of a graph, inputs before users. It ends where there is memory. */
export function graphOf(roots: readonly Node[]): Node[] {
  let parts = 0;
  return pendingInOrder(roots, (node) => {
    if (node.storage !== null) return true;
    if (parts >= MOST_PARTS || !isPartOfMemory(node)) return false;
    parts++;
    return true;
  });
}

/** True for a leaf of the graph that `graphOf` walked last. */
const isLeaf = ({ isEnd, primitive }: Node): boolean => isEnd || primitive === placeholder;

/** The positions of the roots and of what is expected to be asked for later. A slice of another result needs no kernel. */
function withKept({ form, order }: KnownGraph<unknown>): readonly number[] {
  const all = [...new Set([...form.roots, ...form.usedLater])];
  const needed = new Set(withoutSlices(all.map((at) => order[at])));
  return all.filter((at) => needed.has(order[at]));
}

/** Whether a program with these constants built in is one for a graph of its form, given in order. */
function fits(builtIn: readonly unknown[], { numbers }: Form<unknown>, order: readonly Node[]): boolean {
  for (let i = 0; i < builtIn.length; i++) {
    if (builtIn[i] !== undefined && !isSameValue(builtIn[i], valueIn(numbers[i], order))) return false;
  }
  return true;
}

/** The value of a number of a form in a graph of that form, given in order. */
function valueIn({ at, axis }: FormNumber, order: readonly Node[]): unknown {
  const node = order[at];
  if (axis < 0) return node.params.value;
  return ((node.primitive as MovementPrimitive).begins as Beginning).at(node, axis);
}

/** A number of a form as it is given to a program. */
function givenNode(number: FormNumber, order: readonly Node[]): Node {
  const { at, axis } = number;
  return axis < 0 ? order[at] : numberAt(order[at], axis, valueIn(number, order) as number);
}

/** The constants that a program takes as data. */
function givenTo({ builtIn, form: { numbers } }: Entry<unknown>, order: readonly Node[]): readonly Node[] {
  if (!builtIn.includes(undefined)) return NONE;
  return numbers.flatMap((number, i) => (builtIn[i] === undefined ? [givenNode(number, order)] : []));
}

/** The constants that are to be data in the next program of a form, for a graph that none of its programs fits. */
function changedIn({ numbers, entries }: Form<unknown>, kept: number, order: readonly Node[]): readonly Node[] {
  if (entries.length === 0) return NONE;
  const alike = entries.filter((entry) => entry.kept === kept);
  const last = alike.at(-1) ?? entries[entries.length - 1];
  const isData = (number: FormNumber, i: number): boolean => {
    const hasChanged = ({ builtIn }: Entry<unknown>) =>
      builtIn[i] === undefined || !isSameValue(builtIn[i], valueIn(number, order));
    if (number.axis < 0) return alike.length >= MOST_WITH_NUMBERS || hasChanged(last);
    return alike.length > MOST_WITH_PLACES || (alike.length === MOST_WITH_PLACES && alike.some(hasChanged));
  };
  return numbers.filter(isData).map((number) => givenNode(number, order));
}

/** Constants that decide how something is computed, and not only with what: small exponents of complex powers. */
function decidingNumbers(order: readonly Node[]): ReadonlySet<Node> {
  const powers = order.filter((node) => !isLeaf(node) && node.primitive === pow && isComplex(node.dtype));
  return new Set(powers.flatMap((node) => constantExponent(node) ?? []));
}

function partOf(node: Node, isPartOfForm: ReadonlySet<Node>): Part {
  const { primitive, params, shape, dtype } = node;
  const type = { shape, dtype, begins: null };
  if (isLeaf(node)) return { primitive: null, params: {}, inputs: [], ...type };
  if (primitive === constant && !isPartOfForm.has(node)) return { primitive, params: null, inputs: [], ...type };
  return { primitive, params, inputs: node.inputs.map(({ position }) => position), ...type, begins: beginningOf(node) };
}

/** Whether a graph, given in order, has the form. */
function isForm({ parts, roots: places }: Form<unknown>, order: readonly Node[], roots: readonly Node[]): boolean {
  if (parts.length !== order.length || places.length !== roots.length) return false;
  for (let i = 0; i < roots.length; i++) if (roots[i].position !== places[i]) return false;
  for (let i = 0; i < order.length; i++) if (!isPart(parts[i], order[i])) return false;
  return true;
}

function isPart(part: Part, node: Node): boolean {
  if (isLeaf(node)) return part.primitive === null && hasType(part, node);
  if (part.params === null) return node.primitive === constant && hasType(part, node);
  const { inputs } = node;
  if (part.primitive !== node.primitive || part.inputs.length !== inputs.length) return false;
  for (let i = 0; i < inputs.length; i++) if (part.inputs[i] !== inputs[i].position) return false;
  return part.begins
    ? isPlacedAlike(part as Part & { params: Params }, node, part.begins)
    : isSameValue(part.params, node.params);
}

/** Whether a movement of the same input differs at most in its place. */
function isPlacedAlike({ params, shape }: Part & { params: Params }, node: Node, { params: free }: Beginning): boolean {
  if (!sameShape(shape, node.shape)) return false;
  for (const name in params) if (!free.includes(name) && !isSameValue(params[name], node.params[name])) return false;
  return true;
}

const hasType = ({ shape, dtype }: Part, node: Node): boolean => dtype === node.dtype && sameShape(shape, node.shape);

/** A hash of primitives, shapes and inputs. Graphs that agree in these hardly ever differ in other parameters. */
function hashOf(order: readonly Node[], roots: readonly Node[]): number {
  let hash = order.length;
  for (let i = 0; i < order.length; i++) {
    const node = order[i];
    const { shape, inputs } = node;
    hash = hashString(hash, isLeaf(node) ? node.dtype : node.primitive.name);
    for (let j = 0; j < shape.length; j++) hash = mix(hash, shape[j]);
    if (!node.isEnd) for (let j = 0; j < inputs.length; j++) hash = mix(hash, inputs[j].position);
  }
  for (let i = 0; i < roots.length; i++) hash = mix(hash, roots[i].position);
  return hash;
}
