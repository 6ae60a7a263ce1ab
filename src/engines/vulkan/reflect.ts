/**
 * What a SPIR-V module asks for: entry points, workgroup size, storage buffers, push block, specialisation constants,
 * shared memory, capabilities. Drivers do not check; a module that does not fit loses the device or crashes the
 * process, so a kernel is only made from one that was read here first.
 */
import { FormatError } from "../../core/errors.js";
import {
  BuiltIn,
  Decoration,
  ExecutionMode,
  ExecutionModel,
  HEADER_WORDS,
  MAGIC,
  Op,
  StorageClass,
} from "../../core/spirv.js";

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

/** SPIR-V words from bytes, checked for length, magic number and byte order. */
export function toWords(bytes: Uint8Array): Uint32Array {
  if (bytes.byteLength % 4 !== 0 || bytes.byteLength < HEADER_WORDS * 4) {
    throw new FormatError(`Not SPIR-V: ${bytes.byteLength} bytes is not a whole number of words holding a header.`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const magic = view.getUint32(0, true);
  const isSwapped = view.getUint32(0, false) === MAGIC;
  if (magic !== MAGIC && !isSwapped) {
    throw new FormatError(
      `Not SPIR-V: it starts with 0x${magic.toString(16).padStart(8, "0")}, not 0x07230203. GLSL must be compiled first (glslangValidator -V).`,
    );
  }
  const words = new Uint32Array(bytes.byteLength / 4);
  for (let i = 0; i < words.length; i++) words[i] = view.getUint32(4 * i, !isSwapped);
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
  const memberDecorations = new Map<number, Instruction[]>();
  const push = <K>(map: Map<K, Instruction[]>, key: K, value: Instruction) => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };

  let isInFunction = false;
  for (let at = HEADER_WORDS; at < words.length; ) {
    const count = (words[at] as number) >>> 16;
    const op = (words[at] as number) & 0xffff;
    if (count === 0 || at + count > words.length) {
      throw new FormatError(`Not SPIR-V: the instruction at word ${at} runs past the end of the module.`);
    }
    const operands = words.subarray(at + 1, at + count);
    at += count;
    if (op === Op.Function) isInFunction = true;
    if (isInFunction) continue;
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
      case Op.MemberDecorate:
        push(memberDecorations, operands[0] ?? 0, instruction.slice(2));
        break;
      default:
        if ((op >= Op.TypeVoid && op <= Op.TypeFunction) || op === Op.TypeCooperativeMatrixKHR) {
          definitions.set(operands[0] ?? 0, instruction);
        } else if ((op >= Op.ConstantTrue && op <= Op.SpecConstantOp) || op === Op.Variable) {
          definitions.set(operands[1] ?? 0, instruction);
        }
    }
  }
  const compute = entries.filter((entry) => entry.model === ExecutionModel.GLCompute);

  const decorated = (id: number, decoration: number) =>
    decorations.get(id)?.find((decorate) => decorate[0] === decoration);
  const specIds = new Map<number, number>();
  for (const [id] of definitions) {
    const spec = decorated(id, Decoration.SpecId);
    if (spec) specIds.set(id, spec[1] ?? 0);
  }

  const specConstants = [...specIds].map(([id, constantId]): SpecConstant => {
    const type = definitions.get(definitions.get(id)?.[1] ?? 0);
    if (type?.[0] === Op.TypeInt) {
      return { constantId, kind: "int", bytes: ((type[2] ?? 32) / 8) as 1 | 2 | 4 | 8, isSigned: type[3] === 1 };
    }
    if (type?.[0] === Op.TypeFloat) {
      return { constantId, kind: "float", bytes: ((type[2] ?? 32) / 8) as 2 | 4 | 8, isSigned: true };
    }
    return { constantId, kind: "bool", bytes: 4, isSigned: false };
  });

  const entry = (
    name: string,
    specialization: ReadonlyMap<number, number | bigint | boolean>,
  ): EntryInterface | undefined => {
    const point = compute.find((candidate) => candidate.name === name);
    if (!point) return undefined;

    /** The value of an integer constant under the specialisation; undefined when it takes more than we evaluate. */
    const constant = (id: number): number | undefined => {
      const definition = definitions.get(id);
      if (!definition) return undefined;
      const specId = specIds.get(id);
      if (specId !== undefined && specialization.has(specId)) return Number(specialization.get(specId));
      const [op, , , first = 0, second = 0, third = 0] = definition;
      if (op === Op.Constant || op === Op.SpecConstant) return first;
      if (op === Op.SpecConstantTrue || op === Op.ConstantTrue) return 1;
      if (op === Op.SpecConstantFalse || op === Op.ConstantFalse) return 0;
      if (op !== Op.SpecConstantOp) return undefined;
      const a = constant(second);
      const b = constant(third);
      if (a === undefined || b === undefined) return undefined;
      if (first === Op.IAdd) return a + b;
      if (first === Op.ISub) return a - b;
      if (first === Op.IMul) return a * b;
      if (first === Op.UDiv || first === Op.SDiv) return b === 0 ? undefined : Math.trunc(a / b);
      return undefined;
    };

    /** Bytes of a type: laid out by its decorations where it has them, else packed by natural alignment. */
    const size = (id: number, depth = 0): number => {
      const type = definitions.get(id);
      if (!type || depth > 64) throw new FormatError(`SPIR-V type %${id} is not defined.`);
      switch (type[0]) {
        case Op.TypeBool:
          return 4;
        case Op.TypeInt:
        case Op.TypeFloat:
          return (type[2] ?? 32) / 8;
        case Op.TypeVector:
        case Op.TypeMatrix:
          return size(type[2] ?? 0, depth + 1) * (type[3] ?? 1);
        case Op.TypePointer:
          return 8;
        case Op.TypeArray: {
          const length = constant(type[3] ?? 0) ?? 0;
          const stride = decorated(id, Decoration.ArrayStride)?.[1];
          return length * (stride ?? size(type[2] ?? 0, depth + 1));
        }
        case Op.TypeRuntimeArray:
          return 0;
        case Op.TypeStruct: {
          const members = type.slice(2);
          const layouts = memberDecorations.get(id) ?? [];
          let end = 0;
          members.forEach((member, index) => {
            const offset = layouts.find((d) => d[0] === index && d[1] === Decoration.Offset)?.[2];
            const stride = layouts.find((d) => d[0] === index && d[1] === Decoration.MatrixStride)?.[2];
            const matrix = definitions.get(member);
            const bytes =
              stride !== undefined && matrix?.[0] === Op.TypeMatrix
                ? stride * (matrix[3] ?? 1)
                : size(member, depth + 1);
            end = Math.max(end, (offset ?? end) + bytes);
          });
          return end;
        }
        default:
          return 0;
      }
    };

    let localSize: [number, number, number] = [1, 1, 1];
    for (const [op, target, mode, ...values] of modes) {
      if (target !== point.id) continue;
      if (op === Op.ExecutionMode && mode === ExecutionMode.LocalSize)
        localSize = [values[0] ?? 1, values[1] ?? 1, values[2] ?? 1];
      if (op === Op.ExecutionModeId && mode === ExecutionMode.LocalSizeId) {
        localSize = values.map((id) => constant(id) ?? 1) as [number, number, number];
      }
    }
    // The WorkgroupSize built-in, where a module has it, overrides the execution mode.
    for (const [id, definition] of definitions) {
      if (decorated(id, Decoration.BuiltIn)?.[1] !== BuiltIn.WorkgroupSize) continue;
      if (definition[0] === Op.ConstantComposite || definition[0] === Op.SpecConstantComposite) {
        localSize = definition.slice(3).map((part) => constant(part) ?? 1) as [number, number, number];
      }
    }

    const bindings: Binding[] = [];
    let pushBytes = 0;
    let sharedBytes = 0;
    const listsAllGlobals = (words[1] as number) >= 0x00010400;
    for (const [id, definition] of definitions) {
      if (definition[0] !== Op.Variable) continue;
      if (listsAllGlobals && !point.interfaces.includes(id)) continue;
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
        const marks = memberDecorations.get(pointee) ?? [];
        const isEveryMemberReadOnly =
          members.length > 0 &&
          members.every((_, i) => marks.some((d) => d[0] === i && d[1] === Decoration.NonWritable));
        bindings.push({
          set: decorated(id, Decoration.DescriptorSet)?.[1] ?? 0,
          binding: decorated(id, Decoration.Binding)?.[1] ?? 0,
          kind: isBuffer && definitions.get(pointee)?.[0] === Op.TypeStruct ? "storage buffer" : "other",
          isReadOnly: decorated(id, Decoration.NonWritable) !== undefined || isEveryMemberReadOnly,
        });
      }
    }
    bindings.sort((a, b) => a.set - b.set || a.binding - b.binding);
    return { localSize, bindings, pushBytes: Math.ceil(pushBytes / 4) * 4, sharedBytes };
  };

  return {
    version: [((words[1] as number) >>> 16) & 0xff, ((words[1] as number) >>> 8) & 0xff],
    capabilities,
    entryPoints: compute.map((point) => point.name),
    specConstants,
    entry,
  };
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
