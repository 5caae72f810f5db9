import { expect, test } from "bun:test";
import { systemClock } from "../clock.ts";
import { profileCpu } from "./cpu-profiler.ts";
import type { Profile } from "./profile.ts";
import { textReport } from "./text-report.ts";
import { ofAllThreads, ProfiledThreads } from "./thread-profiles.ts";

/** A thread that works by halves in a function of this name, and answers profiles. */
function busyThread(name: string): Worker {
  const code = `
    import { answerProfile } from ${JSON.stringify(new URL("./thread-profiles.ts", import.meta.url).href)};
    import { systemClock } from ${JSON.stringify(new URL("../clock.ts", import.meta.url).href)};
    self.onmessage = ({ data }) => void answerProfile(data, systemClock);
    function ${name}() { const end = Date.now() + 20; let x = 1; while (Date.now() < end) x = Math.sqrt(x + 1); return x; }
    setInterval(${name}, 25);
  `;
  return new Worker(URL.createObjectURL(new Blob([code], { type: "application/typescript" })));
}

function functionsUnder(profile: Profile, thread: string): readonly string[] {
  const root = profile.frames.findIndex(({ name }) => name === `thread ${thread}`);
  const own = profile.stacks.filter(({ frames }) => frames.at(-1) === root);
  return [...new Set(own.flatMap(({ frames }) => frames.map((at) => profile.frames[at]?.name ?? "")))];
}

test("threads are profiled at once, each under a frame of its own; one that ends is asked no more", async () => {
  const threads = new ProfiledThreads();
  const workers = [busyThread("oneThing"), busyThread("another")] as const;
  threads.add("a", workers[0]);
  threads.add("b", workers[1]);
  const ask = { seconds: 1, frequency: 1000, signal: new AbortController().signal };
  const [main, others] = await Promise.all([profileCpu(ask, systemClock), threads.profiles(ask)]);
  const profile = ofAllThreads(main, others);
  expect(functionsUnder(profile, "a")).toContain("oneThing");
  expect(functionsUnder(profile, "b")).toContain("another");
  expect(functionsUnder(profile, "a")).not.toContain("another");
  expect(textReport(profile)).toContain("CPU of all threads but those of flushes, merges and long calls: cpu in nanoseconds");
  const closed = new Promise((resolve) => workers[0].addEventListener("close", resolve));
  workers[0].terminate();
  await closed;
  const ended = new AbortController();
  const rest = threads.profiles({ seconds: 60, frequency: 100, signal: ended.signal });
  await Bun.sleep(100);
  ended.abort(); // Who asked left: none waits a minute.
  expect((await rest).map(({ thread }) => thread)).toEqual(["b"]);
  workers[1].terminate();
});

test("a thread without a profile is named in the title", () => {
  const empty = { types: [], shown: 0, frames: [], stacks: [], startNanos: 0n, durationNanos: 0, period: undefined, title: "x" };
  const { title } = ofAllThreads(empty, [{ thread: "query-1", profile: { failed: "it does not answer" } }]);
  expect(title).toEndWith("; without query-1 (it does not answer)");
});
