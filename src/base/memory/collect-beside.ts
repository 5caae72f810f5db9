/**
 * Collects the garbage of this thread while it works on. `Bun.gc(true)` stops the thread for the whole of it: 25 ns an object that lives,
 * 40 ms of a server that has just begun, 200 ms beside syntax trees of texts of megabytes. The runtime can also mark beside a thread that
 * works; `Bun.gc(false)` asks for that, but mostly it looks at young objects alone. It looks at all of them once a collection of young ones
 * has left little of the heap that it allows itself, so a buffer takes what is left, which is memory only in its books:
 *
 *   ask ─► ask, ask ─┬─► all objects were collected: done
 *                    └─► buffer, twice the heap ─► young objects are collected ─► the buffer goes ─► all objects are collected
 *
 * It is asked without a buffer first, since a collection of all objects may be due already. Were it to come while the buffer is there,
 * the buffer would be old then, stay in the books when it is gone, and double them each time (up to 4 GiB were seen), and the runtime
 * would allow itself as much garbage.
 *
 * Which of the two a collection was, objects tell that outlived one: only one of all objects ends them.
 *
 * Measured beside a million objects that live, each of three parts, and two million old ones that do not (Bun 1.4.5, 2 cores): the thread
 * stood for 51 to 63 ms with `Bun.gc(true)`, for 4 to 20 with this; 72 of 181 MiB were free behind either.
 */
import { freeBytes } from "./free-bytes.ts";
import { heapBytes } from "./process-memory.ts";

/** What the runtime allows itself beyond what lives, in heaps, is less. */
const BUFFER_HEAPS = 2;
/** Most that is tried. Reason: longer buffers are refused. */
const BUFFER_BYTES_MAX = 4 * 1024 * 1024 * 1024 - 1;
/** How often it is asked for before a buffer is taken. */
const ASKS = 2;
/** Times that it is tried with a buffer, since the runtime collects when it likes; then the thread stands. */
const TRIES = 3;
/** Objects that nobody holds: the end of one tells that a collection is over. The stack may keep one or the other by chance. */
const WATCHED_OBJECTS = 8;
/** A collection goes on when the thread comes by: how often it does at least. */
const WAKE_MILLIS = 2;
/** Longest wait for the end before it is asked for once more: objects that came during a collection outlive the next of young objects. */
const WAKES_PER_LOOK = 10;
/** How often it is asked for: other threads may keep the collector from the processors for long. */
const LOOKS_MAX = 50;

/** Resolves when it is done. What becomes garbage meanwhile may stay. Where no address space is left, the thread stands meanwhile. */
export async function collectBeside(): Promise<void> {
  await collection(true); // One that is under way has marked objects already that are garbage now.
  const dropped = olds;
  dropped.drop();
  olds = new OldObjects();
  for (let asked = 0; asked < ASKS && !dropped.areGone; asked++) await collection(true);
  for (let tries = 0; !dropped.areGone; tries++) {
    const buffer = tries < TRIES ? untouched(Math.min(BUFFER_BYTES_MAX, heapBytes() * BUFFER_HEAPS)) : undefined;
    if (buffer === undefined) {
      Bun.gc(true);
      return;
    }
    await collection(false); // The buffer brings about one.
    freeBytes(buffer);
    await collection(true);
  }
}

/** Bytes that the system gives no memory for until they are written. */
function untouched(bytes: number): Uint8Array | undefined {
  try {
    return new Uint8Array(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Objects that outlived a collection before they are dropped, and tell when they end: at a collection of all objects. */
class OldObjects {
  private objects: object[] = Array.from({ length: WATCHED_OBJECTS }, () => ({}));
  private readonly references = this.objects.map((object) => new WeakRef(object));

  /** Nobody holds them from here on. */
  drop(): void {
    this.objects = [];
  }

  /** Whether all objects were collected since. */
  get areGone(): boolean {
    return this.references.some((reference) => reference.deref() === undefined);
  }
}

/** Made one call before, or when the process began. */
let olds: OldObjects = new OldObjects();

let looks = 0;
let tell: () => void = () => undefined;
const ends = new FinalizationRegistry<number>((look) => {
  if (look === looks) tell();
});

/** The end of one collection, of young objects or of all as the runtime decides, and of those that began before. */
async function collection(isAsked: boolean): Promise<void> {
  for (let i = 0; i < LOOKS_MAX; i++) {
    looks++;
    let isOver = false;
    tell = () => {
      isOver = true;
    };
    for (let object = 0; object < WATCHED_OBJECTS; object++) ends.register({}, looks);
    if (isAsked || i > 0) Bun.gc(false);
    for (let wake = 0; wake < WAKES_PER_LOOK && !isOver; wake++) await Bun.sleep(WAKE_MILLIS);
    if (isOver) return;
  }
}
