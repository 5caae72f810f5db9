import { expect, test } from "bun:test";
import { ANSWER_BYTES, UNTAKEN_BYTES_MAX } from "./limits.ts";
import { Outgoing } from "./outgoing.ts";

test("waits for a client that takes nothing, and goes on when it does", async () => {
  const dones: (() => void)[] = [];
  let sent = 0;
  const outgoing = new Outgoing({
    write(bytes, done) {
      sent += bytes.length;
      dones.push(done);
    },
  });
  const block = new Uint8Array(ANSWER_BYTES);
  let rounds = 0;
  const work = (async (): Promise<void> => {
    for (; rounds < 40; rounds++) {
      outgoing.raw(block);
      await outgoing.flush();
    }
  })();
  await Bun.sleep(1);
  expect(sent).toBe(UNTAKEN_BYTES_MAX);
  expect(outgoing.isBlocked).toBeTrue();
  for (let i = 0; i < 1000 && rounds < 40; i++) {
    dones.shift()?.();
    await Promise.resolve();
  }
  await work;
  expect(sent).toBe(40 * ANSWER_BYTES);
});

test("a connection that is gone holds nobody up", async () => {
  const outgoing = new Outgoing({ write: () => undefined });
  outgoing.raw(new Uint8Array(UNTAKEN_BYTES_MAX));
  const flushed = outgoing.flush();
  outgoing.close();
  await flushed;
});

test("writes numbers and texts", () => {
  const sent: number[] = [];
  const outgoing = new Outgoing({ write: (bytes, done) => [sent.push(...bytes), done()] });
  outgoing.u8(1);
  outgoing.u16be(0x0203);
  outgoing.i32be(-2);
  outgoing.text("ä");
  outgoing.textZero("a\0b");
  outgoing.raw(Uint8Array.of(9));
  outgoing.send();
  expect(sent).toEqual([1, 2, 3, 255, 255, 255, 254, 0xc3, 0xa4, 97, 98, 0, 9]);
});

test("a row longer than a buffer has room", () => {
  let length = 0;
  const outgoing = new Outgoing({ write: (bytes, done) => [(length = bytes.length), done()] });
  outgoing.u8(1);
  outgoing.text("x".repeat(ANSWER_BYTES * 3));
  outgoing.send();
  expect(length).toBe(ANSWER_BYTES * 3 + 1);
});
