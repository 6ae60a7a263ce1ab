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
import { pitchOf } from "./plan.js";

/** One operand of the product, as its tiles are loaded. */
export interface StagedOperand {
  readonly node: Node;
  /** Rows of the tile for the left operand, columns for the right one. */
  readonly rows: number;
  /** Rows or columns of the whole operand. */
  readonly extent: number;
  /** The first row or column of the tile. */
  readonly first: Value;
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
    const [extent, axis] = this.isAlongSum ? [summed, summedAxis] : [operand.extent, tileAxis];
    // A vector must lie inside the axis and begin at a multiple of its width. Single elements share more of their index.
    this.unit = extent % width === 0 && areVectors(operand.node, isLoaded, axis, width) ? width : 1;
  }

  /** The elements this lane loads of the tile at a step of the summation. */
  load(step: Value): Value[][] {
    const { k, lowering, operand, depth, unit, lanes, isAlongSum } = this;
    const { space } = lowering;
    const i = (value: number) => k.constant("i32", value);
    const units = (operand.rows * depth) / unit;
    const perLine = (isAlongSum ? depth : operand.rows) / unit;
    const isDepthWhole = this.summed % depth === 0;
    const stepIndex = lowering.index(step, Math.ceil(this.summed / depth));
    const loaded: Value[][] = [];
    for (let done = 0; done < units; done += lanes) {
      const which = plus(this.lane, constantExpr(done));
      const inLine = scale(space.remainder(which, perLine), unit);
      const line = space.quotient(which, perLine);
      const along = k.binary("add", operand.first, lowering.indexValue(isAlongSum ? line : inLine));
      // As an expression of its parts: where the summation splits at multiples of the depth, no element needs a division.
      const sumAt = plus(scale(stepIndex, depth), isAlongSum ? inLine : line);
      const sum = lowering.indexValue(sumAt);
      const gates: Value[] = [];
      if (operand.extent % operand.rows !== 0) gates.push(k.compare("lt", along, i(operand.extent)));
      if (units % lanes !== 0) gates.push(k.compare("lt", lowering.indexValue(which), i(units)));
      const isSummed = isDepthWhole ? null : k.compare("lt", sum, i(this.summed));
      if (isSummed) gates.push(isSummed);
      const gate = gates.length > 0 ? gates.reduce((x, y) => k.binary("and", x, y)) : null;
      const alongIndex = lowering.index(along, operand.extent - (isAlongSum ? 0 : unit - 1));
      const sumIndex = isDepthWhole ? sumAt : lowering.index(sum, this.summed - (isAlongSum ? unit - 1 : 0));
      loaded.push(
        Array.from({ length: unit }, (_, c) => {
          const at = isAlongSum
            ? operand.at(alongIndex, plus(sumIndex, constantExpr(c)))
            : operand.at(plus(alongIndex, constantExpr(c)), sumIndex);
          const value = this.arithmetic.enter(lowering.element(operand.node, at, gate));
          // Beyond the end of the summation zeros are added; sums beyond the result are never stored.
          return isSummed ? k.select(isSummed, value, this.arithmetic.zero) : value;
        }),
      );
    }
    return loaded;
  }

  /** Writes loaded elements to shared memory, into tile buffer `which`. */
  write(loaded: readonly (readonly Value[])[], which: Value): void {
    const { k, lowering, operand, depth, unit, lanes, isAlongSum, pitch } = this;
    const i = (value: number) => k.constant("i32", value);
    const { space } = lowering;
    const units = (operand.rows * depth) / unit;
    const perLine = (isAlongSum ? depth : operand.rows) / unit;
    const base = k.binary("mul", which, i(depth * pitch));
    loaded.forEach((values, pass) => {
      const number = plus(this.lane, constantExpr(pass * lanes));
      const inLine = scale(space.remainder(number, perLine), unit);
      const line = space.quotient(number, perLine);
      const place = isAlongSum ? plus(line, scale(inLine, pitch)) : plus(inLine, scale(line, pitch));
      const at = k.binary("add", base, lowering.indexValue(place));
      const gate = units % lanes === 0 ? null : k.compare("lt", lowering.indexValue(number), i(units));
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
    const { k, width, pitch, operand } = this;
    const distance = (operand.rows / count) * width;
    return Array.from({ length: count / width }, (_, f) => {
      const place = k.binary("add", base, k.constant("i32", at * pitch + f * distance));
      return k.getMany(this.array, place, width);
    }).flat();
  }
}
