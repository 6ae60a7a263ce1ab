/**
 * Tensors from files and back: .npy and .npz of NumPy, and safetensors. The formats themselves are pure functions over
 * bytes, in the files beside this one.
 */
import { readFile, writeFile } from "node:fs/promises";
import { checkOptions } from "../core/arguments.js";
import type { IndexArgument } from "../core/slice.js";
import { fromBytes } from "../tensor/creation.js";
import type { Tensor } from "../tensor/tensor.js";
import { decodeNpy, encodeNpy, rowMajor } from "./npy.js";
import { encodeNpz, type NpzReadOptions, npzArrays } from "./npz.js";
import type { RawTensor } from "./raw-tensor.js";
import { encodeSafetensors } from "./safetensors.js";
import { openSafetensors as openFile, type SafetensorsFile } from "./safetensors-file.js";

export interface LoadOptions {
  readonly device?: string;
}

const toTensor = ({ bytes, shape, dtype }: RawTensor, { device }: LoadOptions): Tensor =>
  fromBytes(bytes, shape, dtype, { device });

async function toRaw(x: Tensor): Promise<RawTensor> {
  return { dtype: x.dtype, shape: [...x.shape], bytes: await x.bytes() };
}

/** The array in a .npy file. */
export async function loadNpy(path: string, options: LoadOptions = {}): Promise<Tensor> {
  checkOptions<LoadOptions>("io.loadNpy", options, { device: "text" });
  return toTensor(rowMajor(decodeNpy(await readFile(path), path)), options);
}

export async function saveNpy(path: string, x: Tensor): Promise<void> {
  await writeFile(path, encodeNpy(await toRaw(x)));
}

/** The arrays in a .npz file, by name. It may not unpack to more than `maxBytes`, which is 4 GiB unless told. */
export async function loadNpz(
  path: string,
  options: LoadOptions & NpzReadOptions = {},
): Promise<Record<string, Tensor>> {
  checkOptions<LoadOptions & NpzReadOptions>("io.loadNpz", options, { device: "text", maxBytes: "number" });
  const found: [string, Tensor][] = [];
  for (const [name, array] of npzArrays(await readFile(path), options, path))
    found.push([name, toTensor(array, options)]);
  return Object.fromEntries(found);
}

export async function saveNpz(
  path: string,
  tensors: Readonly<Record<string, Tensor>>,
  options: { readonly compress?: boolean } = {},
): Promise<void> {
  checkOptions<{ readonly compress?: boolean }>("io.saveNpz", options, { compress: "flag" });
  await writeFile(path, encodeNpz(await rawEntries(tensors), options));
}

/** A safetensors file whose tensors are read when asked for, whole or in part. */
export interface TensorFile {
  readonly names: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  read(name: string): Promise<Tensor>;
  /** Only the bytes that the indices select are read: `file.slice("weight", "0:10")`. */
  slice(name: string, ...indices: IndexArgument[]): Promise<Tensor>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openSafetensors(path: string, options: LoadOptions = {}): Promise<TensorFile> {
  checkOptions<LoadOptions>("io.openSafetensors", options, { device: "text" });
  const file: SafetensorsFile = await openFile(path);
  return {
    names: [...file.names],
    metadata: Object.fromEntries(file.metadata),
    read: async (name) => toTensor(await file.read(name), options),
    slice: async (name, ...indices) => toTensor(await file.readSlice(name, ...indices), options),
    close: () => file.close(),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** All tensors of a safetensors file, by name. */
export async function loadSafetensors(path: string, options: LoadOptions = {}): Promise<Record<string, Tensor>> {
  await using file = await openSafetensors(path, options);
  const found: [string, Tensor][] = [];
  for (const name of file.names) found.push([name, await file.read(name)]);
  // Not by assignment: a tensor may be called __proto__.
  return Object.fromEntries(found);
}

export async function saveSafetensors(
  path: string,
  tensors: Readonly<Record<string, Tensor>>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  await writeFile(path, encodeSafetensors(await rawEntries(tensors), metadata));
}

async function rawEntries(tensors: Readonly<Record<string, Tensor>>): Promise<[string, RawTensor][]> {
  return Promise.all(
    Object.entries(tensors).map(async ([name, x]): Promise<[string, RawTensor]> => [name, await toRaw(x)]),
  );
}
