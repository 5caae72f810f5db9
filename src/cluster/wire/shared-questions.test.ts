import { expect, test } from "bun:test";
import { SharedQuestions } from "./shared-questions.ts";

test("those who come while a question is under way share the next one", async () => {
  const asked: PromiseWithResolvers<number>[] = [];
  const questions = new SharedQuestions<string, number>(() => {
    const question = Promise.withResolvers<number>();
    asked.push(question);
    return question.promise;
  });
  const first = questions.ask("a");
  const others = [questions.ask("a"), questions.ask("a"), questions.ask("a")];
  const elsewhere = questions.ask("b");
  expect(asked.length).toBe(2);
  asked[0]?.resolve(1);
  expect(await first).toBe(1);
  await Promise.resolve();
  expect(asked.length).toBe(3);
  // The next one is under way: who comes now needs one that begins later.
  const late = questions.ask("a");
  asked[2]?.resolve(2);
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  await Promise.resolve();
  expect(asked.length).toBe(4);
  asked[3]?.reject(new Error("lost"));
  expect(await late.catch((error: unknown) => String(error))).toBe("Error: lost");
  asked[1]?.resolve(9);
  expect(await elsewhere).toBe(9);
  const again = questions.ask("a");
  expect(asked.length).toBe(5);
  asked[4]?.resolve(5);
  expect(await again).toBe(5);
});

test("a failure is of those who asked, and the next ones ask again", async () => {
  let count = 0;
  const questions = new SharedQuestions<string, number>(() => (count++ === 0 ? Promise.reject(new Error("down")) : Promise.resolve(count)));
  const [first, second] = await Promise.allSettled([questions.ask("a"), questions.ask("a")]);
  expect(first.status).toBe("rejected");
  expect(second).toEqual({ status: "fulfilled", value: 2 });
});
