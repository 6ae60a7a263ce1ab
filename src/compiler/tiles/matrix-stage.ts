/**
 * An operand of a product on its way to matrix units (matrix-product.ts): lanes load units of 16 bytes, hold them in registers
 * as words, write them to shared memory, and subgroups read fragments from there.
 */
import { constantExpr, type IndexExpr, add as plus, scale } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import type { FragmentPlace, Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { Lowering } from "../lower/lowering.js";
import { areVectors, loadStrides } from "../schedule/loads.js";
import type { MatrixTile } from "../target/tile-profile.js";
import { operandWords, pitchOfLine, unitOf } from "./matrix-tile-memory.js";

/** One operand of the product, as its tiles are loaded. */
interface MatrixOperand {
  readonly node: Node;
  readonly side: "left" | "right";
  /** Rows of the tile for the left operand, columns for the right one; and those of the whole operand. */
  readonly rows: number;
  readonly extent: number;
  /** The number of the tile along them. */
  readonly first: Value;
  /** The length of the summation. */
  readonly summed: number;
  /** The index of the operand, from the one along the tile and the one along the summation. */
  readonly at: (along: IndexExpr, summed: IndexExpr) => readonly IndexExpr[];
}

/** Words of a unit, or of one part of it. */
const WORDS = 4;

/** The position of a unit along one axis of the operand. */
interface AxisPosition {
  readonly extent: number;
  /** Extent of the tile along the axis. */
  readonly tile: number;
  /** The first element of a unit, or the only one. */
  readonly at: Value;
  /** The unit's number, on an axis that units lie along and divide: they are inside as a whole, or outside. */
  readonly unit: Value | null;
  /** The first element as an expression of its parts, on an axis that tiles divide: splitting it takes few divisions. */
  readonly whole: IndexExpr | null;
  /** Units lie along the axis. */
  readonly isAlong: boolean;
}

/** An element in memory; it is there where the gates are true. */
interface PlainLoad {
  readonly buffer: number;
  readonly index: Value;
  readonly gates: readonly Value[];
}

/** Whether a value is 0, and not -0. */
const isZero = ({ op, attribute }: Value): boolean => op === "constant" && Object.is(Number(attribute), 0);

/** A unit of an operand: its position along the rows (or columns) of the result, and its position along the summation. */
interface Unit {
  readonly along: AxisPosition;
  readonly sum: AxisPosition;
  /** False in lanes beyond the last unit of the tile; null where every lane has a unit. */
  readonly isThere: Value | null;
}

export class MatrixStage {
  /** The operand, or the parts that it is the sum of. */
  private readonly parts: readonly Node[];
  private readonly unit: number;
  private readonly pitch: number;
  /** Lines of the tile lie along the summation: neighbours in memory are neighbours there. */
  private readonly isAlongSum: boolean;
  /** Units of a line, and of the tile. */
  private readonly perLine: number;
  private readonly units: number;
  /** Units are vectors in memory, and are copied as they are where nothing is computed. */
  private readonly isRegular: boolean;
  /** The words that a lane holds of a tile, all parts of a unit together. */
  readonly wordCount: number;
  /** Words of one part of the tile in shared memory. */
  private readonly partWords: number;

  constructor(
    private readonly k: KernelBuilder,
    private readonly lowering: Lowering,
    private readonly tile: MatrixTile,
    private readonly operand: MatrixOperand,
    private readonly array: number,
    private readonly start: number,
    private readonly lanes: number,
    private readonly lane: IndexExpr,
  ) {
    // The sum of the parts is never computed (rewrite/products.ts).
    this.parts = tile.parts === 1 ? [operand.node] : operand.node.inputs;
    const [along, sum] = operand.side === "left" ? [1, 2] : [2, 1];
    this.unit = unitOf(tile);
    const { axis, isRegular } = this.lineAxis(along, sum);
    this.isAlongSum = axis === sum;
    this.isRegular = isRegular;
    const line = this.isAlongSum ? tile.depth : operand.rows;
    this.pitch = pitchOfLine(tile, line);
    this.perLine = line / this.unit;
    this.units = (operand.rows * tile.depth) / this.unit;
    this.wordCount = Math.ceil(this.units / lanes) * WORDS * tile.parts;
    this.partWords = operandWords(tile, operand.rows);
  }

  /**
   * The axis that lines of the tile lie along: one on which units are vectors in memory. Without such an axis, the one whose
   * neighbours lie further apart: lanes then go along the other one and load neighbours, and elements of a unit, which often
   * are channels of one place, share most of their index.
   */
  private lineAxis(along: number, sum: number): { readonly axis: number; readonly isRegular: boolean } {
    const { lowering, operand, unit } = this;
    const isLoaded = (node: Node) => lowering.isLoaded(node);
    const extentOf = (axis: number) => (axis === sum ? operand.summed : operand.extent);
    const strides = loadStrides(operand.node, isLoaded);
    const isVector = (axis: number) =>
      extentOf(axis) % unit === 0 &&
      strides.some((each) => each[axis] === 1) &&
      areVectors(operand.node, isLoaded, axis, unit);
    const regular = [along, sum].find(isVector);
    if (regular !== undefined) return { axis: regular, isRegular: true };
    const distance = (axis: number) => Math.max(0, ...strides.map((each) => Math.abs(each[axis])));
    return { axis: distance(sum) > distance(along) ? sum : along, isRegular: false };
  }

  /** The words this lane loads of the tile at a step of the summation. */
  load(step: Value): Value[] {
    const words: Value[] = [];
    const stepIndex = this.lowering.index(step, Math.ceil(this.operand.summed / this.tile.depth));
    for (let done = 0; done < this.units; done += this.lanes) {
      const unit = this.unitAt(done, step, stepIndex);
      for (const part of this.parts) words.push(...this.loadUnit(unit, part));
    }
    return words;
  }

  /** The lane's unit of those from `done` on. */
  private unitAt(done: number, step: Value, stepIndex: IndexExpr): Unit {
    const { k, lowering, operand, unit, tile, isAlongSum } = this;
    const { place, isThere } = this.placeOf(done);
    const i = (value: number) => k.constant("i32", value);
    const placed = (
      first: (by: number) => Value,
      extent: number,
      tileExtent: number,
      isAlong: boolean,
    ): AxisPosition => {
      const inTile = lowering.indexValue(isAlong ? place.inLine : place.line);
      const at = k.binary("add", first(1), isAlong ? k.binary("mul", inTile, i(unit)) : inTile);
      const number = isAlong && extent % unit === 0 ? k.binary("add", first(unit), inTile) : null;
      return { extent, tile: tileExtent, at, unit: number, whole: null, isAlong };
    };
    const inTile = isAlongSum ? scale(place.inLine, unit) : place.line;
    const whole = operand.summed % tile.depth === 0 ? plus(scale(stepIndex, tile.depth), inTile) : null;
    const { first, extent, rows, summed } = operand;
    return {
      along: placed((by) => k.binary("mul", first, i(rows / by)), extent, rows, !isAlongSum),
      sum: { ...placed((by) => k.binary("mul", step, i(tile.depth / by)), summed, tile.depth, isAlongSum), whole },
      isThere,
    };
  }

  /** The line of the lane's unit, and its number in it. */
  private placeOf(done: number) {
    const { k, lowering, lane, perLine, units, lanes, isRegular } = this;
    const { space } = lowering;
    const which = plus(lane, constantExpr(done));
    // Lanes go along a line where units are vectors, else across lines.
    const lines = units / perLine;
    const numbered = isRegular ? space.quotient(which, perLine) : space.remainder(which, lines);
    const line = isRegular && perLine === 4 && lines % 8 === 0 ? this.dealt(numbered) : numbered;
    const inLine = isRegular ? space.remainder(which, perLine) : space.quotient(which, lines);
    const isThere =
      done + lanes <= units ? null : k.compare("lt", lowering.indexValue(which), k.constant("i32", units));
    return { place: { line, inLine }, isThere };
  }

  /**
   * Eight lanes, which write to shared memory at a time, have two lines of four units. Lines that are four apart lie in
   * different banks, neighbours do not: 128×256×32 made 307 instead of 305 TFLOP/s with them on an H200.
   */
  private dealt(number: IndexExpr): IndexExpr {
    const { space } = this.lowering;
    const [block, inBlock] = [space.quotient(number, 8), space.remainder(number, 8)];
    const [pair, which] = [space.quotient(inBlock, 2), space.remainder(inBlock, 2)];
    return plus(plus(scale(block, 8), scale(which, 4)), pair);
  }

  /** The words of a unit of one part of the operand. */
  private loadUnit(unit: Unit, node: Node): Value[] {
    const { k } = this;
    const first = this.elementOf(unit, node, 0);
    const source = this.isRegular ? this.plainLoad(first.value) : null;
    if (source && this.isGatedAsOne(source, unit, node)) {
      // Beyond the end of the summation zeros are added, as in padding; sums beyond the result are never stored.
      const gates = [...source.gates, ...(first.isSummed ? [first.isSummed] : [])];
      const words = k.loadWords(source.buffer, source.index);
      const gate = gates.reduce<Value | null>((all, each) => (all ? k.binary("and", all, each) : each), null);
      return gate ? words.map((word) => k.select(gate, word, k.constant("u32", 0))) : words;
    }
    const values = Array.from({ length: this.unit }, (_, c) => {
      const { value, isSummed } = c === 0 ? first : this.elementOf(unit, node, c);
      return isSummed ? k.select(isSummed, value, k.constant(value.type, 0)) : value;
    });
    return this.packed(values);
  }

  /** An element of a unit, and whether it is inside the summation, where that is not sure. */
  private elementOf(
    unit: Unit,
    node: Node,
    offset: number,
  ): { readonly value: Value; readonly isSummed: Value | null } {
    const { k, lowering, operand } = this;
    const i = (value: number) => k.constant("i32", value);
    const placed = ({ extent, tile, at: start, unit: number, whole, isAlong }: AxisPosition) => {
      if (whole) return { index: isAlong ? plus(whole, constantExpr(offset)) : whole, isInside: null };
      const at = isAlong && !number ? k.binary("add", start, i(offset)) : start;
      const index = number
        ? plus(scale(lowering.index(number, extent / this.unit), this.unit), constantExpr(offset))
        : lowering.index(at, extent);
      return { index, isInside: extent % tile === 0 ? null : k.compare("lt", at, i(extent)) };
    };
    const along = placed(unit.along);
    const sum = placed(unit.sum);
    const gates = [unit.isThere, along.isInside, sum.isInside];
    const gate = gates.reduce((x, y) => (x && y ? k.binary("and", x, y) : (x ?? y)));
    const { value } = lowering.element(node, operand.at(along.index, sum.index), gate);
    return { value, isSummed: sum.isInside };
  }

  /** Where a value is in memory as the matrix units take it, and where that counts: elsewhere it is zero, as in padding. */
  private plainLoad({ op, attribute, args }: Value): PlainLoad | null {
    if (op === "select" && isZero(args[2])) {
      const inner = this.plainLoad(args[1]);
      return inner && { ...inner, gates: [args[0], ...inner.gates] };
    }
    if (op !== "load" || this.lowering.buffers[attribute as number].dtype !== this.tile.fragment.operand) return null;
    return { buffer: attribute as number, index: args[0], gates: [] };
  }

  /** Whether the gates of a unit's first element are those of its last one, and so of all between. */
  private isGatedAsOne({ gates }: PlainLoad, unit: Unit, node: Node): boolean {
    if (gates.length === 0) return true;
    const last = this.plainLoad(this.elementOf(unit, node, this.unit - 1).value);
    return last !== null && last.gates.length === gates.length && last.gates.every((gate, at) => gate === gates[at]);
  }

  /** Elements of a unit, which are numbers of the operand's dtype, as words. */
  private packed(values: readonly Value[]): Value[] {
    const { k } = this;
    const dtype = this.tile.fragment.operand;
    const perWord = this.unit / WORDS;
    return Array.from({ length: WORDS }, (_, word) => {
      const parts = values.slice(word * perWord, (word + 1) * perWord);
      if (dtype === "f16") return k.packHalves(parts[0], parts[1]);
      const u = (value: number) => k.constant("u32", value);
      const bits = parts.map((part) => k.bitcast("u32", part));
      if (dtype === "bf16") {
        return k.binary("or", k.binary("shr", bits[0], u(16)), k.binary("and", bits[1], u(0xffff0000)));
      }
      return bits
        .map((part, at) => k.binary("shl", k.binary("and", part, u(0xff)), u(8 * at)))
        .reduce((x, y) => k.binary("or", x, y));
    });
  }

  /** Writes loaded words to shared memory. */
  keep(words: readonly Value[]): void {
    const { k, lowering, tile, array, pitch, lanes, units } = this;
    for (let done = 0; done < units; done += lanes) {
      const { place, isThere } = this.placeOf(done);
      const inLine = k.binary("mul", lowering.indexValue(place.inLine), k.constant("i32", WORDS));
      const line = k.binary("mul", lowering.indexValue(place.line), k.constant("i32", pitch));
      for (let part = 0; part < tile.parts; part++) {
        const at = k.binary("add", k.binary("add", line, inLine), k.constant("i32", this.startOf(part)));
        const first = ((done / lanes) * tile.parts + part) * WORDS;
        k.setMany(array, at, words.slice(first, first + WORDS), isThere);
      }
    }
  }

  private startOf(part: number): number {
    return this.start + part * this.partWords;
  }

  /** The place of a fragment: `along` and `offset` the subgroup's part of the tile, `sum` inside the tile's depth. */
  fragment(along: Value, offset: number, sum: number, part: number): FragmentPlace {
    const { k, array, pitch, unit, isAlongSum, operand } = this;
    const start = this.startOf(part);
    const i = (value: number) => k.constant("i32", value);
    const perWord = unit / WORDS;
    const base = isAlongSum ? k.binary("mul", along, i(pitch)) : k.binary("idiv", along, i(perWord));
    const rest = isAlongSum ? offset * pitch + sum / perWord : sum * pitch + offset / perWord;
    const index = k.binary("add", base, i(start + rest));
    return { array, index, pitch, isByColumns: isAlongSum === (operand.side === "right") };
  }
}
