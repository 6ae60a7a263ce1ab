/**
 * Functions of a thread: a closed function of the graph, written into a kernel that someone else is writing. It runs once
 * for the row, wherever the kernel stands: parameters are loaded from places, results go to places. This is how a model's
 * log density and gradient become part of a sampler.
 *
 * There are no kernels to cut the function into, so the questions are others than the scheduler's. Results of few elements
 * are written out one by one, so that all their reductions of one extent share one pass over the data: a log likelihood and
 * its gradients load each observation once. What would be computed again and again inside a loop is kept in memory of the
 * row: sums inside sums, operands of products that are read often, and everything routines take and give. Several lanes
 * share passes and columns, down to a few elements: what each of them would write out for itself costs all of them its
 * instructions and registers. Routines, which go step by step, are for rows of one lane.
 */
import { UnsupportedError } from "../../core/errors.js";
import {
  type Atom,
  atomsOf,
  constantExpr,
  type IndexExpr,
  IndexSpace,
  isConstant,
  ravel,
  unravel,
} from "../../core/index-expr.js";
import { sizeOf } from "../../core/shape.js";
import type { GraphFunction } from "../../graph/function.js";
import { type Node, pendingInOrder } from "../../graph/node.js";
import { part } from "../../graph/primitives/bundle.js";
import { mul } from "../../graph/primitives/elementwise.js";
import { stored as storedPrimitive } from "../../graph/primitives/movement.js";
import { scan } from "../../graph/primitives/scan.js";
import { forEachRead, indexKey, reductionAt } from "../../graph/reads.js";
import { rewrite } from "../compile.js";
import { computeType, type Element, type ElementSettings } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import { placesOf } from "../lower/lane-walk.js";
import { Lowering } from "../lower/lowering.js";
import type { Group, Tiling } from "../schedule/group.js";
import { inlineRoutines, inlineScan } from "./inline-routines.js";
import type { Place, Scratch } from "./place.js";

export interface InlineContext {
  readonly k: KernelBuilder;
  readonly settings: ElementSettings;
  readonly scratch: Scratch;
}

/** The destination of a result: a place, or, for a single number, a value that is returned. */
export type InlineResult = Place | "value";

/** Elements of results that are written out one by one, in all. */
const MAX_UNROLLED = 64;
/** Additions of a sum inside a loop that are cheaper than keeping the sum in memory. */
const MAX_NESTED = 64;
/** Elements that a row walks over without a loop. */
const HELD = 16;
/** Reductions that are written out, and those of products. */
const MAX_SHORT = 8;
const MAX_PRODUCT = 32;
/** Elements that lanes share rather than each computing all of them. */
const LEAST_SHARED = 4;
/** Loaded vectors of this many elements are loaded before loops begin. */
const MAX_AHEAD = 64;

/** Writes the function. Returns the results that were asked for as values, in their order. */
export function inline(
  context: InlineContext,
  fn: GraphFunction,
  parameters: readonly Place[],
  results: readonly InlineResult[],
): Value[] {
  const expanded = rewrite(fn.results, fn.parameters, { kind: "none", sharedBytes: 0, maxLanes: 1, units: 1 });
  const places = new Map<Node, Place>(expanded.leaves.map((leaf, i) => [leaf, parameters[i]]));
  return new Inlining(context, expanded.roots, places).write(results);
}

/** Whether a function can be written for rows of several lanes: nothing in it goes step by step. */
export function isForLanes(fn: GraphFunction): boolean {
  const { roots } = rewrite(fn.results, fn.parameters, { kind: "none", sharedBytes: 0, maxLanes: 1, units: 1 });
  return pendingInOrder(roots).every(({ primitive, storage }) => storage !== null || primitive.kind !== "routine");
}

/** Elements that are wanted together: an index each, of which the inner atoms change from round to round. */
interface Targets {
  readonly elements: readonly { readonly node: Node; readonly index: readonly IndexExpr[] }[];
  readonly inner: ReadonlySet<Atom>;
}

interface Survey {
  /** Values that are computed, each loop's once. */
  readonly values: number;
  /** Whether something in it is a loop for each of the elements. */
  readonly hasLoops: boolean;
  /** Nodes to be stored before. */
  readonly cuts: ReadonlySet<Node>;
  /** Ordered places it loads from: at these constant indices. */
  readonly ahead: ReadonlyMap<Node, ReadonlySet<number>>;
}

class Inlining {
  private readonly order: readonly Node[];
  private readonly stored = new Set<Node>();
  /** Reductions that are needed for each round of a loop. */
  private readonly nested = new Set<Node>();

  constructor(
    private readonly context: InlineContext,
    private readonly roots: readonly Node[],
    private readonly places: Map<Node, Place>,
  ) {
    this.order = pendingInOrder(roots).filter((node) => node.storage === null);
  }

  write(results: readonly InlineResult[]): Value[] {
    const { roots, context, places } = this;
    const total = roots.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
    const isRoutine = (node: Node) => node.primitive.kind === "routine";
    const direct = roots.filter((root) => !isRoutine(root));
    const wide = new Set(direct.filter((root) => this.isWide(root)));
    const isShort = (root: Node) => (total <= MAX_UNROLLED && !wide.has(root)) || sizeOf(root.shape) === 1;
    for (const root of roots) if (isRoutine(root)) this.store(root);
    this.findStored(
      direct.filter(isShort),
      direct.filter((root) => !isShort(root)),
    );
    // A root that something else needs in memory is computed in its turn.
    const last = direct.filter((root) => !this.stored.has(root));
    const long = last.filter((root) => !isShort(root));

    roots.forEach((root, i) => {
      const result = results[i];
      if (result !== "value") places.set(root, result);
    });
    for (const node of this.order) this.compute(node);
    const values = this.writeElements(
      last.filter(isShort),
      (root) => results[roots.indexOf(root)],
      long.filter((root) => wide.has(root)),
    );
    for (const root of long) if (!wide.has(root)) this.writeColumns(root);
    return roots.flatMap((root, i) => {
      if (results[i] !== "value") return [];
      return [values.get(root) ?? (places.get(root) as Place).load(context.k.constant("i32", 0))];
    });
  }

  // ------------------------------------------------------------------------------------------------ what to share

  /** Whether lanes that take an element each have less to do than if all of them computed all. */
  private isWide(root: Node): boolean {
    if (this.context.k.lanes === 1 || sizeOf(root.shape) < LEAST_SHARED) return false;
    const columns = this.survey(columnTargets(root), true);
    return !columns.hasLoops && 2 * columns.values <= this.survey(elementTargets([root]), false).values;
  }

  /**
   * Short sums, and sums of products as long as rows of most designs, are written out; of several lanes only by each for
   * itself, in a loop that they share.
   */
  private readonly isWrittenOut = (node: Node): boolean => {
    const [input] = node.inputs;
    const extent = sizeOf((node.params.axes as readonly number[]).map((axis) => input.shape[axis]));
    if (extent > MAX_SHORT && (extent > MAX_PRODUCT || input.primitive !== mul)) return false;
    return this.context.k.lanes === 1 || extent < LEAST_SHARED || this.nested.has(node);
  };

  // ------------------------------------------------------------------------------------------------ what to keep

  private store(node: Node): void {
    if (node.storage !== null || this.stored.has(node)) return;
    this.stored.add(node);
    const { primitive } = node;
    if (primitive.kind !== "routine") return;
    for (const input of primitive === part ? node.inputs[0].inputs : node.inputs) this.store(input);
  }

  /** Looks at everything that will be written until nothing more is found that has to be kept. */
  private findStored(unrolled: readonly Node[], long: readonly Node[]): void {
    const looked = new Set<Node>();
    for (const cut of this.survey(elementTargets(unrolled), false).cuts) this.store(cut);
    for (;;) {
      const next = [...long, ...this.stored].find((node) => !looked.has(node) && node.primitive.kind !== "routine");
      if (!next) break;
      looked.add(next);
      const isShort = sizeOf(next.shape) <= HELD;
      for (const cut of this.survey(isShort ? elementTargets([next]) : columnTargets(next), !isShort).cuts) {
        this.store(cut);
      }
    }
  }

  private isLoaded(node: Node): boolean {
    return node.storage !== null || this.stored.has(node);
  }

  private survey({ elements, inner }: Targets, isColumns: boolean, space = new IndexSpace()): Survey {
    const cuts = new Set<Node>();
    const ahead = new Map<Node, Set<number>>();
    const seen = new Map<Node, Map<string, number>>();
    const targets = new Set(elements.map(({ node }) => node));
    let values = 0;
    let hasLoops = false;
    /** Additions it takes that a loop around it would repeat. */
    const visit = (node: Node, index: readonly IndexExpr[], within: ReadonlySet<Atom>): number => {
      const isTarget = targets.has(node);
      if (this.isLoaded(node) && !isTarget) {
        this.noteLoad(node, index, ahead);
        return 1;
      }
      const key = indexKey(index);
      const known = seen.get(node)?.get(key);
      if (known !== undefined) return known;
      const { primitive } = node;
      let work = 1;
      const need = (input: Node, at: readonly IndexExpr[], inside = within) => {
        work = Math.max(work, visit(input, at, inside));
      };
      if (primitive.kind === "routine" || (isColumns && primitive === storedPrimitive && !isTarget)) cuts.add(node);
      else if (primitive.kind === "elementwise" || primitive.kind === "movement") {
        forEachRead(space, node, index, (input, at) => need(input, at));
      } else if (primitive.kind === "reduce") {
        const { extent, at } = reductionAt(space, node, primitive.op, index);
        // An index that is read from memory may be another in every round, and is known only there.
        const isInner = (atom: Atom) => atom.kind === "computed" || within.has(atom);
        const isNested = index.some((each) => [...atomsOf(each)].some(isInner));
        if (isNested) this.nested.add(node);
        if (this.isWrittenOut(node)) for (let i = 0; i < extent; i++) need(node.inputs[0], at(constantExpr(i)));
        else {
          hasLoops ||= isNested;
          const position = space.variable("position", extent);
          need(node.inputs[0], at(position), new Set([...within, ...atomsOf(position)]));
        }
        if (!isNested) work = 1;
        else {
          work *= extent;
          if (work > MAX_NESTED && !isTarget) {
            cuts.add(node);
            work = 1;
          }
        }
      } else if (primitive.kind !== "leaf") {
        throw unsupported(node);
      }
      let byIndex = seen.get(node);
      if (!byIndex) {
        byIndex = new Map();
        seen.set(node, byIndex);
      }
      byIndex.set(key, work);
      values++;
      return work;
    };
    for (const { node, index } of elements) visit(node, index, inner);
    return { values, hasLoops, cuts, ahead };
  }

  private noteLoad(node: Node, index: readonly IndexExpr[], ahead: Map<Node, Set<number>>): void {
    const size = sizeOf(node.shape);
    const flat = ravel(index, node.shape);
    const noted = ahead.get(node) ?? new Set<number>();
    ahead.set(node, noted);
    if (isConstant(flat)) noted.add(flat.constant);
    else if (size <= MAX_AHEAD && this.context.k.lanes === 1) for (let i = 0; i < size; i++) noted.add(i);
  }

  // ------------------------------------------------------------------------------------------------ writing

  private compute(node: Node): void {
    if (node.primitive === scan) {
      this.computeScan(node);
      return;
    }
    if (!this.stored.has(node) || node.primitive === part) return;
    if (!this.places.has(node)) this.places.set(node, this.placeFor(node));
    if (node.primitive.kind !== "routine") {
      if (sizeOf(node.shape) <= HELD) this.writeElements([node], (each) => this.places.get(each) as Place);
      else this.writeColumns(node);
      return;
    }
    const routine = inlineRoutines[node.primitive.name];
    if (!routine) throw unsupported(node);
    this.checkOneLane(node);
    routine(this.context, node, this.inputPlaces(node), this.places.get(node) as Place);
  }

  private computeScan(node: Node): void {
    this.checkOneLane(node);
    const parts = this.order.filter(({ primitive, inputs }) => primitive === part && inputs[0] === node);
    for (const each of parts) if (!this.places.has(each)) this.places.set(each, this.placeFor(each));
    const results = parts.map((each) => ({
      index: each.params.index as number,
      place: this.places.get(each) as Place,
    }));
    inlineScan(this.context, node, this.inputPlaces(node), results, (body, from, to) => {
      inline(this.context, body, from, to);
    });
  }

  private inputPlaces(node: Node): Place[] {
    return node.inputs.map((input) => this.places.get(input) as Place);
  }

  private placeFor({ dtype, shape }: Node): Place {
    return this.context.scratch.place(dtype, sizeOf(shape));
  }

  private checkOneLane({ primitive }: Node): void {
    if (this.context.k.lanes === 1) return;
    throw new UnsupportedError(
      `${primitive.name} goes step by step, which several threads cannot share: give { lanes: 1 }.`,
    );
  }

  /**
   * A pass over the elements of small results, written out one by one, and over those of wide ones, which lanes share; what
   * is wanted as a value is returned.
   */
  private writeElements(
    roots: readonly Node[],
    resultOf: (root: Node) => InlineResult,
    wide: readonly Node[] = [],
  ): Map<Node, Value> {
    const { k } = this.context;
    const targets = elementTargets(roots);
    const { elements } = targets;
    const surveys = [this.survey(targets, false), ...wide.map((root) => this.survey(columnTargets(root), true))];
    const lowering = this.lowering([...roots, ...wide], surveys);
    lowering.shareReductions(
      [
        ...elements.map(({ node, index }) => ({ node, columns: null, at: () => index })),
        ...wide.map((root) => columnsOf(lowering, root)),
      ],
      [constantExpr(0)],
    );
    const computed = elements.map(({ node, index }) => lowering.element(node, index).value);
    const values = new Map<Node, Value>();
    const isFirst = k.lanes > 1 ? k.compare("eq", k.lane, k.constant("i32", 0)) : null;
    elements.forEach(({ node, index }, i) => {
      const result = resultOf(node);
      if (result === "value") values.set(node, computed[i]);
      else result.store(k.constant("i32", ravel(index, node.shape).constant), computed[i], isFirst);
    });
    for (const root of wide) this.overColumns(lowering, root);
    k.barrier();
    return values;
  }

  /** The elements of one result in a loop that lanes share. */
  private writeColumns(node: Node): void {
    if (sizeOf(node.shape) === 0) return;
    const lowering = this.lowering([node], [this.survey(columnTargets(node), true)]);
    lowering.shareReductions([columnsOf(lowering, node)], [constantExpr(0)]);
    this.overColumns(lowering, node);
    this.context.k.barrier();
  }

  private overColumns(lowering: PlacedLowering, node: Node): void {
    const place = this.places.get(node) as Place;
    const { columns, at } = columnsOf(lowering, node);
    lowering.overColumns(columns, (batch, gate) => {
      const writes = placesOf(batch).map((column) => ({
        index: lowering.indexValue(column),
        value: lowering.element(node, at(column, column), gate).value,
      }));
      for (const { index, value } of writes) place.store(index, value, gate);
    });
  }

  private lowering(results: readonly Node[], surveys: readonly Survey[]): PlacedLowering {
    const { k, settings } = this.context;
    const { isWrittenOut } = this;
    const tiling: Tiling = { lanes: k.lanes, width: 1, unroll: 1, elementsPerLane: k.lanes > 1 ? 1 : HELD };
    const group: Group = {
      results: results.map((node) => ({ node, rowAxes: [] })),
      tiling,
      rowsPerThread: 1,
      isLoaded: (node) => this.stored.has(node),
      isWrittenOut,
    };
    const lowering = new PlacedLowering(k, group, settings, this.places);
    for (const node of new Set(surveys.flatMap(({ ahead }) => [...ahead.keys()]))) {
      if (!this.places.get(node)?.isOrdered) continue;
      const indices = new Set(surveys.flatMap(({ ahead }) => [...(ahead.get(node) ?? [])]));
      for (const flat of indices) lowering.loadAhead(node, flat);
    }
    return lowering;
  }
}

const unsupported = ({ primitive: { name }, shape }: Node): UnsupportedError =>
  new UnsupportedError(
    `${name} [${shape}] cannot run inside a kernel of chains; compute it beforehand and pass it as data, or write it ` +
      "with sums, scan, cumsum or indexing.",
  );

/** Every element of some nodes. */
function elementTargets(nodes: readonly Node[]): Targets {
  const space = new IndexSpace();
  const elements = nodes.flatMap((node) =>
    Array.from({ length: sizeOf(node.shape) }, (_, i) => ({
      node,
      index: unravel(space, constantExpr(i), node.shape),
    })),
  );
  return { elements, inner: new Set() };
}

/** All elements of a node, as columns of the row. */
const columnsOf = ({ space }: Lowering, node: Node) => ({
  node,
  columns: sizeOf(node.shape),
  at: (_row: IndexExpr, column: IndexExpr) => unravel(space, column, node.shape),
});

/** Any element of a node. */
function columnTargets(node: Node): Targets {
  const space = new IndexSpace();
  const column = space.variable("column", sizeOf(node.shape));
  return { elements: [{ node, index: unravel(space, column, node.shape) }], inner: new Set(atomsOf(column)) };
}

/** Lowering that finds what it loads in places. */
class PlacedLowering extends Lowering {
  constructor(
    private readonly builder: KernelBuilder,
    group: Group,
    settings: ElementSettings,
    private readonly places: ReadonlyMap<Node, Place>,
  ) {
    super(builder, group, settings);
  }

  /** Loads an element now, for later. */
  loadAhead(node: Node, flat: number): void {
    const index = unravel(this.space, constantExpr(flat), node.shape);
    this.provide(node, index, this.load(node, index, null));
  }

  protected override load(node: Node, index: readonly IndexExpr[], gate: Value | null): Element {
    const k = this.builder;
    const place = this.places.get(node);
    if (!place) throw new Error(`inline: ${node.primitive.name} [${node.shape}] has no place`);
    const flat = this.indexValue(ravel(index, node.shape));
    const value = place.load(gate ? k.select(gate, flat, k.constant("i32", 0)) : flat);
    if (value.type !== computeType(node.dtype)) throw new Error(`inline: ${node.dtype} is kept as ${value.type}`);
    return { dtype: node.dtype, value };
  }
}
