/** A cluster that is made up, and breaks a promise when it is told to: so that it is known that the checks find it. */
import type { Door, FoundBatch, FoundKey, Written } from "./door.ts";
import { BATCH_ROWS, type Request } from "./model.ts";
import type { FaultKind, Target, TrialCluster } from "./trial.ts";

/** What it does wrong, each after it was hurt for the first time. */
export type Defect =
  | "none"
  /** Forgets a row that it acknowledged. */
  | "loses a row"
  /** Forgets the newest request that it acknowledged. */
  | "loses a request"
  | "doubles a row"
  /** Answers with a version that was replaced. */
  | "goes back"
  | "loses a key"
  | "doubles a key"
  /** Has what nobody sent. */
  | "invents a batch"
  | "invents a row"
  | "invents a version"
  | "refuses writes"
  | "never writes again"
  | "never answers again"
  | "ends by itself"
  /** One of its doors is behind. */
  | "an old answer by one door";

interface Store {
  /** Copies of rows by writer and number of row. */
  readonly rows: Map<string, Map<number, number>>;
  readonly versions: Map<string, Map<number, number>>;
}

/** See the file header. */
export class FakeCluster implements TrialCluster {
  readonly doors: readonly Door[];
  readonly targets: readonly Target[];
  readonly log: string[] = [];
  private readonly store: Store = { rows: new Map(), versions: new Map() };
  private old: Store | undefined;
  private readonly defect: Defect;
  private isHurt = false;
  private isDone = false;
  private readonly down: Set<string> = new Set();

  constructor(defect: Defect, doors = 2) {
    this.defect = defect;
    this.doors = Array.from({ length: doors }, (_, i) => this.doorOf(`f${i}`));
    this.targets = [...this.doors.map((door) => this.targetOf(door.name, door)), this.targetOf("d0", undefined)];
  }

  private targetOf(name: string, door: Door | undefined): Target {
    const faults: readonly FaultKind[] = ["kill", "stop", "partition"];
    const hurt = (what: string): void => {
      this.log.push(`${what} ${name}`);
      this.isHurt = true;
      this.down.add(name);
    };
    const mend = (what: string): number => {
      this.log.push(`${what} ${name}`);
      this.down.delete(name);
      return 0;
    };
    return {
      name,
      faults,
      ...(door === undefined ? {} : { door }),
      kill: async () => hurt("kill"),
      restart: async () => mend("restart"),
      stop: () => hurt("stop"),
      goOn: () => void mend("go on"),
      cut: () => hurt("cut"),
      heal: () => void mend("heal"),
      isRunning: () => !(this.defect === "ends by itself" && this.isHurt && name === "d0"),
    };
  }

  private doorOf(name: string): Door {
    return {
      name,
      write: async (writer, request) => await this.write(name, writer, request),
      batches: async (writer, from) => this.batches(await this.asked(name), writer, from),
      keys: async (writer) => this.keys(await this.asked(name), writer),
      probe: async () => void (await this.asked(name)),
    };
  }

  private async write(door: string, writer: string, request: Request): Promise<Written> {
    await Bun.sleep(1);
    if (this.down.has(door)) return { kind: "unreached", why: "nobody listens" };
    const isBad = this.isHurt;
    if (isBad && this.defect === "refuses writes") return { kind: "refused", why: "400 no" };
    if (isBad && this.defect === "never writes again") return { kind: "unanswered", why: "503" };
    if (this.defect === "an old answer by one door" && isBad && this.old === undefined) this.old = structuredClone(this.store);
    this.take(writer, request);
    // A data node that is away: what was sent is there, and nobody says so.
    if (this.down.has("d0")) return { kind: "unanswered", why: "timeout" };
    if (isBad && !this.isDone) this.break(writer, request);
    return { kind: "acknowledged" };
  }

  private take(writer: string, { batch, keys }: Request): void {
    const rows = this.store.rows.getOrInsertComputed(writer, () => new Map());
    for (let i = 0; i < BATCH_ROWS; i++) {
      const id = batch.number * BATCH_ROWS + i;
      rows.set(id, (rows.get(id) ?? 0) + 1);
    }
    const versions = this.store.versions.getOrInsertComputed(writer, () => new Map());
    for (const { key, version } of keys) versions.set(key.number, version);
  }

  /** Does once what it should not. */
  private break(writer: string, { batch, keys }: Request): void {
    const rows = this.store.rows.get(writer)!;
    const versions = this.store.versions.get(writer)!;
    const first = batch.number * BATCH_ROWS;
    const key = keys[0]!;
    this.isDone = true;
    if (this.defect === "loses a row") rows.delete(first + 3);
    else if (this.defect === "loses a request") for (let i = 0; i < BATCH_ROWS; i++) rows.delete(first + i);
    else if (this.defect === "doubles a row" && batch.attempts === 1) rows.set(first, 2);
    else if (this.defect === "goes back" && key.version > 1) versions.set(key.key.number, key.version - 1);
    else if (this.defect === "loses a key") versions.delete(key.key.number);
    else if (this.defect === "invents a batch") rows.set(first + 1_000_000 * BATCH_ROWS, 1);
    else if (this.defect === "invents a row") rows.set(first + 0.5, 1);
    else if (this.defect === "invents a version") versions.set(key.key.number, 1_000_000);
    else this.isDone = false; // Not yet, or not here.
  }

  private async asked(door: string): Promise<Store> {
    await Bun.sleep(1);
    if (this.down.has(door)) throw new Error("nobody listens");
    if (this.isHurt && this.defect === "never answers again") throw new Error("503");
    return door === "f1" && this.old !== undefined ? this.old : this.store;
  }

  private batches(store: Store, writer: string, from: number): readonly FoundBatch[] {
    const batches = new Map<number, { number: number; rows: number; copiesMin: number; copiesMax: number; sum: number }>();
    for (const [id, copies] of store.rows.get(writer) ?? []) {
      const number = Math.floor(id / BATCH_ROWS);
      if (number < from) continue;
      const batch = batches.getOrInsertComputed(number, () => ({ number, rows: 0, copiesMin: copies, copiesMax: 0, sum: 0 }));
      batch.rows++;
      batch.copiesMin = Math.min(batch.copiesMin, copies);
      batch.copiesMax = Math.max(batch.copiesMax, copies);
      batch.sum += id;
    }
    return [...batches.values()];
  }

  private keys(store: Store, writer: string): readonly FoundKey[] {
    const isDoubled = this.isHurt && this.defect === "doubles a key";
    return [...(store.versions.get(writer) ?? [])].map(([number, version]) => ({
      number,
      rows: isDoubled && number === 0 ? 2 : 1,
      version,
    }));
  }
}
