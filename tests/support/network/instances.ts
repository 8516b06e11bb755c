// Networks of their own for test files, by the REST interface of a PocketIC server. Facts from
// dfinity/ic: `packages/pocket-ic/src/common/rest.rs` (fields), `rs/pocket_ic_server/src/state_api/
// routes.rs` (paths, states of operations) and `state.rs` (a clock that is set keeps its lead while
// the instance makes progress). `replica-instances.ts` serves the same paths for our own replica.

import { setTimeout as delay } from 'node:timers/promises';

export interface Instance {
  /** URL of the agent endpoints and of the HTTP gateway. */
  readonly host: string;
  setTime(laterNs: bigint): Promise<void>;
  close(): Promise<void>;
}

/** Fields that a version of the server does not know are ignored there. */
const newSubnet = {
  dts_flag: 'Enabled',
  instruction_config: 'Production',
  cost_schedule: 'Normal',
  state_config: 'New',
};

/** The subnets of the keys of vetKD are II and fiduciary; canisters are on the application subnet. */
const subnets = {
  ...{ nns: newSubnet, ii: newSubnet, fiduciary: newSubnet, sns: null, bitcoin: null },
  ...{ application: [newSubnet], system: [], verified_application: [], cloud_engine: [] },
};

interface Created<T> {
  readonly Created?: T;
  readonly Error?: { readonly message: string };
}

/** Creates a network that makes progress by itself, with a gateway. `server`: its URL. */
export async function openInstance(server: string): Promise<Instance> {
  const send = (method: string, path: string, body?: string) =>
    exchange(server + path, method, body);
  const { instance_id: id } = await created<{ instance_id: number }>(
    send('POST', '/instances', JSON.stringify({ subnet_config_set: subnets })),
  );
  const instance = `/instances/${id}`;
  await send('POST', `${instance}/auto_progress`, JSON.stringify({ artificial_delay_ms: null }));
  const gateway = await created<{ instance_id: number; port: number }>(
    send('POST', '/http_gateway', JSON.stringify({ forward_to: { PocketIcInstance: id } })),
  );
  return {
    host: `http://localhost:${gateway.port}`,
    async setTime(laterNs) {
      const [now = ''] = /\d+/.exec(await send('GET', `${instance}/read/get_time`)) ?? [];
      // Nanoseconds since 1970 are more than a JavaScript number holds.
      const body = `{"nanos_since_epoch":${BigInt(now) + laterNs}}`;
      await send('POST', `${instance}/update/set_time`, body);
    },
    async close() {
      await send('POST', `/http_gateway/${gateway.instance_id}/stop`);
      await send('DELETE', instance);
    },
  };
}

async function created<T>(answer: Promise<string>): Promise<T> {
  const { Created: made, Error: refusal } = JSON.parse(await answer) as Created<T>;
  if (made === undefined) throw new Error(`The server created nothing: ${refusal?.message}`);
  return made;
}

/** Returns the answer's text. 409 and 429 say that the instance runs another operation. */
async function exchange(url: string, method: string, body?: string): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  for (;;) {
    const answer = await fetch(url, { method, ...(body !== undefined && { headers, body }) });
    const text = await answer.text();
    if (answer.ok) return text;
    if (answer.status !== 409 && answer.status !== 429) {
      throw new Error(`${method} ${url}: ${answer.status} ${text}`);
    }
    await delay(10);
  }
}
