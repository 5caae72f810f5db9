/** What functions ask `pg_catalog` by number, for statements that can see it. */
import type { Catalog } from "../../../table/catalog.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { postgresObjects } from "./information-schema.ts";

/** The same environment with `objects`, where it has none and the session is one of PostgreSQL. */
export function withObjects(environment: Environment, { catalog }: { readonly catalog: Catalog }): Environment {
  if (environment.isPostgres !== true || environment.objects !== undefined) return environment;
  return { ...environment, objects: postgresObjects({ catalog }, environment.database) };
}
