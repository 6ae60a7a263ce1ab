/**
 * Movement operations: each maps an index of its result to an index of its input. None of them moves data; the compiler
 * rewrites the index and reads the input there.
 */
export * from "./movement/arrangement.js";
export * from "./movement/markers.js";
export * from "./movement/selection.js";
