/**
 * Models that lay the columns of several fitted transformers side by side, each fed with some of the columns that went in:
 * `columnTransformer` and `featureUnion` give them.
 */
import { FormatError, ShapeError } from "../../core/errors.js";
import { registerClass } from "../../core/tree.js";
import { concat, isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { takenApart } from "../core/kinds.js";
import { factsOf, listOfParts } from "../core/parts.js";
import { type Features, numberSamples, type Samples, tableOfText, withoutArrow } from "../core/samples.js";
import { Table } from "../tables/table.js";
import { type FittedTransformer, namesOf } from "./steps.js";

/** What is known of the columns: those that went in, and which of them go to each model; null for a model that is fed with all. */
interface JoinedFacts {
  readonly features: Features;
  readonly columns: readonly (readonly number[] | null)[];
}

/** Samples with the columns at some positions. Tables keep their names. */
export function columnsAt(
  samples: Samples,
  positions: readonly number[] | null,
  names: readonly string[] | null,
): Samples {
  if (positions === null) return samples;
  if (samples instanceof Table) {
    const all = names ?? samples.names;
    return samples.select(positions.map((place) => all[place] as string));
  }
  const x = samples as Tensor;
  return x.take(tensor(Int32Array.from(positions), { device: x.device }), { axis: 1 }) as Tensor;
}

/** A fitted `columnTransformer` or `featureUnion`. */
export class FittedJoined {
  constructor(
    readonly kind: string,
    /** The fitted transformers. */
    readonly models: readonly FittedTransformer[],
    /** Facts besides tensors. */
    readonly facts: JoinedFacts,
    /** A zero where the samples of the fit were. */
    readonly place: Tensor,
  ) {
    takenApart("model", kind, this, () => ({ models, features: facts.features, columns: facts.columns, place }));
  }

  /** The columns that went in. */
  get features(): Features {
    return this.facts.features;
  }

  /** Null: nothing is predicted. */
  get classes(): null {
    return null;
  }

  /** The columns of all transformers, side by side. */
  transform(samples: Samples): Tensor {
    return concat(this.parts(samples), { axis: 1 }) as Tensor;
  }

  /** The names of the columns. One that stands twice begins with the name of its transformer's kind. */
  featureNames(): readonly string[] {
    const names = this.models.map((model, part) => namesOf(model, this.zeros(part)));
    const all = names.flat();
    const counts = new Map<string, number>();
    for (const name of all) counts.set(name, (counts.get(name) ?? 0) + 1);
    return this.models.flatMap(({ kind }, part) =>
      (names[part] as readonly string[]).map((name) => ((counts.get(name) ?? 0) > 1 ? `${kind}__${name}` : name)),
    );
  }

  /** What whole numbers in the columns mean. */
  featureCategories(): Features["categories"] {
    const lists = this.models.flatMap((model, part) => {
      const width = namesOf(model, this.zeros(part)).length;
      return model.featureCategories?.() ?? Array<null>(width).fill(null);
    });
    return lists.some((list) => list !== null) ? lists : null;
  }

  toString(): string {
    return `${this.kind} of ${this.models.map(String).join(" and ")}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  /** The columns of each transformer. */
  private parts(given: Samples): Tensor[] {
    const { features, columns } = this.facts;
    const samples = this.samplesLike(given);
    return this.models.map((model, part) =>
      model.transform(columnsAt(samples, columns[part] as readonly number[] | null, features.names)),
    );
  }

  private samplesLike(given: Samples): Samples {
    const { features, columns } = this.facts;
    const { samples } = tableOfText(withoutArrow(given));
    // Texts and rows go on as they are where every model reads them for itself.
    if (columns.every((each) => each === null)) return given;
    if (samples instanceof Table) {
      if (features.names || samples.columns.size === features.count) return samples;
      throw new ShapeError(
        `${this.kind}.transform: the samples have ${samples.columns.size} features, and the model was fitted with ${features.count}.`,
      );
    }
    const { device, dtype } = this.place;
    return numberSamples.readLike(
      `${this.kind}.transform`,
      samples,
      features,
      isTensor(samples) ? {} : { device, dtype },
      {},
    );
  }

  /** One row of what a model gives, of which only the width is asked. */
  private zeros(part: number): Tensor {
    const model = this.models[part] as FittedTransformer & { readonly features: Features };
    if (model.featureNames) return this.place;
    return model.transform(this.place.broadcastTo([1, model.features.count]) as Tensor);
  }
}

registerClass<FittedJoined, { readonly kind: string; readonly facts: JoinedFacts }>(FittedJoined, {
  name: "joined",
  children: ({ models, place }) => ({ models, place }),
  data: ({ kind, facts }) => ({ kind, facts }),
  rebuild: ({ models, place }, { kind, facts }) =>
    new FittedJoined(kind, models as readonly FittedTransformer[], facts, place as Tensor),
});

/** The model of a kind from the parts that a file holds. */
export function joinedOf(kind: string, parts: Readonly<Record<string, unknown>>): FittedJoined {
  const models = listOfParts(kind, "model", parts.models) as readonly FittedTransformer[];
  const { features } = factsOf(parts.features, null);
  const isPlace = (each: unknown): boolean =>
    Number.isInteger(each) && (each as number) >= 0 && (each as number) < features.count;
  const isList = (each: unknown): boolean => each === null || (Array.isArray(each) && each.every(isPlace));
  const { columns, place } = parts;
  if (!Array.isArray(columns) || columns.length !== models.length || !columns.every(isList) || !isTensor(place)) {
    throw new FormatError(`the columns of a ${kind} are not described as they should be.`);
  }
  return new FittedJoined(kind, models, { features, columns }, place as Tensor);
}
