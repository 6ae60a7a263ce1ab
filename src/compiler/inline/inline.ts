/**
 * Functions of a thread: a closed function of the graph, written into a kernel that someone else is writing. It runs once
 * for the row, wherever the kernel stands: parameters are loaded from places, results go to places. This is how a model's
 * log density and gradient become part of a sampler.
 *
 * There are no kernels to cut the function into, so the questions are others than the scheduler's. Results of few elements
 * are written out one by one, so that all their reductions of one extent share one pass over the data: a log likelihood and
 * its gradients load each observation once. What would be computed again and again is kept in memory of the row where that
 * is cheaper (worth-keeping.ts), and so is everything routines take and give. A thread of a CPU has vectors, and its memory is
 * a cache: from a few elements on it takes loops, and adds up neighbouring sums side by side. Several lanes share passes and
 * columns, down to a few elements: what each of them would write out for itself costs all of them its instructions and
 * registers. Routines, which go step by step, are for rows of one lane.
 *
 * element-survey.ts looks ahead at what passes will compute, passes.ts writes them.
 */
import { UnsupportedError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import type { GraphFunction } from "../../graph/function.js";
import { type Node, pendingInOrder } from "../../graph/node.js";
import { part } from "../../graph/primitives/bundle.js";
import { type ScanParams, scan } from "../../graph/primitives/control/scan.js";
import { mul } from "../../graph/primitives/elementwise.js";
import { rewrite } from "../compile.js";
import type { ElementSettings } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import {
  anyElementOf,
  anyTermOf,
  type Columns,
  type ElementSet,
  type ElementSurvey,
  everyElementOf,
  flatColumns,
  hasNeighbouringTerms,
  nestedColumns,
  type Stretch,
  surveyElements,
  unsupported,
  wholeOf,
} from "./element-survey.js";
import { inlineRoutines, inlineScan, roomFor, type ScanPart } from "./inline-routines.js";
import { type Pass, PassWriter } from "./passes.js";
import type { Place, Scratch } from "./place.js";
import { worthKeeping } from "./worth-keeping.js";

export interface InlineContext {
  readonly k: KernelBuilder;
  readonly settings: ElementSettings;
  readonly scratch: Scratch;
}

/** The destination of a result: a place, or, for a single number, a value that is returned. */
export type InlineResult = Place | "value";

/** The most elements that are written one by one, in all results together. */
const MAX_UNROLLED_IN_ALL = 64;
/** The most elements of one value that are written without a loop. Fewer for a thread with a cache: it has vectors for more. */
const MAX_UNROLLED = 16;
const MAX_UNROLLED_CACHED = 8;
/** Reductions that are written out, and those of products. */
const MAX_SHORT = 8;
const MAX_PRODUCT = 32;
/** Elements that lanes share rather than each computing all of them. */
const LEAST_SHARED = 4;
/** Stretches that the elements of a value are written in, at most. */
const MAX_STRETCHES = 64;

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

class Inlining {
  private readonly order: readonly Node[];
  private readonly writer: PassWriter;
  private readonly stored = new Set<Node>();
  /** Reductions that are needed for each round of a loop. */
  private readonly nested = new Set<Node>();

  constructor(
    private readonly context: InlineContext,
    private readonly roots: readonly Node[],
    private readonly places: Map<Node, Place>,
  ) {
    this.order = pendingInOrder(roots).filter((node) => node.storage === null);
    this.writer = new PassWriter(context, places, {
      isStored: (node) => this.stored.has(node),
      isWrittenOut: this.isWrittenOut,
      columnsOf: (stretch) => this.columnsOf(stretch),
      maxUnrolled: this.maxUnrolled,
    });
  }

  write(results: readonly InlineResult[]): Value[] {
    const { roots, context, places } = this;
    for (const root of roots) if (root.primitive.kind === "routine") this.store(root);
    const planned = this.findStored();
    roots.forEach((root, i) => {
      const result = results[i];
      if (result !== "value") places.set(root, result);
    });
    for (const node of this.order) this.compute(node, planned.get(node) ?? []);
    const values = new Map<Node, Value>();
    for (const pass of planned.get(null) as readonly Pass[]) {
      this.writer.write(pass, (root) => results[roots.indexOf(root)], values);
    }
    return roots.flatMap((root, i) => {
      if (results[i] !== "value") return [];
      return [values.get(root) ?? (places.get(root) as Place).load(context.k.constant("i32", 0))];
    });
  }

  // ------------------------------------------------------------------------------------------------ what to share

  /** Whether lanes that take an element each have less to do than if all of them computed all. */
  private isWide(root: Node): boolean {
    if (this.context.k.lanes === 1 || sizeOf(root.shape) < LEAST_SHARED) return false;
    const columns = this.survey(this.anyElementOf(wholeOf(root)));
    return !columns.hasLoops && 2 * columns.values <= this.survey(everyElementOf([wholeOf(root)])).values;
  }

  /**
   * Short sums, and sums of products as long as rows of most designs, are written out; of several lanes only by each for
   * itself, in a loop that they share.
   */
  private readonly isWrittenOut = (node: Node): boolean => {
    const [input] = node.inputs;
    const extent = sizeOf((node.params.axes as readonly number[]).map((axis) => input.shape[axis]));
    // A thread with a cache has vectors for longer ones.
    const most = input.primitive === mul && !this.context.scratch.isCached ? MAX_PRODUCT : MAX_SHORT;
    if (extent > most) return false;
    return this.context.k.lanes === 1 || extent < LEAST_SHARED || this.nested.has(node);
  };

  /**
   * Whether the sums of a reduction are better made side by side: neighbouring sums have neighbouring terms, which a thread
   * with vectors takes together.
   */
  private isSummedTogether(node: Node): boolean {
    if (!this.isNesting || !this.context.scratch.isCached || sizeOf(node.shape) <= this.maxUnrolled) return false;
    return hasNeighbouringTerms(node) && !this.isWrittenOut(node);
  }

  /** The passes that write the results which nothing else needs in memory. */
  private lastPasses(): Pass[] {
    const total = this.roots.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
    const last = this.roots.filter((root) => !this.stored.has(root));
    const wide = last.filter((root) => this.isWide(root));
    const most = this.context.scratch.isCached ? this.maxUnrolled : MAX_UNROLLED_IN_ALL;
    const isShort = (root: Node) => (total <= most && !wide.includes(root)) || sizeOf(root.shape) === 1;
    const stretches = last.filter(isShort).map(wholeOf);
    const long = last.filter((root) => !isShort(root) && !(total <= MAX_UNROLLED_IN_ALL && wide.includes(root)));
    const columns: Stretch[] = [];
    let room = MAX_UNROLLED_IN_ALL;
    for (const stretch of long.flatMap((root) => this.stretchesOf(root))) {
      if (stretch.count > Math.min(this.maxUnrolled, room)) columns.push(stretch);
      else {
        room -= stretch.count;
        stretches.push(stretch);
      }
    }
    return [
      { kind: "elements", stretches, wide: total <= MAX_UNROLLED_IN_ALL ? wide : [] },
      ...columns.map((stretch): Pass => {
        const { node, count } = stretch;
        const isWhole = count === sizeOf(node.shape);
        return isWhole && this.isSummedTogether(node) ? { kind: "sums", node } : { kind: "columns", stretch };
      }),
    ];
  }

  /** The passes that write a value which is kept. */
  private passesOf(node: Node): Pass[] {
    if (this.isSummedTogether(node)) return [{ kind: "sums", node }];
    const most = this.context.k.lanes === 1 ? this.maxUnrolled : LEAST_SHARED - 1;
    const stretches = sizeOf(node.shape) <= most ? [wholeOf(node)] : this.stretchesOf(node);
    return stretches.map((stretch) =>
      stretch.count <= most ? { kind: "elements", stretches: [stretch], wide: [] } : { kind: "columns", stretch },
    );
  }

  /**
   * A value, cut where what its elements are made of changes. A gradient is a sum of parts, each padded with zeros to the
   * length of all: between two edges only some of them count, and nothing of the others is computed.
   */
  private stretchesOf(node: Node): Stretch[] {
    const whole = wholeOf(node);
    const { edges } = this.survey(this.anyElementOf(whole));
    const each = whole.count / this.columnsOf(whole).extents[0];
    const cuts = [...edges]
      .map((edge) => edge * each)
      .filter((edge) => edge > 0 && edge < whole.count)
      .sort((a, b) => a - b);
    if (cuts.length === 0 || cuts.length >= MAX_STRETCHES) return [whole];
    const ends = [...cuts, whole.count];
    return ends.map((end, i) => ({ node, from: i === 0 ? 0 : ends[i - 1], count: end - (i === 0 ? 0 : ends[i - 1]) }));
  }

  // ------------------------------------------------------------------------------------------------ what to keep

  private store(node: Node): void {
    if (node.storage !== null || this.stored.has(node)) return;
    this.stored.add(node);
    const { primitive } = node;
    if (primitive.kind !== "routine") return;
    for (const input of primitive === part ? node.inputs[0].inputs : node.inputs) this.store(input);
  }

  /**
   * Looks at everything that will be written until nothing more is found that has to be kept. Returns the passes by the
   * node that they keep; those of the results are under null.
   */
  private findStored(): Map<Node | null, readonly Pass[]> {
    for (;;) {
      const kept = [...this.stored].filter(({ primitive }) => primitive.kind !== "routine");
      const planned = new Map<Node | null, readonly Pass[]>(kept.map((node) => [node, this.passesOf(node)]));
      planned.set(null, this.lastPasses());
      const surveys = [...planned.values()].flat().flatMap((pass) => this.surveysOf(pass));
      const cuts = new Set(surveys.flatMap((survey) => [...survey.cuts]));
      const isLoaded = (node: Node) => this.isLoaded(node);
      const { k, scratch } = this.context;
      const prices = { accessCost: scratch.accessCost, lanes: k.lanes };
      const found = cuts.size > 0 ? [...cuts] : worthKeeping(this.order, surveys, isLoaded, prices);
      if (found.length === 0) return planned;
      for (const node of found) this.store(node);
    }
  }

  private surveysOf(pass: Pass): ElementSurvey[] {
    if (pass.kind === "columns") return [this.survey(this.anyElementOf(pass.stretch))];
    if (pass.kind === "sums") return [this.survey(anyTermOf(pass.node))];
    const { stretches, wide } = pass;
    return [everyElementOf(stretches), ...wide.map((root) => this.anyElementOf(wholeOf(root)))].map((targets) =>
      this.survey(targets),
    );
  }

  private isLoaded(node: Node): boolean {
    return node.storage !== null || this.stored.has(node);
  }

  private survey(targets: ElementSet): ElementSurvey {
    return surveyElements(targets, {
      isLoaded: (node) => this.isLoaded(node),
      isWrittenOut: this.isWrittenOut,
      noteNested: (reduction) => this.nested.add(reduction),
      isNesting: this.isNesting,
      isSummedTogether: (reduction) => this.isSummedTogether(reduction),
      isSharing: !this.context.scratch.isCached,
    });
  }

  /** Lanes share loops over all elements; one lane has a loop for each axis. */
  private get isNesting(): boolean {
    return this.context.k.lanes === 1;
  }

  private get maxUnrolled(): number {
    return this.context.scratch.isCached ? MAX_UNROLLED_CACHED : MAX_UNROLLED;
  }

  private columnsOf(stretch: Stretch): Columns {
    return this.isNesting ? nestedColumns(stretch) : flatColumns(stretch);
  }

  private anyElementOf(stretch: Stretch): ElementSet {
    return anyElementOf(stretch, this.columnsOf(stretch));
  }

  // ------------------------------------------------------------------------------------------------ writing

  private compute(node: Node, passes: readonly Pass[]): void {
    if (node.primitive === scan) {
      this.computeScan(node);
      return;
    }
    if (node.primitive === part && node.inputs[0].primitive !== scan) throw unsupported(node.inputs[0]);
    if (!this.stored.has(node) || node.primitive === part) return;
    if (!this.places.has(node)) this.places.set(node, this.placeFor(node));
    for (const pass of passes) this.writer.write(pass, (each) => this.places.get(each) as Place);
    if (node.primitive.kind !== "routine") return;
    const routine = inlineRoutines[node.primitive.name];
    if (!routine) throw unsupported(node);
    this.checkOneLane(node);
    routine(this.context, node, this.inputPlaces(node), this.places.get(node) as Place);
  }

  private computeScan(node: Node): void {
    this.checkOneLane(node);
    const { k, scratch } = this.context;
    const { body, length } = node.params as unknown as ScanParams;
    const parts = this.order.filter(({ primitive, inputs }) => primitive === part && inputs[0] === node);
    const results = parts.map((each): ScanPart => {
      const index = each.params.index as number;
      const known = this.places.get(each);
      const size = sizeOf(each.shape) / length;
      const isBegun = index >= body.results.length && length > 0;
      const room = isBegun && !known ? scratch.place(each.dtype, (length + 1) * size) : null;
      const place = known ?? (room ? roomFor(k, node, room, size) : this.placeFor(each));
      this.places.set(each, place);
      return { index, place, room };
    });
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
}
