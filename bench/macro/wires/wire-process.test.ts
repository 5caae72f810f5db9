import { expect, test } from "bun:test";
import { runClient } from "./wire-process.ts";

test("a client whose server does not answer ends in time, and says what it was to do", async () => {
  const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const server = { wire: "postgres", port: silent.port, user: "root", database: "public" } as const;
  const plan = { kind: "points", table: "t", rows: 1, clients: 2, seconds: 0.1, isPrepared: false } as const;
  const why = await runClient(server, plan, 1).then(() => "it ended", String);
  expect(why).toContain(`cannot points over postgres, port ${silent.port}: no end within 1.1 s`);
  silent.stop(true);
});
