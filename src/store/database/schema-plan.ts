/**
 * What a start has to do to the schema of a database: nothing, some migrations, or refuse it. Number and fingerprint
 * must be those of one known schema; a database is never served on its number alone.
 */
import { earlySchemas } from "./migrations/early-schemas.ts";
import { type Migration, migrations } from "./migrations/migrations.ts";

/** The number of the schema that a database has noted, and its actual schema. */
export interface FoundSchema {
  /** As the database has noted it; 0 when it has not. */
  readonly number: number;
  readonly fingerprint: string;
  /** No table but `meta`. */
  readonly isEmpty: boolean;
}

export interface SchemaStep extends Migration {
  /** Of the schema that it leaves, as its fingerprint. */
  readonly number: number;
}

export type SchemaPlan =
  | { readonly kind: "steps"; readonly steps: readonly SchemaStep[] }
  | { readonly kind: "newer" }
  /** The number is known, the schema is another. */
  | { readonly kind: "unknown" };

/** The number of the schema that this dropgate works with. */
export const currentSchema = migrations.length;

function stepsAfter(number: number, known: readonly Migration[]): readonly SchemaStep[] {
  return known.slice(number).map((migration, index) => ({ ...migration, number: number + index + 1 }));
}

/** From a schema that is older than the first migration to that of the first migration. */
function earlySteps(fingerprint: string, known: readonly Migration[]): readonly SchemaStep[] | undefined {
  const from = earlySchemas.findIndex((schema) => schema.fingerprint === fingerprint);
  if (from < 0) return undefined;
  return earlySchemas.slice(from).map(({ name, sql }, index) => ({
    name,
    sql,
    number: 1,
    fingerprint: earlySchemas[from + index + 1]?.fingerprint ?? known[0]?.fingerprint ?? "",
  }));
}

/** Decides by what was found; `known` are the existing migrations. */
export function planSchema(found: FoundSchema, known: readonly Migration[] = migrations): SchemaPlan {
  const { number, fingerprint, isEmpty } = found;
  if (number > known.length) return { kind: "newer" };
  // Cut off before the first migration was committed.
  if (number === 0 && isEmpty) return { kind: "steps", steps: stepsAfter(0, known) };
  if (known[number - 1]?.fingerprint === fingerprint) {
    return { kind: "steps", steps: stepsAfter(number, known) };
  }
  const early = number === 1 ? earlySteps(fingerprint, known) : undefined;
  if (early === undefined) return { kind: "unknown" };
  return { kind: "steps", steps: [...early, ...stepsAfter(1, known)] };
}
