/**
 * One function under construction. `m.function` passes it to its closure, usually as `f`.
 *
 * Instructions are methods of a namespace per type (`f.i32`, `f.f32x4`, `f.memory` …), control flow is inherited; here are
 * the rest: variables, globals, select, calls and returns.
 */
import { ArgumentError } from "../core/errors.js";
import { encodeBody } from "./body.js";
import { ControlFlow } from "./control-flow.js";
import { type FunctionHandle, type Global, type Results, type Returned, resultList } from "./handles.js";
import { SELECT } from "./instructions.js";
import { type Namespaces, namespace } from "./namespaces.js";
import type { ValueType } from "./types.js";
import { type Local, Node, newLocal, type Operand, type Scope, type Value, type Written } from "./value.js";

/**
 * Something that can be read and written: a local variable, or a global of the module.
 * @internal for tests: the fuzzer keeps lists of variables
 */
export interface Variable<T extends ValueType = ValueType> {
  readonly type: T;
  get(): Value<T>;
  set(value: Operand<T>): void;
}

const NAMESPACES = [
  "i32",
  "i64",
  "f32",
  "f64",
  "v128",
  "i8x16",
  "i16x8",
  "i32x4",
  "i64x2",
  "f32x4",
  "f64x2",
  "memory",
  "atomic",
] as const satisfies readonly (keyof Namespaces)[];

// The namespaces are getters, defined below the class from the list.
export interface FunctionBuilder extends Namespaces {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: every member of the interface is defined right below
export class FunctionBuilder extends ControlFlow {
  readonly parameters: readonly Value[];
  private readonly parameterLocals: readonly Local[];
  private readonly globals = new Map<Global, Written>();

  constructor(
    module: object,
    name: string,
    parameters: readonly ValueType[],
    readonly results: Results,
    /** Whether the engine has relaxed SIMD. */
    readonly hasRelaxedSimd = false,
  ) {
    super(module, name);
    this.parameterLocals = parameters.map(newLocal);
    this.parameters = this.parameterLocals.map((local) => this.valueIn(local));
  }

  /** A local that can be written again. `initial` is stored at this point, so again in every round of a loop. */
  variable<T extends ValueType>(type: T, initial: Operand<T>): Variable<T> {
    const local = this.local(type);
    const { scope } = this;
    this.assign([local], [this.as(initial, type, "variable, initial value")]);
    const check = (what: string): void => this.checkVariable(scope, what);
    return {
      type,
      get: () => {
        check("variable.get");
        return this.record(type, { kind: "get", local }, [], local);
      },
      set: (value) => {
        check("variable.set");
        this.assign([local], [this.as(value, type, "variable.set")]);
      },
    };
  }

  /** A global of the module, as a variable. */
  global<T extends ValueType>(global: Global<T>): Variable<T> {
    const { type, name, isMutable } = global;
    if (global.module !== this.module) throw new ArgumentError(`global: "${name}" belongs to another module`);
    const written = this.globals.get(global) ?? { writes: [] };
    this.globals.set(global, written);
    return {
      type,
      get: () => this.record(type, { kind: "globalGet", global }, [], written),
      set: (value) => {
        if (!isMutable) throw new ArgumentError(`global.set: "${name}" is a constant`);
        const node = this.record("none", { kind: "globalSet", global }, [this.as(value, type, `global "${name}"`)]);
        written.writes.push(node.index);
      },
    };
  }

  /** `a` where the condition is not zero, else `b`. Both are computed. */
  select<T extends ValueType>(condition: Operand<"i32">, a: Value<T>, b: Operand<T>): Value<T>;
  select<T extends ValueType>(condition: Operand<"i32">, a: Operand<T>, b: Value<T>): Value<T>;
  select(condition: Operand<"i32">, a: Operand, b: Operand): Value {
    const typed = a instanceof Node ? a : this.value(b, "select");
    return this.plain(SELECT[typed.type], [a, b, condition]) as Value;
  }

  /** Sixteen bytes as a vector. */
  vector(bytes: readonly number[] | Uint8Array): Value<"v128"> {
    return this.vectorConstant("i8x16", [...bytes]);
  }

  call<P extends readonly ValueType[], R extends Results>(
    callee: FunctionHandle<P, R>,
    ...args: { [K in keyof P]: Operand<P[K]> }
  ): Returned<R> {
    const { name, parameters, results, module } = callee;
    if (module !== this.module) throw new ArgumentError(`call: "${name}" belongs to another module`);
    if (args.length !== parameters.length) {
      throw new ArgumentError(`call: "${name}" takes ${parameters.length} arguments, got ${args.length}`);
    }
    const operands = parameters.map((type, i) =>
      this.as(args[i] as Operand, type, `call "${name}", argument ${i + 1}`),
    );
    const list = resultList(results);
    // One result is the value of the call itself; several go to locals at once.
    const locals = list.length === 1 ? [] : list.map((type) => this.local(type));
    const type = list.length === 1 ? (list[0] as ValueType) : "none";
    const node = this.record(type, { kind: "call", callee, locals }, operands);
    this.stored.writes.push(node.index);
    for (const { writes } of this.globals.values()) writes.push(node.index);
    const values = list.length === 1 ? [node] : locals.map((local) => this.valueIn(local));
    return (typeof results === "string" ? values[0] : list.length === 0 ? undefined : values) as Returned<R>;
  }

  /** Ends the function here: inside an `if`, an early return. */
  return(...values: readonly Operand[]): void {
    this.record("none", { kind: "return" }, this.returned(values));
    this.terminated = true;
  }

  /** @internal Closes the function; `outcome` is what its closure returned. The bytes are those of the code section. */
  finish(outcome: readonly Operand[]): Uint8Array {
    const results = resultList(this.results);
    if (!this.terminated && (outcome.length > 0 || results.length === 0)) {
      this.record("none", { kind: "finish" }, this.returned(outcome));
    } else if (!this.terminated) {
      throw new ArgumentError(`function "${this.name}" can end without returning ${results.join(", ")}`);
    }
    this.root.isOpen = false;
    return encodeBody({
      nodes: this.nodes,
      parameters: this.parameterLocals,
      vectors: new Set(this.vectors.values()),
      endsUnreachably: this.terminated && results.length > 0,
    });
  }

  private returned(values: readonly Operand[]): Node[] {
    const types = resultList(this.results);
    if (values.length !== types.length) {
      const wanted = types.length === 0 ? "nothing" : types.join(", ");
      throw new ArgumentError(`return: "${this.name}" returns ${wanted}, got ${values.length} values`);
    }
    return types.map((type, i) => this.as(values[i] as Operand, type, `return from "${this.name}", value ${i + 1}`));
  }

  private checkVariable(scope: Scope, what: string): void {
    if (scope.isOpen) return;
    throw new ArgumentError(`${what}: the variable was made inside a branch or loop that has ended`);
  }
}

for (const name of NAMESPACES) {
  Object.defineProperty(FunctionBuilder.prototype, name, {
    get(this: FunctionBuilder) {
      const value = namespace(name, this);
      Object.defineProperty(this, name, { value });
      return value;
    },
  });
}
