/**
 * The lowest layer of a function under construction: records nodes in order, with the checks every instruction passes.
 * The layers above decide what to record: control-flow.ts branches and loops, function-builder.ts everything else.
 */
import { ArgumentError } from "../core/errors.js";
import { encodeLanes, encodeLiteral } from "./constants.js";
import { INSTRUCTIONS, type Instruction, instructionOfParts, laneCount, type MemoryAccess } from "./instructions.js";
import type { LaneShape, Literal, ValueType } from "./types.js";
import { type Local, Node, newLocal, type Operand, type Scope, type Step, type Value, type Written } from "./value.js";

/** Options of a memory access. */
export interface Access {
  /** Bytes added to the address, without wrapping around. */
  readonly offset?: number;
  /** Alignment in bytes that the address is known to have; a hint, except for atomics. Default: the access's own size. */
  readonly align?: number;
}

const NOTHING: readonly Node[] = [];

export class Recorder {
  /** @internal Every node with a position, in order. */
  readonly nodes: Node[] = [];
  /** @internal Vector constants, each once: the writer keeps those used again in locals. */
  readonly vectors = new Map<string, Value<"v128">>();
  /** Vector constants with one literal in all lanes, by that literal: the most common kind. */
  private readonly splats = new Map<string, Value<"v128">>();

  protected readonly root: Scope;
  protected scope: Scope;
  protected terminated = false;
  /** The positions of all effects that write memory, or may. */
  protected readonly stored: Written = { writes: [] };

  constructor(
    readonly module: object,
    readonly name: string,
  ) {
    this.root = { isOpen: true, owner: this, loop: { parent: null, busyLocals: [] }, locals: [] };
    this.scope = this.root;
  }

  /** True when the next instruction would never run: the path here ends in a return, break, continue or trap. */
  get isTerminated(): boolean {
    return this.terminated;
  }

  /**
   * Any instruction of the tables by its name in the specification, for callers that compute the name:
   * `f.op(`${type}.add`, a, b)`. Immediates (a lane, a memory access) have methods of their own.
   */
  op(name: string, ...operands: readonly Operand[]): Value {
    const instruction = INSTRUCTIONS.get(name);
    if (!instruction) throw new ArgumentError(`op: "${name}" is not an instruction of WebAssembly`);
    if (instruction.immediates === "access") return this.access(instruction, operands) as Value;
    if (instruction.immediates !== "none") {
      throw new ArgumentError(`op: ${name} has immediates; call it as a method of f.${name.split(".")[0]}`);
    }
    return this.plain(instruction, operands) as Value;
  }

  /** The same for an instruction without immediates by the parts of its name: `f.opOf("i32", "lt", "_u", [a, b])`. */
  opOf(type: string, name: string, ending: string, operands: readonly Operand[]): Value {
    const instruction = instructionOfParts(type, name, ending);
    if (instruction?.immediates !== "none") {
      throw new ArgumentError(`opOf: "${type}.${name}${ending}" is no instruction without immediates`);
    }
    return this.plain(instruction, operands) as Value;
  }

  /** @internal An instruction without immediates, or with fixed ones. */
  plain(instruction: Instruction, operands: readonly Operand[]): Value | undefined {
    return this.instruction(instruction, instruction.step, operands);
  }

  /** @internal An instruction that accesses memory, and perhaps one lane of a vector. */
  access(instruction: Instruction, operands: readonly Operand[], options?: Access, lane?: number): Value | undefined {
    const access = this.checkAccess(instruction, options);
    if (lane !== undefined) this.checkLane(instruction, lane, laneCount(instruction));
    const lanes = lane === undefined ? undefined : [lane];
    return this.instruction(instruction, { kind: "instruction", instruction, access, lanes }, operands);
  }

  /** @internal An instruction that names lanes. */
  lanes(instruction: Instruction, operands: readonly Operand[], lanes: readonly number[]): Value | undefined {
    const isShuffle = instruction.immediates === "lanes";
    if (isShuffle && lanes.length !== 16) {
      throw new ArgumentError(`${instruction.name}: names 16 lanes, got ${lanes.length}`);
    }
    for (const lane of lanes) this.checkLane(instruction, lane, isShuffle ? 32 : laneCount(instruction));
    const step: Step = { kind: "instruction", instruction, access: undefined, lanes: [...lanes] };
    return this.instruction(instruction, step, operands);
  }

  /** A constant of a scalar type. */
  constant<T extends Exclude<ValueType, "v128">>(type: T, literal: Literal): Value<T> {
    const value = encodeLiteral(type, literal, `${type}.const`);
    return new Node(type, { kind: "constant", value }, NOTHING, this.root, -1, null);
  }

  /** A vector constant: one literal for all lanes, or one for each. */
  vectorConstant(shape: LaneShape, lanes: Literal | readonly Literal[]): Value<"v128"> {
    const spelling = `${shape} ${Object.is(lanes, -0) ? "-0" : lanes}`;
    let constant = typeof lanes === "object" ? undefined : this.splats.get(spelling);
    if (constant) return constant;
    const value = encodeLanes(shape, lanes, `${shape}.const`);
    const key = value.join();
    constant = this.vectors.get(key);
    if (!constant) {
      constant = new Node("v128", { kind: "constant", value }, NOTHING, this.root, -2 - this.vectors.size, null);
      this.vectors.set(key, constant);
    }
    if (typeof lanes !== "object") this.splats.set(spelling, constant);
    return constant;
  }

  /** @internal An operand as a node of the given type that may be used here. */
  as(operand: Operand, type: ValueType, what: string, lanes?: LaneShape): Node {
    if (!(operand instanceof Node)) {
      if (type !== "v128") {
        const value = encodeLiteral(type, operand, what);
        return new Node(type, { kind: "constant", value }, NOTHING, this.root, -1, null);
      }
      if (lanes) return this.vectorConstant(lanes, operand);
      throw new ArgumentError(`${what}: the literal ${operand} has no lanes here; write f.i32x4.const(${operand})`);
    }
    if (operand.type !== type) throw new ArgumentError(`${what}: expected ${type}, got ${operand.type}`);
    this.checkScope(operand, what);
    return operand;
  }

  /** @internal An operand that must bring its type along. */
  value(operand: Operand, what: string): Value {
    if (operand instanceof Node) {
      this.checkScope(operand, what);
      return operand;
    }
    throw new ArgumentError(`${what}: the literal ${operand} has no type here; write f.i32.const(${operand})`);
  }

  /** @internal Appends a step to the function. */
  record<T extends ValueType | "none">(
    type: T,
    step: Step,
    operands: readonly Node[] = NOTHING,
    reads: Written | null = null,
  ): Node<T> {
    if (this.terminated) this.refuse(step);
    const node = new Node(type, step, operands, this.scope, this.nodes.length, reads);
    this.nodes.push(node);
    return node;
  }

  /** @internal A local that ends with the innermost scope. */
  protected local(type: ValueType): Local {
    const local = newLocal(type);
    this.scope.locals.push(local);
    return local;
  }

  /** @internal The value of a local that does not change while the value is in scope. */
  protected valueIn<T extends ValueType>(local: Local & { readonly type: T }): Value<T> {
    return new Node(local.type, { kind: "local", local }, NOTHING, this.scope, -1, null);
  }

  protected assign(locals: Local[], values: readonly Node[]): Node<"none"> {
    const node = this.record("none", { kind: "set", locals }, values);
    for (const local of locals) local.writes.push(node.index);
    return node;
  }

  private instruction(instruction: Instruction, step: Step, given: readonly Operand[]): Value | undefined {
    const { name, parameters, result, effect, literalLanes } = instruction;
    if (given.length !== parameters.length) {
      throw new ArgumentError(`${name}: takes ${parameters.length} operands, got ${given.length}`);
    }
    if (this.terminated) this.refuse(step);
    const operands: Node[] = new Array(given.length);
    for (let i = 0; i < given.length; i++) {
      const operand = given[i] as Operand;
      const type = parameters[i] as ValueType;
      // The common case first: a value of the right type, still in scope.
      if (operand instanceof Node && operand.type === type && operand.scope.isOpen && operand.scope.owner === this) {
        operands[i] = operand;
      } else operands[i] = this.as(operand, type, `${name}, operand ${i + 1} of ${parameters.length}`, literalLanes);
    }
    const index = this.nodes.length;
    const node = new Node(result, step, operands, this.scope, index, effect === "load" ? this.stored : null);
    this.nodes.push(node);
    if (effect === "effect") this.stored.writes.push(index);
    return result === "none" ? undefined : (node as Value);
  }

  private checkScope({ scope, type, step }: Node, what: string): void {
    if (scope.owner !== this) throw new ArgumentError(`${what}: the ${type} operand belongs to another function`);
    if (scope.isOpen) return;
    throw new ArgumentError(
      `${what}: the ${type} operand (${nameOf(step)}) was made inside a branch or loop that has ended. ` +
        "Return it from the branch, carry it through the loop, or keep it in a variable.",
    );
  }

  private checkAccess({ name, extent, isAtomic }: Instruction, options: Access | undefined): MemoryAccess {
    const { offset = 0, align = extent } = options ?? {};
    if (!Number.isInteger(offset) || offset < 0 || offset >= 2 ** 32) {
      throw new ArgumentError(`${name}: an offset is a whole number from 0 to 2^32 - 1, got ${offset}`);
    }
    const power = Math.log2(align);
    if (!Number.isInteger(power) || align > extent || (isAtomic && align !== extent)) {
      const allowed = isAtomic ? `${extent}` : `a power of two up to ${extent}`;
      throw new ArgumentError(`${name}: the alignment must be ${allowed}, got ${align}`);
    }
    return { offset, align: power };
  }

  private checkLane({ name }: Instruction, lane: number, count: number): void {
    if (Number.isInteger(lane) && lane >= 0 && lane < count) return;
    throw new ArgumentError(`${name}: lane ${lane} of ${count}`);
  }

  private refuse(step: Step): never {
    throw new ArgumentError(
      `${nameOf(step)} in "${this.name}" follows a return, break, continue or trap and can never run; ` +
        "put the jump inside f.if(…), or drop what follows it",
    );
  }
}

function nameOf(step: Step): string {
  return step.kind === "instruction" ? step.instruction.name : step.kind;
}
