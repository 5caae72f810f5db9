/** A running server, asked by SQL over HTTP for what a backup needs of it. */
import { errorText } from "../../base/error.ts";
import type { BackupBegun } from "../../query/query-context.ts";

/** Where a server is, and who asks. */
export interface ServerAddress {
  /** `http://host:port`. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

/** Backups of a server (`engine/backup/backups.ts`). */
export interface BackupServer {
  begin(): Promise<BackupBegun>;
  renew(id: string): Promise<void>;
  releaseLog(id: string): Promise<void>;
  end(id: string): Promise<void>;
}

/** Asks a server. */
export function serverClient(address: ServerAddress): BackupServer {
  const call = async (name: string, id?: string): Promise<unknown> => {
    const statement = `ADMIN ${name}(${id === undefined ? "" : `'${id.replaceAll("'", "''")}'`})`;
    return await runStatement(address, statement);
  };
  return {
    begin: async () => begunOf(await call("backup_begin")),
    renew: async (id) => void (await call("backup_renew", id)),
    releaseLog: async (id) => void (await call("backup_log_copied", id)),
    end: async (id) => void (await call("backup_end", id)),
  };
}

/** The one value that a statement answers with. @throws Error */
async function runStatement({ url, user, password }: ServerAddress, statement: string): Promise<unknown> {
  const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
  if (user !== undefined) headers["authorization"] = `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}`;
  const body = new URLSearchParams({ sql: statement }).toString();
  let response: Response;
  try {
    response = await fetch(`${url.replace(/\/+$/, "")}/v1/sql`, { method: "POST", headers, body });
  } catch (error) {
    throw new Error(`cannot reach the server at ${url}: ${errorText(error)}; is it running? --server says where it is`, { cause: error });
  }
  const text = await response.text();
  const answer = parsed(text);
  const [output] = answer?.output ?? [];
  const value = output?.records?.rows?.[0]?.[0];
  if (response.ok && value !== undefined) return value;
  const why = answer?.error ?? text.slice(0, 200);
  throw new Error(`the server at ${url} refuses: ${why === "" ? `status ${response.status}` : why}`);
}

interface SqlAnswer {
  readonly error?: string;
  readonly output?: readonly { readonly records?: { readonly rows?: readonly (readonly unknown[])[] } }[];
}

function parsed(text: string): SqlAnswer | undefined {
  try {
    return JSON.parse(text) as SqlAnswer;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // Its text is shown.
    throw error;
  }
}

function begunOf(value: unknown): BackupBegun {
  if (typeof value === "string") return JSON.parse(value) as BackupBegun; // What a server of this version says.
  throw new Error("the server does not know backups: it is of another version");
}
