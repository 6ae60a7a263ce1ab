/** Handles of a module, for use in function bodies: functions to call, globals to read and write. */
import type { ValueType } from "./types.js";
import type { Value } from "./value.js";

/** One result, several, or none. */
export type Results = ValueType | readonly ValueType[];

/** The type of a call: the value, the values, or nothing. */
export type Returned<R extends Results> = R extends ValueType
  ? Value<R>
  : R extends readonly []
    ? // biome-ignore lint/suspicious/noConfusingVoidType: it is what the caller sees as the return type
      void
    : { -readonly [K in keyof R]: R[K] extends ValueType ? Value<R[K]> : never };

export interface FunctionHandle<P extends readonly ValueType[] = readonly ValueType[], R extends Results = Results> {
  readonly name: string;
  readonly parameters: P;
  readonly results: R;
  readonly module: object;
  /** Position in the module's index space of functions; imports come first. */
  readonly index: number;
}

export interface Global<T extends ValueType = ValueType> {
  readonly name: string;
  readonly type: T;
  readonly isMutable: boolean;
  readonly module: object;
  readonly index: number;
}

export function resultList(results: Results): readonly ValueType[] {
  return typeof results === "string" ? [results] : results;
}
