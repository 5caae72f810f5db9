/**
 * The sockets of clients, as the kernel sees them. The runtime accepts connections by itself, tells nobody, and can close only those that
 * have had an answer; so the kernel is asked which descriptors are connections of ours and how long they have been still, and told to shut
 * one down. The runtime then sees its end and closes it as if the client had left: no descriptor is closed behind its back.
 *
 *   struct tcp_info (linux/tcp.h)   0: state, u8 · 44: ms since data was sent, u32 · 52: ms since data came, u32
 *                                   120: bytes that were sent and arrived, u64 · 128: bytes that came, u64
 *   struct sockaddr_in, _in6        2: port, u16 big endian
 */
import { dlopen, ptr } from "bun:ffi";
import { readdirSync } from "node:fs";
import { openCLibrary } from "../../base/process/c-library.ts";
import { descriptorLimit, isOutOfDescriptors } from "../../base/process/descriptors.ts";

const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const SHUT_RDWR = 2;
const STATE_ESTABLISHED = 1;
const STATE_CLOSE_WAIT = 8;
const INFO_BYTES = 256;
/** Up to the last member that is read. */
const INFO_BYTES_MIN = 136;
const ADDRESS_BYTES = 128;
/** Descriptors that are tried one by one where their folder cannot be read. */
const TRIED_MAX = 16_384;

/** A connection of a client. */
export interface ClientSocket {
  readonly descriptor: number;
  /** The client's port. */
  readonly port: number;
  /** Whether a byte has come from the client, ever. */
  readonly hasSpoken: boolean;
  /** Whether the last thing that moved was an answer: the client owes the next request. */
  readonly isAnswered: boolean;
  /** Bytes of answers that have reached the client, ever. */
  readonly answeredBytes: number;
  /** Milliseconds since anything moved. */
  readonly restingMs: number;
}

/** How connections are seen and dropped. */
export interface ClientSockets {
  /** Connections to one of these ports of ours. */
  list(ports: ReadonlySet<number>): readonly ClientSocket[];
  /** Ends one that `list` has just given: nothing may have been awaited in between. */
  drop(socket: ClientSocket): void;
}

/** Those of this process; undefined on a system whose kernel is not asked like this. */
export function kernelClientSockets(): ClientSockets | undefined {
  return openCLibrary((name) => socketsBy(openLibrary(name)));
}

/** The calls, typed. */
interface SocketCalls {
  readonly getsockopt: (fd: number, level: number, option: number, value: Uint8Array, length: Uint32Array) => number;
  readonly getsockname: (fd: number, address: Uint8Array, length: Uint32Array) => number;
  readonly getpeername: (fd: number, address: Uint8Array, length: Uint32Array) => number;
  readonly shutdown: (fd: number, how: number) => number;
}

function openLibrary(name: string): SocketCalls {
  const { symbols } = dlopen(name, {
    getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
    getsockname: { args: ["i32", "ptr", "ptr"], returns: "i32" },
    getpeername: { args: ["i32", "ptr", "ptr"], returns: "i32" },
    shutdown: { args: ["i32", "i32"], returns: "i32" },
  });
  return {
    getsockopt: (fd, level, option, value, length) => symbols.getsockopt(fd, level, option, ptr(value), ptr(length)),
    getsockname: (fd, address, length) => symbols.getsockname(fd, ptr(address), ptr(length)),
    getpeername: (fd, address, length) => symbols.getpeername(fd, ptr(address), ptr(length)),
    shutdown: (fd, how) => symbols.shutdown(fd, how),
  };
}

function socketsBy(calls: SocketCalls): ClientSockets {
  const info = new Uint8Array(INFO_BYTES);
  const address = new Uint8Array(ADDRESS_BYTES);
  const length = new Uint32Array(1);
  const view = new DataView(info.buffer);
  const portOf = (call: SocketCalls["getsockname"], fd: number): number | undefined => {
    length[0] = ADDRESS_BYTES;
    return call(fd, address, length) === 0 ? ((address[2] ?? 0) << 8) | (address[3] ?? 0) : undefined;
  };
  const look = (fd: number, ports: ReadonlySet<number>): ClientSocket | undefined => {
    length[0] = INFO_BYTES;
    if (calls.getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, length) !== 0 || (length[0] ?? 0) < INFO_BYTES_MIN) return undefined;
    const state = view.getUint8(0);
    if (state !== STATE_ESTABLISHED && state !== STATE_CLOSE_WAIT) return undefined;
    const [sentMs, cameMs] = [view.getUint32(44, true), view.getUint32(52, true)];
    const answeredBytes = Number(view.getBigUint64(120, true));
    const hasSpoken = view.getBigUint64(128, true) > 0n;
    const own = portOf(calls.getsockname, fd);
    if (own === undefined || !ports.has(own)) return undefined;
    const port = portOf(calls.getpeername, fd);
    if (port === undefined) return undefined;
    const isAnswered = answeredBytes > 0 && sentMs <= cameMs; // Where nothing was sent, that time is of the first byte that came.
    return { descriptor: fd, port, hasSpoken, isAnswered, answeredBytes, restingMs: Math.min(sentMs, cameMs) };
  };
  return {
    list: (ports) =>
      descriptors()
        .map((fd) => look(fd, ports))
        .filter((socket) => socket !== undefined),
    drop: ({ descriptor }) => void calls.shutdown(descriptor, SHUT_RDWR), // A connection that is gone already needs no more.
  };
}

/** Numbers that may be descriptors. */
function descriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch (error) {
    if (!isOutOfDescriptors(error)) throw error;
    return Array.from({ length: Math.min(descriptorLimit(), TRIED_MAX) }, (_, fd) => fd);
  }
}
