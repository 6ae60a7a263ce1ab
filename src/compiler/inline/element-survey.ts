/**
 * Surveys what a function of a thread will compute, before any code is written: a walk from the elements that are wanted back
 * to what is in memory, with the indices that the lowering will meet. From it, inline.ts decides what is written together,
 * and worth-keeping.ts what is stored.
 */
import { UnsupportedError } from "../../core/errors.js";
import {
  type Atom,
  addConstant,
  atomsOf,
  constantExpr,
  type IndexExpr,
  IndexSpace,
  unravel,
} from "../../core/index-expr.js";
import { sizeOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { stored as storedPrimitive } from "../../graph/primitives/movement.js";
import { forEachRead, indexKey, readingsAt, reductionAt } from "../../graph/reads.js";

/** Elements that are wanted together: an index each, in loops, of which the outermost comes first, or in none. */
export interface ElementSet {
  readonly space: IndexSpace;
  readonly elements: readonly { readonly node: Node; readonly index: readonly IndexExpr[] }[];
  readonly loops: readonly Atom[];
  /** The elements are read, and may be in memory. */
  readonly isInputs?: boolean;
}

/** Neighbouring elements of a node, counted through all of them. */
export interface Stretch {
  readonly node: Node;
  readonly from: number;
  readonly count: number;
}

export const wholeOf = (node: Node): Stretch => ({ node, from: 0, count: sizeOf(node.shape) });

/** Every element of some stretches. */
export function everyElementOf(stretches: readonly Stretch[]): ElementSet {
  const space = new IndexSpace();
  const elements = stretches.flatMap(({ node, from, count }) =>
    Array.from({ length: count }, (_, i) => ({
      node,
      index: unravel(space, constantExpr(from + i), node.shape),
    })),
  );
  return { space, elements, loops: [] };
}

/** The loops over a stretch: their extents, and where the element of a round is. */
export interface Columns {
  readonly extents: readonly number[];
  at(space: IndexSpace, positions: readonly IndexExpr[]): IndexExpr[];
}

/** One loop over all elements, for lanes to share. */
export const flatColumns = ({ node, from, count }: Stretch): Columns => ({
  extents: [count],
  at: (space, [position]) => unravel(space, addConstant(position, from), node.shape),
});

/** A loop for each axis, so that what depends on outer ones alone is computed before the inner loops. */
export function nestedColumns(stretch: Stretch): Columns {
  const { node, from, count } = stretch;
  const [, ...inner] = node.shape;
  const each = sizeOf(inner);
  if (inner.every((extent) => extent === 1) || from % each !== 0 || count % each !== 0) return flatColumns(stretch);
  return {
    extents: [count / each, ...inner],
    at: (_space, [first, ...rest]) => [addConstant(first, from / each), ...rest],
  };
}

/** Any element of a stretch. */
export function anyElementOf({ node }: Stretch, { extents, at }: Columns): ElementSet {
  const space = new IndexSpace();
  const positions = extents.map((extent) => space.variable("column", extent));
  const loops = positions.flatMap((position) => [...atomsOf(position)]);
  return { space, elements: [{ node, index: at(space, positions) }], loops };
}

/** The axis of a reduction's result along which terms are neighbours, and the axes before it. */
interface NeighbourAxis {
  /** Extents of the axes before it, and its own; the axes behind it have one element. */
  readonly outer: readonly number[];
  readonly extent: number;
  at(rows: readonly IndexExpr[], column: IndexExpr): IndexExpr[];
}

export function neighbourAxisOf({ shape }: Node): NeighbourAxis {
  const axis = Math.max(
    0,
    shape.findLastIndex((extent) => extent > 1),
  );
  const behind = shape.slice(axis + 1).map(() => constantExpr(0));
  return { outer: shape.slice(0, axis), extent: shape[axis], at: (rows, column) => [...rows, column, ...behind] };
}

/** Whether neighbouring elements of a reduction have neighbouring terms: its input's last axis is one of its own. */
export function hasNeighbouringTerms(node: Node): boolean {
  const { primitive, inputs, dtype, params } = node;
  if (primitive.kind !== "reduce" || (dtype !== "f64" && dtype !== "f32")) return false;
  const [{ shape }] = inputs;
  const last = shape.findLastIndex((extent) => extent > 1);
  const axes = params.axes as readonly number[];
  // Sums in memory are added up one by one, without blocks.
  const isExact = dtype === "f64" || sizeOf(axes.map((axis) => shape[axis])) <= MAX_TERMS;
  return last >= 0 && !axes.includes(last) && isExact;
}

const MAX_TERMS = 2048;

/** A term of each sum of a reduction, in the order in which these sums are made. */
export function anyTermOf(node: Node): ElementSet {
  const space = new IndexSpace();
  if (node.primitive.kind !== "reduce") throw unsupported(node);
  const { outer, extent, at } = neighbourAxisOf(node);
  const variable = (extent: number) => space.variable("column", extent);
  const rows = outer.map(variable);
  const { extents } = reductionAt(
    space,
    node,
    node.primitive.op,
    node.shape.map(() => constantExpr(0)),
  );
  const positions = extents.map(variable);
  const column = variable(extent);
  const { atEach } = reductionAt(space, node, node.primitive.op, at(rows, column));
  const loops = [...rows, ...positions, column].flatMap((position) => [...atomsOf(position)]);
  return { space, elements: [{ node: node.inputs[0], index: atEach(positions) }], loops, isInputs: true };
}

/** The decisions so far that the walk needs. */
interface Decided {
  isLoaded(node: Node): boolean;
  isWrittenOut(reduction: Node): boolean;
  /** Hears of reductions that are needed in each round of a loop. */
  noteNested(reduction: Node): void;
  /** Reductions over several axes are loops inside loops. */
  readonly isNesting: boolean;
  /** Whether sums are made side by side, in a pass of their own. */
  isSummedTogether(reduction: Node): boolean;
  /** Reductions of the row over as many elements count as one loop, in which all of them are made. */
  readonly isSharing: boolean;
}

export interface ElementSurvey {
  /** Values that are computed, each loop's once. */
  readonly values: number;
  /** Whether something in it is a loop for each of the elements. */
  readonly hasLoops: boolean;
  /** Nodes that have to be stored before. */
  readonly cuts: ReadonlySet<Node>;
  /** Elements that are computed of each node, all rounds of loops counted. */
  readonly times: ReadonlyMap<Node, number>;
  /** Rounds of the outermost loop at which some movement begins or ends to read an input. */
  readonly edges: ReadonlySet<number>;
}

/**
 * Rounds of the open loops, outermost first, down to the last one in which an index changes: its element is computed before
 * the loops inside that.
 */
function roundsOf(index: readonly IndexExpr[], within: ReadonlySet<Atom>): number {
  const atoms = new Set(index.flatMap((each) => [...atomsOf(each)]));
  // An index that is read from memory may be another in every round.
  const isComputed = [...atoms].some(({ kind }) => kind === "computed");
  let [rounds, changing] = [1, 1];
  for (const atom of within) {
    if (atom.kind === "variable") rounds *= atom.extent;
    if (isComputed || atoms.has(atom)) changing = rounds;
  }
  return changing;
}

/** Whether loops ask for about as many elements as a reduction has. */
const isAll = (node: Node, index: readonly IndexExpr[], within: ReadonlySet<Atom>): boolean =>
  node.primitive.kind === "reduce" && 4 * roundsOf(index, within) >= 3 * sizeOf(node.shape);

/** Looks at all that some targets need. */
export function surveyElements({ space, elements, loops, isInputs }: ElementSet, decided: Decided): ElementSurvey {
  const targets = new Set(isInputs ? [] : elements.map(({ node }) => node));
  return new Walk(space, targets, loops, decided).over(elements);
}

class Walk implements ElementSurvey {
  values = 0;
  hasLoops = false;
  readonly cuts = new Set<Node>();
  readonly times = new Map<Node, number>();
  readonly edges = new Set<number>();
  private readonly seen = new Map<Node, Set<string>>();
  /** The loops of reductions of the row, by their extents. */
  private readonly shared = new Map<string, readonly IndexExpr[]>();

  constructor(
    private readonly space: IndexSpace,
    private readonly targets: ReadonlySet<Node>,
    private readonly loops: readonly Atom[],
    private readonly decided: Decided,
  ) {}

  over(elements: ElementSet["elements"]): ElementSurvey {
    const within = new Set(this.loops);
    for (const { node, index } of elements) this.visit(node, index, within);
    return this;
  }

  private visit(node: Node, index: readonly IndexExpr[], within: ReadonlySet<Atom>): void {
    const isTarget = this.targets.has(node);
    if (this.decided.isLoaded(node) && !isTarget) return;
    const key = indexKey(index);
    const seen = this.seen.get(node) ?? new Set<string>();
    this.seen.set(node, seen);
    if (seen.has(key)) return;
    seen.add(key);
    this.values++;
    this.times.set(node, (this.times.get(node) ?? 0) + roundsOf(index, within));
    const { primitive } = node;
    const isSummedApart = !isTarget && isAll(node, index, within) && this.decided.isSummedTogether(node);
    const isCut =
      isSummedApart ||
      primitive.kind === "routine" ||
      (this.loops.length > 0 && primitive === storedPrimitive && !isTarget);
    if (isCut) this.cuts.add(node);
    else if (primitive.kind === "elementwise" || primitive.kind === "movement") {
      this.noteEdges(node, index);
      forEachRead(this.space, node, index, (input, at) => this.visit(input, at, within));
    } else if (primitive.kind === "reduce") this.reduce(node, index, within);
    else if (primitive.kind !== "leaf") throw unsupported(node);
  }

  private reduce(node: Node, reduced: readonly IndexExpr[], within: ReadonlySet<Atom>): void {
    const { space, decided } = this;
    if (node.primitive.kind !== "reduce") return;
    const { extents, extent, at, atEach } = reductionAt(space, node, node.primitive.op, reduced);
    const isInner = (atom: Atom) => atom.kind === "computed" || within.has(atom);
    const isNested = reduced.some((each) => [...atomsOf(each)].some(isInner));
    if (isNested) decided.noteNested(node);
    if (decided.isWrittenOut(node)) {
      for (let i = 0; i < extent; i++) this.visit(node.inputs[0], at(constantExpr(i)), within);
    } else {
      this.hasLoops ||= isNested;
      const positions = this.loopOver(decided.isNesting ? extents : [extent], isNested);
      const index = decided.isNesting ? atEach(positions) : at(positions[0]);
      const loops = positions.flatMap((position) => [...atomsOf(position)]);
      this.visit(node.inputs[0], index, new Set([...(isNested ? within : []), ...loops]));
    }
  }

  /** The positions of a loop: one of its own, or the one that reductions of the row share. */
  private loopOver(extents: readonly number[], isNested: boolean): readonly IndexExpr[] {
    const made = () => extents.map((each) => this.space.variable("position", each));
    if (isNested || !this.decided.isSharing) return made();
    const key = extents.join();
    const known = this.shared.get(key) ?? made();
    this.shared.set(key, known);
    return known;
  }

  /** A bound of the outermost loop is an edge: on either side of it, the movement reads this input always or never. */
  private noteEdges(node: Node, index: readonly IndexExpr[]): void {
    const { space } = this;
    const [outermost] = this.loops;
    if (!outermost || node.primitive.kind !== "movement") return;
    for (const { tests } of readingsAt(space, node, node.primitive, index)) {
      for (const { value, low, high } of tests) {
        const [term, ...others] = value.terms;
        if (others.length > 0 || term?.atom !== outermost || term.factor !== 1) continue;
        for (const limit of [low, high]) this.edges.add(limit - value.constant);
      }
    }
  }
}

export const unsupported = ({ primitive: { name }, shape }: Node): UnsupportedError =>
  new UnsupportedError(
    `${name} [${shape}] cannot run inside a kernel of chains; compute it beforehand and pass it as data, or write it ` +
      `with sums, scan, cumsum or indexing.${name === "whileLoop" ? LOOP_REMEDY : ""}`,
  );

const LOOP_REMEDY = " A loop takes a number of rounds that is known: odeSolve is told them by { steps }.";
