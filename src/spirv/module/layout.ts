/**
 * The scalar block layout of memory (Vulkan 1.2 `scalarBlockLayout`): a vector is aligned like its component, a struct like
 * its most demanding member, and nothing is padded to 16 bytes. Typed arrays have the same layout, so tensors, push
 * constants and C structs from JavaScript need no translation.
 */
import { ArgumentError } from "../../core/errors.js";
import type { Type } from "./types.js";

/** Bytes a value of `type` takes in a buffer. */
export function byteSizeOf(type: Type): number {
  switch (type.kind) {
    case "int":
    case "float":
      return type.width / 8;
    case "vector":
      return type.length * byteSizeOf(type.element);
    case "array": {
      const stride = type.stride ?? strideOf(type.element);
      if (typeof type.length !== "number") {
        throw new ArgumentError(`${type.name} has no fixed size in a buffer: its length is a specialisation constant`);
      }
      return type.length * stride;
    }
    case "struct": {
      let end = 0;
      for (const member of placeMembers(type.members)) end = Math.max(end, member.offset + byteSizeOf(member.type));
      return roundUp(end, alignOf(type));
    }
    case "pointer":
      if (type.storage === "PhysicalStorageBuffer") return 8;
      return noLayout(type);
    default:
      return noLayout(type);
  }
}

/** Alignment of `type` in a buffer: that of its largest scalar. */
export function alignOf(type: Type): number {
  switch (type.kind) {
    case "vector":
      return alignOf(type.element);
    case "array":
    case "runtimeArray":
      return alignOf(type.element);
    case "struct":
      return type.members.reduce((largest, member) => Math.max(largest, alignOf(member.type)), 1);
    default:
      return byteSizeOf(type);
  }
}

/** Bytes from one element of an array to the next. */
export function strideOf(element: Type): number {
  return roundUp(byteSizeOf(element), alignOf(element));
}

/** Gives every member an offset: its own where it states one, else the next that is aligned for it. */
export function placeMembers<M extends { readonly type: Type; readonly offset?: number | undefined }>(
  members: readonly M[],
): (M & { offset: number })[] {
  let next = 0;
  return members.map((member) => {
    const offset = member.offset ?? roundUp(next, alignOf(member.type));
    // A runtime array has no size, and comes last.
    next = member.type.kind === "runtimeArray" ? offset : offset + byteSizeOf(member.type);
    return { ...member, offset };
  });
}

function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple;
}

function noLayout(type: Type): never {
  const remedy = type.kind === "bool" ? "; store it as u8 or u32" : "";
  throw new ArgumentError(`${type.name} has no layout in a buffer${remedy}`);
}
