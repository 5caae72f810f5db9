/**
 * Backups in an S3 bucket, by the runtime's client. Endpoint, region and credentials are those of the usual variables: AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION or AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. None is printed.
 *
 * An object is uploaded in parts and is there once the last part is: an upload that is cut short leaves none.
 */
import { errorText } from "../../base/error.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import type { BackupTarget, TargetObject } from "./target.ts";

/** Bytes of a part of an upload; S3 takes 10,000 parts of an object, so 160 GiB. */
const PART_BYTES: number = 16 * 1024 * 1024;
/** Times that a part is tried. */
const TRIES = 3;

type Env = Readonly<Record<string, string | undefined>>;

/** @param text `s3://bucket/prefix` @throws ConfigError (exit 2) */
export function s3Target(text: string, env: Env): BackupTarget {
  const { hostname: bucket, pathname } = new URL(text);
  if (bucket === "") throw new ConfigError("cannot use an S3 target without a bucket: want s3://bucket/prefix", EXIT_USAGE);
  const prefix = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, "");
  const client = new Bun.S3Client({ bucket, ...connectionOf(env) });
  const keyOf = (name: string): string => (prefix === "" ? name : `${prefix}/${name}`);
  const named = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw new Error(`cannot ${what} in s3://${bucket}: ${reasonOf(error)}`, { cause: error });
    }
  };
  return {
    text: `s3://${bucket}/${prefix}`,
    list: () => named(`list ${prefix}`, () => listAll(client, prefix === "" ? "" : `${prefix}/`)),
    async *read(name) {
      const reader = client.file(keyOf(name)).stream().getReader();
      for (;;) {
        const { done, value } = await named(`read ${keyOf(name)}`, () => reader.read());
        if (done) return;
        yield value;
      }
    },
    write: (name, pieces) =>
      named(`write ${keyOf(name)}`, async () => {
        const writer = client.file(keyOf(name)).writer({ partSize: PART_BYTES, queueSize: 2, retry: TRIES });
        for await (const piece of pieces) {
          await writer.write(piece.slice()); // It keeps what it is given until a part is full.
        }
        await writer.end();
      }),
    delete: (name) => named(`delete ${keyOf(name)}`, () => client.delete(keyOf(name))),
  };
}

async function listAll(client: Bun.S3Client, prefix: string): Promise<readonly TargetObject[]> {
  const found: TargetObject[] = [];
  let token: string | undefined;
  do {
    const page = await client.list({ prefix, ...(token === undefined ? {} : { continuationToken: token }) });
    for (const { key, size } of page.contents ?? []) found.push({ name: key.slice(prefix.length), byteLength: Number(size ?? 0) });
    token = page.isTruncated === true ? page.nextContinuationToken : undefined;
  } while (token !== undefined);
  return found;
}

function connectionOf(env: Env): Bun.S3Options {
  const accessKeyId = env["AWS_ACCESS_KEY_ID"];
  const secretAccessKey = env["AWS_SECRET_ACCESS_KEY"];
  if (!accessKeyId || !secretAccessKey) {
    throw new ConfigError("an S3 target needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment", EXIT_USAGE);
  }
  const sessionToken = env["AWS_SESSION_TOKEN"];
  const region = env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"];
  const endpoint = env["AWS_ENDPOINT_URL_S3"] ?? env["AWS_ENDPOINT_URL"];
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken ? { sessionToken } : {}),
    ...(region ? { region } : {}),
    ...(endpoint ? { endpoint } : {}),
  };
}

/** The store's code with its text, as both may stand alone. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const text = errorText(error);
  return code === "" || text.includes(code) ? text : `${text} (${code})`;
}
