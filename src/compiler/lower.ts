/**
 * From a fused group of the graph to one kernel.
 *
 * A group has one result or several over the same rows. Their elements are asked for, one index at a time, from the
 * results backwards: movement rewrites the index, elementwise operations compute, and what other kernels have made is
 * loaded. The index space of a result is split into rows, which run in parallel, and columns, which the kernel loops
 * over. A reduction whose index depends on the row alone is computed once per row, before the columns: that is how
 * softmax becomes one kernel. Such reductions of the same extent share a loop unless one needs the other.
 */

import {
  type Atom,
  add as addIndex,
  atomsOf,
  constantExpr,
  type IndexExpr,
  IndexSpace,
  keyOf,
  ravel,
  unravel,
} from "../core/index-expr.js";
import type { ElementOps } from "../graph/element-ops.js";
import type { Node } from "../graph/node.js";
import type { Reading, ReduceOp } from "../graph/primitive.js";
import { constant, iota } from "../graph/primitives/leaf.js";
import { computeType, type Element, type ElementSettings, elementOps, wrap } from "./elements.js";
import { type CombineOp, type Kernel, KernelBuilder, type Value } from "./ir.js";
import { identityOf } from "./split.js";

export interface GroupResult {
  readonly node: Node;
  /** Axes that run in parallel; the rest are columns. */
  readonly rowAxes: readonly number[];
}

export interface Group {
  /** They have as many rows, in the same order. */
  readonly results: readonly GroupResult[];
  /** Lanes that share a row. */
  readonly lanes: number;
  /** Nodes other kernels compute: loaded, not lowered. Nodes with storage are always loaded. */
  readonly isLoaded: (node: Node) => boolean;
  /** The product of matrices that its only result follows from, element by element. */
  readonly product?: FusedProduct;
  /** How its only result is made square by square, because its source lies the other way. */
  readonly transposed?: TransposedAxes;
}

export interface TransposedAxes {
  /** What has these axes: the result, or what it is another shape of. */
  readonly node: Node;
  /** The axis along which the source is contiguous, and the one along which the result is. */
  readonly from: number;
  readonly to: number;
  /** How much memory a workgroup shares, if squares go through it; null: through the cache. */
  readonly sharedBytes: number | null;
}

export interface FusedProduct {
  readonly dot: Node;
  /** From its first user to the result: each has as many elements, perhaps at other places. */
  readonly path: readonly Node[];
}

export interface LoweredKernel {
  readonly kernel: Kernel;
  /** The nodes whose memory the kernel takes, in the order of its buffers. */
  readonly buffers: readonly Node[];
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

export function lowerGroup(group: Group, name: string, settings: ElementSettings): LoweredKernel {
  const { results, lanes } = group;
  const rowShapeOf = ({ node, rowAxes }: GroupResult) => rowAxes.map((axis) => node.shape[axis]);
  const k = new KernelBuilder(name, sizeOf(rowShapeOf(results[0])), lanes);
  const lowering = new Lowering(k, group, settings);

  const row = lowering.bind("row", k.rows, k.row);
  const columnVariables = new Map<number, IndexExpr>();
  const wanted = results.map((result): Wanted => {
    const { node, rowAxes } = result;
    const rowIndex = unravel(lowering.space, row, rowShapeOf(result));
    const columnAxes = node.shape.map((_, axis) => axis).filter((axis) => !rowAxes.includes(axis));
    const columnShape = columnAxes.map((axis) => node.shape[axis]);
    const columns = columnAxes.length === 0 ? null : sizeOf(columnShape);
    const column =
      columns === null ? null : entryOf(columnVariables, columns, () => lowering.variable("column", columns));
    const columnIndex = column ? unravel(lowering.space, column, columnShape) : [];
    const index = node.shape.map((_, axis) => {
      const at = rowAxes.indexOf(axis);
      return at >= 0 ? rowIndex[at] : columnIndex[columnAxes.indexOf(axis)];
    });
    return { node, index, columns };
  });
  lowering.shareReductions(wanted, new Set([...columnVariables.values()].flatMap((column) => [...atomsOf(column)])));
  for (const result of wanted) if (result.columns === null) lowering.store(result, true);
  for (const [columns, column] of columnVariables) {
    const body = () => {
      for (const result of wanted) if (result.columns === columns) lowering.store(result, false);
      return [];
    };
    lowering.loop(column, columns, [], body, true);
  }
  return { kernel: k.finish(), buffers: lowering.buffers };
}

/** A result of the kernel: where its elements are in terms of the row and, if it has any, the column. */
interface Wanted {
  readonly node: Node;
  readonly index: readonly IndexExpr[];
  readonly columns: number | null;
}

/** What combines two partial results. */
const combining: Record<ReduceOp, CombineOp> = {
  sum: "add",
  product: "mul",
  max: "max",
  min: "min",
  all: "and",
  any: "or",
};

/** A reduction at one index, and the loop that computes it. */
interface ReductionLoop {
  readonly node: Node;
  readonly op: ReduceOp;
  readonly key: string;
  readonly extent: number;
  readonly variable: IndexExpr;
  /** Index of the input, in terms of the reduction's own index and the loop's variable. */
  readonly at: readonly IndexExpr[];
}

/** The index of a reading where elements of inputs stand for themselves: what can be said before anything is computed. */
export function symbolicIndex(space: IndexSpace, reading: Reading, node: Node): IndexExpr[] {
  const { shape } = node.inputs[reading.input];
  return reading.index.map((part, axis) => ("terms" in part ? part : space.computed(0, Math.max(0, shape[axis] - 1))));
}

const indexKey = (index: readonly IndexExpr[]): string => index.map(keyOf).join(";");

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

export class Lowering {
  readonly space = new IndexSpace();
  readonly ops: ElementOps<Element>;
  private readonly results: ReadonlySet<Node>;
  /** The nodes behind the kernel's buffers. */
  readonly buffers: Node[] = [];
  private readonly slots = new Map<Node, number>();
  private readonly atoms = new Map<Atom, Value>();
  private readonly known = new Map<Node, Map<string, Element>>();
  /** Elements in the order they were computed, so that those of a loop can be forgotten when it ends. */
  private readonly history: { readonly node: Node; readonly key: string; readonly element: Element }[] = [];
  /** Variables of the loops over reductions that depend on the row alone, by extent. */
  private readonly rowLoops = new Map<number, IndexExpr>();
  private readonly computed = new Map<Value, IndexExpr>();
  /** Products, as far as they have been computed. */
  private readonly given = new Map<Node, Element>();

  constructor(
    private readonly k: KernelBuilder,
    private readonly group: Group,
    settings: ElementSettings,
  ) {
    this.ops = elementOps(k, settings);
    this.results = new Set(group.results.map(({ node }) => node));
  }

  /** A loop variable whose value is known already. */
  bind(name: string, extent: number, value: Value): IndexExpr {
    const variable = this.variable(name, extent);
    this.assign(variable, value);
    return variable;
  }

  variable(name: string, extent: number): IndexExpr {
    return this.space.variable(name, extent);
  }

  private assign(variable: IndexExpr, value: Value): void {
    for (const { atom } of variable.terms) this.atoms.set(atom, value);
  }

  /** An index that is computed, and below the extent wherever it matters. */
  index(value: Value, extent: number): IndexExpr {
    const index = this.space.computed(0, extent - 1);
    this.assign(index, value);
    return index;
  }

  /** The element of a product that is asked for next. */
  give(product: Node, element: Element): void {
    this.given.set(product, element);
  }

  /** An element that was computed elsewhere. */
  provide(node: Node, index: readonly IndexExpr[], element: Element): void {
    this.remember(node, indexKey(index), element);
  }

  /** Writes an element of a result; `isOnce`: one for the whole row. */
  store({ node, index }: Wanted, isOnce: boolean): void {
    const { value } = this.element(node, index);
    this.k.store(this.slotOf(node, true), this.indexValue(ravel(index, node.shape)), value, isOnce);
  }

  slotOf(node: Node, isWritten: boolean): number {
    return entryOf(this.slots, node, () => {
      this.buffers.push(node);
      return this.k.buffer(node.dtype, isWritten);
    });
  }

  /** A loop over a variable. What was computed inside it is forgotten afterwards. */
  loop(
    variable: IndexExpr,
    extent: number,
    initial: readonly Value[],
    body: (accumulators: readonly Value[]) => readonly Value[],
    isLaneLoop: boolean,
  ): Value[] {
    const mark = this.history.length;
    const results = this.k.loop(
      extent,
      initial,
      (i, accumulators) => {
        this.assign(variable, i);
        return body(accumulators);
      },
      { isLaneLoop },
    );
    const depth = this.k.depth;
    const kept = this.history.splice(mark).filter(({ node, key, element }) => {
      if (element.value.depth <= depth) return true;
      this.known.get(node)?.delete(key);
      return false;
    });
    this.history.push(...kept);
    return results;
  }

  // ------------------------------------------------------------------------------------------------ elements

  /** The element of a node at an index. Under a gate the index may be out of range where the gate is false. */
  element(node: Node, index: readonly IndexExpr[], gate: Value | null = null): Element {
    const at = indexKey(index);
    const key = gate ? `${at}?${gate.id}` : at;
    // What is known without a gate is good under any.
    const known = this.known.get(node)?.get(key) ?? this.known.get(node)?.get(at);
    return known ?? this.remember(node, key, this.compute(node, index, gate));
  }

  private remember(node: Node, key: string, element: Element): Element {
    entryOf(this.known, node, () => new Map<string, Element>()).set(key, element);
    this.history.push({ node, key, element });
    return element;
  }

  isLoaded(node: Node): boolean {
    return node.storage !== null || (!this.results.has(node) && this.group.isLoaded(node));
  }

  private compute(node: Node, index: readonly IndexExpr[], gate: Value | null): Element {
    const { primitive, dtype } = node;
    if (this.isLoaded(node)) return this.load(node, index, gate);
    switch (primitive.kind) {
      case "leaf":
        return this.leaf(node, index);
      case "elementwise": {
        const operands = node.inputs.map((input) => this.element(input, index, gate));
        return primitive.lower(this.ops, operands, node.params, dtype);
      }
      case "movement":
        return this.move(node, primitive.read(this.space, index, node), gate);
      case "reduce":
        return this.reduce([this.reductionLoop(node, primitive.op, index)], gate, false)[0];
      case "routine":
        throw new Error(`lower: ${primitive.name} is a routine and must have been computed`);
      case "composite": {
        const given = this.given.get(node);
        if (!given) throw new Error(`lower: ${primitive.name} must have been expanded`);
        return given;
      }
    }
  }

  private leaf(node: Node, index: readonly IndexExpr[]): Element {
    const { primitive, params, dtype } = node;
    if (primitive === constant) return this.ops.constant(dtype, params.value as number);
    if (primitive === iota) return this.ops.cast({ dtype: "i32", value: this.indexValue(index[0]) }, dtype);
    throw new Error(`lower: a ${primitive.name} without storage`);
  }

  private load(node: Node, index: readonly IndexExpr[], gate: Value | null): Element {
    const slot = this.slotOf(node, false);
    const flat = this.indexValue(ravel(index, node.shape));
    const safe = gate ? this.k.select(gate, flat, this.k.constant("i32", 0)) : flat;
    return { dtype: node.dtype, value: this.k.load(slot, safe, computeType(node.dtype)) };
  }

  /** The first reading whose bounds hold; bounds that the ranges prove are not tested. */
  private move(node: Node, readings: readonly Reading[], gate: Value | null): Element {
    const { k } = this;
    const from = (i: number): Element => {
      const reading = readings[i];
      if (!reading) return this.outside(node);
      const tests = reading.bounds.filter(({ value, low, high }) => value.min < low || value.max >= high);
      if (tests.some(({ value, low, high }) => value.max < low || value.min >= high)) return from(i + 1);
      const input = node.inputs[reading.input];
      if (tests.length === 0) return this.element(input, this.resolve(node, reading, gate), gate);
      let condition: Value | null = null;
      for (const { value, low, high } of tests) {
        const at = this.indexValue(value);
        if (value.min < low) condition = this.both(condition, k.compare("ge", at, k.constant("i32", low)));
        if (value.max >= high) condition = this.both(condition, k.compare("lt", at, k.constant("i32", high)));
      }
      const isInside = condition as Value;
      const inner = this.both(gate, isInside);
      const inside = this.element(input, this.resolve(node, reading, inner), inner);
      return this.ops.select({ dtype: "bool", value: isInside }, inside, from(i + 1));
    };
    return from(0);
  }

  /** The index of a reading, with elements of inputs where it asks for them, held inside the axis. */
  private resolve(node: Node, reading: Reading, gate: Value | null): IndexExpr[] {
    const { k } = this;
    const { shape } = node.inputs[reading.input];
    return reading.index.map((part, axis) => {
      if ("terms" in part) return part;
      const last = Math.max(0, shape[axis] - 1);
      const { value } = this.ops.cast(this.element(node.inputs[part.input], part.index, gate), "i32");
      const held = k.binary("min", k.binary("max", value, k.constant("i32", 0)), k.constant("i32", last));
      return entryOf(this.computed, held, () => {
        const atom = this.space.computed(0, last);
        this.assign(atom, held);
        return atom;
      });
    });
  }

  private outside(node: Node): Element {
    const { primitive, dtype, params } = node;
    if (primitive.kind !== "movement" || !primitive.otherwise) throw new Error(`${primitive.name}: read outside`);
    return this.ops.constant(dtype, primitive.otherwise(params));
  }

  private both(a: Value | null, b: Value): Value {
    return a ? this.k.binary("and", a, b) : b;
  }

  /** Reductions of one extent, in one loop. */
  private reduce(loops: readonly ReductionLoop[], gate: Value | null, isLaneLoop: boolean): Element[] {
    const { k } = this;
    const [{ variable, extent }] = loops;
    const initial = loops.map(({ node, op }) => k.constant(computeType(node.dtype), identityOf(op, node.dtype)));
    const step = (accumulators: readonly Value[]) =>
      loops.map(({ node, op, at }, i) => {
        const { value } = this.element(node.inputs[0], at, gate);
        return k.binary(combining[op], accumulators[i], value);
      });
    const totals = this.loop(variable, extent, initial, step, isLaneLoop);
    return loops.map(({ node, op }, i) => {
      const total = isLaneLoop ? k.combineLanes(combining[op], totals[i]) : totals[i];
      return { dtype: node.dtype, value: wrap(k, node.dtype, total) };
    });
  }

  private reductionLoop(node: Node, op: ReduceOp, index: readonly IndexExpr[], isOfRow = false): ReductionLoop {
    const axes = node.params.axes as readonly number[];
    const { shape } = node.inputs[0];
    const extents = axes.map((axis) => shape[axis]);
    const extent = sizeOf(extents);
    const make = () => this.variable("k", extent);
    const variable = isOfRow ? entryOf(this.rowLoops, extent, make) : make();
    const reduced = unravel(this.space, variable, extents);
    let kept = 0;
    const at = shape.map((_, axis) => (axes.includes(axis) ? reduced[axes.indexOf(axis)] : index[kept++]));
    return { node, op, key: indexKey(index), extent, variable, at };
  }

  // ------------------------------------------------------------------------------------------------ rows

  /**
   * Finds the reductions that depend on the row alone. They are worked on by all lanes together, and are computed here,
   * before a loop over columns begins: in turns, such that each needs only those of earlier turns, with one loop per turn
   * and extent.
   */
  shareReductions(results: readonly Wanted[], columns: ReadonlySet<Atom>): void {
    const turns: Map<number, ReductionLoop[]>[] = [];
    const seen = new Map<Node, Map<string, number>>();
    /** The turn after which an element can be computed. */
    const visit = (node: Node, at: readonly IndexExpr[], inner: ReadonlySet<Atom>): number => {
      if (this.isLoaded(node)) return 0;
      const byIndex = entryOf(seen, node, () => new Map<string, number>());
      const key = indexKey(at);
      const known = byIndex.get(key);
      if (known !== undefined) return known;
      const { primitive } = node;
      let turn = 0;
      const need = (input: Node, index: readonly IndexExpr[], within = inner) => {
        turn = Math.max(turn, visit(input, index, within));
      };
      if (primitive.kind === "elementwise") for (const input of node.inputs) need(input, at);
      else if (primitive.kind === "movement") {
        for (const reading of primitive.read(this.space, at, node)) {
          for (const part of reading.index) if (!("terms" in part)) need(node.inputs[part.input], part.index);
          need(node.inputs[reading.input], symbolicIndex(this.space, reading, node));
        }
      } else if (primitive.kind === "reduce") {
        const isOfRow = at.every((expression) => [...atomsOf(expression)].every((atom) => !inner.has(atom)));
        const loop = this.reductionLoop(node, primitive.op, at, isOfRow);
        need(node.inputs[0], loop.at, new Set([...inner, ...atomsOf(loop.variable)]));
        if (isOfRow) {
          turns[turn] ??= new Map();
          entryOf(turns[turn], loop.extent, () => []).push(loop);
          turn++;
        }
      }
      byIndex.set(key, turn);
      return turn;
    };
    for (const { node, index } of results) visit(node, index, columns);
    for (const turn of turns) {
      for (const loops of turn.values()) {
        const elements = this.reduce(loops, null, true);
        loops.forEach(({ node, key }, i) => {
          this.remember(node, key, elements[i]);
        });
      }
    }
  }

  // ------------------------------------------------------------------------------------------------ indices

  /** An index expression as a value. */
  indexValue(x: IndexExpr): Value {
    const { k } = this;
    let total: Value | null = null;
    for (const { atom, factor } of x.terms) {
      const value = this.atomValue(atom);
      const term = factor === 1 ? value : k.binary("mul", value, k.constant("i32", factor));
      total = total ? k.binary("add", total, term) : term;
    }
    const rest = k.constant("i32", x.constant);
    return total ? k.binary("add", total, rest) : rest;
  }

  private atomValue(atom: Atom): Value {
    if (atom.kind === "variable" || atom.kind === "computed") {
      const value = this.atoms.get(atom);
      if (!value) throw new Error("lower: a loop variable is used outside its loop");
      return value;
    }
    const { k } = this;
    // Division truncates in the loop language; shifting by a multiple first makes that a floor.
    const shift = atom.of.min < 0 ? Math.ceil(-atom.of.min / atom.by) : 0;
    const inner = this.indexValue(addIndex(atom.of, constantExpr(shift * atom.by)));
    const by = k.constant("i32", atom.by);
    if (atom.kind === "remainder") return k.binary("irem", inner, by);
    const quotient = k.binary("idiv", inner, by);
    return shift === 0 ? quotient : k.binary("sub", quotient, k.constant("i32", shift));
  }
}
