/**
 * Subgroup operations: exchanges and reductions among invocations that run in lockstep, without shared memory.
 *
 * Each family is a capability of its own and a bit of `subgroupSupportedOperations` on the Vulkan side; the module
 * declares those it uses. Reached as `f.subgroup`.
 */
import { ArgumentError } from "../../core/errors.js";
import { Capability, GroupOperation, Op, Scope } from "../enumerants.js";
import { scalarOf, type Type } from "../module/types.js";
import type { FunctionBuilder } from "./function-builder.js";
import { type Operand, Value } from "./value.js";

/** An operation that combines the values of a subgroup. */
export type SubgroupOperation = "add" | "mul" | "min" | "max" | "and" | "or" | "xor";

// biome-ignore format: one operation per row
const REDUCTIONS: Record<SubgroupOperation, { float?: number; signed?: number; unsigned?: number; bool?: number }> = {
  add: { float: Op.GroupNonUniformFAdd, signed: Op.GroupNonUniformIAdd, unsigned: Op.GroupNonUniformIAdd },
  mul: { float: Op.GroupNonUniformFMul, signed: Op.GroupNonUniformIMul, unsigned: Op.GroupNonUniformIMul },
  min: { float: Op.GroupNonUniformFMin, signed: Op.GroupNonUniformSMin, unsigned: Op.GroupNonUniformUMin },
  max: { float: Op.GroupNonUniformFMax, signed: Op.GroupNonUniformSMax, unsigned: Op.GroupNonUniformUMax },
  and: { signed: Op.GroupNonUniformBitwiseAnd, unsigned: Op.GroupNonUniformBitwiseAnd, bool: Op.GroupNonUniformLogicalAnd },
  or: { signed: Op.GroupNonUniformBitwiseOr, unsigned: Op.GroupNonUniformBitwiseOr, bool: Op.GroupNonUniformLogicalOr },
  xor: { signed: Op.GroupNonUniformBitwiseXor, unsigned: Op.GroupNonUniformBitwiseXor, bool: Op.GroupNonUniformLogicalXor },
};

export class Subgroup {
  constructor(private readonly f: FunctionBuilder) {}

  /** True in exactly one active invocation. */
  elect(): Value {
    return this.emit(Capability.GroupNonUniform, Op.GroupNonUniformElect, this.f.module.bool, []);
  }

  all(condition: Operand): Value {
    return this.vote(Op.GroupNonUniformAll, condition);
  }

  any(condition: Operand): Value {
    return this.vote(Op.GroupNonUniformAny, condition);
  }

  /** True when every active invocation has the same value. */
  allEqual(x: Value): Value {
    return this.emit(Capability.GroupNonUniformVote, Op.GroupNonUniformAllEqual, this.f.module.bool, [x]);
  }

  /** A bit per invocation, 128 of them in a vec4<u32>: set where the condition holds. */
  ballot(condition: Operand): Value {
    const test = this.f.as(condition, this.f.module.bool, "subgroup ballot");
    return this.emit(Capability.GroupNonUniformBallot, Op.GroupNonUniformBallot, this.ballotType, [test]);
  }

  /** This invocation's bit of a ballot. */
  inverseBallot(ballot: Value): Value {
    return this.ballotQuery(Op.GroupNonUniformInverseBallot, this.f.module.bool, ballot);
  }

  /** The bit of invocation `lane` in a ballot. */
  ballotBit(ballot: Value, lane: Operand): Value {
    const index = this.u32(lane, "ballotBit");
    return this.ballotQuery(Op.GroupNonUniformBallotBitExtract, this.f.module.bool, ballot, index);
  }

  /** Set bits of a ballot: all of them, those up to and including this invocation, or those before it. */
  ballotCount(ballot: Value, which: "all" | "inclusive" | "exclusive" = "all"): Value {
    const operation = { all: "Reduce", inclusive: "InclusiveScan", exclusive: "ExclusiveScan" } as const;
    return this.emit(Capability.GroupNonUniformBallot, Op.GroupNonUniformBallotBitCount, this.f.module.u32, [
      GroupOperation[operation[which]],
      this.f.as(ballot, this.ballotType, "ballotCount"),
    ]);
  }

  ballotFindLow(ballot: Value): Value {
    return this.ballotQuery(Op.GroupNonUniformBallotFindLSB, this.f.module.u32, ballot);
  }

  ballotFindHigh(ballot: Value): Value {
    return this.ballotQuery(Op.GroupNonUniformBallotFindMSB, this.f.module.u32, ballot);
  }

  /** The value of one invocation, the same `lane` for all; a constant before SPIR-V 1.5. */
  broadcast(x: Value, lane: Operand): Value {
    const index = this.u32(lane, "broadcast");
    if (!this.f.module.sections.atLeast(5) && !this.f.module.isConstant(index)) {
      throw new ArgumentError(
        "broadcast (OpGroupNonUniformBroadcast): the lane must be a constant before SPIR-V 1.5; use shuffle",
      );
    }
    return this.emit(Capability.GroupNonUniformBallot, Op.GroupNonUniformBroadcast, x.type, [x, index]);
  }

  /** The value of the lowest active invocation. */
  broadcastFirst(x: Value): Value {
    return this.emit(Capability.GroupNonUniformBallot, Op.GroupNonUniformBroadcastFirst, x.type, [x]);
  }

  /** The value of invocation `lane`, which may differ from one invocation to the next. */
  shuffle(x: Value, lane: Operand): Value {
    return this.move(Capability.GroupNonUniformShuffle, Op.GroupNonUniformShuffle, x, lane);
  }

  shuffleXor(x: Value, mask: Operand): Value {
    return this.move(Capability.GroupNonUniformShuffle, Op.GroupNonUniformShuffleXor, x, mask);
  }

  /** From the invocation `delta` below. */
  shuffleUp(x: Value, delta: Operand): Value {
    return this.move(Capability.GroupNonUniformShuffleRelative, Op.GroupNonUniformShuffleUp, x, delta);
  }

  /** From the invocation `delta` above. */
  shuffleDown(x: Value, delta: Operand): Value {
    return this.move(Capability.GroupNonUniformShuffleRelative, Op.GroupNonUniformShuffleDown, x, delta);
  }

  /** From the invocation `delta` above, going round at the end (SPV_KHR_subgroup_rotate). */
  rotate(x: Value, delta: Operand): Value {
    return this.move(Capability.GroupNonUniformRotateKHR, Op.GroupNonUniformRotateKHR, x, delta);
  }

  /** The same result over all active invocations, in each of them. */
  reduce(operation: SubgroupOperation, x: Value): Value {
    return this.arithmetic(GroupOperation.Reduce, operation, x);
  }

  inclusiveScan(operation: SubgroupOperation, x: Value): Value {
    return this.arithmetic(GroupOperation.InclusiveScan, operation, x);
  }

  exclusiveScan(operation: SubgroupOperation, x: Value): Value {
    return this.arithmetic(GroupOperation.ExclusiveScan, operation, x);
  }

  /** `reduce` within each aligned group of `size` invocations, a power of two. */
  clusteredReduce(operation: SubgroupOperation, x: Value, size: number): Value {
    if (size < 1 || (size & (size - 1)) !== 0) {
      throw new ArgumentError(`clusteredReduce: the cluster size is a power of two, got ${size}`);
    }
    return this.arithmetic(GroupOperation.ClusteredReduce, operation, x, size);
  }

  /** The value of invocation `lane` (0 to 3, a constant before SPIR-V 1.5) of this quad. */
  quadBroadcast(x: Value, lane: Operand): Value {
    return this.move(Capability.GroupNonUniformQuad, Op.GroupNonUniformQuadBroadcast, x, lane);
  }

  /** Exchanges values across this quad. */
  quadSwap(x: Value, direction: "horizontal" | "vertical" | "diagonal"): Value {
    const code = { horizontal: 0, vertical: 1, diagonal: 2 }[direction];
    return this.move(Capability.GroupNonUniformQuad, Op.GroupNonUniformQuadSwap, x, code);
  }

  private get ballotType(): Type {
    return this.f.module.vec(this.f.module.u32, 4);
  }

  private vote(opcode: number, condition: Operand): Value {
    const test = this.f.as(condition, this.f.module.bool, "subgroup vote");
    return this.emit(Capability.GroupNonUniformVote, opcode, this.f.module.bool, [test]);
  }

  private ballotQuery(opcode: number, type: Type, ballot: Value, ...more: Value[]): Value {
    const bits = this.f.as(ballot, this.ballotType, "subgroup ballot");
    return this.emit(Capability.GroupNonUniformBallot, opcode, type, [bits, ...more]);
  }

  private move(capability: number, opcode: number, x: Value, lane: Operand): Value {
    return this.emit(capability, opcode, x.type, [x, this.u32(lane, "subgroup shuffle")]);
  }

  private arithmetic(how: number, operation: SubgroupOperation, x: Value, cluster?: number): Value {
    const scalar = scalarOf(x.type);
    const row = REDUCTIONS[operation];
    const kind = scalar?.kind === "int" ? (scalar.signed ? "signed" : "unsigned") : scalar?.kind;
    const isPlain = scalar && x.type.kind !== "matrix" && !(scalar.kind === "float" && scalar.encoding === "bf16");
    const opcode = isPlain && kind ? row[kind] : undefined;
    if (opcode === undefined) {
      throw new ArgumentError(
        `subgroup ${operation}: takes ${Object.keys(row).join(", ")} operands, got ${x.type.name}`,
      );
    }
    const { module } = this.f;
    const capability =
      cluster === undefined ? Capability.GroupNonUniformArithmetic : Capability.GroupNonUniformClustered;
    const size = cluster === undefined ? [] : [module.constant(module.u32, cluster)];
    return this.emit(capability, opcode, x.type, [how, x, ...size]);
  }

  private u32(operand: Operand, what: string): Value {
    const { u32 } = this.f.module;
    if (operand instanceof Value && operand.type.kind === "int" && !operand.type.signed) return operand;
    return this.f.as(operand, u32, `subgroup ${what}`);
  }

  private emit(capability: number, opcode: number, type: Type, operands: readonly (Value | number)[]): Value {
    const { module } = this.f;
    module.sections.require(capability);
    return this.f.emitMany(opcode, type, [module.constant(module.u32, Scope.Subgroup), ...operands]);
  }
}
