/**
 * Which connections the server works for, told by every listener's thread to the one that drops connections: one word for each port that
 * a client may call from, the second in which a request from there was seen under way. Two clients with the same port protect each other.
 *
 *   word 0…65535: second of the wall clock, 0 = never      word 65536: 1 while somebody asks for marks
 */
const PORTS = 65_536;
/** Seconds for which a mark counts: listeners mark every second. */
const FRESH_SECONDS = 3;

/** See the file header. */
export class ConnectionMarks {
  /** To be handed to other threads. */
  readonly memory: SharedArrayBuffer;
  private readonly words: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer((PORTS + 1) * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.words = new Int32Array(memory);
  }

  /** Whether listeners shall mark: it costs them something. */
  get isWanted(): boolean {
    return Atomics.load(this.words, PORTS) === 1;
  }

  set isWanted(wanted: boolean) {
    Atomics.store(this.words, PORTS, wanted ? 1 : 0);
  }

  /** Says that a request of the client at `port` is under way. */
  mark(port: number, nowMillis: number): void {
    if (Number.isInteger(port) && port > 0 && port < PORTS) Atomics.store(this.words, port, secondOf(nowMillis));
  }

  /** Whether one was of late. A clock that was set back counts as of late. */
  isMarked(port: number, nowMillis: number): boolean {
    const second = Atomics.load(this.words, port & (PORTS - 1));
    return second !== 0 && secondOf(nowMillis) - second <= FRESH_SECONDS;
  }
}

function secondOf(millis: number): number {
  return Math.floor(millis / 1000) & 0x7fff_ffff;
}
