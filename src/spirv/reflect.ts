/**
 * What a SPIR-V module asks for: entry points, workgroup size, storage buffers, push block, specialisation constants,
 * shared memory, capabilities. Drivers do not check; a module that does not fit loses the device or crashes the
 * process, so a kernel is only made from one that was read here first.
 */
import { FormatError } from "../core/errors.js";
import {
  BuiltIn,
  Decoration,
  ExecutionMode,
  ExecutionModel,
  HEADER_WORDS,
  MAGIC,
  Op,
  StorageClass,
} from "./enumerants.js";
import { integerOperation } from "./spec-constants.js";

export interface SpecConstant {
  readonly constantId: number;
  readonly kind: "bool" | "int" | "float";
  readonly bytes: 1 | 2 | 4 | 8;
  readonly isSigned: boolean;
}

export interface Binding {
  readonly set: number;
  readonly binding: number;
  readonly kind: "storage buffer" | "other";
  readonly isReadOnly: boolean;
}

export interface ModuleInterface {
  readonly version: readonly [number, number];
  readonly capabilities: readonly number[];
  /** Compute entry points by name. */
  readonly entryPoints: readonly string[];
  readonly specConstants: readonly SpecConstant[];
  /** What one entry point uses, with specialisation applied. Undefined for a name that is not there. */
  entry(name: string, specialization: ReadonlyMap<number, number | bigint | boolean>): EntryInterface | undefined;
}

export interface EntryInterface {
  readonly localSize: readonly [number, number, number];
  readonly bindings: readonly Binding[];
  readonly pushBytes: number;
  readonly sharedBytes: number;
}

type Instruction = readonly number[];
/** The universal limit of the SPIR-V specification on result ids. */
const MAX_BOUND = 4194303;
/** Deeper than any real module nests its types or constant expressions; a hostile one would exhaust the stack. */
const MAX_DEPTH = 1000;
/** Instructions whose operands are partly plain numbers, which must not be taken for the ids of variables. */
const withLiterals = new Set<number>([Op.Line, Op.CompositeExtract, Op.CompositeInsert, Op.VectorShuffle, Op.Switch]);

/** SPIR-V words from bytes, checked for length, magic number and byte order. */
export function toWords(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const magic = bytes.byteLength < 4 ? 0 : view.getUint32(0, true);
  const isSwapped = bytes.byteLength >= 4 && view.getUint32(0, false) === MAGIC;
  if (bytes.byteLength < HEADER_WORDS * 4 || (bytes.byteLength % 4 !== 0 && (magic === MAGIC || isSwapped))) {
    throw new FormatError(`Not SPIR-V: ${bytes.byteLength} bytes is not a whole number of words holding a header.`);
  }
  if (magic !== MAGIC && !isSwapped) {
    throw new FormatError(
      `Not SPIR-V: it starts with 0x${magic.toString(16).padStart(8, "0")}, not 0x07230203. GLSL must be compiled first (glslangValidator -V).`,
    );
  }
  const words = new Uint32Array(new Uint8Array(bytes).buffer);
  if (words[0] !== MAGIC) Buffer.from(words.buffer).swap32();
  return words;
}

export function reflect(words: Uint32Array): ModuleInterface {
  if (words.length < HEADER_WORDS || words[0] !== MAGIC) throw new FormatError("Not SPIR-V: no header.");
  const bound = words[3] as number;
  if (bound === 0 || bound > MAX_BOUND) throw new FormatError(`Not SPIR-V: the id bound is ${bound}.`);

  const capabilities: number[] = [];
  const entries: { name: string; id: number; interfaces: number[]; model: number }[] = [];
  const modes: Instruction[] = [];
  /** Types, constants and global variables by result id. */
  const definitions = new Map<number, Instruction>();
  const decorations = new Map<number, Instruction[]>();
  const memberDecorations = new Map<number, Map<number, Instruction[]>>();
  /** The ids each function mentions. */
  const functions = new Map<number, Set<number>>();
  const push = <K>(map: Map<K, Instruction[]>, key: K, value: Instruction) => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };

  // From SPIR-V 1.4 on an entry point lists all the variables it uses; before, they are found in the functions.
  const listsAllGlobals = (words[1] as number) >= 0x00010400;
  let mentioned: Set<number> | null = null;
  const shape = new BodyShape();
  const called = new Set<number>();
  for (let at = HEADER_WORDS; at < words.length; ) {
    const count = (words[at] as number) >>> 16;
    const op = (words[at] as number) & 0xffff;
    if (count === 0 || at + count > words.length) {
      throw new FormatError(`Not SPIR-V: the instruction at word ${at} runs past the end of the module.`);
    }
    const first = at + 1;
    at += count;
    shape.see(op, at - count);
    if (op === Op.FunctionCall) called.add(count > 3 ? (words[first + 2] as number) : 0);
    if (op === Op.Function) {
      mentioned = new Set();
      functions.set(count > 2 ? (words[first + 1] as number) : 0, mentioned);
    }
    if (mentioned) {
      // Most of a module is bodies of functions, and a view of every instruction takes longer than all else here.
      const isListed = listsAllGlobals || withLiterals.has(op);
      for (let i = first; !isListed && i < at; i++) mentioned.add(words[i] as number);
      continue;
    }
    const operands = words.subarray(first, at);
    const instruction = [op, ...operands];
    switch (op) {
      case Op.Capability:
        capabilities.push(operands[0] ?? 0);
        break;
      case Op.EntryPoint: {
        const text = literalString(operands, 2);
        const interfaces = [...operands.subarray(2 + text.words)];
        entries.push({ model: operands[0] ?? 0, id: operands[1] ?? 0, name: text.text, interfaces });
        break;
      }
      case Op.ExecutionMode:
      case Op.ExecutionModeId:
        modes.push(instruction);
        break;
      case Op.Decorate:
        push(decorations, operands[0] ?? 0, instruction.slice(2));
        break;
      case Op.MemberDecorate: {
        const members = memberDecorations.get(operands[0] ?? 0) ?? new Map<number, Instruction[]>();
        memberDecorations.set(operands[0] ?? 0, members);
        push(members, operands[1] ?? 0, instruction.slice(3));
        break;
      }
      default:
        if ((op >= Op.TypeVoid && op <= Op.TypeFunction) || op === Op.TypeCooperativeMatrixKHR) {
          definitions.set(operands[0] ?? 0, instruction);
        } else if ((op >= Op.ConstantTrue && op <= Op.SpecConstantOp) || op === Op.Variable) {
          definitions.set(operands[1] ?? 0, instruction);
        }
    }
  }
  shape.end();
  for (const id of called) {
    if (!functions.has(id))
      throw new FormatError(`Not SPIR-V: function %${id} is called and not there; is it cut off?`);
  }
  for (const { id, name } of entries) {
    if (!functions.has(id))
      throw new FormatError(`Not SPIR-V: the entry point "${name}" has no function; is it cut off?`);
  }
  const compute = entries.filter((entry) => entry.model === ExecutionModel.GLCompute);

  const decorated = (id: number, decoration: number) =>
    decorations.get(id)?.find((decorate) => decorate[0] === decoration);
  const memberDecorated = (id: number, member: number, decoration: number) =>
    memberDecorations
      .get(id)
      ?.get(member)
      ?.find((decorate) => decorate[0] === decoration);
  const width = (type: Instruction) => {
    const bits = type[2];
    if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) {
      throw new FormatError(`SPIR-V type %${type[1]} is ${bits} bits wide.`);
    }
    return (bits / 8) as 1 | 2 | 4 | 8;
  };
  const specIds = new Map<number, number>();
  for (const [id] of definitions) {
    const spec = decorated(id, Decoration.SpecId);
    if (spec) specIds.set(id, spec[1] ?? 0);
  }

  const specConstants = [...specIds].map(([id, constantId]): SpecConstant => {
    const type = definitions.get(definitions.get(id)?.[1] ?? 0);
    if (type?.[0] === Op.TypeInt) {
      return { constantId, kind: "int", bytes: width(type), isSigned: type[3] === 1 };
    }
    if (type?.[0] === Op.TypeFloat) return { constantId, kind: "float", bytes: width(type), isSigned: true };
    return { constantId, kind: "bool", bytes: 4, isSigned: false };
  });

  const entry = (
    name: string,
    specialization: ReadonlyMap<number, number | bigint | boolean>,
  ): EntryInterface | undefined => {
    const point = compute.find((candidate) => candidate.name === name);
    if (!point) return undefined;

    const values = new Map<number, bigint | null>();
    /** The value of an integer or boolean constant under the specialisation. */
    const constant = (id: number, depth = 0): bigint => {
      const known = values.get(id);
      if (typeof known === "bigint") return known;
      if (known === null || depth > MAX_DEPTH) throw new FormatError(`SPIR-V constant %${id} depends on itself.`);
      values.set(id, null);
      const value = wrap(definitions.get(definitions.get(id)?.[1] ?? 0), evaluate(id, depth));
      values.set(id, value);
      return value;
    };
    const evaluate = (id: number, depth: number): bigint => {
      const definition = definitions.get(id) ?? [];
      const given = specialization.get(specIds.get(id) ?? -1);
      if (given !== undefined && Number.isInteger(Number(given))) return BigInt(given);
      const [op, , , ...operands] = definition;
      if (op === Op.Constant || op === Op.SpecConstant) return fromWords(operands);
      if (op === Op.SpecConstantTrue || op === Op.ConstantTrue) return 1n;
      if (op === Op.SpecConstantFalse || op === Op.ConstantFalse || op === Op.ConstantNull) return 0n;
      if (op !== Op.SpecConstantOp) throw new FormatError(`SPIR-V %${id} is not a constant that can be computed.`);
      const [operation = 0, ...parts] = operands;
      if (operation === Op.CompositeExtract && parts.length === 2) {
        const composite = definitions.get(parts[0] ?? 0) ?? [];
        const isComposite = composite[0] === Op.ConstantComposite || composite[0] === Op.SpecConstantComposite;
        const part = composite[3 + (parts[1] ?? 0)];
        if (isComposite && part !== undefined) return constant(part, depth + 1);
      }
      const types = parts.map((part) => definitions.get(definitions.get(part)?.[1] ?? 0));
      const bits = BigInt(types[0]?.[0] === Op.TypeInt ? 8 * width(types[0]) : 32);
      const result = integerOperation(
        operation,
        bits,
        parts.map((part) => constant(part, depth + 1)),
      );
      if (result === undefined) throw new FormatError(`SPIR-V constant %${id} is computed by operation ${operation}.`);
      return result;
    };
    /** As many bits as the type has. */
    const wrap = (type: Instruction | undefined, value: bigint): bigint => {
      if (type?.[0] !== Op.TypeInt) return value === 0n ? 0n : 1n;
      const bits = 8 * width(type);
      return type[3] === 1 ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
    };
    /** A constant that counts something. */
    const count = (id: number): number => {
      const value = constant(id);
      if (value < 0n || value > 0xffffffffn) throw new FormatError(`SPIR-V constant %${id} is ${value}, not a count.`);
      return Number(value);
    };

    const sizes = new Map<number, number | null>();
    /** Bytes of a type: laid out by its decorations where it has them, else packed by natural alignment. */
    const size = (id: number, depth = 0): number => {
      const known = sizes.get(id);
      if (typeof known === "number") return known;
      if (known === null || depth > MAX_DEPTH) throw new FormatError(`SPIR-V type %${id} contains itself.`);
      sizes.set(id, null);
      const bytes = measure(id, depth);
      if (!Number.isSafeInteger(bytes)) throw new FormatError(`SPIR-V type %${id} is ${bytes} bytes large.`);
      sizes.set(id, bytes);
      return bytes;
    };
    const measure = (id: number, depth: number): number => {
      const type = definitions.get(id);
      if (!type) throw new FormatError(`SPIR-V type %${id} is not defined.`);
      switch (type[0]) {
        case Op.TypeBool:
          return 4;
        case Op.TypeInt:
        case Op.TypeFloat:
          return width(type);
        case Op.TypeVector:
        case Op.TypeMatrix:
          return size(type[2] ?? 0, depth + 1) * (type[3] ?? 1);
        case Op.TypePointer:
          return 8;
        case Op.TypeArray:
          return count(type[3] ?? 0) * (decorated(id, Decoration.ArrayStride)?.[1] ?? size(type[2] ?? 0, depth + 1));
        case Op.TypeStruct: {
          let end = 0;
          type.slice(2).forEach((member, index) => {
            const offset = memberDecorated(id, index, Decoration.Offset)?.[1];
            const stride = memberDecorated(id, index, Decoration.MatrixStride)?.[1];
            const matrix = definitions.get(member);
            let bytes = size(member, depth + 1);
            if (stride !== undefined && matrix?.[0] === Op.TypeMatrix) {
              const isRowMajor = memberDecorated(id, index, Decoration.RowMajor) !== undefined;
              const rows = definitions.get(matrix[2] ?? 0)?.[3] ?? 1;
              bytes = stride * (isRowMajor ? rows : (matrix[3] ?? 1));
            }
            end = Math.max(end, (offset ?? end) + bytes);
          });
          return end;
        }
        default:
          return 0;
      }
    };

    let localSize: [number, number, number] = [1, 1, 1];
    const three = (parts: readonly number[]): [number, number, number] => {
      if (parts.length !== 3) throw new FormatError(`Not SPIR-V: a workgroup size of ${parts.length} numbers.`);
      return parts as unknown as [number, number, number];
    };
    for (const [op, target, mode, ...parts] of modes) {
      if (target !== point.id) continue;
      if (op === Op.ExecutionMode && mode === ExecutionMode.LocalSize) localSize = three(parts);
      if (op === Op.ExecutionModeId && mode === ExecutionMode.LocalSizeId) localSize = three(parts.map(count));
    }
    // The WorkgroupSize built-in, where a module has it, overrides the execution mode.
    for (const [id, definition] of definitions) {
      if (decorated(id, Decoration.BuiltIn)?.[1] !== BuiltIn.WorkgroupSize) continue;
      if (definition[0] === Op.ConstantComposite || definition[0] === Op.SpecConstantComposite) {
        localSize = three(definition.slice(3).map(count));
      }
    }

    const used = listsAllGlobals ? new Set(point.interfaces) : compute.length > 1 ? reached(point.id, functions) : null;

    const bindings = new Map<string, Binding>();
    let pushBytes = 0;
    let sharedBytes = 0;
    for (const [id, definition] of definitions) {
      if (definition[0] !== Op.Variable || (used && !used.has(id))) continue;
      const storage = definition[3];
      const pointee = definitions.get(definition[1] ?? 0)?.[3] ?? 0;
      if (storage === StorageClass.PushConstant) pushBytes = Math.max(pushBytes, size(pointee));
      else if (storage === StorageClass.Workgroup) sharedBytes += size(pointee);
      else if (
        storage === StorageClass.StorageBuffer ||
        storage === StorageClass.Uniform ||
        storage === StorageClass.UniformConstant
      ) {
        // Before SPIR-V 1.3 a storage buffer is a Uniform variable of a struct decorated BufferBlock.
        const isBuffer =
          storage === StorageClass.StorageBuffer ||
          (storage === StorageClass.Uniform && decorated(pointee, Decoration.BufferBlock) !== undefined);
        const members = definitions.get(pointee)?.slice(2) ?? [];
        const isEveryMemberReadOnly =
          members.length > 0 && members.every((_, i) => memberDecorated(pointee, i, Decoration.NonWritable));
        const set = decorated(id, Decoration.DescriptorSet)?.[1] ?? 0;
        const binding = decorated(id, Decoration.Binding)?.[1] ?? 0;
        // One buffer seen as several types is several variables at one binding.
        const alias = bindings.get(`${set} ${binding}`);
        const isStorage = isBuffer && definitions.get(pointee)?.[0] === Op.TypeStruct;
        const isReadOnly = decorated(id, Decoration.NonWritable) !== undefined || isEveryMemberReadOnly;
        bindings.set(`${set} ${binding}`, {
          set,
          binding,
          kind: isStorage && alias?.kind !== "other" ? "storage buffer" : "other",
          isReadOnly: isReadOnly && alias?.isReadOnly !== false,
        });
      }
    }
    if (!Number.isSafeInteger(sharedBytes)) throw new FormatError(`The module shares ${sharedBytes} bytes.`);
    return {
      localSize,
      bindings: [...bindings.values()].sort((a, b) => a.set - b.set || a.binding - b.binding),
      pushBytes: Math.ceil(pushBytes / 4) * 4,
      sharedBytes,
    };
  };

  return {
    version: [((words[1] as number) >>> 16) & 0xff, ((words[1] as number) >>> 8) & 0xff],
    capabilities,
    entryPoints: compute.map((point) => point.name),
    specConstants,
    entry,
  };
}

/** The ids mentioned by a function and by those it calls. */
function reached(start: number, functions: ReadonlyMap<number, ReadonlySet<number>>): Set<number> {
  const all = new Set<number>();
  const waiting = [start];
  const visited = new Set(waiting);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const mentioned of functions.get(id) ?? []) {
      all.add(mentioned);
      if (!functions.has(mentioned) || visited.has(mentioned)) continue;
      visited.add(mentioned);
      waiting.push(mentioned);
    }
  }
  return all;
}

function fromWords(words: readonly number[]): bigint {
  return words.reduceRight((high, word) => (high << 32n) | BigInt(word), 0n);
}

function literalString(operands: Uint32Array, start: number): { text: string; words: number } {
  const bytes: number[] = [];
  for (let i = start; i < operands.length; i++) {
    for (let shift = 0; shift < 32; shift += 8) {
      const byte = ((operands[i] as number) >>> shift) & 0xff;
      if (byte === 0) return { text: Buffer.from(bytes).toString("utf8"), words: i - start + 1 };
      bytes.push(byte);
    }
  }
  throw new FormatError("Not SPIR-V: a name is not terminated.");
}

/** Instructions that end a block. */
const TERMINATORS: ReadonlySet<number> = new Set<number>([
  Op.Branch,
  Op.BranchConditional,
  Op.Switch,
  Op.Return,
  Op.ReturnValue,
  Op.Unreachable,
]);

/** Functions end, and blocks end with a branch or a return: a module cut off in between kills the drivers that read it. */
class BodyShape {
  place: "outside" | "function" | "block" = "outside";

  see(op: number, at: number): void {
    if (op === Op.Function) this.move("outside", "function", op, at);
    else if (op === Op.FunctionEnd) this.move("function", "outside", op, at);
    else if (op === Op.Label) this.move("function", "block", op, at);
    else if (TERMINATORS.has(op)) this.move("block", "function", op, at);
  }

  private move(from: BodyShape["place"], to: BodyShape["place"], op: number, at: number): void {
    if (this.place !== from) {
      throw new FormatError(
        `Not SPIR-V: instruction ${op} at word ${at} is out of place; is something missing before it?`,
      );
    }
    this.place = to;
  }

  end(): void {
    if (this.place !== "outside") throw new FormatError("Not SPIR-V: it ends inside a function; is it cut off?");
  }
}
