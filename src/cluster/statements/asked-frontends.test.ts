/** What other frontends are asked, and what becomes of those that do not answer as they should. */
import { expect, test } from "bun:test";
import { failureOf } from "../../../test/support/failure-of.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { RunningStatement } from "../../query/system-facts.ts";
import type { KnownFrontend } from "../ownership/directory.ts";
import { type NodeRequest, NotAnswered } from "../wire/node-transport.ts";
import { AskedFrontends } from "./asked-frontends.ts";
import { ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX } from "./limits.ts";
import { encodeKillAnswer, encodeListAnswer } from "./messages.ts";

const NEVER = new AbortController().signal;
const ANSWER_MILLIS = 50;

function frontend(id: string): KnownFrontend {
  return { id, address: `${id}:1`, httpAddress: `${id}:2`, identity: id, startedAtMillis: 1, version: "1" };
}

function statement(id: string): RunningStatement {
  return { id, frontend: id.split("/")[0] ?? "", database: "public", query: "SELECT 1", client: "", startMillis: 1 };
}

/** How one of them answers; "silent": not at all. */
type Answer = Uint8Array | Error | "silent";

interface Made {
  readonly asked: AskedFrontends;
  readonly answers: Map<string, Answer>;
  readonly requests: string[];
  readonly logged: ReturnType<typeof recordingLogger>;
}

function made(...ids: string[]): Made {
  const answers = new Map<string, Answer>();
  const requests: string[] = [];
  const logged = recordingLogger();
  const transport = {
    async *ask({ address, path, body }: NodeRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
      requests.push(`${address}${path} ${new TextDecoder().decode(body)}`);
      const answer = answers.get(address.split(":")[0] ?? "") ?? "silent";
      if (answer instanceof Error) throw answer;
      if (answer === "silent") {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        throw new DbError(StatusCode.Cancelled, "cancelled");
      }
      for (let at = 0; at < answer.length; at += 65_536) yield answer.subarray(at, at + 65_536);
    },
  };
  const directory = { frontends: () => ["a", ...ids].map(frontend) };
  return {
    asked: new AskedFrontends({ self: "a", directory, transport, logger: logged.logger, answerMillis: ANSWER_MILLIS }),
    answers,
    requests,
    logged,
  };
}

test("all others are asked, and told whose statements they are to list", async () => {
  const { asked, answers, requests } = made("b", "c");
  answers.set("b", encodeListAnswer([statement("b/1"), statement("b/2")]));
  answers.set("c", encodeListAnswer([statement("c/1")]));
  expect(asked.names()).toEqual(["b", "c"]);
  expect(await asked.list("me", NEVER)).toEqual({ statements: ["b/1", "b/2", "c/1"].map(statement), gaps: [] });
  expect(requests).toEqual(["b", "c"].map((id) => `${id}:1/v1/statements/list {"v":1,"to":"${id}","of":"me","bytes":${ANSWER_BYTES_MAX}}`));
});

test("those that are silent, refuse, or say what cannot be read are left out, and named once until they have answered", async () => {
  const { asked, answers, logged } = made("b", "c", "d", "e", "f");
  answers.set("c", new NotAnswered("node c:1 refuses: 421 this is frontend x", false));
  answers.set("d", new TextEncoder().encode("<html>"));
  answers.set("e", new Uint8Array(ANSWER_BYTES_MAX + 1));
  answers.set("f", encodeListAnswer([statement("f/1")]));
  const list = { statements: [statement("f/1")], gaps: ["statements of b, c, d, e are not listed: no answer"] };
  expect(await asked.list(undefined, NEVER)).toEqual(list);
  expect(await asked.list(undefined, NEVER)).toEqual(list);
  const reasons = new Map(logged.entries.map(({ fields }) => [fields["frontend"], String(fields["reason"])]));
  expect(logged.entries.length).toBe(4);
  expect(reasons.get("b")).toContain("it said nothing for 0.05 s");
  expect(reasons.get("c")).toContain("421 this is frontend x");
  expect(reasons.get("d")).toContain("its answer cannot be read: it is no JSON");
  expect(reasons.get("e")).toContain("the answer is too long");
  answers.set("c", encodeListAnswer([]));
  await asked.list(undefined, NEVER);
  answers.set("c", "silent");
  await asked.list(undefined, NEVER);
  expect(logged.entries.filter(({ fields }) => fields["frontend"] === "c").length).toBe(2);
});

test("each of many is told its share of what all answers may take, and left out where it sends more", async () => {
  const ids = Array.from({ length: 32 }, (_, id) => `f${id}`);
  const { asked, answers, requests } = made(...ids);
  const share = ANSWERS_BYTES_MAX / ids.length;
  for (const id of ids) answers.set(id, new TextEncoder().encode(`{"v":1,"statements":[],"more":1}`.padEnd(id < "f2" ? share : share + 1)));
  const { gaps } = await asked.list(undefined, NEVER);
  expect(requests[0]).toContain(`"bytes":${share}`);
  expect(gaps).toEqual([
    "statements of f2, f3, f4, f5, f6, f7, f8, f9 and 12 more are not listed: no answer",
    "12 statements are not listed: there are too many",
  ]);
});

test("a statement is ended where it runs; one that does not answer may have ended it", async () => {
  const { asked, answers, requests } = made("b");
  for (const outcome of ["killed", "none", "denied"] as const) {
    answers.set("b", encodeKillAnswer(outcome));
    expect(await asked.kill("b", "b/7", "me", NEVER)).toBe(outcome);
  }
  expect(requests[0]).toBe('b:1/v1/statements/kill {"v":1,"to":"b","of":"me","id":"b/7"}');
  const outcome = async (answer: Answer): Promise<string> => {
    answers.set("b", answer);
    const error = await failureOf(asked.kill("b", "b/7", undefined, NEVER));
    expect(error.code).toBe(StatusCode.StorageUnavailable);
    return error.message;
  };
  expect(await outcome("silent")).toBe(
    "cannot kill statement b/7: frontend b does not answer (it said nothing for 0.05 s); the statement may have ended all the same",
  );
  expect(await outcome(new TextEncoder().encode("{}"))).toContain("its answer cannot be read: its version is undefined");
  expect((await failureOf(asked.kill("z", "z/7", undefined, NEVER))).message).toContain("frontend z does not answer (it is gone)");
});

test("who is cancelled waits for nobody", async () => {
  const { asked, logged } = made("b");
  const controller = new AbortController();
  const listing = failureOf(asked.list(undefined, controller.signal));
  const killing = failureOf(asked.kill("b", "b/1", undefined, controller.signal));
  controller.abort(new DbError(StatusCode.Cancelled, "Query has been cancelled"));
  expect([(await listing).code, (await killing).code]).toEqual([StatusCode.Cancelled, StatusCode.Cancelled]);
  expect(logged.entries).toEqual([]);
});
