/**
 * A real S3 store for measurements and tests: versitygw over a folder, as a process of its own.
 *
 *   <directory>/objects/<bucket>/…   objects are files, uploads in parts are in .sgwtmp
 *   <directory>/sidecar/…            their headers
 */
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

/** Where a store is and how requests to it are signed. */
export interface S3Place {
  readonly endpoint: string;
  readonly bucket: string;
  readonly keys: { readonly id: string; readonly secret: string };
}

/** A store with an empty bucket. */
export interface S3Gateway {
  readonly place: S3Place;
  readonly server: ServerProcess;
}

/** The bucket that there is. */
export const S3_BUCKET = "bucket";
/** The keys that it takes. */
export const S3_KEYS: S3Place["keys"] = { id: "key", secret: "hush-hush-hush" };

/** The program of versitygw where one is installed. */
export function findGateway(): string | undefined {
  return Bun.which("versitygw", { PATH: `${process.env["PATH"] ?? ""}:${join(homedir(), "go/bin")}` }) ?? undefined;
}

/** Starts one over a folder, which is made where it is missing. @throws Error when it does not take connections */
export async function startGateway(program: string, directory: string, port: number = freePort()): Promise<S3Gateway> {
  const objects = join(directory, "objects");
  const sidecar = join(directory, "sidecar");
  for (const folder of [join(objects, S3_BUCKET), sidecar]) await mkdir(folder, { recursive: true });
  const server = await startServer({
    name: "versitygw",
    command: [program, "--port", `127.0.0.1:${port}`, "posix", "--sidecar", sidecar, objects],
    env: { ROOT_ACCESS_KEY: S3_KEYS.id, ROOT_SECRET_KEY: S3_KEYS.secret },
    readyUrl: `tcp://127.0.0.1:${port}`,
    logPath: join(directory, "versitygw.log"),
  });
  return { place: { endpoint: `http://127.0.0.1:${port}`, bucket: S3_BUCKET, keys: S3_KEYS }, server };
}

/** Settings of a server whose data files lie there, below `root`: keys and TOML text. */
export function s3Settings({ endpoint, bucket, keys }: S3Place, root: string): Readonly<Record<string, string>> {
  const texts = { type: "S3", bucket, root, endpoint, access_key_id: keys.id, secret_access_key: keys.secret };
  return Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, JSON.stringify(value)]));
}
