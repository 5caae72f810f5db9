import { expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { memoryMetaStore } from "../../storage/meta-store/memory-meta-store.ts";
import { Fenced, type MetaChange, type MetaStore } from "../../storage/meta-store/meta-store.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { Commits } from "./commits.ts";

/** A store that answers when it is told to. */
function heldStore(): { readonly meta: MetaStore; readonly answer: (error?: Error) => Promise<void>; readonly sent: readonly string[] } {
  const inner = memoryMetaStore();
  const sent: string[] = [];
  let waiting: (() => PromiseWithResolvers<void>) | undefined;
  const meta: MetaStore = {
    ...inner,
    commit(changes) {
      const gate = Promise.withResolvers<void>();
      sent.push(changes.map(({ key }) => key).join());
      waiting = () => {
        inner.commit(changes);
        return gate;
      };
      return gate.promise;
    },
  };
  const answer = async (error?: Error): Promise<void> => {
    const gate = waiting?.();
    waiting = undefined;
    if (error === undefined) gate?.resolve();
    else gate?.reject(error);
    await Bun.sleep(0);
  };
  return { meta, answer, sent };
}

const put = (key: string): readonly MetaChange[] => [{ key, value: 1 }];
const neverFenced = (): never => {
  throw new Error("nobody else has it");
};

test("at once where the store answers at once", () => {
  const meta = memoryMetaStore();
  const commits = new Commits(meta, neverFenced);
  expect(
    commits.make(
      () => put("a"),
      () => meta.get("a"),
    ),
  ).toBe(1);
  expect(commits.make(() => undefined, neverFenced)).toBeUndefined();
});

test("what goes with each commit goes with those that are made, and with what undoes one", () => {
  const meta = memoryMetaStore();
  const commits = new Commits(meta, neverFenced);
  let also = 1;
  commits.withEach(() => (meta.get("also") === also ? [] : [{ key: "also", value: also }]));
  void commits.make(() => undefined, neverFenced);
  expect(meta.get("also")).toBeUndefined();
  void commits.make(
    () => put("a"),
    () => undefined,
  );
  expect(meta.get("also")).toBe(1);
  also = 2;
  void commits.make(
    () => put("b"),
    () => undefined,
  );
  expect([meta.get("a"), meta.get("b"), meta.get("also")]).toEqual([1, 1, 2]);
});

test("each is planned at its turn, and memory is brought up before the next", async () => {
  const { meta, answer, sent } = heldStore();
  const commits = new Commits(meta, neverFenced);
  const seen: string[] = [];
  const made = ["a", "b", "c"].map(async (key) =>
    commits.make(
      () => {
        seen.push(`plan ${key}`);
        return key === "b" && meta.get("a") === 1 ? undefined : put(key);
      },
      () => {
        seen.push(`taken ${key}`);
        return key;
      },
    ),
  );
  expect([sent, seen]).toEqual([["a"], ["plan a"]]);
  await answer();
  expect([sent, seen]).toEqual([
    ["a", "c"],
    ["plan a", "taken a", "plan b", "plan c"],
  ]);
  await answer();
  expect(await Promise.all(made)).toEqual(["a", undefined, "c"]);
});

test("one that fails is undone before the next, whether it took effect or not", async () => {
  const { meta, answer, sent } = heldStore();
  const commits = new Commits(meta, neverFenced);
  const first = commits.make(() => put("a"), neverFenced);
  const second = commits.make(
    () => put("b"),
    () => "b",
  );
  await answer(new DbError(StatusCode.StorageUnavailable, "no answer"));
  expect((await failureOf(Promise.resolve(first))).message).toBe("no answer");
  expect([sent, meta.get("a"), commits.isUncertain]).toEqual([["a", "a"], 1, false]);
  await answer();
  await answer();
  expect([await second, meta.get("a"), sent]).toEqual(["b", undefined, ["a", "a", "b"]]);
});

test("once the store is another's nothing is planned any more, and who has to know is told once", async () => {
  const { meta, answer, sent } = heldStore();
  const told: string[] = [];
  const commits = new Commits(meta, ({ message }) => told.push(message));
  const made = ["a", "b"].map((key) => Promise.resolve(commits.make(() => put(key), neverFenced)));
  await answer(new Fenced("node-2 has it"));
  for (const outcome of await Promise.allSettled(made)) expect(outcome).toMatchObject({ status: "rejected", reason: commits.fenced });
  expect(() => commits.make(neverFenced, neverFenced)).toThrow("node-2 has it");
  expect([sent, told]).toEqual([["a"], ["node-2 has it"]]);
});
