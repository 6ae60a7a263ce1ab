/**
 * From a fused group of the graph to one kernel.
 *
 * A group has one result. Its elements are asked for, one index at a time, from the result backwards: movement rewrites
 * the index, elementwise operations compute, and what other kernels have made is loaded. The index space of the result
 * is split into rows, which run in parallel, and columns, which the kernel loops over. A reduction whose index depends on
 * the row alone is computed once per row, before the columns: that is how softmax becomes one kernel.
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

export interface Group {
  readonly result: Node;
  /** Axes of the result that run in parallel; the rest are columns. */
  readonly rowAxes: readonly number[];
  /** Lanes that share a row. */
  readonly lanes: number;
  /** Nodes other kernels compute: loaded, not lowered. Nodes with storage are always loaded. */
  readonly isLoaded: (node: Node) => boolean;
}

export interface LoweredKernel {
  readonly kernel: Kernel;
  /** The nodes whose memory the kernel takes, in the order of its buffers; the last is the result. */
  readonly buffers: readonly Node[];
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

export function lowerGroup(group: Group, name: string, settings: ElementSettings): LoweredKernel {
  const { result, rowAxes, lanes } = group;
  const rowShape = rowAxes.map((axis) => result.shape[axis] as number);
  const columnAxes = result.shape.map((_, axis) => axis).filter((axis) => !rowAxes.includes(axis));
  const columnShape = columnAxes.map((axis) => result.shape[axis] as number);
  const columns = sizeOf(columnShape);
  const k = new KernelBuilder(name, sizeOf(rowShape), lanes);
  const lowering = new Lowering(k, group, settings);

  const row = lowering.bind("row", k.rows, k.row);
  const rowIndex = unravel(lowering.space, row, rowShape);
  const column = lowering.variable("column", columns);
  const columnIndex = unravel(lowering.space, column, columnShape);
  const index = result.shape.map((_, axis) => {
    const at = rowAxes.indexOf(axis);
    return (at >= 0 ? rowIndex[at] : columnIndex[columnAxes.indexOf(axis)]) as IndexExpr;
  });
  const store = (target: number, isOnce: boolean) => {
    const { value } = lowering.element(result, index);
    k.store(target, lowering.indexValue(ravel(index, result.shape)), value, isOnce);
  };
  if (columnAxes.length === 0) {
    lowering.shareReductions(result, index, new Set());
    store(lowering.resultBuffer(), true);
  } else {
    lowering.shareReductions(result, index, atomsOf(column));
    const target = lowering.resultBuffer();
    lowering.loop(
      column,
      columns,
      [],
      () => {
        store(target, false);
        return [];
      },
      true,
    );
  }
  return { kernel: k.finish(), buffers: lowering.order() };
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

interface ReductionLoop {
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

class Lowering {
  readonly space = new IndexSpace();
  private readonly ops: ElementOps<Element>;
  private readonly loaded: Node[] = [];
  private readonly slots = new Map<Node, number>();
  private readonly atoms = new Map<Atom, Value>();
  private readonly known = new Map<Node, Map<string, Element>>();
  /** Elements in the order they were computed, so that those of a loop can be forgotten when it ends. */
  private readonly history: { readonly node: Node; readonly key: string; readonly element: Element }[] = [];
  private readonly loops = new Map<Node, Map<string, ReductionLoop>>();
  /** Reductions that all lanes of a row work on together. */
  private readonly shared = new Map<Node, Set<string>>();
  private readonly computed = new Map<Value, IndexExpr>();
  private resultSlot = -1;

  constructor(
    private readonly k: KernelBuilder,
    private readonly group: Group,
    settings: ElementSettings,
  ) {
    this.ops = elementOps(k, settings);
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

  resultBuffer(): number {
    this.resultSlot = this.k.buffer(this.group.result.dtype, true);
    return this.resultSlot;
  }

  /** The nodes behind the kernel's buffers. */
  order(): Node[] {
    const nodes = [...this.loaded];
    nodes.splice(this.resultSlot, 0, this.group.result);
    return nodes;
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
    const byIndex = entryOf(this.known, node, () => new Map<string, Element>());
    const known = byIndex.get(key);
    if (known) return known;
    const element = this.compute(node, index, gate, at);
    byIndex.set(key, element);
    this.history.push({ node, key, element });
    return element;
  }

  private isLoaded(node: Node): boolean {
    return node.storage !== null || (node !== this.group.result && this.group.isLoaded(node));
  }

  private compute(node: Node, index: readonly IndexExpr[], gate: Value | null, at: string): Element {
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
        return this.reduce(node, primitive.op, index, gate, this.shared.get(node)?.has(at) === true);
      case "routine":
        throw new Error(`lower: ${primitive.name} is a routine and must have been computed`);
      case "composite":
        throw new Error(`lower: ${primitive.name} must have been expanded`);
    }
  }

  private leaf(node: Node, index: readonly IndexExpr[]): Element {
    const { primitive, params, dtype } = node;
    if (primitive === constant) return this.ops.constant(dtype, params.value as number);
    if (primitive === iota) return this.ops.cast({ dtype: "i32", value: this.indexValue(index[0]) }, dtype);
    throw new Error(`lower: a ${primitive.name} without storage`);
  }

  private load(node: Node, index: readonly IndexExpr[], gate: Value | null): Element {
    let slot = this.slots.get(node);
    if (slot === undefined) {
      slot = this.k.buffer(node.dtype, false);
      this.slots.set(node, slot);
      this.loaded.push(node);
    }
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

  private reduce(
    node: Node,
    op: ReduceOp,
    index: readonly IndexExpr[],
    gate: Value | null,
    isShared: boolean,
  ): Element {
    const { k } = this;
    const { extent, variable, at } = this.reductionLoop(node, index);
    const combine = combining[op];
    const start = k.constant(computeType(node.dtype), identityOf(op, node.dtype));
    const step = ([accumulator]: readonly Value[]) => {
      const { value } = this.element(node.inputs[0], at, gate);
      return [k.binary(combine, accumulator, value)];
    };
    const [total] = this.loop(variable, extent, [start], step, isShared);
    const combined = isShared ? k.combineLanes(combine, total) : total;
    return { dtype: node.dtype, value: wrap(k, node.dtype, combined) };
  }

  private reductionLoop(node: Node, index: readonly IndexExpr[]): ReductionLoop {
    const byIndex = entryOf(this.loops, node, () => new Map<string, ReductionLoop>());
    return entryOf(byIndex, indexKey(index), () => {
      const axes = node.params.axes as readonly number[];
      const { shape } = node.inputs[0];
      const extents = axes.map((axis) => shape[axis]);
      const extent = sizeOf(extents);
      const variable = this.variable("k", extent);
      const reduced = unravel(this.space, variable, extents);
      let kept = 0;
      const at = shape.map((_, axis) => (axes.includes(axis) ? reduced[axes.indexOf(axis)] : index[kept++]));
      return { extent, variable, at };
    });
  }

  // ------------------------------------------------------------------------------------------------ rows

  /**
   * Finds the reductions that depend on the row alone. They are worked on by all lanes together, and are computed here,
   * before a loop over columns begins.
   */
  shareReductions(result: Node, index: readonly IndexExpr[], columns: ReadonlySet<Atom>): void {
    const found: { readonly node: Node; readonly at: readonly IndexExpr[] }[] = [];
    const seen = new Map<Node, Set<string>>();
    const visit = (node: Node, at: readonly IndexExpr[], inner: ReadonlySet<Atom>) => {
      const keys = entryOf(seen, node, () => new Set<string>());
      const key = indexKey(at);
      if (keys.has(key) || this.isLoaded(node)) return;
      keys.add(key);
      const { primitive } = node;
      if (primitive.kind === "elementwise") for (const input of node.inputs) visit(input, at, inner);
      else if (primitive.kind === "movement") {
        for (const reading of primitive.read(this.space, at, node)) {
          for (const part of reading.index) if (!("terms" in part)) visit(node.inputs[part.input], part.index, inner);
          visit(node.inputs[reading.input], symbolicIndex(this.space, reading, node), inner);
        }
      } else if (primitive.kind === "reduce") {
        const loop = this.reductionLoop(node, at);
        visit(node.inputs[0], loop.at, new Set([...inner, ...atomsOf(loop.variable)]));
        const isOfRow = at.every((expression) => [...atomsOf(expression)].every((atom) => !inner.has(atom)));
        if (isOfRow) found.push({ node, at });
      }
    };
    visit(result, index, columns);
    for (const { node, at } of found) {
      entryOf(this.shared, node, () => new Set<string>()).add(indexKey(at));
      this.element(node, at);
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
