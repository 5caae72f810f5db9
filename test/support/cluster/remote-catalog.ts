/** The tables of an engine in several shards as a frontend of a cluster reads them. What is changed goes to the engine. */
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/log.ts";
import type { ServerMemory } from "../../../src/base/memory/server-memory.ts";
import type { TableId } from "../../../src/base/units.ts";
import { RemoteTables } from "../../../src/cluster/remote/remote-tables.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { JoinedTable } from "../../../src/engine/joined/joined-table.ts";
import type { Catalog, Table } from "../../../src/table/catalog.ts";
import { REMOTE_SHARDS } from "../memory-catalog.ts";
import { shownCatalog } from "../shown-catalog.ts";
import { LocalShards, type LocalShardsParts } from "./local-shards.ts";

/** An engine's tables, read from elsewhere. */
export interface RemoteCatalog {
  readonly catalog: Catalog;
  readonly shards: LocalShards;
  readonly tables: RemoteTables;
}

/** What an engine has of a table in each shard. */
function partsOf(table: Table): readonly Table[] {
  return table instanceof JoinedTable ? (Reflect.get(table, "parts") as readonly Table[]) : [table]; // It has them.
}

/** See the file header. @param shards that the engine has */
export function remoteCatalog(
  engine: Engine,
  shards: number,
  more: Pick<LocalShardsParts, "before" | "change"> = {},
  memory?: ServerMemory,
): RemoteCatalog {
  const known = new Map<TableId, Table>();
  const partOf = (shard: number, id: TableId): Table | undefined => {
    const table = known.get(id);
    return table === undefined ? undefined : partsOf(table)[shard];
  };
  const client = new LocalShards({
    shards,
    tableOf: partOf,
    tables: (shard) => [...known].map(([id, table]) => [id, partsOf(table)[shard] as Table] as const),
    ...more,
  });
  const tables = new RemoteTables({
    client,
    lanes: [],
    moments: { catalogVersion: () => 0 },
    clock: systemClock,
    logger: silentLogger,
    memory,
    schemaOf: (database, name) => engine.table(database, name)?.schema,
  });
  const shown = (table: Table): Table => {
    known.set(table.schema.id, table);
    return tables.table(table.schema.id, () => table.schema);
  };
  return { catalog: shownCatalog(engine, shown), shards: client, tables };
}

const catalogs: WeakMap<Engine, Catalog> = new WeakMap();

/** What queries of a run of tests read: the engine's tables, or with `VARVE_REMOTE=3` the same from elsewhere. */
export function readCatalog(engine: Engine): Catalog {
  if (REMOTE_SHARDS === 0) return engine;
  const known = catalogs.get(engine) ?? remoteCatalog(engine, REMOTE_SHARDS).catalog;
  catalogs.set(engine, known);
  return known;
}
