/** Values of specialisation constants: checked against the constants of a module, and packed for the driver. */
import { ArgumentError, UnsupportedError } from "../../../core/errors.js";
import type { SpecConstant } from "../../../spirv/read/reflect.js";
import * as L from "../driver/layouts.js";
import type { Arena } from "../driver/structs.js";

export type SpecializationValue = number | bigint | boolean;

/** Refuses a value that the constant cannot hold exactly. */
export function checkSpecialization(
  { constantId, kind, bytes, isSigned }: SpecConstant,
  value: SpecializationValue,
): void {
  if (kind === "float" && bytes === 2) {
    throw new UnsupportedError(`Specialisation constant ${constantId} is a 16-bit float, which cannot be given yet.`);
  }
  const bits = BigInt(kind === "bool" ? 1 : 8 * bytes);
  const least = isSigned ? -(1n << (bits - 1n)) : 0n;
  const most = (isSigned ? 1n << (bits - 1n) : 1n << bits) - 1n;
  const isWhole = typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));
  if (typeof value === "boolean" || (isWhole && value >= least && value <= most)) return;
  if (kind === "float" && (typeof value === "number" || typeof value === "bigint")) return;
  const takes =
    kind === "float" ? "a number" : kind === "bool" ? "true or false" : `whole numbers from ${least} to ${most}`;
  throw new ArgumentError(`Specialisation constant ${constantId} takes ${takes}, not ${String(value)}.`);
}

/** The values of a pipeline's constants in memory, as the driver reads them; 0 where there are none. */
export function packSpecialization(
  arena: Arena,
  constants: readonly SpecConstant[],
  values: ReadonlyMap<number, SpecializationValue>,
): number {
  if (values.size === 0) return 0;
  const data = new Uint8Array(8 * values.size);
  const view = new DataView(data.buffer);
  const entries = [...values].map(([id, value], i) => {
    const { kind, bytes } = constants.find((constant) => constant.constantId === id) as SpecConstant;
    writeScalar(view, 8 * i, kind, bytes, value);
    return { constantID: id, offset: 8 * i, size: bytes };
  });
  return arena.pack(L.VkSpecializationInfo, {
    mapEntryCount: entries.length,
    pMapEntries: arena.packArray(L.VkSpecializationMapEntry, entries),
    dataSize: data.byteLength,
    pData: arena.copy(data),
  });
}

function writeScalar(
  view: DataView,
  at: number,
  kind: SpecConstant["kind"],
  bytes: number,
  value: SpecializationValue,
): void {
  if (kind === "float") {
    if (bytes === 8) view.setFloat64(at, Number(value), true);
    else view.setFloat32(at, Number(value), true);
  } else view.setBigInt64(at, BigInt.asIntN(64, BigInt(value)), true);
}
