/** What every `NewCluster` keeps: over NATS, and in memory. */
import { expect, test } from "bun:test";
import type { ClusterPort } from "../../src/cluster/port/cluster-port.ts";
import type { FirstNumbers, NewCluster } from "../../src/cluster/port/new-cluster.ts";
import { portFailureOf } from "../../src/cluster/port/port-error.ts";
import { errorOf } from "../support/failure-of.ts";

/** Shards of the clusters. */
export const NEW_CLUSTER_SHARDS = 2;

const FIRST: FirstNumbers = {
  logs: [
    { first: 1001, last: 1003 },
    { first: 1, last: 0 },
  ],
  catalog: 7,
};
const TEXTS = ["a", "", "b"] as const;

/** How one is had: all that a world gives are on the same servers, on which nothing is. */
export interface NewClusterWorld {
  readonly open: () => Promise<NewCluster>;
  /** As parts have it that are started afterwards. */
  readonly connect: () => Promise<ClusterPort>;
}

/** Adds the tests. @param millisMax of one */
export function newClusterContract(name: string, world: () => NewClusterWorld, millisMax = 5000): void {
  test(
    `${name}: streams begin where they are to, take each message once, and are gone on with`,
    async () => {
      const { open, connect } = world();
      const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
      const refused = async (work: Promise<unknown>): Promise<string> => {
        const error = await errorOf(work);
        expect(portFailureOf(error)).toBe("denied");
        return error.message;
      };
      const cluster = await open();
      await cluster.check(FIRST);
      await cluster.make(FIRST);
      for (const [i, text] of TEXTS.entries()) await cluster.putRecord(0, 1001 + i, bytes(text));
      await cluster.close();

      const again = await open();
      await again.check(FIRST);
      await again.make(FIRST);
      for (const [i, text] of TEXTS.entries()) await again.putRecord(0, 1001 + i, bytes(text));
      expect(await refused(again.putRecord(0, 1002, bytes("a")))).toContain("another is there");
      expect(await refused(again.putRecord(0, 1005, bytes("a")))).toContain("the one before is missing");
      const [log, empty] = FIRST.logs;
      if (log === undefined || empty === undefined) throw new Error("there are two");
      const shorter = { ...FIRST, logs: [{ ...log, last: 1002 }, empty] };
      expect(await refused(again.check(shorter))).toContain("cannot restore into stream LOG0: it is there already, and has message 1003");
      const later = { ...FIRST, logs: [{ first: 2001, last: 2000 }, empty] };
      expect(await refused(again.check(later))).toContain(
        "cannot restore into stream LOG0: it is there already, and begins with message 1001",
      );
      expect(await refused(again.check({ ...FIRST, catalog: 8 }))).toContain("cannot restore into stream CATALOG: it is there already");
      expect(await again.ordered.append("catalog", bytes("x"), 0)).toBe("refused");
      expect(await again.ordered.append("catalog", bytes("x"), 6)).toBe(7);
      expect(await refused(again.check(FIRST))).toContain("there is a cluster here already");
      expect(await refused(again.make(FIRST))).toContain("there is a cluster here already");
      await again.close();

      const port = await connect();
      expect([await port.log.last(0), await port.log.last(1)]).toEqual([1003, 0]);
      for await (const messages of port.log.follow(0, 1000)) {
        expect(messages[0]?.number).toBe(1001);
        break;
      }
      expect(await port.log.append(0, bytes("c"))).toBe(1004);
      expect(await port.log.append(1, bytes("d"))).toBe(1);
      await port.close();
    },
    millisMax,
  );
}
