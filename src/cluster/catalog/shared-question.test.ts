/** Many who ask at once: each gets an answer to a question that was asked after it came. */
import { expect, test } from "bun:test";
import { errorOf } from "../../../test/support/failure-of.ts";
import { SharedQuestion } from "./shared-question.ts";

/** A question that is answered by hand, with how often it was asked. */
function byHand(): { readonly question: SharedQuestion<number>; readonly answer: (fails?: boolean) => void; asked: number } {
  let settle: ((fails: boolean) => void) | undefined;
  const hand = {
    asked: 0,
    question: new SharedQuestion<number>(() => {
      const nth = ++hand.asked;
      return new Promise((resolve, reject) => {
        settle = (fails) => (fails ? reject(new Error(`no answer to ${nth}`)) : resolve(nth));
      });
    }),
    answer: (fails = false) => settle?.(fails),
  };
  return hand;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("those who come while one is under way share the next", async () => {
  const hand = byHand();
  const first = hand.question.answer();
  const others = [hand.question.answer(), hand.question.answer()];
  expect(hand.asked).toBe(1);
  hand.answer();
  expect(await first).toBe(1);
  const late = hand.question.answer();
  await turn();
  expect(hand.asked).toBe(2);
  hand.answer();
  expect(await Promise.all(others)).toEqual([2, 2]);
  await turn();
  hand.answer();
  expect([2, 3]).toContain(await late);
});

test("one that fails is asked anew for those who wait", async () => {
  const hand = byHand();
  const first = errorOf(hand.question.answer());
  const next = hand.question.answer();
  hand.answer(true);
  expect((await first).message).toBe("no answer to 1");
  await turn();
  hand.answer();
  expect(await next).toBe(2);
  const alone = hand.question.answer();
  hand.answer();
  expect([await alone, hand.asked]).toEqual([3, 3]);
});
