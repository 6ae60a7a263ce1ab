/**
 * The folder of the library's own files, for code that reads stacks: errors begin with the user's frame and name the operation.
 */

/**
 * The folder of the library's files as stacks show it, found in a stack so that it is right with source maps too. The
 * published package has its modules in `dist/src/chunks`. Null where a program has bundled the library with its own files.
 */
export const OWN_FOLDER: string | null =
  /\(?(\S+\/)(?:core\/own-files\.|(?<=\/dist\/src\/)chunks\/)/.exec(new Error().stack ?? "")?.[1] ?? null;

/** Whether a line of a stack is a frame of the library. */
export const isInside = (frame: string): boolean => OWN_FOLDER !== null && frame.includes(OWN_FOLDER);

/** Frames of JavaScript's and Node's own functions, as in "Array.map (<anonymous>)" and "node:async_hooks". */
export const isBuiltIn = (frame: string): boolean => /<anonymous>\)|\(?node:/.test(frame);
