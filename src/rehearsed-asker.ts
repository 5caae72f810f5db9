/** How a rehearsal asks: one request after the other, with pauses, and none while clients ask. */
import { systemClock } from "./base/clock.ts";
import type { RehearsedRequest } from "./rehearsed-requests.ts";
import type { HttpService } from "./server/http/service.ts";

/** Between two requests the thread is others' for as long as the last one took, and this many milliseconds at least. */
const PAUSE_MS_MIN = 1;
/** Milliseconds without a query of a client after which it goes on. */
const QUIET_MS = 1000;
/** Milliseconds of waiting for that, all together, after which it ends: who asks on and on has its own queries compiled. */
const WAIT_MS_MAX = 60_000;
const LOOK_MS = 50;

/** What came of a request. */
export interface Answer {
  readonly text: string;
  readonly isGood: boolean;
}

/** Turns of the thread beside clients' queries, which took 1.3 to 2 x as long beside a rehearsal. */
export class TurnsBesideClients {
  private readonly signal: AbortSignal;
  private readonly asked: () => number;
  private seen: number;
  private waited = 0;

  /**
   * @param signal ends it
   * @param asked queries of clients so far
   */
  constructor(signal: AbortSignal, asked: () => number) {
    this.signal = signal;
    this.asked = asked;
    this.seen = asked();
  }

  /** Waits until clients are quiet; false: it is over. */
  async next(): Promise<boolean> {
    let quiet = this.asked() === this.seen ? QUIET_MS : 0;
    while (!this.signal.aborted && quiet < QUIET_MS) {
      if (this.waited >= WAIT_MS_MAX) return false;
      await Bun.sleep(LOOK_MS);
      this.waited += LOOK_MS;
      const asked = this.asked();
      quiet = asked === this.seen ? quiet + LOOK_MS : 0;
      this.seen = asked;
    }
    return !this.signal.aborted;
  }
}

/** Asks requests for some time of work. */
export class RehearsedAsker {
  /** Requests that were answered or refused. */
  asked = 0;
  private readonly turns: TurnsBesideClients;
  private readonly millisMax: number;
  private millis = 0;

  /** @param millisMax of work, pauses apart, after which nothing is asked any more: a machine that is so busy has better to do */
  constructor(turns: TurnsBesideClients, millisMax: number) {
    this.turns = turns;
    this.millisMax = millisMax;
  }

  /** The answer; undefined: nothing is asked any more. */
  async ask(request: RehearsedRequest, service: HttpService): Promise<Answer | undefined> {
    if (this.millis > this.millisMax || !(await this.turns.next())) return undefined;
    const began = systemClock.monotonicMillis();
    const answer = await sent(request, service);
    const taken = systemClock.monotonicMillis() - began;
    this.asked++;
    this.millis += taken;
    await Bun.sleep(Math.max(PAUSE_MS_MIN, taken));
    return answer;
  }
}

/** Sends a request to a service of this process, past any socket. */
export async function sent({ path, body }: RehearsedRequest, service: HttpService): Promise<Answer> {
  const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": String(body?.length ?? 0) };
  const request = new Request(`http://127.0.0.1${path}`, body === undefined ? {} : { method: "POST", body, headers });
  const response = await service.handle(request, { requestIP: () => null, timeout: () => undefined });
  return { text: await response.text(), isGood: response.ok };
}
