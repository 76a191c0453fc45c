/** Every query of the console with the function that answers it. */
import type { Asked, Found, QueryName, Scope } from "../../endpoints/http/console/console-services.ts";
import type { QueryContext } from "./query-context.ts";

/** One function for each query; the compiler asks for each. */
type QueryTable = {
  readonly [Name in QueryName]: (
    context: QueryContext,
    scope: Scope,
    asked: Asked<Name>,
  ) => Promise<Found<Name>>;
};

export const queryTable: QueryTable = {};
