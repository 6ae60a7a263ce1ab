/**
 * Values: the results and operands of instructions. A value is an id with its type and the region in which it may be used.
 *
 * SPIR-V demands that a definition dominates its uses. Because control flow is written as closures, that is lexical
 * scope: a value made inside a branch or a loop body dies with it. Each closure opens a `Region`; a use outside an open
 * region is refused at once, with both places in hand, instead of by a validator afterwards.
 */
import type { ModuleBuilder } from "../module/builder.js";
import type { Type } from "../module/types.js";

/** A part of the code. `root` is the module for constants and globals, else the function the code is in. */
export interface Region {
  open: boolean;
  readonly root: object;
  readonly module: ModuleBuilder;
}

/** A value of a SPIR-V function under construction: its id and its type. */
export class Value {
  constructor(
    readonly id: number,
    readonly type: Type,
    readonly region: Region,
  ) {}

  get x(): Value {
    return this.component(0);
  }

  get y(): Value {
    return this.component(1);
  }

  get z(): Value {
    return this.component(2);
  }

  get w(): Value {
    return this.component(3);
  }

  toString(): string {
    return `%${this.id}: ${this.type.name}`;
  }

  /** For console.log: a value refers to its whole module. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  private component(index: number): Value {
    return this.region.module.current("a vector component").extract(this, index);
  }
}

/** A value, or a JavaScript literal that takes the type of the operand it meets. */
export type Operand = Value | number | bigint | boolean;
