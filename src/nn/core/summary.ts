/**
 * A model at a glance: one row for each layer with its output's shape, parameters, bytes and multiply-adds, and the sums. It
 * comes from an initialising run, which computes nothing.
 */
import { DTYPES, type DType } from "../../core/dtype.js";
import { formatShape, sizeOf } from "../../core/shape.js";
import { key as keyOf } from "../../random/index.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { leaves } from "../../transforms/tree.js";
import type { InputSpec } from "./input-spec.js";
import { type AnyLayer, checkLayer } from "./layer.js";
import type { Watcher } from "./scope.js";
import { findAt, isSubtree, type VariableTree } from "./variables.js";

/** One layer of a summary. */
export interface SummaryRow {
  /** The layer's path; empty for the model itself. */
  readonly path: string;
  readonly kind: string;
  /** Shapes of the outputs: one, or several. */
  readonly outputs: readonly (readonly number[])[];
  /** Numbers of this layer alone, trained or frozen. Parameters that layers share count once. */
  readonly parameters: number;
  /** Bytes of the parameters, and of state such as narrow weights and running statistics. */
  readonly bytes: number;
  readonly multiplyAdds: number;
  readonly isFrozen: boolean;
}

/** A summary, as rows and, by `toString`, as a table. */
export class Summary {
  constructor(
    readonly rows: readonly SummaryRow[],
    /** Whether the input had extents of null, which count as 1 here. */
    readonly hasUnknownExtents = false,
  ) {}

  get parameters(): number {
    return sum(this.rows.map((row) => row.parameters));
  }

  /** Numbers of layers that are frozen; the others are trained. */
  get frozenParameters(): number {
    return sum(this.rows.filter((row) => row.isFrozen).map((row) => row.parameters));
  }

  get trainedParameters(): number {
    return this.parameters - this.frozenParameters;
  }

  get bytes(): number {
    return sum(this.rows.map((row) => row.bytes));
  }

  get multiplyAdds(): number {
    return sum(this.rows.map((row) => row.multiplyAdds));
  }

  toString(): string {
    const head = ["layer", "kind", "output", "parameters", "bytes", "multiply-adds"];
    const body = this.rows.map((row) => [
      row.path || "(model)",
      row.isFrozen && row.parameters > 0 ? `${row.kind} (frozen)` : row.kind,
      row.outputs.map((shape) => formatShape(shape)).join(" "),
      ...[row.parameters, row.bytes, row.multiplyAdds].map(grouped),
    ]);
    const total = ["", "", "", ...[this.parameters, this.bytes, this.multiplyAdds].map(grouped)];
    const { frozenParameters: frozen, trainedParameters: trained } = this;
    const notes = [
      `${grouped(trained)} trained parameters, ${grouped(frozen)} frozen`,
      ...(this.hasUnknownExtents
        ? ["shapes and multiply-adds are for extents of 1 where the input has null, as for a batch of one"]
        : []),
    ];
    return [table(head, [...body, total]), ...notes].join("\n");
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/** The layers of a model for inputs of a shape: `console.log(summary(model, [null, 784]))`. */
export function summary(model: AnyLayer, input: InputSpec): Summary {
  checkLayer("summary", model);
  const rows: SummaryRow[] = [];
  const counted = new Set<string>();
  const watcher: Watcher = {
    called: ({ scope, kind, output }) => {
      const path = scope.path.join(".");
      const isNew = !counted.has(path);
      counted.add(path);
      const own = isNew ? ownTensors(scope.run.params, scope.path) : [];
      const state = isNew ? ownTensors(scope.run.newState, scope.path) : [];
      rows.push({
        path,
        kind,
        outputs: leaves(output).map((leaf) => leaf.shape),
        parameters: sum(own.map((leaf) => sizeOf(leaf.shape))),
        bytes: sum(
          [...own, ...state].map((leaf) => Math.ceil((sizeOf(leaf.shape) * DTYPES[leaf.dtype as DType].bits) / 8)),
        ),
        multiplyAdds: scope.multiplyAdds,
        isFrozen: scope.inherited.isFrozen,
      });
      return undefined;
    },
  };
  model.initialized(keyOf(0), input, [watcher]);
  return new Summary(rows, hasNull(input));
}

/** Whether a shape of an input has an extent of null. */
function hasNull(input: InputSpec): boolean {
  if (isTensor(input)) return false;
  return Object.values(input).some((each) => each === null || (typeof each === "object" && hasNull(each as InputSpec)));
}

/** Parameters at a path itself, without those of the parts below it. */
function ownTensors(params: VariableTree, path: readonly string[]): Tensor[] {
  const here = findAt(params, path);
  if (here === undefined || !isSubtree(here)) return [];
  return Object.values(here).filter((value): value is Tensor => isTensor(value));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** 1234567 as 1,234,567. */
const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

/** Columns of text; the last three are numbers and stand to the right. */
function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...body.map((row) => (row[i] as string).length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => (i < row.length - 3 ? cell.padEnd(widths[i] as number) : cell.padStart(widths[i] as number)))
      .join("  ")
      .trimEnd();
  const rule = "─".repeat(sum(widths) + 2 * (widths.length - 1));
  return [line(head), rule, ...body.slice(0, -1).map(line), rule, line(body.at(-1) as string[])].join("\n");
}
