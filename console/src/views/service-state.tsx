// How the service is: what it holds, what its cycles do, whether it encrypts.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ServiceStatus } from '../../../packages/client/src/service-status.ts';
import type { Session } from '../session.ts';
import { counted, sizeOf } from '../words.ts';

export function ServiceState({ session }: { session: Session }) {
  const status = useSignal<ServiceStatus | undefined>(undefined);
  useEffect(() => {
    session.storage.status().then(
      (found) => {
        status.value = found;
      },
      // The rest of the page is no worse for it.
      () => {},
    );
  }, [session]);
  if (status.value === undefined) return null;
  return (
    <section class="card" aria-labelledby="service">
      <h2 id="service">The service</h2>
      <dl class="facts">
        {factsOf(status.value).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/**
 * Of a subnet of 13 nodes, in cycles: 127,000 a GiB and second. A dollar is 0.73 T cycles or so,
 * by the rate of the cycles' own unit, one XDR a trillion.
 */
const storageCyclesPerGibSecond = 127_000;
const monthSeconds = 30 * 86_400;
const dollarsPerTrillion = 1.37;

function factsOf(status: ServiceStatus): readonly (readonly [string, string])[] {
  const { buckets, files, bytesStored, stableBytes, heapBytes, cycles, encryption, version } =
    status;
  const gib = (stableBytes + heapBytes) / 2 ** 30;
  const cyclesPerMonth = gib * storageCyclesPerGibSecond * monthSeconds;
  const dollars = (cyclesPerMonth / 1e12) * dollarsPerTrillion;
  const facts: [string, string][] = [
    ['Holds', `${counted(buckets, 'bucket')}, ${counted(files, 'file')}, ${sizeOf(bytesStored)}`],
    ['Takes', `${sizeOf(stableBytes + heapBytes)} of memory`],
    [
      'To keep it costs',
      dollars < 0.01 ? 'less than a cent a month' : `about ${dollars.toFixed(2)} dollars a month`,
    ],
  ];
  if (cycles !== undefined) {
    const days = Math.floor((cycles / cyclesPerMonth) * 30);
    const words = days > 3_650 ? 'more than ten years' : counted(days, 'day');
    facts.push(['Cycles', `${(cycles / 1e12).toFixed(2)} T, enough to keep it for ${words}`]);
  }
  facts.push(['Encryption', encryptionWords(encryption)], ['Version', version]);
  return facts;
}

function encryptionWords({
  isKeyPresent,
  isRotating,
  rootKey,
}: ServiceStatus['encryption']): string {
  if (!isKeyPresent) return 'the key is being fetched';
  if (isRotating) return 'new keys are taking the place of former ones';
  return rootKey === 'stored'
    ? 'on, with a key that the canister keeps'
    : 'on, with a key of the network';
}
