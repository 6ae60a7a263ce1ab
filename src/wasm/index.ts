/** The WebAssembly assembler and disassembler, as the rest of the compiler imports them. */

export type { Yield, Yielded } from "./branches.js";
export { type GlobalOptions, type MemoryOptions, ModuleBuilder, type ModuleOptions } from "./builder.js";
export type { LoopOptions } from "./control-flow.js";
export { disassemble } from "./disassemble.js";
export type { FunctionBuilder, Variable } from "./function-builder.js";
export type { FunctionHandle, Global, Results, Returned } from "./handles.js";
export type { InstructionName } from "./namespaces.js";
export type { Access } from "./recorder.js";
export type { LaneShape, Literal, ValueType } from "./types.js";
export type { Operand, Value } from "./value.js";
