/** What a frontend's internal listener lets in, answers and refuses. */
import { afterEach, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { certificateAuthority } from "../../../test/support/certificate-authority.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { fixedClock, systemClock } from "../../base/clock.ts";
import { MetricRegistry } from "../../base/metrics.ts";
import { KnownStatements } from "../../db/known-statements.ts";
import { RunningStatements } from "../../db/running-statements.ts";
import type { InternalListenerOptions } from "../serve/internal-listener.ts";
import { HttpTransport, type NodeCredentials } from "../wire/http-transport.ts";
import { AskedFrontends } from "./asked-frontends.ts";
import { startFrontendListener } from "./frontend-listener.ts";
import { ASK_BYTES_MAX } from "./limits.ts";

const NEVER = new AbortController().signal;
const SECRET = "s3cret-0123456789";

let opened: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of opened.reverse()) await close();
  opened = [];
});

interface Listening {
  readonly port: number;
  readonly running: RunningStatements;
  readonly registry: MetricRegistry;
  readonly logged: ReturnType<typeof recordingLogger>;
}

function listen(options: Partial<InternalListenerOptions> = {}): Listening {
  const running = new RunningStatements(fixedClock(5_000_000n), "b");
  const statements = new KnownStatements(running, undefined, () => undefined);
  const registry = new MetricRegistry();
  const logged = recordingLogger();
  const listener = startFrontendListener(
    { hostname: "127.0.0.1", port: 0, ...options },
    { self: "b", statements, metrics: registry, clock: systemClock, logger: logged.logger },
  );
  opened.push(() => listener.stop(0));
  return { port: listener.port, running, registry, logged };
}

/** A frontend that asks the one behind an address, under the name that it knows it by. */
function asking(address: string, credentials: NodeCredentials, id = "b"): AskedFrontends {
  const transport = new HttpTransport(credentials);
  opened.push(() => transport.close());
  const other = { id, address, httpAddress: address, identity: id, startedAtMillis: 1, version: "1" };
  return new AskedFrontends({ self: "a", directory: { frontends: () => [other] }, transport, logger: recordingLogger().logger });
}

async function gapsOf(address: string, credentials: NodeCredentials, id?: string): Promise<readonly string[]> {
  return (await asking(address, credentials, id).list(undefined, NEVER)).gaps;
}

test("statements are listed and ended, whoever's they may be by the account that is named", async () => {
  const { port, running } = listen({ secret: SECRET });
  const of = (name: string): { database: string; user: { name: string } } => ({ database: "public", user: { name } });
  running.begin("SELECT 1", of("alice"), NEVER);
  const second = running.begin("SELECT 2", of("bob"), NEVER);
  const other = asking(`127.0.0.1:${port}`, { secret: SECRET });
  const ids = async (account?: string): Promise<readonly string[]> => (await other.list(account, NEVER)).statements.map(({ id }) => id);
  expect([await ids(), await ids("bob"), await ids("eve")]).toEqual([["b/1", "b/2"], ["b/2"], []]);
  expect([await other.kill("b", "b/2", "alice", NEVER), second.signal.aborted]).toEqual(["denied", false]);
  expect([await other.kill("b", "b/2", "bob", NEVER), second.signal.aborted]).toEqual(["killed", true]);
  expect([await other.kill("b", "b/1", undefined, NEVER), await other.kill("b", "b/9", undefined, NEVER)]).toEqual(["killed", "none"]);
});

test("who does not know the secret is refused, counted and said a few times a minute; the secret is in no line", async () => {
  const { port, registry, logged } = listen({ secret: SECRET });
  expect(await gapsOf(`127.0.0.1:${port}`, {})).toHaveLength(1);
  for (const path of ["list", "kill", "nothing"]) {
    for (const authorization of ["Bearer wrong", "", SECRET, "Bearer"]) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/statements/${path}`, {
        method: "POST",
        body: "{}",
        headers: { authorization },
      });
      expect(answer.status).toBe(401);
    }
  }
  expect(await gapsOf(`127.0.0.1:${port}`, { secret: SECRET })).toEqual([]);
  expect(logged.entries.filter(({ level }) => level === "warn").length).toBe(6);
  expect(JSON.stringify(logged.entries)).not.toContain(SECRET);
  expect(await registry.registry.metrics()).toContain('varve_frontend_requests_refused_total{reason="wrong secret"} 3');
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
});

test("with certificates, only those of the authority are let in", async () => {
  const authority = await certificateAuthority();
  const { ca } = authority;
  const { port } = listen({ tls: { ...(await authority.signed("b", 2)), ca } });
  const stranger = await (await certificateAuthority()).signed("stranger", 2);
  expect(await gapsOf(`127.0.0.1:${port}`, { tls: { ca, ...(await authority.signed("a", 2)) } })).toEqual([]);
  for (const credentials of [{ tls: { ca } }, { tls: { ca, ...stranger } }, { secret: SECRET }]) {
    expect(await gapsOf(`127.0.0.1:${port}`, credentials)).toHaveLength(1);
  }
});

test("with TLS that asks for no certificate, the secret says who is let in", async () => {
  const authority = await certificateAuthority();
  const { ca } = authority;
  const { port } = listen({ secret: SECRET, tls: await authority.signed("b", 2) });
  expect(await gapsOf(`127.0.0.1:${port}`, { secret: SECRET, tls: { ca } })).toEqual([]);
  const { ca: other } = await certificateAuthority();
  for (const credentials of [{ tls: { ca } }, { secret: SECRET, tls: { ca: other } }, { secret: SECRET }]) {
    expect(await gapsOf(`127.0.0.1:${port}`, credentials)).toHaveLength(1);
  }
});

test("without secret and certificates only this machine is let in", async () => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === "IPv4" && !each.internal)?.address;
  const { port, logged } = listen({ hostname: "0.0.0.0" });
  expect(await gapsOf(`127.0.0.1:${port}`, {})).toEqual([]);
  expect(logged.entries.some(({ level }) => level === "warn")).toBe(true);
  if (outside !== undefined) expect((await fetch(`http://${outside}:${port}/v1/statements/list`, { method: "POST" })).status).toBe(403);
});

test("a request for another frontend is not answered", async () => {
  const { port, running } = listen();
  const begun = running.begin("SELECT 1", { database: "public", user: { name: "alice" } }, NEVER);
  expect(await gapsOf(`127.0.0.1:${port}`, {}, "c")).toEqual(["statements of c are not listed: no answer"]);
  const body = JSON.stringify({ v: 1, to: "c", id: "b/1" });
  const answer = await fetch(`http://127.0.0.1:${port}/v1/statements/kill`, { method: "POST", body });
  expect([answer.status, await answer.text(), begun.signal.aborted]).toEqual([421, "this is frontend b", false]);
});

test("what is no request is refused, and what is too long is not read", async () => {
  const { port, running } = listen();
  const begun = running.begin("SELECT 1", { database: "public", user: { name: "alice" } }, NEVER);
  const ask = async (path: string, body: string | ReadableStream, method = "POST"): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/v1/statements/${path}`, { method, body })).status;
  for (const body of [
    "",
    "?",
    "[]",
    "null",
    "{}",
    '{"v":2,"to":"b"}',
    '{"v":1,"to":["b"]}',
    '{"v":1,"to":"b","of":0}',
    "\0",
    "{".repeat(1000),
  ]) {
    expect([await ask("list", body), await ask("kill", body)]).toEqual([400, 400]);
  }
  for (const id of [1, null, ["b/1"], { id: "b/1" }]) expect(await ask("kill", JSON.stringify({ v: 1, to: "b", id }))).toBe(400);
  for (const id of ["", "b", "b/", "b/1 ", "b/01", "B/1", "b/1\0", "__proto__", "x".repeat(50_000)]) {
    const body = JSON.stringify({ v: 1, to: "b", id });
    const answer = await fetch(`http://127.0.0.1:${port}/v1/statements/kill`, { method: "POST", body });
    expect(await answer.json()).toEqual({ v: 1, outcome: "none" });
  }
  expect(await ask("kill", JSON.stringify({ v: 1, to: "b", id: "x".repeat(ASK_BYTES_MAX) }))).toBe(413);
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024)) });
  expect([411, 413]).toContain(await ask("list", endless));
  expect((await fetch(`http://127.0.0.1:${port}/v1/statements/list`)).status).toBe(405);
  expect((await fetch(`http://127.0.0.1:${port}/v1/shard/call`, { method: "POST", body: "" })).status).toBe(404);
  expect(begun.signal.aborted).toBe(false);
});
