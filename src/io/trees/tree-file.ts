/**
 * Trees of tensors in files: safetensors, where a tensor's name is its path with a full stop between the keys, as in
 * "dense0.weights". So any reader of the format finds the tensors. The metadata also hold the tree's own form, since names alone do
 * not tell a list from an object, nor what is empty; files of others, which lack it, are read by their names (tree-form.ts). Models
 * and the checkpoints of training are such files.
 */
import { checkString } from "../../core/arguments.js";
import { tensorBytes } from "../../core/bytes.js";
import { DTYPES, type DType, isDType } from "../../core/dtype.js";
import { FormatError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import { fromBytes, type Tensor } from "../../tensor/index.js";
import { fileByteLength } from "../raw-tensor.js";
import { openSafetensors, type SafetensorsFile } from "../safetensors-file.js";
import { type NamedTensor, writeSafetensors } from "../safetensors-writer.js";
import { checkSeal } from "../seal.js";
import { isPlainObject, type Json, jsonText, objectOf, parsedJson } from "./json.js";
import { formOf, formOfNames, freeName, parsedForm, type TensorTree, type TreeForm, treeOfForm } from "./tree-form.js";

/** Keys of the metadata. The first says the version: a reader refuses what is newer than itself. */
const VERSION_KEY = "pumice.tree";
const FORM_KEY = "pumice.tree.form";
const DTYPES_KEY = "pumice.tree.dtypes";
const METADATA_KEY = "pumice.tree.metadata";
/** The name of the tensor that is the checksum of a file, and is no part of the tree. */
const SEAL_KEY = "pumice.tree.checksum";
const VERSION = "1";

/** Dtype and shape of a tensor whose dtype the format lacks. Its bytes are stored as u8. */
interface Described {
  readonly dtype: DType;
  readonly shape: Shape;
}

/**
 * Writes a tree, and a value of JSON beside it. A process that is killed meanwhile leaves the old file as it was; when the promise
 * is fulfilled, the disk has the new one. Tensors are read in pieces, so that little memory is needed besides them.
 */
export async function writeTree(
  path: string,
  tree: TensorTree,
  metadata?: unknown,
  operation = "writeTree",
  options: TreeWriteOptions = {},
): Promise<void> {
  checkString(operation, "the path", path);
  const { form, tensors } = formOf(tree, operation);
  const foreign: [string, Described][] = [];
  const list = [...tensors].map(([name, x]): NamedTensor => {
    const { dtype, shape } = x;
    if (DTYPES[dtype as DType].safetensors !== undefined) return { name, x, dtype, shape };
    foreign.push([name, { dtype, shape }]);
    return { name, x, dtype: "u8", shape: [tensorBytes(x)] };
  });
  const texts: Record<string, string> = { [VERSION_KEY]: VERSION, [FORM_KEY]: JSON.stringify(form) };
  if (foreign.length > 0) texts[DTYPES_KEY] = JSON.stringify(objectOf(foreign));
  if (metadata !== undefined) texts[METADATA_KEY] = jsonText(metadata, `${operation}: the metadata`);
  const { isSealed = false, keepsPrevious } = options;
  const sealName = isSealed ? freeName("checksum", tensors) : undefined;
  if (sealName !== undefined) texts[SEAL_KEY] = sealName;
  await writeSafetensors(operation, path, list, texts, { isDurable: true, sealName, keepsPrevious });
}

/** How a tree is written. */
interface TreeWriteOptions {
  /** Whether the file has a checksum, which all who open it check. */
  readonly isSealed?: boolean;
  /** Whether the file that is replaced is kept beside it (src/files/replace-file.ts). */
  readonly keepsPrevious?: boolean;
}

/** The tree in a file, on a device, and the value beside it: of a file of others, its metadata as texts by name. */
export async function readTree(
  path: string,
  options: { readonly device?: string } = {},
  operation = "readTree",
): Promise<{ readonly tree: TensorTree; readonly metadata: Json | undefined }> {
  checkString(operation, "the path", path);
  await using file = await openTree(path, operation);
  return { tree: await wholeTree(file, options.device), metadata: file.metadata };
}

/** All tensors of a file, as their tree. */
export async function wholeTree(file: TreeFile, device?: string): Promise<TensorTree> {
  const tensors = new Map<string, Tensor>();
  for (const name of file.names) tensors.set(name, await file.read(name, device));
  return treeOfForm(file.form, (name) => tensors.get(name) as Tensor);
}

/** A file whose tensors are read when they are asked for. */
export interface TreeFile extends AsyncDisposable {
  readonly form: TreeForm;
  readonly metadata: Json | undefined;
  /** Whether it has a checksum. */
  readonly isSealed: boolean;
  /** Names of the tensors, in the order of the file. */
  readonly names: readonly string[];
  /** Dtype and shape of a tensor. */
  described(name: string): Described;
  read(name: string, device?: string): Promise<Tensor>;
}

/** Opens a file and checks all that it says about itself, its checksum too. */
export async function openTree(path: string, operation = "openTree"): Promise<TreeFile> {
  const file = await openSafetensors(path, operation);
  try {
    const opened = treeFile(file, `${operation}: ${path}`);
    if (opened.isSealed) await checkSeal(operation, path);
    return opened;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function treeFile(file: SafetensorsFile, what: string): TreeFile {
  const version = file.metadata.get(VERSION_KEY);
  if (version !== undefined && version !== VERSION) {
    throw new FormatError(`${what}: a tree of version ${version}; this version of Pumice reads ${VERSION}.`);
  }
  const text = (key: string): string | undefined => (version === undefined ? undefined : file.metadata.get(key));
  const [formText, dtypesText, metadataText] = [text(FORM_KEY), text(DTYPES_KEY), text(METADATA_KEY)];
  const seal = text(SEAL_KEY);
  const names = file.names.filter((name) => name !== seal);
  const form = formText === undefined ? formOfNames(names, what) : parsedForm(formText, names, what);
  const foreign = dtypesText === undefined ? new Map<string, Described>() : foreignDTypes(dtypesText, file, what);
  const own = metadataText === undefined ? undefined : parsedJson(metadataText, `${what}: the metadata`);
  const described = (name: string): Described => {
    const { dtype, shape } = foreign.get(name) ?? file.entry(name);
    if (dtype !== undefined) return { dtype, shape };
    throw new FormatError(`${what}: "${name}" is ${file.entry(name).storedAs}, for which there is no dtype.`);
  };
  return {
    form,
    metadata: version === undefined ? objectOf(file.metadata) : own,
    isSealed: seal !== undefined && names.length < file.names.length,
    names,
    described,
    read: async (name, device) => {
      const { dtype, shape } = described(name);
      return fromBytes(await file.readBytes(name), shape, dtype, { device });
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** The dtypes that the format lacks, by name; each fits the bytes that are there. */
function foreignDTypes(text: string, file: SafetensorsFile, what: string): Map<string, Described> {
  const where = `${what}: the dtypes of its tensors`;
  const table = parsedJson(text, where);
  if (!isPlainObject(table)) throw new FormatError(`${where} are no JSON object.`);
  const known = new Set(file.names);
  return new Map(
    Object.entries(table).map(([name, value]) => {
      const { dtype, shape } = (isPlainObject(value) ? value : {}) as Record<string, unknown>;
      const isShape = Array.isArray(shape) && shape.every((extent) => Number.isSafeInteger(extent) && extent >= 0);
      if (!known.has(name) || !isDType(dtype) || !isShape) {
        throw new FormatError(`${where}: "${name}" is no tensor of the file, or has no dtype and shape.`);
      }
      fileByteLength(shape, 8 * DTYPES[dtype].bytes, where);
      const bytes = tensorBytes({ shape, dtype });
      const { storedAs, byteLength } = file.entry(name);
      if (storedAs === "U8" && byteLength === bytes) return [name, { dtype, shape }];
      throw new FormatError(`${where}: "${name}" would be ${bytes} bytes, but there are ${byteLength} of ${storedAs}.`);
    }),
  );
}
