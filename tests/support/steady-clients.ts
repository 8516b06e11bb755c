// Clients that write, read and remove files all the time, with a model of every acknowledged
// change. They repeat nothing themselves: an operation that fails fails the test.

import type { FileStorage } from '../../packages/client/src/files/file-storage.ts';
import { expectSameBytes } from './expect-same.ts';
import { sampleBytes } from './service.ts';

export interface SteadyClient {
  readonly name: string;
  readonly storage: FileStorage;
  readonly bucket: string;
}

const chunkBytes = 65_536;
/** Paths of each client; a write to an existing one replaces its file. */
const pathsOfClient = 40;

/** Reads the bytes of a file with this client. */
export async function bytesOf(
  storage: FileStorage,
  bucket: string,
  path: string,
): Promise<Uint8Array> {
  return (await storage.download({ bucket, path })).bytes();
}

export class SteadyClients {
  /** The bytes of the file at each path, by bucket. */
  readonly files = new Map<string, Map<string, Uint8Array>>();
  readonly writes = new Map<string, number>();
  readonly counts = { uploads: 0, chunked: 0, replacements: 0, removals: 0, reads: 0 };
  #isOver = false;
  #failure: unknown;
  readonly #runs: readonly Promise<void>[];

  constructor(clients: readonly SteadyClient[]) {
    for (const { name, bucket } of clients) {
      this.writes.set(name, 0);
      this.filesOf(bucket);
    }
    this.#runs = clients.map((client) =>
      this.#run(client).catch((error: unknown) => {
        this.#failure ??= new Error(`The client "${client.name}" failed.`, { cause: error });
      }),
    );
  }

  filesOf(bucket: string): Map<string, Uint8Array> {
    const known = this.files.get(bucket) ?? new Map<string, Uint8Array>();
    this.files.set(bucket, known);
    return known;
  }

  /** Fails with the first failure of a client. */
  expectNoFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Ends the clients after their present operations. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#runs);
    this.expectNoFailure();
  }

  async #run(client: SteadyClient): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      await this.#write(client, turn);
      if (turn % 4 === 3) await this.#read(client, turn);
      if (turn % 7 === 6) await this.#remove(client, turn - 3);
      this.writes.set(client.name, turn + 1);
    }
  }

  #pathOf({ name }: SteadyClient, turn: number): string {
    return `${name}/${turn % pathsOfClient}.bin`;
  }

  async #write(client: SteadyClient, turn: number): Promise<void> {
    const { storage, bucket } = client;
    const path = this.#pathOf(client, turn);
    const isChunked = turn % 5 === 1;
    const size = isChunked ? 2 * chunkBytes + turn : 50 + ((turn * 997) % 20_000);
    const bytes = sampleBytes(`${path} ${turn}`, size);
    await storage.upload(bytes, { bucket, path, chunkBytes });
    const files = this.filesOf(bucket);
    this.counts[isChunked ? 'chunked' : 'uploads'] += 1;
    if (files.has(path)) this.counts.replacements += 1;
    files.set(path, bytes);
  }

  async #read(client: SteadyClient, turn: number): Promise<void> {
    const { storage, bucket } = client;
    const path = this.#pathOf(client, turn);
    const expected = this.filesOf(bucket).get(path) as Uint8Array;
    expectSameBytes(await bytesOf(storage, bucket, path), expected, path);
    this.counts.reads += 1;
  }

  async #remove(client: SteadyClient, turn: number): Promise<void> {
    const { storage, bucket } = client;
    const path = this.#pathOf(client, turn);
    await storage.remove({ bucket, path });
    this.filesOf(bucket).delete(path);
    this.counts.removals += 1;
  }
}
