/**
 * Watches all leases: at first the last message of each, then what comes. After a lost connection it begins anew, and tells what differs:
 * what ended meanwhile may have left nothing behind.
 */
import type { LeaseChanges, LeaseState } from "../port/leases.ts";
import { PortError, portFailureOf } from "../port/port-error.ts";
import { heldBy, MARKER_HEADER } from "./lease-message.ts";
import { leaseNameOf } from "./lease-subject.ts";
import type { NatsLink } from "./nats-link.ts";
import { type PulledMessage, PulledMessages } from "./pulled-messages.ts";
import { streamInfo } from "./streams.ts";

const AGAIN_MILLIS = 300;
const ALL = { stream: "LEASE", deliver_policy: "last_per_subject", filter_subjects: ["lease.*", "node.*"] } as const;

/** See the file header. @throws PortError vanished, denied, closed */
export async function* watchLeases(link: NatsLink, signal?: AbortSignal): AsyncGenerator<LeaseChanges> {
  const isOver = (): boolean => signal?.aborted === true;
  let told: ReadonlyMap<string, LeaseState> | undefined;
  while (!isOver()) {
    try {
      for await (const leases of heldInSession(link, signal)) {
        const changed = differences(told ?? new Map(), leases);
        if (told !== undefined && changed.size === 0) continue;
        told = new Map(leases);
        yield { leases: told, changed };
      }
    } catch (error) {
      const failure = portFailureOf(error);
      if (failure === "cancelled" && isOver()) return;
      if (failure !== "unavailable") throw error;
    }
    if (link.closed.aborted) throw new PortError("closed", "cannot watch leases: the port was closed");
    await link.sleep(AGAIN_MILLIS, signal);
  }
}

/** All leases after each list of messages, as long as one consumer lasts. @throws PortError */
async function* heldInSession(link: NatsLink, signal: AbortSignal | undefined): AsyncGenerator<ReadonlyMap<string, LeaseState>> {
  const session = await PulledMessages.open(link, ALL, signal);
  try {
    const leases = new Map<string, LeaseState>();
    let left = session.pendingAtStart;
    if (left === 0) yield leases;
    for (;;) {
      const pulled = await session.next(signal);
      if (signal?.aborted === true || pulled === "ended") return;
      if (pulled === "idle") {
        await streamInfo(link, ALL.stream, signal); // Is it gone?
        continue;
      }
      for (const message of pulled) apply(leases, message);
      left -= pulled.length;
      if (left <= 0) yield leases;
    }
  } finally {
    session.close();
  }
}

function apply(leases: Map<string, LeaseState>, { subject, number, bytes, header }: PulledMessage): void {
  const held = header(MARKER_HEADER) === "" ? heldBy(bytes) : undefined;
  const name = leaseNameOf(subject);
  if (held === undefined) leases.delete(name);
  else leases.set(name, { ...held, number });
}

function differences(before: ReadonlyMap<string, LeaseState>, now: ReadonlyMap<string, LeaseState>): Set<string> {
  const changed = new Set<string>();
  for (const [name, state] of now) {
    const old = before.get(name);
    if (old?.holder !== state.holder || old.value !== state.value) changed.add(name);
  }
  for (const name of before.keys()) if (!now.has(name)) changed.add(name);
  return changed;
}
