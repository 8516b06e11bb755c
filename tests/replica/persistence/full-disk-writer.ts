// disk-store.test.ts runs this program with a limit on file sizes. It commits until a commit fails,
// then commits a small change, and exits without closing the store. It prints the results.

import { writeSync } from 'node:fs';
import { openDiskStore } from '../../../packages/replica/src/persistence/disk-store.ts';

const id = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
const store = openDiskStore(process.argv[2] ?? '');
const memory = store.stableMemory(id);
memory.grow(5);

function say(text: string): void {
  writeSync(1, `${text}\n`);
}

function commit(text: string, bulkBytes: number): void {
  memory.write(4_090, Buffer.from(text));
  memory.write(8_192, new Uint8Array(bulkBytes).fill(text.charCodeAt(0)));
  const canisters = [{ id, record: Buffer.from(text) }];
  store.commit({ canisters, stableMemories: [id], cleared: [], deleted: [] });
}

function content(): string {
  const bytes = Buffer.alloc(5);
  memory.read(4_090, bytes);
  return bytes.toString();
}

let fitting = 0;
try {
  for (const text of ['one--', 'two--', 'three', 'four-']) {
    commit(text, 300_000);
    fitting += 1;
  }
} catch (error) {
  say(String(fitting));
  say(String(error));
}
memory.rollback();
say(`after the failure: ${content()}`);
commit('small', 10);
say(`after the small commit: ${content()}`);
