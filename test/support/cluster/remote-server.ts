/** What the server is given whose statements read its tables as a frontend does: `remote-program.ts` puts it in. */
import { RemoteWorkers } from "../../../src/cluster/remote/remote-workers.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { QueryWorkers } from "../../../src/query/operator/contract/query-workers.ts";
import { REMOTE_SHARDS } from "../memory-catalog.ts";
import { readCatalog } from "./remote-catalog.ts";

/** An engine whose tables are read from elsewhere; all else is the engine's. */
export function remoteEngine(engine: Engine): Engine {
  return readCatalog(engine) as Engine; // It passes everything else on.
}

/** What runs parts of queries over such tables. */
export const remoteWorkers: QueryWorkers = new RemoteWorkers(REMOTE_SHARDS);
