/**
 * Writes a kernel of the loop-nest language as SPIR-V.
 *
 * Buffers are 64-bit addresses in the push block, up to `INLINE_BUFFERS` of them; beyond, the push block holds the address
 * of a table of addresses.
 */
import { DTYPES } from "../../../core/dtype.js";
import { UnsupportedError } from "../../../core/errors.js";
import type { FunctionBuilder } from "../../../spirv/function/function-builder.js";
import type { Ref } from "../../../spirv/function/ref.js";
import type { Value } from "../../../spirv/function/value.js";
import { ModuleBuilder } from "../../../spirv/module/builder.js";
import type { ModuleOptions } from "../../../spirv/module/module-values.js";
import type { VectorType } from "../../../spirv/module/types.js";
import { type IRType, innerLists, type Kernel, MAX_I32, type Statement } from "../../ir/ir.js";
import { stepsWithin } from "../../ir/loop-rounds.js";
import { surveyAccesses } from "./accesses.js";
import type { Lanes } from "./combine-lanes.js";
import { BodyEmitter, type RowMemory, type SharedMemory } from "./emit-body.js";
import { declareFragments } from "./fragments.js";
import { mappingOf } from "./mapping.js";
import { bitsType, storageType, valueType } from "./stored-elements.js";
import { type WideAccesses, wideAccesses } from "./wide-accesses.js";

/** Vulkan guarantees 128 bytes of push constants; eight of them are reserved for the width of the grid. */
export const INLINE_BUFFERS = 14;

/** Facts of the device, and workarounds for its driver. */
export interface EmissionOptions {
  readonly floatControls?: ModuleOptions["floatControls"];
  /** Lanes of a subgroup that can read from one another; 0 where they cannot. */
  readonly subgroupSize?: number;
  /** Float types with atomic addition. */
  readonly atomicFloats?: readonly IRType[];
  /** Buffers whose entry in the push block is the address of their address. */
  readonly isIndirect?: readonly boolean[] | null;
  /** The driver folds 0·x, 0/x and x + 0 as if x were finite, and x/0 to anything: zeros must be hidden from it. */
  readonly isCarelessOfZeros?: boolean;
  /** Most loop rounds of a thread, all loops together: see ir/loop-rounds.ts. */
  readonly maxLoopRounds?: number;
  /** In kernels of more statements the driver is told not to unroll loops, which could take it minutes. */
  readonly maxUnrolledSize?: number;
}

/** Loops in loops in loops: a driver that unrolls all of them takes minutes, however short they are. */
const MOST_NESTED = 2;

/** Whether a driver that unrolls loops takes long over a kernel. */
function isLongUnrolled({ size, body }: Kernel, maxUnrolledSize = Infinity): boolean {
  if (maxUnrolledSize === Infinity) return false;
  const nesting = (statements: readonly Statement[]): number =>
    Math.max(0, ...statements.map((s) => (s.kind === "loop" ? 1 : 0) + nesting(innerLists(s).flat())));
  return size > maxUnrolledSize || nesting(body) > MOST_NESTED;
}

/** The vector accesses of a kernel. */
export const vectorsOf = (kernel: Kernel, atomicFloats: readonly IRType[]): WideAccesses =>
  wideAccesses(kernel, surveyAccesses(kernel, atomicFloats).sharedByLanes);

export function emitSpirv(kernel: Kernel, options: EmissionOptions = {}): Uint32Array {
  const { floatControls = {}, subgroupSize = 0, atomicFloats = [], maxLoopRounds = Infinity } = options;
  const m = new ModuleBuilder({ noContraction: true, floatControls });
  if (kernel.subgroupSize && kernel.subgroupSize !== subgroupSize) {
    throw new UnsupportedError(
      `${kernel.name}: written for subgroups of ${kernel.subgroupSize} lanes, not of ${subgroupSize}`,
    );
  }
  const fragmentsOf = declareFragments(m, kernel);
  const survey = surveyAccesses(kernel, atomicFloats);
  const { exchanged, sharedByLanes, widths, inWords } = survey;
  const wide = wideAccesses(kernel, sharedByLanes);
  const bufferRefs = declareBuffers(m, kernel, survey, options.isIndirect ?? null);
  const sharedFor = exchangeMemory(m, kernel);
  const arrayRefs = declareArrays(m, kernel, widths);

  const { threads, rowsPerGroup } = mappingOf(kernel, subgroupSize);
  m.entry("main", { localSize: [threads] }, (f) => {
    const { flat, row, lane } = threadPosition(m, f, kernel, subgroupSize, rowsPerGroup);
    const lanes: Lanes = { count: kernel.lanes, own: lane, subgroupSize };
    f.if(f.less(flat, kernel.rows), () => {
      const buffers = bufferRefs(f);
      const arrays = arrayRefs(f);
      const vectors = kernel.buffers.map(
        (buffer, i) =>
          new Map([...(wide.buffers.get(i) ?? [])].map((width) => [width, vectorRef(m, f, buffer, buffers[i], width)])),
      );
      const words = kernel.buffers.map((buffer, i) =>
        inWords.has(i) && !buffer.isUnaligned ? wordRef(m, f, buffer, buffers[i]) : null,
      );
      const isExchanging = sharedByLanes.size > 0;
      const memory: RowMemory = { buffers, vectors, words, arrays, wide, exchanged, isExchanging };
      const zeros = options.isCarelessOfZeros ? f.shiftRight(flat, 31) : null;
      const loops = {
        steps: stepsWithin(kernel, maxLoopRounds),
        ...(isLongUnrolled(kernel, options.maxUnrolledSize) ? { unroll: false } : {}),
      };
      const fragments = fragmentsOf(f);
      const body = new BodyEmitter(m, f, kernel, memory, fragments, row, lanes, sharedFor, zeros, loops);
      const write = () => body.statements(kernel.body);
      if (kernel.gate) f.if(f.equal(buffers[kernel.gate.buffer].load(0), kernel.gate.value), write);
      else write();
    });
  });
  return m.build();
}

/**
 * Declares the push block. The result makes references to the buffers, inside the entry point.
 *
 * Addresses travel as pairs of words and become pointers in the kernel: older validators take a pointer to 8- or 16-bit
 * elements in the push block for such elements themselves, and pairs need no 64-bit integers of the device.
 */
function declareBuffers(
  m: ModuleBuilder,
  { buffers }: Kernel,
  { exchanged, sharedByLanes }: ReturnType<typeof surveyAccesses>,
  isIndirect: readonly boolean[] | null,
): (f: FunctionBuilder) => Ref[] {
  const pointers = buffers.map(({ dtype, isWritten, isLarge: large }, i) => {
    const type = exchanged.has(i) ? bitsType(m, dtype) : storageType(m, dtype);
    const coherent = sharedByLanes.has(i);
    return m.bufferPointer(type, isWritten ? { coherent, large } : { writable: false, large });
  });
  const address = m.vec(m.u32, 2);
  const isInline = pointers.length <= INLINE_BUFFERS;
  const names = isInline ? pointers.map((_, i) => `b${i}`) : ["table"];
  const push = m.pushConstants(names.map((name) => [name, address] as const)) as Readonly<Record<string, Value>>;
  return (f) => {
    const addressAt = m.bufferPointer(address, { writable: false });
    const table = isInline ? null : f.ref(f.pointer(push.table, addressAt));
    return pointers.map((pointer, i) => {
      const given = table ? table.load(i) : push[`b${i}`];
      const at = isInline && isIndirect?.[i] ? f.ref(f.pointer(given, addressAt)).load(0) : given;
      // The same validators refuse to make a pointer to narrow elements of a pair.
      const isNarrow = DTYPES[buffers[i].dtype].bytes < 4;
      return f.ref(f.pointer(isNarrow ? f.bitcast(at, m.u64) : at, pointer));
    });
  };
}

/** Shared memory through which lanes exchange values, made when it is first asked for. */
function exchangeMemory(m: ModuleBuilder, { lanes }: Kernel): SharedMemory {
  const shared = new Map<string, Ref>();
  return (turn, type) => {
    const name = `exchange${turn}_${type}`;
    const memory = shared.get(name) ?? m.shared(m.array(valueType(m, type), lanes), name);
    shared.set(name, memory);
    return memory;
  };
}

/** Declares the arrays that lanes share. The result adds the private ones, inside the entry point. */
function declareArrays(
  m: ModuleBuilder,
  { arrays, lanes }: Kernel,
  widths: readonly number[],
): (f: FunctionBuilder) => RowMemory["arrays"] {
  const arrayType = (i: number) => {
    const { type, size } = arrays[i];
    const element = widths[i] > 1 ? m.vec(valueType(m, type), widths[i]) : valueType(m, type);
    return m.array(element, Math.ceil(size / widths[i]));
  };
  const shared = arrays.map(({ isPrivate }, i) => (lanes > 1 && !isPrivate ? m.shared(arrayType(i), `a${i}`) : null));
  return (f) =>
    shared.map((place, i) => ({ place: place ?? f.variable(arrayType(i), undefined, `a${i}`), width: widths[i] }));
}

/** The row of a thread, unsigned (`flat`) and in the kernel's type (`row`), and its lane. */
function threadPosition(
  m: ModuleBuilder,
  f: FunctionBuilder,
  kernel: Kernel,
  subgroupSize: number,
  rowsPerGroup: number,
): { readonly flat: Value; readonly row: Value; readonly lane: Value } {
  const group = f.builtin("WorkgroupId");
  const flatGroup = f.add(group.x, f.mul(group.y, f.builtin("NumWorkgroups").x));
  const local = threadOfGroup(f, kernel.lanes > 1 ? subgroupSize : 0);
  const isShared = kernel.lanes > 1;
  const isWide = kernel.rows > MAX_I32;
  const counted = (x: Value) => (isWide ? f.convert(x, m.u64) : x);
  const rowType = isWide ? m.i64 : m.i32;
  if (isShared && rowsPerGroup === 1) {
    // Said without the thread, so that the driver knows that it is the same for all of them.
    const flat = counted(flatGroup);
    return { flat, row: f.bitcast(flat, rowType), lane: f.bitcast(local, m.i32) };
  }
  const inGroup = isShared ? f.div(local, kernel.lanes) : local;
  const flat = f.add(f.mul(counted(flatGroup), rowsPerGroup), counted(inGroup));
  const row = f.bitcast(flat, rowType);
  const lane = isShared ? f.bitcast(f.rem(local, kernel.lanes), m.i32) : m.constant(m.i32, 0);
  return { flat, row, lane };
}

/** The place of a thread in its workgroup; the threads of a subgroup are neighbours. */
function threadOfGroup(f: FunctionBuilder, subgroupSize: number): Value {
  if (subgroupSize === 0) return f.builtin("LocalInvocationIndex");
  return f.add(f.mul(f.builtin("SubgroupId"), subgroupSize), f.builtin("SubgroupLocalInvocationId"));
}

type Buffer = Kernel["buffers"][number];

/** A buffer as vectors of its elements; of bf16, as vectors of words of two. */
function vectorRef(m: ModuleBuilder, f: FunctionBuilder, buffer: Buffer, place: Ref, width: number): Ref {
  const element = buffer.dtype === "bf16" ? m.vec(m.u32, width / 2) : m.vec(storageType(m, buffer.dtype), width);
  return reinterpreted(m, f, buffer, place, element, width * DTYPES[buffer.dtype].bytes);
}

/** A buffer as vectors of four words. */
const wordRef = (m: ModuleBuilder, f: FunctionBuilder, buffer: Buffer, place: Ref): Ref =>
  reinterpreted(m, f, buffer, place, m.vec(m.u32, 4), 16);

function reinterpreted(
  m: ModuleBuilder,
  f: FunctionBuilder,
  { dtype, isWritten, isLarge: large }: Buffer,
  place: Ref,
  element: VectorType,
  align: number,
): Ref {
  const type = m.bufferPointer(element, { align, large, ...(isWritten ? {} : { writable: false }) });
  return f.ref(f.pointer(f.address(place.at(0), DTYPES[dtype].bytes < 4 ? m.u64 : m.vec(m.u32, 2)), type));
}
