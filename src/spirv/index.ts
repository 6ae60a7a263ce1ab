/** The SPIR-V assembler and disassembler, as the rest of the compiler imports them. */
export type { AtomicOptions, MemoryOrder, ScopeName } from "./atomics.js";
export { type EntryOptions, ModuleBuilder } from "./builder.js";
export type { BuiltInName } from "./built-ins.js";
export type { Version } from "./capabilities.js";
export type { Literal } from "./constants.js";
export type { BranchOptions, LoopOptions, Yield, Yielded } from "./control-flow.js";
export type { MatrixAccess } from "./cooperative-matrix.js";
export { disassemble } from "./disassemble.js";
export type { ArithmeticOptions } from "./emitter.js";
export type { BarrierOptions, FunctionBuilder, FunctionHandle } from "./function-builder.js";
export { alignOf, byteSizeOf, strideOf } from "./layout.js";
export type { BindingOptions, Places, PushConstants, StorageOptions } from "./module-memory.js";
export type { BufferAccess, ConstantData, Field, FloatControl, ModuleOptions } from "./module-values.js";
export type { Index, Ref } from "./ref.js";
export type { SubgroupOperation } from "./subgroup.js";
export * from "./types.js";
export { type Operand, Value } from "./value.js";
