// Limits of a message: instructions and stable memory, by the kind of message.

import { describe, expect, it } from 'vitest';
import { networkLimits } from '../../../packages/replica/src/execution/limits.ts';
import { installOn, startTestReplica, textOf } from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const imports = ['stable64_grow', 'stable64_read', 'stable64_write', 'performance_counter'];
const read = (page: number, size = 1) =>
  `(call $stable64_read (i64.const 0) (i64.const ${page * 4096 + 10}) (i64.const ${size}))`;
const write = (page: number) =>
  `(call $stable64_write (i64.const ${page * 4096}) (i64.const 0) (i64.const 1))`;

/** Runs `body` as an update, as a query and at installation. */
function module(body: string, init = ''): Uint8Array {
  return canister(
    imports,
    `(memory 4)
    (func (export "canister_init") (drop (call $stable64_grow (i64.const 4))) ${init})
    (func (export "canister_update update") ${body} (call $msg_reply))
    (func (export "canister_query query") ${body} (call $msg_reply))`,
  );
}

const limits = {
  updateStableBytesMax: 3 * 4096,
  queryStableBytesMax: 2 * 4096,
  installStableBytesMax: 4 * 4096,
};
const accessed = /^IC0524: .*accessed pages in the stable memory in a single message execution: /;

describe('Interface specification, "Stable memory"; rs/config/src/embedders.rs: pages of a message', () => {
  it('are limited to 2 GiB for an update, 1 GiB for a query and 8 GiB for an installation', () => {
    const gibibyte = 2 ** 30;
    expect(networkLimits).toMatchObject({
      updateStableBytesMax: 2 * gibibyte,
      queryStableBytesMax: gibibyte,
      installStableBytesMax: 8 * gibibyte,
    });
  });

  it.each([
    ['are counted once each', [0, 1, 0, 1, 0].map((page) => read(page)).join(''), 2],
    ['are counted when read', read(0) + read(1) + read(2), 3],
    ['are counted when written', write(0) + read(1) + read(2), 3],
    ['are counted for a range', read(0, 2 * 4096), 3],
    ['are not counted for an empty range', read(0) + read(1) + read(2, 0) + read(3, 0), 2],
  ])('%s', async (_what, body, pages) => {
    const replica = startTestReplica({ limits });
    const id = await replica.install(module(body));
    const query = textOf(await replica.query(id, 'query'));
    const asUpdate = textOf(await replica.update(id, 'query'));
    if (pages > 2) expect(query).toMatch(accessed);
    else expect(query).toBe('');
    expect(asUpdate).toBe(query);
    expect(textOf(await replica.update(id, 'update'))).toBe('');
  });

  it('beyond the limit abort an update and an installation', async () => {
    const replica = startTestReplica({ limits });
    const id = await replica.install(module([0, 1, 2, 3].map((page) => read(page)).join('')));
    expect(textOf(await replica.update(id, 'update'))).toMatch(
      /limit 12 KB for regular messages and 8 KB for queries\.\.\nTry optimizing /,
    );
    const five = module('', [0, 1, 2, 3, 4].map((page) => read(page)).join(''));
    const refused = await installOn(replica.engine, {
      canisterId: id,
      module: five,
      mode: 'reinstall',
    });
    expect(refused).toMatch(/accessed pages/);
  });
});

describe('Interface specification, "Message execution"; rs/config/src/subnet_config.rs', () => {
  const spin = '(loop $l (br $l))';

  it.each([
    ['a query', 'query', 'query', 2_000n],
    ['a query that is called as an update', 'update', 'query', 2_000n],
    ['an update', 'update', 'update', 3_000n],
  ] as const)('%s is aborted at its instruction limit', async (_what, way, method, limit) => {
    const replica = startTestReplica({
      limits: { updateInstructions: 3_000n, queryInstructions: 2_000n },
    });
    const id = await replica.install(module(spin));
    expect(textOf(await replica[way](id, method))).toContain(`limit of ${limit} instructions`);
  });
});
