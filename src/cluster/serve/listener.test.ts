import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { connect } from "node:tls";
import { type Authority, certificateAuthority, type SignedCertificate } from "../../../test/support/certificate-authority.ts";
import { EngineHost } from "../../../test/support/cluster/engine-host.ts";
import { answerOf, filledTable, fragmentOf, scanOf } from "../../../test/support/cluster/fragment-rows.ts";
import { ShardNode, type ShardNodeOptions } from "../../../test/support/cluster/shard-node.ts";
import type { EngineFixture } from "../../../test/support/engine-fixture.ts";
import { failureOf, thrownBy } from "../../../test/support/failure-of.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { systemClock } from "../../base/clock.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Table } from "../../table/catalog.ts";
import { HttpTransport, type NodeCredentials } from "../wire/http-transport.ts";
import { NodeShardClient } from "../wire/node-shard-client.ts";
import type { PartListener } from "./internal-listener.ts";
import type { ShardListenerOptions } from "./listener.ts";

const ROWS = 20;

let fixture: EngineFixture;
let table: Table;
let authority: Authority;
let other: Authority;
let server: SignedCertificate;
let opened: (() => Promise<void>)[] = [];

beforeAll(async () => {
  ({ fixture, table } = await filledTable(ROWS));
  authority = await certificateAuthority();
  other = await certificateAuthority();
  server = await authority.signed("server", 2);
});

afterEach(async () => {
  for (const close of opened.reverse()) await close();
  opened = [];
});

afterAll(() => fixture.machine.engine.close());

function listen(options: Partial<ShardListenerOptions> = {}, nodeOptions: ShardNodeOptions = {}): [PartListener, ShardNode] {
  const node = new ShardNode(nodeOptions);
  node.hosts.set(0, new EngineHost(0, fixture.machine.engine));
  const listener = node.listen(options);
  opened.push(() => listener.stop(0));
  return [listener, node];
}

function clientOf(address: string, credentials: NodeCredentials, ownerMillis = 300): NodeShardClient {
  const transport = new HttpTransport(credentials);
  opened.push(async () => transport.close());
  const owners = { ownerOf: () => ({ address }), nextChange: () => new Promise<void>(() => undefined) };
  return new NodeShardClient({ shards: 1, owners, transport, log: { last: async () => 0 }, clock: systemClock, ownerMillis });
}

async function rowsOver(address: string, credentials: NodeCredentials): Promise<number> {
  return (await answerOf(clientOf(address, credentials), fragmentOf(table, scanOf(table)))).rows.length;
}

async function refusalOf(address: string, credentials: NodeCredentials): Promise<string> {
  const error = await failureOf(rowsOver(address, credentials));
  expect(error.code).toBe(StatusCode.StorageUnavailable);
  return error.message;
}

test("with a secret, who knows it is let in; others are refused and said, a few a minute, and the secret is in no line", async () => {
  const { logger, entries } = recordingLogger();
  const [{ port }, node] = listen({ secret: "s3cret" }, { logger });
  const address = `127.0.0.1:${port}`;
  expect(await rowsOver(address, { secret: "s3cret" })).toBe(ROWS);
  expect(await refusalOf(address, {})).toContain("401 cluster.secret: no secret");
  expect(await refusalOf(address, { secret: "wrong" })).toContain("401 cluster.secret: wrong secret");
  for (let i = 0; i < 20; i++) await fetch(`http://${address}/v1/shard/fragment`, { method: "POST", body: "x" });
  const said = entries.filter(({ level }) => level === "warn");
  expect(said.length).toBe(6);
  expect(said[0]).toMatchObject({ message: "a request of a stranger was refused", fields: { peer: "127.0.0.1", refusal: "no secret" } });
  expect(JSON.stringify(entries)).not.toContain("s3cret");
  expect(JSON.stringify(entries)).not.toContain('wrong"');
  expect(await node.registry.registry.metrics()).toContain('varve_shard_requests_refused_total{reason="no secret"}');
});

test("who knows the secret may have the node drain, once it is a member", async () => {
  const [{ port }, node] = listen({ secret: "s3cret" });
  const ask = async (secret: string, method = "POST"): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/v1/node/drain`, { method, headers: { authorization: `Bearer ${secret}` } })).status;
  expect([await ask("wrong"), await ask("s3cret", "GET"), node.drains]).toEqual([401, 405, 0]);
  expect([await ask("s3cret"), node.drains]).toEqual([202, 1]);
  node.isMember = false;
  expect([await ask("s3cret"), node.drains]).toEqual([503, 1]);
});

test("a stranger's body is not read", async () => {
  const [{ port }] = listen({ secret: "s3cret" });
  let pulled = 0;
  const body = new ReadableStream({
    async pull(controller) {
      pulled++;
      await Bun.sleep(20);
      controller.enqueue(new Uint8Array(1024 * 1024));
    },
  });
  const answer = await fetch(`http://127.0.0.1:${port}/v1/shard/fragment`, { method: "POST", body });
  expect(answer.status).toBe(401);
  expect(pulled).toBeLessThan(5);
  await answer.body?.cancel();
});

test("with certificates, only one of the authority that is good now is let in", async () => {
  const [{ port }] = listen({ tls: { ...server, ca: authority.ca } });
  const address = `127.0.0.1:${port}`;
  const { ca } = authority;
  expect(await rowsOver(address, { tls: { ca, ...(await authority.signed("frontend", 2)) } })).toBe(ROWS);
  expect(await rowsOver(`localhost:${port}`, { tls: { ca, ...(await authority.signed("again", 2)) } })).toBe(ROWS);
  for (const [tls, why] of [
    [{ ca }, "CERTIFICATE_REQUIRED"],
    [{ ca, ...(await authority.signed("old", -1)) }, "socket hang up"],
    [{ ca, ...(await other.signed("stranger", 2)) }, "socket hang up"],
    // The node is a stranger to the frontend.
    [{ ca: other.ca, ...(await authority.signed("careful", 2)) }, "self signed certificate in certificate chain"],
  ] as const) {
    expect(await refusalOf(address, { tls })).toContain(why);
  }
  expect(await refusalOf(address, {})).toContain(`cannot ask node ${address}`);
});

/** Whom who listens is, by its certificate. */
function listenerAt(port: number, credentials: SignedCertificate): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const socket = connect({ host: "127.0.0.1", port, ca: authority.ca, servername: "localhost", ...credentials }, () => {
    resolve(socket.getPeerCertificate().subject.CN);
    socket.end();
  });
  socket.on("error", reject);
  return promise;
}

test("new connections have a new certificate on both sides; an answer under way ends as it began, with the old one", async () => {
  const [listener] = listen({ tls: { ...server, ca: authority.ca } });
  const { port } = listener;
  const address = `127.0.0.1:${port}`;
  const frontend = await authority.signed("rereading", 2);
  const credentials = { tls: { ca: authority.ca, ...frontend } };
  const client = clientOf(address, credentials);
  const answer = client.fragment(fragmentOf(table, scanOf(table)), new AbortController().signal);
  const begun = [await answer.next()];
  expect(await listenerAt(port, frontend)).toBe("server");

  listener.renew({ ...(await authority.signed("renewed", 2)), ca: authority.ca });
  expect(listener.port).toBe(port);
  expect(await listenerAt(port, frontend)).toBe("renewed");
  for await (const piece of answer) begun.push({ done: false, value: piece });
  expect(begun.at(-1)?.value).toMatchObject({ kind: "end" });
  expect(await rowsOver(address, credentials)).toBe(ROWS);

  // The other authority's are the ones that count from here on.
  const transport = new HttpTransport(credentials);
  opened.push(async () => transport.close());
  const owners = { ownerOf: () => ({ address }), nextChange: () => new Promise<void>(() => undefined) };
  const log = { last: async () => 0 };
  const renewing = new NodeShardClient({ shards: 1, owners, transport, log, clock: systemClock, ownerMillis: 300 });
  const rows = async (): Promise<number> => (await answerOf(renewing, fragmentOf(table, scanOf(table)))).rows.length;
  expect(await rows()).toBe(ROWS);
  listener.renew({ ...(await other.signed("server", 2)), ca: other.ca });
  expect((await failureOf(rows())).code).toBe(StatusCode.StorageUnavailable);
  transport.renew({ tls: { ca: other.ca, ...(await other.signed("frontend", 2)) } });
  expect(await rows()).toBe(ROWS);
});

test("a certificate that cannot be used leaves the last one; one who ends takes none any more", async () => {
  const [listener] = listen({ tls: { ...server, ca: authority.ca } });
  const frontend = await authority.signed("hopeful", 2);
  expect(thrownBy(() => listener.renew({ cert: "no", key: "no", ca: authority.ca })).code).toBe(StatusCode.InvalidArguments);
  expect(await listenerAt(listener.port, frontend)).toBe("server");
  await listener.stop(0);
  listener.renew({ ...server, ca: authority.ca });
  expect((await failureOf(rowsOver(`127.0.0.1:${listener.port}`, { tls: { ca: authority.ca, ...frontend } }))).code).toBe(
    StatusCode.StorageUnavailable,
  );
});

test("with both, both are asked for", async () => {
  const [{ port }] = listen({ secret: "s3cret", tls: { ...server, ca: authority.ca } });
  const address = `127.0.0.1:${port}`;
  const tls = { ca: authority.ca, ...(await authority.signed("both", 2)) };
  expect(await rowsOver(address, { tls, secret: "s3cret" })).toBe(ROWS);
  expect(await refusalOf(address, { tls })).toContain("401");
});

test("TLS alone, without certificates of frontends, asks for the secret", async () => {
  const [{ port }] = listen({ secret: "s3cret", tls: server });
  expect(await rowsOver(`127.0.0.1:${port}`, { tls: { ca: authority.ca }, secret: "s3cret" })).toBe(ROWS);
});

test("with neither, only this machine is let in", async () => {
  const [{ port }] = listen({ hostname: "0.0.0.0" });
  expect(await rowsOver(`127.0.0.1:${port}`, {})).toBe(ROWS);
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((each) => each !== undefined && !each.internal && each.family === "IPv4")?.address;
  if (outside === undefined) return; // A machine without a network: `access.test.ts` has the rule.
  expect(await refusalOf(`${outside}:${port}`, {})).toContain("403");
  expect((await fetch(`http://${outside}:${port}/metrics`)).status).toBe(403);
  expect((await fetch(`http://${outside}:${port}/health`)).status).toBe(200);
});

test.each([
  ["GET", "/v1/shard/fragment", 405],
  ["PUT", "/v1/shard/call", 405],
  ["POST", "/v1/shard/other", 404],
  ["POST", "/health", 405],
  ["GET", "/", 404],
])("%s %s is answered with %p", async (method, path, status) => {
  const [{ port }] = listen();
  expect((await fetch(`http://127.0.0.1:${port}${path}`, { method })).status).toBe(status as number);
});

test("metrics tell of what ran", async () => {
  const [{ port }] = listen();
  await rowsOver(`127.0.0.1:${port}`, {});
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(text).toContain('varve_shard_requests_total{kind="fragment",result="done"} 1');
  expect(text).toContain("varve_shard_requests_running 0");
});

test("bytes that are no request are answered with an error, and one of a newer version by its number", async () => {
  const [{ port }] = listen();
  const answerTo = async (body: Uint8Array<ArrayBuffer>): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/shard/fragment`, { method: "POST", body });
    return answer.text();
  };
  expect(await answerTo(Uint8Array.of(1, 2, 3))).toContain("it ends within its first bytes; it has 3");
  expect(await answerTo(Uint8Array.of(0x56, 0x51, 2, 0, 1, 2, 3))).toContain("it is of version 2, and this node reads versions 1 to 1");
  const chunked = new ReadableStream({
    start(controller) {
      controller.enqueue(Uint8Array.of(1));
      controller.close();
    },
  });
  expect((await fetch(`http://127.0.0.1:${port}/v1/shard/call`, { method: "POST", body: chunked })).status).toBe(411);
});

test("a body beyond the node's memory is refused before it is read", async () => {
  const [{ port }] = listen({}, { poolBytesMax: 1000 });
  const answer = await fetch(`http://127.0.0.1:${port}/v1/shard/call`, { method: "POST", body: new Uint8Array(1001) });
  expect(answer.status).toBe(429);
});

test("an address that is taken is an error of the world", () => {
  const [{ port }] = listen();
  expect(() => listen({ port })).toThrow(`cannot listen to the cluster on 127.0.0.1:${port}`);
});
