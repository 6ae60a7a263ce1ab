/**
 * The elements of a group as values of a kernel.
 *
 * A group has one result or several over the same rows. Their elements are asked for, one index at a time, from the
 * results backwards: movement rewrites the index, elementwise operations compute, and what other kernels have made is
 * loaded. The index space of a result is split into rows, which run in parallel, and columns, which the kernel loops
 * over. A reduction whose index depends on the row alone is computed once per row, before the columns: that is how
 * softmax becomes one kernel. Such reductions of the same extent share a loop unless one needs the other.
 *
 * `lowerGroup` makes a whole kernel of it; tiles, fused scans and functions inside larger kernels take from it what they need.
 */
import { DTYPES } from "../../core/dtype.js";
import { constantExpr, type IndexExpr, ravel } from "../../core/index-expr.js";
import { productOf } from "../../core/shape.js";
import type { ElementOps } from "../../graph/element-ops.js";
import type { Node } from "../../graph/node.js";
import { constant, iota } from "../../graph/primitives/leaf.js";
import {
  type ElementAt,
  indexKey,
  type PlacedReading,
  type Reduction,
  readingsAt,
  reductionAt,
} from "../../graph/reads.js";
import { reductionOf } from "../../graph/reduction.js";
import {
  computeType,
  type Element,
  type ElementSettings,
  elementOps,
  type RareRounding,
  rounded,
  roundedResult,
  wrap,
} from "../elements/elements.js";
import { clampedIndex } from "../ir/index-value.js";
import { MAX_I32, type Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { FloatType } from "../math/scalar-ops.js";
import type { Group } from "../schedule/group.js";
import { entryOf, KernelScope } from "./kernel-scope.js";
import { inPairs, LaneReductions } from "./lane-reductions.js";
import { type Batch, placesOf, planWalk, type Walk } from "./lane-walk.js";
import { reductionsInTurns, type Wanted } from "./row-reductions.js";
import { type RunningPosition, runningPositions } from "./running-positions.js";
import { type Arithmetic, RunningStates, type RunningSum, runningSums } from "./running-sums.js";

/** A result, and where its elements are, by what counts them. */
interface Written {
  readonly node: Node;
  at(position: IndexExpr): readonly IndexExpr[];
}

/** Sums that ran one turn ahead, and their states. */
interface Ahead {
  readonly sums: readonly RunningSum[];
  readonly states: readonly Value[];
}

export class Lowering extends KernelScope {
  readonly ops: ElementOps<Element>;
  private readonly results: ReadonlySet<Node>;
  /** The nodes behind the kernel's buffers. */
  readonly buffers: Node[] = [];
  private readonly slots = new Map<Node, number>();
  readonly lane: IndexExpr;
  /** The ways over the row that all its lanes take together, by extent. */
  private readonly walks = new Map<number, Walk>();
  private readonly computed = new Map<Value, IndexExpr>();
  /** Indices that are known to be below an extent. */
  private readonly insides = new Map<Value, Map<number, IndexExpr>>();
  private readonly rareRounding: RareRounding | null;
  /** Products, as far as they have been computed. */
  private readonly given = new Map<Node, (index: readonly IndexExpr[]) => Element>();

  constructor(
    k: KernelBuilder,
    private readonly group: Group,
    settings: ElementSettings,
  ) {
    super(k);
    this.ops = elementOps(k, settings, this.rarely);
    // A branch would keep a CPU from computing rows as vectors.
    const { division, flushesDenormals = false } = settings;
    const isSpeculative = (value: Value) => this.isSpeculative(value);
    this.rareRounding = division === "corrected" ? { rarely: this.rarely, flushesDenormals, isSpeculative } : null;
    this.results = new Set(group.results.map(({ node }) => node));
    this.lane = this.bind("lane", group.tiling.lanes, k.lane);
  }

  /** Tells the elements of a product that are asked for next. */
  give(product: Node, elementAt: (index: readonly IndexExpr[]) => Element): void {
    this.given.set(product, elementAt);
  }

  /** An element that was computed elsewhere. */
  provide(node: Node, index: readonly IndexExpr[], element: Element): void {
    this.remember(node, indexKey(index), element);
  }

  /**
   * Writes elements of results, when all are computed: those of one result one after another, so that they can be written
   * at once. `isOnce`: for the whole row.
   */
  store(results: readonly Written[], batch: Batch, gate: Value | null, isOnce: boolean): void {
    const compute = (positions: readonly IndexExpr[]) =>
      results.flatMap(({ node, at }) => {
        const slot = this.slotOf(node, true);
        return positions.map((position) => {
          const index = at(position);
          const place = this.indexValue(ravel(index, node.shape));
          return { slot, place, value: this.element(node, index, gate).value };
        });
      });
    const write = (elements: ReturnType<typeof compute>): Value[] => {
      for (const { slot, place, value } of elements) this.k.store(slot, place, value, isOnce, gate);
      return [];
    };
    this.speculate(
      () => compute(placesOf(batch)),
      write,
      () => this.overBatch(batch, [], (position) => write(compute([position]))),
    );
  }

  slotOf(node: Node, isWritten: boolean): number {
    return entryOf(this.slots, node, () => {
      this.buffers.push(node);
      const isLarge = productOf(node.shape) * DTYPES[node.dtype].bytes > 2 ** 32;
      return this.k.buffer(node.dtype, isWritten, isLarge);
    });
  }

  /** The way of all lanes together over a stretch of the row. */
  private walkOver(extent: number): Walk {
    const { tiling } = this.group;
    return entryOf(this.walks, extent, () =>
      this.isShared
        ? planWalk(this.space, this.lane, extent, tiling)
        : planWalk(this.space, constantExpr(0), extent, { ...tiling, lanes: 1, width: 1 }),
    );
  }

  /** Whether there were columns or reductions of a row: how they are written depends on the tiling. */
  get hasWalked(): boolean {
    return this.walks.size > 0;
  }

  /** Lanes share a row, and do not have one each. */
  private get isShared(): boolean {
    return this.group.rowsPerThread === 1;
  }

  /** Does something for every column. */
  overColumns(columns: number, body: (batch: Batch, gate: Value | null) => void): void {
    const { loops, after, bounded } = this.walkOver(columns);
    for (const { blocks, block, rounds, round, inRound } of loops) {
      this.loop(block, blocks, [], () =>
        this.loop(round, rounds, [], () => {
          body(inRound, null);
          return [];
        }),
      );
    }
    if (after.count > 0) body(after, null);
    if (bounded.count > 0) body(bounded, this.isBelow(bounded.at(constantExpr(0)), columns));
  }

  // ------------------------------------------------------------------------------------------------ elements

  /** The element of a node at an index. Under a gate the index may be out of range where the gate is false. */
  element(node: Node, index: readonly IndexExpr[], gate: Value | null = null): Element {
    const at = indexKey(index);
    const key = gate ? `${at}?${gate.id}` : at;
    // A value computed without a gate is valid under any gate.
    const known = this.recall(node, key) ?? this.recall(node, at);
    return known ?? this.remember(node, key, this.compute(node, index, gate));
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
        const made = primitive.lower(this.ops, operands, node.params, dtype);
        if (primitive.isExact) return made;
        return { dtype, value: roundedResult(this.k, dtype, made.value, operands, this.rareRounding) };
      }
      case "movement":
        return this.move(node, readingsAt(this.space, node, primitive, index), gate);
      case "reduce":
        return this.reduceAlone(reductionAt(this.space, node, primitive.op, index), gate);
      case "routine":
        throw new Error(`lower: ${primitive.name} is a routine and must have been computed`);
      case "contraction": {
        const given = this.given.get(node);
        if (!given) throw new Error(`lower: ${primitive.name} must have been expanded`);
        return given(index);
      }
      case "composite":
        throw new Error(`lower: ${primitive.name} must have been expanded`);
    }
  }

  private leaf(node: Node, index: readonly IndexExpr[]): Element {
    const { primitive, params, dtype } = node;
    if (primitive === constant) return this.ops.constant(dtype, params.value as number);
    if (primitive === iota) {
      const value = this.indexValue(index[0]);
      return this.ops.cast({ dtype: value.type as "i32" | "i64", value }, dtype);
    }
    throw new Error(`lower: a ${primitive.name} without storage`);
  }

  protected load(node: Node, index: readonly IndexExpr[], gate: Value | null): Element {
    const slot = this.slotOf(node, false);
    const flat = this.indexValue(ravel(index, node.shape));
    const safe = gate ? this.k.within(gate, flat) : flat;
    return { dtype: node.dtype, value: this.k.load(slot, safe, computeType(node.dtype)) };
  }

  /** The first reading whose bounds hold; bounds that the ranges prove are not tested. */
  private move(node: Node, readings: readonly PlacedReading[], gate: Value | null): Element {
    const { k } = this;
    const from = (i: number): Element => {
      const reading = readings[i];
      if (!reading) return this.outside(node);
      if (reading.isNever) return from(i + 1);
      const { source, tests } = reading;
      if (tests.length === 0) return this.element(source, reading.index(this.elementAt(gate)), gate);
      let condition: Value | null = null;
      for (const { value, low, high } of tests) {
        const at = this.indexValue(value);
        if (value.min < low) condition = this.both(condition, k.compare("ge", at, k.constant(at.type, low)));
        if (value.max >= high) condition = this.both(condition, k.compare("lt", at, k.constant(at.type, high)));
      }
      const isInside = condition as Value;
      const inner = this.both(gate, isInside);
      const parts = reading.index(this.elementAt(inner));
      // On the way to memory parts of an index that was split are joined again, if they are still seen to be such.
      const index = this.isLoaded(source) ? parts : parts.map((part, axis) => this.inside(part, source.shape[axis]));
      return this.ops.select({ dtype: "bool", value: isInside }, this.element(source, index, inner), from(i + 1));
    };
    return from(0);
  }

  /** An element as an index, held inside the axis. */
  private elementAt(gate: Value | null): ElementAt {
    return (node, index, extent) => {
      const last = Math.max(0, extent - 1);
      const clamped = clampedIndex(this.k, this.element(node, index, gate).value, last);
      return entryOf(this.computed, clamped, () => {
        const atom = this.space.computed(0, last);
        this.assign(atom, clamped);
        return atom;
      });
    };
  }

  /**
   * An index where the bounds of its reading hold: it is not negative, and below the extent. What is made of it from here on
   * may count on that, and splits into axes without division.
   */
  private inside(index: IndexExpr, extent: number): IndexExpr {
    if (index.min >= 0 && index.max < extent) return index;
    const value = this.k.convert(extent <= MAX_I32 ? "i32" : "i64", this.indexValue(index));
    return entryOf(
      entryOf(this.insides, value, () => new Map()),
      extent,
      () => this.index(value, extent),
    );
  }

  private outside(node: Node): Element {
    const { primitive, dtype, params } = node;
    if (primitive.kind !== "movement" || !primitive.otherwise) throw new Error(`${primitive.name}: read outside`);
    return this.ops.constant(dtype, primitive.otherwise(params));
  }

  /** A reduction that every lane needs at another index, and does by itself. */
  private reduceAlone(reduction: Reduction, gate: Value | null): Element {
    const elementsPerLane = this.group.isWrittenOut?.(reduction.node) ? reduction.extent : 0;
    const tiling = { lanes: 1, width: 1, unroll: 1, elementsPerLane };
    const walk = planWalk(this.space, constantExpr(0), reduction.extent, tiling);
    const [value] = this.reduce([reduction], walk, gate);
    return this.reduced(reduction, value);
  }

  /** The element that a total is. Sums and products of narrow dtypes are made in 32 bits, and cut or rounded here. */
  reduced({ node: { dtype }, op }: Reduction, total: Value): Element {
    const { isExact } = reductionOf(op);
    return { dtype, value: isExact ? total : rounded(this.k, dtype, wrap(this.k, dtype, total)) };
  }

  /** The results of reductions over the same axes, which one lane makes together. */
  reduceTogether(reductions: readonly Reduction[]): readonly Value[] {
    const [{ extent }] = reductions;
    const walk = planWalk(this.space, constantExpr(0), extent, { lanes: 1, width: 1, unroll: 1, elementsPerLane: 0 });
    const totals = this.reduce(reductions, walk, null);
    return reductions.map((reduction, i) => this.reduced(reduction, totals[i]).value);
  }

  /** A lane's totals of reductions of one extent; after them the positions, or the states of the sums, that run along with them. */
  private reduce(
    reductions: readonly Reduction[],
    walk: Walk,
    gate: Value | null,
    running: readonly RunningSum[] = [],
    positions: readonly RunningPosition[] = [],
  ): readonly Value[] {
    const ofLane = new LaneReductions(this, this.arithmetic, reductions, gate, running, positions);
    const axes = this.nestedAxes(reductions);
    if (axes) return ofLane.overAxes(axes);
    return running.length === 0 && this.canEnd(reductions) ? ofLane.untilFound(walk.extent) : ofLane.over(walk);
  }

  /** Whether the loop over reductions may end before the stretch does: see `endsBelow` in graph/primitives/reduce.ts. */
  private canEnd(reductions: readonly Reduction[]): boolean {
    const isAlone = !this.isShared || this.group.tiling.lanes === 1;
    return isAlone && reductions.every(({ node }) => node.params.endsBelow !== undefined);
  }

  /** The axes of reductions that get a loop each; null where there is one axis, or one loop over all of them is better. */
  private nestedAxes(reductions: readonly Reduction[]): readonly number[] | null {
    const { group } = this;
    const [{ extents }] = reductions;
    const isAlike = (other: Reduction) =>
      other.extents.length === extents.length && other.extents.every((extent, axis) => extent === extents[axis]);
    const isWrittenOut = ({ node }: Reduction) => group.isWrittenOut?.(node) === true;
    if (!group.isNesting || extents.filter((extent) => extent > 1).length < 2) return null;
    return reductions.every(isAlike) && !reductions.some(isWrittenOut) ? extents : null;
  }

  private get arithmetic(): Arithmetic {
    const exponential = (value: Value) => this.ops.math("exp", { dtype: value.type as FloatType, value }).value;
    return { k: this.k, exponential, inPairs };
  }

  // ------------------------------------------------------------------------------------------------ rows

  /** Computes the reductions that depend on the row alone, before a loop over columns begins. */
  shareReductions(results: readonly Wanted[], rows: readonly IndexExpr[]): void {
    const { space, group } = this;
    const known = { space, isLoaded: (node: Node) => this.isLoaded(node), isWrittenOut: group.isWrittenOut };
    const turns = reductionsInTurns(known, results, rows);
    const ahead = new Map<readonly Reduction[], Ahead>();
    /** Positions that were found a turn ahead. */
    const found = new Set<Reduction>();
    turns.forEach((turn, position) => {
      for (const [extent, all] of turn) {
        const early = ahead.get(all);
        const reductions = all.filter((each) => !found.has(each));
        if (reductions.length === 0) continue;
        const next = turns[position + 1]?.get(extent);
        const positions = early || !next ? [] : this.positionsWith(reductions, next);
        const isShort = early !== undefined || next === undefined || positions.length > 0 || !this.readsAgain;
        const walk = this.walkOver(extent);
        const running = isShort ? null : runningSums(space, walk, reductions, next, known.isLoaded);
        const totals =
          early === undefined
            ? this.reduce(reductions, walk, null, running ?? [], positions)
            : this.finished(early, walk);
        if (running && next) ahead.set(next, { sums: running, states: totals.slice(reductions.length) });
        for (const { reduction } of positions) found.add(reduction);
        [...reductions, ...positions.map(({ reduction }) => reduction)].forEach((reduction, i) => {
          const { node, op, index } = reduction;
          const total = this.isShared ? this.k.combineLanes(reductionOf(op).combine, totals[i]) : totals[i];
          this.remember(node, indexKey(index), this.reduced(reduction, total));
        });
      }
    });
  }

  /** The positions of a turn that are found in the loop of the turn before. */
  private positionsWith(reductions: readonly Reduction[], next: readonly Reduction[]): readonly RunningPosition[] {
    const isAlone = !this.isShared || this.group.tiling.lanes === 1;
    if (!isAlone || this.nestedAxes(reductions) || this.canEnd(reductions)) return [];
    return runningPositions(this.space, reductions, next, (node) => this.isLoaded(node));
  }

  /** Whether a second loop over a row would read it from memory again. */
  private get readsAgain(): boolean {
    const { isReadAgain, isNesting, tiling } = this.group;
    return !isNesting && (isReadAgain === true || (this.isShared && tiling.lanes > 1));
  }

  /** A lane's parts of sums that ran ahead, now that their shifts are known. */
  private finished({ sums, states }: Ahead, walk: Walk): readonly Value[] {
    const { k } = this;
    const shifts = sums.map(({ shift, reduction }) => this.element(shift, reduction.at(constantExpr(0))).value);
    return new RunningStates(this.arithmetic, sums).shifted(states, shifts).map((total, i) => {
      const { kind, reduction } = sums[i];
      if (!kind.mayOverflow) return total;
      const again = () =>
        k.when(
          k.compare("ne", total, total),
          () => this.reduce([reduction], walk, null),
          () => [total],
        );
      return this.forgetting(again)[0];
    });
  }
}
