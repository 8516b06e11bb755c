// A slow line between a client and a server: a TCP proxy with a token bucket for each direction,
// shared by all connections, and a latency each way. The rate can change with time.

import { connect, createServer, type Server, type Socket } from 'node:net';

export interface LineOptions {
  /** Returns the bytes per second in each direction at that time after opening the line. */
  rate(elapsedMs: number): number;
  /** Latency in each direction. */
  readonly latencyMs: number;
}

export interface SlowLine {
  readonly port: number;
  readonly bytes: { readonly up: number; readonly down: number };
  stop(): Promise<void>;
}

const tickMs = 20;
/** Bytes of a connection read ahead of the token bucket: a line has buffers, but small ones. */
const queuedBytesMin = 16_384;
/** Reading ahead for so long keeps a fast line busy when a tick is late. */
const bufferedMs = 100;

/** Bytes of one connection in one direction that wait for the bucket. */
interface Flow {
  readonly from: Socket;
  readonly to: Socket;
  queue: Buffer[];
  queuedBytes: number;
  hasEnded: boolean;
}

class Direction {
  bytes = 0;
  readonly #options: LineOptions;
  readonly #flows = new Set<Flow>();
  #tokens = 0;
  #queuedBytesMax = queuedBytesMin;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  join(from: Socket, to: Socket): void {
    const flow: Flow = { from, to, queue: [], queuedBytes: 0, hasEnded: false };
    this.#flows.add(flow);
    from.on('data', (bytes: Buffer) => {
      flow.queue.push(bytes);
      flow.queuedBytes += bytes.length;
      if (flow.queuedBytes >= this.#queuedBytesMax) from.pause();
    });
    from.on('end', () => {
      flow.hasEnded = true;
    });
    from.on('close', () => {
      if (!flow.hasEnded) this.#flows.delete(flow);
    });
  }

  /**
   * Passes bytes of all connections in turns, in equal parts. A tick may be too short for all of
   * them, so the next one begins with those that this one has not reached.
   */
  tick(bytesPerMs: number, elapsedMs: number): void {
    // A late tick passes everything that the line could carry meanwhile; an idle line saves little.
    const saved = Math.min(this.#tokens, Math.max(1_500, bytesPerMs * tickMs));
    this.#tokens = saved + bytesPerMs * elapsedMs;
    this.#queuedBytesMax = Math.max(queuedBytesMin, bytesPerMs * bufferedMs);
    let isIdle = false;
    while (this.#tokens > 0 && !isIdle) {
      isIdle = true;
      const partBytes = Math.max(1_500, Math.ceil(this.#tokens / (this.#flows.size || 1)));
      for (const flow of [...this.#flows]) {
        if (this.#tokens <= 0) break;
        this.#flows.delete(flow);
        this.#flows.add(flow);
        if (this.#pass(flow, partBytes)) isIdle = false;
      }
    }
  }

  /** Returns whether the flow had bytes. */
  #pass(flow: Flow, partBytes: number): boolean {
    const [first] = flow.queue;
    const { from, to } = flow;
    if (first === undefined) {
      if (flow.hasEnded) {
        this.#flows.delete(flow);
        setTimeout(() => to.end(), this.#options.latencyMs);
      }
      return false;
    }
    const packet = first.subarray(0, Math.max(1, Math.min(partBytes, Math.floor(this.#tokens))));
    if (packet.length === first.length) flow.queue.shift();
    else flow.queue[0] = first.subarray(packet.length);
    flow.queuedBytes -= packet.length;
    if (flow.queuedBytes < this.#queuedBytesMax) from.resume();
    this.#tokens -= packet.length;
    this.bytes += packet.length;
    setTimeout(() => to.write(packet), this.#options.latencyMs);
    return true;
  }
}

/** Opens a line to a server on this machine. */
export async function openSlowLine(targetPort: number, options: LineOptions): Promise<SlowLine> {
  const [up, down] = [new Direction(options), new Direction(options)];
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    const target = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // Bytes sent before the end must arrive before it.
      const passOn = () => setTimeout(() => other.destroy(), options.latencyMs + 2 * tickMs);
      socket.on('error', passOn);
      socket.on('close', (hadError) => {
        sockets.delete(socket);
        if (hadError) passOn();
      });
    }
    // A client that disconnects also closes the connection to the server.
    client.on('close', () => target.destroy());
    up.join(client, target);
    down.join(target, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const startMs = performance.now();
  let lastMs = startMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const bytesPerMs = options.rate(nowMs - startMs) / 1_000;
    up.tick(bytesPerMs, nowMs - lastMs);
    down.tick(bytesPerMs, nowMs - lastMs);
    lastMs = nowMs;
  }, tickMs);
  return {
    port: (server.address() as { port: number }).port,
    bytes: {
      get up() {
        return up.bytes;
      },
      get down() {
        return down.bytes;
      },
    },
    async stop() {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
