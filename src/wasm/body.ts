/**
 * Encodes a recorded function: statement after statement, each preceded by the operands that were placed with it.
 *
 * An operand's operands are walked with a stack of our own, because an expression can be ten thousand instructions deep.
 */
import { ByteStream } from "./bytes.js";
import { type Instruction, type MemoryAccess, opcodeParts } from "./instructions.js";
import { Locals } from "./locals.js";
import { Placement } from "./placement.js";
import type { ValueType } from "./types.js";
import type { Construct, Local, Loop, Node, Step, Value } from "./value.js";

/** Opcodes outside the instruction tables: control flow, variables, constants. */
// biome-ignore format: a table of numbers reads best in rows
export const CONTROL = {
  unreachable: 0x00, nop: 0x01, block: 0x02, loop: 0x03, if: 0x04, else: 0x05, end: 0x0b, br: 0x0c, br_if: 0x0d,
  br_table: 0x0e, return: 0x0f, call: 0x10, drop: 0x1a, select: 0x1b, "local.get": 0x20, "local.set": 0x21,
  "local.tee": 0x22, "global.get": 0x23, "global.set": 0x24, "i32.const": 0x41, "i64.const": 0x42, "f32.const": 0x43,
  "f64.const": 0x44, "v128.const": 0xfd0c,
} as const;

const EMPTY_BLOCK_TYPE = 0x40;

interface RecordedBody {
  readonly nodes: readonly Node[];
  readonly parameters: readonly Local[];
  readonly vectors: ReadonlySet<Value<"v128">>;
  /** The end of the body is unreachable: no results are on the stack there. */
  readonly endsUnreachably: boolean;
}

/** The body as it stands in the code section, without its size. */
export function encodeBody(body: RecordedBody): Uint8Array {
  return new BodyWriter(body, new Placement(body.nodes, body.vectors.size)).run();
}

class BodyWriter {
  private readonly out = new ByteStream(256);
  private readonly locals: Locals;
  private readonly labels: Construct[] = [];
  private loop: Loop | undefined;

  // The walk over an expression: the nodes entered, and how many operands of each are written.
  private readonly entered: Node[] = [];
  private readonly written: number[] = [];

  /** The last instruction when it is a local.set, so that a local.get of the same local right after it can join it. */
  private setStart = -1;
  private setEnd = -1;
  private setSlot = -1;

  /** By the number of a node: the local that holds its result, and how many uses of it are still to be written. */
  private readonly slots: Int32Array;
  private readonly remaining: Int32Array;

  constructor(
    private readonly body: RecordedBody,
    private readonly placement: Placement,
  ) {
    this.slots = new Int32Array(placement.size).fill(-1);
    this.remaining = new Int32Array(placement.size);
    this.locals = new Locals(body.parameters.length);
    body.parameters.forEach((local, i) => {
      local.slot = i;
    });
  }

  run(): Uint8Array {
    this.vectorConstants();
    const { nodes } = this.body;
    const { at } = this.placement;
    for (let i = 0; i < nodes.length; i++) if (at[i] === i) this.statement(nodes[i] as Node);
    if (this.body.endsUnreachably) this.out.byte(CONTROL.unreachable);
    this.out.byte(CONTROL.end);
    const whole = new ByteStream(this.out.length + 64);
    this.locals.write(whole);
    whole.append(this.out.view());
    return whole.view().slice();
  }

  /**
   * A vector constant takes 18 bytes and, in an engine, several instructions. One used in a loop or more than once is
   * made at the start of the function and kept.
   */
  private vectorConstants(): void {
    const { placement, slots } = this;
    for (const constant of this.body.vectors) {
      const number = placement.numberOf(constant);
      if ((placement.uses[number] as number) <= 1 && !placement.isUsedInside[number]) continue;
      this.constant(constant);
      const slot = this.locals.take("v128");
      slots[number] = slot;
      // More than there are: its local is never given back.
      this.remaining[number] = (placement.uses[number] as number) + 1;
      this.localSet(slot);
    }
  }

  private statement(root: Node): void {
    this.loop = root.scope.loop;
    const { entered, written } = this;
    entered.push(root);
    written.push(0);
    while (entered.length > 0) {
      const top = entered.length - 1;
      const node = entered[top] as Node;
      const k = written[top] as number;
      if (k < node.operands.length) {
        written[top] = k + 1;
        const operand = node.operands[k] as Node;
        if (this.isAtHand(operand)) continue;
        entered.push(operand);
        written.push(0);
        continue;
      }
      entered.pop();
      written.pop();
      this.encode(node);
      if (node === root) this.keepResult(root);
      else {
        const uses = this.placement.uses[node.index] as number;
        if (uses <= 1) continue;
        const slot = this.locals.take(node.type as ValueType);
        this.slots[node.index] = slot;
        this.remaining[node.index] = uses - 1;
        this.out.byte(CONTROL["local.tee"]);
        this.out.unsigned(slot);
      }
    }
  }

  private keepResult(node: Node): void {
    if (node.type === "none") return;
    const uses = this.placement.uses[node.index] as number;
    if (uses === 0 && !isWait(node)) {
      this.out.byte(CONTROL.drop);
      return;
    }
    // V8's baseline compiler (seen in 11.3) loses track of a register when the result of a wait is dropped, and the next
    // wait in the loop lasts for ever. Setting a local that nobody reads is as good.
    const slot = this.locals.take(node.type);
    this.slots[node.index] = slot;
    this.remaining[node.index] = uses;
    this.localSet(slot);
  }

  /** Writes an operand that needs no computing: a constant, or the value of a local. */
  private isAtHand(node: Node): boolean {
    const { step } = node;
    const number = this.placement.numberOf(node);
    const slot = number < 0 ? -1 : (this.slots[number] as number);
    if (slot >= 0) {
      const left = (this.remaining[number] as number) - 1;
      this.remaining[number] = left;
      if (left === 0) {
        // The instruction just written set this local, and nothing else reads it: the value can stay on the stack.
        if (this.setEnd === this.out.length && this.setSlot === slot) {
          this.out.truncate(this.setStart);
          this.setEnd = -1;
        } else this.localGet(slot);
        this.locals.giveBackAfter(node.type as ValueType, slot, node.scope.loop, this.loop as Loop);
      } else this.localGet(slot);
      return true;
    }
    if (step.kind === "constant") this.constant(node);
    else if (step.kind === "local") this.localGet(step.local.slot);
    else if (step.kind === "get" && this.placement.isReadInPlace[number]) this.localGet(step.local.slot);
    else return false;
    return true;
  }

  private encode(node: Node): void {
    const { step } = node;
    const { out } = this;
    switch (step.kind) {
      case "instruction":
        this.instruction(step.instruction, step.access, step.lanes);
        return;
      case "get":
        this.localGet(step.local.slot);
        return;
      case "globalGet":
        out.byte(CONTROL["global.get"]);
        out.unsigned(step.global.index);
        return;
      case "globalSet":
        out.byte(CONTROL["global.set"]);
        out.unsigned(step.global.index);
        return;
      case "set":
        this.setLocals(step.locals);
        return;
      case "call":
        out.byte(CONTROL.call);
        out.unsigned(step.callee.index);
        this.setLocals(step.locals);
        return;
      case "enter":
      case "else":
      case "end":
        this.mark(step);
        return;
      case "branch":
        this.branch(CONTROL.br, step.target);
        return;
      case "branchIf":
        this.branch(CONTROL.br_if, step.target);
        return;
      case "branchTable":
        out.byte(CONTROL.br_table);
        out.unsigned(step.targets.length);
        for (const target of [...step.targets, step.otherwise]) out.unsigned(this.depthOf(target));
        return;
      case "return":
        out.byte(CONTROL.return);
        return;
      case "unreachable":
        out.byte(CONTROL.unreachable);
        return;
      case "finish":
      case "constant":
      case "local":
        return;
    }
  }

  private instruction(instruction: Instruction, access?: MemoryAccess, lanes?: readonly number[]): void {
    const { out } = this;
    this.opcode(instruction.opcode);
    if (access) {
      out.unsigned(access.align);
      out.unsigned(access.offset);
    }
    if (lanes) for (const lane of lanes) out.byte(lane);
    if (instruction.immediates === "zeros") for (let i = 0; i < instruction.extent; i++) out.byte(0);
  }

  private constant({ type, step }: Node): void {
    if (step.kind !== "constant" || type === "none") return;
    const { value } = step;
    this.opcode(CONTROL[`${type}.const`]);
    if (typeof value === "object") this.out.append(value);
    else if (typeof value === "bigint") this.out.signed64(value);
    else if (type === "i32") this.out.signed(value);
    else if (type === "f32") this.out.f32(value);
    else this.out.f64(value);
  }

  private mark(step: Step & { readonly kind: "enter" | "else" | "end" }): void {
    const { construct } = step;
    const isWritten = construct.kind === "if" || construct.isTargeted;
    if (isWritten) {
      if (step.kind === "enter") {
        this.labels.push(construct);
        this.out.byte(CONTROL[construct.kind]);
        this.out.byte(EMPTY_BLOCK_TYPE);
      } else if (step.kind === "else") this.out.byte(CONTROL.else);
      else {
        this.labels.pop();
        this.out.byte(CONTROL.end);
      }
    }
    if (step.kind === "enter") return;
    for (const { type, slot } of step.closes?.locals ?? []) if (slot >= 0) this.locals.giveBack(type, slot);
    if (step.kind === "end" && step.loop) this.locals.endLoop(step.loop);
  }

  private branch(opcode: number, target: Construct): void {
    this.out.byte(opcode);
    this.out.unsigned(this.depthOf(target));
  }

  private depthOf(target: Construct): number {
    return this.labels.length - 1 - this.labels.lastIndexOf(target);
  }

  /** The values are on the stack, so the last local comes first. */
  private setLocals(locals: readonly Local[]): void {
    for (let i = locals.length - 1; i >= 0; i--) {
      const local = locals[i] as Local;
      if (local.slot < 0) local.slot = this.locals.take(local.type);
      this.localSet(local.slot);
    }
  }

  private localSet(slot: number): void {
    this.setStart = this.out.length;
    this.setSlot = slot;
    this.out.byte(CONTROL["local.set"]);
    this.out.unsigned(slot);
    this.setEnd = this.out.length;
  }

  private localGet(slot: number): void {
    if (this.setEnd === this.out.length && this.setSlot === slot) {
      this.out.patch(this.setStart, CONTROL["local.tee"]);
      this.setEnd = -1;
      return;
    }
    this.out.byte(CONTROL["local.get"]);
    this.out.unsigned(slot);
  }

  private opcode(opcode: number): void {
    const [prefix, rest] = opcodeParts(opcode);
    if (prefix === null) this.out.byte(rest);
    else {
      this.out.byte(prefix);
      this.out.unsigned(rest);
    }
  }
}

function isWait({ step }: Node): boolean {
  return step.kind === "instruction" && step.instruction.name.startsWith("memory.atomic.wait");
}
