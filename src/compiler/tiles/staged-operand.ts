/**
 * An operand of a product on its way into shared memory (shared-product.ts): the lanes of a workgroup load a tile of it
 * together, write it to shared memory, and read back the rows or columns that each of them multiplies.
 */
import { constantExpr, type IndexExpr, add as plus, scale } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { Lowering } from "../lower/lowering.js";
import { areVectors, loadStrides } from "../schedule/loads.js";
import type { SharedTile } from "../target/tile-profile.js";
import type { ProductArithmetic } from "./arithmetic.js";
import { pitchOf } from "./shared-candidates.js";

/** One operand of the product, as its tiles are loaded. */
export interface StagedOperand {
  readonly node: Node;
  /** Rows of the tile for the left operand, columns for the right one. */
  readonly rows: number;
  /** Rows or columns of the whole operand. */
  readonly extent: number;
  /** The first row or column of the tile. */
  readonly first: Value;
  /** Neighbouring rows or columns that a lane reads back at once. */
  readonly neighbours: number;
  /** The index of the operand, from the one along the tile and the one along the summation. */
  readonly at: (along: IndexExpr, summed: IndexExpr) => readonly IndexExpr[];
}

/** An operand on its way into shared memory: lanes load units of one element or of `width` neighbours. */
export class Stage {
  private readonly array: number;
  private readonly depth: number;
  private readonly pitch: number;
  /** Neighbours in memory are neighbours along the summation. */
  private readonly isAlongSum: boolean;
  private readonly unit: number;
  /** Units of a row of the tile in memory, of the tile, and of those that the lanes take at a time. */
  private readonly perLine: number;
  private readonly units: number;
  private readonly perPass: number;

  constructor(
    private readonly k: KernelBuilder,
    private readonly lowering: Lowering,
    private readonly arithmetic: ProductArithmetic,
    private readonly operand: StagedOperand,
    { depth, buffers }: SharedTile,
    private readonly summed: number,
    private readonly lanes: number,
    private readonly width: number,
    private readonly lane: IndexExpr,
  ) {
    this.depth = depth;
    this.pitch = pitchOf(operand.rows);
    this.array = k.array(arithmetic.type, buffers * depth * this.pitch);
    const isLoaded = (node: Node) => lowering.isLoaded(node);
    const [one, zero] = [1, 0].map(constantExpr);
    // The operand's axis along the tile; the other one is along the summation.
    const axisOf = (expression: IndexExpr) => operand.at(expression, zero).indexOf(expression);
    const tileAxis = axisOf(one);
    const strides = loadStrides(operand.node, isLoaded);
    const summedAxis = 3 - tileAxis;
    const votes = (axis: number) => strides.filter((each) => Math.abs(each[axis]) === 1).length;
    this.isAlongSum = votes(summedAxis) > votes(tileAxis);
    const [extent, line, axis] = this.isAlongSum
      ? [summed, depth, summedAxis]
      : [operand.extent, operand.rows, tileAxis];
    // A vector must lie inside the axis and begin at a multiple of its width. Single elements share more of their index.
    const isWhole = extent % width === 0 && line % width === 0;
    this.unit = isWhole && areVectors(operand.node, isLoaded, axis, width) ? width : 1;
    this.perLine = line / this.unit;
    this.units = (operand.rows * depth) / this.unit;
    // Whole lines at a time: then a lane divides once, and each pass is so many lines further.
    this.perPass = lanes < this.perLine ? lanes : lanes - (lanes % this.perLine);
  }

  /** The lane's units, pass by pass: its line, where in it, and a gate that is false for units that are none. */
  private passes(): { readonly line: IndexExpr; readonly inLine: IndexExpr; readonly isUnit: Value | null }[] {
    const { k, lowering, unit, units, perLine, perPass, lanes } = this;
    const { space } = lowering;
    const isBusy = perPass < lanes ? k.compare("lt", lowering.indexValue(this.lane), k.constant("i32", perPass)) : null;
    return Array.from({ length: Math.ceil(units / perPass) }, (_, pass) => {
      const which = plus(this.lane, constantExpr(pass * perPass));
      const isLast = (pass + 1) * perPass > units;
      const left = isLast ? k.compare("lt", lowering.indexValue(which), k.constant("i32", units)) : null;
      return {
        line: space.quotient(which, perLine),
        inLine: scale(space.remainder(which, perLine), unit),
        isUnit: left && isBusy ? k.binary("and", left, isBusy) : (left ?? isBusy),
      };
    });
  }

  /** The elements this lane loads of the tile at a step of the summation. */
  load(step: Value): Value[][] {
    const { k, lowering, operand, depth, unit, isAlongSum } = this;
    const i = (value: number) => k.constant("i32", value);
    const isDepthWhole = this.summed % depth === 0;
    const stepIndex = lowering.index(step, Math.ceil(this.summed / depth));
    return this.passes().map(({ line, inLine, isUnit }) => {
      const along = k.binary("add", operand.first, lowering.indexValue(isAlongSum ? line : inLine));
      // As an expression of its parts: where the summation splits at multiples of the depth, no element needs a division.
      const sumAt = plus(scale(stepIndex, depth), isAlongSum ? inLine : line);
      const sum = lowering.indexValue(sumAt);
      const gates: Value[] = [];
      if (operand.extent % operand.rows !== 0) gates.push(k.compare("lt", along, i(operand.extent)));
      if (isUnit) gates.push(isUnit);
      const isSummed = isDepthWhole ? null : k.compare("lt", sum, i(this.summed));
      if (isSummed) gates.push(isSummed);
      const gate = gates.length > 0 ? gates.reduce((x, y) => k.binary("and", x, y)) : null;
      const alongIndex = lowering.index(along, operand.extent - (isAlongSum ? 0 : unit - 1));
      const sumIndex = isDepthWhole ? sumAt : lowering.index(sum, this.summed - (isAlongSum ? unit - 1 : 0));
      return Array.from({ length: unit }, (_, c) => {
        const at = isAlongSum
          ? operand.at(alongIndex, plus(sumIndex, constantExpr(c)))
          : operand.at(plus(alongIndex, constantExpr(c)), sumIndex);
        const value = this.arithmetic.enter(lowering.element(operand.node, at, gate));
        // Beyond the end of the summation zeros are added; sums beyond the result are never stored.
        return isSummed ? k.select(isSummed, value, this.arithmetic.zero) : value;
      });
    });
  }

  /** Writes loaded elements to shared memory, into tile buffer `which`. */
  write(loaded: readonly (readonly Value[])[], which: Value): void {
    const { k, lowering, depth, unit, isAlongSum, pitch } = this;
    const i = (value: number) => k.constant("i32", value);
    const base = k.binary("mul", which, i(depth * pitch));
    this.passes().forEach(({ line, inLine, isUnit: gate }, pass) => {
      const values = loaded[pass];
      const place = isAlongSum ? plus(line, scale(inLine, pitch)) : plus(inLine, scale(line, pitch));
      const at = k.binary("add", base, lowering.indexValue(place));
      if (!isAlongSum && unit === this.width) k.setMany(this.array, at, values, gate);
      else {
        const distance = isAlongSum ? pitch : 1;
        for (const [c, value] of values.entries()) k.set(this.array, k.binary("add", at, i(c * distance)), value, gate);
      }
    });
  }

  /** Where a lane's part of tile buffer `which` begins. */
  base(which: Value, lanePlace: Value): Value {
    const { k } = this;
    return k.binary("add", k.binary("mul", which, k.constant("i32", this.depth * this.pitch)), lanePlace);
  }

  /** The same, `by` steps further along the summation. */
  deeper(base: Value, by: Value): Value {
    const { k } = this;
    return k.binary("add", base, k.binary("mul", by, k.constant("i32", this.pitch)));
  }

  /** A lane's elements at one step of the summation. */
  fragments(base: Value, at: number, count: number): Value[] {
    const { k, pitch, operand } = this;
    const { rows, neighbours } = operand;
    const distance = (rows / count) * neighbours;
    return Array.from({ length: count / neighbours }, (_, f) => {
      const place = k.binary("add", base, k.constant("i32", at * pitch + f * distance));
      return neighbours === 1 ? [k.get(this.array, place)] : k.getMany(this.array, place, neighbours);
    }).flat();
  }
}
