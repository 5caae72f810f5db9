/**
 * Timers of the runtime by the time of a cluster in memory, so that waits of the product take no time, and come in the same order whenever
 * the same seed is run. Rounds of the event loop (`setImmediate`) stay what they are: that time goes by them.
 */
import type { ClusterTime } from "./cluster-time.ts";

type TimerCall = (callback: (...args: unknown[]) => void, millis?: number, ...args: unknown[]) => VirtualTimer;

/** What stands for a timer of the runtime. */
class VirtualTimer {
  forget: () => void = () => undefined;

  /** Nobody's exit waits for it. */
  unref(): this {
    return this;
  }
}

/** Has all timers that are set from now on go by `time`, until the returned function is called. */
export function useVirtualTimers(time: ClusterTime): () => void {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  const { sleep } = Bun;
  const set: TimerCall = (callback, millis = 0, ...args) => {
    const timer = new VirtualTimer();
    timer.forget = time.after(Math.max(1, millis), () => callback(...args));
    return timer;
  };
  const repeat: TimerCall = (callback, millis = 0, ...args) => {
    const timer = new VirtualTimer();
    const next = (): void => {
      timer.forget = time.after(Math.max(1, millis), () => {
        next();
        callback(...args);
      });
    };
    next();
    return timer;
  };
  const clearing =
    (native: (timer: unknown) => void) =>
    (timer: unknown): void => {
      if (timer instanceof VirtualTimer) timer.forget();
      else native(timer);
    };
  Object.assign(globalThis, {
    setTimeout: set,
    setInterval: repeat,
    clearTimeout: clearing(clearTimeout as (timer: unknown) => void), // It takes whatever it gave.
    clearInterval: clearing(clearInterval as (timer: unknown) => void),
  });
  Bun.sleep = (until) => time.sleep(Math.max(1, Number(until)));
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
    Bun.sleep = sleep;
  };
}
