/**
 * The interface of a SPIR-V module: entry points, workgroup size, storage buffers, push block, specialisation constants,
 * shared memory, capabilities. Drivers do not check these; a module that does not fit loses the device or crashes the
 * process, so a kernel is only made from a module that passed here first.
 */
import { FormatError } from "../../core/errors.js";
import { BuiltIn, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass } from "../enumerants.js";
import {
  bytesOfNumber,
  ConstantValues,
  decorationOf,
  memberDecorationOf,
  type Specialization,
  specIdsOf,
  TypeSizes,
  typeOf,
} from "./module-queries.js";
import { type EntryPoint, type Instruction, type ParsedModule, parseModule } from "./parse-module.js";

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
  /** The needs of one entry point, with specialisation applied. Undefined for a name that is not there. */
  entry(name: string, specialization: Specialization): EntryInterface | undefined;
}

export interface EntryInterface {
  readonly localSize: readonly [number, number, number];
  readonly bindings: readonly Binding[];
  readonly pushBytes: number;
  readonly sharedBytes: number;
}

export function reflect(words: Uint32Array): ModuleInterface {
  const module = parseModule(words);
  const compute = module.entries.filter((entry) => entry.model === ExecutionModel.GLCompute);
  return {
    version: module.version,
    capabilities: module.capabilities,
    entryPoints: compute.map((point) => point.name),
    specConstants: specConstantsOf(module),
    entry: (name, specialization) => {
      const point = compute.find((candidate) => candidate.name === name);
      return point && reflectEntry(module, point, compute.length === 1, specialization);
    },
  };
}

function specConstantsOf(module: ParsedModule): SpecConstant[] {
  return [...specIdsOf(module)].map(([id, constantId]): SpecConstant => {
    const type = typeOf(module, id);
    if (type?.[0] === Op.TypeInt) {
      return { constantId, kind: "int", bytes: bytesOfNumber(type), isSigned: type[3] === 1 };
    }
    if (type?.[0] === Op.TypeFloat) return { constantId, kind: "float", bytes: bytesOfNumber(type), isSigned: true };
    return { constantId, kind: "bool", bytes: 4, isSigned: false };
  });
}

function reflectEntry(
  module: ParsedModule,
  point: EntryPoint,
  isOnlyEntry: boolean,
  specialization: Specialization,
): EntryInterface {
  const constants = new ConstantValues(module, specialization);
  const sizes = new TypeSizes(module, constants);
  const localSize = localSizeOf(module, point, constants);
  const variables = variablesOf(module, point, isOnlyEntry);
  const bytesIn = (storage: number): number[] =>
    variables.filter((variable) => variable.storage === storage).map(({ pointee }) => sizes.bytes(pointee));
  const pushBytes = Math.max(0, ...bytesIn(StorageClass.PushConstant));
  const sharedBytes = bytesIn(StorageClass.Workgroup).reduce((sum, bytes) => sum + bytes, 0);
  if (!Number.isSafeInteger(sharedBytes)) throw new FormatError(`The module shares ${sharedBytes} bytes.`);
  return {
    localSize,
    bindings: bindingsOf(module, variables),
    pushBytes: Math.ceil(pushBytes / 4) * 4,
    sharedBytes,
  };
}

/** The workgroup size: the execution mode says it, and the WorkgroupSize built-in overrides it where there is one. */
function localSizeOf(module: ParsedModule, point: EntryPoint, constants: ConstantValues): [number, number, number] {
  let size: [number, number, number] = [1, 1, 1];
  const countOf = (id: number) => constants.count(id);
  for (const [op, target, mode, ...parts] of module.modes) {
    if (target !== point.id) continue;
    if (op === Op.ExecutionMode && mode === ExecutionMode.LocalSize) size = threeOf(parts);
    if (op === Op.ExecutionModeId && mode === ExecutionMode.LocalSizeId) size = threeOf(parts.map(countOf));
  }
  for (const [id, definition] of module.definitions) {
    if (decorationOf(module, id, Decoration.BuiltIn)?.[1] !== BuiltIn.WorkgroupSize) continue;
    if (definition[0] === Op.ConstantComposite || definition[0] === Op.SpecConstantComposite) {
      size = threeOf(definition.slice(3).map(countOf));
    }
  }
  return size;
}

function threeOf(parts: readonly number[]): [number, number, number] {
  if (parts.length !== 3) throw new FormatError(`Not SPIR-V: a workgroup size of ${parts.length} numbers.`);
  return parts as unknown as [number, number, number];
}

interface GlobalVariable {
  readonly id: number;
  readonly storage: number | undefined;
  /** The id of the type it points to. */
  readonly pointee: number;
}

/** The global variables that an entry point uses. */
function variablesOf(module: ParsedModule, point: EntryPoint, isOnlyEntry: boolean): GlobalVariable[] {
  const { definitions, listsAllGlobals, functions } = module;
  const used = listsAllGlobals ? new Set(point.interfaces) : isOnlyEntry ? null : mentionedFrom(point.id, functions);
  const isUsed = ([id, definition]: [number, Instruction]) =>
    definition[0] === Op.Variable && (used === null || used.has(id));
  return [...definitions].filter(isUsed).map(([id, definition]) => ({
    id,
    storage: definition[3],
    pointee: definitions.get(definition[1] ?? 0)?.[3] ?? 0,
  }));
}

/** The ids that a function mentions, and those mentioned by the functions it calls. */
function mentionedFrom(start: number, functions: ParsedModule["functions"]): Set<number> {
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

const DESCRIPTOR_STORAGE: ReadonlySet<number | undefined> = new Set<number>([
  StorageClass.StorageBuffer,
  StorageClass.Uniform,
  StorageClass.UniformConstant,
]);

/** The descriptor bindings of these variables. Several variables at one binding see one buffer as several types. */
function bindingsOf(module: ParsedModule, variables: readonly GlobalVariable[]): Binding[] {
  const bindings = new Map<string, Binding>();
  for (const variable of variables) {
    if (!DESCRIPTOR_STORAGE.has(variable.storage)) continue;
    const found = bindingOf(module, variable);
    const key = `${found.set} ${found.binding}`;
    const alias = bindings.get(key);
    const kind = alias?.kind === "other" ? "other" : found.kind;
    bindings.set(key, { ...found, kind, isReadOnly: found.isReadOnly && alias?.isReadOnly !== false });
  }
  return [...bindings.values()].sort((a, b) => a.set - b.set || a.binding - b.binding);
}

function bindingOf(module: ParsedModule, { id, storage, pointee }: GlobalVariable): Binding {
  const type = module.definitions.get(pointee);
  // Before SPIR-V 1.3 a storage buffer is a Uniform variable of a struct decorated BufferBlock.
  const isBuffer =
    storage === StorageClass.StorageBuffer ||
    (storage === StorageClass.Uniform && decorationOf(module, pointee, Decoration.BufferBlock) !== undefined);
  const members = type?.slice(2) ?? [];
  const isEveryMemberReadOnly =
    members.length > 0 && members.every((_, i) => memberDecorationOf(module, pointee, i, Decoration.NonWritable));
  return {
    set: decorationOf(module, id, Decoration.DescriptorSet)?.[1] ?? 0,
    binding: decorationOf(module, id, Decoration.Binding)?.[1] ?? 0,
    kind: isBuffer && type?.[0] === Op.TypeStruct ? "storage buffer" : "other",
    isReadOnly: decorationOf(module, id, Decoration.NonWritable) !== undefined || isEveryMemberReadOnly,
  };
}
