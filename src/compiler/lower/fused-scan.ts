/**
 * A scan whose rounds go element by element, as one kernel with the loop inside: a row takes its elements of the carries
 * through all rounds, loads its elements of the sequences on the way and stores those of the stacked results. Beside
 * kernels for every round, carries stay in registers and there is nothing to wait for between rounds.
 *
 * It can be done when no element needs another one's carries, which is seen from the indices at which the body reads them;
 * sequences and constants may be read anywhere. Loops ask here first for every scan (steps/loop-steps.ts).
 */
import { isComplex } from "../../core/dtype.js";
import {
  addConstant,
  add as addIndex,
  constantExpr,
  type IndexExpr,
  keyOf,
  ravel,
  scale,
  unravel,
} from "../../core/index-expr.js";
import { type Shape, sizeOf } from "../../core/shape.js";
import { type Node, pendingInOrder } from "../../graph/node.js";
import { outputsOf, part } from "../../graph/primitives/bundle.js";
import type { ScanParams } from "../../graph/primitives/control/scan.js";
import { dot } from "../../graph/primitives/dot.js";
import { forEachRead, indexKey } from "../../graph/reads.js";
import type { Element, ElementSettings } from "../elements/elements.js";
import { MAX_I32, type Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { describeScan } from "../print/formula.js";
import type { Group, LoweredKernel } from "../schedule/group.js";
import { statementsOf } from "../schedule/statement-counts.js";
import type { TargetProfile } from "../target/profile.js";
import type { TileProfile } from "../target/tile-profile.js";
import { Lowering } from "./lowering.js";

/** The elements of each lane of a row: its own, several of which it works on in turn. */
interface Sharing {
  readonly lanes: number;
  readonly turns: number;
}

const ALONE: Sharing = { lanes: 1, turns: 1 };
/** Values in a kernel that is written for several turns. */
const MAX_SIZE = 2500;

/** The rewriting passes of the compiler (compile.ts), which come before the lowering. */
export type RewriteBody = (
  results: readonly Node[],
  parameters: readonly Node[],
  tiles: TileProfile,
) => { readonly roots: readonly Node[]; readonly leaves: readonly Node[] };

/** The parts of a scan that are needed. */
export interface ScanParts {
  readonly last: readonly Node[];
  readonly stacked: readonly Node[];
}

/**
 * The kernel of a scan, whose buffers are inputs of the scan and the parts. Null where it takes more than one kernel.
 * `results` are those of the body that are needed: the carries, and what is stacked.
 */
export function lowerScan(
  node: Node,
  results: readonly Node[],
  parts: ScanParts,
  profile: TargetProfile,
  settings: ElementSettings,
  rewriteBody: RewriteBody,
): (LoweredKernel & { readonly formula: () => string }) | null {
  const { body, length } = paramsOf(node);
  const sizes = results.map(({ shape }) => sizeOf(shape));
  const size = Math.max(0, ...sizes);
  const isReal = [...body.parameters, ...results].every(({ dtype }) => !isComplex(dtype));
  const isCountable = [...node.inputs, ...outputsOf(node)].every(({ shape }) => sizeOf(shape) <= MAX_I32);
  if (length === 0 || size === 0 || !sizes.every((own) => own === size || own === 1)) return null;
  if (!isReal || !isCountable || !pendingInOrder(results).every(mayGoByElements)) return null;
  const { roots, leaves } = rewriteBody(results, body.parameters, profile.tiles);
  const order = pendingInOrder(roots);
  const statements = order.reduce((sum, each) => sum + statementsOf(each), 0);
  if (order.length > profile.maxNodes || statements > profile.maxStatements) return null;
  const name = `scan[${[length, ...results[0].shape].join("×")}]`;
  const lower = ({ lanes, turns }: Sharing): LoweredKernel | null => {
    const k = new KernelBuilder(name, size / (lanes * turns), lanes);
    const lowering = new ScanLowering(k, turns, node, leaves, settings);
    return lowering.isByElements(roots) ? lowering.write(roots, parts) : null;
  };
  const wish = sizes.every((own) => own === size) ? sharingOf(size, profile) : ALONE;
  const wished = lower(wish);
  const lowered = wished && wished.kernel.size > MAX_SIZE ? lower(ALONE) : wished;
  if (!lowered) return null;
  const formula = () => describeScan(node, { roots, leaves }, parts, lowered.buffers, lowered.kernel.buffers);
  return { ...lowered, formula };
}

/** On a CPU one round after another takes long, and several elements side by side no longer than one. */
function sharingOf(size: number, { columnReduction }: TargetProfile): Sharing {
  if (!columnReduction || size % columnReduction.lanes !== 0) return ALONE;
  let { turns } = columnReduction;
  while (size % (columnReduction.lanes * turns) !== 0) turns /= 2;
  return { lanes: columnReduction.lanes, turns };
}

const paramsOf = ({ params }: Node): ScanParams => params as unknown as ScanParams;

/** Composites, and their parts, are looked at when they are expanded; of one it is known what becomes of it. */
const mayGoByElements = ({ primitive }: Node): boolean =>
  primitive === part || (primitive.kind !== "reduce" && primitive.kind !== "routine" && primitive !== dot);

const groupOf = (lanes: number): Group => ({
  results: [],
  tiling: { lanes, width: 1, unroll: 1, elementsPerLane: 1 },
  rowsPerThread: 1,
  isLoaded: () => false,
});

class ScanLowering extends Lowering {
  /** The elements of a lane, counted through all of them. */
  private readonly elements: readonly IndexExpr[];
  private readonly round: IndexExpr;
  /** The position in the sequences of the present round. */
  private readonly position: IndexExpr;
  /** The carries of the element in whose turn it is, as they are now. */
  private carried: readonly Element[] = [];

  constructor(
    private readonly kernel: KernelBuilder,
    turns: number,
    private readonly scan: Node,
    private readonly leaves: readonly Node[],
    settings: ElementSettings,
  ) {
    super(kernel, groupOf(kernel.lanes), settings);
    const { length, isReverse } = paramsOf(scan);
    const { rows, row, lanes } = kernel;
    const first = addIndex(scale(this.bind("row", rows, row), lanes * turns), this.lane);
    this.elements = Array.from({ length: turns }, (_, turn) => addConstant(first, lanes * turn));
    this.round = this.variable("round", length);
    this.position = isReverse ? addConstant(scale(this.round, -1), length - 1) : this.round;
  }

  /** The index of an element in a value of some shape; a value of one element is broadcast. */
  private indexOf(element: IndexExpr, shape: Shape): IndexExpr[] {
    return sizeOf(shape) === 1 ? shape.map(() => constantExpr(0)) : unravel(this.space, element, shape);
  }

  write(roots: readonly Node[], parts: ScanParts): LoweredKernel {
    const { elements } = this;
    const { constants, carries, length } = paramsOf(this.scan);
    const inputs = this.scan.inputs.slice(constants, constants + carries);
    const first = elements.flatMap((element) =>
      inputs.map((input) => super.load(input, this.indexOf(element, input.shape), null).value),
    );
    const last = this.loop(this.round, length, first, (accumulators) => {
      const made = elements.map((element, turn) => {
        this.carried = inputs.map(({ dtype }, i) => ({ dtype, value: accumulators[turn * carries + i] }));
        return roots.map((root) => this.element(root, this.indexOf(element, root.shape)));
      });
      parts.stacked.forEach((each, i) => {
        const values = made.map((results) => results[carries + i].value);
        this.storeElements(each, each.shape.slice(1), [this.position], values);
      });
      return made.flatMap((results) => results.slice(0, carries).map(({ value }) => value));
    });
    for (const each of parts.last) {
      const at = each.params.index as number;
      this.storeElements(
        each,
        each.shape,
        [],
        elements.map((_, turn) => last[turn * carries + at]),
      );
    }
    return { kernel: this.kernel.finish(), buffers: this.buffers };
  }

  /** Writes the lane's elements of a part of a result, or one that all have, which is left to the first row. */
  private storeElements(result: Node, shape: Shape, before: readonly IndexExpr[], values: readonly Value[]): void {
    const { kernel: k } = this;
    const isOfAll = sizeOf(shape) === 1 && k.rows > 1;
    const gate = isOfAll ? k.compare("eq", k.row, k.constant("i32", 0)) : null;
    this.elements.forEach((element, turn) => {
      const place = this.indexValue(ravel([...before, ...this.indexOf(element, shape)], result.shape));
      k.store(this.slotOf(result, true), place, values[turn], k.lanes === 1, gate);
    });
  }

  protected override load(leaf: Node, index: readonly IndexExpr[], gate: Value | null): Element {
    const { constants, carries } = paramsOf(this.scan);
    const i = this.leaves.indexOf(leaf);
    const input = this.scan.inputs[i];
    if (i < constants) return super.load(input, index, gate);
    return i < constants + carries ? this.carried[i - constants] : super.load(input, [this.position, ...index], gate);
  }

  /** Whether each root is computed element by element, and from no carry but its own. */
  isByElements(roots: readonly Node[]): boolean {
    const { constants, carries } = paramsOf(this.scan);
    const carried = new Set(this.leaves.slice(constants, constants + carries));
    const isOwn = (element: IndexExpr) => {
      const seen = new Map<Node, Set<string>>();
      const visit = (node: Node, index: readonly IndexExpr[]): boolean => {
        const key = indexKey(index);
        const known = seen.get(node) ?? new Set();
        if (known.has(key)) return true;
        seen.set(node, known.add(key));
        if (carried.has(node)) return sizeOf(node.shape) === 1 || keyOf(ravel(index, node.shape)) === keyOf(element);
        if (node.storage !== null) return true;
        const { kind } = node.primitive;
        if (kind === "leaf") return true;
        if (kind !== "elementwise" && kind !== "movement") return false;
        let areOwn = true;
        forEachRead(this.space, node, index, (input, at) => {
          areOwn &&= visit(input, at);
        });
        return areOwn;
      };
      return roots.every((root) => visit(root, this.indexOf(element, root.shape)));
    };
    return this.elements.every(isOwn);
  }
}
