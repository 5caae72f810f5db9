import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { RequestRoom } from "./request-room.ts";

test("never more than it may be are under way, all have their turn in order, and what fails gives its room back", async () => {
  for (const seed of [1, 2, 3]) {
    const random = seededRandom(seed);
    const room = new RequestRoom(3, 100);
    let [count, bytes] = [0, 0];
    const begun: number[] = [];
    const runs = Array.from({ length: 200 }, (_, i) => {
      const wanted = random.below(140); // Some are more than all may be: they run alone.
      const millis = random.below(3);
      return room.run(wanted, async () => {
        begun.push(i);
        count++;
        bytes += Math.min(100, wanted);
        expect([count <= 3, bytes <= 100]).toEqual([true, true]);
        if (millis > 0) await Bun.sleep(millis);
        count--;
        bytes -= Math.min(100, wanted);
        if (i % 7 === 0) throw new Error("fails");
      });
    });
    const ended = await Promise.allSettled(runs);
    expect(ended.filter(({ status }) => status === "rejected").length).toBe(29);
    expect(begun).toEqual(Array.from({ length: 200 }, (_, i) => i));
  }
});
