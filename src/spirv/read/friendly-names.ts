/**
 * Names for ids in a disassembly, in the manner of spirv-dis: what OpName says, else a name derived from the instruction
 * (`%uint_4`, `%_ptr_Workgroup_float`, `%gl_GlobalInvocationID`), else the number. Names are unique within a module.
 */
import { BuiltIn, Decoration, Op } from "../enumerants.js";
import { ENUMERATIONS } from "./operands.js";

/** Names GLSL has for built-in values, where they differ from SPIR-V's. */
const GLSL_NAMES: { readonly [name in keyof typeof BuiltIn]?: string } = {
  NumWorkgroups: "gl_NumWorkGroups",
  WorkgroupSize: "gl_WorkGroupSize",
  WorkgroupId: "gl_WorkGroupID",
  LocalInvocationId: "gl_LocalInvocationID",
  GlobalInvocationId: "gl_GlobalInvocationID",
  LocalInvocationIndex: "gl_LocalInvocationIndex",
};
const BUILT_IN_NAMES = new Map(
  Object.entries(BuiltIn).map(([name, code]) => [code as number, GLSL_NAMES[name as keyof typeof BuiltIn] ?? name]),
);

const INT_NAMES: { readonly [width: number]: string } = { 8: "char", 16: "short", 32: "int", 64: "long" };
const FLOAT_NAMES: { readonly [width: number]: string } = { 16: "half", 32: "float", 64: "double" };

/** An instruction as the names need it; operands count from 1, the word after the opcode. */
interface InstructionView {
  readonly opcode: number;
  readonly count: number;
  operand(i: number): number;
  text(i: number): string;
  literal(i: number, typeId: number): string;
}

export class FriendlyNames {
  private readonly names = new Map<number, string>();
  private readonly taken = new Set<string>();

  of(id: number): string {
    return this.names.get(id) ?? String(id);
  }

  /** Names ids from an instruction: OpName, or a name derived from the instruction. */
  learn(instruction: InstructionView): void {
    const named = this.nameFrom(instruction);
    if (named) this.suggest(...named);
  }

  private nameFrom(instruction: InstructionView): [id: number, name: string] | undefined {
    const { opcode, count, operand, text, literal } = instruction;
    const inner = (i: number) => this.of(operand(i));
    switch (opcode) {
      case Op.Name:
        return [operand(1), text(2)];
      case Op.Decorate:
        return operand(2) === Decoration.BuiltIn ? builtInName(operand(1), operand(3)) : undefined;
      case Op.TypeVoid:
        return [operand(1), "void"];
      case Op.TypeBool:
        return [operand(1), "bool"];
      case Op.TypeInt: {
        const base = INT_NAMES[operand(2)] ?? `i${operand(2)}`;
        return [operand(1), operand(3) !== 0 ? base : `u${base}`];
      }
      case Op.TypeFloat: {
        const name = FLOAT_NAMES[operand(2)] ?? `fp${operand(2)}`;
        return [operand(1), count > 2 ? `float${operand(2)}_${operand(3)}` : name];
      }
      case Op.TypeVector:
        return [operand(1), `v${operand(3)}${inner(2)}`];
      case Op.TypeMatrix:
        return [operand(1), `mat${operand(3)}${inner(2)}`];
      case Op.TypeArray:
        return [operand(1), `_arr_${inner(2)}_${inner(3)}`];
      case Op.TypeRuntimeArray:
        return [operand(1), `_runtimearr_${inner(2)}`];
      case Op.TypeStruct:
        return [operand(1), `_struct_${operand(1)}`];
      case Op.TypePointer: {
        const storage = ENUMERATIONS.s.names.get(operand(2)) ?? String(operand(2));
        return [operand(1), `_ptr_${storage}_${inner(3)}`];
      }
      case Op.ConstantTrue:
        return [operand(2), "true"];
      case Op.ConstantFalse:
        return [operand(2), "false"];
      case Op.Constant:
        return [operand(2), `${inner(1)}_${literal(3, operand(1)).replaceAll("-", "n")}`];
      default:
        return undefined;
    }
  }

  /** Names an id unless it has a name; a name in use gets a number. */
  private suggest(id: number, name: string): void {
    if (this.names.has(id)) return;
    // A name of digits alone would read as the number of another id.
    const plain = name.replace(/[^A-Za-z0-9_]/g, "_").replace(/^\d*$/, "_$&");
    let unique = plain;
    for (let n = 0; this.taken.has(unique); n++) unique = `${plain}_${n}`;
    this.taken.add(unique);
    this.names.set(id, unique);
  }
}

function builtInName(id: number, code: number): [number, string] | undefined {
  const name = BUILT_IN_NAMES.get(code);
  return name === undefined ? undefined : [id, name];
}
