/**
 * What the process tells the service manager that started it (systemd, `Type=notify` or `notify-reload`), by the protocol of sd_notify(3):
 * lines `NAME=value` in one datagram to the socket that `NOTIFY_SOCKET` names.
 *
 *   start ─ EXTEND_TIMEOUT_USEC … ─► READY=1 ─ WATCHDOG=1, twice a period, from the event loop ─► STOPPING=1 ─ EXTEND_TIMEOUT_USEC … ─► end
 *                                     ▲  └─ SIGHUP ─► RELOADING=1, MONOTONIC_USEC ─┐
 *                                     └────────────────────────────────────────────┘
 *
 * The runtime has no datagram sockets of the Unix kind (Bun 1.4.5: `node:dgram` and `Bun.udpSocket` are UDP). So libc's `sendto` is called:
 * 0.2 ms once to open the library, 10 µs a message. The program `systemd-notify` would be a process a message, 6 ms, is not everywhere, and
 * its messages come from another process, which `NotifyAccess=main` refuses.
 *
 * A start that reads back the log, and a stop that flushes, may take longer than the manager waits (90 s by default): each asks for more
 * time while the event loop turns. A loop that stands still asks for none, and is not alive for the watchdog either.
 *
 * Source: sd_notify(3), sd_watchdog_enabled(3), systemd.service(5); unix(7) for addresses.
 */
import { dlopen, ptr } from "bun:ffi";
import type { Logger } from "../log.ts";
import { openCLibrary } from "./c-library.ts";

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40; // A manager that does not read must not hold the event loop.
const MSG_NOSIGNAL = 0x4000;
const CLOCK_MONOTONIC = 1;
/** `sun_path` of sockaddr_un, the end mark included. */
const PATH_BYTES_MAX = 108;
const FAMILY_BYTES = 2;

/** How often a start or a stop asks for time, and for how much, milliseconds. */
const EXTEND_EVERY_MS = 5000;
const EXTEND_MS = 30_000;

/** Names of the environment. */
interface Given {
  readonly NOTIFY_SOCKET?: string | undefined;
  readonly WATCHDOG_USEC?: string | undefined;
  readonly WATCHDOG_PID?: string | undefined;
}

/** See the file header. */
export class ServiceManager {
  private readonly send: (text: string) => boolean;
  private readonly logger: Logger;
  private readonly watchdogMs: number | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;
  private watchdog: ReturnType<typeof setInterval> | undefined;
  private hasFailed = false;

  /** @param send one message; false: it was not taken */
  constructor(send: (text: string) => boolean, logger: Logger, watchdogMs?: number) {
    this.send = send;
    this.logger = logger;
    this.watchdogMs = watchdogMs;
  }

  /**
   * The one that started this process; undefined: none did, or none that can be told. Its variables are taken out of the environment: no
   * program that this one starts speaks in its place.
   */
  static of(env: Record<string, string | undefined>, logger: Logger): ServiceManager | undefined {
    const given: Given = env;
    const { NOTIFY_SOCKET: path, WATCHDOG_USEC: micros, WATCHDOG_PID: pid } = given;
    for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete env[name];
    if (path === undefined || path === "") return undefined;
    const address = addressOf(path);
    const send = address && openCLibrary((name) => senderTo(address, name));
    if (send === undefined) {
      logger.warn({ socket: path }, "cannot tell the service manager: NOTIFY_SOCKET is no socket that can be reached from here");
      return undefined;
    }
    const isOurs = pid === undefined || pid === "" || pid === String(process.pid);
    const watchdogMs = isOurs && /^[1-9]\d{0,15}$/.test(micros ?? "") ? Number(micros) / 1000 : undefined;
    return new ServiceManager(send, logger, watchdogMs);
  }

  /** The start has begun. */
  starting(): void {
    this.askForTime("starting");
  }

  /** All listeners are up; from here on the watchdog is told that the event loop turns. */
  ready(status: string): void {
    clearInterval(this.timer);
    this.tell(`READY=1\nSTATUS=${status}`);
    if (this.watchdogMs === undefined || this.watchdog !== undefined) return;
    const alive = (): void => this.tell("WATCHDOG=1");
    alive();
    this.watchdog = setInterval(alive, this.watchdogMs / 2);
    this.watchdog.unref();
  }

  /** Settings are read again; `ready` says when that is over. */
  reloading(): void {
    this.tell(`RELOADING=1\nMONOTONIC_USEC=${monotonicMicros()}\nSTATUS=reading accounts and certificates again`);
  }

  /** The end has begun. The watchdog is told on, for as long as the event loop turns. */
  stopping(): void {
    this.tell("STOPPING=1");
    this.askForTime("stopping: requests end, rows go into files");
  }

  private askForTime(status: string): void {
    clearInterval(this.timer);
    const ask = (): void => this.tell(`STATUS=${status}\nEXTEND_TIMEOUT_USEC=${EXTEND_MS * 1000}`);
    ask();
    this.timer = setInterval(ask, EXTEND_EVERY_MS);
    this.timer.unref();
  }

  private tell(text: string): void {
    if (this.send(text)) this.hasFailed = false;
    else if (!this.hasFailed) {
      this.hasFailed = true;
      this.logger.warn({ text }, "the service manager does not take what it is told");
    }
  }
}

/** The bytes of a sockaddr_un: a path, or a name that begins with `@`, which stands for a zero byte. */
function addressOf(path: string): Uint8Array | undefined {
  if (!path.startsWith("/") && !path.startsWith("@")) return undefined; // vsock: of virtual machines, which systemd uses for init alone.
  const name = Buffer.from(path);
  if (name.length >= PATH_BYTES_MAX) return undefined;
  const isAbstract = path.startsWith("@");
  if (isAbstract) name[0] = 0;
  const address = new Uint8Array(FAMILY_BYTES + name.length + (isAbstract ? 0 : 1));
  address[0] = AF_UNIX; // sa_family_t is of the machine's order: little-endian on all that the runtime is made for.
  address.set(name, FAMILY_BYTES);
  return address;
}

function senderTo(address: Uint8Array, library: string): ((text: string) => boolean) | undefined {
  const { symbols } = dlopen(library, {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
  });
  const socket = symbols.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return undefined;
  return (text) => {
    const bytes = Buffer.from(text);
    const sent = symbols.sendto(socket, ptr(bytes), bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL, ptr(address), address.length);
    return Number(sent) === bytes.length;
  };
}

/** CLOCK_MONOTONIC in microseconds, by which the manager knows that the reload began after its signal. */
function monotonicMicros(): bigint {
  const time = new BigInt64Array(2); // struct timespec: seconds, nanoseconds
  openCLibrary((name) => {
    const { symbols } = dlopen(name, { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } });
    return symbols.clock_gettime(CLOCK_MONOTONIC, ptr(time));
  });
  return (time[0] ?? 0n) * 1_000_000n + (time[1] ?? 0n) / 1000n;
}
