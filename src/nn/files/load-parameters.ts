/**
 * Parameters from files into a model made in code: by path, in whole or in part, from our own files and from those of other programs,
 * whose names and layouts a map translates. Only the tensors that are wanted are read.
 */
import { checkOptions, checkString } from "../../core/arguments.js";
import { isFloat } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isPlainObject, objectOf } from "../../io/trees/json.js";
import { openTree, type TreeFile } from "../../io/trees/tree-file.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import type { Variables, VariableTree } from "../core/variables.js";
import { LoadReport, type Mismatch, shownKind } from "./load-report.js";

/** Where a tensor goes: the path of a parameter, also with a function that brings it into our layout; null leaves it out. */
export type Destination = string | readonly [path: string, convert: (x: Tensor) => Tensor] | null;

/** Where the tensors of a file go, by their names. Names without an entry, or for which a function gives undefined, keep theirs. */
export type NameMap = Readonly<Record<string, Destination>> | ((name: string) => Destination | undefined);

/** Options of `loadParameters`. */
export interface LoadParametersOptions {
  readonly map?: NameMap;
  /** Whether it is an error if anything is missing, unexpected or of another shape; true. */
  readonly strict?: boolean;
}

/** Parameters that were loaded into others. */
export interface LoadedParameters extends Variables {
  readonly report: LoadReport;
}

/**
 * The parameters with those of a file in their place, by path: `loadParameters("model.safetensors", params)`. Given `{ params, state }`, state
 * is loaded, too; its paths begin with "state.", as in "state.batchNorm0.mean". Several files, the parts of one model, are a list.
 * With `strict: false`, what fits is loaded, and `report` tells about the rest.
 */
export async function loadParameters(
  path: string | readonly string[],
  into: VariableTree | Variables,
  options: LoadParametersOptions = {},
): Promise<LoadedParameters> {
  const operation = "loadParameters";
  checkOptions(operation, options, { map: "any", strict: "flag" });
  const { strict = true } = options;
  const targets = targetsOf(into, operation);
  const loading = new Loading(targets, destinations(options.map, operation));
  const paths = typeof path === "string" ? [path] : path;
  if (!Array.isArray(paths) || paths.length === 0) {
    throw new ArgumentError(`${operation}: takes the path of a file, or a list of them, not ${shown(path)}.`);
  }
  for (const each of paths) {
    checkString(operation, "the path", each);
    await using file = await openTree(each, operation);
    await loading.take(file);
  }
  const report = loading.report();
  if (strict && !report.isComplete) {
    throw new ArgumentError(
      `${operation}: ${paths.join(", ")} does not fit the parameters; { strict: false } loads what fits, { map } translates names.\n${report}`,
    );
  }
  return { ...loading.result(into), report };
}

/** A place for a tensor: where it lies in the trees, and what is there now. */
interface Target {
  readonly path: string;
  readonly old: Tensor;
  readonly isState: boolean;
}

const isVariables = (tree: VariableTree | Variables): tree is Variables =>
  isPlainObject(tree.params) && isPlainObject(tree.state);

/** All places by path, those of the state after "state.". */
function targetsOf(into: VariableTree | Variables, operation: string): Map<string, Target> {
  // What train gave is no plain object, but has both trees.
  const isTree = typeof into === "object" && into !== null && !isTensor(into);
  if (!isTree || !(isPlainObject(into) || isVariables(into))) {
    throw new ArgumentError(`${operation}: takes the parameters that init or train gave, not ${shown(into)}.`);
  }
  const targets = new Map<string, Target>();
  const walk = (tree: VariableTree, prefix: string, isState: boolean): void => {
    for (const [name, value] of Object.entries(tree)) {
      const path = prefix + name;
      if (isTensor(value)) targets.set(path, { path, old: value, isState });
      else if (isPlainObject(value)) walk(value as VariableTree, `${path}.`, isState);
      else throw new ArgumentError(`${operation}: "${path}" is ${shown(value)}; parameters are trees of tensors.`);
    }
  };
  if (!isVariables(into)) walk(into as VariableTree, "", false);
  else {
    walk(into.params, "", false);
    walk(into.state, "state.", true);
  }
  return targets;
}

type Mapping = (name: string) => { readonly path: string; readonly convert?: (x: Tensor) => Tensor } | null;

function destinations(map: NameMap | undefined, operation: string): Mapping {
  const given =
    typeof map === "function" ? map : (name: string) => (map && Object.hasOwn(map, name) ? map[name] : undefined);
  if (map !== undefined && typeof map !== "function" && !isPlainObject(map)) {
    throw new ArgumentError(`${operation}: the option map is an object or a function, not ${shown(map)}.`);
  }
  return (name) => {
    const found = given(name);
    if (found === undefined) return { path: name };
    if (found === null) return null;
    const [path, convert] = typeof found === "string" ? [found] : Array.isArray(found) ? found : [];
    if (typeof path === "string" && (convert === undefined || typeof convert === "function")) return { path, convert };
    throw new ArgumentError(
      `${operation}: the map leads from "${name}" to ${shown(found)}; a destination is a path, [path, function] or null.`,
    );
  };
}

/** Tensors as they are taken from files. */
class Loading {
  private readonly loaded = new Map<string, { readonly name: string; readonly x: Tensor }>();
  private readonly mismatched: Mismatch[] = [];
  private readonly unexpected: string[] = [];
  private readonly ignored: string[] = [];

  constructor(
    private readonly targets: ReadonlyMap<string, Target>,
    private readonly destinationOf: Mapping,
  ) {}

  async take(file: TreeFile): Promise<void> {
    // In a model's file the parameters lie under "params", the state beside them.
    const isModel = isPlainObject(file.metadata) && typeof file.metadata.model === "number";
    // In a checkpoint of train both lie under "carry", and what else the training keeps beside them.
    const isCheckpoint = !isModel && isCheckpointOf(file);
    const hasState = [...this.targets.values()].some(({ isState }) => isState);
    for (const stored of file.names) {
      const inModel = isCheckpoint ? stored.replace(/^carry\.(?=params\.|state\.)/, "") : stored;
      if ((isCheckpoint && inModel === stored) || (isModel && stored.startsWith("extra."))) {
        this.ignored.push(stored);
        continue;
      }
      const name = isModel || isCheckpoint ? inModel.replace(/^params\./, "") : stored;
      const destination = this.destinationOf(name);
      const target = destination && this.targetOf(destination.path);
      if (!destination || ((isModel || isCheckpoint) && !target && !hasState && name.startsWith("state.")))
        this.ignored.push(name);
      else if (target) await this.put(file, stored, name, target, destination.convert);
      else this.unexpected.push(name);
    }
  }

  private targetOf(path: string): Target | undefined {
    return this.targets.get(path) ?? this.targets.get(path.replace(/^params\./, ""));
  }

  private async put(
    file: TreeFile,
    stored: string,
    name: string,
    target: Target,
    convert: ((x: Tensor) => Tensor) | undefined,
  ): Promise<void> {
    const { path, old } = target;
    const before = this.loaded.get(path);
    if (before) throw new ArgumentError(`loadParameters: "${before.name}" and "${name}" both lead to "${path}".`);
    const described = file.described(stored);
    const isSure = convert === undefined;
    if (isSure && !fits(described, old)) return this.refuse(name, target, described);
    const read = await file.read(stored, old.device);
    const x = convert ? convert(read) : read;
    if (!isTensor(x))
      throw new ArgumentError(`loadParameters: the function of the map for "${name}" gives ${shown(x)}, no tensor.`);
    if (!fits(x, old)) return this.refuse(name, target, x);
    this.loaded.set(path, { name, x: (x.dtype === old.dtype ? x : x.cast(old.dtype)).realize() as Tensor });
  }

  private refuse(name: string, { path, old }: Target, found: Pick<Tensor, "dtype" | "shape">): void {
    const [is, wanted] = [found, old].map(({ dtype, shape }) => shownKind(dtype, shape)) as [string, string];
    this.mismatched.push({ name, path, found: is, wanted });
  }

  report(): LoadReport {
    const refused = new Set(this.mismatched.map(({ path }) => path));
    const missing = [...this.targets.keys()].filter((path) => !this.loaded.has(path) && !refused.has(path));
    const matched = [...this.loaded].map(([path, { name }]) => ({ path, name }));
    return new LoadReport(matched, missing, this.unexpected, this.mismatched, this.ignored);
  }

  result(into: VariableTree | Variables): Variables {
    if (!isVariables(into)) return { params: this.replaced(into as VariableTree, ""), state: {} };
    return { params: this.replaced(into.params, ""), state: this.replaced(into.state, "state.") };
  }

  private replaced(tree: VariableTree, prefix: string): VariableTree {
    return objectOf(
      Object.entries(tree).map(([name, value]): [string, Tensor | VariableTree] => {
        const path = prefix + name;
        if (!isTensor(value)) return [name, this.replaced(value as VariableTree, `${path}.`)];
        return [name, this.loaded.get(path)?.x ?? value];
      }),
    );
  }
}

/** Whether a file is a checkpoint of `train`: its parameters are known by their names. */
const isCheckpointOf = ({ metadata, names }: TreeFile): boolean =>
  isPlainObject(metadata) &&
  metadata.kind === "pumice training" &&
  names.some((name) => name.startsWith("carry.params."));

/** Floats of any width become each other; anything else must be of one dtype. */
function fits(found: Pick<Tensor, "dtype" | "shape">, wanted: Tensor): boolean {
  const isKind = found.dtype === wanted.dtype || (isFloat(found.dtype) && isFloat(wanted.dtype));
  return isKind && sameShape(found.shape, wanted.shape);
}
