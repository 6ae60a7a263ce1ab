/**
 * The memory a module declares: storage buffers, uniform blocks, push constants, shared arrays, built-in values.
 * Second layer of the module builder. Buffers are blocks in scalar layout (see layout.ts).
 */
import { ArgumentError } from "../../core/errors.js";
import { BuiltIn, Decoration, Op, StorageClass } from "../enumerants.js";
import { pointerType, Ref } from "../function/ref.js";
import { Value } from "../function/value.js";
import type { ModuleBuilder } from "./builder.js";
import { BUILT_INS, type BuiltInName } from "./built-ins.js";
import { type Field, ModuleValues } from "./module-values.js";
import type { ArrayType, PointerAccess, PointerType, StorageClassName, StructType, Type } from "./types.js";

/** The place of a buffer among the descriptors. */
export interface BindingOptions {
  readonly set?: number;
  readonly binding: number;
  readonly name?: string;
}

/** Options of a storage buffer. */
export interface StorageOptions extends BindingOptions {
  /** False: the kernel only reads it. */
  readonly writable?: boolean;
  /** False: the kernel only writes it. */
  readonly readable?: boolean;
  /** True promises that no other buffer overlaps it; false says that one may. */
  readonly restrict?: boolean;
  /** Invocations exchange data through it within one dispatch. */
  readonly coherent?: boolean;
}

/** Places, one per field of a block, by name. */
export type Places<F extends readonly Field[]> = { readonly [Entry in F[number] as Entry[0]]: Ref };

/** Push constants by name: values, except that arrays and buffer addresses come as places to index. */
export type PushConstants<F extends readonly Field[]> = {
  readonly [Entry in F[number] as Entry[0]]: Entry[1] extends ArrayType | PointerType ? Ref : Value;
};

export class ModuleMemory extends ModuleValues {
  private readonly builtIns = new Map<BuiltInName, Value>();

  /** A storage buffer that is an array of `element`. */
  storageBuffer(element: Type, options: StorageOptions): Ref {
    const elements = this.runtimeArray(element);
    const block = this.struct([["elements", elements]], { block: true, layout: true });
    return this.place(this.storageVariable(block, options));
  }

  /** A storage buffer with named fields; the last may be a runtime array. */
  storageBlock<const F extends readonly Field[]>(fields: F, options: StorageOptions): Places<F> {
    const block = this.struct(fields, { block: true, layout: true });
    return places(new Ref(this.storageVariable(block, options), block), block) as Places<F>;
  }

  /** A uniform buffer with named fields. */
  uniformBlock<const F extends readonly Field[]>(fields: F, options: BindingOptions): Places<F> {
    const block = this.struct(fields, { block: true, layout: true });
    const variable = this.variable("Uniform", block, options.name);
    this.bind(variable, options);
    return places(new Ref(variable, block), block) as Places<F>;
  }

  /**
   * The push-constant block. A field reads as its value, loaded once per function; an array or a buffer address reads as
   * the place to index.
   */
  pushConstants<const F extends readonly Field[]>(fields: F, name?: string): PushConstants<F> {
    const block = this.struct(fields, { block: true, layout: true });
    const whole = new Ref(this.variable("PushConstant", block, name), block);
    const module = this as unknown as ModuleBuilder;
    const record = {};
    for (const { name: field, type } of block.members) {
      const part = whole.at(field);
      const once = () => module.current(`push constant "${field}"`).once(part, () => part.load());
      const get = () => {
        if (type.kind === "array") return part;
        return type.kind === "pointer" ? this.place(once()) : once();
      };
      Object.defineProperty(record, field, { enumerable: true, get });
    }
    return record as PushConstants<F>;
  }

  /** Memory the workgroup shares; its contents are undefined until written. */
  shared(type: Type, name?: string): Ref {
    return new Ref(this.variable("Workgroup", type, name), type);
  }

  /** A variable of each invocation that all its functions see. */
  privateVariable(type: Type, name?: string): Ref {
    return new Ref(this.variable("Private", type, name), type);
  }

  builtInType(name: BuiltInName): Type {
    const { components } = BUILT_INS[name];
    return components === 1 ? this.u32 : this.vec(this.u32, components);
  }

  builtInVariable(name: BuiltInName): Value {
    let variable = this.builtIns.get(name);
    if (!variable) {
      const { capability } = BUILT_INS[name];
      if (capability !== undefined) this.sections.require(capability);
      variable = this.variable("Input", this.builtInType(name));
      this.sections.decorateWith(variable.id, Decoration.BuiltIn, BuiltIn[name]);
      this.builtIns.set(name, variable);
    }
    return variable;
  }

  /** The memory behind a pointer: for a block that is one runtime array, that array. */
  place(pointer: Value): Ref {
    const { pointee } = pointerType(pointer);
    const only = pointee.kind === "struct" && pointee.members.length === 1 ? pointee.members[0].type : undefined;
    if (only?.kind !== "runtimeArray") return new Ref(pointer, pointee);
    return new Ref(pointer, only, [this.constant(this.u32, 0)]);
  }

  /** True for the id of a built-in variable. */
  protected isInput(id: number): boolean {
    for (const variable of this.builtIns.values()) if (variable.id === id) return true;
    return false;
  }

  private storageVariable(block: StructType, options: StorageOptions): Value {
    const { writable = true, readable = true, restrict, coherent } = options;
    if (!writable && !readable) throw new ArgumentError("a storage buffer that is neither read nor written has no use");
    const access = coherent ? { coherent } : undefined;
    const variable = this.variable("StorageBuffer", block, options.name, access);
    this.bind(variable, options);
    if (!writable) this.sections.decorate(variable.id, Decoration.NonWritable);
    if (!readable) this.sections.decorate(variable.id, Decoration.NonReadable);
    if (restrict !== undefined) {
      this.sections.decorate(variable.id, restrict ? Decoration.Restrict : Decoration.Aliased);
    }
    // In the Vulkan memory model each access declares it (see Ref.memoryOperands).
    if (coherent && !this.sections.usesVulkanMemoryModel) this.sections.decorate(variable.id, Decoration.Coherent);
    return variable;
  }

  private bind(variable: Value, { set = 0, binding }: BindingOptions): void {
    this.sections.decorateWith(variable.id, Decoration.DescriptorSet, set);
    this.sections.decorateWith(variable.id, Decoration.Binding, binding);
  }

  private variable(storage: StorageClassName, type: Type, name?: string, access?: PointerAccess): Value {
    const pointer = this.types.pointer(storage, type, access);
    const id = this.sections.newId();
    this.sections.globals.op3(Op.Variable, pointer.id, id, StorageClass[storage]);
    this.sections.name(id, name);
    return new Value(id, pointer, this.variableRegion);
  }
}

function places(whole: Ref, block: StructType): Record<string, Ref> {
  return Object.fromEntries(block.members.map(({ name }) => [name, whole.at(name)]));
}
