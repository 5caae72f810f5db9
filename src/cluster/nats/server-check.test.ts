/** Servers and streams that are not as they must be are refused by name; nothing that is told holds a secret. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "bun:test";
import { certificate } from "../../../test/support/certificate.ts";
import { NATS_SERVER, NatsServers } from "../../../test/support/cluster/nats-server.ts";
import { bytesOf, failureName, textsUntil } from "../../../test/support/cluster/port-reads.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { systemClock } from "../../base/clock.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import { MESSAGE_BYTES_MAX } from "../port/limits.ts";
import { openNatsPort } from "./nats-port.ts";
import type { NatsCredentials, NatsOptions } from "./nats-options.ts";
import { checkVersion } from "./server-check.ts";

test.each([
  ["2.14.0", true],
  ["2.14.0-RC.1", true],
  ["2.15.2", true],
  ["3.0.0", true],
  ["2.13.9", false],
  ["2.9.10", false],
  ["1.99.0", false],
  ["", false],
])("version %s is new enough: %p", (version, isFine) => {
  const check = (): void => checkVersion("n1", version);
  if (isFine) expect(check).not.toThrow();
  else expect(check).toThrow(`cannot use NATS server n1: its version is ${version}, and must be 2.14 or newer`);
});

async function withServers(config: Parameters<typeof NatsServers.start>[0], body: (servers: NatsServers) => Promise<void>): Promise<void> {
  const servers = await NatsServers.start(config);
  try {
    await body(servers);
  } finally {
    await servers.dispose();
  }
}

/** The message that opening ends with. */
async function refusal(servers: NatsServers, more: Partial<NatsOptions>): Promise<string> {
  return (await failureOf(servers.connect(more))).message;
}

/** Opens a port once servers have elected, and noticed who is away. */
async function soon(open: () => Promise<ClusterPort>): Promise<ClusterPort> {
  for (let tries = 0; ; tries++) {
    try {
      return await open();
    } catch (error) {
      if (tries > 60) throw error;
      await Bun.sleep(250);
    }
  }
}

describe.skipIf(NATS_SERVER === undefined)("servers", () => {
  test("one that syncs now and then is refused, by either way to ask it; so is one that nobody can ask", async () => {
    await withServers({ syncInterval: '"2m"' }, async (servers) => {
      const why = "cannot use NATS server n1: its sync_interval is 120 s, so what it acknowledged may get lost; set `jetstream { sync_i";
      expect(await refusal(servers, {})).toStartWith(why);
      expect(await refusal(servers, { checks: { system: undefined, monitors: servers.monitors } })).toStartWith(why);
      expect(await refusal(servers, { checks: { system: undefined, monitors: [] } })).toStartWith(
        "cannot use NATS server n1: nobody says whether it syncs each message; give the account of its system account, or the address",
      );
    });
  });

  test("one that syncs always is taken, by either way", async () => {
    await withServers({}, async (servers) => {
      const port = await servers.connect({ checks: { system: undefined, monitors: servers.monitors } });
      expect(await port.log.append(0, bytesOf("x"))).toBe(1);
      await port.close();
    });
  });

  test("a server that is away keeps nobody from starting", async () => {
    await withServers({ servers: 3 }, async (servers) => {
      const monitored = { checks: { system: undefined, monitors: servers.monitors } };
      await (await soon(() => servers.connect({ replicas: 3 }))).close();
      await servers.kill(2);
      for (const more of [{}, monitored]) {
        const port = await soon(() => servers.connect({ replicas: 3, ...more }));
        expect(await port.log.append(0, bytesOf("x"))).toBeGreaterThan(0);
        await port.close();
      }
    });
  }, 60_000);

  test("streams with other settings are refused, with the setting and what to do", async () => {
    await withServers({}, async (servers) => {
      const port = await servers.connect();
      await port.close();
      const message = await refusal(servers, { replicas: 3 });
      expect(message).toBe(
        "cannot use stream LOG0: its num_replicas is 1, and must be 3; " +
          "`nats stream edit LOG0 --replicas 3`, or configure the number that it has",
      );
    });
  });

  test("a small max_payload bounds messages, or is refused", async () => {
    await withServers({ maxPayload: "300KB" }, async (servers) => {
      const port = await servers.connect();
      expect(port.messageBytesMax).toBe(300 * 1024 - 512);
      expect(await failureName(port.log.append(0, new Uint8Array(port.messageBytesMax + 1)))).toBe("too-large");
      expect(await port.log.append(0, new Uint8Array(port.messageBytesMax))).toBe(1);
    });
    await withServers({ maxPayload: "100KB" }, async (servers) => {
      expect(await refusal(servers, {})).toBe("cannot use NATS: its max_payload is 102400 bytes, and must be 262144 or more");
    });
  });

  test("a large max_payload is used up to what followers have room for", async () => {
    await withServers({ maxPayload: "8MB" }, async (servers) => {
      const port = await servers.connect();
      expect(port.messageBytesMax).toBe(MESSAGE_BYTES_MAX);
      for (let i = 0; i < 5; i++) await port.log.append(0, new Uint8Array(port.messageBytesMax));
      expect(await textsUntil(port.log.follow(0, 0), 5)).toHaveLength(5);
    });
  });

  test("a wrong password, token or file of credentials is refused, and is in no text", async () => {
    await withServers({}, async (servers) => {
      const wrong: readonly NatsCredentials[] = [
        { kind: "password", user: "varve", password: "SECRET-1" },
        { kind: "token", token: "SECRET-2" },
        { kind: "creds", content: "-----BEGIN NATS USER JWT-----\nSECRET-3\n------END NATS USER JWT------\n" },
        { kind: "none" },
      ];
      for (const credentials of wrong) {
        const { logger, entries } = recordingLogger();
        const error = await failureOf(openNatsPort(servers.options({ credentials }), { logger, clock: systemClock }));
        const told = Bun.inspect(error, { depth: 10 }) + Bun.inspect(entries, { depth: 10 });
        expect(error.message).toStartWith("cannot connect client-");
        expect(told).not.toMatch(/SECRET-/);
      }
      const address = await failureOf(servers.connect({ servers: ["nats://varve:SECRET-4@127.0.0.1:1"] }));
      expect(Bun.inspect(address)).not.toMatch(/SECRET-/);
    });
  });

  test("nobody at the address is said with the address", async () => {
    await withServers({}, async (servers) => {
      expect(await refusal(servers, { servers: ["nats://127.0.0.1:1"] })).toMatch(
        /^cannot connect client-1 to NATS at nats:\/\/127\.0\.0\.1:1: /,
      );
    });
  });

  test("TLS: who trusts the server and shows a certificate gets in, nobody else", async () => {
    const { certPath, keyPath } = await certificate("nats");
    const tls = `tls { cert_file: "${certPath}", key_file: "${keyPath}", ca_file: "${certPath}", verify: true }`;
    await withServers({ more: tls }, async (servers) => {
      const pem = { ca: readFileSync(certPath, "utf8"), cert: readFileSync(certPath, "utf8"), key: readFileSync(keyPath, "utf8") };
      const port = await servers.connect({ tls: pem });
      expect(await port.log.append(0, bytesOf("x"))).toBe(1);
      await port.close();
      expect(await refusal(servers, { tls: { ...pem, cert: undefined, key: undefined } })).toStartWith("cannot connect");
      expect(await refusal(servers, { tls: { ...pem, ca: undefined } })).toStartWith("cannot connect");
      expect(await refusal(servers, { tls: undefined })).toStartWith("cannot connect");
    });
  });

  test("an account that may not append is told so, by the subject", async () => {
    await withServers({ permissions: 'publish: { deny: ["manifest.*"] }' }, async (servers) => {
      const port = await servers.connect();
      expect(await failureName(port.ordered.append("manifest.0", bytesOf("x"), 0))).toBe("denied");
      expect(await port.ordered.append("catalog", bytesOf("x"), 0)).toBe(1);
    });
  });
});
