/**
 * Tensors from files and back: .npy and .npz of NumPy, and safetensors. The formats themselves are pure functions over
 * bytes, in the files beside this one.
 */
import { checkOptions, checkString, inOperation } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import type { IndexArgument } from "../core/slice.js";
import { readNamed, writeNamed } from "../files/named-file.js";
import { checkTensor, fromBytes, Tensor } from "../tensor/index.js";
import { encodeNpy, opaqueAs, rowMajor } from "./npy.js";
import { readNpy } from "./npy-file.js";
import { type NpzReadOptions, npzArraysGivingWay, npzChunksGivingWay } from "./npz.js";
import type { RawTensor } from "./raw-tensor.js";
import { openSafetensors as openFile, type SafetensorsFile } from "./safetensors-file.js";
import { writeSafetensors } from "./safetensors-writer.js";

/** Options of functions that load tensors. */
export interface LoadOptions {
  readonly device?: string;
}

/** Checks the path, which every function here takes first, and the options. */
function checkLoading(operation: string, path: string, options: LoadOptions): void {
  checkString(`io.${operation}`, "the path", path);
  checkOptions(`io.${operation}`, options, { device: "text" });
}

const toTensor = (operation: string, { bytes, shape, dtype }: RawTensor, { device }: LoadOptions): Tensor =>
  inOperation(`io.${operation}`, () => fromBytes(bytes, shape, dtype, { device }));

async function toRaw(x: Tensor): Promise<RawTensor> {
  return { dtype: x.dtype, shape: [...x.shape], bytes: await x.bytes() };
}

/**
 * The array in a .npy file. NumPy has no names for some dtypes of ml_dtypes, and writes opaque bytes; `dtype` says what they
 * are: "i4", "u4", "i2" or "u2", and f8e4m3 unless told.
 */
export async function loadNpy(path: string, options: LoadOptions & { readonly dtype?: DType } = {}): Promise<Tensor> {
  checkCount("io.loadNpy", 2, arguments);
  checkString("io.loadNpy", "the path", path);
  checkOptions("io.loadNpy", options, { device: "text", dtype: "dtype" });
  const array = rowMajor(await readNpy(path));
  return toTensor("loadNpy", options.dtype ? opaqueAs(array, options.dtype, path) : array, options);
}

/** Writes a tensor as a .npy file of NumPy. */
export async function saveNpy(path: string, x: Tensor): Promise<void> {
  checkCount("io.saveNpy", 2, arguments);
  checkString("io.saveNpy", "the path", path);
  checkTensor("io.saveNpy", "what is saved", x);
  await writeNamed("io.saveNpy: the array", path, [encodeNpy(await toRaw(x))]);
}

/** The arrays in a .npz file, by name. It may not unpack to more than `maxBytes`, which is 4 GiB unless told. */
export async function loadNpz(
  path: string,
  options: LoadOptions & NpzReadOptions = {},
): Promise<Record<string, Tensor>> {
  checkCount("io.loadNpz", 2, arguments);
  checkString("io.loadNpz", "the path", path);
  checkOptions<LoadOptions & NpzReadOptions>("io.loadNpz", options, { device: "text", maxBytes: "number" });
  const found: [string, Tensor][] = [];
  for await (const [name, array] of npzArraysGivingWay(await readNamed("io.loadNpz", path), options, path))
    found.push([name, toTensor("loadNpz", array, options)]);
  return Object.fromEntries(found);
}

/** Writes tensors as a .npz file of NumPy, by name; `compress` makes it smaller. */
export async function saveNpz(
  path: string,
  tensors: Readonly<Record<string, Tensor>>,
  options: { readonly compress?: boolean } = {},
): Promise<void> {
  checkCount("io.saveNpz", 3, arguments);
  checkOptions("io.saveNpz", options, { compress: "flag" });
  checkSaving("saveNpz", path, tensors);
  await writeNamed("io.saveNpz: the arrays", path, npzChunksGivingWay(await rawEntries(tensors), options));
}

/** A safetensors file whose tensors are read when asked for, whole or in part. */
export interface TensorFile {
  readonly names: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  read(name: string): Promise<Tensor>;
  /** The bytes of a tensor as they are stored, also of dtypes that Pumice does not have. */
  readBytes(name: string): Promise<Uint8Array>;
  /** Only the bytes that the indices select are read: `file.slice("weight", "0:10")`. */
  slice(name: string, ...indices: IndexArgument[]): Promise<Tensor>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens a safetensors file without reading its tensors; `read` reads one, or a part of it. */
export async function openSafetensors(path: string, options: LoadOptions = {}): Promise<TensorFile> {
  checkCount("io.openSafetensors", 2, arguments);
  checkLoading("openSafetensors", path, options);
  return reading("openSafetensors", await openFile(path, "io.openSafetensors"), options);
}

function reading(operation: string, file: SafetensorsFile, options: LoadOptions): TensorFile {
  return {
    names: [...file.names],
    metadata: Object.fromEntries(file.metadata),
    read: async (name) => toTensor(operation, await file.read(name), options),
    readBytes: (name) => file.readBytes(name),
    slice: async (name, ...indices) => toTensor(operation, await file.slice(name, ...indices), options),
    close: () => file.close(),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** All tensors of a safetensors file, by name. */
export async function loadSafetensors(path: string, options: LoadOptions = {}): Promise<Record<string, Tensor>> {
  checkCount("io.loadSafetensors", 2, arguments);
  checkLoading("loadSafetensors", path, options);
  await using file = reading("loadSafetensors", await openFile(path, "io.loadSafetensors"), options);
  const found: [string, Tensor][] = [];
  for (const name of file.names) found.push([name, await file.read(name)]);
  // Not by assignment: a tensor may be called __proto__.
  return Object.fromEntries(found);
}

/** Writes tensors as a safetensors file, by name, with texts as metadata. */
export async function saveSafetensors(
  path: string,
  tensors: Readonly<Record<string, Tensor>>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  checkCount("io.saveSafetensors", 3, arguments);
  checkSaving("saveSafetensors", path, tensors);
  const list = Object.entries(tensors).map(([name, x]) => ({ name, dtype: x.dtype, shape: x.shape, x }));
  await writeSafetensors("io.saveSafetensors", path, list, metadata);
}

function checkSaving(operation: string, path: string, tensors: Readonly<Record<string, Tensor>>): void {
  checkString(`io.${operation}`, "the path", path);
  if (typeof tensors !== "object" || tensors === null || tensors instanceof Tensor) {
    throw new ArgumentError(`io.${operation}: takes tensors by name, as { weight: x }, not ${shown(tensors)}.`);
  }
  for (const [name, x] of Object.entries(tensors)) checkTensor(`io.${operation}`, `"${name}"`, x);
}

async function rawEntries(tensors: Readonly<Record<string, Tensor>>): Promise<[string, RawTensor][]> {
  return Promise.all(
    Object.entries(tensors).map(async ([name, x]): Promise<[string, RawTensor]> => [name, await toRaw(x)]),
  );
}
