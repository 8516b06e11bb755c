// 200 MB through the client over a network that loses, delays, repeats and refuses messages, and
// through ten interruptions.

import { afterAll, beforeAll, describe, test } from 'vitest';
import { transferOverLossyNetwork, uploadWithInterruptions } from '../client/lossy-transfers.ts';
import { openService, type Service } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await openService();
});
afterAll(() => service?.stop());

const sizeBytes = 200_000_000;

describe.each(['HTTP', 'the actor'] as const)('over %s', (transport) => {
  test('200 MB are uploaded intact in eight parallel chunks and downloaded again', async () => {
    await transferOverLossyNetwork({ service, transport, sizeBytes, chunkBytes: 1_900_000 });
  }, 900_000);

  test('an upload stopped ten times continues, and sends no accepted chunk again', async () => {
    await uploadWithInterruptions({ service, transport, sizeBytes, chunkBytes: 1_000_000 });
  }, 900_000);
});
