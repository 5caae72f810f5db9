/** The statements and lines of trials, sent to a real server of one process. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { execute, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { checkBatches, checkKeys } from "./check.ts";
import { HttpDoor, TABLES } from "./door.ts";
import { BATCH_ROWS, type Request, WriterModel } from "./model.ts";
import { type FaultKind, runTrial, type Target } from "./trial.ts";

const MILLIS = 20_000;

let server: TestServer;
let door: HttpDoor;
beforeAll(async () => {
  server = await TestServer.start();
  for (const statement of TABLES) await execute(server.url, statement);
  door = new HttpDoor("one", server.url);
});
afterAll(() => server.end());

async function send(model: WriterModel, request: Request = model.next()): Promise<Request> {
  model.sending(request);
  expect(await door.write(model.name, request, MILLIS)).toEqual({ kind: "acknowledged" });
  model.acknowledged(request);
  return request;
}

test("what was sent is found, with copies of what was sent twice", async () => {
  const model = new WriterModel("found");
  const requests: Request[] = [];
  for (let i = 0; i < 12; i++) requests.push(await send(model));
  model.unclear(requests[3]!);
  await send(model, requests[3]);
  const batches = await door.batches("found", 2, MILLIS);
  expect(batches.map(({ number }) => number)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(batches[0]).toMatchObject({ rows: BATCH_ROWS, copiesMin: 1, copiesMax: 1 });
  expect(batches[1]).toMatchObject({ rows: BATCH_ROWS, copiesMin: 2, copiesMax: 2 });
  const keys = await door.keys("found", MILLIS);
  expect(keys.length).toBe(32);
  expect(checkBatches(model.floor(2), model, batches)).toEqual([]);
  // Twelve requests of four keys: sixteen of 32 had a second turn, but four of those were sent again with their first version.
  expect(keys.filter(({ version }) => version === 2).length).toBe(12);
});

test("rows that go, come twice or go back are found", async () => {
  const model = new WriterModel("broken");
  for (let i = 0; i < 10; i++) await send(model);
  const look = async (): Promise<readonly string[]> => [
    ...checkBatches(model.floor(0), model, await door.batches("broken", 0, MILLIS)),
    ...checkKeys(model.floor(0), model, await door.keys("broken", MILLIS)),
  ];
  expect(await look()).toEqual([]);
  const at = (id: number): string => String(1_700_000_000_000_000_000n + BigInt(id) * 1_000_000n);
  await writeLines(server.url, `trial_appended,writer=broken,host=h1 batch=0i,id=1i ${at(1)}`);
  await writeLines(server.url, `trial_latest,writer=broken,k=k2 number=2i,version=1i ${at(0)}`);
  await execute(server.url, `DELETE FROM trial_latest WHERE writer = 'broken' AND k = 'k3'`);
  expect(await look()).toEqual(
    expect.arrayContaining([
      "broken: batch 0 has a row 2 times that was sent 1 times",
      "broken: key 2 is older: it has version 1, after 2",
      "broken: key 3 is lost; it had version 2",
    ]),
  );
});

test("a server that nobody reaches, one that refuses, and one that is silent", async () => {
  const request = new WriterModel("away").next();
  expect(await new HttpDoor("nobody", "http://127.0.0.1:9").write("away", request, MILLIS)).toMatchObject({ kind: "unreached" });
  for (const [status, kind] of [
    [503, "unanswered"],
    [429, "unanswered"],
    [400, "refused"],
  ] as const) {
    using other = Bun.serve({ port: 0, fetch: () => new Response("no", { status }) });
    expect(await new HttpDoor("other", other.url.origin).write("away", request, MILLIS)).toEqual({ kind, why: `${status} no` });
  }
  const silent = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => undefined) });
  const quiet = new HttpDoor("silent", silent.url.origin);
  expect(await quiet.write("away", request, 50)).toMatchObject({ kind: "unanswered" });
  expect(
    await quiet.probe(50).then(
      () => "answered",
      () => "late",
    ),
  ).toBe("late");
  await silent.stop(true);
});

test("a trial of one process that dies and stands still keeps its promises", async () => {
  await using own = await TestServer.start();
  for (const statement of TABLES) await execute(own.url, statement);
  // Its address is another one after each start.
  const moving = { name: "one" } as const;
  const to = (): HttpDoor => new HttpDoor(moving.name, own.url);
  const its = {
    name: moving.name,
    write: (writer: string, request: Request, millis: number) => to().write(writer, request, millis),
    batches: (writer: string, from: number, millis: number) => to().batches(writer, from, millis),
    keys: (writer: string, millis: number) => to().keys(writer, millis),
    probe: (millis: number) => to().probe(millis),
  };
  const faults: readonly FaultKind[] = ["kill", "stop"];
  const target: Target = {
    name: "one",
    faults,
    door: its,
    kill: () => own.kill(),
    restart: async () => {
      await own.restart();
      return 0;
    },
    stop: () => own.running.signal("SIGSTOP"),
    goOn: () => own.running.signal("SIGCONT"),
    cut: () => undefined,
    heal: () => undefined,
    isRunning: () => true,
  };
  const { violations, rounds, figures } = await runTrial(
    { doors: [its], targets: [target] },
    {
      seed: 1,
      rounds: 2,
      writers: 2,
      readers: 1,
      faults,
      fullCheckEvery: 2,
      patience: { attempt: 5000, request: 15_000, pause: 5 },
      faultMs: 100,
      downMsMax: 50,
      progress: () => undefined,
    },
  );
  expect(violations).toEqual([]);
  expect(rounds.map(({ fault }) => fault).sort()).toEqual(["kill", "stop"]);
  expect(figures.clear).toBeGreaterThan(0);
}, 60_000);
