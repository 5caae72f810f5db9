/**
 * The processes of a demo: started under a name, told apart by what they say, ended in an order.
 *
 *   start ─► lines, under the part's name ─► ready ─ … ─► one dies, or all are told to end
 *                                           end: frontends ─► data nodes, one by one ─► NATS, each kind once the one before is gone
 *
 * Nothing is started again: who looks at a demo wants to see what happens.
 */
import { linesOf, type ShownLine } from "./child-lines.ts";

/** A process, as much of it as the demo needs. */
export interface Child {
  /** What it writes to its outputs. */
  readonly output: readonly AsyncIterable<Uint8Array>[];
  /** Resolves when it ended: "status 1", "SIGKILL". */
  readonly exited: Promise<string>;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

/** Starts a process; its environment is what it is given. */
export type Spawn = (command: readonly string[], env: Readonly<Record<string, string>>) => Child;

/** What parts there are, in the order in which they end. */
export const KINDS = ["frontend", "data node", "NATS"] as const;
/** See `KINDS`. */
export type PartKind = (typeof KINDS)[number];

/** A part to start. */
export interface PartOptions {
  readonly name: string;
  readonly kind: PartKind;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly shown: (line: string) => ShownLine;
}

/** How long each kind may take to end, in milliseconds: what it does at its end, and some more. */
const END_MILLIS: Readonly<Record<PartKind, number>> = { frontend: 20_000, "data node": 40_000, NATS: 20_000 };
/** Lines of a part that are kept for the message about its death. */
const LAST_LINES = 5;
/** What a process says of its ordinary work: no reason for its end. */
const ORDINARY = /^(?:INFO|DEBUG) /;

interface Part {
  readonly name: string;
  readonly kind: PartKind;
  readonly child: Child;
  hasEnded: boolean;
}

/** See the file header. */
export class Children {
  private readonly spawn: Spawn;
  private readonly show: (text: string) => void;
  private readonly parts: Part[] = [];
  private readonly death: PromiseWithResolvers<string> = Promise.withResolvers();
  private isEnding = false;

  /** @param show takes a line for the person who looks, without its end */
  constructor(spawn: Spawn, show: (text: string) => void) {
    this.spawn = spawn;
    this.show = show;
  }

  /** Resolves with what there is to say when a part ended that nobody told to. */
  get died(): Promise<string> {
    return this.death.promise;
  }

  /** Starts a part. @returns resolves with its address when it says that it is ready; never, when it does not */
  start({ name, kind, command, env, shown }: PartOptions): Promise<string> {
    const child = this.spawn(command, env);
    const part: Part = { name, kind, child, hasEnded: false };
    this.parts.push(part);
    const ready = Promise.withResolvers<string>();
    const last: string[] = [];
    const width = Math.max(...this.parts.map((other) => other.name.length));
    const read = child.output.map(async (output) => {
      for await (const line of linesOf(output)) {
        const { text, readyAt } = shown(line);
        if (readyAt !== undefined) ready.resolve(readyAt);
        if (text === undefined) continue;
        last.push(text);
        if (last.length > LAST_LINES) last.shift();
        this.show(`${name.padEnd(width)} │ ${text}`);
      }
    });
    void this.follow(part, Promise.all(read), last); // It never rejects: pipes of a process that is gone just end.
    return ready.promise;
  }

  /** Tells all to end, kind by kind; kills what does not. Resolves when none is left. */
  async end(): Promise<void> {
    this.isEnding = true;
    for (const kind of KINDS) {
      const left = this.parts.filter((part) => part.kind === kind && !part.hasEnded);
      const endPart = (part: Part): Promise<void> => endOf(part, () => this.show(`${part.name} │ does not end: killed`));
      // One data node after the other: each but the last finds somebody who takes its shards, instead of waiting for nobody.
      if (kind === "data node") for (const part of left) await endPart(part);
      else await Promise.all(left.map(endPart));
    }
  }

  /** Kills all at once, for a process that ends now. */
  killAll(): void {
    this.isEnding = true;
    for (const part of this.parts) if (!part.hasEnded) part.child.kill("SIGKILL");
  }

  private async follow(part: Part, read: Promise<unknown>, last: readonly string[]): Promise<void> {
    const how = await part.child.exited;
    part.hasEnded = true;
    if (this.isEnding) return;
    await read; // Its last words come first.
    const word = last.at(-1);
    this.death.resolve(`${part.kind} ${part.name} ended (${how})${word === undefined || ORDINARY.test(word) ? "" : `: ${word}`}`);
  }
}

async function endOf({ kind, child }: Part, onKill: () => void): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => {
    onKill();
    child.kill("SIGKILL");
  }, END_MILLIS[kind]);
  await child.exited;
  clearTimeout(timer);
}

/** Starts real processes, in groups of their own: Ctrl-C is for the demo, which then ends them in its order. */
export function spawnChild(command: readonly string[], env: Readonly<Record<string, string>>): Child {
  const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe", detached: true });
  return {
    output: [child.stdout, child.stderr],
    exited: child.exited.then((status) => String(child.signalCode ?? `status ${status}`)),
    kill: (signal) => child.kill(signal),
  };
}
