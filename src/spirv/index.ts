/** The SPIR-V assembler and disassembler, as the rest of the compiler imports them. */
export type { AtomicOptions, MemoryOrder, ScopeName } from "./function/atomics.js";
export type { BranchOptions, LoopOptions, Yield, Yielded } from "./function/control-flow.js";
export type { MatrixAccess } from "./function/cooperative-matrix.js";
export type { ArithmeticOptions } from "./function/emitter.js";
export type { BarrierOptions, FunctionBuilder, FunctionHandle } from "./function/function-builder.js";
export type { Index, Ref } from "./function/ref.js";
export type { SubgroupOperation } from "./function/subgroup.js";
export { type Operand, Value } from "./function/value.js";
export { type EntryOptions, ModuleBuilder } from "./module/builder.js";
export type { BuiltInName } from "./module/built-ins.js";
export type { Version } from "./module/capabilities.js";
export type { Literal } from "./module/constants.js";
export { alignOf, byteSizeOf, strideOf } from "./module/layout.js";
export type { BindingOptions, Places, PushConstants, StorageOptions } from "./module/module-memory.js";
export type { BufferAccess, ConstantData, Field, FloatControl, ModuleOptions } from "./module/module-values.js";
export * from "./module/types.js";
export { disassemble } from "./read/disassemble.js";
