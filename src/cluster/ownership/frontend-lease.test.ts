/** Leases of frontends: what they say, who is told of it, and that one process at a time has a name. */
import { afterEach, expect, test } from "bun:test";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { VirtualTime } from "../../../test/support/cluster/virtual-time.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import type { Leases } from "../port/leases.ts";
import { LEASE_VALUE_BYTES_MAX } from "../port/limits.ts";
import { PortError } from "../port/port-error.ts";
import { FollowedDirectory } from "./followed-directory.ts";
import { type FrontendFacts, FrontendMember } from "./frontend-member.ts";
import { decodeFrontendValue, encodeFrontendValue, type FrontendValue } from "./frontend-value.ts";
import { FRONTENDS_MAX } from "./limits.ts";
import { statusOf } from "./status.ts";
import { ValueError } from "./value-fields.ts";

const VALUE: FrontendValue = {
  address: "10.0.0.9:3001",
  httpAddress: "10.0.0.9:4000",
  identity: "p",
  startedAtMillis: 1_700_000_000_000,
  version: "1.0.0",
};

function valueText(fields: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ ...(JSON.parse(encodeFrontendValue(VALUE)) as object), ...fields });
}

test("a frontend's value is what FORMAT.md says, within the bounds of a lease; fields that are not known are passed over", () => {
  expect(encodeFrontendValue(VALUE)).toBe(
    '{"v":1,"address":"10.0.0.9:3001","http":"10.0.0.9:4000","identity":"p","started":1700000000000,"version":"1.0.0"}',
  );
  expect(decodeFrontendValue(valueText({ zone: "eu-1" }))).toEqual(VALUE);
  const text = encodeFrontendValue({ ...VALUE, identity: "\u0001".repeat(1000), version: "\u0001".repeat(1000) });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LEASE_VALUE_BYTES_MAX);
  expect(decodeFrontendValue(text).version.length).toBe(64);
});

test.each([
  ["", "it is no JSON"],
  ["[]", "it is no object"],
  [valueText({ v: 2 }), "its version is 2, and 1 is known"],
  [valueText({ address: "http://a" }), "its address is no host and port"],
  [valueText({ http: undefined }), "its HTTP address is no host and port"],
  [valueText({ http: `${"x".repeat(254)}:1` }), "its HTTP address is no host and port"],
  [valueText({ identity: "x".repeat(129) }), "its identity is no short text"],
  [valueText({ started: 1.5 }), "its start is no time"],
  [valueText({ version: "x".repeat(65) }), "its version is no short text"],
])("a frontend's value %s is refused", (text, reason) => {
  expect(() => decodeFrontendValue(text)).toThrow(new ValueError(reason));
});

const times: VirtualTime[] = [];

afterEach(() => {
  for (const time of times.splice(0)) time.end();
});

interface Made {
  readonly cluster: MemoryCluster;
  readonly time: VirtualTime;
  readonly logged: ReturnType<typeof recordingLogger>;
  readonly directory: FollowedDirectory;
}

function made(): Made {
  const time = new VirtualTime();
  times.push(time);
  const cluster = new MemoryCluster({ time });
  const logged = recordingLogger();
  const directory = FollowedDirectory.follow({ leases: memoryPort(cluster, "x").leases, timers: time, logger: logged.logger });
  return { cluster, time, logged, directory };
}

test("the directory knows frontends by id in order, and none whose value it cannot read, which it names once", async () => {
  const { cluster, time, logged, directory } = made();
  const { leases } = memoryPort(cluster, "p");
  await leases.take("frontend.b", valueText());
  await leases.take("frontend.a", valueText({ address: "a:1" }));
  await leases.take("frontend.newer", valueText({ v: 2 }));
  await leases.take("frontend.liar", valueText({ identity: "another" }));
  const { ownershipVersion } = directory;
  await time.sleep(100);
  expect(directory.frontends()).toEqual([
    { ...VALUE, id: "a", address: "a:1" },
    { ...VALUE, id: "b" },
  ]);
  expect([directory.frontend("b")?.address, directory.frontend("newer"), directory.nodes()]).toEqual([VALUE.address, undefined, []]);
  expect(statusOf(directory, 1).frontends.map(({ id, httpAddress }) => [id, httpAddress])).toEqual([
    ["a", VALUE.httpAddress],
    ["b", VALUE.httpAddress],
  ]);
  const reasons = logged.entries.map(({ fields }) => `${String(fields["lease"])}: ${String(fields["reason"])}`);
  expect(new Set(reasons)).toEqual(
    new Set(["frontend.liar: its identity is not its holder's", "frontend.newer: its version is 2, and 1 is known"]),
  );
  expect(reasons.length).toBe(2);
  expect(directory.ownershipVersion).toBe(ownershipVersion);
  await time.sleep(6000);
  expect(directory.frontends()).toEqual([]);
});

test("a lease of no shard, as a version without frontends sees theirs at NATS, is passed over and not named", async () => {
  const { cluster, time, logged, directory } = made();
  await memoryPort(cluster, "p").leases.take("lease.frontend-a", valueText());
  await time.sleep(100);
  expect([directory.frontends(), directory.nodes(), directory.claimOf(0), logged.entries]).toEqual([[], [], undefined, []]);
});

test("above the most frontends that there may be, one more is passed over, and named", async () => {
  const { cluster, time, logged, directory } = made();
  const { leases } = memoryPort(cluster, "p");
  const take = async (id: number): Promise<unknown> => await leases.take(`frontend.f-${id}`, valueText());
  await Promise.all(Array.from({ length: FRONTENDS_MAX }, (_, id) => take(id)));
  await take(FRONTENDS_MAX);
  await time.sleep(100);
  expect(directory.frontends().length).toBe(FRONTENDS_MAX);
  expect(logged.entries.map(({ fields }) => fields["reason"])).toEqual([`there are ${FRONTENDS_MAX} frontends already`]);
});

const FACTS: FrontendFacts = { id: "f", address: "f:3001", httpAddress: "f:4000", version: "1.0.0", startedAtMillis: 1_700_000_000_000 };

async function join(
  { cluster, time, logged, directory }: Made,
  identity: string,
  ousted: string[] = [],
  facts = FACTS,
): Promise<FrontendMember> {
  const { leases } = memoryPort(cluster, identity);
  const parts = { leases, timers: time, logger: logged.logger, identity, directory };
  return await FrontendMember.join(facts, parts, ({ message }) => void ousted.push(message));
}

test("a frontend lives until it leaves; a second process with its id is refused by name meanwhile", async () => {
  const all = made();
  const first = await join(all, "p");
  await all.time.sleep(10_000);
  expect(all.directory.frontend("f")).toEqual({ ...FACTS, identity: "p" });
  const [refused] = await Promise.allSettled([join(all, "q")]);
  expect(String(refused?.status === "rejected" && refused.reason)).toMatch(
    /cannot join the cluster as frontend f: the process at f:3001, started 2023-11-14T[^ ]* UTC, has this id; each frontend needs one /,
  );
  await first.leave();
  await all.time.sleep(100);
  expect(all.directory.frontends()).toEqual([]);
  expect((await join(all, "q")) instanceof FrontendMember).toBe(true);
});

test("a process that stood still, and whose id another has since, is told so", async () => {
  const all = made();
  const ousted: string[] = [];
  await join(all, "p", ousted);
  all.cluster.stop("p", 15_000);
  await all.time.sleep(10_000);
  await join(all, "q");
  await all.time.sleep(10_000);
  expect(ousted.length).toBe(1);
  expect(ousted[0]).toContain("cannot stay in the cluster as frontend f: the process at f:3001, started");
});

/** Leases that a user of NATS without the right to publish them has, until `allow`. */
function denied(leases: Leases, taken: { tries: number; isAllowed: boolean }): Leases {
  const check = (): void => {
    taken.tries++;
    if (!taken.isAllowed) throw new PortError("denied", "cannot hold frontend.f: the account of NATS has no permission to publish it");
  };
  return {
    ttlMillis: leases.ttlMillis,
    take: async (...given) => (check(), await leases.take(...given)),
    renew: async (...given) => (check(), await leases.renew(...given)),
    release: (...given) => leases.release(...given),
    watch: (...given) => leases.watch(...given),
  };
}

async function joinDenied(
  all: Made,
  taken: { tries: number; isAllowed: boolean },
  ousted: string[] = [],
  identity = "p",
): Promise<FrontendMember> {
  const { cluster, time, logged, directory } = all;
  const leases = denied(memoryPort(cluster, identity).leases, taken);
  const parts = { leases, timers: time, logger: logged.logger, identity, directory };
  return await FrontendMember.join(FACTS, parts, ({ message }) => void ousted.push(message));
}

const errorsOf = ({ logged }: Made): readonly string[] =>
  logged.entries.filter(({ level }) => level === "error").map(({ message }) => message);

test("a frontend that NATS denies its lease serves, says once what to permit, and joins when it may", async () => {
  const all = made();
  const taken = { tries: 0, isAllowed: false };
  const member = await joinDenied(all, taken);
  await all.time.sleep(120_000);
  expect([all.directory.frontends(), errorsOf(all).length]).toEqual([[], 1]);
  expect(errorsOf(all)[0]).toContain("let its user of NATS publish lease.*");
  // After 1, 2, 4, 8, 16, 30, 30, 30 s.
  expect(taken.tries).toBe(8);
  taken.isAllowed = true;
  await all.time.sleep(31_000);
  expect(all.directory.frontend("f")).toEqual({ ...FACTS, identity: "p" });
  // As one that was permitted from the start: it goes on, and leaves.
  await all.time.sleep(20_000);
  expect(all.directory.frontend("f")).toBeDefined();
  await member.leave();
  await all.time.sleep(100);
  expect(all.directory.frontends()).toEqual([]);
});

test("one that was denied ends when another process has its id meanwhile, and asks no more once it leaves", async () => {
  const all = made();
  const ousted: string[] = [];
  const taken = { tries: 0, isAllowed: false };
  await joinDenied(all, taken, ousted);
  await join(all, "q");
  taken.isAllowed = true;
  await all.time.sleep(20_000);
  expect(ousted).toEqual([expect.stringContaining("cannot join the cluster as frontend f: the process at f:3001, started")]);
  const other = { tries: 0, isAllowed: false };
  const elsewhere = made();
  const leaving = await joinDenied(elsewhere, other);
  await leaving.leave();
  await elsewhere.time.sleep(100_000);
  expect(other.tries).toBe(1);
});

test("a lease that NATS denies later is told once and tried again ever later; then it is taken again", async () => {
  const all = made();
  const taken = { tries: 0, isAllowed: true };
  await joinDenied(all, taken);
  await all.time.sleep(10_000);
  taken.isAllowed = false;
  taken.tries = 0;
  await all.time.sleep(120_000);
  expect([all.directory.frontends(), errorsOf(all)]).toEqual([[], ["a lease cannot be renewed; tried again until it can"]]);
  expect(taken.tries).toBeLessThan(12);
  taken.isAllowed = true;
  await all.time.sleep(31_000);
  expect(all.directory.frontend("f")).toBeDefined();
});

test("what is no id and no address is refused", async () => {
  const all = made();
  for (const [more, why] of [
    [{ id: "a/b" }, 'cannot name a frontend "a/b"'],
    [{ address: "f" }, 'cannot join the cluster at "f"'],
    [{ httpAddress: "" }, 'cannot join the cluster at ""'],
  ] as const) {
    const [refused] = await Promise.allSettled([join(all, "p", [], { ...FACTS, ...more })]);
    expect(String(refused?.status === "rejected" && refused.reason)).toContain(why);
  }
});
