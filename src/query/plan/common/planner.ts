/** What planning reads, and the switches of tests. */
import type { Clock } from "../../../base/clock.ts";
import type { Catalog } from "../../../table/catalog.ts";
import type { FileAccess } from "../../../table/file-access.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { SessionVariables } from "../../query-context.ts";
import type { Query, RelationAlias } from "../../sql/syntax/ast.ts";
import type { PromqlEngine } from "../../promql-engine.ts";
import type { SystemFacts } from "../../system-facts.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import type { OuterScope } from "./outer-scope.ts";
import type { Steps } from "../bind/steps.ts";

/** A query that a WITH gave a name. */
export interface NamedQuery {
  readonly alias: RelationAlias;
  /** Planned once; whoever reads it shares it. */
  readonly node: PlanNode;
}

/** What queries read, of the context of a statement. */
export interface PlannerSources {
  readonly catalog: Catalog;
  readonly system?: SystemFacts | undefined;
  readonly files?: FileAccess | undefined;
  readonly promql?: PromqlEngine | undefined;
}

/** Everything a planner reads. */
export interface Planner {
  readonly catalog: Catalog;
  /** Counts the size of the plan. */
  readonly environment: Environment;
  /** False: nothing is pushed into scans and no rule runs, so that the plan means what the text says. For the oracle of tests. */
  readonly optimise: boolean;
  /** What external tables are read by. */
  readonly files: FileAccess | undefined;
  /** Queries of WITH in sight, by name. */
  readonly named: ReadonlyMap<string, NamedQuery>;
  /** Columns of the queries around this one. */
  readonly outer: OuterScope | undefined;
  /** Views whose queries are around this one. */
  readonly openViews: readonly { readonly database: string; readonly name: string }[];
  /** How many views the statement has read with this one. */
  readonly nextView: () => number;
  /** Plans the PromQL of TQL. */
  readonly promql: PromqlEngine | undefined;
  /** What the server knows of itself. */
  readonly system: SystemFacts;
  /** Plans a query inside this one. */
  readonly plan: (query: Query, planner: Planner) => Steps<PlanNode>;
  /** Whether the plan is to be shown: then scans hold their conditions as they were written. */
  readonly explains: boolean;
  /** Numbers of parameters, unique in a statement. */
  readonly newId: () => number;
}

/** The environment of a statement that starts now. */
export function environmentOf(
  clock: Clock,
  variables: Pick<SessionVariables, "database" | "timeZone" | "placeholders" | "connection">,
): Environment {
  const { timeZone, database, placeholders, connection } = variables;
  const protocol = connection?.protocol;
  const kind = protocol === "postgres" ? { isPostgres: true } : protocol === "mysql" ? { isMysql: true } : {};
  const told = connection && { client: connection.client, attributes: connection.attributes };
  return { now: clock.nowNanos(), timeZone, database, ...kind, ...told, ...(placeholders && { placeholders }) };
}
