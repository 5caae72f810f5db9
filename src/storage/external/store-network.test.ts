import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { s3Files } from "./s3-files.ts";
import { type NetworkTimes, StoreNetwork } from "./store-network.ts";

const KEYS = { access_key_id: "key", secret_access_key: "hush" };
const QUICK: NetworkTimes = { answerMillis: 50, requestMillis: 100, retryMillis: 1 };
/** Where an answer comes: on a machine that others keep busy it takes its time. */
const PATIENT: NetworkTimes = { answerMillis: 10_000, requestMillis: 10_000, retryMillis: 1 };
let reached = 0;
const inside = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) => {
    reached++;
    const { pathname, port } = new URL(url);
    if (pathname === "/b/away") return new Response(null, { status: 307, headers: { location: `http://127.0.0.1:${port}/b/secret` } });
    if (pathname === "/b/never") return new Promise<Response>(() => undefined);
    if (pathname === "/b/odd") return new Response("<Code>look at\nthis</Code>", { status: 403 });
    return new Response("1234567", { headers: { "x-host": "" } });
  },
});
const silent = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data: () => undefined } });
afterAll(async () => {
  await inside.stop(true);
  silent.stop(true);
});

async function failure(promise: Promise<unknown>): Promise<DbError> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof DbError) return thrown;
  throw new Error(`no DbError: ${String(thrown)}`);
}

/** What reading an object says, at an endpoint that the list allows. */
function read(endpoint: string, addresses: readonly string[] | undefined, key = "x", times: NetworkTimes = QUICK): Promise<DbError> {
  const lookup = async (): Promise<readonly string[]> => {
    if (addresses === undefined) throw Object.assign(new Error("queryA ENOTFOUND"), { code: "ENOTFOUND" });
    return addresses;
  };
  const files = s3Files(new StoreNetwork([endpoint], lookup, times));
  return failure(files.open(`s3://b/${key}`, { ...KEYS, endpoint }));
}

test("a name of the list that leads into the machine, or somewhere there, is not followed", async () => {
  const before = reached;
  const port = inside.port ?? 0;
  for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "::1", "0.0.0.0", "169.254.169.254"]) {
    expect((await read(`http://store.example:${port}`, [address])).message).toBe("cannot read 's3://b/x': the store cannot be reached");
    expect((await read(`http://store.example:${port}`, ["192.0.2.1", address])).message).toContain("the store cannot be reached");
  }
  expect(reached).toBe(before);
});

test("the connection is made to the address that was checked, whatever the name says a moment later", async () => {
  let asked = 0;
  const lookup = async (): Promise<readonly string[]> => (++asked === 1 ? ["127.0.0.1"] : ["169.254.169.254"]);
  const files = s3Files(new StoreNetwork([`http://localhost:${inside.port}`], lookup, PATIENT));
  const open = await files.open("s3://b/x", { ...KEYS, endpoint: `http://localhost:${inside.port}` });
  expect([open.byteLength, asked]).toEqual([7, 1]);
});

test("redirects are not followed", async () => {
  const before = reached;
  const { code, message } = await read(`http://127.0.0.1:${inside.port}`, undefined, "away", PATIENT);
  expect([code, message]).toEqual([
    StatusCode.InvalidArguments,
    "cannot read 's3://b/away': the store answered 307, and redirects are not followed; name its own endpoint",
  ]);
  expect(reached).toBe(before + 1);
});

test("whatever the reason, what does not answer says the same", async () => {
  const folder = await mkdtemp(join(tmpdir(), "varve-tls-"));
  try {
    const made = Bun.spawnSync(
      ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "k", "-out", "c", "-subj", "/CN=other"],
      {
        cwd: folder,
        stderr: "ignore",
      },
    );
    expect(made.exitCode).toBe(0);
    const tls = { cert: await Bun.file(join(folder, "c")).text(), key: await Bun.file(join(folder, "k")).text() };
    const secure = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch: () => new Response("hello") });
    const closed = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data: () => undefined } });
    const { port: refusedPort } = closed;
    closed.stop(true);
    const texts = await Promise.all([
      read("http://none.example", undefined), // no such name
      read(`http://127.0.0.1:${refusedPort}`, undefined), // nobody listens
      read(`http://127.0.0.1:${silent.port}`, undefined), // no answer
      read(`http://127.0.0.1:${inside.port}`, undefined, "never"), // no answer in time
      read(`https://127.0.0.1:${secure.port}`, undefined), // a certificate of somebody else
      read(`https://127.0.0.1:${inside.port}`, undefined), // no TLS
      read(`http://store.example:${inside.port}`, ["127.0.0.1"]), // an address that is not allowed
    ]);
    expect(new Set(texts.map(({ code, message }) => `${code} ${message}`.replace("/never'", "/x'")))).toEqual(
      new Set([`${StatusCode.StorageUnavailable} cannot read 's3://b/x': the store cannot be reached`]),
    );
    await secure.stop(true);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("nothing that a store says is repeated but a code that is a word", async () => {
  expect((await read(`http://127.0.0.1:${inside.port}`, undefined, "odd", PATIENT)).message).toBe(
    "cannot read 's3://b/odd': the store answered 403",
  );
});

test("a statement that is killed ends what it waits for", async () => {
  const endpoint = `http://127.0.0.1:${inside.port}`;
  const killed = new AbortController();
  const files = s3Files(new StoreNetwork([endpoint])).until(killed.signal);
  const before = reached;
  const waiting = failure(files.open("s3://b/never", { ...KEYS, endpoint }));
  while (reached === before) await Bun.sleep(1);
  killed.abort(new DbError(StatusCode.Cancelled, "Query has been cancelled: statement 1 was killed"));
  expect((await waiting).message).toBe("Query has been cancelled: statement 1 was killed");
});

test("a larger answer than asked for is not kept", async () => {
  const endless = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ method }) =>
      method === "HEAD"
        ? new Response(null, { headers: { "content-length": "10" } })
        : new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(1024 * 1024)) }), { status: 206 }),
  });
  try {
    const endpoint = `http://127.0.0.1:${endless.port}`;
    const files = s3Files(new StoreNetwork([endpoint]));
    const open = await files.open("s3://b/x", { ...KEYS, endpoint });
    expect((await failure(open.read(0, 10))).message).toContain("the store cannot be reached");
  } finally {
    await endless.stop(true);
  }
});
