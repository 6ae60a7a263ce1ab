/**
 * Cooperative matrices (SPV_KHR_cooperative_matrix): small matrices spread over a subgroup, multiplied by tensor cores
 * where the device has them. Reached as `f.matrix`. Sums, products with a scalar and conversions of matrices are the
 * ordinary `f.add`, `f.scale`, `f.convert`; `f.splat` fills one.
 */
import { ArgumentError } from "../../core/errors.js";
import { CooperativeMatrixLayout, CooperativeMatrixOperands, Op } from "../enumerants.js";
import { type MatrixType, scalarOf, type Type } from "../module/types.js";
import type { FunctionBuilder } from "./function-builder.js";
import type { Ref } from "./ref.js";
import type { Operand, Value } from "./value.js";

/** The layout of a cooperative matrix in memory. */
export interface MatrixAccess {
  /** Elements from one row (or column, for "columnMajor") to the next. */
  readonly stride: Operand;
  readonly layout?: "rowMajor" | "columnMajor";
}

export class CooperativeMatrices {
  constructor(private readonly f: FunctionBuilder) {}

  /** Reads a matrix whose first element is at `from`. */
  load(type: MatrixType, from: Ref, access: MatrixAccess): Value {
    this.requireElement(type, from, "load");
    const [layout, stride] = this.accessOperands(access);
    const operands = [from.pointer(), layout, stride, ...from.memoryOperands("load")];
    return this.f.emitMany(Op.CooperativeMatrixLoadKHR, type, operands);
  }

  store(to: Ref, matrix: Value, access: MatrixAccess): void {
    const type = matrixType(matrix, "store");
    this.requireElement(type, to, "store");
    const [layout, stride] = this.accessOperands(access);
    const operands = [to.pointer(), matrix, layout, stride, ...to.memoryOperands("store")];
    this.f.emitVoid(Op.CooperativeMatrixStoreKHR, operands);
  }

  /** A·B + C, of the type of C. */
  mulAdd(a: Value, b: Value, c: Value, options: { saturate?: boolean } = {}): Value {
    const [left, right, sum] = [a, b, c].map((m) => matrixType(m, "mulAdd"));
    const uses = `${left.use} ${right.use} ${sum.use}`;
    const fits = left.columns === right.rows && left.rows === sum.rows && right.columns === sum.columns;
    if (uses !== "A B accumulator" || !fits) {
      throw new ArgumentError(
        `matrix mulAdd (OpCooperativeMatrixMulAddKHR): cannot multiply ${left.name} by ${right.name} into ${sum.name}`,
      );
    }
    const Signed = CooperativeMatrixOperands;
    let mask: number = options.saturate ? Signed.SaturatingAccumulationKHR : Signed.NoneKHR;
    if (isSigned(left)) mask |= Signed.MatrixASignedComponentsKHR;
    if (isSigned(right)) mask |= Signed.MatrixBSignedComponentsKHR;
    if (isSigned(sum)) mask |= Signed.MatrixCSignedComponentsKHR | Signed.MatrixResultSignedComponentsKHR;
    const extra = mask === Signed.NoneKHR ? [] : [mask];
    return this.f.emitMany(Op.CooperativeMatrixMulAddKHR, sum, [a, b, c, ...extra]);
  }

  /** The number of elements of such a matrix that each invocation holds. */
  length(type: MatrixType): Value {
    return this.f.emitMany(Op.CooperativeMatrixLengthKHR, this.f.module.u32, [type.id]);
  }

  private accessOperands(access: MatrixAccess): [layout: Value, stride: Value] {
    const { module } = this.f;
    const { RowMajorKHR, ColumnMajorKHR } = CooperativeMatrixLayout;
    const layout = access.layout === "columnMajor" ? ColumnMajorKHR : RowMajorKHR;
    return [module.constant(module.u32, layout), this.f.as(access.stride, module.u32, "matrix stride")];
  }

  private requireElement(type: MatrixType, place: Ref, name: string): void {
    if (scalarOf(place.type) !== undefined && place.type.kind !== "matrix") return;
    throw new ArgumentError(`matrix ${name}: ${type.name} starts at a number in memory, not at ${place.type.name}`);
  }
}

function matrixType(value: Value, name: string): MatrixType {
  const type: Type = value.type;
  if (type.kind === "matrix") return type;
  throw new ArgumentError(`matrix ${name}: takes cooperative matrices, got ${type.name}`);
}

function isSigned(type: MatrixType): boolean {
  return type.element.kind === "int" && type.element.signed;
}
