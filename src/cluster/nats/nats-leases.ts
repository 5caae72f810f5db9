/**
 * `Leases` over JetStream: the last message of a subject of stream `LEASE` says who holds it, and goes after its `Nats-TTL`; the server
 * puts a marker in its place. Every renewal carries the TTL: a message without it would stay for ever.
 *
 * | last message of the subject | the lease is |
 * |-----------------------------|--------------|
 * | none, a marker, `released`  | free         |
 * | `{"holder", "value"}`       | held         |
 */
import type { Lease, LeaseChanges, LeaseName, Leases } from "../port/leases.ts";
import { LEASE_VALUE_BYTES_MAX } from "../port/limits.ts";
import type { CallOptions } from "../port/message.ts";
import { PortError } from "../port/port-error.ts";
import type { Appends } from "./appends.ts";
import { type HeldMessage, heldBy, leaseMessage, MARKER_HEADER, RELEASED } from "./lease-message.ts";
import { isLeaseName, leaseSubject } from "./lease-subject.ts";
import type { NatsLink } from "./nats-link.ts";
import { storedMessage } from "./stored-message.ts";
import { watchLeases } from "./watch-leases.ts";

/** How long a released lease's message stays, in seconds: the least that there is. */
const RELEASED_SECONDS = 1;
/** Times that an answer that got lost is made up for. */
const ADOPT_ROUNDS = 4;

/** The last message of a lease's subject. */
interface Last {
  /** 0: there is none. */
  readonly number: number;
  readonly held: HeldMessage | undefined;
}

/** See the file header. */
export class NatsLeases implements Leases {
  readonly ttlMillis: number;
  private readonly link: NatsLink;
  private readonly appends: Appends;
  private readonly identity: string;

  constructor(link: NatsLink, appends: Appends, identity: string, leaseSeconds: number) {
    this.link = link;
    this.appends = appends;
    this.identity = identity;
    this.ttlMillis = leaseSeconds * 1000;
  }

  async take(name: LeaseName, value: string, { signal }: CallOptions = {}): Promise<Lease | "held"> {
    if (!isLeaseName(name))
      throw new PortError("denied", "cannot hold a lease of this name: letters, digits, _ and - may follow the point");
    for (let round = 0; round < ADOPT_ROUNDS; round++) {
      const last = await this.lastOf(name, signal);
      if (last.held !== undefined && last.held.holder !== this.identity) return "held";
      const lease = await this.put(name, value, last.number, signal);
      if (lease !== "refused") return lease;
    }
    return "held";
  }

  async renew(lease: Lease, value: string, { signal }: CallOptions = {}): Promise<Lease | "lost"> {
    return (await this.change(lease, value, signal)) ?? "lost";
  }

  async release(lease: Lease, { signal }: CallOptions = {}): Promise<void> {
    await this.change(lease, RELEASED, signal);
  }

  watch({ signal }: CallOptions = {}): AsyncIterable<LeaseChanges> {
    return watchLeases(this.link, signal);
  }

  /** Appends behind a lease's message, or a later one of this port whose answer got lost. @returns undefined: it is not held any more */
  private async change(lease: Lease, value: string | typeof RELEASED, signal?: AbortSignal): Promise<Lease | undefined> {
    let { number } = lease;
    for (let round = 0; round < ADOPT_ROUNDS; round++) {
      const next = await this.put(lease.name, value, number, signal);
      if (next !== "refused") return next;
      const last = await this.lastOf(lease.name, signal);
      if (last.held?.holder !== this.identity || last.number <= lease.number) return undefined;
      number = last.number;
    }
    return undefined;
  }

  private async put(name: LeaseName, value: string | typeof RELEASED, last: number, signal?: AbortSignal): Promise<Lease | "refused"> {
    if (value !== RELEASED && Buffer.byteLength(value) > LEASE_VALUE_BYTES_MAX) {
      throw new PortError("too-large", `cannot hold ${name}: its value is above ${LEASE_VALUE_BYTES_MAX} bytes`);
    }
    const seconds = value === RELEASED ? RELEASED_SECONDS : this.ttlMillis / 1000;
    const headers = { "Nats-TTL": `${seconds}s`, "Nats-Expected-Last-Subject-Sequence": String(last) };
    const endsAtMillis = this.link.clock.monotonicMillis() + this.ttlMillis;
    const to = { what: `hold ${name}`, stream: "LEASE", subject: leaseSubject(name), headers, signal };
    const number = await this.appends.append(leaseMessage(this.identity, value), to);
    return number === "refused" ? "refused" : { name, number, endsAtMillis };
  }

  private async lastOf(name: LeaseName, signal?: AbortSignal): Promise<Last> {
    const message = await storedMessage(this.link, "LEASE", { last_by_subj: leaseSubject(name) }, signal);
    if (message === undefined) return { number: 0, held: undefined };
    const isMarker = message.headers.includes(`${MARKER_HEADER}:`);
    return { number: message.number, held: isMarker ? undefined : heldBy(message.bytes) };
  }
}
