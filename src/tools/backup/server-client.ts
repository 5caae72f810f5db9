/** A running server, asked by SQL over HTTP for what a backup needs of it. */
import type { BackupBegun } from "../../query/query-context.ts";
import { Client } from "../common/client.ts";
import type { ServerAddress } from "../common/server-flags.ts";

/** Backups of a server (`engine/backup/backups.ts`). */
export interface BackupServer {
  begin(): Promise<BackupBegun>;
  renew(id: string): Promise<void>;
  releaseLog(id: string): Promise<void>;
  end(id: string): Promise<void>;
}

/** Asks a server. Calls reject as `Client.rows` does. */
export function serverClient(address: ServerAddress): BackupServer {
  const client = new Client(address);
  const call = async (name: string, id?: string): Promise<unknown> => {
    const [row] = await client.rows(`ADMIN ${name}(${id === undefined ? "" : `'${id.replaceAll("'", "''")}'`})`);
    return row?.[0];
  };
  return {
    begin: async () => begunOf(await call("backup_begin")),
    renew: async (id) => void (await call("backup_renew", id)),
    releaseLog: async (id) => void (await call("backup_log_copied", id)),
    end: async (id) => void (await call("backup_end", id)),
  };
}

function begunOf(value: unknown): BackupBegun {
  if (typeof value === "string") return JSON.parse(value) as BackupBegun; // What a server of this version says.
  throw new Error("the server does not know backups: it is of another version");
}
